/* Loads jobs from models, and keeps them from one report to the next. */
#include "cli/compat/hta/hta_derived.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "trace/grow.h"

#include <stdlib.h>

#define FAR_OFF (1u << 24)              /* string ids from here on are in by_string; only ids of lost strings are so large */

/* ---- names ---- */

uint32_t hta_name_text(struct hta *h, const char *text)
{
	if (!GROW(h->names, h->n_names + 1, h->cap_names)) {
		h->oom = true;
		return 0;
	}
	h->names[h->n_names] = (struct hta_name){ text, hta_flags_of(text), hta_class_of(text) };
	return (uint32_t)h->n_names++;
}

/* Pointer to the position + 1 of a string's name; *new: the position is that of the next name.  NULL: out of memory. */
static const uint32_t *name_place(struct hta *h, uint32_t string, bool *new)
{
	if (string >= FAR_OFF)
		return map_put(&h->by_string, string, (uint32_t)h->n_names, new);
	if (string >= h->n_by_id) {
		size_t before = h->n_by_id;

		if (!GROW(h->by_id, (size_t)string + 1, h->n_by_id))
			return NULL;
		memset(h->by_id + before, 0, (h->n_by_id - before) * sizeof *h->by_id);
	}
	*new = !h->by_id[string];
	if (*new)
		h->by_id[string] = (uint32_t)h->n_names + 1;
	return &h->by_id[string];
}

/* Strings of further models are first looked up by text in the first model. */
uint32_t hta_name_of(struct hta *h, struct model *m, uint32_t string)
{
	const uint32_t *at;
	bool new = false;

	if (m != h->strings)
		string = model_intern(h->strings, model_string(m, string));
	at = string == MAP_NONE ? NULL : name_place(h, string, &new);
	if (!at) {
		h->oom = true;
		return 0;
	}
	if (new)
		return hta_name_text(h, model_string(h->strings, string));
	return *at - 1;
}

/* ---- rows ---- */

struct hta_rank *hta_add_rank(struct hta *h, size_t room)
{
	static const union hta_extra none, no_wait = { .wait_stream = UINT32_MAX, .wait_corr = UINT32_MAX };
	struct hta_rank *r;

	if (!GROW(h->ranks, h->n_ranks + 1, h->cap_ranks)) {
		h->oom = true;
		return NULL;
	}
	r = &h->ranks[h->n_ranks++];
	*r = (struct hta_rank){ .rank = -1, .rows = malloc((room + 1) * sizeof *r->rows), .cap = room + 1,
				.extras = malloc(64 * sizeof *r->extras), .n_extras = 2, .cap_extras = 64 };
	if (!r->rows)
		r->cap = 0;     /* hta_add_row() tries again with less */
	if (!r->extras) {
		h->oom = true;
		return NULL;
	}
	r->extras[HTA_NO_EXTRA] = none;
	r->extras[HTA_NO_WAIT] = no_wait;
	return r;
}

struct hta_row *hta_add_row(struct hta *h, struct hta_rank *r)
{
	if (!GROW(r->rows, r->n + 1, r->cap)) {
		h->oom = true;
		return NULL;
	}
	return &r->rows[r->n++];
}

uint32_t hta_place_of(struct hta *h, struct hta_rank *r, const struct hta_place *place)
{
	uint64_t key = hash_mix(h->secret, (uint64_t)place->pid, (uint64_t)place->tid);

	key = hash_mix(h->secret, key, hash_mix(h->secret, (uint64_t)place->stream, place->tid_text));

	for (;; key++) {                /* a place whose hash is taken gets the next one */
		bool new = false;
		uint32_t *at = map_put(&r->place_at, key, (uint32_t)r->n_places, &new);

		if (!at) {
			h->oom = true;
			return 0;
		}
		if (new)
			break;
		if (hta_same_place(&r->places[*at - 1], place))
			return *at - 1;
	}
	if (!GROW(r->places, r->n_places + 1, r->cap_places)) {
		h->oom = true;
		return 0;
	}
	r->places[r->n_places] = *place;
	return (uint32_t)r->n_places++;
}

union hta_extra *hta_own_extra(struct hta *h, struct hta_rank *r, struct hta_row *row)
{
	if (row->extra > HTA_NO_WAIT)
		return &r->extras[row->extra];
	if (!GROW(r->extras, r->n_extras + 1, r->cap_extras)) {
		h->oom = true;
		return NULL;
	}
	r->extras[r->n_extras] = r->extras[row->extra];
	row->extra = (uint32_t)r->n_extras++;
	return &r->extras[row->extra];
}

