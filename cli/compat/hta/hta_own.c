/*
 * Rows of a recorded trace as the export to Kineto (cli/export/kineto/kineto.c) writes them.  Keep both alike: else the reports on a trace and on
 * its export differ.
 */
#include "cli/compat/hta/hta.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/nvtx/libraries.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/model/steps/steps.h"
#include "cli/model/torch/torch.h"
#include "cli/report/job/job.h"

#include <stdlib.h>

#define DAY 86400000000000ll

/* State of hta_own_rows(). */
struct hta_own {
	struct hta *h;
	struct model *m;
	int64_t base;                   /* times count from the start of the day, as in Kineto */
	uint32_t *rank_of;              /* by process: position in h->ranks; MAP_NONE: no rank */
	uint32_t *next;                 /* by process: index of its next event */
	struct map copies;              /* kind << 40 | from << 20 | to -> position in h->names */
	bool step_names;                /* the program has ranges ProfilerStep#N */
	struct last_place {
		uint32_t process, first, second;
		bool known, on_stream;
		uint32_t at;
	} last[2];                      /* of a thread, of a stream */
};

/* Adds an event; the caller sets its place.  NULL: the process is no rank, or out of memory. */
static struct hta_row *put_row(struct hta_own *o, uint32_t process, int64_t start, int64_t duration, uint32_t name,
			       enum hta_category category)
{
	struct hta_row *r;

	if (o->rank_of[process] == MAP_NONE)
		return NULL;
	r = hta_add_row(o->h, &o->h->ranks[o->rank_of[process]]);
	if (!r)
		return NULL;
	*r = (struct hta_row){
		.ts = time_sub(start, o->base), .dur = duration, .corr = -1, .index = o->next[process]++, .name = name,
		.category = (uint8_t)category,
	};
	return r;
}

/* Sets the place of a row, which is often the same as that of the row before. */
static void settle(struct hta_own *o, struct hta_row *r, uint32_t process, bool gpu, uint32_t first, uint32_t second)
{
	struct last_place *last = &o->last[gpu];
	struct hta_place place = { first, second, -1, UINT32_MAX };
	const struct thread *t;
	uint32_t n;

	if (!last->known || last->process != process || last->first != first || last->second != second) {
		if (gpu) {
			place.tid = place.stream = second == STREAM_NONE ? -1 : (int64_t)second;
		} else {
			t = model_thread(o->m, process, second);
			place.pid = model_processes(o->m, &n)[process].pid;
			place.tid = t && t->row.tid ? t->row.tid : second;
		}
		*last = (struct last_place){ process, first, second, true, place.stream != -1,
					     hta_place_of(o->h, &o->h->ranks[o->rank_of[process]], &place) };
	}
	r->place = last->at;
	r->on_stream = last->on_stream;
}

static void put_host(struct hta_own *o, struct hta_row *r, uint32_t process, uint32_t thread)
{
	if (r)
		settle(o, r, process, false, 0, thread);
}

static void put_gpu(struct hta_own *o, struct hta_row *r, uint32_t process, uint32_t device, uint32_t stream, uint32_t corr)
{
	if (!r)
		return;
	settle(o, r, process, true, device, stream);
	r->corr = corr;
}

/* ---- host ---- */

/* <<<>>> compiled by nvcc 13 calls __cudaLaunchKernel; HTA only has cudaLaunchKernel. */
static uint32_t call_name(struct hta_own *o, uint32_t string)
{
	uint32_t plain = model_name(o->m, string, NAME_API_PLAIN);
	const char *text = model_string(o->m, plain);

	return hta_name_of(o->h, o->m, strncmp(text, "__", 2) == 0 ? model_intern(o->m, text + 2) : plain);
}

static int put_calls(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, api, start), *duration = MODEL_I64(m, api, duration);
	const uint32_t *corr = MODEL_U32(m, api, corr), *thread = MODEL_U32(m, api, thread), *name = MODEL_U32(m, api, name),
		       *cbid = MODEL_U32(m, api, cbid), *process = model_row_process(m, ROW_api);

	if (!start || !duration || !corr || !thread || !name || !cbid || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_api); i < n; i++) {
		struct hta_row *r = put_row(o, process[i], start[i], duration[i], call_name(o, name[i]),
					    cbid[i] >> 16 == 1 ? HTA_DRIVER : HTA_RUNTIME);

		put_host(o, r, process[i], thread[i]);
		if (r)
			r->corr = corr[i];
	}
	return 0;
}

