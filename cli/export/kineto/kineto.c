/*
 * Kineto's JSON, the format of torch.profiler, read by Perfetto, chrome://tracing, HTA and the TensorBoard plugin.  Times are microseconds
 * with three decimals, from integer ns.  Numbers and repeated texts are not formatted by printf(): a kernel takes about 0.1 us, with
 * printf() eleven times as long.
 */
#include "cli/export/kineto/kineto.h"
#include "cli/export/kineto/kineto_pieces.h"
#include "cli/model/gpu/graph.h"
#include "cli/model/join.h"
#include "cli/model/names.h"
#include "cli/model/nvtx/payload.h"
#include "cli/model/sort.h"
#include "cli/model/stacks/stacks.h"
#include "cli/model/torch/torch.h"
#include "cli/model/torch/torch_modules.h"

#include <stdlib.h>

static struct kineto_writer *own(struct export *x)
{
	return x->own;
}

/* ---- host rows ---- */

static void put_external(struct out *o, uint64_t external)
{
	if (external) {
		out_lit(o, "\"External id\": ");
		out_u64(o, external);
		out_lit(o, ", ");
	}
}

static void call(struct export *x, const struct host_slice *s)
{
	struct kineto_writer *k = own(x);
	struct out *o = x->out;
	uint32_t cbid = k->call_cbid[s->row];

	kineto_next(x);
	if (cbid >> 16 == 1)
		out_lit(o, "{\"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": ");
	else
		out_lit(o, "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": ");
	kineto_name(x, PIECE_CALL, k->call_name[s->row]);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_lit(o, ", \"args\": {");
	put_external(o, s->external);
	out_lit(o, "\"cbid\": ");
	out_u64(o, cbid & 0xffff);
	out_lit(o, ", \"correlation\": ");
	out_u64(o, s->corr);
	if (k->call_result[s->row]) {
		out_lit(o, ", \"result\": ");
		out_i64(o, k->call_result[s->row]);
	}
	if (k->call_stack && k->call_stack[s->row])
		kineto_call_stack(x, model_stack(x->m, x->tracks[s->track].process, k->call_stack[s->row]));
	out_lit(o, "}}");
}

struct members {
	struct out *o;
	size_t n;                       /* fields written so far */
};

static void put_payload_field(void *arg, const struct payload_shown *f)
{
	struct members *members = arg;
	struct out *o = members->o;

	if (members->n++)
		out_lit(o, ", ");
	json_string(o, f->name);
	out_lit(o, ": ");
	if (f->text)
		json_string(o, f->value);
	else
		out_text(o, f->value);
}

/* Writes "payload": {...} for n payloads, with separators; comma: also before the first. */
static void put_payloads(struct export *x, size_t first, size_t n, bool comma)
{
	for (size_t i = 0; i < n; i++) {
		struct members members = { x->out, 0 };

		out_text(x->out, i || comma ? ", \"payload" : "\"payload");
		if (i)
			out_format(x->out, " %zu", i + 1);
		out_lit(x->out, "\": {");
		model_payload_fields(x->m, first + i, put_payload_field, &members);
		out_char(x->out, '}');
	}
}

/* Writes domain, category and payload of a range, if it has them. */
static void put_range_args(struct export *x, const struct host_slice *s)
{
	struct kineto_writer *k = own(x);
	struct out *o = x->out;
	uint32_t process = x->tracks[s->track].process, domain = k->range_domain[s->row],
		 type = k->range_payload_type[s->row];
	uint64_t payload = k->range_payload[s->row];
	const char *category =
		k->range_category[s->row] ? model_category(x->m, process, domain, k->range_category[s->row]) : NULL;

	out_lit(o, "\"External id\": ");
	out_u64(o, s->external);
	if (domain) {
		out_lit(o, ", \"domain\": ");
		kineto_name(x, PIECE_TEXT, model_domain(x->m, process, domain));
	}
	if (category) {
		out_lit(o, ", \"category\": ");
		json_string(o, category);
	}
	if (type == 1 || type == 4) {
		out_lit(o, ", \"payload\": ");
		out_u64(o, payload);
	} else if (type == 2 || type == 5) {
		out_lit(o, ", \"payload\": ");
		out_i64(o, type == 5 ? (int32_t)payload : (int64_t)payload);
	} else if (type == 3 || type == 6) {
		union { uint64_t bits; double d; uint32_t half; float f; } v = { .bits = payload };
		double value = type == 3 ? v.d : (double)v.f;

		if (value - value == 0)         /* JSON has no infinity and no NaN */
			out_format(o, ", \"payload\": %.17g", value);
	} else if (k->payloads) {
		size_t first, n = model_range_payloads(x->m, process, k->range_id[s->row], &first);

		put_payloads(x, first, n, true);
	}
	if (k->range_stack)
		kineto_call_stack(x, k->range_stack[s->row]);
}

static void range(struct export *x, const struct host_slice *s)
{
	if (kineto_is_torch(x, s->row)) {
		kineto_torch_range(x, s);
		return;
	}
	kineto_next(x);
	if (x->tracks[s->track].libraries)
		out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"cuda_library\", \"name\": ");
	else
		out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": ");
	kineto_name(x, PIECE_TEXT, own(x)->range_name[s->row]);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_lit(x->out, ", \"args\": {");
	put_range_args(x, s);
	out_lit(x->out, "}}");
}

