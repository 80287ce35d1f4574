/*
 * gen-format PAGE: prints PAGE (docs/reference/trace-format.md) with its tables made anew from records.def, health.def and
 * wire.h.  What stands between the two marks is replaced, the rest is kept.  `make docs` runs it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "trace/health.h"
#include "trace/records.h"
#include "trace/wire.h"

#define BEGIN_MARK "<!-- tables: made by `make docs`, do not edit -->\n"
#define END_MARK   "<!-- end of tables -->\n"

static const char *const codecs[] = { [CODEC_PLAIN] = "plain", [CODEC_DELTA] = "delta", [CODEC_SIGNED] = "signed" };

static const char *const units[N_UNITS] = {
	[UNIT_NONE] = "", [UNIT_HEX] = "bits", [UNIT_BYTES] = "bytes", [UNIT_TIME] = "time", [UNIT_SPAN] = "length",
	[UNIT_GTIME] = "GPU time", [UNIT_GSPAN] = "GPU length", [UNIT_LEN] = "tail", [UNIT_STRING] = "→ string",
	[UNIT_THREAD] = "→ thread", [UNIT_CONFIG] = "→ config", [UNIT_DEVICE] = "→ device", [UNIT_CONTEXT] = "→ context",
	[UNIT_STREAM] = "→ stream", [UNIT_DOMAIN] = "→ domain", [UNIT_RANGE] = "→ range", [UNIT_PROCESS] = "→ process",
};

/* Text inside a table or a line of Markdown. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_records(FILE *out)
{
	for (size_t i = 0; i < n_records; i++) {
		const struct record *r = &records[i];

		fprintf(out, "### %u %s\n\n", r->id, r->name);
		put_text(out, r->doc);
		fputs("\n\n| column | field | type | codec | unit | meaning |\n|--:|---|---|---|---|---|\n", out);
		for (unsigned f = 0; f < r->n_fields; f++) {
			const struct field *field = &r->fields[f];

			fprintf(out, "| %u | %s | %s%u | %s | %s | ", f, field->name, field->is_signed ? "i" : "u", field->size * 8u,
				codecs[field->codec], units[field->unit]);
			put_text(out, field->doc);
			fputs(" |\n", out);
		}
		fputc('\n', out);
	}
}

static void put_reasons(FILE *out)
{
	fputs("### Reasons of health rows\n\n| reason | name | what happened | what to do |\n|--:|---|---|---|\n", out);
#define REASON(id, name, what, next)                    \
	fprintf(out, "| %d | %s | ", id, #name);        \
	put_text(out, what);                            \
	fputs(" | ", out);                              \
	put_text(out, next);                            \
	fputs(" |\n", out);
#include "trace/health.def"
#undef REASON
	fputc('\n', out);
}

static void put_places(FILE *out)
{
	fputs("### Places of cost rows\n\n| place | name | meaning |\n|--:|---|---|\n", out);
#define X(name, text)                                           \
	fprintf(out, "| %d | %s | ", COST_##name, #name);       \
	put_text(out, text);                                    \
	fputs(" |\n", out);
	COST_PLACES(X)
#undef X
	fputc('\n', out);
}

/* 0, or -1: the page has not both marks once. */
static int make_page(FILE *page, FILE *out)
{
	char line[4096];
	bool inside = false;
	int tables = 0;

	while (fgets(line, sizeof line, page)) {
		if (strcmp(line, END_MARK) == 0)
			inside = false;
		if (!inside)
			fputs(line, out);
		if (strcmp(line, BEGIN_MARK) == 0) {
			fputc('\n', out);
			put_records(out);
			put_reasons(out);
			put_places(out);
			inside = true;
			tables++;
		}
	}
	return !inside && tables == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	FILE *page = argc == 2 ? fopen(argv[1], "r") : NULL;
	int rc;

	if (!page) {
		fprintf(stderr, "usage: gen-format docs/reference/trace-format.md\n");
		return 2;
	}
	rc = make_page(page, stdout);
	fclose(page);
	if (rc < 0)
		fprintf(stderr, "gen-format: '%s' lacks its marks\n", argv[1]);
	return rc < 0;
}
