#include "test/unit/cli/make_trace.h"

#include "cli/report/parts/report.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

void make_begin(struct making *k)
{
	const struct file_header h = {
		.session = 0x1234567890abcdef, .start_real = T0, .start_mono = 1, .host = "testhost"
	};

	strcpy(k->path, "/tmp/gprof-unit-XXXXXX");
	k->writer = writer_new(mkstemp(k->path), &h, NULL);
	CHECK(k->writer != NULL);
}

void make_end(struct making *k)
{
	CHECK_EQ(writer_finish(k->writer, NULL), 0);
}

void make_abandon(struct making *k)
{
	writer_abandon(k->writer);
}

void unmake(struct making *k)
{
	unlink(k->path);
}

struct model *make_model(struct making *k)
{
	struct model *m;

	make_end(k);
	m = model_open(k->path, NULL);
	CHECK(m != NULL);
	return m;
}

void unmake_model(struct making *k, struct model *m)
{
	model_close(m);
	unmake(k);
}

static void put(struct making *k, uint32_t process, unsigned kind, const void *rows, size_t n, const char *tail)
{
	CHECK_EQ(writer_rows(k->writer, process, CLOCK_MONO, record_by_kind(kind), rows, n, (const uint8_t *)tail,
			     tail ? strlen(tail) : 0, NULL), 0);
}

void make_row(struct making *k, uint32_t process, unsigned kind, const void *row, const void *tail, size_t n)
{
	CHECK_EQ(writer_rows(k->writer, process, CLOCK_MONO, record_by_kind(kind), row, 1, tail, n, NULL), 0);
}

void make_rows(struct making *k, uint32_t process, unsigned kind, const void *rows, size_t n)
{
	put(k, process, kind, rows, n, NULL);
}

void make_string(struct making *k, uint32_t process, uint32_t id, const char *text)
{
	put(k, process, ROW_string, &(struct string_row){ .id = id, .bytes = (uint32_t)strlen(text) }, 1, text);
}

void make_thread(struct making *k, uint32_t process, uint32_t id, uint32_t tid, const char *name)
{
	put(k, process, ROW_thread, &(struct thread_row){ T0, id, tid, 0, (uint32_t)strlen(name) }, 1, name);
}

void make_attribute(struct making *k, uint32_t process, const char *text)
{
	put(k, process, ROW_attribute, &(struct attribute_row){ process, (uint32_t)strlen(text) }, 1, text);
}

void make_health(struct making *k, uint32_t process, uint32_t reason, uint64_t count, const char *detail)
{
	put(k, process, ROW_health, &(struct health_row){ T0 + 10, T0 + 20, count, reason, (uint32_t)strlen(detail) },
	    1, detail);
}

static void first_process(struct making *k)
{
	make_string(k, 1, 1, "_Z6vecaddPfS_i");
	make_string(k, 1, 2, "cudaLaunchKernel_v7000");
	make_string(k, 1, 3, "cudaMemcpyAsync_v3020");
	make_string(k, 1, 4, "step");
	make_string(k, 1, 5, "loader");
	make_string(k, 1, 6, "fetch");
	make_string(k, 1, 7, "cudaLaunchKernelExC_v11060");
	make_string(k, 1, 8, "_ZN2ns4gemmIfLi4EEEvPT_");
	make_string(k, 1, 9, "Simulated GPU");
	make_thread(k, 1, 1, 100, "");
	make_thread(k, 1, 1, 100, "main");
	ROWS(k, 1, device, { .id = 0, .name = 9, .uuid_high = 1, .uuid_low = 2, .sm_count = 10, .memory = 1 << 20 });
	ROWS(k, 1, context, { .id = 1, .device = 0, .null_stream = 7 });
	ROWS(k, 1, config, { .id = 1, .grid_x = 4, .grid_y = 2, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1,
			     .static_shared = 1024, .dynamic_shared = 499, .registers = 32 });
	ROWS(k, 1, domain, { 1, 5 });
	ROWS(k, 1, range,
	     { T0 + 1100, 700, 1ull << 40 | 2, 0, 1, 1, 1, 0, 6, 0, 0, 1, 0, -1 },
	     { T0 + 1000, 1000, 1ull << 40 | 1, 0, 1, 1, 0, 0, 4, 0, 0, 0, 0, -1 },
	     { T0 + 3000, 500, 1ull << 40 | 3, 0, 1, 1, 0, 0, 4, 0, 0, 0, RANGE_INCOMPLETE, -1 },
	     { T0 + 1000, 9000, 1ull << 40 | 4, 0, 1, 1, 0, 0, 6, 0, 0, 0, RANGE_STARTEND, -1 });
	ROWS(k, 1, api,
	     { T0 + 1200, 10, 1ull << 40 | 2, 11, 1, 2, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 1300, 30, 1ull << 40 | 2, 12, 1, 2, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 1900, 21, 1ull << 40 | 1, 13, 1, 7, 2 << 16 | 430, 0, -1, 0, 0 },
	     { T0 + 2500, 5, 0, 14, 1, 3, 2 << 16 | 41, 0, -1, 0, 0 });
	/* vecadd 100, 200, 400 and one without a time; gemm 1000 */
	ROWS(k, 1, kernel,
	     { T0 + 2000, 100, 0, 11, 1, 0, 1, 7, 1, 0, 0 },
	     { T0 + 2100, 200, 0, 12, 1, 0, 1, 7, 1, 0, 0 },
	     { T0 + 3000, 1000, 0, 13, 8, 0, 1, 7, 1, 0, 0 },
	     { 0, 0, 0, 15, 1, 0, 1, 7, 1, 0, 0 },
	     { T0 + 4000, 400, 0, 16, 1, 0, 1, 8, 1, 0, 0 });
	ROWS(k, 1, memcpy,
	     { T0 + 2600, 50, 4194304, 0, 14, 0, 1, 7, 1, 1, 3, MEMCPY_ASYNC, 0, 0, 0, 1 },
	     { T0 + 5000, 150, 1000, 0, 17, 0, 1, 7, 2, 3, 2, MEMCPY_ASYNC, 0, 0, 0, 1 },
	     { T0 + 5200, 250, 1500, 0, 18, 0, 1, 7, 1, 1, 3, 0, 0, 0, 0, 1 });
	ROWS(k, 1, memset, { T0 + 6000, 25, 4096, 0, 19, 0, 1, 7, 0, 3, 0, 0 });
}

