/* Collectives of a run, their transfer time and waiting time. */
#include "cli/compat/tb/tb_comm.h"
#include "cli/model/map.h"

#include <stdlib.h>
#include <string.h>

static bool is_collective(const struct tb_event *e)
{
	return e->flags & TB_COMMUNICATION && (e->type == TB_OP || e->type == TB_ANNOTATION || e->type == TB_PYTHON ||
					       e->type == TB_GPU_ANNOTATION);
}

static int longer_first(int64_t start, int64_t end, int64_t start2, int64_t end2)
{
	return start != start2 ? (start > start2) - (start < start2) : (end < end2) - (end > end2);
}

static int by_range(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	return longer_first(x->time, x->end, y->time, y->end);
}

static int by_event(const void *a, const void *b, void *run)
{
	const struct tb_event *events = ((const struct tb_run *)run)->events;
	const struct tb_collective *x = a, *y = b;
	int order = longer_first(events[x->event].start, events[x->event].end, events[y->event].start, events[y->event].end);

	return order ? order : (x->event > y->event) - (x->event < y->event);
}

/* Lists the collectives.  Events with one External id are one collective, represented by the last (e.g. its copy on the GPU). */
static int find(struct tb_collectives *c, const struct tb_run *r)
{
	struct map by_id = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < r->n; i++) {
		const struct tb_event *e = &r->events[i];
		bool new = true;
		uint32_t *at;

		if (!is_collective(e))
			continue;
		at = e->external == TB_NO_ID ? NULL : map_put(&by_id, e->external, (uint32_t)c->n, &new);
		rc = at || e->external == TB_NO_ID ? 0 : -1;
		if (rc == 0 && new)
			c->list[c->n++] = (struct tb_collective){ .event = i, .step = TB_NONE };
		else if (rc == 0)
			c->list[*at - 1].event = i;
	}
	map_release(&by_id);
	return rc;
}

/* The collective that a kernel belongs to, by External id; MAP_NONE: none. */
static uint32_t owner(const struct map *by_id, const struct tb_event *e)
{
	return e->type == TB_KERNEL && e->external != TB_NO_ID ? map_get(by_id, e->external) : MAP_NONE;
}

static int add_ranges(struct tb_collectives *c, const struct tb_run *r, bool kernels)
{
	struct map by_id = { 0 };
	size_t *filled = calloc(c->n + 1, sizeof *filled);
	int rc = filled ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < c->n; i++) {
		uint64_t id = r->events[c->list[i].event].external;

		c->list[i].n = 1;
		rc = id == TB_NO_ID || map_set(&by_id, id, i) ? 0 : -1;
	}
	for (size_t i = 0; rc == 0 && kernels && i < r->n; i++)
		if (owner(&by_id, &r->events[i]) != MAP_NONE)
			c->list[owner(&by_id, &r->events[i])].n++;
	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		c->list[i].first = c->n_ranges;
		c->n_ranges += c->list[i].n;
	}
	c->ranges = rc == 0 ? malloc((c->n_ranges + 1) * sizeof *c->ranges) : NULL;
	rc = c->ranges ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < c->n; i++) {
		const struct tb_event *e = &r->events[c->list[i].event];

		c->ranges[c->list[i].first + filled[i]++] = (struct timed){ .time = e->start, .end = e->end };
	}
	for (size_t i = 0; rc == 0 && kernels && i < r->n; i++) {
		uint32_t at = owner(&by_id, &r->events[i]);

		if (at != MAP_NONE)
			c->ranges[c->list[at].first + filled[at]++] =
				(struct timed){ .time = r->events[i].start, .end = r->events[i].end };
	}
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		qsort(&c->ranges[c->list[i].first], c->list[i].n, sizeof *c->ranges, by_range);
	map_release(&by_id);
	free(filled);
	return rc;
}

/* Sets the step of each collective: both lists are by time.  A collective in no step keeps TB_NONE. */
static void find_steps(struct tb_collectives *c, const struct tb_run *r)
{
	size_t step = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct tb_event *e = &r->events[c->list[i].event];

		while (step < r->n_steps && e->start >= r->steps[step].end && e->end > r->steps[step].end)
			step++;
		if (step < r->n_steps && e->start >= r->steps[step].start && e->end <= r->steps[step].end)
			c->list[i].step = (uint32_t)step;
	}
}

