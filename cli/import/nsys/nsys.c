#include "cli/import/nsys/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys/nsys_inside.h"

/* NVTX_EVENTS.eventType */
enum { NVTX_CATEGORY = 33, NVTX_MARK = 34, NVTX_THREAD = 39, NVTX_PUSHPOP = 59, NVTX_STARTEND = 60, NVTX_DOMAIN = 75 };

/* ---- which processes ---- */

struct distinct_values {
	struct buf *list;
	struct map seen;
};

static int on_process(const struct sqlite_row *r, void *arg)
{
	struct distinct_values *f = arg;
	int64_t pid = row_whole(r, 0) & NO_TID;
	bool new;

	if (row_null(r, 0))
		return 0;
	if (!map_put(&f->seen, (uint64_t)pid, 0, &new))
		return -1;
	if (new)
		buf_put(f->list, &pid, sizeof pid);
	return f->list->oom ? -1 : 0;
}

int nsys_processes(struct sqlite *db, const char *path, struct buf *list, struct trace_error *err)
{
	static const char *const tables[][2] = {
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid" }, { "CUPTI_ACTIVITY_KIND_MEMSET", "globalPid" },
		{ "NVTX_EVENTS", "globalTid" }, { "OSRT_API", "globalTid" }, { "COMPOSITE_EVENTS", "globalTid" },
	};
	struct distinct_values f = { .list = list };
	int rc = 0;

	for (size_t i = 0; i < sizeof tables / sizeof *tables && rc == 0; i++)
		rc = sqlite_each(db, tables[i][0], tables[i][1], NULL, on_process, &f, err);
	map_release(&f.seen);
	if (rc == 0 && !list->len)
		rc = trace_fail(err, 0, sqlite_has(db, "META_DATA_EXPORT") || sqlite_has(db, "StringIds") ?
				"'%s' is an nsys export without CUDA calls, kernels, NVTX ranges and samples; record some of them" :
				"'%s' is an SQLite database, but not an nsys export", path);
	return rc;
}

/* ---- definitions that rows refer to ---- */

static int on_string(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	size_t n;
	const char *text = row_text(r, 1, &n);

	return map_set(&in->strings, (uint64_t)row_whole(r, 0), texts_put(&in->k->texts, text, n)) ? 0 : -1;
}

uint32_t nsys_string(const struct nsys_reader *in, const struct sqlite_row *r, int column)
{
	uint32_t id = row_null(r, column) ? MAP_NONE : map_get(&in->strings, (uint64_t)row_whole(r, column));

	return id == MAP_NONE ? 0 : id;
}

static int on_start(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;

	in->k->base = row_whole(r, 0);
	in->k->has_base = true;
	return 0;
}

static int on_gpu(const struct sqlite_row *r, void *arg)
{
	struct kineto *k = ((struct nsys_reader *)arg)->k;
	size_t n;
	const char *name = row_text(r, 1, &n);
	struct device_row row = {
		.name = texts_put(&k->texts, name, n), .id = (uint32_t)row_whole(r, row_null(r, 15) ? 0 : 15),
		.memory = (uint64_t)row_whole(r, 2), .sm_count = (uint32_t)row_whole(r, 3),
		.cc_major = (uint32_t)row_whole(r, 4), .cc_minor = (uint32_t)row_whole(r, 5),
		.warp = (uint32_t)row_whole(r, 6), .max_threads_block = (uint32_t)row_whole(r, 7),
		.max_warps_sm = (uint32_t)row_whole(r, 8), .max_blocks_sm = (uint32_t)row_whole(r, 9),
		.max_shared_sm = (uint32_t)row_whole(r, 10), .max_registers_sm = (uint32_t)row_whole(r, 11),
		.max_shared_block = (uint32_t)row_whole(r, 12), .l2_bytes = (uint32_t)row_whole(r, 13),
		.clock_khz = (uint32_t)(row_whole(r, 14) / 1000), .flags = DEVICE_VISIBLE,
	};

	buf_put(&k->device, &row, sizeof row);
	return 0;
}

static int on_thread(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	uint32_t at = map_get(&in->k->thread_of, (uint64_t)PID_OF(row_whole(r, 1)) << 32 ^ (uint64_t)TID_OF(row_whole(r, 1)));

	if (at != MAP_NONE)
		in->k->threads[at].name = nsys_string(in, r, 0);
	return 0;
}

static int on_name(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	size_t n;
	const char *name = row_text(r, 0, &n), *slash = strrchr(name, '/');

	if (in->k->n_hosts && n)
		in->k->hosts[0].name = slash ? texts_put(&in->k->texts, slash + 1, n - (size_t)(slash + 1 - name)) :
				       texts_put(&in->k->texts, name, n);
	return 0;
}

/* ---- rows ---- */

