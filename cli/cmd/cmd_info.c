/* gprof-trace info: time, host, command, settings and contents of a trace. */
#include "cli/input/input.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/steps/steps.h"
#include "cli/report/all.h"
#include "cli/report/parts/why.h"
#include "cli/report/session/ends.h"
#include "cli/report/steps/steps_how.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "trace/reader.h"

#include <limits.h>
#include <time.h>

static bool attributes;

static const struct opt opts[] = {
	{ 'a', "attributes", NULL, opt_flag, &attributes,
	  "also print the attributes of each process: command line, environment, versions", NULL, 0 },
	INPUT_OPTIONS,
	SCREEN_OPTIONS,
	{ 0 },
};

static void put_line(struct out *o, const char *what, const char *text)
{
	out_lit(o, "  ");
	out_style(o, STYLE_BOLD);
	out_text(o, what);
	out_style(o, STYLE_PLAIN);
	out_format(o, "%*s", 11 - (int)strlen(what), "");
	out_visible(o, text, SIZE_MAX);
	out_char(o, '\n');
}

static void put_attribute(struct out *o, const struct model *m, const char *key, const char *what)
{
	const char *value = model_attribute(m, key);

	if (value && *value)
		put_line(o, what, value);
}

/* "12.345 s" */
static void seconds(char *text, size_t size, int64_t ns)
{
	char digits[32];

	*digits_fixed(digits, (ns + 500000) / 1000000, 3) = '\0';
	snprintf(text, size, "%s s", digits);
}

static void put_times(struct out *o, const struct model *m)
{
	time_t start = (time_t)(model_start(m) / 1000000000);
	char text[128], lasted[48], when[64];
	struct tm tm;

	seconds(lasted, sizeof lasted, model_end(m) - model_start(m));
	localtime_r(&start, &tm);
	strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", &tm);
	snprintf(text, sizeof text, "%s, %s", when, lasted);
	put_line(o, "started", text);
}

