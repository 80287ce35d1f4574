#include "cli/report/parts/origin.h"

#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/torch/torch.h"

#include <string.h>

const char *imported_from(struct model *m)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	if (!model_imported(m))
		return NULL;
	if (strcmp(process_attribute(&p[1], "imported"), "nsys") == 0)
		return "nsys (SQLite export)";
	if (model_has_torch(m))
		return "Kineto JSON (torch.profiler)";
	return model_rows(m, ROW_kernel) || model_rows(m, ROW_api) ? "Kineto JSON" : "a Chrome trace";
}
