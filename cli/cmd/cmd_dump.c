/* gprof-trace dump: every row as text, in file order.  The table of records describes the fields of each kind. */
#include "cli/input/input.h"
#include "cli/model/model.h"
#include "cli/model/nvtx/payload.h"
#include "cli/model/process.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/json_out.h"
#include "cli/ui/options.h"
#include "trace/reader.h"

#include <limits.h>

static char *kinds;
static uint64_t process = UINT64_MAX;
static bool raw, uncorrected;

static const struct opt opts[] = {
	{ 'k', "kind", "KIND[,KIND]", opt_list, &kinds, "only these kinds of rows, such as kernel, api or range", NULL, 0 },
	{ 'p', "process", "N", opt_u64, &process, "only rows of process N (0: rows of the session itself)", NULL, 0 },
	{ 0, "uncorrected", NULL, opt_flag, &uncorrected, "times as each clock reported them; GPU rows have CUPTI's times", NULL, 0 },
	{ 0, "raw", NULL, opt_flag, &raw, "numbers as stored in the file, and string ids instead of texts", NULL, 0 },
	INPUT_OPTIONS,
	{ 0 },
};

static bool wanted[ROW_KINDS];

/* Fills wanted[] from the list of --kind, which it changes; NULL: all kinds.  0, or -1 after an error message. */
static int choose_kinds(char *list)
{
	const char *names[ROW_KINDS], *nearest;

	for (size_t i = 0; i < n_records; i++) {
		names[i] = records[i].name;
		wanted[records[i].id] = !list;
	}
	for (char *name; list && (name = strsep(&list, ","));) {
		size_t i = 0;

		while (i < n_records && strcmp(records[i].name, name) != 0)
			i++;
		if (i == n_records) {
			nearest = options_nearest(name, names, n_records);
			fail("unknown kind of row '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
			     nearest ? nearest : "", nearest ? "'?" : "");
			hint("gprof-trace info lists the kinds that a trace has");
			return -1;
		}
		wanted[records[i].id] = true;
	}
	return 0;
}

static void put_field(struct out *o, struct model *m, const struct chunk *c, unsigned i, const void *row)
{
	const struct field *f = &c->record->fields[i];
	uint64_t v = field_load(f, row);
	bool defines = c->record->id == ROW_string;     /* its field `id` defines a string, all others refer to one */

	if (f->unit == UNIT_LEN && !raw)
		return;         /* length of the tail, which is printed below */
	out_char(o, ' ');
	out_text(o, f->name);
	out_char(o, '=');
	if (f->unit == UNIT_STRING && !defines && !raw)
		json_string(o, v ? model_file_string(m, c->head.process, (uint32_t)v) : "");
	else if (f->unit == UNIT_HEX)
		out_format(o, "0x%llx", (unsigned long long)v);
	else if (f->unit == UNIT_STREAM && v == STREAM_NONE && !raw)
		out_lit(o, "none");
	else if (f->is_signed)
		out_i64(o, (int64_t)v);
	else
		out_u64(o, v);
}

static void put_payload_field(void *arg, const struct payload_shown *f)
{
	struct out *o = arg;

	out_char(o, ' ');
	json_string(o, f->name);
	out_char(o, '=');
	if (f->text)
		json_string(o, f->value);
	else
		out_text(o, f->value);
}

/* A binary tail: frames=1:0x401136,2+14 (native frame: image:address, Python frame: code+offset), others in hexadecimal. */
static void put_bytes(struct out *o, unsigned kind, const char *tail, size_t n)
{
	struct stack_frame f;

	out_text(o, kind == ROW_stack ? " frames=" : kind == ROW_image ? " build_id=" : " table=");
	for (size_t i = 0; kind != ROW_stack && i < n; i++)
		out_format(o, "%02x", (unsigned char)tail[i]);
	for (size_t i = 0; kind == ROW_stack && i + sizeof f <= n; i += sizeof f) {
		memcpy(&f, tail + i, sizeof f);
		if (i)
			out_char(o, ',');
		if (f.what == STACK_FRAME_NATIVE)
			out_format(o, "%u:0x%llx", f.extra, (unsigned long long)f.value);
		else if (f.extra == STACK_NO_OFFSET)
			out_format(o, "%llu+?", (unsigned long long)f.value);
		else
			out_format(o, "%llu+%u", (unsigned long long)f.value, f.extra);
	}
}

