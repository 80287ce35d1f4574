/* Rows of a trace from events of a Kineto file. */
#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

#include "cli/import/rows/kineto.h"

static const struct { const char *category; uint8_t class; } categories[] = {
	{ "cpu_op", CLASS_OP }, { "Operator", CLASS_OP },
	{ "user_annotation", CLASS_ANNOTATION },
	{ "python_function", CLASS_PYTHON },
	{ "cuda_runtime", CLASS_RUNTIME }, { "Runtime", CLASS_RUNTIME }, { "hip_runtime", CLASS_RUNTIME },
	{ "privateuse1_runtime", CLASS_RUNTIME }, { "xpu_runtime", CLASS_RUNTIME }, { "mtia_runtime", CLASS_RUNTIME },
	{ "glow_runtime", CLASS_RUNTIME },
	{ "cuda_driver", CLASS_DRIVER }, { "privateuse1_driver", CLASS_DRIVER }, { "xpu_driver", CLASS_DRIVER },
	{ "kernel", CLASS_KERNEL }, { "Kernel", CLASS_KERNEL },
	{ "gpu_memcpy", CLASS_MEMCPY }, { "Memcpy", CLASS_MEMCPY },
	{ "gpu_memset", CLASS_MEMSET }, { "Memset", CLASS_MEMSET },
	{ "cuda_sync", CLASS_SYNC },
	{ "overhead", CLASS_OVERHEAD },
	{ "gpu_user_annotation", CLASS_GPU_RANGE }, { "cuda_profiler_range", CLASS_GPU_RANGE },
	{ "cuda_event", CLASS_GPU_RANGE },
	{ "nvtx", CLASS_NVTX }, { "nvtx_start_end", CLASS_NVTX }, { "cuda_library", CLASS_NVTX },
	{ "Trace", CLASS_SPAN },
};

static enum event_class class_of(struct kineto *k, const struct event *e)
{
	struct interned_text *t;

	if (!e->category)
		return label_class(k, e);       /* before the index: without any text, texts.list is NULL */
	t = &k->texts.list[e->category];
	if (t->what)
		return t->what;
	t->what = CLASS_OTHER_HOST;
	for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
		if (strcmp(t->at, categories[i].category) == 0)
			t->what = categories[i].class;
	return t->what;
}

/* ---- names of processes and threads ---- */

/* "thread 17 (python)" becomes "python"; "thread 17" becomes 0, no name. */
static uint32_t thread_name(struct kineto *k, uint32_t id)
{
	const struct interned_text *t = &k->texts.list[id];
	const char *open = t->n > 8 && memcmp(t->at, "thread ", 7) == 0 ? strchr(t->at, '(') : NULL;

	if (!open || t->at[t->n - 1] != ')' || t->at + t->n - open <= 2)
		return t->n > 7 && memcmp(t->at, "thread ", 7) == 0 ? 0 : id;
	return texts_put(&k->texts, open + 1, (size_t)(t->at + t->n - open - 2));
}

void event_names(struct kineto *k, const struct event *e)
{
	const struct json_value *v = kineto_value(e, ARG_NAME);
	uint32_t name = v && v->type == JSON_TEXT ? texts_value(&k->texts, v) : 0;
	int64_t pid = kineto_number(k, &e->pid), tid = kineto_number(k, &e->tid);
	uint32_t at;

	if (!name || !e->name)
		return;
	if (strcmp(kineto_text(k, e->name), "process_name") == 0) {
		for (size_t i = 0; i < k->n_hosts; i++)
			if (k->hosts[i].pid == pid)
				k->hosts[i].name = name;
		/* A name may come before the process's first event; a process without other events gets no row. */
		if (kineto_host(k, pid) != NO_HOST)
			k->hosts[kineto_host(k, pid)].name = name;
	} else if (strcmp(kineto_text(k, e->name), "thread_name") == 0) {
		at = map_get(&k->thread_of, (uint64_t)pid << 32 ^ (uint64_t)tid);
		if (at == MAP_NONE)
			at = kineto_thread(k, e);
		if (at != NO_HOST)
			k->threads[at].name = thread_name(k, name);
	}
}

/* ---- the host ---- */

static bool ends_in_backward(const char *name, size_t n)
{
	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n > 8 && memcmp(name + n - 8, "Backward", 8) == 0 && !memchr(name, ' ', n);
}

static bool is_step(const char *name)
{
	return name[0] == 'P' && strncmp(name, "ProfilerStep#", 13) == 0 && name[13] >= '0' && name[13] <= '9';
}

