/*
 * The parts of NVTX's ABI that are used, declared here so that the build needs no NVIDIA headers.  test/unit/inject compares them with
 * NVIDIA's headers where these are installed.  Sources: nvtx3/nvtxDetail/nvtxTypes.h, nvtxExtTypes.h, nvToolsExt.h of NVTX 3.2.
 */
#ifndef INJECT_NVTX_NVTX_ABI_H
#define INJECT_NVTX_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_EXPORT_CALLBACKS 1         /* export table ids */

/* Callback modules, and the index of each function in its module's table, which the target provides. */
enum nvtx_module {
	NVTX_MODULE_CORE = 1, NVTX_MODULE_CUDA, NVTX_MODULE_OPENCL, NVTX_MODULE_CUDART, NVTX_MODULE_CORE2,
	NVTX_MODULE_SYNC, NVTX_MODULES
};

enum nvtx_core {
	NVTX_MarkEx = 1, NVTX_MarkA, NVTX_MarkW, NVTX_RangeStartEx, NVTX_RangeStartA, NVTX_RangeStartW, NVTX_RangeEnd,
	NVTX_RangePushEx, NVTX_RangePushA, NVTX_RangePushW, NVTX_RangePop, NVTX_NameCategoryA, NVTX_NameCategoryW,
	NVTX_NameOsThreadA, NVTX_NameOsThreadW,
};

enum nvtx_core2 {
	NVTX_DomainMarkEx = 1, NVTX_DomainRangeStartEx, NVTX_DomainRangeEnd, NVTX_DomainRangePushEx,
		NVTX_DomainRangePop,
	NVTX_DomainResourceCreate, NVTX_DomainResourceDestroy, NVTX_DomainNameCategoryA, NVTX_DomainNameCategoryW,
	NVTX_DomainRegisterStringA, NVTX_DomainRegisterStringW, NVTX_DomainCreateA, NVTX_DomainCreateW,
		NVTX_DomainDestroy,
	NVTX_DomainInitialize,
};

enum nvtx_cuda {
	NVTX_NameCuDeviceA = 1, NVTX_NameCuDeviceW, NVTX_NameCuContextA, NVTX_NameCuContextW, NVTX_NameCuStreamA,
		NVTX_NameCuStreamW,
	NVTX_NameCuEventA, NVTX_NameCuEventW,
};

enum nvtx_cudart {
	NVTX_NameCudaDeviceA = 1, NVTX_NameCudaDeviceW, NVTX_NameCudaStreamA, NVTX_NameCudaStreamW,
		NVTX_NameCudaEventA,
	NVTX_NameCudaEventW,
};

enum nvtx_sync { NVTX_DomainSyncUserCreate = 1 };

/* Payload extension: its module id and the slots that are filled. */
#define NVTX_EXT_PAYLOAD 2
enum nvtx_payload_slot {
	NVTX_PayloadSchemaRegister, NVTX_PayloadEnumRegister, NVTX_MarkPayload, NVTX_RangePushPayload,
		NVTX_RangePopPayload, NVTX_RangeStartPayload, NVTX_RangeEndPayload,
	NVTX_DomainIsEnabled,
};

enum nvtx_message { NVTX_TEXT = 1, NVTX_WIDE = 2, NVTX_REGISTERED = 3 };
enum { NVTX_IS_ARGB = 1, NVTX_PAYLOAD_FLOAT = 6 };
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009)     /* payload_type: payload is the address of `reserved` struct nvtx_payload */

union nvtx_text {
	const char *text;
	const wchar_t *wide;
	const void *registered;
};

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t  color_type;
	uint32_t color;
	int32_t  payload_type, reserved;
	uint64_t payload;
	int32_t  message_type;
	union nvtx_text message;
};

struct nvtx_resource {
	uint16_t version, size;
	int32_t  type;
	uint64_t identifier;
	int32_t  message_type;
	union nvtx_text message;
};

struct nvtx_payload {
	uint64_t schema;
	size_t size;                    /* SIZE_MAX: compute it from the schema or the string's length */
	const void *data;
};

struct nvtx_schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

/* Bit numbers in `mask`: which members of the struct are set. */
enum { NVTX_SCHEMA_NAME = 1, NVTX_SCHEMA_TYPE, NVTX_SCHEMA_FLAGS, NVTX_SCHEMA_ENTRIES, NVTX_SCHEMA_COUNT,
	NVTX_SCHEMA_SIZE,
	NVTX_SCHEMA_ALIGN, NVTX_SCHEMA_ID };
enum { NVTX_ENUM_NAME = 1, NVTX_ENUM_ENTRIES, NVTX_ENUM_COUNT, NVTX_ENUM_SIZE, NVTX_ENUM_ID };

struct nvtx_schema {
	uint64_t mask;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t n, size, align;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum {
	uint64_t mask;
	const char *name;
	const struct nvtx_enum_value *entries;
	size_t n, size;
	uint64_t id;
	void *extension;
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
	size_t size;
	int (*module_table)(uint32_t module, nvtx_function ***table, unsigned *size);
};

struct nvtx_ext_segment {
	size_t id, slots;
	intptr_t *functions;
};

struct nvtx_ext_module {
	uint16_t version, size, module, compat;
	size_t n_segments;
	struct nvtx_ext_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info;
};

#endif
