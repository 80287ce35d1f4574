#include "cli/report/session/wrappers.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 4

bool process_recorded_nothing(struct model *m, uint32_t position)
{
	static const unsigned kinds[] = {
		ROW_range, ROW_mark, ROW_step, ROW_api, ROW_event_record, ROW_event_wait, ROW_module, ROW_op, ROW_sample, ROW_kernel, ROW_memcpy,
		ROW_memset, ROW_sync, ROW_graph, ROW_memory, ROW_jit, ROW_unified, ROW_alloc,
	};
	uint32_t n;
	const struct process *all = model_processes(m, &n);

	if (process_attribute(&all[position], "imported") || process_all_flags(m, position) & PROCESS_CUDA)
		return false;
	for (uint32_t i = position; i; i = all[i].after) {
		if (!all[i].described || all[i].n_drops)
			return false;
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			if (model_process_has(m, kinds[k], i))
				return false;
	}
	return true;
}

struct tally_name {
	char text[64];
	size_t n;
};

/* Descending. */
static int by_count(const void *a, const void *b)
{
	const struct tally_name *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->text, y->text);
}

int tally_add(struct tally *t, const char *name)
{
	size_t i = 0;

	while (i < t->n && strncmp(t->names[i].text, name, sizeof t->names->text - 1) != 0)
		i++;
	if (!GROW(t->names, i + 1, t->cap))
		return -1;
	if (i == t->n) {
		t->names[i].n = 0;
		snprintf(t->names[t->n++].text, sizeof t->names->text, "%s", name);
	}
	t->names[i].n++;
	return 0;
}

void tally_text(struct tally *t, char *text, size_t size)
{
	size_t shown = 0, at = 0;

	*text = '\0';
	if (t->n)
		qsort(t->names, t->n, sizeof *t->names, by_count);
	for (; shown < t->n && shown < MOST_NAMES && at < size; shown++)
		at += (size_t)snprintf(text + at, size - at, "%s%zu %s", shown ? ", " : "", t->names[shown].n, t->names[shown].text);
	if (shown < t->n && at < size)
		snprintf(text + at, size - at, ", ...");
}

void tally_release(struct tally *t)
{
	free(t->names);
}

int wrappers_text(struct model *m, char *text, size_t size)
{
	uint32_t n;
	const struct process *all = model_processes(m, &n);
	struct tally names = { 0 };
	size_t found = 0, at;
	char name[32];
	int rc = 0;

	*text = '\0';
	for (uint32_t i = 1; i < n && rc == 0; i++)
		if (!all[i].before && model_process_selected(m, i) && process_recorded_nothing(m, i)) {
			rc = tally_add(&names, process_name(process_last(m, i), name, sizeof name));
			found++;
		}
	if (rc == 0 && found > 1) {
		at = (size_t)snprintf(text, size, "%zu processes that recorded nothing: ", found);
		if (at < size)
			tally_text(&names, text + at, size - at);
	}
	tally_release(&names);
	return rc;
}
