/* Rows of GPU events: kernels, copies, memory sets, synchronization, overhead, ranges. */
#include <string.h>

#include "cli/import/rows/kineto.h"

/* CUPTI's copy kind, from the name of a copy: HtoD, or HostToDevice as on AMD GPUs; 0: unknown. */
static uint32_t copy_kind(const char *name)
{
	static const struct { const char *word; uint32_t kind; } words[] = {
		{ "HtoD", 1 }, { "DtoH", 2 }, { "HtoA", 3 }, { "AtoH", 4 }, { "AtoA", 5 }, { "AtoD", 6 }, { "DtoA", 7 },
		{ "DtoD", 8 }, { "HtoH", 9 }, { "PtoP", 10 }, { "HostToDevice", 1 }, { "DeviceToHost", 2 },
		{ "DeviceToDevice", 8 }, { "HostToHost", 9 },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(name, words[i].word))
			return words[i].kind;
	return 0;
}

/* CUPTI's memory kind, from the word at *p, which moves after the word; 0: unknown. */
static uint32_t memory_kind(const char **p)
{
	static const struct { const char *word; uint32_t kind; } words[] = {
		{ "Pageable", 1 }, { "Pinned", 2 }, { "Device Static", 6 }, { "Device", 3 }, { "Array", 4 },
		{ "Managed Static", 7 }, { "Managed", 5 },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);

		if (strncmp(*p, words[i].word, n) == 0) {
			*p += n;
			return words[i].kind;
		}
	}
	return 0;
}

struct gpu_place {
	uint32_t device, context, stream, corr, graph;
	uint64_t graph_node;
};

/* Where the event ran.  Without an argument "device" or "stream", pid is the device and tid the stream. */
static struct gpu_place place_of(struct kineto *k, const struct event *e)
{
	int64_t pid = kineto_number(k, &e->pid), stream = kineto_whole(e, ARG_STREAM, INT64_MIN);
	int64_t device = kineto_whole(e, ARG_DEVICE, pid >= 0 && pid < 4096 ? pid : 0);
	struct gpu_place p = {
		.device = (uint32_t)device, .context = (uint32_t)kineto_whole(e, ARG_CONTEXT, device + 1),
		.stream = (uint32_t)(stream != INT64_MIN ? stream : kineto_number(k, &e->tid)),
		.corr = (uint32_t)kineto_whole(e, ARG_CORRELATION, 0), .graph = (uint32_t)kineto_whole(e, ARG_GRAPH, 0),
		.graph_node = (uint64_t)kineto_whole(e, ARG_GRAPH_NODE, 0),
	};

	kineto_stream(k, (int32_t)kineto_whole(e, ARG_PRIORITY, 0), p.device, p.context, p.stream);
	return p;
}

static void put_kernel(struct kineto *k, const struct event *e)
{
	struct gpu_place p = place_of(k, e);
	uint32_t config = kineto_config_id(k, e);
	struct kernel_row *row = buf_add(&k->kernel, sizeof *row);

	if (row)
		*row = (struct kernel_row){
			.start = e->ts, .duration = e->dur, .graph_node = p.graph_node, .corr = p.corr, .name = e->name,
			.device = p.device, .context = p.context, .stream = p.stream, .config = config, .graph = p.graph,
		};
}

static void put_memcpy(struct kineto *k, const struct event *e)
{
	const char *name = e->name ? kineto_text(k, e->name) : "", *paren = strchr(name, '('), *arrow;
	struct gpu_place p = place_of(k, e);
	struct memcpy_row row = {
		.start = e->ts, .duration = e->dur, .bytes = (uint64_t)kineto_whole(e, ARG_BYTES, -1), .graph_node = p.graph_node,
		.corr = p.corr, .device = p.device, .context = p.context, .stream = p.stream, .kind = copy_kind(name),
		.graph = p.graph, .src_device = (uint32_t)kineto_whole(e, ARG_FROM_DEVICE, 0),
		.dst_device = (uint32_t)kineto_whole(e, ARG_TO_DEVICE, 0),
	};

	if (paren) {
		paren++;
		row.src_kind = memory_kind(&paren);
		arrow = strstr(paren, "-> ");
		if (arrow) {
			arrow += 3;
			row.dst_kind = memory_kind(&arrow);
		}
	}
	if (e->has & 1ull << ARG_FROM_DEVICE && e->has & 1ull << ARG_TO_DEVICE)
		row.flags = MEMCPY_PEER;
	buf_put(&k->memcpy, &row, sizeof row);
}

