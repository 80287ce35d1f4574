/* nvtx_resources: names that the program gave to devices, streams and other handles through NVTX. */
#include "cli/model/model.h"
#include "cli/model/nvtx/resources.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"

static const struct heading columns[] = {
	{ "start_ns", 0 }, { "pid", COLUMN_ID }, { "id", COLUMN_ID }, { "type", COLUMN_TEXT }, { "handle", COLUMN_TEXT },
	{ "domain", COLUMN_TEXT }, { "name", COLUMN_TEXT },
};

static int run(struct model *m, struct table *t, const char *variant)
{
	const int64_t *start = MODEL_I64(m, resource, start);
	const uint64_t *handle = MODEL_U64(m, resource, handle);
	const uint32_t *type = MODEL_U32(m, resource, type), *object = MODEL_U32(m, resource, object),
		       *name = MODEL_U32(m, resource, name);
	const uint32_t *domain = MODEL_U32(m, resource, domain), *flags = MODEL_U32(m, resource, flags);
	const uint32_t *process = model_row_process(m, ROW_resource);
	uint32_t n, unmapped = 0;
	const struct process *p = model_processes(m, &n);

	(void)variant;
	if (!start || !handle || !type || !object || !name || !domain || !flags || !process)
		return -1;
	for (size_t i = 0; i < model_rows(m, ROW_resource); i++) {
		const char *words = resource_words(type[i]);

		if (flags[i] & RESOURCE_GONE)
			continue;
		unmapped += !(flags[i] & RESOURCE_KNOWN) && resource_class(type[i]) != RESOURCE_OTHER;
		table_row(t, (const struct cell[]){
			NUMBER(time_sub(start[i], model_start(m))), NUMBER(p[process[i]].pid),
			flags[i] & RESOURCE_KNOWN ? NUMBER(object[i]) : UNKNOWN,
			TEXT(words ? words : table_keep(t, "type 0x%x", type[i])),
			TEXT(table_keep(t, "0x%llx", (unsigned long long)handle[i])),
			TEXT(model_string(m, model_domain(m, process[i], domain[i]))), TEXT(model_string(m, name[i])) });
	}
	if (unmapped)
		table_note(t,
			   "streams and contexts with an unknown id (CUPTI was not active in the thread): %u",
			   unmapped);
	if (!t->n_rows)
		table_note(t, "the program named no devices, streams or other handles through NVTX");
	return 0;
}

const struct report report_nvtx_resources = {
	.name = "nvtx_resources",
	.title = "NVTX Resource Names",
	.help = "Which names did the program give its devices, streams and other handles?",
	.needs = NEED_RESOURCES,
	COLUMNS(columns),
	.run = run,
};
