/* cuda_devices: the GPUs of each process, by the process's own device number. */
#include "cli/analyze/report.h"
#include "cli/analyze/why.h"
#include "cli/model/model.h"
#include "cli/model/process.h"

#include <stdlib.h>

#define MOST_DEVICES 64u        /* of one process */

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

static void put(struct model *m, struct table *t, const struct process *p, const struct device_row *d, uint64_t kernels)
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

static int run(struct model *m, struct table *t, const char *variant)
{
	const uint32_t *device = MODEL_U32(m, kernel, device), *process = model_row_process(m, ROW_kernel);
	uint32_t n, shown = 0;
	const struct process *p = model_processes(m, &n);
	uint64_t *kernels = calloc((size_t)n * MOST_DEVICES, sizeof *kernels);

	(void)variant;
	if (!device || !process || !kernels) {
		free(kernels);
		return -1;
	}
	for (size_t i = 0, rows = model_rows(m, ROW_kernel); i < rows; i++)
		if (device[i] < MOST_DEVICES)
			kernels[(size_t)process[i] * MOST_DEVICES + device[i]]++;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t id = 0; id < MOST_DEVICES; id++) {
			const struct device_row *d = model_device(m, i, id);

			if (d)
				put(m, t, &p[i], d, kernels[(size_t)i * MOST_DEVICES + id]);
			shown += d != NULL;
		}
	free(kernels);
	if (!shown)
		why_no_gpu(m, t, "devices");
	else
		table_note(t, "device numbers are those of each process; equal UUIDs are the same GPU");
	if (model_devices_from(m, MOST_DEVICES))
		table_note(t, "devices with numbers from %u on are left out: %zu", MOST_DEVICES, model_devices_from(m, MOST_DEVICES));
	return 0;
}

const struct report report_cuda_devices = {
	.name = "cuda_devices",
	.title = "CUDA Devices",
	.help = "Which GPUs does each process use: UUID, MIG instance, memory, clock?",
	COLUMNS(columns),
	.run = run,
};
