/* Metadata of a Kineto file: devices, versions, rank, names of tracks. */
#include "cli/export/kineto/kineto.h"
#include "cli/model/nvtx/resources.h"
#include "cli/model/process.h"

#include <stdlib.h>

#define SORT_GPU      5000000u  /* Kineto's value: sorts GPUs behind host processes */
#define SORT_OVERHEAD 0x100000Au
#define FILLED        4096u     /* device numbers from this one on get no filled gap before them */

static bool takes(const struct export *x, uint32_t process)
{
	return !x->takes || x->takes[process];
}

/* The process whose rank and versions are written: the first with export_leads(), else the first process of the file. */
static uint32_t main_process(struct export *x)
{
	uint32_t n, first = 0;

	model_processes(x->m, &n);
	for (uint32_t p = n; p-- > 1;)
		if (takes(x, p) && (export_leads(x->m, p) || !first || !export_leads(x->m, first)))
			first = p;
	return first;
}

static void put_device(struct export *x, bool first, uint32_t id, const struct device_row *d)
{
	struct out *o = x->out;

	out_format(o, "%s\n    {\"id\": %u", first ? "" : ",", id);
	if (d) {
		out_lit(o, ", \"name\": ");
		json_string(o, model_string(x->m, d->name));
		out_format(o,
			   ", \"totalGlobalMem\": %llu, \"computeMajor\": %u, \"computeMinor\": %u, "
			   "\"maxThreadsPerBlock\": %u, \"maxThreadsPerMultiprocessor\": %u, \"warpSize\": %u, "
			   "\"sharedMemPerBlock\": %u, \"numSms\": %u, \"regsPerMultiprocessor\": %u, "
			   "\"sharedMemPerMultiprocessor\": %u",
			   (unsigned long long)d->memory, d->cc_major, d->cc_minor, d->max_threads_block,
			   d->max_warps_sm * d->warp, d->warp, d->max_shared_block, d->sm_count, d->max_registers_sm,
			   d->max_shared_sm);
	}
	out_char(o, '}');
}

/* Readers use the position in this list as the device's number, so gaps are filled with empty entries. */
static int put_devices(struct export *x, uint32_t process)
{
	uint32_t position = 0;
	size_t n;
	struct device *list = model_devices(x->m, &n);

	if (!list)
		return -1;
	out_lit(x->out, "  \"deviceProperties\": [");
	for (size_t i = 0; i < n; i++) {
		if (list[i].process != process)
			continue;
		for (; position < list[i].id && list[i].id < FILLED; position++)
			put_device(x, !position, position, NULL);
		put_device(x, position++ == 0, list[i].id, model_device(x->m, process, list[i].id));
	}
	out_text(x->out, position ? "\n  ],\n" : "],\n");
	free(list);
	return 0;
}

static void put_text(struct export *x, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	out_format(x->out, "  \"%s\": ", key);
	json_string(x->out, value);
	out_lit(x->out, ",\n");
}

/* Writes a version as a number, as Kineto does, if the text is a whole number. */
static void put_number(struct export *x, const char *key, const char *value)
{
	if (value && *value && !value[strspn(value, "0123456789")] && strlen(value) < 18)
		out_format(x->out, "  \"%s\": %s,\n", key, value);
}

static bool whole(const char *text)
{
	return text && *text && !text[strspn(text, "0123456789")] && strlen(text) < 9;
}

/* HTA's search for the rank needs a blank after the colon. */
static void put_rank(struct export *x, const struct process *p)
{
	const char *rank = process_attribute(p, "rank"), *world = process_attribute(p, "world_size");

	if (!whole(rank))
		return;
	out_format(x->out, "  \"distributedInfo\": {\"rank\": %s", rank);
	if (whole(world))
		out_format(x->out, ", \"world_size\": %s", world);
	out_lit(x->out, "},\n");
}

int kineto_head(struct export *x)
{
	struct kineto_writer *k = x->own;
	uint32_t n, main = main_process(x);
	const struct process *p = model_processes(x->m, &n) + main;

	out_lit(x->out, "{\n  \"schemaVersion\": 1,\n");
	if (!x->merged) {
		if (put_devices(x, main) < 0)
			return -1;
		put_rank(x, p);
	}
	put_number(x, "cupti_version", process_attribute(p, "cupti.version"));
	put_number(x, "cuda_runtime_version", process_attribute(p, "runtime.version"));
	put_number(x, "cuda_driver_version", process_attribute(p, "driver.version"));
	put_text(x, "host_name", model_attribute(x->m, "host"));
	put_text(x, "command", model_attribute(x->m, "command"));
	out_format(x->out, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %lld,\n  \"traceEvents\": [\n",
		   (long long)k->base);
	return 0;
}

/* ---- names of tracks, written after the events, when all tracks are known ---- */

static void row_begin(struct export *x, const char *name, uint32_t pid, uint32_t tid)
{
	kineto_next(x);
	out_format(x->out, "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %u, \"ts\": ", name, (int)pid, tid);
	kineto_time(x, model_start(x->m));
	out_lit(x->out, ", \"args\": {");
}

static void put_process(struct export *x, uint32_t pid, const char *name, const char *labels, uint32_t sort)
{
	row_begin(x, "process_name", pid, 0);
	out_lit(x->out, "\"name\": ");
	json_string(x->out, name);
	out_lit(x->out, "}}");
	row_begin(x, "process_labels", pid, 0);
	out_lit(x->out, "\"labels\": ");
	json_string(x->out, labels);
	out_lit(x->out, "}}");
	row_begin(x, "process_sort_index", pid, 0);
	out_format(x->out, "\"sort_index\": %u}}", sort);
}

