#include "cli/ui/table.h"

#include "cli/ui/cells.h"
#include "cli/ui/fail.h"
#include "cli/ui/table_text.h"
#include "trace/grow.h"

#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

/* ---- CSV and JSON ---- */

static void csv_text(struct out *o, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		out_text(o, text);
		return;
	}
	out_char(o, '"');
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\"");
		n += text[n] == '"';
		out_bytes(o, text, n);
		if (text[n - 1] == '"')
			out_char(o, '"');
	}
	out_char(o, '"');
}

static void csv_head(struct table *t)
{
	if (t->tables->printed)
		out_char(t->tables->out, '\n');
	for (size_t i = 0; i < t->n_columns; i++) {
		if (i)
			out_char(t->tables->out, ',');
		csv_text(t->tables->out, t->columns[i].name);
	}
	out_char(t->tables->out, '\n');
}

#define NUMBERS_ROOM 1024u      /* bytes of a row of numbers with commas */

static void csv_row(struct table *t, const struct cell *cells)
{
	struct out *o = t->tables->out;
	char *p = out_room(o, NUMBERS_ROOM);

	for (size_t i = 0; i < t->n_columns; i++) {
		if (i)
			*p++ = ',';
		if (cells[i].kind == CELL_NUMBER) {
			p = digits_fixed(p, cells[i].number, cells[i].decimals);
		} else if (cells[i].kind == CELL_TEXT) {
			o->len = (size_t)(p - o->data);
			csv_text(o, cells[i].text);
			p = out_room(o, NUMBERS_ROOM);
		}
	}
	*p++ = '\n';
	o->len = (size_t)(p - o->data);
}

static void json_head(struct table *t)
{
	struct out *o = t->tables->out;

	if (t->tables->several) {
		out_text(o, t->tables->printed ? ",\n" : "\n");
		json_string(o, t->name);
		out_lit(o, ": ");
	}
	if (t->value)
		out_text(o, t->value);
	else
		out_char(o, '[');
}

static void json_row(struct table *t, const struct cell *cells)
{
	struct out *o = t->tables->out;

	if (t->value)
		return;
	out_text(o, t->printed_rows ? ",\n {" : "\n {");
	for (size_t i = 0; i < t->n_columns; i++) {
		if (i)
			out_lit(o, ", ");
		json_string(o, t->columns[i].name);
		out_lit(o, ": ");
		if (cells[i].kind == CELL_TEXT)
			json_string(o, cells[i].text);
		else if (cells[i].kind == CELL_NUMBER)
			out_fixed(o, cells[i].number, cells[i].decimals);
		else
			out_lit(o, "null");
	}
	out_char(o, '}');
}

static void print_head(struct table *t)
{
	switch (t->tables->format) {
	case TABLE_TEXT:
		table_text_head(t);
		break;
	case TABLE_CSV:
		csv_head(t);
		break;
	case TABLE_JSON:
		json_head(t);
	}
}

static void print_row(struct table *t, const struct cell *cells)
{
	if ((t->tables->limit && t->printed_rows >= t->tables->limit) || t->tables->out->failed)
		return;
	switch (t->tables->format) {
	case TABLE_TEXT:
		table_text_row(t, cells);
		break;
	case TABLE_CSV:
		csv_row(t, cells);
		break;
	case TABLE_JSON:
		json_row(t, cells);
	}
	t->printed_rows++;
}

/* ---- rows ---- */

/* Whether key is the column's name, in any case, with or without unit: "total time" for "Total Time (ns)", "wall" for "wall_ns". */
static bool column_is(const char *name, const char *key, size_t n)
{
	const char *unit = strstr(name, " (");
	char head[CELL_ROOM];

	heading_text(head, name);
	return (strncasecmp(name, key, n) == 0 && (!name[n] || name + n == unit)) ||
	       (strncasecmp(head, key, n) == 0 && !head[n]);
}

static void say_columns(const struct table *t)
{
	char line[1024] = "it has";
	size_t n = strlen(line);

	for (size_t i = 0; i < t->n_columns && n < sizeof line; i++)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s '%s'", i ? "," : "", t->columns[i].name);
	hint("%s", line);
}

static int find_sort(struct table *t)
{
	const char *key = t->tables->sort, *colon;
	size_t n;

	t->sort = -1;
	if (!key)
		return 0;
	colon = strrchr(key, ':');
	n = colon && (!strcmp(colon, ":asc") || !strcmp(colon, ":desc")) ? (size_t)(colon - key) : strlen(key);
	for (size_t i = 0; i < t->n_columns && t->sort < 0; i++)
		if (column_is(t->columns[i].name, key, n))
			t->sort = (int)i;
	if (t->sort < 0) {
		fail("report %s has no column '%.*s' to sort by", t->name, (int)n, key);
		say_columns(t);
		return -1;
	}
	t->descending = key[n] ? key[n + 1] == 'd' : !(t->columns[t->sort].flags & COLUMN_TEXT);
	return 0;
}

int table_begin(struct table *t, struct tables *tables, const char *name, const char *title,
		const struct heading *columns, size_t n_columns)
{
	*t = (struct table){
		.tables = tables, .name = name, .title = title, .columns = columns, .n_columns = n_columns
	};
	for (t->n_shown = 0; t->n_shown < n_columns && !(columns[t->n_shown].flags & COLUMN_BELOW); t->n_shown++)
		;
	return find_sort(t);
}

