/* um_sum, um_total_sum, um_cpu_page_faults_sum: unified memory by page, in total, and by instruction of the CPU. */
#include "cli/report/cuda/unified.h"

#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/sort.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTOD = 1, DTOH, CPU_FAULT, GPU_FAULT, THRASHING, THROTTLING, REMOTE_MAP, DTOD };        /* unified.kind */

static const struct heading page_columns[] = {
	{ "Virtual Address", COLUMN_TEXT }, { "HtoD Migration size (MB)", 0 }, { "DtoH Migration size (MB)", 0 },
	{ "CPU Page Faults", 0 }, { "GPU Page Faults", 0 }, { "Migration Throughput (MB/s)", 0 },
};

static const struct heading total_columns[] = {
	{ "Total HtoD Migration Size (MB)", 0 }, { "Total DtoH Migration Size (MB)", 0 }, { "Total CPU Page Faults", 0 },
	{ "Total GPU PageFaults", 0 }, { "Minimum Virtual Address", COLUMN_TEXT }, { "Maximum Virtual Address", COLUMN_TEXT },
};

static const struct heading instruction_columns[] = { { "CPU Page Faults", 0 }, { "CPU Instruction Address", COLUMN_TEXT } };

struct unified {
	struct model *m;
	const int64_t *start, *duration;
	const uint64_t *address, *bytes, *pc;
	const uint32_t *kind, *faults, *process;
	size_t n;
	bool cpu_faults, gpu_faults;    /* the faults were recorded; else their number is unknown */
};

/* Sums for one address, or for the whole trace. */
struct transfer_sum {
	uint32_t process;
	uint64_t address;               /* of the page; in um_cpu_page_faults_sum of the instruction */
	uint64_t htod, dtoh, cpu, gpu;  /* bytes to and from devices; page faults of CPU and GPUs */
	unsigned __int128 timed_bytes, ns;      /* of the transfers that have a time */
};

struct sums_of {
	struct map *index;              /* by process: address -> position in list */
	uint32_t n_processes;
	struct transfer_sum *list;
	size_t n, cap;
};

static bool recorded(struct model *m, const char *setting)
{
	const char *value = model_attribute(m, setting);

	return value && strcmp(value, "1") == 0;
}

static bool unified_read(struct unified *u, struct model *m)
{
	*u = (struct unified){
		.m = m, .n = model_rows(m, ROW_unified),
		.cpu_faults = recorded(m, "setting.um_cpu_faults"), .gpu_faults = recorded(m, "setting.um_gpu_faults"),
	};
	return (u->start = MODEL_I64(m, unified, start)) && (u->duration = MODEL_I64(m, unified, duration)) &&
	       (u->address = MODEL_U64(m, unified, address)) && (u->bytes = MODEL_U64(m, unified, bytes)) &&
	       (u->pc = MODEL_U64(m, unified, pc)) && (u->kind = MODEL_U32(m, unified, kind)) &&
	       (u->faults = MODEL_U32(m, unified, faults)) && (u->process = model_row_process(m, ROW_unified));
}

static void why_none(struct unified *u, struct table *t, const char *what, bool asked)
{
	if (u->cpu_faults || u->gpu_faults ? asked : false)
		why_no_gpu(u->m, t, what);
	else
		table_note(t, "%s were not recorded: %s", what,
			   why_lacks(u->m, "record with --cuda-um-cpu-page-faults=true and --cuda-um-gpu-page-faults=true", NULL));
}

static bool sums_begin(struct sums_of *s, struct model *m)
{
	*s = (struct sums_of){ 0 };
	model_processes(m, &s->n_processes);
	s->index = calloc(s->n_processes + 1, sizeof *s->index);
	return s->index != NULL;
}

static void sums_end(struct sums_of *s)
{
	for (uint32_t p = 0; s->index && p < s->n_processes; p++)
		map_release(&s->index[p]);
	free(s->index);
	free(s->list);
}

/* The sum of an address, created if missing; valid until the next call.  NULL: out of memory. */
static struct transfer_sum *sum_of(struct sums_of *s, uint32_t process, uint64_t address)
{
	uint32_t *at;
	bool new;

	if (!GROW(s->list, s->n + 1, s->cap))
		return NULL;
	at = map_put(&s->index[process], address, (uint32_t)s->n, &new);
	if (at && new)
		s->list[s->n++] = (struct transfer_sum){ .process = process, .address = address };
	return at ? &s->list[*at - 1] : NULL;
}

