/*
 * tb_distributed, tb_collectives: computation and communication of ranks, and transfer and waiting in it (run_generator.py of the plugin).
 */
#include "cli/compat/tb/tb_comm.h"
#include "cli/model/map.h"
#include "cli/model/model.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "step", COLUMN_TEXT }, { "computation_ns", 0 }, { "overlapping_ns", 0 },
	{ "communication_ns", 0 }, { "other_ns", 0 }, { "transfer_ns", 0 }, { "synchronizing_ns", 0 },
};

static const struct heading op_columns[] = {
	{ "worker", COLUMN_TEXT }, { "rank", COLUMN_ID }, { "calls", 0 }, { "bytes", 0 }, { "mean_bytes", 0 }, { "latency_ns", 0 },
	{ "mean_latency_ns", 0 }, { "transfer_ns", 0 }, { "mean_transfer_ns", 0 }, { "name", COLUMN_TEXT },
};

#define NUMBERS 6

struct comm_times {
	int64_t sum[NUMBERS];           /* computation alone, overlap, communication alone, other; transfer, waiting */
	bool talks, waits;              /* talks: the run communicates; waits: transfer and waiting are known */
};

/* Times of a step.  Collectives from *next on can be in it; moves *next after it.  Returns 0, or -1 when out of memory. */
static int times_of(const struct tb_run *r, const struct tb_collectives *c, uint32_t step, size_t *next, struct comm_times *t)
{
	const struct tb_step *s = &r->steps[step];
	struct tb_part part = { .from = *next, .to = *next, .step = step, .name = TB_NONE };
	int64_t latency, transfer;

	*t = (struct comm_times){ { time_sub(s->computation, s->overlap), s->overlap, time_sub(s->communication, s->overlap),
			       time_sub(time_sub(time_add(time_sub(s->end, s->start), s->overlap), s->computation),
					s->communication) },
			     .talks = r->roles[TB_ROLE_COMMUNICATION].n };
	for (; part.to < c->n && (c->list[part.to].step == TB_NONE || c->list[part.to].step <= step); part.to++)
		t->waits |= c->list[part.to].step == step;
	*next = part.to;
	t->waits &= c->transfers != NULL;
	if (!t->waits)
		return 0;
	latency = tb_comm_time(c, r, c->ranges, part);
	transfer = tb_comm_time(c, r, c->transfers, part);
	t->sum[4] = transfer;
	t->sum[5] = time_sub(latency, transfer);
	return latency < 0 || transfer < 0 ? -1 : 0;
}

static void put_times(const struct tb_run *r, struct table *t, const char *step, const struct comm_times *of, size_t n, size_t n_waits)
{
	struct cell cells[3 + NUMBERS] = { TEXT(table_keep(t, "%s", r->worker)), tb_rank(r), TEXT(table_keep(t, "%s", step)) };

	for (unsigned k = 0; k < NUMBERS; k++) {
		bool known = k >= 4 ? of->waits : of->talks || k == 0 || k == 3;

		cells[3 + k] = known ? NUMBER(of->sum[k] / (int64_t)(k < 4 ? n : n_waits)) : UNKNOWN;
	}
	table_row(t, cells);
}

static int put_run(const struct tb_run *r, const struct tb_collectives *c, struct table *t)
{
	struct comm_times all = { 0 };
	size_t waits = 0, next = 0;

	for (uint32_t i = 0; i < r->n_steps; i++) {
		struct comm_times one;
		char step[16];

		if (times_of(r, c, i, &next, &one) < 0)
			return -1;
		snprintf(step, sizeof step, "%u", r->steps[i].number);
		put_times(r, t, step, &one, 1, 1);
		for (unsigned k = 0; k < NUMBERS; k++)
			all.sum[k] = time_add(all.sum[k], one.sum[k]);
		all.talks = one.talks;
		all.waits |= one.waits;
		waits += one.waits;
	}
	if (r->n_steps)
		put_times(r, t, "average", &all, r->n_steps, waits ? waits : 1);
	return 0;
}

/* ---- by collective ---- */