/* Push/pop ranges, without those of CUDA libraries: operators of PyTorch, and annotations. */
static int put_ranges(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, range, start), *duration = MODEL_I64(m, range, duration);
	const uint32_t *thread = MODEL_U32(m, range, thread), *name = MODEL_U32(m, range, name),
		       *domain = MODEL_U32(m, range, domain), *flags = MODEL_U32(m, range, flags),
		       *process = model_row_process(m, ROW_range);
	const struct torch_ranges *torch = model_torch(m);

	if (!start || !duration || !thread || !name || !domain || !flags || !process || !torch)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_range); i < n; i++) {
		enum hta_category category = HTA_ANNOTATION;
		uint32_t place = torch->n ? torch->at[i] : NO_TORCH, named;

		if (flags[i] & RANGE_STARTEND || model_domain_of_library(m, process[i], domain[i]))
			continue;
		if (place != NO_TORCH && torch->list[place].scope != TORCH_USER)
			category = HTA_CPU_OP;
		named = hta_name_of(o->h, m, name[i]);
		put_host(o, put_row(o, process[i], start[i], duration[i], named, category), process[i], thread[i]);
		if (!o->h->oom && o->h->names[named].flags & HTA_STEP)
			o->step_names = true;
	}
	return 0;
}

/* Steps become annotations ProfilerStep#N, as in the export, unless the program has such ranges. */
static int put_steps(struct hta_own *o)
{
	const struct steps *s = model_steps(o->m);
	char text[40];

	if (!s)
		return -1;
	for (size_t i = 0; i < s->n && !o->step_names; i++) {
		const struct step *step = &s->list[i];
		uint32_t string;

		if (!step->selected || step->flags & (STEP_WARMUP | STEP_INCOMPLETE) || step->kind != 0 || (!step->window && !steps_recorded_whole(s, step->process)))
			continue;
		snprintf(text, sizeof text, "ProfilerStep#%u", step->number);
		string = model_intern(o->m, text);
		if (string == MAP_NONE)
			return -1;
		put_host(o, put_row(o, step->process, step->start, time_sub(step->end, step->start),
				    hta_name_of(o->h, o->m, string), HTA_ANNOTATION),
			 step->process, step->thread);
	}
	return 0;
}

/* ---- GPU ---- */

static int put_kernels(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, kernel, start), *duration = MODEL_I64(m, kernel, duration);
	const uint32_t *corr = MODEL_U32(m, kernel, corr), *name = MODEL_U32(m, kernel, name),
		       *device = MODEL_U32(m, kernel, device), *stream = MODEL_U32(m, kernel, stream),
		       *process = model_row_process(m, ROW_kernel);

	if (!start || !duration || !corr || !name || !device || !stream || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_kernel); i < n; i++)
		if (start[i])
			put_gpu(o, put_row(o, process[i], start[i], duration[i],
					   hta_name_of(o->h, m, model_name(m, name[i], NAME_DEMANGLED)), HTA_KERNEL),
				process[i], device[i], stream[i], corr[i]);
	return 0;
}

static uint32_t copy_name(struct hta_own *o, uint32_t kind, uint32_t from, uint32_t to)
{
	const char *how = memcpy_short(kind), *source = memory_words(from), *target = memory_words(to);
	char text[96];
	bool new = false;
	uint32_t *at = map_put(&o->copies, (uint64_t)kind << 40 | (uint64_t)(from & 0xfffff) << 20 | (to & 0xfffff), 0, &new);

	if (!at)
		return 0;
	if (new) {
		if (kind)
			snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", how ? how : "Unknown", source ? source : "Unknown",
				 target ? target : "Unknown");
		else
			snprintf(text, sizeof text, "Memset (%s)", target ? target : "Unknown");
		*at = hta_name_of(o->h, o->m, model_intern(o->m, text)) + 1;
	}
	return *at - 1;
}

static void put_bytes(struct hta_own *o, struct hta_row *r, uint32_t process, uint64_t bytes, int64_t duration)
{
	union hta_extra *extra = r && duration > 0 && bytes <= INT64_MAX
					 ? hta_own_extra(o->h, &o->h->ranks[o->rank_of[process]], r)
					 : NULL;

	if (extra)
		extra->bandwidth = (double)bytes / (double)duration;
}

static int put_copies(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, memcpy, start), *duration = MODEL_I64(m, memcpy, duration);
	const uint64_t *bytes = MODEL_U64(m, memcpy, bytes);
	const uint32_t *corr = MODEL_U32(m, memcpy, corr), *device = MODEL_U32(m, memcpy, device),
		       *stream = MODEL_U32(m, memcpy, stream), *kind = MODEL_U32(m, memcpy, kind),
		       *from = MODEL_U32(m, memcpy, src_kind), *to = MODEL_U32(m, memcpy, dst_kind),
		       *process = model_row_process(m, ROW_memcpy);

	if (!start || !duration || !bytes || !corr || !device || !stream || !kind || !from || !to || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_memcpy); i < n; i++) {
		struct hta_row *r = start[i] ? put_row(o, process[i], start[i], duration[i], copy_name(o, kind[i], from[i], to[i]),
						       HTA_MEMCPY)
					     : NULL;

		put_gpu(o, r, process[i], device[i], stream[i], corr[i]);
		put_bytes(o, r, process[i], bytes[i], duration[i]);
	}
	return 0;
}