static void put_host(struct export *x, uint32_t process)
{
	uint32_t n;
	const struct process *p = model_processes(x->m, &n) + process;
	const char *rank = process_attribute(p, "rank");
	char name[32], labels[64];
	uint32_t pid = pid_of_process(x, process);

	snprintf(labels, sizeof labels, "CPU%s%.9s", whole(rank) ? ", rank " : "", whole(rank) ? rank : "");
	if (pid != p->pid && p->described)
		snprintf(labels + strlen(labels), sizeof labels - strlen(labels), ", pid %u", p->pid);
	put_process(x, pid, process_name(p, name, sizeof name), labels, pid);
}

static void put_gpu(struct export *x, const struct track *t)
{
	const struct device_row *d = model_device(x->m, t->process, t->device);
	const char *product = d ? model_string(x->m, d->name) : "GPU";
	const char *given = model_resource_name(x->m, t->process, RESOURCE_DEVICE, t->device);
	char labels[32], name[512];

	snprintf(labels, sizeof labels, "GPU %u", t->gpu);
	snprintf(name, sizeof name, "%s%s%s%s", product, given ? " (" : "", given ? given : "", given ? ")" : "");
	put_process(x, t->pid, name, labels, SORT_GPU + t->gpu);
}

static void put_thread_name(struct export *x, const struct track *t)
{
	const struct thread *thread = model_thread(x->m, t->process, t->id);
	uint32_t n;
	const struct process *p = model_processes(x->m, &n) + t->process;
	const char *name = thread ? thread->name : "", *of = t->libraries ? ", CUDA libraries" : t->sampled ? ", samples" : "";
	uint32_t tid = t->libraries && thread ? thread->row.tid : t->sampled ? t->sampled : t->tid;

	row_begin(x, "thread_name", t->pid, t->tid);
	out_lit(x->out, "\"name\": ");
	if (t->steps) {
		out_lit(x->out, "\"steps\"");
	} else if (*name) {
		char *text = NULL;

		if (asprintf(&text, "thread %u (%s)%s", tid, name, of) >= 0)
			json_string(x->out, text);
		else
			x->oom = true;
		free(text);
	} else {
		out_format(x->out, "\"thread %u%s%s\"", tid, thread && thread->row.tid == p->pid ? " (main)" : "", of);
	}
	out_lit(x->out, "}}");
}

/* "stream 7 (the program's name for it) (waits)" */
static const char *stream_name(struct export *x, const struct track *t, char *text, size_t size)
{
	const char *given = model_resource_name(x->m, t->process, RESOURCE_STREAM, t->id);

	if (t->kind == TRACK_OVERHEAD)
		return "CUPTI";
	if (t->kind == TRACK_UNIFIED)
		return t->id ? "unified memory (page faults)" : "unified memory";
	if (t->id == STREAM_NONE)
		return "context (waits)";
	snprintf(text, size, "stream %u%s%.200s%s%s", t->id, given ? " (" : "", given ? given : "", given ? ")" : "",
		 t->kind == TRACK_WAITS ? " (waits)" : t->kind == TRACK_RANGES ? " (ranges)" : "");
	return text;
}

static void put_stream_name(struct export *x, const struct track *t)
{
	char text[256], lane[32] = "", of[32] = "", name[384];
	uint32_t n;

	if (t->lane)
		snprintf(lane, sizeof lane, " (overlap %u)", t->lane);
	if (x->merged)
		snprintf(of, sizeof of, " of pid %u", model_processes(x->m, &n)[t->process].pid);
	snprintf(name, sizeof name, "%s%s%s", stream_name(x, t, text, sizeof text), lane, of);
	row_begin(x, "thread_name", t->pid, t->tid);
	out_lit(x->out, "\"name\": ");
	json_string(x->out, name);
	out_lit(x->out, "}}");
}

static void put_track_names(struct export *x, size_t i, struct map *named)
{
	const struct track t = x->tracks[i];
	uint64_t key = (uint64_t)(t.kind == TRACK_THREAD) << 32 | t.pid;
	bool new;

	if (!map_put(named, key, 0, &new))
		x->oom = true;
	else if (new && t.kind == TRACK_THREAD)
		put_host(x, t.process);
	else if (new && t.kind == TRACK_OVERHEAD)
		put_process(x, t.pid, "CUPTI Overhead", "CUPTI", SORT_OVERHEAD);
	else if (new)
		put_gpu(x, &t);
	if (t.kind == TRACK_THREAD)
		put_thread_name(x, &t);
	else
		put_stream_name(x, &t);
	row_begin(x, "thread_sort_index", t.pid, t.tid);
	out_format(x->out, "\"sort_index\": %u}}", t.tid);
}

int kineto_tail(struct export *x)
{
	struct map named = { 0 };

	for (size_t i = 0; i < x->n_tracks && !x->oom; i++)
		put_track_names(x, i, &named);
	map_release(&named);
	out_lit(x->out, "\n  ],\n  \"traceName\": ");
	json_string(x->out, x->title);
	out_lit(x->out, "\n}\n");
	return x->oom ? -1 : 0;
}
