/*
 * Another NVTX tool: writes each call that it gets, with its handles, to the file named by NVTX_OTHER.  Its handles are large odd numbers;
 * for any other handle it writes "?".
 */
#include <nvtx3/nvToolsExtPayload.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BASE   0x7e0000000001u

static const char *names[256];
static unsigned n_names;

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	FILE *out = getenv("NVTX_OTHER") ? fopen(getenv("NVTX_OTHER"), "a") : NULL;
	va_list args;

	if (!out)
		return;
	va_start(args, fmt);
	vfprintf(out, fmt, args);
	va_end(args);
	fclose(out);
}

static void *made(const char *name)
{
	names[n_names] = strdup(name);
	return (void *)(uintptr_t)(BASE + 2 * n_names++);
}

static const char *known(const void *h)
{
	uintptr_t i = ((uintptr_t)h - BASE) / 2;

	return !h ? "" : (uintptr_t)h >= BASE && i < n_names ? names[i] : "?";
}

static const char *message(const nvtxEventAttributes_t *a)
{
	static char text[64];

	switch (a ? a->messageType : 0) {
	case NVTX_MESSAGE_TYPE_ASCII:
		return a->message.ascii;
	case NVTX_MESSAGE_TYPE_UNICODE:
		snprintf(text, sizeof text, "%ls", a->message.unicode);
		return text;
	case NVTX_MESSAGE_TYPE_REGISTERED:
		return known(a->message.registered);
	default:
		return "-";
	}
}

static void payloads(const nvtxPayloadData_t *data, size_t n)
{
	for (size_t i = 0; data && i < n; i++)
		say(" schema %llx of %zu bytes", (unsigned long long)data[i].schemaId, data[i].size);
	say("\n");
}

static void put(const char *what, nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
	say("%s %s:%s", what, known(d), message(a));
	if (a && a->payloadType == NVTX_PAYLOAD_TYPE_EXT)
		payloads((const nvtxPayloadData_t *)(uintptr_t)a->payload.ullValue, (size_t)a->reserved0);
	else
		say("\n");
}

static void push_a(const char *text) { say("push :%s\n", text); }
static int push_a_depth(const char *text) { push_a(text); return 40; }
static int push_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { put("push", d, a); return 41; }
static int pop(void) { say("pop :\n"); return 42; }
static int domain_pop(nvtxDomainHandle_t d) { say("pop %s:\n", known(d)); return 43; }
static void mark_a(const char *text) { say("mark :%s\n", text); }
static void mark_ex(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { put("mark", d, a); }
static nvtxRangeId_t start_a(const char *text) { say("start :%s\n", text); return 1234567; }
static void end(nvtxRangeId_t id) { say("end %llu\n", (unsigned long long)id); }
static nvtxDomainHandle_t create_a(const char *text) { say("domain %s\n", text); return made(text); }
static nvtxStringHandle_t register_a(nvtxDomainHandle_t d, const char *text) { say("string %s:%s\n", known(d), text); return made(text); }
static void category_a(nvtxDomainHandle_t d, uint32_t id, const char *text) { say("category %s:%u %s\n", known(d), id, text); }

static uint64_t schema(nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t *a)
{
	say("schema %s:%s", known(d), a->name);
	for (size_t i = 0; i < a->numEntries; i++)
		if (a->entries[i].type >= NVTX_PAYLOAD_SCHEMA_ID_STATIC_START)
			say(" with %llx", (unsigned long long)a->entries[i].type);
	say("\n");
	return a->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID ? a->schemaId
		: NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 0x70000 + ++n_names;
}

static uint64_t enumeration(nvtxDomainHandle_t d, const nvtxPayloadEnumAttr_t *a)
{
	say("enum %s:%s\n", known(d), a->name);
	return a->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID ? a->schemaId
		: NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 0x70000 + ++n_names;
}

static int push_payload(nvtxDomainHandle_t d, const nvtxPayloadData_t *p, size_t n)
{
	say("push payload %s:", known(d));
	payloads(p, n);
	return 44;
}

static int pop_payload(nvtxDomainHandle_t d, const nvtxPayloadData_t *p, size_t n)
{
	say("pop payload %s:", known(d));
	payloads(p, n);
	return 45;
}

#define PUT(id, fn) do { if ((id) < size && table[id]) *table[id] = (NvtxFunctionPointer)(fn); } while (0)

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);
EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
	const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table;
	unsigned size;

	if (getenv("NVTX_OTHER_REFUSES"))
		return 0;
	callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size);
	PUT(NVTX_CBID_CORE_RangePushA, push_a_depth);
	PUT(NVTX_CBID_CORE_RangePop, pop);
	PUT(NVTX_CBID_CORE_MarkA, mark_a);
	PUT(NVTX_CBID_CORE_RangeStartA, start_a);
	PUT(NVTX_CBID_CORE_RangeEnd, end);
	callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
	PUT(NVTX_CBID_CORE2_DomainCreateA, create_a);
	PUT(NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
	PUT(NVTX_CBID_CORE2_DomainRangePushEx, push_ex);
	PUT(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
	PUT(NVTX_CBID_CORE2_DomainMarkEx, mark_ex);
	PUT(NVTX_CBID_CORE2_DomainNameCategoryA, category_a);
	return 1;
}

EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *m);
EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *m)
{
	intptr_t *slots = m->segments->functionSlots;

	if (m->moduleId != NVTX_EXT_PAYLOAD_MODULEID)
		return 1;
	slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = (intptr_t)schema;
	slots[NVTX3EXT_CBID_nvtxPayloadEnumRegister] = (intptr_t)enumeration;
	slots[NVTX3EXT_CBID_nvtxRangePushPayload] = (intptr_t)push_payload;
	slots[NVTX3EXT_CBID_nvtxRangePopPayload] = (intptr_t)pop_payload;
	return 1;
}
