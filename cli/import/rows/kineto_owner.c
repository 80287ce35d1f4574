/* Files of several processes: which process each GPU row belongs to. */
#include "cli/import/rows/kineto.h"

#define AMBIGUOUS 0xfffffffeu           /* in the map: several processes have a call with this correlation id */

/* Maps the correlation id of each call to its process, or to AMBIGUOUS. */
static int map_calls(const struct kineto *k, struct map *of)
{
	for (uint32_t h = 0; h < k->n_hosts; h++) {
		const struct api_row *row = (const struct api_row *)k->hosts[h].api.data;

		for (size_t i = 0; i < k->hosts[h].api.len / sizeof *row; i++) {
			uint32_t before = map_get(of, row[i].corr);

			if (row[i].corr && before != h &&
			    !map_set(of, row[i].corr, before == MAP_NONE ? h : AMBIGUOUS))
				return -1;
		}
	}
	return 0;
}

struct owner_rows {
	unsigned kind;
	const struct buf *rows;
	size_t size, corr;              /* size of a row; offset of its correlation id, 0: none */
};

/*
 * The process that the pid's label of the next row of a kind names, or NO_HOST: no label, or a process without calls.
 * *at: where the search for the row's imported row starts; moved after it.
 */
static uint32_t labelled(const struct kineto *k, unsigned kind, size_t *at)
{
	const struct imported_row *row = (const struct imported_row *)k->imported.data;
	const uint32_t *whose = (const uint32_t *)k->imported_host.data;
	size_t n = k->labels.n ? k->imported.len / sizeof *row : 0;

	while (*at < n && row[*at].kind != kind)
		++*at;
	if (*at >= n || whose[*at] == NO_HOST || !k->hosts[whose[*at]].api.len)
		return ++*at, NO_HOST;
	return whose[(*at)++];
}

static int own(struct kineto *k, const struct map *of, const struct owner_rows *g, struct buf *owners)
{
	size_t imported = 0;

	for (size_t at = 0; at < g->rows->len; at += g->size) {
		uint32_t corr = g->corr ? *(const uint32_t *)(g->rows->data + at + g->corr) : 0;
		uint32_t host = labelled(k, g->kind, &imported);

		if (host == NO_HOST)
			host = corr ? map_get(of, corr) : MAP_NONE;
		if (host == MAP_NONE || host == AMBIGUOUS)
			host = NO_HOST;
		buf_put(owners, &host, sizeof host);
	}
	return owners->oom ? trace_fail(k->err, 0, "out of memory") : 0;
}

/* Copies the owners to the imported rows: the n-th imported row of a kind belongs to the n-th row of that kind. */
static void own_imported(struct kineto *k, const struct owner_rows *g, const struct buf *owners)
{
	const struct imported_row *row = (const struct imported_row *)k->imported.data;
	uint32_t *whose = (uint32_t *)k->imported_host.data;
	size_t n = 0, most = owners->len / sizeof *whose;

	for (size_t i = 0; i < k->imported.len / sizeof *row && n < most; i++)
		if (row[i].kind == g->kind)
			whose[i] = ((const uint32_t *)owners->data)[n++];
}

int kineto_owners(struct kineto *k)
{
#define ROWS(of, corr) { ROW_##of, &k->of, sizeof(struct of##_row), corr }
	const struct owner_rows all[GPU_KINDS] = {
		ROWS(kernel, offsetof(struct kernel_row, corr)), ROWS(memcpy, offsetof(struct memcpy_row, corr)),
		ROWS(memset, offsetof(struct memset_row, corr)), ROWS(sync, offsetof(struct sync_row, corr)),
		ROWS(overhead, offsetof(struct overhead_row, corr)), ROWS(gpu_range, 0),
	};
#undef ROWS
	struct map of = { 0 };
	size_t callers = 0;
	int rc = 0;

	for (size_t h = 0; h < k->n_hosts; h++)
		callers += k->hosts[h].api.len != 0;
	if (callers < 2) {
		uint32_t *whose = (uint32_t *)k->imported_host.data;
		const struct imported_row *row = (const struct imported_row *)k->imported.data;

		for (size_t i = 0; k->labels.n && i < k->imported.len / sizeof *row; i++)
			for (size_t g = 0; g < GPU_KINDS; g++)
				whose[i] = row[i].kind == all[g].kind ? NO_HOST : whose[i];
		return 0;
	}
	rc = map_calls(k, &of) < 0 ? trace_fail(k->err, 0, "out of memory") : 0;
	for (size_t i = 0; i < GPU_KINDS && rc == 0; i++) {
		rc = own(k, &of, &all[i], &k->owners[i]);
		if (rc == 0)
			own_imported(k, &all[i], &k->owners[i]);
	}
	map_release(&of);
	k->owned = rc == 0;
	return rc;
}
