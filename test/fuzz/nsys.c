/*
 * libFuzzer target: imports databases that resemble exports of nsys.  The input says how a database differs from such an export: missing
 * tables or columns, or ones of another kind; any values in any row; and at last changed bytes of the file.  libsqlite3 may refuse the
 * file; the importer must not read a row wrong, and an error is one line.
 */
#include "test/fuzz/import_bytes.h"

#include <sqlite3.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_ROWS 64

static const struct {
	const char *name, *columns;
} tables[] = {
	{ "StringIds", "id value" },
	{ "TARGET_INFO_SESSION_START_TIME", "utcEpochNs" },
	{ "TARGET_INFO_GPU", "id name totalMemory smCount computeMajor computeMinor threadsPerWarp maxThreadsPerBlock "
	  "maxWarpsPerSm maxBlocksPerSm clockRate cuDevice" },
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "start end globalTid correlationId nameId returnValue callchainId" },
	{ "CUPTI_ACTIVITY_KIND_KERNEL", "start end deviceId contextId streamId correlationId globalPid demangledName "
	  "mangledName gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory "
	  "graphNodeId graphId clusterX clusterY clusterZ" },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind "
	  "dstKind srcDeviceId dstDeviceId graphNodeId" },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", "start end deviceId contextId streamId correlationId globalPid bytes value memKind" },
	{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "start end contextId streamId correlationId globalPid syncType eventId" },
	{ "NVTX_EVENTS", "start end eventType category color text globalTid endGlobalTid textId domainId "
	  "int64Value doubleValue jsonText binaryData" },
	{ "ThreadNames", "nameId priority globalTid" },
	{ "PROCESSES", "globalPid pid name" },
	{ "META_DATA_EXPORT", "name value" },
	/* The tables below exist only if the input asks for them. */
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start end deviceId contextId streamId correlationId globalPid graphId" },
	{ "CUDA_GRAPH_NODE_EVENTS", "start globalTid graphNodeId originalGraphNodeId" },
	{ "ENUM_CUDA_DEV_MEM_EVENT_OPER", "id name label" },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS", "start deviceId contextId address bytes memKind memoryOperationType name correlationId "
	  "streamId globalPid localMemoryPoolAddress localMemoryPoolSize localMemoryPoolUtilizedSize" },
	{ "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start address CpuInstruction globalPid" },
	{ "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start end deviceId address numberOfPageFaults faultAccessType globalPid" },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "start end globalTid overheadType correlationId" },
	{ "MPI_RANKS", "rank globalTid" },
	{ "CUBLAS_EVENTS", "start end globalTid nameId" },
	{ "OSRT_API", "start end globalTid nameId" },
	{ "COMPOSITE_EVENTS", "start globalTid id" },
	{ "SAMPLING_CALLCHAINS", "id symbol module originalIP stackDepth" },
	{ "CUDA_CALLCHAINS", "id symbol module originalIP stackDepth" },
	{ "TARGET_INFO_CUDA_CONTEXT_INFO", "contextId deviceId nullStreamId processId" },
	{ "TARGET_INFO_CUDA_STREAM", "streamId contextId priority flag processId" },
	{ "\"a table\nof others\"", "a b" },
};
#define N_TABLES (sizeof tables / sizeof *tables)
#define N_ALWAYS 12u

/* The rest of the input; zeros after its end. */
struct input {
	const uint8_t *p, *end;
};

static unsigned take(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

static uint64_t take_many(struct input *in, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | take(in);
	return v;
}

static void exec(sqlite3 *db, const char *sql)
{
	sqlite3_exec(db, sql, NULL, NULL, NULL);        /* errors are ignored: that table or row is missing then */
}

/* Appends the value that nsys would write in this column of row `row`. */
static void put_usual(sqlite3_str *s, const char *column, size_t n, unsigned row)
{
	const uint64_t pid = 0x1000000000000 | (uint64_t)(4000 + row % 2) << 24;
	const struct { const char *name; uint64_t value; } usual[] = {
		{ "start", 1000 + 100 * row }, { "end", 1000 + 100 * row + (row % 3 ? 50 : 450) }, { "globalPid", pid },
		{ "globalTid", pid | (4000 + row % 3) }, { "endGlobalTid", pid | 4001 }, { "eventType", (uint64_t[]){ 59, 59, 60, 34, 75 }[row % 5] },
		{ "id", row }, { "correlationId", row }, { "nameId", row % 8 }, { "textId", row % 8 }, { "demangledName", row % 8 },
		{ "utcEpochNs", 1700000000000000000 }, { "bytes", 4096 }, { "copyKind", row % 12 }, { "streamId", 7 + row % 2 },
	};

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		if (strlen(usual[i].name) == n && memcmp(usual[i].name, column, n) == 0) {
			sqlite3_str_appendf(s, "%lld", (long long)usual[i].value);
			return;
		}
	}
	if (n >= 4 && (memcmp(column, "name", 4) == 0 || memcmp(column, "valu", 4) == 0 || memcmp(column, "text", 4) == 0))
		sqlite3_str_appendf(s, "'text %u'", row % 5);
	else
		sqlite3_str_appendf(s, "%u", row % 4);
}