/* Start/end ranges may overlap any other slice partly, so they are written as asynchronous slices. */
static void interval(struct export *x, const struct host_slice *s)
{
	for (int end = 0; end < 2; end++) {
		kineto_next(x);
		out_format(x->out,
			   "{\"ph\": \"%c\", \"cat\": \"%s\", \"id\": %llu, \"name\": ", end ? 'e' : 'b',
			   kineto_is_torch(x, s->row) ? "pytorch_start_end" : "nvtx_start_end", (unsigned long long)s->external);
		kineto_name(x, PIECE_TEXT, own(x)->range_name[s->row]);
		kineto_track(x, s->track);
		kineto_time(x, time_add(s->start, end ? s->duration : 0));
		if (!end) {
			out_lit(x->out, ", \"args\": {");
			put_range_args(x, s);
			out_char(x->out, '}');
		}
		out_char(x->out, '}');
	}
}

static void mark(struct export *x, const struct host_slice *s)
{
	kineto_next(x);
	out_lit(x->out, "{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"nvtx_mark\", \"name\": ");
	kineto_name(x, PIECE_TEXT, own(x)->mark_name[s->row]);
	kineto_track(x, s->track);
	kineto_time(x, s->start);
	if (own(x)->payloads) {
		const struct track *t = &x->tracks[s->track];
		size_t first, n = model_mark_payloads(x->m, t->process, t->id, s->start, &first);

		if (n) {
			out_lit(x->out, ", \"args\": {");
			put_payloads(x, first, n, false);
			out_char(x->out, '}');
		}
	}
	out_char(x->out, '}');
}

static void step(struct export *x, const struct host_slice *s, uint64_t number, bool whole)
{
	kineto_next(x);
	out_format(x->out, "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%llu\"",
		   (unsigned long long)number);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_format(x->out, ", \"args\": {\"External id\": %llu%s}}", (unsigned long long)s->external,
		   whole ? ", \"Whole Trace\": 1" : "");
}

/* ---- GPU rows ---- */

static void flow(struct export *x, const struct gpu_slice *s)
{
	struct out *o = x->out;

	kineto_next(x);
	out_lit(o, "{\"ph\": \"s\", \"id\": ");
	out_u64(o, s->flow);
	kineto_track(x, s->call_track);
	kineto_time(x, s->call_start);
	out_lit(o, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"},\n{\"ph\": \"f\", \"bp\": \"e\", \"id\": ");
	out_u64(o, s->flow);
	kineto_track(x, s->track);
	kineto_time(x, s->start);
	out_lit(o, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"}");
}

/* An argument that torch.profiler does not write; left out for the default priority. */
static void put_priority(struct export *x, const struct track *t)
{
	const struct stream_row *row = model_stream(x->m, t->process, t->id);

	if (row && row->priority)
		out_format(x->out, ", \"stream priority\": %d", row->priority);
}

