#include "cli/report/session/lost.h"

#include "cli/model/join.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>
#include <string.h>

#define NO_RETURN 1u            /* api.flags */

struct lost_launches {
	struct model *m;
	const uint32_t *name, *process, *flags;
	const int32_t *result;
	uint8_t *has;                   /* by API row: 1 if a kernel or a graph node has its correlation id */
	struct map kinds;               /* string id of a function -> whether it launches kernels */
};

/* False with a setting that drops kernels on purpose (the trace has an attribute per setting in use), or without an end of the session. */
static bool can_know(struct model *m)
{
	static const char *const settings[] = {
		"setting.delay_ms", "setting.duration_ms", "setting.whole_graphs", "setting.start_later", "setting.capture_range",
		"setting.schedule",
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (model_attribute(m, settings[i]))
			return false;
	return model_attribute(m, "end") != NULL;       /* the session has ended */
}

static bool is_launch(struct lost_launches *l, uint32_t name)
{
	static const char *const starts[] = { "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchCooperativeKernel" };
	uint32_t known = map_get(&l->kinds, name);
	const char *text;

	if (known != MAP_NONE)
		return known;
	text = model_string(l->m, name);
	text += strncmp(text, "__", 2) == 0 ? 2 : 0;
	known = 0;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		known |= strncmp(text, starts[i], strlen(starts[i])) == 0;
	map_set(&l->kinds, name, known);
	return known;
}

static int see(struct lost_launches *l, unsigned kind, unsigned field)
{
	const uint32_t *corr = model_column(l->m, kind, field), *process = model_row_process(l->m, kind);

	for (size_t i = 0; corr && process && i < model_rows(l->m, kind); i++) {
		size_t call = model_api_of(l->m, process[i], corr[i]);

		if (call != NO_ROW)
			l->has[call] = 1;
	}
	return corr && process ? 0 : -1;
}

uint64_t *lost_launches(struct model *m)
{
	struct lost_launches l = { .m = m };
	uint32_t n_processes;
	uint64_t *lost;

	model_processes(m, &n_processes);
	lost = calloc(n_processes + 1, sizeof *lost);
	if (!lost || !can_know(m))
		return lost;
	l.has = calloc(model_rows(m, ROW_api) + 1, 1);
	if (!l.has || model_join(m) < 0 || !(l.name = MODEL_U32(m, api, name)) || !(l.result = MODEL_I32(m, api, result)) ||
	    !(l.flags = MODEL_U32(m, api, flags)) || !(l.process = model_row_process(m, ROW_api)) ||
	    see(&l, ROW_kernel, COL_kernel_corr) < 0 || see(&l, ROW_graph_node, COL_graph_node_corr) < 0) {
		free(lost);
		lost = NULL;
	}
	for (size_t i = 0; lost && i < model_rows(m, ROW_api); i++)
		if (!l.has[i] && !l.result[i] && !(l.flags[i] & NO_RETURN) && is_launch(&l, l.name[i]))
			lost[l.process[i]]++;
	map_release(&l.kinds);
	free(l.has);
	return lost;
}
