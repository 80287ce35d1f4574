/* inject/nvtx/nvtx_abi.h, compared with NVIDIA's headers where these are installed. */
#include "inject/nvtx/nvtx_abi.h"
#include "trace/payload.h"

#include "test/unit/test.h"

#if __has_include("/usr/local/cuda/include/nvtx3/nvToolsExt.h")
/* Every check is at compile time: offsets and numbers. */
#define NVTX_NO_IMPL
#include "/usr/local/cuda/include/nvtx3/nvToolsExt.h"
#include "/usr/local/cuda/include/nvtx3/nvToolsExtPayload.h"

#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a " differs from " #b)
#define AT(ours, theirs) SAME(offsetof(struct nvtx_attributes, ours), offsetof(nvtxEventAttributes_t, theirs))

SAME(sizeof(struct nvtx_attributes), sizeof(nvtxEventAttributes_t));
AT(category, category);
SAME(NVTX_IS_ARGB, NVTX_COLOR_ARGB);
SAME(NVTX_PAYLOAD_FLOAT, NVTX_PAYLOAD_TYPE_FLOAT);
AT(color_type, colorType);
AT(color, color);
AT(payload_type, payloadType);
AT(payload, payload);
AT(message_type, messageType);
AT(message, message);
SAME(NVTX_TEXT, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_MarkEx, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_RangeEnd, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_RangePop, NVTX_CBID_CORE_RangePop);
SAME(NVTX_NameOsThreadW, NVTX_CBID_CORE_NameOsThreadW);
SAME(NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME(NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME(NVTX_MODULE_SYNC, NVTX_CB_MODULE_SYNC);
SAME(NVTX_MODULES, NVTX_CB_MODULE_SIZE);
SAME(NVTX_NameCuDeviceA, NVTX_CBID_CUDA_NameCuDeviceA);
SAME(NVTX_NameCuEventW, NVTX_CBID_CUDA_NameCuEventW);
SAME(NVTX_NameCudaDeviceA, NVTX_CBID_CUDART_NameCudaDeviceA);
SAME(NVTX_NameCudaEventW, NVTX_CBID_CUDART_NameCudaEventW);
SAME(NVTX_DomainResourceCreate, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(sizeof(struct nvtx_resource), sizeof(nvtxResourceAttributes_t));
SAME(offsetof(struct nvtx_resource, type), offsetof(nvtxResourceAttributes_t, identifierType));
SAME(offsetof(struct nvtx_resource, identifier), offsetof(nvtxResourceAttributes_t, identifier));
SAME(offsetof(struct nvtx_resource, message_type), offsetof(nvtxResourceAttributes_t, messageType));
SAME(offsetof(struct nvtx_resource, message), offsetof(nvtxResourceAttributes_t, message));
SAME(NVTX_DomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_DomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_DomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_DomainInitialize, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_EXT_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
AT(reserved, reserved0);
SAME(NVTX_PayloadSchemaRegister, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(NVTX_PayloadEnumRegister, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
#define BIT(ours, theirs) SAME(1 << NVTX_##ours, NVTX_PAYLOAD_##theirs)
BIT(SCHEMA_NAME, SCHEMA_ATTR_FIELD_NAME);
BIT(SCHEMA_TYPE, SCHEMA_ATTR_FIELD_TYPE);
BIT(SCHEMA_FLAGS, SCHEMA_ATTR_FIELD_FLAGS);
BIT(SCHEMA_ENTRIES, SCHEMA_ATTR_FIELD_ENTRIES);
BIT(SCHEMA_COUNT, SCHEMA_ATTR_FIELD_NUM_ENTRIES);
BIT(SCHEMA_SIZE, SCHEMA_ATTR_FIELD_STATIC_SIZE);
BIT(SCHEMA_ALIGN, SCHEMA_ATTR_FIELD_ALIGNMENT);
BIT(SCHEMA_ID, SCHEMA_ATTR_FIELD_SCHEMA_ID);
BIT(ENUM_NAME, ENUM_ATTR_FIELD_NAME);
BIT(ENUM_ENTRIES, ENUM_ATTR_FIELD_ENTRIES);
BIT(ENUM_COUNT, ENUM_ATTR_FIELD_NUM_ENTRIES);
BIT(ENUM_SIZE, ENUM_ATTR_FIELD_SIZE);
BIT(ENUM_ID, ENUM_ATTR_FIELD_SCHEMA_ID);
#define MEMBER(ours, a, theirs, b) SAME(offsetof(struct ours, a), offsetof(theirs, b))
MEMBER(nvtx_payload, schema, nvtxPayloadData_t, schemaId);
MEMBER(nvtx_payload, size, nvtxPayloadData_t, size);
MEMBER(nvtx_payload, data, nvtxPayloadData_t, payload);
SAME(sizeof(struct nvtx_payload), sizeof(nvtxPayloadData_t));
MEMBER(nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
MEMBER(nvtx_schema_entry, name, nvtxPayloadSchemaEntry_t, name);
MEMBER(nvtx_schema_entry, description, nvtxPayloadSchemaEntry_t, description);
MEMBER(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
MEMBER(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME(sizeof(struct nvtx_schema_entry), sizeof(nvtxPayloadSchemaEntry_t));
MEMBER(nvtx_schema, name, nvtxPayloadSchemaAttr_t, name);
MEMBER(nvtx_schema, type, nvtxPayloadSchemaAttr_t, type);
MEMBER(nvtx_schema, flags, nvtxPayloadSchemaAttr_t, flags);
MEMBER(nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
MEMBER(nvtx_schema, n, nvtxPayloadSchemaAttr_t, numEntries);
MEMBER(nvtx_schema, size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
MEMBER(nvtx_schema, align, nvtxPayloadSchemaAttr_t, packAlign);
MEMBER(nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
MEMBER(nvtx_enum, name, nvtxPayloadEnumAttr_t, name);
MEMBER(nvtx_enum, entries, nvtxPayloadEnumAttr_t, entries);
MEMBER(nvtx_enum, n, nvtxPayloadEnumAttr_t, numEntries);
MEMBER(nvtx_enum, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
MEMBER(nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
MEMBER(nvtx_enum_value, value, nvtxPayloadEnum_t, value);
MEMBER(nvtx_enum_value, is_flag, nvtxPayloadEnum_t, isFlag);
SAME(sizeof(struct nvtx_enum_value), sizeof(nvtxPayloadEnum_t));
SAME(PAYLOAD_CHAR32, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
SAME(PAYLOAD_LONGDOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE);
SAME(PAYLOAD_UINT128, NVTX_PAYLOAD_ENTRY_TYPE_UINT128);
SAME(PAYLOAD_FLOAT128, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128);
SAME(PAYLOAD_TF32, NVTX_PAYLOAD_ENTRY_TYPE_TF32);
SAME(PAYLOAD_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME(PAYLOAD_REGISTERED, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(PAYLOAD_SELECTOR, NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR);
SAME(PAYLOAD_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
SAME(PAYLOAD_STATIC_ID, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(PAYLOAD_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(PAYLOAD_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(PAYLOAD_ZERO, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
SAME(PAYLOAD_LENGTH, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME(PAYLOAD_HIDE, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
SAME(PAYLOAD_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(NVTX_MarkPayload, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(NVTX_RangePushPayload, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_RangePopPayload, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_RangeStartPayload, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_RangeEndPayload, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_DomainIsEnabled, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(offsetof(struct nvtx_callbacks, module_table), offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
SAME(offsetof(struct nvtx_ext_module, module), offsetof(nvtxExtModuleInfo_t, moduleId));
SAME(offsetof(struct nvtx_ext_module, segments), offsetof(nvtxExtModuleInfo_t, segments));
SAME(offsetof(struct nvtx_ext_segment, functions), offsetof(nvtxExtModuleSegment_t, functionSlots));

TEST(our_declaration_of_nvtx_is_nvidias)
{
	CHECK(true);    /* it compiled */
}
#else
TEST(our_declaration_of_nvtx_is_nvidias)
{
	test_skip("no NVIDIA headers in /usr/local/cuda/include");
}
#endif
