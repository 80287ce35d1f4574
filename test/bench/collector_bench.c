/*
 * collector_bench [ROWS]: kernel rows as a training job makes them, written to the blocks of an arena as a guest does,
 * taken from there by the collector into a file.  Only the collector's part is timed; copying the same bytes from
 * memory to memory is its reference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector/drain.h"
#include "collector/output.h"
#include "collector/process.h"
#include "trace/clock.h"

#define NAMES 40

struct bench {
	uint64_t random;
	int64_t gpu;                    /* where the GPU is, ns */
	uint32_t n;                     /* kernels so far */
	int64_t spent;                  /* ns in the collector */
};

static uint64_t dice(struct bench *b, uint64_t n)
{
	b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
	return (b->random >> 33) % n;
}

/*
 * Each name has its own usual duration and configuration, and runs a little shorter or longer; each tenth on a second
 * stream.
 */
static struct kernel_row next_kernel(struct bench *b)
{
	uint32_t name = b->n % NAMES;
	int64_t duration = 2000 + name * 731 + (int64_t)dice(b, 400);
	struct kernel_row row = {
		.start = b->gpu, .duration = duration, .corr = 1000 + 3 * b->n, .name = 1 + name, .context = 1,
		.stream = b->n % 10 ? 7 : 13, .config = 1 + name % 17,
	};

	b->gpu += duration + 800 + (int64_t)dice(b, 300);
	b->n++;
	return row;
}

/* As many rows as a block holds, at most `left`. */
static uint32_t fill_block(struct bench *b, struct connected_guest *g, uint32_t i, uint64_t left)
{
	const struct row_head head = { .kind = ROW_kernel, .length = sizeof head + sizeof(struct kernel_row) };
	struct block *block = arena_view_block(&g->view, i);
	uint32_t rows = arena_block_cap(&g->view, i) / head.length;
	char *p = (char *)(block + 1);

	if (rows > left)
		rows = (uint32_t)left;
	for (uint32_t r = 0; r < rows; r++, p += head.length) {
		struct kernel_row row = next_kernel(b);

		memcpy(p, &head, sizeof head);
		memcpy(p + sizeof head, &row, sizeof row);
	}
	__atomic_store_n(&block->used, rows * head.length, __ATOMIC_RELEASE);
	__atomic_fetch_add(&g->view.a->n_taken, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&g->view.a->block_state[i], BLOCK_FULL, __ATOMIC_RELEASE);
	return rows;
}

/* A handful of blocks at a time, as between two wakes of the collector. */
static void run(struct bench *b, struct tree_process *p, uint64_t rows)
{
	uint64_t done = 0;

	while (done < rows) {
		for (uint32_t i = 0; i < 8 && done < rows; i++)
			done += fill_block(b, p->guest, p->guest->view.layout.n_small + i, rows - done);

		int64_t begin = clock_ns(CLOCK_MONOTONIC);

		drain(p, DRAIN_FULL);
		if (done >= rows)
			staging_write(&p->guest->staging);
		b->spent += clock_ns(CLOCK_MONOTONIC) - begin;
	}
}

/* ns to copy the rows of 10^7 kernels from one 2 MiB buffer to another. */
static int64_t reference(uint64_t rows)
{
	size_t size = 2 << 20, bytes = rows * sizeof(struct kernel_row);
	char *from = malloc(size), *to = malloc(size);
	int64_t begin;

	memset(from, 1, size);
	memset(to, 2, size);
	begin = clock_ns(CLOCK_MONOTONIC);
	for (size_t at = 0; at < bytes; at += size) {
		memcpy(to, from, size);
		__asm__ __volatile__("" : : "r"(to) : "memory");
	}
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	free(from);
	free(to);
	return begin;
}

int main(int argc, char **argv)
{
	uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	struct bench b = { .random = 1, .gpu = 1700000000000000000 };
	struct output out = OUTPUT_INIT;
	struct file_header h = { .session = 1 };
	const struct orders_given on = { .n_orders = 1, .orders = { { .order = { .mask = ORDER_ALL, .window = 1 } } } };
	struct health_counts health_counts = { 0 };
	struct tree_process *p = process_new(CLOCK_MONO);
	struct config c;
	struct rusage use;
	uint64_t size;
	int fd;

	config_init(&c);
	snprintf(c.output, sizeof c.output, "%s/collector-bench-%d.gtrace",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", getpid());
	p->number = 1;
	if (output_open(&out, &c, &h, &health_counts) < 0 || guest_new(p, &out, "/tmp", c.arena_size, &on, &fd) < 0) {
		fprintf(stderr, "collector_bench: cannot write '%s'\n", c.output);
		return 1;
	}
	close(fd);
	run(&b, p, rows);
	size = writer_size(out.writer);
	getrusage(RUSAGE_SELF, &use);
	if (size < rows) {      /* not one kernel fits in a byte: the blocks were not taken */
		fprintf(stderr, "collector_bench: %llu rows became %llu bytes\n", (unsigned long long)rows,
			(unsigned long long)size);
		return 1;
	}
	printf("kernel rows, block to file\t%.1f\tM rows/s\t%.1fx the time to copy them\n",
	       (double)rows / (double)b.spent * 1e3,
	       (double)b.spent / (double)reference(rows));
	printf("size of a kernel row in the file\t%.2f\tbytes\t\n", (double)size / (double)rows);
	printf("collector's memory, with the blocks\t%.1f\tMiB\t\n", (double)use.ru_maxrss / 1024);
	guest_free(p);
	free(p);
	output_close(&out);
	health_counts_release(&health_counts);
	unlink(out.path);
	return health_counts.n ? 1 : 0;
}