int64_t nsys_span(struct nsys_reader *in, int64_t start, int64_t end)
{
	struct kineto *k = in->k;
	int64_t length;

	if (end < start || __builtin_sub_overflow(end, start, &length)) {
		kineto_count(k, COUNT_NEGATIVE, "a row at %lld ns", (long long)start);
		end = start;
	}
	k->first = start < k->first ? start : k->first;
	k->last = end > k->last ? end : k->last;
	k->understood++;
	k->index++;
	return end - start;
}

uint32_t nsys_thread(struct nsys_reader *in, int64_t global, int64_t start)
{
	uint32_t at = kineto_thread_of(in->k, PID_OF(global), TID_OF(global));

	if (at != NO_HOST && start < in->k->threads[at].first)
		in->k->threads[at].first = start;
	return at;
}

static int on_call(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct api_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.thread = nsys_thread(in, row_whole(r, 2), row_whole(r, 0)), .corr = (uint32_t)row_whole(r, 3),
		.name = nsys_string(in, r, 4), .result = (int32_t)row_whole(r, 5), .step = -1,
	};
	uint32_t stack = row_null(r, 6) ? MAP_NONE : map_get(&in->chains, (uint64_t)row_whole(r, 6));

	if (row.thread == NO_HOST)
		return -1;
	row.stack = stack == MAP_NONE ? 0 : stack;
	buf_put(&in->k->hosts[in->k->threads[row.thread].host].api, &row, sizeof row);
	return 0;
}

static int on_kernel(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct config_row config = {
		.grid_x = (uint32_t)row_whole(r, 8), .grid_y = (uint32_t)row_whole(r, 9), .grid_z = (uint32_t)row_whole(r, 10),
		.block_x = (uint32_t)row_whole(r, 11), .block_y = (uint32_t)row_whole(r, 12),
		.block_z = (uint32_t)row_whole(r, 13), .registers = (uint32_t)row_whole(r, 14),
		.static_shared = (uint32_t)row_whole(r, 15), .dynamic_shared = (uint32_t)row_whole(r, 16),
		.local = (uint32_t)row_whole(r, 17), .shared_executed = (uint32_t)row_whole(r, 18),
		.cluster_x = (uint32_t)row_whole(r, 21), .cluster_y = (uint32_t)row_whole(r, 22),
		.cluster_z = (uint32_t)row_whole(r, 23),
	};
	struct kernel_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.device = (uint32_t)row_whole(r, 2), .context = (uint32_t)row_whole(r, 3), .stream = (uint32_t)row_whole(r, 4),
		.corr = (uint32_t)row_whole(r, 5), .graph_node = (uint64_t)row_whole(r, 19), .graph = (uint32_t)row_whole(r, 20),
		.config = kineto_put_config(in->k, config), .name = nsys_string(in, r, 7),
	};

	if (!row.name)
		row.name = nsys_string(in, r, 6);
	kineto_stream(in->k, 0, row.device, row.context, row.stream);
	buf_put(&in->k->kernel, &row, sizeof row);
	return 0;
}

uint32_t nsys_memory_kind(const struct sqlite_row *r, int column)
{
	int64_t kind = row_null(r, column) ? 7 : row_whole(r, column);

	return kind >= 0 && kind < 7 ? (uint32_t)kind + 1 : 0;
}

static int on_copy(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct memcpy_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.device = (uint32_t)row_whole(r, 2), .context = (uint32_t)row_whole(r, 3), .stream = (uint32_t)row_whole(r, 4),
		.corr = (uint32_t)row_whole(r, 5), .bytes = row_null(r, 6) ? BYTES_UNKNOWN : (uint64_t)row_whole(r, 6),
		.kind = (uint32_t)row_whole(r, 7), .src_kind = nsys_memory_kind(r, 8), .dst_kind = nsys_memory_kind(r, 9),
		.src_device = (uint32_t)row_whole(r, 10), .dst_device = (uint32_t)row_whole(r, 11),
		.graph_node = (uint64_t)row_whole(r, 12), .copies = (uint32_t)row_whole(r, 13),
	};

	if (row.kind == 10 && !row_null(r, 10) && !row_null(r, 11))
		row.flags = MEMCPY_PEER;
	kineto_stream(in->k, 0, row.device, row.context, row.stream);
	buf_put(&in->k->memcpy, &row, sizeof row);
	return 0;
}

static int on_set(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct memset_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.device = (uint32_t)row_whole(r, 2), .context = (uint32_t)row_whole(r, 3), .stream = (uint32_t)row_whole(r, 4),
		.corr = (uint32_t)row_whole(r, 5), .bytes = row_null(r, 6) ? BYTES_UNKNOWN : (uint64_t)row_whole(r, 6),
		.value = (uint32_t)row_whole(r, 7), .mem_kind = nsys_memory_kind(r, 8), .graph_node = (uint64_t)row_whole(r, 9),
	};

	kineto_stream(in->k, 0, row.device, row.context, row.stream);
	buf_put(&in->k->memset, &row, sizeof row);
	return 0;
}