static void put_place(struct export *x, const struct gpu_slice *s, uint32_t context)
{
	const struct track *t = &x->tracks[s->track];
	struct out *o = x->out;

	out_lit(o, ", \"args\": {");
	put_external(o, s->external);
	out_lit(o, "\"device\": ");
	out_u64(o, t->gpu);
	out_lit(o, ", \"context\": ");
	out_u64(o, context);
	out_lit(o, ", \"stream\": ");
	/* HTA groups by this number; in a merged file it must be the track's tid. */
	out_u64(o, x->merged ? t->tid : t->id);
	out_lit(o, ", \"correlation\": ");
	out_u64(o, s->corr);
	put_priority(x, t);
}

/*
 * Writes graph arguments.  "captured in" (not written by torch.profiler) is the range that was open when the node was captured.  As in
 * Kineto, "External id" is that of the launch.
 */
static void put_graph(struct export *x, const struct gpu_slice *s, uint32_t graph, uint64_t node)
{
	struct out *o = x->out;
	size_t made, range;
	uint32_t process;

	if (!graph && !node)
		return;
	out_format(o, ", \"graph id\": %u, \"graph node id\": %llu", graph, (unsigned long long)node);
	process = x->tracks[s->track].process;
	made = model_graph_node(x->m, process, node);
	range = made == NO_ROW ? NO_ROW : model_range_of(x->m, process, own(x)->node_range[made]);
	if (range != NO_ROW) {
		out_lit(o, ", \"captured in\": ");
		kineto_name(x, PIECE_TEXT, own(x)->range_name[range]);
	}
}

static void put_bytes(struct out *o, uint64_t bytes, int64_t duration)
{
	if (bytes > INT64_MAX)
		return;
	out_lit(o, ", \"bytes\": ");
	out_u64(o, bytes);
	if (duration > 0) {
		out_lit(o, ", \"memory bandwidth (GB/s)\": ");
		kineto_ratio(o, bytes, (uint64_t)duration);
	}
}

static void kernel(struct export *x, const struct gpu_slice *s)
{
	struct kineto_writer *k = own(x);

	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": ");
	kineto_name(x, PIECE_KERNEL, k->kernel_name[s->row]);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	put_place(x, s, k->kernel_context[s->row]);
	kineto_config(x, &x->tracks[s->track], k->kernel_config[s->row]);
	put_graph(x, s, k->kernel_graph[s->row], k->kernel_node[s->row]);
}

static void copy(struct export *x, const struct gpu_slice *s)
{
	struct kineto_writer *k = own(x);

	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": ");
	kineto_copy_name(x, k->copy_kind[s->row], k->copy_src[s->row], k->copy_dst[s->row]);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	put_place(x, s, k->copy_context[s->row]);
	put_bytes(x->out, k->copy_bytes[s->row], s->duration);
	if (k->copy_flags[s->row] & MEMCPY_PEER)
		out_format(x->out, ", \"fromDevice\": %u, \"inDevice\": %u, \"toDevice\": %u",
			   k->copy_src_device[s->row], x->tracks[s->track].device, k->copy_dst_device[s->row]);
	put_graph(x, s, k->copy_graph[s->row], k->copy_node[s->row]);
}

static void set(struct export *x, const struct gpu_slice *s)
{
	struct kineto_writer *k = own(x);

	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"gpu_memset\", \"name\": ");
	kineto_copy_name(x, 0, 0, k->set_kind[s->row]);
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	put_place(x, s, k->set_context[s->row]);
	put_bytes(x->out, k->set_bytes[s->row], s->duration);
	put_graph(x, s, k->set_graph[s->row], k->set_node[s->row]);
}

/* A graph recorded as one row is written with the category of kernels, by which readers count busy time. */
static void whole_graph(struct export *x, const struct gpu_slice *s)
{
	struct kineto_writer *k = own(x);

	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"CUDA graph\"");
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	put_place(x, s, k->graph_context[s->row]);
	out_format(x->out, ", \"graph id\": %u", k->graph_id[s->row]);
}

static void wait_for(struct export *x, const struct gpu_slice *s)
{
	struct kineto_writer *k = own(x);
	const char *words = sync_words(k->wait_type[s->row]);
	struct out *o = x->out;

	out_format(o, "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"%s\"", words ? words : "Synchronization");
	kineto_track(x, s->track);
	kineto_span(x, s->start, s->duration);
	out_lit(o, ", \"args\": {");
	put_external(o, s->external);
	out_format(o,
		   "\"cuda_sync_kind\": \"%s\", \"device\": %u, \"context\": %u, \"stream\": %d, \"correlation\": %u",
		   words ? words : "Synchronization", x->tracks[s->track].gpu, k->wait_context[s->row],
		   (int)k->wait_stream[s->row], s->corr);
}

