/* All kinds of payloads of the NVTX extension.  Prints the rows expected in report nvtx_payloads: event|name|schema|field|value. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct reduce {
	uint64_t comm;
	size_t bytes;
	int op;
};

struct mixed {
	uint8_t flag;
	double ratio;                   /* offset 8; the schema gives no offset */
	int16_t shape[3];
	char name[8];
	float loss;
};

struct outer {
	int32_t id;
	struct reduce inner[2];
	const char *text;
	nvtxStringHandle_t registered;
	uint32_t bits;
};

#define MASK (NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |   \
	      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)
#define COUNT(a) (sizeof(a) / sizeof *(a))

static nvtxDomainHandle_t domain;

static uint64_t schema(const char *name, const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t size, uint64_t id)
{
	nvtxPayloadSchemaAttr_t a = {
		.fieldMask = MASK | (id ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0), .name = name,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = n, .payloadStaticSize = size, .schemaId = id,
	};

	return nvtxPayloadSchemaRegister(domain, &a);
}

static uint64_t enumeration(const char *name, const nvtxPayloadEnum_t *entries, size_t n, uint64_t id)
{
	nvtxPayloadEnumAttr_t a = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
			     (id ? NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID : 0),
		.name = name, .entries = entries, .numEntries = n, .sizeOfEnum = 4, .schemaId = id,
	};

	return nvtxPayloadEnumRegister(domain, &a);
}

static void push(const char *message, const nvtxPayloadData_t *data, size_t n)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };

	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = (int32_t)n;
	a.payload.ullValue = (uint64_t)(uintptr_t)data;
	if (message) {
		a.messageType = NVTX_MESSAGE_TYPE_ASCII;
		a.message.ascii = message;
	}
	nvtxDomainRangePushEx(domain, &a);
}

/* As NCCL: schema ids chosen by the program, the name in the schema, another payload at the pop. */
static void like_nccl(void)
{
	static const nvtxPayloadEnum_t ops[] = { { "Sum", 0, 0 }, { "Max", 2, 0 } };
	const uint64_t op = enumeration("Op", ops, COUNT(ops), (1 << 24) + 20);
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "NCCL communicator ID" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "Message size [bytes]", .offset = offsetof(struct reduce, bytes) },
		{ .type = op, .name = "Reduction operation", .offset = offsetof(struct reduce, op) },
	};
	const uint64_t id = schema("AllReduce", entries, COUNT(entries), sizeof(struct reduce), (1 << 24) + 5);
	const struct reduce r = { 77, 4000, 2 };
	const int ranks = 8;
	const nvtxPayloadData_t at_push = { id, sizeof r, &r }, at_pop = { NVTX_PAYLOAD_ENTRY_TYPE_INT32, sizeof ranks, &ranks };

	nvtxRangePushPayload(domain, &at_push, 1);
	nvtxRangePopPayload(domain, &at_pop, 1);
	puts("begin|comm:AllReduce|AllReduce|NCCL communicator ID|77\n"
	     "begin|comm:AllReduce|AllReduce|Message size [bytes]|4000\n"
	     "begin|comm:AllReduce|AllReduce|Reduction operation|Max\n"
	     "end|comm:AllReduce||value|8");
}

static uint64_t mixed_id;

static void no_offsets(void)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "flag" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "ratio" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = NVTX_PAYLOAD_ENTRY_TYPE_INT16, .name = "shape",
		  .arrayOrUnionDetail = 3 },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "name", .arrayOrUnionDetail = 8 },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT },
	};
	struct mixed m = { 1, 0.25, { 3, -4, 5 }, "resnet", 1.5f };

	mixed_id = schema("Mixed", entries, COUNT(entries), sizeof m, 0);
	push("mixed", (const nvtxPayloadData_t[]){ { mixed_id, sizeof m, &m } }, 1);
	nvtxDomainRangePop(domain);
	if (mixed_id >> 32 == 0)
		puts("the id is not ours");
	puts("begin|comm:mixed|Mixed|flag|1\nbegin|comm:mixed|Mixed|ratio|0.25\nbegin|comm:mixed|Mixed|shape|[3, -4, 5]\n"
	     "begin|comm:mixed|Mixed|name|resnet\nbegin|comm:mixed|Mixed|#4|1.5");
}

