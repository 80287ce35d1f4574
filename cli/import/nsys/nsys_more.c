/* nsys exports: graphs, memory, unified memory, overhead, and calls of other libraries and of the OS. */
#include "cli/import/nsys/nsys_inside.h"

#include "trace/rules/libraries.h"

#include <stdio.h>
#include <string.h>

/* ---- the GPU ---- */

static int on_graph(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct graph_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.device = (uint32_t)row_whole(r, 2), .context = (uint32_t)row_whole(r, 3), .stream = (uint32_t)row_whole(r, 4),
		.corr = (uint32_t)row_whole(r, 5), .graph = (uint32_t)row_whole(r, 6), .end_device = (uint32_t)row_whole(r, 2),
	};

	kineto_stream(in->k, 0, row.device, row.context, row.stream);
	buf_put(&in->k->graph, &row, sizeof row);
	return 0;
}

static int on_node(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct graph_node_row row = {
		.start = row_whole(r, 0), .node = (uint64_t)row_whole(r, 2), .original = (uint64_t)row_whole(r, 3),
		.thread = nsys_thread(in, row_whole(r, 1), row_whole(r, 0)), .step = -1,
	};

	if (row.thread == NO_HOST)
		return -1;
	if (row.original == row.node)
		row.original = 0;
	nsys_span(in, row.start, row.start);
	buf_put(&in->k->hosts[in->k->threads[row.thread].host].graph_node, &row, sizeof row);
	return 0;
}

static int on_operation(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;

	for (int column = 1; column <= 2; column++) {
		size_t n;
		const char *word = row_text(r, column, &n);

		if (strcasestr(word, "dealloc") || strcasestr(word, "free") || strcasestr(word, "release"))
			in->releases = (uint32_t)row_whole(r, 0);
		else if (strcasestr(word, "alloc"))
			in->allocates = (uint32_t)row_whole(r, 0);
	}
	return 0;
}

static int on_memory(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	uint32_t operation = (uint32_t)row_whole(r, 6);
	struct memory_row row = {
		.start = row_whole(r, 0), .device = (uint32_t)row_whole(r, 1), .context = (uint32_t)row_whole(r, 2),
		.address = (uint64_t)row_whole(r, 3), .bytes = (uint64_t)row_whole(r, 4), .mem_kind = nsys_memory_kind(r, 5),
		.corr = (uint32_t)row_whole(r, 8), .stream = row_null(r, 9) ? STREAM_NONE : (uint32_t)row_whole(r, 9),
		.pool = (uint64_t)row_whole(r, 10), .pool_size = (uint64_t)row_whole(r, 11), .pool_used = (uint64_t)row_whole(r, 12),
	};
	size_t n;
	const char *name = row_text(r, 7, &n);

	if (operation != in->allocates && operation != in->releases) {
		kineto_count(in->k, COUNT_VALUE, "memoryOperationType %u", operation);
		return 0;
	}
	row.operation = operation == in->allocates ? 1 : 2;
	row.name = n ? texts_put(&in->k->texts, name, n) : 0;
	nsys_span(in, row.start, row.start);
	buf_put(&in->k->memory, &row, sizeof row);
	return 0;
}

/* CUPTI's counter kinds of unified memory. */
enum { UM_HTOD = 1, UM_DTOH = 2, UM_CPU_FAULT = 3, UM_GPU_FAULT = 4, UM_DTOD = 8 };
#define NO_DEVICE 0xffffffffu

static int on_cpu_fault(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct unified_row row = {
		.start = row_whole(r, 0), .address = (uint64_t)row_whole(r, 1), .pc = (uint64_t)row_whole(r, 2), .kind = UM_CPU_FAULT,
		.source = NO_DEVICE, .target = NO_DEVICE,
	};

	nsys_span(in, row.start, row.start);
	buf_put(&in->k->unified, &row, sizeof row);
	return 0;
}

static int on_gpu_fault(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct unified_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.address = (uint64_t)row_whole(r, 3), .faults = (uint32_t)row_whole(r, 4), .kind = UM_GPU_FAULT,
		.source = (uint32_t)row_whole(r, 2), .target = NO_DEVICE, .access = (uint32_t)row_whole(r, 5),
	};

	buf_put(&in->k->unified, &row, sizeof row);
	return 0;
}

