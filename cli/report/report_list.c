#include "cli/report/report_list.h"

#include "cli/model/process.h"
#include "cli/report/parts/report.h"
#include "cli/ui/table_text.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "report", COLUMN_TEXT }, { "group", COLUMN_TEXT }, { "question", COLUMN_TEXT }, { "lacks", COLUMN_TEXT },
};

/* Which rows the trace lacks for the report, and how to record them.  NULL: none, or no trace.  Valid until the table ends. */
static const char *lack_of(struct table *t, struct model *m, const struct report *r)
{
	const char *option, *what = m ? report_lacks(r, m, &option) : NULL;

	if (m && r->traces > 1)
		return table_keep(t, "takes %u traces", r->traces);
	if (!what)
		return NULL;
	return option && !model_imported(m) ? table_keep(t, "no %s; gprof-run %s records them", what, option) :
	       table_keep(t, "no %s", what);
}

static size_t name_width(bool all)
{
	size_t width = 0;

	for (size_t i = 0; i < n_reports; i++)
		if ((all || !reports[i]->compat) && strlen(reports[i]->name) > width)
			width = strlen(reports[i]->name);
	return width;
}

static void list_one(struct tables *tables, const struct report *r, size_t width, const char *lack)
{
	struct out *o = tables->out;
	char line[128];

	out_format(o, "  %-*s  ", (int)width, r->name);
	text_paragraph(o, r->help, width + 4, width + 4, tables->width);
	if (!lack)
		return;
	snprintf(line, sizeof line, "(%s)", lack);
	out_format(o, "  %-*s  ", (int)width, "");
	text_paragraph(o, line, width + 4, width + 4, tables->width);
}

static void put_group(struct out *o, const char *group, bool first)
{
	if (!first)
		out_char(o, '\n');
	out_style(o, STYLE_BOLD);
	out_text(o, group);
	out_style(o, STYLE_PLAIN);
	out_char(o, '\n');
}

int report_list(struct tables *tables, struct model *m, bool all)
{
	bool text = tables->format == TABLE_TEXT;
	size_t width = name_width(all);
	struct table t;

	if (table_begin(&t, tables, "reports", "Reports", columns, sizeof columns / sizeof *columns) < 0)
		return -1;
	for (size_t i = 0; i < n_reports; i++) {
		const char *group = report_group(i), *lack = lack_of(&t, m, reports[i]);

		if (reports[i]->compat && !all)
			continue;
		if (!text) {
			table_row(&t, (const struct cell[]){ TEXT(reports[i]->name), TEXT(group), TEXT(reports[i]->help),
				  lack ? TEXT(lack) : UNKNOWN });
			continue;
		}
		if (!i || group != report_group(i - 1))
			put_group(tables->out, group, i == 0);
		list_one(tables, reports[i], width, lack);
	}
	if (!text)
		return table_end(&t);
	if (!all)
		out_lit(tables->out, "\n--all also lists the reports that count exactly as HTA does (hta_*).\n");
	table_drop(&t);
	return 0;
}