static void add_transfer(struct transfer_sum *s, const struct unified *u, size_t row)
{
	switch (u->kind[row]) {
	case HTOD:
	case DTOH:
		*(u->kind[row] == HTOD ? &s->htod : &s->dtoh) += u->bytes[row];
		if (u->start[row] && u->duration[row] > 0) {
			s->timed_bytes += u->bytes[row];
			s->ns += (uint64_t)u->duration[row];
		}
		break;
	case CPU_FAULT:
		s->cpu++;
		break;
	case GPU_FAULT:
		s->gpu += u->faults[row];
		break;
	}
}

static struct cell megabytes(uint64_t bytes)
{
	return FIXED((int64_t)(bytes / 1000 + (bytes % 1000 >= 500)), 3);
}

static struct cell hex(struct table *t, uint64_t address)
{
	return TEXT(table_keep(t, "0x%llx", (unsigned long long)address));
}

/* Thousandths of MB/s (1 byte/ns = 1000 MB/s); -1: no transfer has a time. */
static int64_t throughput(const struct transfer_sum *s)
{
	return s->ns ? (int64_t)((s->timed_bytes * 1000000 + s->ns / 2) / s->ns) : -1;
}

/* Highest throughput first, as in nsys. */
static int by_throughput(const void *a, const void *b)
{
	const struct transfer_sum *p = a, *q = b;
	int64_t x = throughput(p), y = throughput(q);

	if (x != y)
		return x > y ? -1 : 1;
	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->address < q->address ? -1 : p->address > q->address;
}

/* Notes the kinds of rows that nsys's tables have no column for. */
static void note_others(const struct unified *u, struct table *t)
{
	uint64_t n[DTOD + 1] = { 0 }, between = 0;

	for (size_t i = 0; i < u->n; i++) {
		if (u->kind[i] <= DTOD)
			n[u->kind[i]]++;
		if (u->kind[i] == DTOD)
			between += u->bytes[i];
	}
	if (n[DTOD])
		table_note(t, "also transfers from device to device: %llu, of %llu bytes", (unsigned long long)n[DTOD],
			   (unsigned long long)between);
	if (n[THRASHING] || n[THROTTLING] || n[REMOTE_MAP])
		table_note(t, "pages used by several processors: thrashing %llu times, throttled %llu times, mapped remotely %llu times",
			   (unsigned long long)n[THRASHING], (unsigned long long)n[THROTTLING], (unsigned long long)n[REMOTE_MAP]);
	if (!u->cpu_faults || !u->gpu_faults)
		table_note(t, "page faults of %s were not recorded (--cuda-um-%s-page-faults=true)",
			   u->cpu_faults ? "GPUs" : "the CPU", u->cpu_faults ? "gpu" : "cpu");
}

static bool moves_or_faults(uint32_t kind)
{
	return (kind >= HTOD && kind <= GPU_FAULT);
}

static int run_pages(struct model *m, struct table *t, const char *variant)
{
	struct sums_of s;
	struct unified u;
	int rc = -1;

	(void)variant;
	if (!sums_begin(&s, m) || !unified_read(&u, m))
		goto out;
	for (size_t i = 0; i < u.n; i++) {
		struct transfer_sum *page = moves_or_faults(u.kind[i]) ? sum_of(&s, u.process[i], u.address[i]) : NULL;

		if (page)
			add_transfer(page, &u, i);
		else if (moves_or_faults(u.kind[i]))
			goto out;
	}
	if (s.n)
		qsort(s.list, s.n, sizeof *s.list, by_throughput);
	for (size_t i = 0; i < s.n; i++) {
		const struct transfer_sum *p = &s.list[i];

		table_row(t, (const struct cell[]){
				     hex(t, p->address), megabytes(p->htod), megabytes(p->dtoh),
				     u.cpu_faults ? NUMBER(p->cpu) : UNKNOWN, u.gpu_faults ? NUMBER(p->gpu) : UNKNOWN,
				     p->ns ? FIXED(throughput(p), 3) : UNKNOWN });
	}
	if (s.n)
		note_others(&u, t);
	else
		why_none(&u, t, "transfers and page faults of unified memory", true);
	rc = 0;
out:
	sums_end(&s);
	return rc;
}