static void nested_and_pointers(void)
{
	static const nvtxPayloadEnum_t bits[] = { { "read", 1, 1 }, { "write", 2, 1 }, { "exec", 4, 1 } };
	const uint64_t set = enumeration("Mode", bits, COUNT(bits), 0);
	const nvtxPayloadSchemaEntry_t inner[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "comm" }, { .type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "bytes" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "op" },
	};
	const uint64_t inner_id = schema("Inner", inner, COUNT(inner), sizeof(struct reduce), 0);
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "id" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, .type = inner_id, .name = "inner", .arrayOrUnionDetail = 2 },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY,
		  .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "text" },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, .name = "registered" },
		{ .type = set, .name = "bits" },
	};
	const uint64_t id = schema("Outer", entries, COUNT(entries), sizeof(struct outer), 0);
	char text[16] = "somewhere";
	struct outer o = { -7, { { 1, 2, 3 }, { 4, 5, 6 } }, text, nvtxDomainRegisterStringA(domain, "kept name"), 5 };
	const nvtxPayloadData_t data = { id, sizeof o, &o };

	push("outer", &data, 1);
	memset(text, 'x', sizeof text - 1);     /* the tool may read it only during the call */
	nvtxDomainRangePop(domain);
	o.text = (const char *)16;              /* an invalid pointer must not crash the program */
	o.bits = 8;
	nvtxMarkPayload(domain, &data, 1);
	for (int i = 0; i < 2; i++) {
		const char *event = i ? "mark|comm:Outer|Outer" : "begin|comm:outer|Outer";

		printf("%s|id|-7\n", event);
		printf("%s|inner[0].comm|1\n%s|inner[0].bytes|2\n%s|inner[0].op|3\n", event, event, event);
		printf("%s|inner[1].comm|4\n%s|inner[1].bytes|5\n%s|inner[1].op|6\n", event, event, event);
		printf("%s|text|%s\n", event, i ? "0x10" : "somewhere");
		printf("%s|registered|kept name\n%s|bits|%s\n", event, event, i ? "8" : "read|exec");
	}
}

static void messages_and_sizes(void)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "what",
		  .arrayOrUnionDetail = 12 },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "n" },
		{ .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, .type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "values",
		  .arrayOrUnionDetail = 1 },
	};
	const uint64_t id = schema("Message", entries, COUNT(entries), 0, 0);
	struct { char what[12]; int n, values[4]; } m = { "from inside", 2, { 10, 20, 30, 40 } };
	static unsigned char large[1000];
	const nvtxPayloadData_t many[] = { { id, sizeof m, &m }, { NVTX_TYPE_PAYLOAD_SCHEMA_RAW, sizeof large, large } };
	nvtxRangeId_t range;

	range = nvtxRangeStartPayload(domain, many, 2);
	nvtxRangeEndPayload(domain, range, (const nvtxPayloadData_t[]){ { NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "the end" } }, 1);
	puts("begin|comm:from inside|Message|what|from inside\nbegin|comm:from inside|Message|n|2\n"
	     "begin|comm:from inside|Message|values|[10, 20]\n"
	     "begin|comm:from inside||bytes|00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	     "00000000 00000000 00000000 00000000 00000000 00000000 ...\n"
	     "end|comm:from inside||value|the end");
}

/* The parent has registered the schema. */
static void in_a_child(void)
{
	struct mixed m = { 2, 0.5, { 0, 0, 1 }, "child", 2.5f };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		push("forked", (const nvtxPayloadData_t[]){ { mixed_id, sizeof m, &m } }, 1);
		nvtxDomainRangePop(domain);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	puts("begin|comm:forked|Mixed|flag|2\nbegin|comm:forked|Mixed|ratio|0.5\nbegin|comm:forked|Mixed|shape|[0, 0, 1]\n"
	     "begin|comm:forked|Mixed|name|child\nbegin|comm:forked|Mixed|#4|2.5");
}

int main(void)
{
	domain = nvtxDomainCreateA("comm");
	like_nccl();
	no_offsets();
	nested_and_pointers();
	messages_and_sizes();
	in_a_child();
	return 0;
}
