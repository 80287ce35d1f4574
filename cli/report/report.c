/* The table of all reports. */
#include "cli/report/all.h"
#include "cli/report/parts/choice.h"

/* In order; a row without a report is the heading of the rows after it. */
static const struct {
	const char *heading;
	const struct report *report;
} lines[] = {
#define GROUP(heading) { heading, NULL },
#define REPORT(name) { NULL, &report_##name },
#include "cli/report/reports.def"
};

const struct report *const reports[] = {
#define GROUP(heading)
#define REPORT(name) &report_##name,
#include "cli/report/reports.def"
};

const size_t n_reports = sizeof reports / sizeof *reports;

const char *report_group(size_t i)
{
	const char *heading = NULL;

	for (size_t line = 0, seen = 0; seen <= i; line++) {
		seen += lines[line].report != NULL;
		if (lines[line].heading)
			heading = lines[line].heading;
	}
	return heading;
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (n && strncmp(p, word, n) == 0 && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* Report names of the previous release, accepted for one more release.  None of these reports has variants. */
static const struct {
	const char *old, *name;
} aliases[] = {
	{ "cuda_gpu_kern_occupancy", "occupancy" }, { "cuda_mem_usage", "cuda_memory" },
};

static const char *name_today(const char *name)
{
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcmp(name, aliases[i].old) == 0)
			return aliases[i].name;
	return name;
}

const struct report *report_find(const char *given, const char **variant)
{
	const char *name = name_today(given);
	size_t n = strcspn(name, ":");

	*variant = name[n] ? name + n + 1 : NULL;
	for (size_t i = 0; i < n_reports; i++)
		if (strncmp(reports[i]->name, name, n) == 0 && !reports[i]->name[n] &&
		    (!*variant || !reports[i]->variants || *reports[i]->variants != *ANY_VARIANT))
			return *variant && !has_word(reports[i]->variants, *variant) ? NULL : reports[i];
	for (size_t i = 0; i < n_reports; i++) {
		n = strlen(reports[i]->name);
		if (!reports[i]->variants || *reports[i]->variants != *ANY_VARIANT || strncmp(reports[i]->name, name, n) != 0 ||
		    !name[n] || !strchr(":._", name[n]))
			continue;
		if (reports[i]->takes && !reports[i]->takes(name + n + 1))
			continue;       /* the name of another report may start with this one */
		*variant = name + n + 1;
		return reports[i];
	}
	return NULL;
}

int report_run(const struct report *r, struct model *m, struct table *t, const char *variant,
	       const struct report_choice *choice)
{
	struct report_choice all = { 0 };
	int rc;

	if (choice)
		all = *choice;
	all.variant = variant;
	rc = r->run_chosen ? r->run_chosen(m, t, &all) : r->run(m, t, variant);
	if (rc == 0 && t->n_rows && t->tables->format == TABLE_TEXT && r->share && *r->share)
		table_note(t, "%s", r->share);
	return rc;
}