static int run_total(struct model *m, struct table *t, const char *variant)
{
	struct transfer_sum all = { 0 };
	uint64_t lowest = UINT64_MAX, highest = 0;
	struct unified u;

	(void)variant;
	if (!unified_read(&u, m))
		return -1;
	for (size_t i = 0; i < u.n; i++) {
		if (!moves_or_faults(u.kind[i]))
			continue;
		add_transfer(&all, &u, i);
		lowest = u.address[i] < lowest ? u.address[i] : lowest;
		highest = u.address[i] > highest ? u.address[i] : highest;
	}
	if (lowest > highest) {
		why_none(&u, t, "transfers and page faults of unified memory", true);
		return 0;
	}
	table_row(t, (const struct cell[]){
			     megabytes(all.htod), megabytes(all.dtoh), u.cpu_faults ? NUMBER(all.cpu) : UNKNOWN,
			     u.gpu_faults ? NUMBER(all.gpu) : UNKNOWN, hex(t, lowest), hex(t, highest) });
	note_others(&u, t);
	return 0;
}

int unified_text(struct model *m, char *text, size_t size)
{
	struct transfer_sum all = { 0 };
	struct unified u;
	size_t n;

	*text = '\0';
	if (!model_rows(m, ROW_unified))
		return 0;
	if (!unified_read(&u, m))
		return -1;
	for (size_t i = 0; i < u.n; i++)
		add_transfer(&all, &u, i);
	n = (size_t)snprintf(text, size, "%llu.%llu MB to GPUs, %llu.%llu MB back",
			     (unsigned long long)all.htod / 1000000, (unsigned long long)all.htod / 100000 % 10,
			     (unsigned long long)all.dtoh / 1000000, (unsigned long long)all.dtoh / 100000 % 10);
	if (u.cpu_faults && n < size)
		n += (size_t)snprintf(text + n, size - n, ", page faults of the CPU: %llu",
				      (unsigned long long)all.cpu);
	if (u.gpu_faults && n < size)
		n += (size_t)snprintf(text + n, size - n, ", of GPUs: %llu", (unsigned long long)all.gpu);
	if (n < size)
		snprintf(text + n, size - n, " (details: report -r um_sum)");
	return 0;
}

static int by_faults(const void *a, const void *b)
{
	const struct transfer_sum *p = a, *q = b;

	if (p->cpu != q->cpu)
		return p->cpu > q->cpu ? -1 : 1;
	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	return p->address < q->address ? -1 : p->address > q->address;
}

static int run_instructions(struct model *m, struct table *t, const char *variant)
{
	struct sums_of s;
	struct unified u;
	int rc = -1;

	(void)variant;
	if (!sums_begin(&s, m) || !unified_read(&u, m))
		goto out;
	for (size_t i = 0; i < u.n; i++) {
		struct transfer_sum *at = u.kind[i] == CPU_FAULT ? sum_of(&s, u.process[i], u.pc[i]) : NULL;

		if (at)
			at->cpu++;
		else if (u.kind[i] == CPU_FAULT)
			goto out;
	}
	if (s.n)
		qsort(s.list, s.n, sizeof *s.list, by_faults);
	for (size_t i = 0; i < s.n; i++)
		table_row(t, (const struct cell[]){ NUMBER(s.list[i].cpu), hex(t, s.list[i].address) });
	if (s.n)
		table_note(t, "addresses are those of the process; this version does not resolve them to functions");
	else
		why_none(&u, t, "page faults of the CPU", u.cpu_faults);
	rc = 0;
out:
	sums_end(&s);
	return rc;
}

const struct report report_um_sum = {
	.name = "um_sum",
	.title = "Unified Memory Analysis Summary",
	.help = "Which addresses of unified memory cause transfers and page faults?",
	.needs = NEED_UNIFIED,
	.adds = { ROW_unified },
	COLUMNS(page_columns),
	.run = run_pages,
};

const struct report report_um_total_sum = {
	.name = "um_total_sum",
	.title = "Unified Memory Totals Summary",
	.help = "How many transfers and page faults does unified memory cause in total?",
	.needs = NEED_UNIFIED,
	.adds = { ROW_unified },
	COLUMNS(total_columns),
	.run = run_total,
};

const struct report report_um_cpu_page_faults_sum = {
	.name = "um_cpu_page_faults_sum",
	.title = "Unified Memory CPU Page Faults Summary",
	.help = "Which instructions cause CPU page faults of unified memory?",
	.needs = NEED_UNIFIED,
	.adds = { ROW_unified },
	COLUMNS(instruction_columns),
	.run = run_instructions,
};