static void put_memset(struct kineto *k, const struct event *e)
{
	const char *paren = e->name ? strchr(kineto_text(k, e->name), '(') : NULL;
	struct gpu_place p = place_of(k, e);
	struct memset_row row = {
		.start = e->ts, .duration = e->dur, .bytes = (uint64_t)kineto_whole(e, ARG_BYTES, -1), .graph_node = p.graph_node,
		.corr = p.corr, .device = p.device, .context = p.context, .stream = p.stream, .graph = p.graph,
	};

	if (paren) {
		paren++;
		row.mem_kind = memory_kind(&paren);
	}
	buf_put(&k->memset, &row, sizeof row);
}

static void put_sync(struct kineto *k, const struct event *e)
{
	static const char *const types[] = { "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync" };
	const char *name = e->name ? kineto_text(k, e->name) : "";
	struct sync_row row = {
		.start = e->ts, .duration = e->dur, .corr = (uint32_t)kineto_whole(e, ARG_CORRELATION, 0),
		.context = (uint32_t)kineto_whole(e, ARG_CONTEXT, 0), .stream = (uint32_t)kineto_whole(e, ARG_STREAM, -1),
		.event = (uint32_t)kineto_whole(e, ARG_EVENT, -1),
	};

	for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(name, types[i]) == 0)
			row.type = i + 1;
	buf_put(&k->sync, &row, sizeof row);
}

static void put_overhead(struct kineto *k, const struct event *e)
{
	static const struct { const char *word; uint32_t kind; } words[] = {
		{ "Buffer Flush", 1 << 16 }, { "Instrumentation", 2 << 16 }, { "Resource", 3 << 16 }, { "Driver", 1 },
		{ "Lazy Function Loading", 5 << 16 }, { "Module Loading", 4 << 16 }, { "Command Buffer Full", 6 << 16 },
		{ "Activity Buffer Request", 7 << 16 },
	};
	const char *name = e->name ? kineto_text(k, e->name) : "";
	struct overhead_row row = { .start = e->ts, .duration = e->dur };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(name, words[i].word, strlen(words[i].word)) == 0)
			row.kind = words[i].kind;
	buf_put(&k->overhead, &row, sizeof row);
}

static void put_range(struct kineto *k, const struct event *e)
{
	int64_t pid = kineto_number(k, &e->pid), stream = kineto_whole(e, ARG_STREAM, INT64_MIN);
	struct gpu_range_row row = {
		.start = e->ts, .duration = e->dur, .external = (uint64_t)kineto_whole(e, ARG_EXTERNAL, 0), .name = e->name,
		.category = e->category, .device = (uint32_t)kineto_whole(e, ARG_DEVICE, pid >= 0 && pid < 4096 ? pid : 0),
		.stream = (uint32_t)(stream != INT64_MIN ? stream : kineto_number(k, &e->tid)),
	};

	buf_put(&k->gpu_range, &row, sizeof row);
}

void event_gpu(struct kineto *k, const struct event *e, enum event_class class)
{
	switch (class) {
	case CLASS_KERNEL:   put_kernel(k, e); break;
	case CLASS_MEMCPY:   put_memcpy(k, e); break;
	case CLASS_MEMSET:   put_memset(k, e); break;
	case CLASS_SYNC:     put_sync(k, e); break;
	case CLASS_OVERHEAD: put_overhead(k, e); break;
	default:             put_range(k, e); break;
	}
}