static void put_any(sqlite3_str *s, struct input *in)
{
	static const char *const odd[] = {
		"NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "4294967295", "2147483648", "1e300", "-0.5",
		"''", "'/'", "'a/b/'", "x'00'", "x'ff00fe'", "'12'", "4611686018427387904", "zeroblob(70000)", "'%s%n'",
	};
	unsigned kind = take(in), n;

	if (kind < 128) {
		sqlite3_str_appendall(s, odd[kind % (sizeof odd / sizeof *odd)]);
	} else if (kind < 192) {
		sqlite3_str_appendf(s, "%lld", (long long)take_many(in, kind % 8 + 1));
	} else if (kind < 224) {
		sqlite3_str_appendf(s, "%llu", 0x1000000000000 | (unsigned long long)take_many(in, 4) << 12);
	} else {
		sqlite3_str_appendall(s, "x'");
		for (n = take(in) % 40; n; n--)
			sqlite3_str_appendf(s, "%02x", take(in));
		sqlite3_str_appendall(s, kind & 1 ? "'" : "' || ''");
	}
}

/* Inserts a row; the input replaces up to four of its values. */
static void put_row(sqlite3 *db, size_t table, uint32_t missing, unsigned row, struct input *in)
{
	sqlite3_str *s = sqlite3_str_new(db);
	unsigned changes = take(in), at[4], n = changes % 5, column = 0;
	char *sql;

	for (unsigned i = 0; i < n && i < 4; i++)
		at[i] = take(in) % 24;
	sqlite3_str_appendf(s, "INSERT OR REPLACE INTO %s VALUES (", tables[table].name);
	for (const char *p = tables[table].columns; *p; column++) {
		size_t length = strcspn(p, " ");
		bool other = false;

		if (!(missing >> column & 1)) {
			sqlite3_str_appendall(s, sqlite3_str_value(s)[sqlite3_str_length(s) - 1] == '(' ? "" : ", ");
			for (unsigned i = 0; i < n && i < 4; i++)
				other |= at[i] == column;
			if (other)
				put_any(s, in);
			else
				put_usual(s, p, length, row);
		}
		p += length;
		p += *p == ' ';
	}
	sqlite3_str_appendall(s, ")");
	sql = sqlite3_str_finish(s);
	exec(db, sql);
	sqlite3_free(sql);
}

enum shape { USUAL, FEWER, VIEW, WITHOUT_ROWID, TEXTS, GENERATED, N_SHAPES };

/* Creates the table.  Returns a bit mask of its missing columns; ~0: no table, or no rows can be inserted. */
static uint32_t put_table(sqlite3 *db, size_t table, struct input *in)
{
	unsigned how = take(in);
	enum shape shape = how < 200 ? USUAL : (enum shape)(how % N_SHAPES);
	uint32_t missing = shape == FEWER ? (uint32_t)take_many(in, 3) : 0;
	unsigned column = 0, written = 0;
	sqlite3_str *s;
	char *sql;

	if (how == 255 || (!how && table >= N_ALWAYS))
		return ~0u;
	s = sqlite3_str_new(db);
	if (shape == VIEW) {
		sqlite3_str_appendf(s, "CREATE VIEW %s AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) "
				    "SELECT start, start + 1 AS end, %lld AS globalPid, %lld AS globalTid FROM n", tables[table].name,
				    0x1000fa0000000ll, 0x1000fa0000fa0ll);
		missing = ~0u;
	} else {
		sqlite3_str_appendf(s, "CREATE TABLE %s (", tables[table].name);
		for (const char *p = tables[table].columns; *p; column++) {
			size_t length = strcspn(p, " ");

			if (!(missing >> column & 1))
				sqlite3_str_appendf(s, "%s\"%.*s\"%s", written ? ", " : "", (int)length, p,
						    shape == WITHOUT_ROWID && !written ? " INTEGER PRIMARY KEY" :
						    shape == TEXTS ? " TEXT" : "");
			written += !(missing >> column & 1);
			p += length;
			p += *p == ' ';
		}
		if (shape == GENERATED)
			sqlite3_str_appendall(s, ", rowid2 AS (1)");
		sqlite3_str_appendall(s, shape == WITHOUT_ROWID ? ") WITHOUT ROWID" : ")");
	}
	sql = sqlite3_str_finish(s);
	exec(db, sql);
	sqlite3_free(sql);
	return missing;
}

/* Damages the file after its first 16 bytes, SQLite's magic. */
static void patch(uint8_t *file, size_t size, struct input *in)
{
	for (unsigned n = take(in); n > 128 && size > 16; n--) {
		size_t at = 16 + (size_t)take_many(in, 2) % (size - 16);

		file[at] = (uint8_t)take(in);
	}
}

static char path[] = "/tmp/gprof-fuzz-XXXXXX";

static void remove_files(void)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	char name[64];

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", path, endings[i]);
		unlink(name);
	}
}

/* SQLite needs a real path: it resolves /proc/self/fd links to a name that a memfd does not have. */
static void import_database(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_files);
	}
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	import_path(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	uint32_t missing[N_TABLES];
	sqlite3_int64 length = 0;
	sqlite3 *db;
	uint8_t *file;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		abort();
	if (take(&in) >= 224)
		exec(db, "PRAGMA encoding = 'UTF-16'");
	exec(db, "PRAGMA page_size = 1024; BEGIN");
	for (size_t i = 0; i < N_TABLES; i++)
		missing[i] = put_table(db, i, &in);
	for (unsigned row = 0, n = N_TABLES + take(&in) % MOST_ROWS; row < n; row++) {
		size_t table = row < N_TABLES ? row : take(&in) % N_TABLES;

		if (missing[table] != ~0u)
			put_row(db, table, missing[table], row, &in);
	}
	exec(db, "COMMIT");
	file = sqlite3_serialize(db, "main", &length, 0);
	if (file) {
		patch(file, (size_t)length, &in);
		import_database(file, (size_t)length);
	}
	sqlite3_free(file);
	sqlite3_close(db);
	return 0;
}