static void gpu(struct export *x, const struct gpu_slice *s)
{
	kineto_next(x);
	switch (s->kind) {
	case ROW_kernel:
		kernel(x, s);
		break;
	case ROW_memcpy:
		copy(x, s);
		break;
	case ROW_memset:
		set(x, s);
		break;
	case ROW_graph:
		whole_graph(x, s);
		break;
	default:
		wait_for(x, s);
	}
	out_lit(x->out, "}}");
	if (s->launched && s->kind != ROW_sync)
		flow(x, s);
}

static void overhead(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration)
{
	const char *words = overhead_words(own(x)->overhead_kind[row]);

	kineto_next(x);
	out_lit(x->out, "{\"ph\": \"X\", \"cat\": \"overhead\", \"name\": ");
	json_string(x->out, words ? words : "unrecognized");
	kineto_track(x, track);
	kineto_span(x, start, duration);
	out_lit(x->out, ", \"args\": {}}");
}

/* Unified memory, which Kineto does not write.  Not a gpu_memcpy, which readers take for a copy that a call launched into a stream. */
static void unified(struct export *x, size_t row, uint32_t track, int64_t start, int64_t duration)
{
	static const char *const causes[] = {
		"unknown", "call", "page fault", "prefetch", "eviction", "access counters"
	};
	static const char *const accesses[] = { "unknown", "read", "write", "atomic", "prefetch" };
	struct kineto_writer *k = own(x);
	const char *transfer = unified_words(k->unified_kind[row]);
	uint32_t cause = k->unified_cause[row], access = k->unified_access[row];

	kineto_next(x);
	out_format(x->out, "{\"ph\": \"X\", \"cat\": \"unified_memory\", \"name\": \"%s%s\"", transfer ? "Memcpy " : "",
		   transfer ? transfer : "GPU page faults");
	kineto_track(x, track);
	kineto_span(x, start, duration);
	out_format(x->out, ", \"args\": {\"device\": %u, \"address\": \"0x%llx\"", x->tracks[track].gpu,
		   (unsigned long long)k->unified_address[row]);
	if (transfer) {
		put_bytes(x->out, k->unified_bytes[row], duration);
		out_format(x->out, ", \"cause\": \"%s\"}}",
			   cause < sizeof causes / sizeof *causes ? causes[cause] : "unknown");
	} else {
		out_format(x->out, ", \"groups\": %u, \"access\": \"%s\"}}", k->unified_faults[row],
			   access < sizeof accesses / sizeof *accesses ? accesses[access] : "unknown");
	}
}

/* ---- begin and end ---- */

