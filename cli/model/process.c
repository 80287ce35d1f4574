#include "cli/model/inside.h"

#include <stdio.h>

/* Buffers while the rows are read. */
struct process_reader {
	struct model *m;
	struct buf numbers;             /* uint32_t: every process number in the trace */
	struct buf rows;                /* struct process_row */
	struct buf endings;             /* struct ending_row */
	struct buf attributes, health, drops, costs;
};

static void put_number(struct process_reader *in, uint32_t number)
{
	buf_put(&in->numbers, &number, sizeof number);
}

/* Calls fn for every row of a kind; tail is "" if the kind has none.  0, or -1: out of memory. */
static int each_row(struct process_reader *in, unsigned kind,
		    void (*fn)(struct process_reader *, uint32_t number, const void *row, const char *tail))
{
	struct trace *t = &in->m->trace;
	struct buf rows = { 0 }, tails = { 0 };
	int rc = -1;

	for (size_t i = 0; i < t->n_chunks; i++) {
		struct chunk *c = &t->chunks[i];
		const struct record *r = c->record;
		size_t at = 0;

		if (c->head.kind != kind || !r || c->bad)
			continue;
		tails.len = 0;
		if (!buf_room(&rows, (size_t)c->head.rows * r->size))
			goto out;
		if (trace_rows(t, c, rows.data) < 0 || (r->len_field >= 0 && trace_tails(t, c, &tails) < 0))
			continue;       /* damaged: model_damage() lists it */
		for (uint32_t row = 0; row < c->head.rows; row++) {
			const void *p = rows.data + (size_t)row * r->size;
			size_t n = r->len_field < 0 ? 0 : (size_t)field_load(&r->fields[r->len_field], p);

			if (n > tails.len - at)
				n = 0;
			const char *tail = strings_keep(in->m, n ? (char *)tails.data + at : "", n);

			if (!tail)
				goto out;
			fn(in, c->head.process, p, tail);
			at += n;
		}
	}
	rc = 0;
out:
	buf_free(&rows);
	buf_free(&tails);
	return rc;
}

static void on_process(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	const struct process_row *p = row;

	(void)number, (void)tail;
	put_number(in, p->number);
	buf_put(&in->rows, p, sizeof *p);
}

static void on_ending(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	(void)number, (void)tail;
	buf_put(&in->endings, row, sizeof(struct ending_row));
}

static void on_attribute(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	const struct attribute_row *a = row;
	char *value = strchr(tail, '=');

	(void)number;
	if (!value)
		return;
	*value++ = '\0';        /* the tail is a private copy */
	put_number(in, a->process);
	buf_put(&in->attributes, &(struct attribute){ a->process, tail, value }, sizeof(struct attribute));
}

static void on_health(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	const struct health_row *h = row;
	const struct health out = { number, h->reason, h->count, h->first, h->last, tail };

	buf_put(&in->health, &out, sizeof out);
}

static void on_drop(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	const struct drop_row *d = row;
	const struct drop out = { number, d->kind, d->where, d->count, d->first, d->last };

	(void)tail;
	buf_put(&in->drops, &out, sizeof out);
}

static void on_cost(struct process_reader *in, uint32_t number, const void *row, const char *tail)
{
	const struct cost_row *c = row;
	const struct cost out = { number, c->place, c->count, c->total };

	(void)tail;
	buf_put(&in->costs, &out, sizeof out);
}

/* ---- the last row of a key wins: a stable sort by key, then the last of each run ---- */

static int by_key_attribute(const void *a, const void *b, void *at)
{
	const struct attribute *p = a, *q = b;

	(void)at;
	return p->process != q->process ? (p->process < q->process ? -1 : 1) : strcmp(p->key, q->key);
}

/* Health, drops and costs begin with process and a number. */
static int by_two(const void *a, const void *b, void *at)
{
	const uint32_t *p = a, *q = b;

	(void)at;
	return p[0] != q[0] ? (p[0] < q[0] ? -1 : 1) : p[1] < q[1] ? -1 : p[1] > q[1];
}

static int by_drop(const void *a, const void *b, void *at)
{
	const struct drop *p = a, *q = b;
	int c = by_two(a, b, at);

	return c ? c : p->where < q->where ? -1 : p->where > q->where;
}

static int by_process_number(const void *a, const void *b, void *at)
{
	const struct process_row *p = a, *q = b;

	(void)at;
	return p->number < q->number ? -1 : p->number > q->number;
}

static void merge_runs(char *p, size_t n, size_t width, char *scratch, int (*by)(const void *, const void *, void *))
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	merge_runs(p, half, width, scratch, by);
	merge_runs(p + half * width, n - half, width, scratch, by);
	memcpy(scratch, p, n * width);
	while (i < half || j < n) {
		bool left = j == n || (i < half && by(scratch + i * width, scratch + j * width, NULL) <= 0);

		memcpy(p + k++ * width, scratch + (left ? i++ : j++) * width, width);
	}
}

/* Sorts b by key and keeps the last element of each key; returns their number, or SIZE_MAX: out of memory. */
static size_t last_of_each(struct buf *b, size_t width, int (*by)(const void *, const void *, void *))
{
	size_t n = b->len / width, kept = 0;
	char *scratch = malloc(b->len + 1), *p = (char *)b->data;

	if (!scratch || b->oom) {
		free(scratch);
		return SIZE_MAX;
	}
	merge_runs(p, n, width, scratch, by);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || by(p + i * width, p + (i + 1) * width, NULL) != 0)
			memmove(p + kept++ * width, p + i * width, width);
	free(scratch);
	return kept;
}

static int by_u32(const void *a, const void *b)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return p < q ? -1 : p > q;
}

