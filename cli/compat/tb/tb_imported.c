/*
 * Events of imported Kineto files, as the plugin reads them.  An event is put together from its imported row, from the row that it became,
 * and from its imported_arg rows.
 */
#include "cli/compat/tb/tb.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/torch/torch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of rows that events become. */
enum { RANGE, API, KERNEL, COPY, SET, GPU_RANGE, KINDS };

struct kind_columns {
	unsigned kind;
	size_t next, end;               /* row of the next event; end of the rows of the process */
	const int64_t *start, *duration;
	const uint32_t *thread, *corr, *device;
};

enum arg_use { ARG_UNKNOWN, ARG_UNUSED, ARG_OCCUPANCY, ARG_BLOCKS, ARG_MODULE, ARG_SHAPES, ARG_KINDS };

struct tb_file {
	struct tb_job *job;
	struct model *m;
	struct tb_run *run;             /* the current run; NULL: none yet */
	const struct torch_ranges *torch;
	struct kind_columns kinds[KINDS];
	const uint64_t *index, *external, *arg_index, *arg_bits;
	const uint32_t *name, *category, *kind, *flags, *process, *config;
	const uint32_t *arg_key, *arg_type, *arg_text, *arg_process;
	size_t n_args, arg;             /* arg: the next argument */
	struct map uses;                /* string id -> enum arg_use */
	struct map types;               /* string id -> enum tb_type */
	struct map words;               /* string id -> flags of the name */
};

static bool kind_read(struct tb_file *f, unsigned at, unsigned kind, unsigned start, unsigned duration, int thread, int corr,
		      int device)
{
	struct kind_columns *c = &f->kinds[at];

	c->kind = kind;
	c->start = model_column(f->m, kind, start);
	c->duration = model_column(f->m, kind, duration);
	if (thread >= 0)
		c->thread = model_column(f->m, kind, (unsigned)thread);
	if (corr >= 0)
		c->corr = model_column(f->m, kind, (unsigned)corr);
	if (device >= 0)
		c->device = model_column(f->m, kind, (unsigned)device);
	return c->start && c->duration && (thread < 0 || c->thread) && (corr < 0 || c->corr) && (device < 0 || c->device);
}

#define HAS(rec, member) COL_##rec##_##member
#define KIND(at, rec, ...) kind_read(f, at, ROW_##rec, COL_##rec##_start, COL_##rec##_duration, __VA_ARGS__)

static bool columns_read(struct tb_file *f)
{
	struct model *m = f->m;

	return KIND(RANGE, range, HAS(range, thread), -1, -1) && KIND(API, api, HAS(api, thread), HAS(api, corr), -1) &&
	       KIND(KERNEL, kernel, -1, HAS(kernel, corr), HAS(kernel, device)) &&
	       KIND(COPY, memcpy, -1, HAS(memcpy, corr), HAS(memcpy, device)) &&
	       KIND(SET, memset, -1, HAS(memset, corr), HAS(memset, device)) &&
	       KIND(GPU_RANGE, gpu_range, -1, -1, HAS(gpu_range, device)) && (f->config = MODEL_U32(m, kernel, config)) &&
	       (f->index = MODEL_U64(m, imported, index)) && (f->external = MODEL_U64(m, imported, external)) &&
	       (f->name = MODEL_U32(m, imported, name)) && (f->category = MODEL_U32(m, imported, category)) &&
	       (f->kind = MODEL_U32(m, imported, kind)) && (f->flags = MODEL_U32(m, imported, flags)) &&
	       (f->process = model_row_process(m, ROW_imported)) && (f->arg_index = MODEL_U64(m, imported_arg, index)) &&
	       (f->arg_bits = MODEL_U64(m, imported_arg, bits)) && (f->arg_key = MODEL_U32(m, imported_arg, key)) &&
	       (f->arg_type = MODEL_U32(m, imported_arg, type)) &&
	       (f->arg_text = MODEL_U32(m, imported_arg, text)) && (f->arg_process = model_row_process(m, ROW_imported_arg)) &&
	       (f->torch = model_torch(m));
}

