/* Names that programs gave to their devices, contexts, streams and other handles. */
#ifndef CLI_MODEL_NVTX_RESOURCES_H
#define CLI_MODEL_NVTX_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

struct model;

enum resource_class { RESOURCE_DEVICE, RESOURCE_CONTEXT, RESOURCE_STREAM, RESOURCE_OTHER };

/* Class of an NVTX resource type (field resource.type). */
enum resource_class resource_class(uint32_t type);

/* Text of a type: "CUDA stream", "thread"; NULL: unknown. */
const char *resource_words(uint32_t type);

/* The last name that a process gave to its device (ordinal), context or stream (CUPTI's id); NULL: none. */
const char *model_resource_name(struct model *m, uint32_t process, enum resource_class what, uint32_t object);

#endif
