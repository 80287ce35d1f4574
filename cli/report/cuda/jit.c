/* cuda_jit: code that the driver compiled or loaded from its cache, and modules loaded to the GPU, by time. */
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "start_ns", 0 }, { "duration_ns", 0 }, { "operation", COLUMN_TEXT }, { "entry", COLUMN_TEXT }, { "size_mb", 0 },
	{ "device", COLUMN_ID }, { "correlation", COLUMN_ID | COLUMN_RARE }, { "pid", COLUMN_ID | COLUMN_RARE },
	{ "tid", COLUMN_ID | COLUMN_RARE }, { "cache", COLUMN_TEXT },
};

struct codes {
	struct model *m;
	struct table *t;
	int64_t begin;
	const struct process *processes;
	/* columns of jit rows */
	const int64_t *start, *duration;
	const uint64_t *bytes;
	const uint32_t *corr, *device, *entry, *operation, *path, *tid, *process;
	/* columns of module rows */
	const int64_t *loaded;
	const uint64_t *size;
	const uint32_t *module_corr, *context, *thread, *module_process;
};

static bool columns_read(struct codes *c)
{
	struct model *m = c->m;

	return (c->start = MODEL_I64(m, jit, start)) && (c->duration = MODEL_I64(m, jit, duration)) &&
	       (c->bytes = MODEL_U64(m, jit, bytes)) && (c->corr = MODEL_U32(m, jit, corr)) &&
	       (c->device = MODEL_U32(m, jit, device)) && (c->entry = MODEL_U32(m, jit, entry)) &&
	       (c->operation = MODEL_U32(m, jit, operation)) && (c->path = MODEL_U32(m, jit, path)) &&
	       (c->tid = MODEL_U32(m, jit, tid)) && (c->process = model_row_process(m, ROW_jit)) &&
	       (c->loaded = MODEL_I64(m, module, start)) && (c->size = MODEL_U64(m, module, bytes)) &&
	       (c->module_corr = MODEL_U32(m, module, corr)) && (c->context = MODEL_U32(m, module, context)) &&
	       (c->thread = MODEL_U32(m, module, thread)) && (c->module_process = model_row_process(m, ROW_module));
}

static struct cell megabytes(uint64_t bytes)
{
	return FIXED((int64_t)(bytes / 1000 + (bytes % 1000 >= 500)), 3);
}

static struct cell word(const char *const *words, size_t n, uint32_t i)
{
	return i < n && words[i] ? TEXT(words[i]) : UNKNOWN;
}

static void put_jit(struct codes *c, uint32_t i)
{
	static const char *const operations[] = { NULL, "cache load", "cache store", "compile" };
	static const char *const entries[] = { NULL, "PTX to cubin", "NVVM IR to PTX" };
	bool timed = c->start[i] && c->duration[i] >= 0;

	table_row(c->t, (const struct cell[]){
		timed ? NUMBER(time_sub(c->start[i], c->begin)) : UNKNOWN, timed ? NUMBER(c->duration[i]) : UNKNOWN,
		word(operations, 4, c->operation[i]), word(entries, 3, c->entry[i]),
		c->bytes[i] ? megabytes(c->bytes[i]) : UNKNOWN, NUMBER(c->device[i]), NUMBER(c->corr[i]),
		NUMBER(c->processes[c->process[i]].pid), c->tid[i] ? NUMBER(c->tid[i]) : UNKNOWN,
		TEXT(model_string(c->m, c->path[i])) });
}

static void put_module(struct codes *c, uint32_t i)
{
	uint32_t process = c->module_process[i];
	const struct context_row *context = model_context(c->m, process, c->context[i]);
	const struct thread *thread = model_thread(c->m, process, c->thread[i]);

	table_row(c->t, (const struct cell[]){
		NUMBER(time_sub(c->loaded[i], c->begin)), UNKNOWN, TEXT("module load"), UNKNOWN, megabytes(c->size[i]),
		context ? NUMBER(context->device) : UNKNOWN, c->module_corr[i] ? NUMBER(c->module_corr[i]) : UNKNOWN,
		NUMBER(c->processes[process].pid), thread ? NUMBER(thread->row.tid) : UNKNOWN, TEXT("") });
}

static int print(struct codes *c)
{
	size_t compiled = model_rows(c->m, ROW_jit), n = compiled + model_rows(c->m, ROW_module);
	struct timed *order = malloc(n * sizeof *order + 1);

	for (size_t i = 0; order && i < n; i++)
		order[i] = i < compiled ? (struct timed){ .time = c->start[i], .kind = ROW_jit, .row = (uint32_t)i } :
					  (struct timed){ .time = c->loaded[i - compiled], .kind = ROW_module,
							  .row = (uint32_t)(i - compiled) };
	if (!order || timed_sort(order, n) < 0) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		(order[i].kind == ROW_jit ? put_jit : put_module)(c, order[i].row);
	free(order);
	return 0;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	struct codes c = { .m = m, .t = t, .begin = model_start(m) };
	const char *recorded = model_attribute(m, "setting.trace_jit");
	uint32_t n;

	(void)variant;
	c.processes = model_processes(m, &n);
	if (!columns_read(&c) || print(&c) < 0)
		return -1;
	if (model_rows(m, ROW_jit) || model_rows(m, ROW_module))
		return 0;
	if (!recorded || strcmp(recorded, "1") != 0)
		table_note(t, "compilations were not recorded: %s", why_lacks(m, "record with -t cuda-jit,cuda,nvtx", NULL));
	else
		why_no_gpu(m, t, "compilations");
	return 0;
}

const struct report report_cuda_jit = {
	.name = "cuda_jit",
	.title = "CUDA Compilations and Module Loads",
	.help = "Which GPU code was compiled at run time or loaded from the cache?",
	.needs = NEED_JIT,
	COLUMNS(columns),
	.run = run,
};