static enum arg_use use_of_word(const char *key)
{
	static const struct { const char *key; enum arg_use use; } all[] = {
		{ "est. achieved occupancy %", ARG_OCCUPANCY }, { "blocks per SM", ARG_BLOCKS }, { "Python module id", ARG_MODULE },
		{ "Input Dims", ARG_SHAPES }, { "Input type", ARG_KINDS },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(key, all[i].key) == 0)
			return all[i].use;
	return ARG_UNUSED;
}

static uint32_t word_use(const char *text)
{
	return use_of_word(text);
}

static uint32_t word_type(const char *text)
{
	return tb_type_of(text);
}

/* ask() of a string, cached in map. */
static uint32_t remembered(struct tb_file *f, struct map *map, uint32_t string, uint32_t (*ask)(const char *text))
{
	bool new = false;
	uint32_t *at = map_put(map, string, 0, &new);

	if (!at) {
		f->run->oom = true;
		return 0;
	}
	if (new)
		*at = ask(model_string(f->m, string)) + 1;
	return *at - 1;
}

/* ---- arguments ---- */

static void take_arg(struct tb_file *f, struct tb_event *e, size_t i)
{
	double real = NAN;

	if (f->arg_type[i] == ARG_WHOLE)
		real = (double)(int64_t)f->arg_bits[i];
	else if (f->arg_type[i] == ARG_DOUBLE)
		memcpy(&real, &f->arg_bits[i], sizeof real);
	switch ((enum arg_use)remembered(f, &f->uses, f->arg_key[i], word_use)) {
	case ARG_OCCUPANCY:
		if (e->type == TB_KERNEL)
			e->occupancy = real;
		break;
	case ARG_BLOCKS:
		if (e->type == TB_KERNEL)
			e->blocks = real;
		break;
	case ARG_SHAPES:
		if (e->type == TB_ANNOTATION)
			e->dims = f->arg_text[i];
		break;
	case ARG_KINDS:
		if (e->type == TB_ANNOTATION)
			e->types = f->arg_text[i];
		break;
	case ARG_MODULE:
		if (e->type == TB_IGNORED)
			e->type = TB_MODULE;
		break;
	default:
		break;
	}
}

/* Reads the arguments up to those of one event; arguments are sorted by process and index.  e NULL: skips them. */
static void take_args(struct tb_file *f, struct tb_event *e, uint32_t process, uint64_t index)
{
	while (f->arg < f->n_args && (f->arg_process[f->arg] < process ||
				      (f->arg_process[f->arg] == process && f->arg_index[f->arg] < index)))
		f->arg++;
	for (; f->arg < f->n_args && f->arg_process[f->arg] == process && f->arg_index[f->arg] == index; f->arg++)
		if (e)
			take_arg(f, e, f->arg);
}

/* ---- events ---- */

static struct kind_columns *kind_of(struct tb_file *f, uint32_t kind)
{
	for (unsigned k = 0; k < KINDS; k++)
		if (f->kinds[k].kind == kind)
			return &f->kinds[k];
	return NULL;
}

/* Takes the fields of the row that the event became. */
static void of_row(struct tb_file *f, struct tb_event *e, const struct kind_columns *c, size_t row)
{
	const struct thread *t = c->thread ? model_thread(f->m, e->process, c->thread[row]) : NULL;
	uint32_t at = c->kind == ROW_range ? f->torch->at[row] : NO_TORCH;

	e->tid = t ? t->row.tid : 0;
	e->device = c->device ? (int32_t)c->device[row] : -1;
	if (c->corr)
		e->corr = c->corr[row];
	if (c->kind == ROW_kernel) {
		e->blocks = e->occupancy = NAN;
		e->config = f->config[row];
	} else if (at != NO_TORCH && f->torch->list[at].op != NO_TORCH) {
		e->dims = f->torch->dims[f->torch->list[at].op];
		e->types = f->torch->types[f->torch->list[at].op];
	}
}

