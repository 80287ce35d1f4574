/*
 * Restricts a model to some steps, one window, some processes.  Unselected rows are left out where chunks are decoded, so other files need
 * not know of the selection.  GPU rows that ran in a step but were launched before it are unselected; model_scan_all() includes them.
 */
#include "cli/model/steps/steps_inside.h"

#include "cli/model/join.h"
#include "cli/model/torch/torch.h"

/* Whether rows of a kind are events; definitions and facts about processes belong to no step. */
static bool happens(unsigned kind)
{
	switch (kind) {
	case ROW_step: case ROW_window:
	case ROW_stack: case ROW_image: case ROW_code: case ROW_symbol: case ROW_source: case ROW_range_stack: case ROW_modules: case ROW_op:
		return false;
	default:
		return kind >= ROW_range && kind < ROW_process;
	}
}

static bool step_wanted(const struct model *m, const struct steps *all, const struct step *step,
			const struct selection *s)
{
	uint32_t kind = all->kinds[step->kind].name;

	if (s->processes && !s->processes[step->process])
		return false;
	if (s->window && step->window != s->window && !(s->window == 1 && steps_recorded_whole(all, step->process)))
		return false;
	if (!s->steps)
		return true;
	if (s->kind && strcmp(model_string((struct model *)m, kind), s->kind) != 0)
		return false;
	return step->number >= s->first && step->number <= s->last;
}

/* Marks the selected steps and windows.  False: the selection is empty, and nothing is marked. */
static bool mark(struct model *m, struct steps *all, const struct selection *s)
{
	bool steps = !s->steps, windows = !s->window;

	for (size_t i = 0; i < all->n; i++)
		steps |= all->list[i].selected = step_wanted(m, all, &all->list[i], s);
	for (size_t i = 0; s->window && i < all->n_windows; i++)
		windows |= all->windows[i].selected =
			all->windows[i].number == s->window && (!s->processes || s->processes[all->windows[i].process]);
	for (uint32_t p = 1; s->window == 1 && p < m->n_processes; p++)
		windows |= steps_recorded_whole(all, p) && (!s->processes || s->processes[p]);
	if (steps && windows)
		return true;
	for (size_t i = 0; i < all->n; i++)
		all->list[i].selected = true;
	for (size_t i = 0; i < all->n_windows; i++)
		all->windows[i].selected = true;
	return false;
}

static int keep_steps(struct model *m, const struct steps *all, unsigned kind, uint8_t *keep)
{
	for (size_t k = 0; k < all->n_kinds; k++) {
		int32_t *of = model_row_steps(m, kind, k);

		if (!of)
			return -1;
		for (size_t i = 0, n = model_rows(m, kind); i < n; i++)
			keep[i] |= of[i] >= 0 && all->list[of[i]].selected;
		free(of);
	}
	return 0;
}

static int keep_window(struct model *m, const struct steps *all, unsigned kind, uint32_t number, uint8_t *keep)
{
	const uint32_t *process = model_row_process(m, kind);
	int32_t *of = model_row_windows(m, kind);
	bool *whole = calloc(m->n_processes, sizeof *whole);

	for (uint32_t p = 0; whole && p < m->n_processes; p++)
		whole[p] = number == 1 && steps_recorded_whole(all, p);
	for (size_t i = 0, n = model_rows(m, kind); process && of && whole && i < n; i++)
		keep[i] &= whole[process[i]] || (of[i] >= 0 && all->windows[of[i]].selected);
	free(of);
	free(whole);
	return process && of && whole ? 0 : -1;
}

/* Number of rows of a kind before those of a process. */
static size_t rows_before(const struct kind *k, uint32_t process)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n_parts && k->parts[i].process < process; i++)
		n = k->parts[i].first + k->parts[i].rows;
	return n;
}

/* The n-th imported row of a kind belongs to the n-th row of that kind in its process: keeps it if that row is kept. */
static int keep_imported(struct model *m, uint8_t *keep)
{
	const uint32_t *kind = MODEL_U32(m, imported, kind), *process = model_row_process(m, ROW_imported);
	size_t next[ROW_KINDS] = { 0 };

	if (!kind || !process)
		return -1;
	for (size_t i = 0, n = model_rows(m, ROW_imported); i < n; i++) {
		const struct kind *of = kind[i] < ROW_KINDS ? &m->kinds[kind[i]] : NULL;

		for (unsigned k = 0; k < ROW_KINDS && (!i || process[i] != process[i - 1]); k++)
			next[k] = rows_before(&m->kinds[k], process[i]);
		if (of && of->keep && next[kind[i]] < of->n_rows)
			keep[i] = of->keep[next[kind[i]]++];
	}
	return 0;
}