int64_t hta_rank_of(struct model *m, uint32_t process)
{
	uint32_t n;
	const char *text = process_attribute(&model_processes(m, &n)[process], "rank");
	char *end;
	long rank = text ? strtol(text, &end, 10) : -1;

	return text && end != text && !*end ? rank : -1;
}

static int by_rank(const void *a, const void *b)
{
	const struct hta_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* HTA gives a file without a rank number 0; several of them get 0, 1, ... in their order. */
static void number_ranks(struct hta *h)
{
	int64_t next = 0;

	for (size_t i = 0; i < h->n_ranks; i++)
		if (h->ranks[i].rank < 0)
			h->ranks[i].rank = next++;
	if (h->n_ranks > 1)
		qsort(h->ranks, h->n_ranks, sizeof *h->ranks, by_rank);
}

struct hta *hta_load(struct model *const *models, size_t n, struct hta_how how)
{
	struct hta *h = calloc(1, sizeof *h);
	int rc = 0;

	if (!h)
		return NULL;
	h->how = how;
	h->strings = models[0];
	for (unsigned i = 0; i < 2; i++)
		h->secret[i] = hash_secret(i);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = model_rows(models[i], ROW_imported) ? hta_imported_rows(h, models[i]) : hta_own_rows(h, models[i]);
	if (rc == 0)
		number_ranks(h);
	if (rc == 0)
		rc = hta_link(h);
	if (rc == 0 && !h->oom)
		return h;
	hta_free(h);
	return NULL;
}

void hta_free(struct hta *h)
{
	if (!h)
		return;
	for (size_t i = 0; h->ranks && i < h->n_ranks; i++) {
		struct hta_rank *r = &h->ranks[i];

		free(r->order);
		free(r->at);
		free(r->gpu);
		free(r->linked);
		hta_derived_free(r->derived);
		if (h->borrows)
			continue;
		free(r->ids);
		free(r->rows);
		free(r->places);
		free(r->extras);
		map_release(&r->place_at);
	}
	free(h->ranks);
	if (!h->borrows) {
		free(h->names);
		free(h->by_id);
		map_release(&h->by_string);
	}
	free(h);
}

/* ---- kept from one report to the next ---- */

static struct hta *job_of(struct jobs *jobs, struct hta_how how)
{
	struct hta **kept = &jobs->kept[how.rounded];

	if (!*kept)
		*kept = hta_load(jobs->models, jobs->n, how);
	return *kept;
}

/* The job with its last step; the job itself if nothing was cut off. */
static struct hta *job_with_last(struct jobs *jobs, struct hta_how how)
{
	struct hta *cut = job_of(jobs, (struct hta_how){ .rounded = how.rounded }), **kept = &jobs->with_last[how.rounded];
	struct hta *h;

	if (!cut || !cut->cut)
		return cut;
	if (*kept)
		return *kept;
	h = calloc(1, sizeof *h);
	if (!h)
		return NULL;
	*h = (struct hta){ .how = how, .names = cut->names, .n_names = cut->n_names, .strings = cut->strings, .borrows = true };
	if (hta_link_last(h, cut) < 0) {
		hta_free(h);
		return NULL;
	}
	return *kept = h;
}

struct hta *hta_get(struct model *m, const struct report_choice *choice, struct hta_how how)
{
	if (!choice->jobs)
		return hta_load(&m, 1, how);
	if (how.whole)
		return hta_load(choice->jobs->models, choice->jobs->n, how);
	return how.last_step ? job_with_last(choice->jobs, how) : job_of(choice->jobs, how);
}

void hta_note_pairs(struct table *t, const struct hta_rank *r, const char *without)
{
	table_note(t, "rank %lld: %s: too many calls and GPU rows share a correlation id", (long long)r->rank, without);
}

void hta_done(struct hta *h, struct table *t, const struct report_choice *choice)
{
	struct jobs *jobs = choice->jobs;
	bool kept = jobs && (jobs->kept[0] == h || jobs->kept[1] == h || jobs->with_last[0] == h || jobs->with_last[1] == h);

	for (size_t k = 0; h && k < h->n_ranks; k++)
		if (h->ranks[k].once)
			hta_note_pairs(t, &h->ranks[k], "each GPU row counts once, not once per call as in HTA");

	if (h && !kept)
		hta_free(h);
}
