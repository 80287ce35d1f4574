#include "cli/analyze/range_self.h"

#include "cli/analyze/sums.h"
#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/sort.h"

#include <stdlib.h>

struct ranges {
	struct model *m;
	const int64_t *duration;
	const uint32_t *name, *domain, *flags, *process;
	uint32_t *parents;
	uint64_t *key;                  /* by row; KEY_NONE: not the program's own */
	int64_t *self;
	size_t n;
};

#define KEY_NONE UINT64_MAX

static int load(struct ranges *r)
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

static void choose(struct ranges *r)
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

/* What is not the program's own is passed over: its time stays with the range around it. */
static void take_children_off(struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint32_t at = r->parents[i];

		if (r->key[i] == KEY_NONE || r->duration[i] <= 0)
			continue;
		for (size_t hops = 0; at != UINT32_MAX && r->key[at] == KEY_NONE && hops < r->n; hops++)
			at = r->parents[at];
		if (at != UINT32_MAX)
			r->self[at] = r->self[at] > r->duration[i] ? r->self[at] - r->duration[i] : 0;
	}
}

int ranges_self(struct model *m, struct groups *self)
{
	struct ranges r = { .m = m };
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
