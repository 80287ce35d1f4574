#include "cli/report/parts/stats.h"

#include "trace/grow.h"

struct series *groups_find(struct groups *g, uint64_t key)
{
	bool new;
	uint32_t *place = map_put(&g->index, key, (uint32_t)g->n, &new);

	if (place && new && !GROW(g->list, g->n + 1, g->cap))
		place = NULL;
	if (!g->direct)
		g->direct = calloc(DIRECT_KEYS, sizeof *g->direct);
	if (!place || !g->direct) {
		g->oom = true;
		return NULL;
	}
	if (new)
		g->list[g->n++] = (struct series){ .key = key };
	if (key < DIRECT_KEYS)
		g->direct[key] = *place;
	return &g->list[*place - 1];
}

void groups_release(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		series_release(&g->list[i]);
	free(g->list);
	free(g->direct);
	map_release(&g->index);
	*g = (struct groups){ 0 };
}

void groups_merge(struct groups *g, struct groups *from)
{
	g->oom |= from->oom;
	for (size_t i = 0; i < from->n && !g->oom; i++) {
		struct series *s = groups_get(g, from->list[i].key);

		if (!s || !series_merge(s, &from->list[i]))
			g->oom = true;
	}
	for (size_t i = 0; i < g->n; i++)
		series_settle(&g->list[i]);
	groups_release(from);
}

int groups_rekey(struct groups *g, uint64_t (*map)(void *at, uint64_t key), void *at)
{
	struct groups out = { 0 };

	for (size_t i = 0; i < g->n && !out.oom; i++) {
		struct series *s = groups_get(&out, map(at, g->list[i].key));

		if (!s || !series_merge(s, &g->list[i]))
			out.oom = true;
	}
	groups_release(g);
	*g = out;
	return g->oom ? -1 : 0;
}

static int by_sum(const void *a, const void *b)
{
	const struct series *p = a, *q = b;

	if (p->sum != q->sum)
		return p->sum > q->sum ? -1 : 1;
	if (p->rows != q->rows)
		return p->rows > q->rows ? -1 : 1;
	return p->key < q->key ? -1 : p->key > q->key;
}

void groups_sort(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		series_settle(&g->list[i]);
	if (g->n)
		qsort(g->list, g->n, sizeof *g->list, by_sum);
	map_release(&g->index);
	free(g->direct);
	g->direct = NULL;
}

long long share_percent(int64_t part, int64_t whole)
{
	return whole > 0 ? (long long)(((__int128)part * 100 + whole / 2) / whole) : 0;
}

int64_t share(unsigned __int128 part, unsigned __int128 whole)
{
	return whole ? (int64_t)((part * 1000 + whole / 2) / whole) : 0;
}