/* Reads all columns before writing, so that running out of memory is noticed before the file is begun. */
static bool columns_read(struct kineto_writer *k, struct model *m)
{
	return (k->call_name = MODEL_U32(m, api, name)) && (k->call_cbid = MODEL_U32(m, api, cbid)) &&
	       (k->call_result = MODEL_I32(m, api, result)) && (k->range_name = MODEL_U32(m, range, name)) &&
	       (k->range_domain = MODEL_U32(m, range, domain)) && (k->range_category = MODEL_U32(m, range, category)) &&
	       (k->range_payload_type = MODEL_U32(m, range, payload_type)) &&
	       (k->range_payload = MODEL_U64(m, range, payload)) && (k->range_id = MODEL_U64(m, range, id)) &&
	       (k->mark_name = MODEL_U32(m, mark, name)) && (k->mark_domain = MODEL_U32(m, mark, domain)) &&
	       (k->kernel_name = MODEL_U32(m, kernel, name)) && (k->kernel_config = MODEL_U32(m, kernel, config)) &&
	       (k->kernel_context = MODEL_U32(m, kernel, context)) && (k->kernel_graph = MODEL_U32(m, kernel, graph)) &&
	       (k->kernel_node = MODEL_U64(m, kernel, graph_node)) && (k->copy_kind = MODEL_U32(m, memcpy, kind)) &&
	       (k->copy_src = MODEL_U32(m, memcpy, src_kind)) && (k->copy_dst = MODEL_U32(m, memcpy, dst_kind)) &&
	       (k->copy_context = MODEL_U32(m, memcpy, context)) && (k->copy_flags = MODEL_U32(m, memcpy, flags)) &&
	       (k->copy_src_device = MODEL_U32(m, memcpy, src_device)) &&
	       (k->copy_dst_device = MODEL_U32(m, memcpy, dst_device)) &&
	       (k->copy_graph = MODEL_U32(m, memcpy, graph)) && (k->copy_bytes = MODEL_U64(m, memcpy, bytes)) &&
	       (k->copy_node = MODEL_U64(m, memcpy, graph_node)) && (k->set_kind = MODEL_U32(m, memset, mem_kind)) &&
	       (k->set_context = MODEL_U32(m, memset, context)) && (k->set_graph = MODEL_U32(m, memset, graph)) &&
	       (k->set_bytes = MODEL_U64(m, memset, bytes)) && (k->set_node = MODEL_U64(m, memset, graph_node)) &&
	       (k->wait_type = MODEL_U32(m, sync, type)) && (k->wait_context = MODEL_U32(m, sync, context)) &&
	       (k->graph_id = MODEL_U32(m, graph, graph)) && (k->graph_context = MODEL_U32(m, graph, context)) &&
	       (k->node_range = MODEL_U64(m, graph_node, range)) && model_graph_nodes(m) == 0 &&
	       (k->wait_stream = MODEL_U32(m, sync, stream)) && (k->overhead_kind = MODEL_U32(m, overhead, kind)) &&
	       (k->unified_kind = MODEL_U32(m, unified, kind)) && (k->unified_cause = MODEL_U32(m, unified, cause)) &&
	       (k->unified_access = MODEL_U32(m, unified, access)) &&
	       (k->unified_faults = MODEL_U32(m, unified, faults)) &&
	       (k->unified_address = MODEL_U64(m, unified, address)) &&
	       (k->unified_bytes = MODEL_U64(m, unified, bytes));
}

#define DAY 86400000000000ll

static int begin(struct export *x)
{
	struct kineto_writer *k = calloc(1, sizeof *k);

	if (!k)
		return -1;
	x->own = k;
	k->memory = open_memstream(&k->made, &k->made_len);
	if (!k->memory || out_init(&k->making, k->memory) < 0)
		return -1;
	if (model_rows(x->m, ROW_stack) && (!model_stacks(x->m) || !(k->call_stack = MODEL_U32(x->m, api, stack))))
		return -1;
	if (model_has_range_stacks(x->m) && !(k->range_stack = model_range_stacks(x->m)))
		return -1;
	if (model_has_torch(x->m) && !(k->torch = model_torch(x->m)))
		return -1;
	if (k->torch && model_has_modules(x->m) && !(k->nesting = torch_modules_make(x->m, k->torch)))
		return -1;
	k->payloads = model_rows(x->m, ROW_payload) != 0;
	/* The begin of the day: equal for all ranks of a job, and a double holds the microseconds of a day with ns precision. */
	k->base = model_start(x->m) - model_start(x->m) % DAY;
	return columns_read(k, x->m) ? kineto_head(x) : -1;
}

static int end(struct export *x)
{
	return kineto_torch_flows(x) < 0 ? -1 : kineto_tail(x);
}

static void release(struct export *x)
{
	struct kineto_writer *k = own(x);

	if (!k)
		return;
	if (k->making.data)
		out_finish(&k->making);
	if (k->memory)
		fclose(k->memory);
	free(k->made);
	free(k->range_stack);
	free(k->nesting);
	kineto_pieces_release(k);
	free(k);
}

const struct exporter export_kineto = {
	.name = "kineto",
	.suffix = ".json",
	.help = "JSON for https://ui.perfetto.dev, chrome://tracing, HTA and the TensorBoard plugin",
	.begin = begin,
	.call = call,
	.range = range,
	.interval = interval,
	.mark = mark,
	.step = step,
	.gpu = gpu,
	.projection = kineto_projection,
	.frame = kineto_frame,
	.overhead = overhead,
	.unified = unified,
	.end = end,
	.release = release,
};
