/* What the trace has: processes, rows of each kind, damage. */
#include "cli/model/inside.h"

static int by_image(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	return p->image < q->image ? -1 : p->image > q->image;
}

uint32_t model_process_at(const struct model *m, uint32_t image)
{
	const struct process key = { .image = image };
	const struct process *p = bsearch(&key, m->processes, m->n_processes, sizeof key, by_image);

	return p ? (uint32_t)(p - m->processes) : 0;
}

const char *model_path(const struct model *m)
{
	return m->trace.path;
}

struct trace *model_trace(const struct model *m)
{
	return &((struct model *)m)->trace;
}

int64_t model_start(const struct model *m)
{
	return m->trace.header.start_real;
}

size_t model_rows(const struct model *m, unsigned kind)
{
	return m->kinds[kind].n_rows;
}

bool model_has_gpu_rows(const struct model *m)
{
	return model_rows(m, ROW_kernel) || model_rows(m, ROW_memcpy) || model_rows(m, ROW_memset) || model_rows(m, ROW_graph);
}

static size_t first_part(const struct kind *k, uint32_t process)
{
	size_t low = 0, high = k->n_parts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->parts[mid].process < process)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t model_process_rows(const struct model *m, unsigned kind, uint32_t process)
{
	const struct kind *k = &m->kinds[kind];
	size_t n = 0;

	for (size_t i = first_part(k, process); i < k->n_parts && k->parts[i].process == process; i++)
		if (!k->parts[i].chunk->bad)
			n += k->parts[i].rows;
	return n;
}

bool model_process_has(const struct model *m, unsigned kind, uint32_t process)
{
	const struct kind *k = &m->kinds[kind];

	for (size_t i = first_part(k, process); i < k->n_parts && k->parts[i].process == process; i++)
		if (!k->parts[i].chunk->bad && k->parts[i].chunk->head.rows)
			return true;
	return false;
}

const char *model_damage(const struct model *m, size_t i)
{
	return i < m->trace.n_damage ? m->trace.damage[i].text : NULL;
}

const struct process *model_processes(const struct model *m, uint32_t *n)
{
	*n = m->n_processes;
	return m->processes;
}
