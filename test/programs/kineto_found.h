/* Part of kineto_client.c: reads records and prints tables.  Uses the options `o`, the buffers, and begin and end of the profile. */
#ifndef TEST_PROGRAMS_KINETO_FOUND_H
#define TEST_PROGRAMS_KINETO_FOUND_H

static struct {
	char name[64];
	uint64_t n, sum;
} kernels[16];
static size_t n_kernels;
static struct {
	uint64_t copies, copy_bytes, sets, driver, runtime, external, external_sum, waits, graphs, others;
	uint64_t strange_threads, outside;
} found;

static void add_kernel(const char *name, uint64_t ns)
{
	size_t i;

	for (i = 0; i < n_kernels; i++)
		if (strcmp(kernels[i].name, name) == 0)
			break;
	if (i == sizeof kernels / sizeof *kernels)
		return;
	if (i == n_kernels)
		snprintf(kernels[n_kernels++].name, sizeof kernels[0].name, "%s", name);
	kernels[i].n++;
	kernels[i].sum += ns;
}

static uint64_t profile_begin, profile_end;

static void check_time(uint64_t start, uint64_t end)
{
	found.outside += o.clock && (start < profile_begin || end > profile_end || end < start);
}

static void one(CUpti_Activity *r)
{
	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL: {
		CUpti_ActivityKernel4 *k = (CUpti_ActivityKernel4 *)r;

		/* own_clock() is three times as fast; after division and rounding the output is the same. */
		add_kernel(k->name, o.clock ? (k->end - k->start + 1500) / 3000 * 1000 : k->end - k->start);
		check_time(k->start, k->end);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		CUpti_ActivityMemcpy *m = (CUpti_ActivityMemcpy *)r;

		found.copies++;
		found.copy_bytes += m->bytes;
		check_time(m->start, m->end);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET:
		found.sets++;
		check_time(((CUpti_ActivityMemset *)r)->start, ((CUpti_ActivityMemset *)r)->end);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		found.driver++;
		if (o.threads == 1)
			found.strange_threads += ((CUpti_ActivityAPI *)r)->threadId != (uint32_t)pthread_self();
		check_time(((CUpti_ActivityAPI *)r)->start, ((CUpti_ActivityAPI *)r)->end);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		found.runtime++;
		break;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		found.external++;
		found.external_sum += ((CUpti_ActivityExternalCorrelation *)r)->externalId;
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		found.waits++;
		check_time(((CUpti_ActivitySynchronization *)r)->start, ((CUpti_ActivitySynchronization *)r)->end);
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		found.graphs++;
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		break;          /* any number is valid */
	default:
		found.others++;
	}
}

static void parse(void)
{
	for (int i = 0; i < n_buffers; i++) {
		CUpti_Activity *r = NULL;

		while (buffers[i].ready &&
		       cuptiActivityGetNextRecord(buffers[i].data, buffers[i].valid, &r) == CUPTI_SUCCESS)
			one(r);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void print(int cycle)
{
	size_t dropped = 0;

	cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	qsort(kernels, n_kernels, sizeof *kernels, by_name);
	for (size_t i = 0; i < n_kernels; i++)
		printf("%d: kernel %s %llu times, %llu ns\n", cycle, kernels[i].name, (ull)kernels[i].n,
		       (ull)kernels[i].sum);
	printf("%d: copies %llu (%llu bytes) sets %llu driver calls %llu runtime calls %llu waits %llu graphs %llu\n",
	       cycle, (ull)found.copies, (ull)found.copy_bytes, (ull)found.sets,
	       (ull)found.driver, (ull)found.runtime, (ull)found.waits,
	       (ull)found.graphs);
	printf("%d: external %llu sum %llu others %llu\n", cycle, (ull)found.external,
	       (ull)found.external_sum, (ull)found.others);
	printf("%d: strange threads %llu, outside of the profile %llu, dropped %s\n", cycle, (ull)found.strange_threads,
	       (ull)found.outside, dropped ? "some" : "none");
	n_kernels = 0;
	memset(kernels, 0, sizeof kernels);
	memset(&found, 0, sizeof found);
}

#endif