static int on_sync(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	struct sync_row row = {
		.start = row_whole(r, 0), .duration = nsys_span(in, row_whole(r, 0), row_whole(r, 1)),
		.context = (uint32_t)row_whole(r, 2), .stream = (uint32_t)row_whole(r, 3), .corr = (uint32_t)row_whole(r, 4),
		.type = (uint32_t)row_whole(r, 5), .event = (uint32_t)row_whole(r, 6),
	};

	buf_put(&in->k->sync, &row, sizeof row);
	return 0;
}

static uint32_t domain_of(struct nsys_reader *in, const struct sqlite_row *r, int column)
{
	uint32_t id = row_null(r, column) ? MAP_NONE : map_get(&in->domains, (uint64_t)row_whole(r, column));

	return id == MAP_NONE ? 0 : id;
}

/* Sets *bits to the payload and returns NVTX's payload type; 0: none, or a payload with a schema, which is counted. */
static uint32_t payload_of(struct nsys_reader *in, const struct sqlite_row *r, uint64_t *bits)
{
	union { double d; float f; uint64_t bits; } u = { .bits = 0 };
	uint32_t type = 0;

	for (int i = 0; i < 6 && !type; i++)
		type = row_null(r, 10 + i) ? 0 : (uint32_t)i + 1;
	if (type == 3)
		u.d = row_real(r, 12);
	else if (type == 6)
		u.f = (float)row_real(r, 15);
	else if (type)
		u.bits = (uint64_t)row_whole(r, 9 + (int)type);
	*bits = type == 4 || type == 5 ? (uint32_t)u.bits : u.bits;
	if (!type && !(row_null(r, 16) && row_null(r, 17) && row_null(r, 18)))
		kineto_count(in->k, COUNT_VALUE, "a payload with a schema at %lld ns", (long long)row_whole(r, 0));
	return type;
}

/* An NVTX event that names a category or a thread; other events are ignored. */
static int on_naming(struct nsys_reader *in, const struct sqlite_row *r, int64_t type, uint32_t name)
{
	struct category_row row = { .domain = domain_of(in, r, 6), .id = (uint32_t)row_whole(r, 8), .name = name };
	uint32_t thread;

	if (type == NVTX_CATEGORY && name)
		buf_put(&in->k->category, &row, sizeof row);
	if (type != NVTX_THREAD || !name)
		return 0;
	thread = nsys_thread(in, row_whole(r, 3), INT64_MAX);
	if (thread != NO_HOST)
		in->k->threads[thread].name = name;
	return thread == NO_HOST ? -1 : 0;
}

static int on_nvtx(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	int64_t type = row_whole(r, 2), start = row_whole(r, 0), end = row_null(r, 1) ? start : row_whole(r, 1);
	size_t n;
	const char *text = row_text(r, 4, &n);
	uint32_t name = n ? texts_put(&in->k->texts, text, n) : nsys_string(in, r, 5), thread, end_thread, payload_type;
	uint64_t payload;
	struct host *h;

	if (type != NVTX_MARK && type != NVTX_PUSHPOP && type != NVTX_STARTEND)
		return on_naming(in, r, type, name);
	thread = end_thread = nsys_thread(in, row_whole(r, 3), start);
	if (!row_null(r, 7) && (row_whole(r, 7) & NO_TID) == in->pid)
		end_thread = nsys_thread(in, row_whole(r, 7), end);
	if (thread == NO_HOST || end_thread == NO_HOST)
		return -1;
	h = &in->k->hosts[in->k->threads[thread].host];
	payload_type = payload_of(in, r, &payload);
	if (type == NVTX_MARK) {
		struct mark_row mark = { .start = start, .thread = thread, .domain = domain_of(in, r, 6), .name = name,
					 .category = (uint32_t)row_whole(r, 8), .color = (uint32_t)row_whole(r, 9),
					 .payload = payload, .payload_type = payload_type };

		nsys_span(in, start, start);
		buf_put(&h->mark, &mark, sizeof mark);
		return 0;
	}
	struct range_row row = {
		.start = start, .duration = nsys_span(in, start, end), .thread = thread, .end_thread = end_thread, .name = name,
		.domain = domain_of(in, r, 6), .category = (uint32_t)row_whole(r, 8), .color = (uint32_t)row_whole(r, 9),
		.payload = payload, .payload_type = payload_type,
		.flags = (type == NVTX_STARTEND ? RANGE_STARTEND : 0) | (row_null(r, 1) ? RANGE_INCOMPLETE : 0), .step = -1,
	};

	buf_put(&h->range, &row, sizeof row);
	return 0;
}