/* Migrations of unified memory: rows of the table of copies with copyKind 11 to 13. */
static int on_migration(const struct sqlite_row *r, void *arg)
{
	static const uint32_t kinds[] = { UM_HTOD, UM_DTOH, UM_DTOD };
	struct nsys_reader *in = arg;
	uint32_t kind = kinds[row_whole(r, 2) - 11];
	struct unified_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)), .kind = kind,
		.bytes = (uint64_t)row_whole(r, 3), .address = (uint64_t)row_whole(r, 4), .cause = (uint32_t)row_whole(r, 5),
		.source = kind == UM_HTOD ? NO_DEVICE : row_null(r, 6) ? (uint32_t)row_whole(r, 8) : (uint32_t)row_whole(r, 6),
		.target = kind == UM_DTOH ? NO_DEVICE : row_null(r, 7) ? (uint32_t)row_whole(r, 8) : (uint32_t)row_whole(r, 7),
	};

	buf_put(&in->k->unified, &row, sizeof row);
	return 0;
}

static int on_overhead(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct overhead_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.kind = (uint32_t)row_whole(r, 3), .object_kind = 2, .object = (uint32_t)TID_OF(row_whole(r, 2)),
		.corr = (uint32_t)row_whole(r, 4),
	};

	buf_put(&in->k->overhead, &row, sizeof row);
	return 0;
}

static int on_context(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct context_row row = { .id = (uint32_t)row_whole(r, 0), .device = (uint32_t)row_whole(r, 1),
				   .null_stream = (uint32_t)row_whole(r, 2), .api = 1 };
	bool new = false;

	if (!map_put(&in->k->contexts, row.id, 0, &new))
		return -1;
	if (new)
		buf_put(&in->k->context, &row, sizeof row);
	return 0;
}

static int on_stream(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct stream_row row = { .id = (uint32_t)row_whole(r, 0), .context = (uint32_t)row_whole(r, 1),
				  .priority = (int32_t)row_whole(r, 2), .flags = (uint32_t)row_whole(r, 3) };
	bool new = false;

	if (!map_put(&in->k->streams, (uint64_t)row.context << 32 | row.id, 0, &new))
		return -1;
	if (new)
		buf_put(&in->k->stream, &row, sizeof row);
	return 0;
}

/* ---- the host ---- */

static int range(struct nsys_reader *in, const struct sqlite_row *r, uint32_t flags)
{
	int64_t start = row_whole(r, 0), end = row_null(r, 1) ? start : row_whole(r, 1);
	uint32_t thread = nsys_thread(in, row_whole(r, 2), start);
	struct range_row row = {
		.start = start, .duration = nsys_span(in, start, end), .thread = thread, .end_thread = thread,
		.name = nsys_string(in, r, 3), .domain = in->domain, .step = -1,
		.flags = flags | (row_null(r, 1) ? RANGE_INCOMPLETE : 0),
	};

	if (thread == NO_HOST)
		return -1;
	buf_put(&in->k->hosts[in->k->threads[thread].host].range, &row, sizeof row);
	return 0;
}

static int on_call(const struct sqlite_row *r, void *arg)
{
	return range(arg, r, 0);
}

/* An OS call is not a range of the program: as a start/end range it is never the innermost one. */
static int on_os_call(const struct sqlite_row *r, void *arg)
{
	return range(arg, r, RANGE_STARTEND);
}

static int on_rank(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;

	kineto_fact(in->k, "rank", "%lld", (long long)row_whole(r, 0));
	return 0;
}

static int calls(struct nsys_reader *in, const char *of_threads)
{
	const struct { const char *table, *columns, *domain; int (*fn)(const struct sqlite_row *r, void *arg); } all[] = {
		{ "CUBLAS_EVENTS", "start, end, globalTid, nameId", libraries[LIBRARY_cublas].domain, on_call },
		{ "CUDNN_EVENTS", "start, end, globalTid, nameId", libraries[LIBRARY_cudnn].domain, on_call },
		{ "MPI_P2P_EVENTS", "start, end, globalTid, textId", "MPI", on_call },
		{ "MPI_COLLECTIVES_EVENTS", "start, end, globalTid, textId", "MPI", on_call },
		{ "MPI_START_WAIT_EVENTS", "start, end, globalTid, textId", "MPI", on_call },
		{ "MPI_OTHER_EVENTS", "start, end, globalTid, textId", "MPI", on_call },
		{ "OSRT_API", "start, end, globalTid, nameId", "OS runtime", on_os_call },
		{ "SYSCALL", "start, end, globalTid, nameId", "OS runtime", on_os_call },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!sqlite_has_column(in->db, all[i].table, "globalTid"))
			continue;
		in->domain = kineto_domain(in->k, all[i].domain);
		if (sqlite_each(in->db, all[i].table, all[i].columns, of_threads, all[i].fn, in, in->k->err) < 0)
			return -1;
	}
	return 0;
}

