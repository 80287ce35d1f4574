/* nvtx_payloads: the payloads of NVTX ranges and marks, one row per field. */
#include "cli/model/join.h"
#include "cli/model/model.h"
#include "cli/model/nvtx/payload.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "start_ns", 0 }, { "pid", COLUMN_ID }, { "event", COLUMN_TEXT }, { "schema", COLUMN_TEXT }, { "field", COLUMN_TEXT },
	{ "value", COLUMN_TEXT }, { "range", COLUMN_TEXT },
};

struct printing {
	struct table *t;
	struct cell cells[7];
	size_t fields;
};

static void put_field(void *arg, const struct payload_shown *f)
{
	struct printing *p = arg;

	p->cells[4] = TEXT(table_keep(p->t, "%s", f->name));
	p->cells[5] = TEXT(table_keep(p->t, "%s", f->value));
	table_row(p->t, p->cells);
	p->fields++;
}

/* By payload: the row of its mark; NO_ROW: it belongs to a range.  The caller frees it.  NULL: out of memory. */
static size_t *mark_rows(struct model *m, size_t n)
{
	const int64_t *start = MODEL_I64(m, mark, start);
	const uint32_t *thread = MODEL_U32(m, mark, thread), *process = model_row_process(m, ROW_mark);
	size_t *rows = malloc(n * sizeof *rows + 1), first;

	if (!rows || !start || !thread || !process) {
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		rows[i] = NO_ROW;
	for (size_t row = 0; row < model_rows(m, ROW_mark); row++)
		for (size_t k = model_mark_payloads(m, process[row], thread[row], start[row], &first); k-- > 0;)
			rows[first + k] = row;
	return rows;
}

/* "domain:name", as in nvtx_sum. */
static const char *event_name(struct model *m, struct table *t, uint32_t process, uint32_t domain, uint32_t name)
{
	return table_keep(t, "%s:%s", model_string(m, model_domain(m, process, domain)), model_string(m, name));
}

static struct cell name_of(struct model *m, struct table *t, const struct payload_seen *s, size_t mark)
{
	bool is_range = s->row->range != 0;
	size_t row = is_range ? model_range_of(m, s->process, s->row->range) : mark;
	const uint32_t *name = is_range ? MODEL_U32(m, range, name) : MODEL_U32(m, mark, name);

	return row == NO_ROW || !name ? UNKNOWN : TEXT(event_name(m, t, s->process, s->row->domain, name[row]));
}

static int run(struct model *m, struct table *t, const char *variant)
{
	static const char *const places[] = { "?", "begin", "end", "mark" };
	size_t n = model_payloads(m), cut = 0;
	size_t *marks = mark_rows(m, n);
	uint32_t processes;
	const struct process *p = model_processes(m, &processes);

	(void)variant;
	if (!marks)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct payload_seen s = model_payload(m, i);
		struct printing out = { .t = t, .cells = {
			NUMBER(time_sub(s.row->start, model_start(m))), NUMBER(p[s.process].pid),
			TEXT(places[s.row->place < 4 ? s.row->place : 0]), *s.schema ? TEXT(table_keep(t, "%s", s.schema)) : UNKNOWN,
			UNKNOWN, UNKNOWN, name_of(m, t, &s, marks[i]) } };

		cut += s.row->kept < s.row->size;
		model_payload_fields(m, i, put_field, &out);
		if (!out.fields)
			table_row(t, out.cells);
	}
	free(marks);
	if (cut)
		table_note(t, "payloads cut at 256 bytes: %zu", cut);
	if (!n)
		table_note(t, "no payloads: %s",
			   why_lacks(m, "the program uses no NVTX payload schemas, or -t left NVTX out", NULL));
	return 0;
}

const struct report report_nvtx_payloads = {
	.name = "nvtx_payloads",
	.title = "NVTX Payloads",
	.help = "Which values are in the extended payloads of NVTX ranges and marks?",
	.needs = NEED_PAYLOADS,
	COLUMNS(columns),
	.run = run,
};
