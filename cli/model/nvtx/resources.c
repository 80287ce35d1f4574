#include "cli/model/nvtx/resources.h"

#include "cli/model/inside.h"

static const struct {
	uint32_t type;
	enum resource_class class;
	const char *words;
} types[] = {
	{ 1 << 16 | 1, RESOURCE_OTHER, "pointer" }, { 1 << 16 | 2, RESOURCE_OTHER, "handle" }, { 1 << 16 | 3, RESOURCE_OTHER, "thread" },
	{ 1 << 16 | 4, RESOURCE_OTHER, "pthread" },
	{ 4 << 16 | 1, RESOURCE_DEVICE, "CUDA device" }, { 4 << 16 | 2, RESOURCE_CONTEXT, "CUDA context" },
	{ 4 << 16 | 3, RESOURCE_STREAM, "CUDA stream" }, { 4 << 16 | 4, RESOURCE_OTHER, "CUDA event" },
	{ 5 << 16 | 0, RESOURCE_DEVICE, "CUDA device" }, { 5 << 16 | 1, RESOURCE_STREAM, "CUDA stream" },
	{ 5 << 16 | 2, RESOURCE_OTHER, "CUDA event" },
};

enum resource_class resource_class(uint32_t type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].type == type)
			return types[i].class;
	return RESOURCE_OTHER;
}

const char *resource_words(uint32_t type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].type == type)
			return types[i].words;
	return NULL;
}

/* Linear search: programs name few objects, and exporters ask once per track. */
const char *model_resource_name(struct model *m, uint32_t process, enum resource_class what, uint32_t object)
{
	size_t n = model_rows(m, ROW_resource);
	const uint32_t *type = MODEL_U32(m, resource, type), *of = MODEL_U32(m, resource, object),
		       *name = MODEL_U32(m, resource, name);
	const uint32_t *flags = MODEL_U32(m, resource, flags), *row_process = model_row_process(m, ROW_resource);

	if (!n || !type || !of || !name || !flags || !row_process)
		return NULL;
	for (size_t i = n; i-- > 0;)
		if (row_process[i] == process && flags[i] == RESOURCE_KNOWN && of[i] == object &&
		    resource_class(type[i]) == what)
			return name[i] == STRING_NONE ? NULL : model_string(m, name[i]);
	return NULL;
}