static int put_sets(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, memset, start), *duration = MODEL_I64(m, memset, duration);
	const uint64_t *bytes = MODEL_U64(m, memset, bytes);
	const uint32_t *corr = MODEL_U32(m, memset, corr), *device = MODEL_U32(m, memset, device),
		       *stream = MODEL_U32(m, memset, stream), *kind = MODEL_U32(m, memset, mem_kind),
		       *process = model_row_process(m, ROW_memset);

	if (!start || !duration || !bytes || !corr || !device || !stream || !kind || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_memset); i < n; i++) {
		struct hta_row *r =
			start[i] ? put_row(o, process[i], start[i], duration[i], copy_name(o, 0, 0, kind[i]), HTA_MEMSET) : NULL;

		put_gpu(o, r, process[i], device[i], stream[i], corr[i]);
		put_bytes(o, r, process[i], bytes[i], duration[i]);
	}
	return 0;
}

static int put_graphs(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, graph, start), *duration = MODEL_I64(m, graph, duration);
	const uint32_t *corr = MODEL_U32(m, graph, corr), *device = MODEL_U32(m, graph, device),
		       *stream = MODEL_U32(m, graph, stream), *process = model_row_process(m, ROW_graph);

	if (!start || !duration || !corr || !device || !stream || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_graph); i < n; i++)
		if (start[i])
			put_gpu(o, put_row(o, process[i], start[i], duration[i],
					   hta_name_of(o->h, m, model_intern(m, "CUDA graph")), HTA_KERNEL),
				process[i], device[i], stream[i], corr[i]);
	return 0;
}

static int put_waits(struct hta_own *o)
{
	struct model *m = o->m;
	const int64_t *start = MODEL_I64(m, sync, start), *duration = MODEL_I64(m, sync, duration);
	const uint32_t *corr = MODEL_U32(m, sync, corr), *stream = MODEL_U32(m, sync, stream),
		       *context = MODEL_U32(m, sync, context), *type = MODEL_U32(m, sync, type),
		       *process = model_row_process(m, ROW_sync);

	if (!start || !duration || !corr || !stream || !context || !type || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_sync); i < n; i++) {
		const char *words = sync_words(type[i]);
		const struct context_row *c = model_context(m, process[i], context[i]);
		struct hta_row *r =
			start[i] ? put_row(o, process[i], start[i], duration[i],
					   hta_name_of(o->h, m, model_intern(m, words ? words : "Synchronization")), HTA_SYNC)
				 : NULL;

		put_gpu(o, r, process[i], c ? c->device : 0, stream[i], corr[i]);
		if (r)
			r->extra = HTA_NO_WAIT;
	}
	return 0;
}

static int make_ranks(struct hta_own *o)
{
	static const unsigned kinds[] = { ROW_api, ROW_kernel, ROW_memcpy, ROW_memset, ROW_graph, ROW_range, ROW_sync };
	bool *is_rank = job_rank_processes(o->m);
	uint32_t n;

	model_processes(o->m, &n);
	o->rank_of = malloc(n * sizeof *o->rank_of);
	o->next = calloc(n, sizeof *o->next);
	for (uint32_t p = 0; is_rank && o->rank_of && o->next && p < n; p++) {
		struct hta_rank *r;
		size_t rows = 0;

		o->rank_of[p] = MAP_NONE;
		if (!is_rank[p])
			continue;
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			rows += model_process_rows(o->m, kinds[k], p);
		r = hta_add_rank(o->h, rows + rows / 32 + 1024);        /* + steps; untouched memory costs nothing */
		if (!r)
			break;
		r->rank = hta_rank_of(o->m, p);
		r->fractional = true;
		o->rank_of[p] = (uint32_t)(o->h->n_ranks - 1);
	}
	free(is_rank);
	return is_rank && o->rank_of && o->next && !o->h->oom ? 0 : -1;
}

int hta_own_rows(struct hta *h, struct model *m)
{
	struct hta_own o = { .h = h, .m = m, .base = model_start(m) - model_start(m) % DAY };
	int rc = make_ranks(&o);

	if (rc == 0 && (put_ranges(&o) < 0 || put_steps(&o) < 0 || put_calls(&o) < 0 || put_kernels(&o) < 0 ||
			put_copies(&o) < 0 || put_sets(&o) < 0 || put_graphs(&o) < 0 || put_waits(&o) < 0))
		rc = -1;
	free(o.rank_of);
	free(o.next);
	map_release(&o.copies);
	return h->oom ? -1 : rc;
}
