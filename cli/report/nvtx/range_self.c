#include "cli/report/nvtx/range_self.h"

#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"
#include "cli/report/parts/sums.h"

#include <stdlib.h>

struct range_nest {
	struct model *m;
	const int64_t *duration;
	const uint32_t *name, *domain, *flags, *process;
	uint32_t *parents;
	uint64_t *key;                  /* by row; KEY_NONE: not the program's own */
	int64_t *self;
	size_t n;
};

#define KEY_NONE UINT64_MAX

static int load(struct range_nest *r)
{
	r->n = model_rows(r->m, ROW_range);
	r->duration = MODEL_I64(r->m, range, duration);
	r->name = MODEL_U32(r->m, range, name);
	r->domain = MODEL_U32(r->m, range, domain);
	r->flags = MODEL_U32(r->m, range, flags);
	r->process = model_row_process(r->m, ROW_range);
	r->parents = model_range_parents(r->m);
	r->key = malloc((r->n + 1) * sizeof *r->key);
	r->self = malloc((r->n + 1) * sizeof *r->self);
	return r->duration && r->name && r->domain && r->flags && r->process && r->parents && r->key && r->self ? 0 : -1;
}

static void choose(struct range_nest *r)
{
	struct range_owner owner;

	range_owner_begin(&owner, r->m);
	for (size_t i = 0; i < r->n; i++) {
		uint32_t domain = model_domain(r->m, r->process[i], r->domain[i]);

		r->self[i] = r->duration[i] > 0 ? r->duration[i] : 0;
		r->key[i] = r->flags[i] & RANGE_STARTEND || !range_is_programs(&owner, domain) ? KEY_NONE :
			    (uint64_t)domain << 32 | r->name[i];
	}
}

/* The innermost range of the program around a row, or UINT32_MAX.  It becomes the parent of all rows on the way (path compression). */
static uint32_t own_parent(struct range_nest *r, size_t row)
{
	uint32_t own = r->parents[row], at = own, next;

	for (size_t hops = 0; own != UINT32_MAX && r->key[own] == KEY_NONE && hops < r->n; hops++)
		own = r->parents[own];
	for (; at != own && r->parents[at] != own; at = next) {
		next = r->parents[at];
		r->parents[at] = own;
	}
	return own;
}

/* Subtracts each range of the program from the one around it.  Other ranges are skipped: their time stays with the range around them. */
static void take_children_off(struct range_nest *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint32_t at = r->key[i] == KEY_NONE || r->duration[i] <= 0 ? UINT32_MAX : own_parent(r, i);

		if (at != UINT32_MAX)
			r->self[at] = r->self[at] > r->duration[i] ? r->self[at] - r->duration[i] : 0;
	}
}

int ranges_self(struct model *m, struct groups *self)
{
	struct range_nest r = { .m = m };
	int rc = load(&r);

	if (rc == 0) {
		choose(&r);
		take_children_off(&r);
	}
	for (size_t i = 0; rc == 0 && i < r.n; i++) {
		struct series *s = r.key[i] == KEY_NONE ? NULL : groups_get(self, r.key[i]);

		if (r.key[i] != KEY_NONE && (!s || !series_add(s, r.self[i])))
			rc = -1;
	}
	groups_sort(self);
	free(r.parents);
	free(r.key);
	free(r.self);
	return rc;
}