/* Unlike the plugin, does not take the copy of a step on the GPU for a step: it would add a step of no duration to averages. */
static bool is_step(const struct tb_event *e)
{
	return e->flags & TB_PROFILER_STEP && (e->type == TB_OP || e->type == TB_ANNOTATION);
}

static bool is_copy_of_step(const struct tb_event *e)
{
	return e->flags & TB_PROFILER_STEP && e->type == TB_GPU_ANNOTATION;
}

static void take_event(struct tb_file *f, size_t i)
{
	struct kind_columns *c = kind_of(f, f->kind[i]);
	size_t row = c ? c->next++ : 0;
	struct tb_event *e = NULL;
	uint32_t type;

	if (c && row < c->end && f->category[i] && !(f->flags[i] & IMPORTED_ENDLESS)) {
		type = remembered(f, &f->types, f->category[i], word_type);
		e = type == TB_IGNORED ? NULL : tb_add(f->run);
	}
	if (e) {
		*e = (struct tb_event){
			.start = c->start[row], .end = time_add(c->start[row], c->duration[row]), .name = f->name[i],
			.external = f->external[i] || f->flags[i] & IMPORTED_EXTERNAL ? f->external[i] : TB_NO_ID,
			.index = (uint32_t)f->index[i], .process = f->process[i], .link = TB_NONE,
			.has_corr = (f->flags[i] & IMPORTED_CORRELATION) != 0,
			/* take_arg() makes it TB_MODULE if it has a module id; the plugin ignores other functions */
			.type = (uint8_t)(type == TB_MODULE ? TB_IGNORED : type),
		};
		e->flags = remembered(f, &f->words, e->name, tb_flags_of);
		of_row(f, e, c, row);
		if (is_step(e)) {
			e->type = TB_STEP;
			e->number = (uint32_t)strtoul(model_string(f->m, e->name) + 13, NULL, 10);
		}
	}
	take_args(f, e, f->process[i], f->index[i]);
	if (e && (e->type == TB_IGNORED || is_copy_of_step(e)))
		f->run->n--;
}

static const char *attribute(const struct process *p, const char *key)
{
	const char *value = process_attribute(p, key);

	return value ? value : "";
}

/* Starts a run unless the process is of the same file as `before`.  Returns 0, or -1 when out of memory. */
static int begin_process(struct tb_file *f, const struct process *all, uint32_t process, uint32_t before)
{
	const char *path = attribute(&all[process], "imported.file");

	if (!f->run || strcmp(path, attribute(&all[before], "imported.file")) != 0) {
		f->run = tb_add_run(f->job, f->m, path, -1);
		if (!f->run)
			return -1;
		f->run->first_process = process;
		f->run->imported = true;
	}
	f->run->n_processes = process - f->run->first_process + 1;
	if (tb_rank_of(f->m, process) >= 0)
		f->run->rank = tb_rank_of(f->m, process);
	return 0;
}

/* Sets next and end of each kind to the rows of the process; rows are sorted by process. */
static void begin_kinds(struct tb_file *f, uint32_t *done, uint32_t process)
{
	for (; *done <= process; ++*done)
		for (unsigned k = 0; k < KINDS; k++) {
			f->kinds[k].next = f->kinds[k].end;
			f->kinds[k].end += model_process_rows(f->m, f->kinds[k].kind, *done);
		}
}

int tb_imported_runs(struct tb_job *job, struct model *m)
{
	struct tb_file f = { .job = job, .m = m };
	uint32_t n_processes, before = 0, done = 0;
	const struct process *processes = model_processes(m, &n_processes);
	bool read = columns_read(&f);
	size_t n = read ? model_rows(m, ROW_imported) : 0;
	int rc = read ? 0 : -1;

	f.n_args = read ? model_rows(m, ROW_imported_arg) : 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (i == 0 || f.process[i] != before) {
			rc = begin_process(&f, processes, f.process[i], before);
			begin_kinds(&f, &done, f.process[i]);
			before = f.process[i];
		}
		if (rc == 0)
			take_event(&f, i);
	}
	map_release(&f.uses);
	map_release(&f.types);
	map_release(&f.words);
	return rc;
}