static void second_process(struct making *k)
{
	make_string(k, 2, 1, "_ZN2ns4gemmIfLi4EEEvPT_");
	make_string(k, 2, 2, "_Z6vecaddPfS_i");
	make_string(k, 2, 3, "cudaLaunchKernel_v7000");
	make_string(k, 2, 4, "step");
	make_thread(k, 2, 1, 201, "worker");
	ROWS(k, 2, range, { T0 + 1500, 3000, 1ull << 40 | 1, 0, 1, 1, 0, 0, 4, 0, 0, 0, 0, -1 });
	ROWS(k, 2, api,
	     { T0 + 1600, 20, 1ull << 40 | 1, 11, 1, 3, 2 << 16 | 211, 0, -1, 0, 0 },
	     { T0 + 1700, 40, 1ull << 40 | 1, 12, 1, 3, 2 << 16 | 211, 0, -1, 0, 0 });
	/* vecadd 300, gemm 3000, and 50 of a name whose definition is lost */
	ROWS(k, 2, kernel,
	     { T0 + 2000, 300, 0, 11, 2, 0, 1, 7, 9, 0, 0 },
	     { T0 + 2300, 3000, 0, 12, 1, 0, 1, 7, 9, 0, 0 },
	     { T0 + 9000, 50, 0, 13, 17, 0, 1, 7, 9, 0, 0 });
}

void make_two_processes(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CONNECTED },
	     { T0 + 500, T0 + 9500, 2, 200, 200, 100, 1,
	       PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_ENDED });
	make_attribute(k, 0, "host=testhost");
	make_attribute(k, 1, "name=python");
	make_attribute(k, 1, "rank=0");
	first_process(k);
	second_process(k);
	ROWS(k, 0, process,
	     { T0 + 1, T0 + 10000, 1, 100, 100, 1, 0,
	       PROCESS_CONNECTED | PROCESS_CUDA | PROCESS_CUPTI | PROCESS_NVTX | PROCESS_ENDED | PROCESS_CLEAN });
	make_attribute(k, 1, "name=python3");
	make_end(k);
}

char *report_text(struct model *m, const char *name, enum table_format format, const char *sort, uint64_t limit)
{
	const char *variant;
	const struct report *r = report_find(name, &variant);
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);
	struct out out;
	struct tables tables = { .out = &out, .format = format, .sort = sort, .limit = limit, .quiet = true };
	struct table t;

	CHECK(r != NULL);
	CHECK_EQ(out_init(&out, file), 0);
	tables_begin(&tables);
	if (r && table_begin(&t, &tables, r->name, r->title, r->columns, r->n_columns) == 0) {
		CHECK_EQ(report_run(r, m, &t, variant, NULL), 0);
		CHECK_EQ(table_end(&t), 0);
	}
	tables_end(&tables);
	CHECK_EQ(out_finish(&out), 0);
	fclose(file);
	return text;
}
