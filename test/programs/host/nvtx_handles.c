/* NVTX calls with every kind of handle: each of several tools must get its own handles.  Prints the returned depths of ranges. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>

int main(void)
{
	static const nvtxPayloadSchemaEntry_t inner[] = { { .type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "n" } };
	nvtxPayloadSchemaAttr_t attr = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.name = "inner", .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = inner, .numEntries = 1,
	};
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };
	nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
	nvtxRangeId_t one, two;
	nvtxPayloadData_t data;
	int n = 5;

	nvtxMarkA("begin");
	printf("%d", nvtxRangePushA("plain"));
	printf(" %d", nvtxRangePop());
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	printf(" %d", nvtxDomainRangePushEx(domain, &a));
	nvtxDomainMarkEx(domain, &a);
	printf(" %d\n", nvtxDomainRangePop(domain));
	nvtxDomainNameCategoryA(domain, 7, "seven");
	one = nvtxRangeStartA("one");
	two = nvtxRangeStartA("two");
	nvtxRangeEnd(one);
	nvtxRangeEnd(two);
	data = (nvtxPayloadData_t){ nvtxPayloadSchemaRegister(domain, &attr), sizeof n, &n };
	nvtxRangePushPayload(domain, &data, 1);
	nvtxRangePopPayload(domain, &data, 1);
	return 0;
}
