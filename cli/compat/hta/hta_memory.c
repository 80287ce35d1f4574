/* Memory by category over time, from torch.profiler's memory timeline (hta/memory_analysis.py). */
#include "cli/compat/hta/hta.h"
#include "cli/model/model.h"

#define CATEGORIES 8u           /* the last one is "unknown", for all other numbers */

static const struct heading columns[] = {
	{ "ts_ns", COLUMN_KEY }, { "parameter_bytes", 0 }, { "optimizer_state_bytes", 0 }, { "input_bytes", COLUMN_RARE },
	{ "temporary_bytes", COLUMN_RARE }, { "activation_bytes", 0 }, { "gradient_bytes", 0 }, { "autograd_detail_bytes", COLUMN_RARE },
	{ "unknown_bytes", 0 },
};
static const struct heading hta_columns[] = {
	{ "ts_ns", COLUMN_ID }, { "parameter", 0 }, { "optimizer_state", 0 }, { "input", 0 }, { "temporary", 0 },
	{ "activation", 0 }, { "gradient", 0 }, { "autograd_detail", 0 }, { "unknown", 0 },
};

/* One row per time.  Memory allocated before the timeline (time below 0) is shown at its first time. */
static int by_category(struct model *m, struct table *t, const struct report_choice *choice, struct hta_how how)
{
	const int64_t *ts = MODEL_I64(m, memory_change, ts), *bytes = MODEL_I64(m, memory_change, bytes);
	const uint32_t *category = MODEL_U32(m, memory_change, category);
	size_t n = model_rows(m, ROW_memory_change);
	int64_t now[CATEGORIES] = { 0 }, first = INT64_MAX;

	(void)choice;
	(void)how;
	if (!ts || !bytes || !category)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (ts[i] >= 0 && ts[i] < first)
			first = ts[i];
	for (size_t i = 0; i < n; i++) {
		int64_t *sum = &now[category[i] < CATEGORIES ? category[i] : CATEGORIES - 1];
		struct cell cells[1 + CATEGORIES];

		*sum = time_add(*sum, bytes[i]);
		if (i + 1 < n && ts[i + 1] == ts[i])
			continue;
		cells[0] = NUMBER(ts[i] >= 0 ? ts[i] : first);
		for (unsigned c = 0; c < CATEGORIES; c++)
			cells[1 + c] = NUMBER(now[c]);
		table_row(t, cells);
	}
	if (!n)
		table_note(t, "the file is not a memory timeline: torch.profiler's export_memory_timeline writes one to a .raw.json.gz");
	return 0;
}

#define QUESTION "How many bytes are parameters, gradients, activations and so on? (PyTorch memory timeline)"

HTA_TWIN_OF(0, NULL, "equal to memory_by_category", hta_memory_by_category, by_category, hta_columns, NULL,
	    "Memory by Category (bytes), over Time", QUESTION);

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	return by_category(m, t, choice, HTA_HONEST);
}

const struct report report_memory_by_category = {
	.name = "memory_by_category",
	.title = "Memory by Category, over Time",
	.help = QUESTION,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};