/* nsys writes the tables of page faults only if there are rows, so rows mean that recording was on. */
static void say_faults(struct nsys_reader *in)
{
	const struct unified_row *row = (const struct unified_row *)in->k->unified.data;
	bool cpu = false, gpu = false;

	for (size_t i = 0; i < in->k->unified.len / sizeof *row; i++) {
		cpu |= row[i].kind == UM_CPU_FAULT;
		gpu |= row[i].kind == UM_GPU_FAULT;
	}
	if (cpu)
		kineto_fact(in->k, "setting.um_cpu_faults", "1");
	if (gpu)
		kineto_fact(in->k, "setting.um_gpu_faults", "1");
}

int nsys_places(struct nsys_reader *in)
{
	char where[60];
	const struct nsys_table all[] = {
		{ "TARGET_INFO_CUDA_CONTEXT_INFO", "contextId, deviceId, nullStreamId", where, on_context },
		{ "TARGET_INFO_CUDA_STREAM", "streamId, contextId, priority, flag", where, on_stream },
	};

	snprintf(where, sizeof where, "processId = %lld", (long long)PID_OF(in->pid));
	return nsys_tables(in, all, sizeof all / sizeof *all);
}

int nsys_more(struct nsys_reader *in, const char *of_threads, const char *of_process)
{
	char migrations[160];
	const struct nsys_table all[] = {
		{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start, end, deviceId, contextId, streamId, correlationId, graphId", of_process,
		  on_graph },
		{ "CUDA_GRAPH_NODE_EVENTS", "start, globalTid, graphNodeId, originalGraphNodeId", of_threads, on_node },
		{ "ENUM_CUDA_DEV_MEM_EVENT_OPER", "id, name, label", NULL, on_operation },
		{ "CUDA_GPU_MEMORY_USAGE_EVENTS", "start, deviceId, contextId, address, bytes, memKind, memoryOperationType, name, "
		  "correlationId, streamId, localMemoryPoolAddress, localMemoryPoolSize, localMemoryPoolUtilizedSize", of_process,
		  on_memory },
		{ "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start, address, CpuInstruction", of_process, on_cpu_fault },
		{ "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start, end, deviceId, address, numberOfPageFaults, faultAccessType", of_process,
		  on_gpu_fault },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, copyKind, bytes, virtualAddress, migrationCause, srcDeviceId, dstDeviceId, "
		  "deviceId", migrations, on_migration },
		{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "start, end, globalTid, overheadType, correlationId", of_threads, on_overhead },
		{ "PROFILER_OVERHEAD", "start, end, globalTid, overheadType", of_threads, on_overhead },
		{ "MPI_RANKS", "rank", of_threads, on_rank },
	};

	in->allocates = in->releases = NO_WORD;
	snprintf(migrations, sizeof migrations, "%s AND copyKind BETWEEN 11 AND 13", of_process);
	if (nsys_tables(in, all, sizeof all / sizeof *all) < 0 || calls(in, of_threads) < 0)
		return -1;
	say_faults(in);
	return nsys_samples(in, of_threads);
}

/* ---- tables that are not read ---- */

static bool unread(const char *table)
{
	static const char *const words[] = {
		"StringIds", "ThreadNames", "PROCESSES", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
		"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA_GRAPH_NODE_EVENTS", "CUDA_GPU_MEMORY_USAGE_EVENTS",
		"CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD",
		"MPI_RANKS", "CUBLAS_EVENTS", "CUDNN_EVENTS", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS",
		"MPI_OTHER_EVENTS", "OSRT_API", "SYSCALL", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS",
	};
	/* Tables that describe the recording or name things in other tables. */
	static const char *const starts[] = { "ENUM_", "META_DATA_", "TARGET_INFO_", "EXPORT_", "sqlite_", "ANALYSIS_", "GENERIC_EVENT_",
					      "ProcessStreams", "DIAGNOSTIC_EVENT", "UnitTypes" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(table, words[i]) == 0)
			return false;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(table, starts[i], strlen(starts[i])) == 0)
			return false;
	return true;
}

static void on_table(const char *table, uint64_t rows, void *arg)
{
	struct counted *c = arg;
	size_t at = strlen(c->first);

	c->count += rows;
	if (rows && at + strlen(table) + 3 < sizeof c->first)
		snprintf(c->first + at, sizeof c->first - at, "%s%s", at ? ", " : "", table);
}

void nsys_unread(struct nsys_reader *in)
{
	sqlite_tables(in->db, unread, on_table, &in->k->counts[COUNT_TABLE]);
}