void table_row(struct table *t, const struct cell *cells)
{
	t->n_rows++;
	if (t->sort < 0 && !t->streaming && (t->tables->format != TABLE_TEXT || t->kept == ROWS_FOR_WIDTHS)) {
		print_head(t);
		for (size_t i = 0; i < t->kept; i++)
			print_row(t, t->cells + i * t->n_columns);
		t->streaming = true;
	}
	if (t->streaming) {
		print_row(t, cells);
		return;
	}
	if (!grow_array(&t->cells, t->kept + 1, &t->cap, t->n_columns * sizeof *t->cells)) {
		t->failed = true;
		return;
	}
	memcpy(t->cells + t->kept++ * t->n_columns, cells, t->n_columns * sizeof *cells);
}

static char *vkeep(const char *fmt, va_list args, size_t before)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	text = malloc(before + (size_t)n + 1);
	if (text)
		vsnprintf(text + before, (size_t)n + 1, fmt, args);
	return text;
}

const char *table_keep(struct table *t, const char *fmt, ...)
{
	struct kept *k;
	va_list args;

	va_start(args, fmt);
	k = (struct kept *)vkeep(fmt, args, sizeof *k);
	va_end(args);
	if (!k) {
		t->failed = true;
		return "";
	}
	k->next = t->texts;
	t->texts = k;
	return (char *)(k + 1);
}

void table_note(struct table *t, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = vkeep(fmt, args, 0);
	va_end(args);
	if (!text || !GROW(t->notes, t->n_notes + 1, t->cap_notes)) {
		free(text);
		t->failed = true;
		return;
	}
	t->notes[t->n_notes++] = text;
}

void table_define(struct table *t, const char *lines)
{
	t->definitions = lines;
}

/* Unknown values come last in both directions; equal values keep their order. */
static int by_cell(const void *a, const void *b, void *arg)
{
	const struct table *t = arg;
	const struct cell *rows[2] = {
		t->cells + *(const size_t *)a * t->n_columns + t->sort,
		t->cells + *(const size_t *)b * t->n_columns + t->sort,
	};
	int c;

	if (rows[0]->kind == CELL_UNKNOWN || rows[1]->kind == CELL_UNKNOWN)
		c = (rows[0]->kind == CELL_UNKNOWN) - (rows[1]->kind == CELL_UNKNOWN);
	else if (rows[0]->kind == CELL_TEXT)
		c = (t->descending ? -1 : 1) * strcmp(rows[0]->text, rows[1]->text);
	else
		c = (t->descending ? -1 : 1) *
		    ((rows[0]->number > rows[1]->number) - (rows[0]->number < rows[1]->number));
	return c ? c : *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

static void print_kept(struct table *t)
{
	size_t *order = malloc((t->kept + 1) * sizeof *order);

	if (!order) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < t->kept; i++)
		order[i] = i;
	if (t->sort >= 0)
		qsort_r(order, t->kept, sizeof *order, by_cell, t);
	/* Only printed rows decide the column widths. */
	if (t->tables->limit && t->kept > t->tables->limit && t->sort < 0)
		t->kept = t->tables->limit;
	print_head(t);
	for (size_t i = 0; i < t->kept; i++)
		print_row(t, t->cells + order[i] * t->n_columns);
	free(order);
}

static void print_notes(struct table *t)
{
	for (size_t i = 0; i < t->n_notes; i++) {
		if (t->tables->format != TABLE_TEXT) {
			if (!t->tables->quiet)
				note("%s: %s", t->name, t->notes[i]);
			continue;
		}
		table_text_note(t, t->notes[i], i == 0 && t->n_rows);
	}
}

static void note_definitions(struct table *t)
{
	size_t n;

	for (const char *line = t->definitions; line && *line && t->n_rows; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		if (table_text_defines(t, line, n))
			table_note(t, "%.*s", (int)n, line);
	}
}

void table_value(struct table *t, char *json)
{
	t->failed |= !json;
	t->value = json;
}

void table_drop(struct table *t)
{
	free(t->value);
	free(t->cells);
	for (size_t i = 0; i < t->n_notes; i++)
		free(t->notes[i]);
	free(t->notes);
	while (t->texts) {
		struct kept *next = t->texts->next;

		free(t->texts);
		t->texts = next;
	}
}

int table_end(struct table *t)
{
	uint64_t limit = t->tables->limit;
	char *hidden;

	if (!t->streaming)
		print_kept(t);
	if (t->tables->format == TABLE_JSON && !t->value)
		out_text(t->tables->out, t->printed_rows ? "\n]" : "]");
	if (t->tables->format == TABLE_TEXT)
		note_definitions(t);
	if (limit && t->n_rows > limit && t->tables->format == TABLE_TEXT)
		table_note(t, "rows not shown: %zu; --limit 0 shows all", t->n_rows - (size_t)limit);
	if (t->folded && !t->tables->brief)
		table_note(t, "long names are shortened; --full-names shows them whole");
	hidden = t->tables->format == TABLE_TEXT && t->n_rows && !t->tables->brief ? table_text_hidden(t) : NULL;
	if (hidden)
		table_note(t, "columns not shown: %s; --wide shows them", hidden);
	free(hidden);
	print_notes(t);
	t->tables->printed++;
	table_drop(t);
	return t->failed ? fail("out of memory") : 0;
}

void tables_begin(struct tables *t)
{
	if (t->format == TABLE_JSON && t->several)
		out_char(t->out, '{');
}

void tables_end(struct tables *t)
{
	if (t->format == TABLE_JSON)
		out_text(t->out, t->several ? "\n}\n" : "\n");
}
