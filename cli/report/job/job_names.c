/* Names of GPU rows, as in Kineto's files. */
#include "cli/report/job/job.h"

#include "cli/model/map.h"
#include "cli/model/names.h"

#include <stdio.h>
#include <string.h>

static const char *word(const char *text)
{
	return text ? text : "Unknown";
}

/* One side of a copy, from its direction ("HtoD", at 0 or 3), for ROCm's files, which have no kinds of memory. */
static const char *side(const char *direction, unsigned at)
{
	char letter = direction && strlen(direction) == 4 ? direction[at] : 0;

	return letter == 'H' ? "Host" : letter == 'D' ? "Device" : letter == 'A' ? "Array" : "Unknown";
}

static const char *copy_side(unsigned memory, const char *direction, unsigned at)
{
	return memory_words(memory) ? memory_words(memory) : side(direction, at);
}

uint32_t job_row_name_id(struct model *m, const struct gpu_row *g)
{
	const uint32_t *name = g->kind == ROW_kernel ? MODEL_U32(m, kernel, name) : NULL;
	const uint32_t *kind = g->kind == ROW_memcpy ? MODEL_U32(m, memcpy, kind) : NULL;
	const uint32_t *from = g->kind == ROW_memcpy ? MODEL_U32(m, memcpy, src_kind) : NULL;
	const uint32_t *to = g->kind == ROW_memcpy ? MODEL_U32(m, memcpy, dst_kind) :
			     g->kind == ROW_memset ? MODEL_U32(m, memset, mem_kind) : NULL;
	char text[96];

	if (g->kind == ROW_kernel)
		return name ? model_name(m, name[g->row], NAME_DEMANGLED) : MAP_NONE;
	if (g->kind == ROW_graph)
		return model_intern(m, "CUDA graph");
	if (!to || (g->kind == ROW_memcpy && (!kind || !from)))
		return MAP_NONE;
	if (g->kind == ROW_memcpy)
		snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", word(memcpy_short(kind[g->row])),
			 copy_side(from[g->row], memcpy_short(kind[g->row]), 0), copy_side(to[g->row], memcpy_short(kind[g->row]), 3));
	else
		snprintf(text, sizeof text, "Memset (%s)", word(memory_words(to[g->row])));
	return model_intern(m, text);
}

const char *job_row_name(struct model *m, const struct gpu_row *g, struct table *t)
{
	uint32_t id = job_row_name_id(m, g);

	return id == MAP_NONE ? NULL : table_keep(t, "%s", model_string(m, id));
}

uint32_t job_copy_kind_id(struct model *m, const struct gpu_row *g)
{
	const uint32_t *kind = g->kind == ROW_memcpy ? MODEL_U32(m, memcpy, kind) : NULL;
	char text[32];

	if (g->kind == ROW_memset)
		return model_intern(m, "Memset");
	if (!kind)
		return MAP_NONE;
	snprintf(text, sizeof text, "Memcpy %s", word(memcpy_short(kind[g->row])));
	return model_intern(m, text);
}