/* op.range: index of the range; kineto_nest() replaces it by the range's id. */
static void put_op(struct kineto *k, const struct event *e, struct host *h, size_t range)
{
	struct op_row row = {
		.range = range, .sequence = kineto_whole(e, ARG_SEQUENCE, -1),
		.fwd_thread = (uint64_t)kineto_whole(e, ARG_FWD_THREAD, 0), .dims = event_value(k, e, ARG_DIMS),
		.types = event_value(k, e, ARG_TYPES), .values = event_value(k, e, ARG_VALUES),
		.external = (uint32_t)kineto_whole(e, ARG_EXTERNAL, 0),
	};
	const struct interned_text *name = &k->texts.list[e->name]; /* after event_value(), which may move the list */

	/* Kineto does not write the scope.  Only backward operators have a forward thread. */
	row.scope = row.fwd_thread || (row.sequence >= 0 && ends_in_backward(name->at, name->n));
	buf_put(&h->op, &row, sizeof row);
}

static uint32_t domain_of(struct kineto *k, const struct event *e, enum event_class class)
{
	const char *name = class == CLASS_PYTHON ? "Python" : class == CLASS_OP || class == CLASS_ANNOTATION ? "PyTorch" :
			   e->category ? kineto_text(k, e->category) : "uncategorized";

	if (class == CLASS_NVTX)
		return 0;
	if (!k->last_domain || e->category != k->last_category) {
		k->last_domain = kineto_domain(k, name);
		k->last_category = e->category;
	}
	return k->last_domain;
}

static void host_range(struct kineto *k, const struct event *e, enum event_class class, uint32_t thread)
{
	struct host *h = &k->hosts[k->threads[thread].host];
	bool whole = e->has & BIT(ARG_WHOLE_TRACE);
	bool step = !whole && (class == CLASS_ANNOTATION || class == CLASS_OP) && e->name && is_step(kineto_text(k, e->name));
	uint32_t domain = domain_of(k, e, class);
	size_t n = h->range.len / sizeof(struct range_row);
	struct range_row *row = buf_add(&h->range, sizeof *row);

	if (!row)
		return;
	*row = (struct range_row){
		.start = e->ts, .duration = e->dur, .thread = thread, .end_thread = thread, .name = e->name, .domain = domain,
		.flags = (class == CLASS_OTHER_HOST ? RANGE_STARTEND : 0) | (whole ? RANGE_WHOLE : 0), .step = -1,
	};
	if (class == CLASS_PYTHON)
		k->python_domain = domain;
	if (class == CLASS_OP && !step)
		put_op(k, e, h, n);
	if (step) {
		struct step_row s = {
			.start = e->ts, .duration = e->dur, .range = n, .number = (uint32_t)strtoul(kineto_text(k, e->name) + 13, NULL, 10),
			.name = e->name, .thread = thread, .confidence = 100,
		};

		buf_put(&h->step, &s, sizeof s);
	}
}

static void host_api(struct kineto *k, const struct event *e, enum event_class class, uint32_t thread)
{
	int64_t cbid = kineto_whole(e, ARG_CBID, 0);
	uint32_t corr = (uint32_t)kineto_whole(e, ARG_CORRELATION, 0);
	const char *name = e->name ? kineto_text(k, e->name) : "";
	struct api_row *row = buf_add(&k->hosts[k->threads[thread].host].api, sizeof *row);

	/* cbid of other vendors' calls is not CUPTI's. */
	if (name[0] != 'c' || name[1] != 'u' || cbid <= 0 || cbid >= 0x10000)
		cbid = 0;
	if (row)
		*row = (struct api_row){
			.start = e->ts, .duration = e->dur, .corr = corr, .thread = thread, .name = e->name, .step = -1,
			.cbid = cbid ? (class == CLASS_DRIVER ? 1u : 2u) << 16 | (uint32_t)cbid : 0,
		};
}

static int host_alloc(struct kineto *k, const struct event *e)
{
	uint32_t thread = kineto_thread(k, e);
	struct host *h;
	struct alloc_row row = {
		.start = e->ts, .bytes = kineto_whole(e, ARG_ALLOC_BYTES, 0),
		.address = (uint64_t)kineto_whole(e, ARG_ADDRESS, 0), .thread = thread,
		.allocated = (uint64_t)kineto_whole(e, ARG_ALLOCATED, 0),
		.reserved = (uint64_t)kineto_whole(e, ARG_RESERVED, 0),
		.device_type = (uint32_t)kineto_whole(e, ARG_DEVICE_TYPE, 0),
		.device = (int32_t)kineto_whole(e, ARG_DEVICE_ID, -1),
		.flags = e->has & BIT(ARG_ALLOCATED) && e->has & BIT(ARG_RESERVED) ? ALLOC_TOTALS : 0,
	};

	if (thread == NO_HOST)
		return -1;
	h = &k->hosts[k->threads[thread].host];
	if (e->ts < k->threads[thread].first)
		k->threads[thread].first = e->ts;
	buf_put(&h->alloc, &row, sizeof row);
	event_imported(k, e, CLASS_SPAN, ROW_alloc, k->threads[thread].host);
	return 0;
}

/* ---- all events ---- */

/* Saturates at INT64_MAX, which find_base() rejects after the file was read. */
static int64_t end_of(const struct event *e)
{
	int64_t end;

	return __builtin_add_overflow(e->ts, e->dur, &end) ? INT64_MAX : end;
}

