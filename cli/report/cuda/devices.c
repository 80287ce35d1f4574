/* cuda_devices: the GPUs of each process, by the process's own device number. */
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/report/parts/report.h"
#include "cli/report/parts/why.h"

#include <stdlib.h>

static const struct heading columns[] = {
	{ "pid", COLUMN_ID }, { "rank", COLUMN_ID }, { "device", COLUMN_ID }, { "uuid", COLUMN_TEXT | COLUMN_RARE },
	{ "mig", COLUMN_TEXT }, { "sm_count", 0 }, { "memory_mb", 0 }, { "l2_mb", 0 }, { "clock_mhz", 0 }, { "cc", COLUMN_TEXT },
	{ "kernels", 0 }, { "name", COLUMN_TEXT },
};

/* "GPU-01234567-89ab-cdef-0123-456789abcdef", the format of nvidia-smi. */
static const char *uuid_text(struct table *t, const char *what, uint64_t high, uint64_t low)
{
	return table_keep(t, "%s-%08llx-%04llx-%04llx-%04llx-%012llx", what, (unsigned long long)(high >> 32),
			  (unsigned long long)(high >> 16 & 0xffff), (unsigned long long)(high & 0xffff),
			  (unsigned long long)(low >> 48), (unsigned long long)(low & 0xffffffffffff));
}

static struct cell mig_cell(struct table *t, const struct device_row *d)
{
	if (!(d->flags & DEVICE_KNOWN))
		return UNKNOWN;
	if (!(d->flags & DEVICE_MIG))
		return TEXT("no");
	return TEXT(table_keep(t, "%u/%u %s", d->gpu_instance, d->compute_instance,
			       uuid_text(t, "MIG", d->mig_high, d->mig_low)));
}

static struct cell rank_cell(const struct process *p)
{
	const char *rank = process_attribute(p, "rank");

	return rank && *rank && !rank[strspn(rank, "0123456789")] ? NUMBER(atol(rank)) : UNKNOWN;
}

static void put_device(struct model *m, struct table *t, const struct process *p, const struct device_row *d, uint64_t kernels)
{
	bool known = d->uuid_high || d->uuid_low;

	table_row(t, (const struct cell[]){ NUMBER(p->pid), rank_cell(p), NUMBER(d->id),
					    known ? TEXT(uuid_text(t, "GPU", d->uuid_high, d->uuid_low)) : UNKNOWN,
					    mig_cell(t, d), d->sm_count ? NUMBER(d->sm_count) : UNKNOWN,
					    d->memory ? FIXED((int64_t)((d->memory + 500) / 1000), 3) : UNKNOWN,
					    d->l2_bytes ? FIXED((d->l2_bytes + 500) / 1000, 3) : UNKNOWN,
					    d->clock_khz ? NUMBER(d->clock_khz / 1000) : UNKNOWN,
					    TEXT(table_keep(t, "%u.%u", d->cc_major, d->cc_minor)), NUMBER(kernels),
					    TEXT(model_string(m, d->name)) });
}

/* Counts the kernels of each device of the list. */
static int count_kernels(struct model *m, const struct device *list, size_t n, uint64_t *kernels)
{
	const uint32_t *device = MODEL_U32(m, kernel, device), *process = model_row_process(m, ROW_kernel);
	struct map places = { 0 };
	int rc = device && process ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = map_set(&places, (uint64_t)list[i].process << 32 | list[i].id, (uint32_t)i) ? 0 : -1;
	for (size_t i = 0, rows = model_rows(m, ROW_kernel); i < rows && rc == 0; i++) {
		uint32_t at = map_get(&places, (uint64_t)process[i] << 32 | device[i]);

		if (at != MAP_NONE)
			kernels[at]++;
	}
	map_release(&places);
	return rc;
}

static int run(struct model *m, struct table *t, const char *variant)
{
	uint32_t n_processes;
	const struct process *p = model_processes(m, &n_processes);
	size_t n;
	struct device *list = model_devices(m, &n);
	uint64_t *kernels = list ? calloc(n + 1, sizeof *kernels) : NULL;
	int rc = kernels ? count_kernels(m, list, n, kernels) : -1;

	(void)variant;
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct device_row *d = model_device(m, list[i].process, list[i].id);

		if (d)
			put_device(m, t, &p[list[i].process], d, kernels[i]);
		rc = d ? 0 : -1;
	}
	if (rc == 0 && n)
		table_note(t, "device numbers are those of each process; equal UUIDs are the same GPU");
	else if (rc == 0)
		why_no_gpu(m, t, "devices");
	free(kernels);
	free(list);
	return rc;
}

const struct report report_cuda_devices = {
	.name = "cuda_devices",
	.title = "CUDA Devices",
	.help = "Which GPUs does each process use: UUID, MIG instance, memory, clock?",
	COLUMNS(columns),
	.run = run,
};