/* The tail of a row: text, decoded payload values, or binary. */
static void put_tail(struct out *o, struct model *m, const struct chunk *c, const void *row, const char *tail, size_t n)
{
	if (c->record->id == ROW_payload && !raw) {
		char *copy = malloc(n + 1);
		const struct payload_row *p = row;

		if (n == p->bytes && copy) {
			memcpy(copy, tail, n);
			copy[n] = '\0';
			model_payload_decode(m, model_process_at(m, c->head.process), p, copy, put_payload_field, o);
		}
		free(copy);
		return;
	}
	if (!raw && (c->record->id == ROW_stack || c->record->id == ROW_image || c->record->id == ROW_code)) {
		put_bytes(o, c->record->id, tail, n);
		return;
	}
	out_lit(o, " text=");
	json_string_n(o, tail, n);
}

static void dump_rows(struct out *o, struct model *m, const struct chunk *c, const char *rows, const char *tails,
		      size_t left)
{
	const struct record *r = c->record;

	for (uint32_t row = 0; row < c->head.rows && !o->failed; row++, rows += r->size) {
		size_t n = r->len_field < 0 ? 0 : (size_t)field_load(&r->fields[r->len_field], rows);

		out_text(o, r->name);
		out_lit(o, " process=");
		out_u64(o, c->head.process);
		for (unsigned i = 0; i < r->n_fields; i++)
			put_field(o, m, c, i, rows);
		if (r->len_field >= 0) {
			n = n < left ? n : left;
			put_tail(o, m, c, rows, tails, n);
			tails += n;
			left -= n;
		}
		out_char(o, '\n');
	}
}

/* 0, or -1: out of memory.  A damaged chunk is skipped; input_say_damage() names it later. */
static int dump_chunk(struct out *o, struct model *m, struct chunk *c)
{
	struct trace *t = model_trace(m);
	char *rows = malloc((size_t)c->head.rows * c->record->size + 1);
	struct buf tails = { 0 };

	if (!rows)
		return -1;
	if (trace_rows(t, c, rows) == 0 && (c->record->len_field < 0 || trace_tails(t, c, &tails) == 0))
		dump_rows(o, m, c, rows, tails.data ? (char *)tails.data : "", tails.len);
	buf_free(&tails);
	free(rows);
	return 0;
}

static int dump(struct model *m)
{
	struct trace *t = model_trace(m);
	struct out out;
	int rc = out_init(&out, stdout);

	out.most = input_most_written(m);
	for (size_t i = 0; i < t->n_chunks && rc == 0 && !out.failed; i++) {
		struct chunk *c = &t->chunks[i];

		if (c->record && !c->bad && wanted[c->head.kind] &&
		    (process == UINT64_MAX || process == c->head.process))
			rc = dump_chunk(&out, m, c);
	}
	if (rc < 0)
		fail("out of memory");
	out_finish(&out);       /* a failed write sets stdout's error state, which main() reports */
	if (out.full)
		rc = input_say_too_much(m, "standard output");
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	struct model *m;
	int rc;

	if (choose_kinds(kinds) < 0)
		return EXIT_USAGE;
	rc = input_select(&in, argc, argv);
	if (rc)
		return rc;
	m = input_open(&in);
	if (!m)
		return EXIT_FAILED;
	if (uncorrected) {
		struct trace *t = model_trace(m);

		clock_map_release(&t->clock);
		clock_map_init(&t->clock, NULL, 0);
	}
	rc = dump(m);
	input_say_damage(m);
	model_close(m);
	free(kinds);
	return rc;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.args = "[TRACE]",
	.help = "Print every row as text: its kind, then field=value",
	.more = "Times are ns since 1970, corrected for clock adjustments.\ndocs/reference/trace-format.md explains kinds and fields.",
	.opts = opts,
	.run = run,
};