static int put_name(const struct tb_run *r, const struct tb_collectives *c, struct table *t, uint32_t name)
{
	struct tb_part part = { .to = c->n, .step = TB_NONE, .name = name };
	int64_t calls = 0, bytes = 0, latency = tb_comm_time(c, r, c->ranges, part),
		transfer = c->transfers ? tb_comm_time(c, r, c->transfers, part) : 0;
	bool sized = true;

	if (latency < 0 || transfer < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		const struct tb_event *e = &r->events[c->list[i].event];
		int64_t one = e->dims && e->types ? tb_bytes(model_string(r->m, e->dims), model_string(r->m, e->types)) : -1;

		if (e->name != name)
			continue;
		calls++;
		sized &= one >= 0;
		bytes = time_add(bytes, one);
	}
	table_row(t, (struct cell[]){
			     TEXT(table_keep(t, "%s", r->worker)), tb_rank(r), NUMBER(calls), sized ? NUMBER(bytes) : UNKNOWN,
			     sized ? NUMBER(bytes / calls) : UNKNOWN, NUMBER(latency), NUMBER(latency / calls),
			     c->transfers ? NUMBER(transfer) : UNKNOWN, c->transfers ? NUMBER(transfer / calls) : UNKNOWN,
			     TEXT(table_keep(t, "%s", model_string(r->m, name))) });
	return 0;
}

static int put_names(const struct tb_run *r, const struct tb_collectives *c, struct table *t)
{
	struct map seen = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		uint32_t name = r->events[c->list[i].event].name;
		bool new = false;

		if (!map_put(&seen, name, 0, &new))
			rc = -1;
		else if (new)
			rc = put_name(r, c, t, name);
	}
	map_release(&seen);
	return rc;
}

/* ---- reports ---- */

static void put_notes(struct table *t, enum tb_match how, size_t found, bool talks)
{
	if (!found && talks)
		table_note(t, "transfer and waiting are unknown: a process uses both NCCL and Gloo");
	else if (!found)
		table_note(t, "communication is unknown: the trace has no rows of collectives (nccl:..., gloo:...)");
	else if (how == TB_ALONE)
		table_note(t, "transfer and waiting are unknown: give the traces of all ranks");
	else if (how == TB_DIFFERENT)
		table_note(t, "transfer and waiting are unknown: ranks have different numbers of collectives");
	else if (how == TB_SAME_WORKER)
		table_note(t, "transfer and waiting are unknown: two traces have the same worker; give the traces of one run");
}

static int distributed(struct model *m, struct table *t, const struct report_choice *choice,
		       int (*put_one)(const struct tb_run *r, const struct tb_collectives *c, struct table *t))
{
	struct tb_job *job = tb_get(m, choice);
	struct tb_collectives *all = job ? calloc(job->n + 1, sizeof *all) : NULL;
	enum tb_match how = TB_ALONE;
	size_t found = 0;
	bool talks = false;
	int rc = all ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < job->n; i++) {
		rc = tb_collectives_make(&all[i], &job->runs[i]);
		found += all[i].n;
		talks |= job->runs[i].roles[TB_ROLE_COMMUNICATION].n != 0;
	}
	if (rc == 0)
		rc = tb_match(all, job, &how);
	for (size_t i = 0; rc == 0 && i < job->n; i++)
		rc = put_one(&job->runs[i], &all[i], t);
	if (rc == 0)
		put_notes(t, how, found, talks);
	if (rc == 0 && found)
		table_note(t, "counted by the plugin's rule: from host rows (nccl:..., gloo:...), which last while the host issues a "
			   "collective, and from their kernels. It does not find the late rank; report ranks does");
	for (size_t i = 0; all && i < job->n; i++)
		tb_collectives_release(&all[i]);
	free(all);
	tb_done(job, choice);
	return rc;
}

static int run(struct model *m, struct table *t, const struct report_choice *choice)
{
	return distributed(m, t, choice, put_run);
}

static int run_by_name(struct model *m, struct table *t, const struct report_choice *choice)
{
	return distributed(m, t, choice, put_names);
}

const struct report report_tb_distributed = {
	.name = "tb_distributed",
	.title = "Computation and Communication by Rank and Step, by the Rules of PyTorch's TensorBoard Plugin",
	.help = "How much is computation, communication, overlap and waiting of each rank?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(columns),
	.run_chosen = run,
};

const struct report report_tb_collectives = {
	.name = "tb_collectives",
	.title = "Collectives by Rank, by the Rules of PyTorch's TensorBoard Plugin",
	.help = "Which collectives take the time: calls, bytes, latency?",
	.needs = NEED_GPU,
	.whole = true,
	.ranks = true,
	COLUMNS(op_columns),
	.run_chosen = run_by_name,
};