int tb_collectives_make(struct tb_collectives *c, const struct tb_run *r)
{
	uint32_t libraries = 0;
	size_t n = 0;

	*c = (struct tb_collectives){ 0 };
	for (size_t i = 0; i < r->n; i++)
		if (is_collective(&r->events[i])) {
			libraries |= r->events[i].flags & TB_COMMUNICATION;
			n++;
		}
	if (!n || libraries == TB_COMMUNICATION)
		return 0;
	c->list = calloc(n, sizeof *c->list);
	if (!c->list || find(c, r) < 0)
		return -1;
	qsort_r(c->list, c->n, sizeof *c->list, by_event, (void *)r);
	find_steps(c, r);
	return add_ranges(c, r, (libraries & TB_NCCL) != 0);
}

void tb_collectives_release(struct tb_collectives *c)
{
	free(c->list);
	free(c->ranges);
	free(c->transfers);
	*c = (struct tb_collectives){ 0 };
}

/* ---- across ranks ---- */

static enum tb_match comparable(const struct tb_collectives *all, const struct tb_job *job)
{
	for (size_t i = 0; i < job->n; i++) {
		if (i && strcmp(job->runs[i].worker, job->runs[i - 1].worker) == 0)
			return TB_SAME_WORKER;
		if (!all[i].n || all[i].n != all[0].n || all[i].n_ranges != all[0].n_ranges)
			return TB_DIFFERENT;
		for (size_t k = 0; k < all[i].n; k++)
			if (all[i].list[k].n != all[0].list[k].n)
				return TB_DIFFERENT;
	}
	return job->n > 1 ? TB_MATCHED : TB_ALONE;
}

int tb_match(struct tb_collectives *all, const struct tb_job *job, enum tb_match *how)
{
	*how = comparable(all, job);
	if (*how != TB_MATCHED)
		return 0;
	for (size_t i = 0; i < job->n; i++) {
		all[i].transfers = malloc((all[i].n_ranges + 1) * sizeof *all[i].transfers);
		if (!all[i].transfers)
			return -1;
	}
	for (size_t k = 0; k < all[0].n_ranges; k++) {
		int64_t least = INT64_MAX;

		for (size_t i = 0; i < job->n; i++) {
			int64_t length = time_sub(all[i].ranges[k].end, all[i].ranges[k].time);

			least = length < least ? length : least;
		}
		for (size_t i = 0; i < job->n; i++)
			all[i].transfers[k] = (struct timed){ .time = time_sub(all[i].ranges[k].end, least), .end = all[i].ranges[k].end };
	}
	return 0;
}

int64_t tb_comm_time(const struct tb_collectives *c, const struct tb_run *r, const struct timed *ranges, struct tb_part part)
{
	struct spans set = { 0 };
	int64_t sum;

	for (size_t i = part.from; i < part.to; i++) {
		const struct tb_collective *one = &c->list[i];

		if ((part.step != TB_NONE && one->step != part.step) ||
		    (part.name != TB_NONE && r->events[one->event].name != part.name))
			continue;
		for (size_t k = one->first; k < one->first + one->n; k++)
			spans_add(&set, ranges[k].time, ranges[k].end);
	}
	sum = spans_union(&set);
	spans_release(&set);
	return sum;
}

/* ---- sizes ---- */

static int64_t bytes_of_type(const char *word, size_t n)
{
	static const struct { const char *word; int64_t bytes; } all[] = {
		{ "long int", 8 }, { "float", 4 }, { "int", 4 }, { "c10::Half", 2 }, { "c10::BFloat16", 2 }, { "unsigned char", 1 },
		{ "double", 8 }, { "signed char", 1 }, { "bool", 1 }, { "short int", 2 },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strlen(all[i].word) == n && memcmp(word, all[i].word, n) == 0)
			return all[i].bytes;
	return 0;
}

/* The product of the list of numbers that starts at *p with '['; moves *p after its ']'. */
static int64_t product(const char **p)
{
	int64_t all = 1;

	for (++*p; **p && **p != ']';) {
		char *end;
		long long n = strtoll(*p, &end, 10);

		if (end == *p) {
			++*p;
			continue;
		}
		if (__builtin_mul_overflow(all, n, &all))
			all = INT64_MAX;
		*p = end;
	}
	if (**p)
		++*p;
	return all;
}

int64_t tb_bytes(const char *dims, const char *types)
{
	int64_t sum = 0;

	if (*dims != '[' || *types != '[')
		return -1;
	for (dims++, types++; (dims = strchr(dims, '[')) && (types = strchr(types, '"'));) {
		const char *word = types + 1, *end = strchr(word, '"');
		int64_t bytes;

		if (!end || __builtin_mul_overflow(product(&dims), bytes_of_type(word, (size_t)(end - word)), &bytes))
			return -1;
		sum = time_add(sum, bytes);
		types = end + 1;
	}
	return sum;
}