static void note_times(struct kineto *k, const struct event *e)
{
	int64_t end = end_of(e);

	k->first = e->ts < k->first ? e->ts : k->first;
	k->last = end > k->last ? end : k->last;
}

/* Categories that only gprof-trace export writes.  They become ranges, as unknown categories do, without a warning. */
static bool of_our_export(const struct kineto *k, const struct event *e)
{
	const char *category = e->category ? kineto_text(k, e->category) : "";

	return strcmp(category, "native_function") == 0 || strcmp(category, "unified_memory") == 0;
}

static int slice(struct kineto *k, const struct event *e)
{
	static const uint8_t kinds[] = {
		[CLASS_KERNEL] = ROW_kernel, [CLASS_MEMCPY] = ROW_memcpy, [CLASS_MEMSET] = ROW_memset, [CLASS_SYNC] = ROW_sync,
		[CLASS_OVERHEAD] = ROW_overhead, [CLASS_GPU_RANGE] = ROW_gpu_range, [CLASS_RUNTIME] = ROW_api,
		[CLASS_DRIVER] = ROW_api,
	};
	enum event_class class = class_of(k, e);
	uint32_t thread = NO_HOST;

	if (class == CLASS_SPAN) {
		k->span_start = e->ts;
		k->span_end = end_of(e);
		event_imported(k, e, class, 0, NO_HOST);
		return 0;
	}
	if (class == CLASS_OTHER_HOST && !of_our_export(k, e))
		kineto_count(k, COUNT_CATEGORY, "%.60s", e->category ? kineto_text(k, e->category) : "an event without one");
	if (e->phase != 'X' && class > CLASS_OTHER_HOST) {
		kineto_count(k, COUNT_PHASE, "ph %c of category %.60s", e->phase, kineto_text(k, e->category));
		return 0;
	}
	if (class < CLASS_KERNEL) {
		thread = kineto_thread(k, e);
		if (thread == NO_HOST || (!e->pid.is_whole && label_put(k, e, k->threads[thread].host) < 0))
			return -1;
		if (e->ts < k->threads[thread].first)
			k->threads[thread].first = e->ts;
	}
	switch (class) {
	case CLASS_RUNTIME: case CLASS_DRIVER: host_api(k, e, class, thread); break;
	case CLASS_KERNEL: case CLASS_MEMCPY: case CLASS_MEMSET: case CLASS_SYNC: case CLASS_OVERHEAD: case CLASS_GPU_RANGE:
		event_gpu(k, e, class);
		break;
	default: host_range(k, e, class, thread); break;
	}
	event_imported(k, e, class, class < sizeof kinds && kinds[class] ? kinds[class] : ROW_range,
		     thread == NO_HOST ? label_host(k, e) : k->threads[thread].host);
	return e->phase == 'X' ? 0 : pair_begin(k, e, thread);
}

/* Kineto's marks for the start and the end of the recording. */
static bool is_border(const char *name)
{
	return strncmp(name, "Iteration Start: ", 17) == 0 || strcmp(name, "Record Window End") == 0;
}

static int rows(struct kineto *k, struct event *e)
{
	k->fraction |= e->fraction || !e->has_ts;
	k->phased |= e->phase != 0;
	e->category = 0;
	switch (e->phase) {
	case 'M':
		e->name = event_name(k, e);
		event_names(k, e);
		return 0;
	case 's': case 't': case 'f':   /* arrows; correlation ids and sequence numbers have the same information */
		return 0;
	case 'X': case 'B': case 'E': case 'b': case 'e': case 'i': case 'I': case 'n':
		break;
	default:
		kineto_count(k, COUNT_PHASE, e->phase > ' ' ? "ph %c" : "an event without ph", e->phase);
		return 0;
	}
	e->category = e->category_word.v.n ? event_word(k, k->category_of, &e->category_word) : 0;
	e->name = event_name(k, e);
	if (!e->has_ts || (e->bad_time && !e->has_dur)) {
		kineto_count(k, COUNT_TIME, "event %llu", (unsigned long long)e->index);
		return 0;
	}
	if (e->phase == 'E' || e->phase == 'e')
		return pair_end(k, e);
	if (e->phase != 'X') {
		e->dur = 0;
		e->has_dur = e->negative = false;
	}
	if (e->negative)
		kineto_count(k, COUNT_NEGATIVE, "event %llu", (unsigned long long)e->index);
	if (e->phase == 'X' || e->phase == 'B' || e->phase == 'b') {
		note_times(k, e);
		return slice(k, e);
	}
	if (e->name && is_border(kineto_text(k, e->name)))
		return 0;
	note_times(k, e);
	return e->name && strcmp(kineto_text(k, e->name), "[memory]") == 0 ? host_alloc(k, e) : event_mark(k, e);
}

int event_rows(struct kineto *k, struct event *e)
{
	int rc = rows(k, e);

	k->odd_quotes = k->scan.odd_quotes;
	return rc;
}