/* The description of a setting from trace/config.def; "" if this version does not have it. */
static const char *setting_doc(const char *name)
{
#define SETTING(type, setting, value, doc) \
	if (strcmp(name, #setting) == 0)   \
		return doc;
#include "trace/config.def"
#undef SETTING
	return "";
}

static void put_settings(struct out *o, const struct process *session)
{
	for (size_t i = 0; i < session->n_attributes; i++) {
		const struct attribute *a = &session->attributes[i];
		const char *doc;
		char text[512];

		if (strncmp(a->key, "setting.", 8) != 0)
			continue;
		doc = setting_doc(a->key + 8);
		snprintf(text, sizeof text, "%s = %s%s%s%s", a->key + 8, a->value, *doc ? " (" : "", doc, *doc ? ")" : "");
		put_line(o, "setting", text);
	}
}

static void put_transport(struct out *o, struct model *m)
{
	char text[400];

	if (why_pipe(m, text, sizeof text))
		put_line(o, "transport", text);
	if (why_refused(m, text, sizeof text))
		put_line(o, "refused", text);
}

static void put_file(struct out *o, const struct model *m)
{
	const struct trace *t = model_trace(m);
	char text[512], size[32];
	const char *os = model_attribute(m, "os"), *kernel = model_attribute(m, "kernel"),
		   *cpu = model_attribute(m, "cpu");
	const char *cpus = model_attribute(m, "cpus");

	text_bytes(size, t->size);
	snprintf(text, sizeof text, "%s, format %u, %s", size, t->header.version,
		 t->finished ? "finished" : "not finished (still being written, or cut off)");
	out_style(o, STYLE_BOLD);
	out_visible(o, t->path, SIZE_MAX);
	out_style(o, STYLE_PLAIN);
	out_char(o, '\n');
	put_line(o, "file", text);
	put_times(o, m);
	put_attribute(o, m, "command", "command");
	put_attribute(o, m, "options", "options");
	put_attribute(o, m, "cwd", "folder");
	snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s%s", t->header.host, os ? ", " : "", os ? os : "",
		 kernel ? ", " : "", kernel ? kernel : "", cpu ? ", " : "", cpu ? cpu : "", cpus ? " x " : "",
		 cpus ? cpus : "");
	if (*text)
		put_line(o, "host", text);
	put_attribute(o, m, "clock", "clock");
	put_attribute(o, m, "collector.version", "version");
	put_attribute(o, m, "not_recorded", "left out");
	put_attribute(o, m, "moved_from", "asked for");
}

static const struct heading columns[] = {
	{ "kind", COLUMN_TEXT }, { "rows", 0 },   { "bytes", 0 },
	{ "bytes_per_row", COLUMN_RARE }, { "chunks", COLUMN_RARE }, { "doc", COLUMN_TEXT | COLUMN_PLAIN },
};

static int put_ends(struct out *o, struct model *m)
{
	char text[512];
	int rc = ends_text(m, text, sizeof text);

	if (rc == 0 && *text)
		put_line(o, "ended", text);
	return rc < 0 ? fail("out of memory") : 0;
}

static void put_kind(struct table *table, const struct trace *t, const struct record *r)
{
	uint64_t rows = 0, bytes = 0, chunks = 0;

	for (size_t i = 0; i < t->n_chunks; i++) {
		const struct chunk_header *h = &t->chunks[i].head;

		if (h->kind != r->id || !t->chunks[i].record || t->chunks[i].bad)
			continue;
		rows += h->rows;
		bytes += sizeof *h + h->stored;
		chunks++;
	}
	if (rows)
		table_row(table, (const struct cell[]){ TEXT(r->name), NUMBER(rows), NUMBER(bytes),
							FIXED((int64_t)((bytes * 10 + rows / 2) / rows), 1),
							NUMBER(chunks), TEXT(r->doc) });
}

static int put_kinds(struct tables *tables, const struct model *m)
{
	struct table table;

	if (table_begin(&table, tables, "rows", "Rows in the File", columns, sizeof columns / sizeof *columns) < 0)
		return -1;
	for (size_t i = 0; i < n_records; i++)
		put_kind(&table, model_trace(m), &records[i]);
	return table_end(&table);
}

static int put_report(struct tables *tables, struct model *m, const struct report *r)
{
	struct table table;
	int rc;

	if (table_begin(&table, tables, r->name, r->title, r->columns, r->n_columns) < 0)
		return -1;
	rc = r->run(m, &table, NULL);
	if (rc < 0)
		fail("out of memory");
	return table_end(&table) < 0 ? -1 : rc;
}

/* The source files whose text is in the trace, for privacy: everyone who has the trace can read them. */
static int put_sources(struct tables *tables, struct model *m)
{
	static const struct heading of_sources[] = { { "file", COLUMN_TEXT }, { "bytes", 0 }, { "note", COLUMN_TEXT } };
	const uint32_t *name = MODEL_U32(m, source, name), *flags = MODEL_U32(m, source, flags), *bytes = MODEL_U32(m, source, bytes);
	struct table table;

	if (!name || !flags || !bytes ||
	    table_begin(&table, tables, "sources", "Source Files in the Trace", of_sources, sizeof of_sources / sizeof *of_sources) < 0)
		return -1;
	for (size_t i = 0; i < model_rows(m, ROW_source); i++)
		table_row(&table, (const struct cell[]){
			TEXT(model_string(m, name[i])), NUMBER(bytes[i]),
			TEXT(flags[i] & SOURCE_CUT ? "cut" : flags[i] & SOURCE_CHANGED ? "changed while the program ran" : "") });
	return table_end(&table);
}

/* The number of steps, and how they were found. */
static void put_steps(struct out *o, struct model *m)
{
	const struct steps *s = model_steps_cheaply(m);
	char count[300], how[400], text[720];

	if (!s) {
		put_line(o, "steps", "not searched, because the trace has many calls; see gprof-trace report -r steps");
		return;
	}
	steps_how(m, s, how, sizeof how);
	snprintf(text, sizeof text, "%s%s%s", s->n ? steps_count(m, s, count, sizeof count) : "", s->n ? "; " : "",
		 how);
	put_line(o, "steps", text);
}

static void put_attributes(struct out *o, const struct model *m)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	for (uint32_t i = 0; i < n; i++) {
		for (size_t a = 0; a < p[i].n_attributes; a++) {
			out_format(o, "%sprocess %u: ", a ? "" : i ? "\n" : "", p[i].number);
			out_text(o, p[i].attributes[a].key);
			out_lit(o, " = ");
			json_string(o, p[i].attributes[a].value);
			out_char(o, '\n');
		}
	}
}

static int info(struct model *m)
{
	struct out out;
	struct tables tables = { .out = &out, .format = TABLE_TEXT, .width = screen_width(stdout), .brief = true, .printed = 1 };
	uint32_t n;
	int rc = 0;

	if (out_init(&out, stdout) < 0)
		return fail("out of memory");
	if (attributes) {
		put_attributes(&out, m);
	} else {
		put_file(&out, m);
		put_transport(&out, m);
		put_settings(&out, model_processes(m, &n));
		put_steps(&out, m);
		rc = put_ends(&out, m);
		if (rc == 0)
			rc = put_kinds(&tables, m);
		if (rc == 0)
			rc = put_report(&tables, m, &report_processes);
		if (rc == 0 && model_rows(m, ROW_window))
			rc = put_report(&tables, m, &report_windows);
		if (rc == 0 && model_rows(m, ROW_source))
			rc = put_sources(&tables, m);
	}
	out_finish(&out);
	return rc;
}

static int run(int argc, char **argv)
{
	struct input in = { 0 };
	struct model *m;
	int rc = input_select(&in, argc, argv);

	if (rc)
		return rc;
	m = input_open(&in);
	if (!m)
		return EXIT_FAILED;
	rc = info(m);
	input_say_damage(m);
	model_close(m);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_info = {
	.name = "info",
	.args = "[TRACE]",
	.help = "Describe a trace: time, host, command, processes, kinds of rows",
	.opts = opts,
	.run = run,
};