static int choose(struct model *m, const struct steps *all, const struct selection *s, unsigned kind)
{
	struct kind *k = &m->kinds[kind];

	if (kind_read(m, kind) < 0)
		return -1;
	k->keep = malloc(k->n_rows + 1);
	if (!k->keep)
		return -1;
	memset(k->keep, kind != ROW_imported && !s->steps, k->n_rows);
	if (kind == ROW_imported)
		return keep_imported(m, k->keep);
	if (s->steps && keep_steps(m, all, kind, k->keep) < 0)
		return -1;
	return s->window ? keep_window(m, all, kind, s->window, k->keep) : 0;
}

/* Drops all columns of a kind, whose row numbers are no longer valid. */
static void unread(struct kind *k)
{
	for (size_t f = 0; f < MAX_COLUMNS && k->columns; f++) {
		free(k->columns[f]);
		k->columns[f] = NULL;
	}
	free(k->process);
	k->process = NULL;
}

static void apply(struct kind *k)
{
	const uint8_t *keep = k->keep;
	size_t rows = 0;

	for (size_t i = 0; i < k->n_parts; i++) {
		struct part *p = &k->parts[i];

		p->keep = keep;
		p->first = rows;
		p->rows = 0;
		for (uint32_t row = 0; row < p->chunk->head.rows; row++)
			p->rows += keep[row];
		keep += p->chunk->head.rows;
		rows += p->rows;
	}
	k->n_rows = rows;
	unread(k);
}

/* Removes the chunks of unselected processes, so that they are not decoded. */
static void drop_processes(struct kind *k, const bool *processes)
{
	size_t kept = 0;

	k->n_rows = 0;
	for (size_t i = 0; i < k->n_parts; i++) {
		struct part p = k->parts[i];

		if (!processes[p.process])
			continue;
		p.first = k->n_rows;
		k->n_rows += p.rows;
		k->parts[kept++] = p;
	}
	k->n_parts = kept;
	k->read = false;
	unread(k);
}

static int select_processes(struct model *m, const bool *processes)
{
	m->chosen.processes = malloc(m->n_processes * sizeof *processes + 1);
	if (!m->chosen.processes)
		return -1;
	memcpy(m->chosen.processes, processes, m->n_processes * sizeof *processes);
	for (unsigned kind = 0; kind < ROW_KINDS; kind++)
		if (happens(kind) || kind == ROW_op || kind == ROW_modules)
			drop_processes(&m->kinds[kind], processes);
	model_release(m, true);
	return 0;
}

/* Chooses the rows of all kinds; imported rows last, because they depend on the rows they belong to. */
static int select_rows(struct model *m, const struct steps *all, const struct selection *s)
{
	for (unsigned kind = 0; kind < ROW_KINDS; kind++)
		if (happens(kind) && kind != ROW_imported && kind != ROW_imported_arg && record_by_kind(kind) &&
		    m->kinds[kind].n_parts && choose(m, all, s, kind) < 0)
			return -1;
	if (m->kinds[ROW_imported].n_parts && choose(m, all, s, ROW_imported) < 0)
		return -1;
	for (unsigned kind = 0; kind < ROW_KINDS; kind++)
		if (m->kinds[kind].keep)
			apply(&m->kinds[kind]);
	model_release(m, true);
	return 0;
}

int model_select(struct model *m, const struct selection *s)
{
	struct steps *all;

	if (!model_steps(m))
		return -1;
	all = &m->steps->public;
	if (!mark(m, all, s))
		return 1;
	/* Compute phases before the selection: a phase can begin in an unselected step. */
	if (model_has_torch(m) && !model_phases(m))
		return -1;
	if (s->processes && select_processes(m, s->processes) < 0)
		return -1;
	if ((s->steps || s->window) && select_rows(m, all, s) < 0)
		return -1;
	m->chosen.any = true;
	m->chosen.steps = s->steps;
	m->chosen.window = s->window;
	return 0;
}

bool model_selected(const struct model *m)
{
	return m->chosen.any;
}

bool model_steps_selected(const struct model *m)
{
	return m->chosen.steps;
}

bool model_process_selected(const struct model *m, uint32_t process)
{
	return !m->chosen.processes || m->chosen.processes[process];
}
