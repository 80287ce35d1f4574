/* Jobs out of models, and kept from one report to the next. */
#include "cli/analyze/hta.h"
#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>

#define FAR_OFF (1u << 24)              /* string ids from here on: only those of strings that are lost */

/* ---- names ---- */

uint32_t hta_name_text(struct hta *h, const char *text)
{
	if (h->n_names == h->cap_names) {
		size_t cap = h->cap_names ? h->cap_names * 2 : 256;
		struct hta_name *names = realloc(h->names, cap * sizeof *names);

		if (!names) {
			h->oom = true;
			return 0;
		}
		h->names = names;
		h->cap_names = cap;
	}
	h->names[h->n_names] = (struct hta_name){ text, hta_flags_of(text), hta_class_of(text) };
	return (uint32_t)h->n_names++;
}

/* Where the position of a string's name is, + 1; that of the next name if it is new.  NULL: out of memory. */
static const uint32_t *name_place(struct hta *h, uint32_t string, bool *new)
{
	if (string >= FAR_OFF)
		return map_put(&h->by_string, string, (uint32_t)h->n_names, new);
	if (string >= h->n_by_id) {
		size_t n = string < 512 ? 1024 : 2 * (size_t)string;
		uint32_t *by_id = realloc(h->by_id, n * sizeof *by_id);

		if (!by_id)
			return NULL;
		memset(by_id + h->n_by_id, 0, (n - h->n_by_id) * sizeof *by_id);
		h->by_id = by_id;
		h->n_by_id = n;
	}
	*new = !h->by_id[string];
	if (*new)
		h->by_id[string] = (uint32_t)h->n_names + 1;
	return &h->by_id[string];
}

/* Equal texts are one name, also of two models: the first one's strings are what counts. */
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
	struct hta_rank *ranks = realloc(h->ranks, (h->n_ranks + 1) * sizeof *ranks);

	if (!ranks) {
		h->oom = true;
		return NULL;
	}
	h->ranks = ranks;
	ranks[h->n_ranks] = (struct hta_rank){ .rank = -1, .rows = malloc((room + 1) * sizeof *ranks->rows), .cap = room + 1 };
	if (!ranks[h->n_ranks].rows)
		ranks[h->n_ranks].cap = 0;      /* then it grows from there */
	return &ranks[h->n_ranks++];
}

struct hta_row *hta_add_row(struct hta *h, struct hta_rank *r)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 1024;
		struct hta_row *rows = realloc(r->rows, cap * sizeof *rows);

		if (!rows) {
			h->oom = true;
			return NULL;
		}
		r->rows = rows;
		r->cap = cap;
	}
	return &r->rows[r->n++];
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

/* HTA calls a file without a rank rank 0.  Several of them are numbered as they come. */
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
		free(h->ranks[i].rows);
		free(h->ranks[i].uncut);
		free(h->ranks[i].at);
		free(h->ranks[i].gpu);
		free(h->ranks[i].queue);
		free(h->ranks[i].linked);
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

	how.keep_uncut = jobs->last_step;
	if (!*kept)
		*kept = hta_load(jobs->models, jobs->n, how);
	return *kept;
}

/* The job with its last step: the same where nothing was cut off. */
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
	if (how.last_step && choice->jobs->last_step)
		return job_with_last(choice->jobs, how);
	if (how.whole || how.last_step)
		return hta_load(choice->jobs->models, choice->jobs->n, how);
	return job_of(choice->jobs, how);
}

void hta_done(struct hta *h, const struct report_choice *choice)
{
	struct jobs *jobs = choice->jobs;
	bool kept = jobs && (jobs->kept[0] == h || jobs->kept[1] == h || jobs->with_last[0] == h || jobs->with_last[1] == h);

	if (h && !kept)
		hta_free(h);
}
