/* cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum: copies and memory sets by direction, and transfers of unified memory. */
#include "cli/model/names.h"
#include "cli/report/parts/sums.h"
#include "cli/report/parts/why.h"

/* Keys of rows that are not copies.  The key of a copy is its kind. */
#define MEMSET_KEY  (1ull << 32)
#define UNIFIED_KEY (2ull << 32)        /* | kind of the transfer of unified memory */

static const struct heading time_columns[] = {
	{ "Time (%)", 0 }, { "Total Time (ns)", 0 }, { "Count", 0 },
	{ "Avg (ns)", 0 }, { "Med (ns)", 0 },        { "Min (ns)", 0 },
	{ "Max (ns)", 0 }, { "StdDev (ns)", 0 },     { "Operation", COLUMN_TEXT },
};

static const struct heading size_columns[] = {
	{ "Total (MB)", 0 }, { "Count", 0 }, { "Avg (MB)", 0 }, { "Med (MB)", 0 }, { "Min (MB)", 0 }, { "Max (MB)", 0 },
	{ "StdDev (MB)", 0 }, { "Operation", COLUMN_TEXT },
};

static bool all_sets(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	(void)s, (void)b, (void)row;
	*key = MEMSET_KEY;
	return true;
}

static bool transfers(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	const uint32_t *kind = b->column[2];

	(void)s;
	*key = UNIFIED_KEY | kind[row];
	return unified_words(kind[row]) != NULL;
}

static const char *operation(struct sums *s, struct table *t, uint64_t key)
{
	const char *words = memcpy_words((unsigned)key);

	(void)s;
	if (key == MEMSET_KEY)
		return "[CUDA memset]";
	if (key & UNIFIED_KEY)
		return table_keep(t, "[CUDA memcpy %s]", unified_words((unsigned)key));
	return words ? table_keep(t, "[CUDA memcpy %s]", words) : table_keep(t, "[CUDA memcpy kind %u]", (unsigned)key);
}

static int finish(struct sums *s, struct table *t, int rc, int (*print)(struct sums *, struct table *,
		  const char *(*name)(struct sums *, struct table *, uint64_t)))
{
	if (rc == 0)
		rc = print(s, t, operation);
	if (rc == 0 && !s->groups.n)
		why_no_gpu(s->m, t, "copies or memory sets");
	else if (rc == 0)
		why_gaps(s->m, t);
	sums_release(s);
	return rc;
}

static int run_time(struct model *m, struct table *t, const char *variant)
{
	static const unsigned copies[] = { COL_memcpy_duration, COL_memcpy_start | MODEL_IF_ZERO, COL_memcpy_kind };
	static const unsigned sets[] = { COL_memset_duration, COL_memset_start | MODEL_IF_ZERO };
	static const unsigned unified[] = { COL_unified_duration, COL_unified_start | MODEL_IF_ZERO, COL_unified_kind };
	struct sums s = { .m = m };
	int rc = sums_pass(&s, ROW_memcpy, copies, 3, NULL);

	(void)variant;
	if (rc == 0)
		rc = sums_pass(&s, ROW_memset, sets, 2, all_sets);
	if (rc == 0)
		rc = sums_pass(&s, ROW_unified, unified, 3, transfers);
	return finish(&s, t, rc, sums_print_times);
}

static int run_size(struct model *m, struct table *t, const char *variant)
{
	static const unsigned copies[] = { COL_memcpy_bytes, MODEL_SKIP, COL_memcpy_kind }; /* 0 bytes is a known size */
	static const unsigned sets[] = { COL_memset_bytes, MODEL_SKIP };
	static const unsigned unified[] = { COL_unified_bytes, MODEL_SKIP, COL_unified_kind };
	struct sums s = { .m = m };
	int rc = sums_pass(&s, ROW_memcpy, copies, 3, NULL);

	(void)variant;
	if (rc == 0)
		rc = sums_pass(&s, ROW_memset, sets, 2, all_sets);
	if (rc == 0)
		rc = sums_pass(&s, ROW_unified, unified, 3, transfers);
	if (s.untimed)
		table_note(t, "%llu copies and memory sets are counted, but in no number of bytes: the imported file lacks their sizes",
			   (unsigned long long)s.untimed);
	return finish(&s, t, rc, sums_print_sizes);
}

const struct report report_cuda_gpu_mem_time_sum = {
	.name = "cuda_gpu_mem_time_sum",
	.share = "Time (%): share of the sum over all rows, also those not shown",
	.title = "CUDA GPU MemOps Summary (by Time)",
	.help = "How much GPU time do copies and memory sets take, by direction?",
	.needs = NEED_COPIES,
	.adds = { ROW_memcpy, ROW_memset },
	COLUMNS(time_columns),
	.run = run_time,
};

const struct report report_cuda_gpu_mem_size_sum = {
	.name = "cuda_gpu_mem_size_sum",
	.title = "CUDA GPU MemOps Summary (by Size)",
	.help = "How many bytes are copied and set, by direction?",
	.needs = NEED_COPIES,
	.adds = { ROW_memcpy, ROW_memset },
	COLUMNS(size_columns),
	.run = run_size,
};