/* Applies ending rows in file order, so the last one of a process counts.  Skips processes without any other row. */
static int take_endings(struct process_reader *in)
{
	const struct ending_row *e = (const struct ending_row *)in->endings.data;
	size_t n = in->endings.len / sizeof *e;

	for (size_t i = 0; i < n; i++) {
		struct process *p = &in->m->processes[model_process_at(in->m, e[i].process)];

		if (!p->image)
			continue;
		p->cpu = e[i].cpu > 0 ? e[i].cpu : 0;
		p->how = e[i].how <= ENDED_SIGNAL ? e[i].how : ENDED_UNKNOWN;
		p->status = e[i].status;
	}
	return in->endings.oom ? -1 : 0;
}

static int make_processes(struct process_reader *in)
{
	struct model *m = in->m;
	uint32_t *numbers = (uint32_t *)in->numbers.data, n = (uint32_t)(in->numbers.len / sizeof *numbers);
	size_t rows = last_of_each(&in->rows, sizeof(struct process_row), by_process_number), row = 0;
	const struct process_row *r = (const struct process_row *)in->rows.data;

	if (in->numbers.oom || rows == SIZE_MAX)
		return -1;
	qsort(numbers, n, sizeof *numbers, by_u32);
	m->processes = calloc(n, sizeof *m->processes);
	if (!m->processes)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (i && numbers[i] == numbers[i - 1])
			continue;
		struct process *p = &m->processes[m->n_processes++];

		p->number = p->image = numbers[i];
		while (row < rows && r[row].number < p->number)
			row++;
		if (row == rows || r[row].number != p->number)
			continue;
		*p = (struct process){
			.image = r[row].number, .number = r[row].number, .pid = r[row].pid, .host_pid = r[row].host_pid, .ppid = r[row].ppid,
			.parent = r[row].parent, .flags = r[row].flags, .start = r[row].start, .end = r[row].end,
			.described = true,
		};
	}
	return take_endings(in) == 0 ? images_join(m->processes, m->n_processes) : -1;
}

/* Moves the sorted elements to the model and gives each process its slice. */
#define TAKE(list, buffer, by, type) do {                                                               \
	f->n_##list = last_of_each(buffer, sizeof(struct type), by);                                    \
	if (f->n_##list == SIZE_MAX)                                                                    \
		return -1;                                                                              \
	f->list = (struct type *)(buffer)->data;                                                        \
	*(buffer) = (struct buf){ 0 };                                                                  \
	for (size_t i = 0; i < f->n_##list; i++) {                                                      \
		struct process *p = &m->processes[model_process_at(m, f->list[i].process)];             \
		if (!p->n_##list++)                                                                     \
			p->list = &f->list[i];                                                          \
	}                                                                                               \
} while (0)

static int take_facts(struct process_reader *in)
{
	struct model *m = in->m;
	struct facts *f = &m->facts;

	TAKE(attributes, &in->attributes, by_key_attribute, attribute);
	TAKE(health, &in->health, by_two, health);
	TAKE(drops, &in->drops, by_drop, drop);
	TAKE(costs, &in->costs, by_two, cost);
	return 0;
}

int processes_load(struct model *m)
{
	struct process_reader in = { .m = m };
	int rc = -1;

	put_number(&in, 0);
	for (size_t i = 0; i < m->trace.n_chunks; i++)
		put_number(&in, m->trace.chunks[i].head.process);
	if (each_row(&in, ROW_process, on_process) == 0 && each_row(&in, ROW_ending, on_ending) == 0 && each_row(&in, ROW_attribute, on_attribute) == 0 &&
	    each_row(&in, ROW_health, on_health) == 0 && each_row(&in, ROW_drop, on_drop) == 0 &&
	    each_row(&in, ROW_cost, on_cost) == 0 && make_processes(&in) == 0)
		rc = take_facts(&in);
	buf_free(&in.numbers);
	buf_free(&in.rows);
	buf_free(&in.endings);
	buf_free(&in.attributes);
	buf_free(&in.health);
	buf_free(&in.drops);
	buf_free(&in.costs);
	return rc;
}

void processes_release(struct model *m)
{
	free(m->facts.attributes);
	free(m->facts.health);
	free(m->facts.drops);
	free(m->facts.costs);
	free(m->processes);
}

const char *process_attribute(const struct process *p, const char *key)
{
	for (size_t i = 0; i < p->n_attributes; i++)
		if (strcmp(p->attributes[i].key, key) == 0)
			return p->attributes[i].value;
	return NULL;
}

const char *model_attribute(const struct model *m, const char *key)
{
	return process_attribute(&m->processes[0], key);
}

const char *process_name(const struct process *p, char *buf, size_t size)
{
	const char *name = process_attribute(p, "name"), *exe = process_attribute(p, "exe"),
		   *slash = exe ? strrchr(exe, '/') : NULL;

	if (name && *name)
		return name;
	if (exe && *exe)
		return slash && slash[1] ? slash + 1 : exe;
	if (p->described)
		snprintf(buf, size, "pid %u", p->pid);
	else
		snprintf(buf, size, "process %u", p->number);
	return buf;
}

bool process_simulated(struct model *m, uint32_t process)
{
	static const char name[] = "Simulated GPU";
	const struct device_row *d;

	if (m->processes[process].flags & PROCESS_SIMULATED)
		return true;
	for (uint32_t id = 0; id < 16; id++)
		if ((d = model_device(m, process, id)) && strncmp(model_string(m, d->name), name, sizeof name - 1) == 0)
			return true;
	return false;
}

bool model_imported(const struct model *m)
{
	uint32_t n;
	const struct process *p = model_processes(m, &n);

	return n > 1 && process_attribute(&p[1], "imported");
}
