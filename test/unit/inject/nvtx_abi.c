/* Our declaration of NVTX against NVIDIA's headers, where they are present. */
#include "inject/nvtx_abi.h"

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
SAME(NVTX_DomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_DomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_DomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_DomainInitialize, NVTX_CBID_CORE2_Initialize);
SAME(NVTX_EXT_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
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