static int on_domain(const struct sqlite_row *r, void *arg)
{
	struct nsys_reader *in = arg;
	char name[400];
	size_t n;
	const char *text = row_text(r, 1, &n);
	uint32_t id = n ? 0 : nsys_string(in, r, 2);

	snprintf(name, sizeof name, "%s", n ? text : id ? kineto_text(in->k, id) : "");
	if (!*name || row_null(r, 0))
		return 0;
	return map_set(&in->domains, (uint64_t)row_whole(r, 0), kineto_domain(in->k, name)) ? 0 : -1;
}

int nsys_tables(struct nsys_reader *in, const struct nsys_table *tables, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *column = tables[i].where ? tables[i].where : "";
		char name[40];

		column += *column == '(';
		snprintf(name, sizeof name, "%.*s", (int)strcspn(column, " "), column);
		if (!*name || sqlite_has_column(in->db, tables[i].table, name))
			rc = sqlite_each(in->db, tables[i].table, tables[i].columns, tables[i].where, tables[i].fn, in,
					 in->k->err);
	}
	return rc;
}

int nsys_read(struct kineto *k, struct sqlite *db, int64_t pid, bool first)
{
	struct nsys_reader in = { .k = k, .db = db, .pid = pid };
	struct map *maps[] = { &in.strings, &in.domains, &in.chains, &in.stacks, &in.images, &in.symbols };
	char threads[80], process[80], copies[120], domains[120], chains[200];
	const struct nsys_table words[] = {
		{ "StringIds", "id, value", NULL, on_string },
		{ "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", NULL, on_start },
		{ "TARGET_INFO_GPU", "id, name, totalMemory, smCount, computeMajor, computeMinor, threadsPerWarp, "
		  "maxThreadsPerBlock, maxWarpsPerSm, maxBlocksPerSm, maxShmemPerSm, maxRegistersPerSm, maxShmemPerBlockOptin, "
		  "l2CacheSize, clockRate, cuDevice", NULL, on_gpu },
	}, all[] = {
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId, returnValue, callchainId", threads,
		  on_call },
		{ "CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, contextId, streamId, correlationId, demangledName, "
		  "mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
		  "dynamicSharedMemory, localMemoryPerThread, sharedMemoryExecuted, graphNodeId, graphId, clusterX, clusterY, clusterZ",
		  process, on_kernel },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, contextId, streamId, correlationId, bytes, copyKind, srcKind, "
		  "dstKind, srcDeviceId, dstDeviceId, graphNodeId, copyCount", copies, on_copy },
		{ "CUPTI_ACTIVITY_KIND_MEMSET", "start, end, deviceId, contextId, streamId, correlationId, bytes, value, memKind, "
		  "graphNodeId", process, on_set },
		{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start, end, contextId, streamId, correlationId, syncType, eventId", process,
		  on_sync },
		{ "NVTX_EVENTS", "domainId, text, textId", domains, on_domain },
		{ "NVTX_EVENTS", "start, end, eventType, globalTid, text, textId, domainId, endGlobalTid, category, color, uint64Value, "
		  "int64Value, doubleValue, uint32Value, int32Value, floatValue, jsonTextId, jsonText, binaryData", threads,
		  on_nvtx },
		{ "ThreadNames", "nameId, globalTid", threads, on_thread },
		{ "PROCESSES", "name", process, on_name },
	};
	int rc = 0;

	snprintf(threads, sizeof threads, "(globalTid & %lld) = %lld", NO_TID, (long long)pid);
	snprintf(process, sizeof process, "globalPid = %lld", (long long)pid);
	snprintf(domains, sizeof domains, "eventType = %d AND (globalTid & %lld) = %lld", NVTX_DOMAIN, NO_TID, (long long)pid);
	snprintf(copies, sizeof copies, "%s AND NOT copyKind BETWEEN 11 AND 13", process);
	snprintf(chains, sizeof chains, "id IN (SELECT callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE %s)", threads);
	k->format = "nsys";
	rc = nsys_tables(&in, words, sizeof words / sizeof *words);
	if (rc == 0 && sqlite_has_column(db, "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId"))
		rc = nsys_chains(&in, "CUDA_CALLCHAINS", chains);
	if (rc == 0)
		rc = nsys_places(&in);
	if (rc == 0)
		rc = nsys_tables(&in, all, sizeof all / sizeof *all);
	if (rc == 0)
		rc = nsys_more(&in, threads, process);
	if (rc == 0 && first)
		nsys_unread(&in);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		map_release(maps[i]);
	buf_free(&in.stack_at);
	buf_free(&in.chain);
	if (rc == 0 && !k->n_hosts && kineto_thread_of(k, PID_OF(pid), PID_OF(pid)) == NO_HOST)
		rc = trace_fail(k->err, 0, "out of memory");
	k->file->events += k->index;
	return rc;
}
