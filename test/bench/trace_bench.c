/*
 * trace_bench [ROWS]: what it costs to turn kernel and API rows into columns and back, in CPU time of one core, and how
 * many bytes they take.  The rows are made up (60 kernels in a pattern of 1500 launches, 32 ns timer, 3 % jitter), or
 * read from a text file made from a real trace: lines of "1 (kernel) or 2 (call), start, duration, correlation, name,
 * device, context, stream or thread, config".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/wire.h"

#define KERNELS     60
#define STEP        1500
#define CHUNK_BYTES (1u << 20)
#define TOTAL       10000000u           /* rows that are encoded and decoded */
#define DISTINCT    1000000u            /* rows in memory; the rest are these again */
#define ROUNDS      5

struct stream {
	const char *name;
	const struct record *record;
	char *rows;
	size_t n;
};

static uint64_t dice(uint64_t n)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s % n;
}

/* Repeated blocks of a few kernels, as a network's layers make them. */
static void make_pattern(uint8_t pattern[STEP])
{
	unsigned n = 0;

	while (n < STEP) {
		unsigned length = 6 + (unsigned)dice(14), first = (unsigned)dice(KERNELS),
			 times = 1 + (unsigned)dice(12);
		uint8_t block[32];

		for (unsigned i = 0; i < length; i++)
			block[i] = (uint8_t)((first + dice(17)) % KERNELS);
		for (unsigned i = 0; i < length * times && n < STEP; i++)
			pattern[n++] = block[i % length];
	}
}

static void make_kernels(struct kernel_row *rows, size_t n)
{
	int64_t base[KERNELS], now = 1700000000123456789;
	uint8_t pattern[STEP];
	uint32_t corr = 10000;

	for (unsigned i = 0; i < KERNELS; i++)
		base[i] = 2700 << dice(6) | (int64_t)dice(2048);
	make_pattern(pattern);
	for (size_t i = 0; i < n; i++) {
		unsigned k = dice(97) ? pattern[i % STEP] : (unsigned)dice(KERNELS);
		int64_t jitter = (int64_t)(dice(3000) + dice(3000) + dice(3000)) - 4500;
		int64_t length = (base[k] + base[k] * jitter / 100000) / 32 * 32;
		int64_t gap = (900 + (int64_t)dice(1200) + (i % STEP == STEP - 1 ? 3000000 : 0)) / 32 * 32;

		corr += 1 + (uint32_t)dice(3);
		rows[i] = (struct kernel_row){ .start = now, .duration = length, .corr = corr, .name = k, .context = 1,
			.stream = k < 4 ? 20 : 7, .config = k * 3 + !dice(16) };
		now += length + gap;
	}
}

static void make_api(struct api_row *rows, size_t n)
{
	int64_t now = 1000000000000;

	for (size_t i = 0; i < n; i++) {
		int64_t length = (2500 + (int64_t)dice(2600)) * (dice(50) ? 1 : 8);
		uint64_t which = dice(100);
		uint32_t cbid = which < 62 ? 211 : which < 80 ? 41 : which < 90 ? 317 : 100 + (uint32_t)which;

		rows[i] = (struct api_row){ .start = now, .duration = length, .corr = (uint32_t)i + 10001, .thread = 1, .name = cbid + 5,
			.cbid = 2u << 16 | cbid, .step = -1, .range = (1ull << 40) + i / 40 };
		now += length + 1500 + (int64_t)dice(9000);
	}
}

static size_t load(const char *path, unsigned wanted, struct kernel_row *kernels, struct api_row *api)
{
	unsigned kind, corr, name, device, context, stream, config;
	long long start, length;
	size_t n = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		exit(1);
	}
	while (n < DISTINCT && fscanf(f, "%u %lld %lld %u %u %u %u %u %u", &kind, &start, &length, &corr, &name,
				      &device, &context, &stream, &config) == 9) {
		if (kind != wanted)
			continue;
		if (kind == 1)
			kernels[n] = (struct kernel_row){ .start = start, .duration = length, .corr = corr, .name = name, .device = device,
				.context = context, .stream = stream, .config = config };
		else
			api[n] = (struct api_row){ .start = start, .duration = length, .corr = corr, .thread = stream, .name = name,
				.cbid = 2u << 16 | name, .step = -1 };
		n++;
	}
	fclose(f);
	return n;
}

static void die(const char *what)
{
	fprintf(stderr, "trace_bench: %s\n", what);
	exit(1);
}

static int64_t cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void row(const char *stream, const char *what, double ns, const char *beside)
{
	printf("%s: %s\t%.2f\tns/row\t%.1f M rows/s%s\n", stream, what, ns, 1e3 / ns, beside);
}

/* The chunks of a stream, one after the other; how long they took, and how many rows they hold in all. */
struct encoded {
	struct buf bodies;
	size_t per, n_chunks, *at, rows;
	unsigned *columns;
	double ns;
};

static void encode(const struct stream *s, struct encoded *e, struct packer *p)
{
	size_t repeats = (TOTAL + s->n - 1) / s->n;
	int64_t begin = cpu_ns();

	e->rows = repeats * s->n;
	for (size_t r = 0; r < repeats; r++) {
		e->bodies.len = e->n_chunks = 0;
		for (size_t i = 0; i < s->n; i += e->per) {
			size_t n = s->n - i < e->per ? s->n - i : e->per;
			int columns =
				columns_encode(p, &e->bodies, s->record, s->rows + i * s->record->size, n, NULL, 0);

			if (columns < 0)
				die("out of memory");
			e->columns[e->n_chunks] = (unsigned)columns;
			e->at[++e->n_chunks] = e->bodies.len;
		}
	}
	e->ns = (double)(cpu_ns() - begin) / (double)e->rows;
}

/* ns a row to decode the fields named by bits; 0 bits: to checksum the bodies. */
static double decode(const struct stream *s, const struct encoded *e, unsigned fields, void *out)
{
	size_t repeats = e->rows / s->n;
	int64_t begin = cpu_ns();
	uint32_t crc = 0;

	for (size_t r = 0; r < repeats; r++) {
		for (size_t c = 0; c < e->n_chunks; c++) {
			const uint8_t *body = e->bodies.data + e->at[c];
			size_t size = e->at[c + 1] - e->at[c], n = c + 1 < e->n_chunks ? e->per : s->n - c * e->per;

			if (!fields)
				crc = crc32_of(crc, body, size);
			for (unsigned f = 0; f < s->record->n_fields; f++)
				if (fields >> f & 1 &&
				    column_decode(body, size, e->columns[c], s->record, f, out, n) < 0)
					die("a column does not decode");
		}
	}
	*(volatile uint32_t *)out = crc;
	return (double)(cpu_ns() - begin) / (double)e->rows;
}

static double least_decode(const struct stream *s, const struct encoded *e, unsigned fields, void *out)
{
	double least = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double ns = decode(s, e, fields, out);

		least = ns < least ? ns : least;
	}
	return least;
}

/* Bytes of each column, for those who tune. */
static void show_columns(const struct stream *s, const struct encoded *e)
{
	double stored[257] = { 0 };
	unsigned width[257] = { 0 };

	for (size_t c = 0; c < e->n_chunks; c++) {
		for (unsigned i = 0; i < e->columns[c]; i++) {
			struct column col;

			memcpy(&col, e->bodies.data + e->at[c] + i * sizeof col, sizeof col);
			stored[col.id % 257] += col.stored;
			width[col.id % 257] = col.width;
		}
	}
	for (unsigned f = 0; f < s->record->n_fields; f++)
		if (stored[f] > 0)
			printf("# %s.%s: %.3f B/row, %u planes in the last chunk\n", s->record->name,
			       s->record->fields[f].name, stored[f] / (double)s->n, width[f]);
}

static void measure(const struct stream *s, unsigned name, unsigned duration)
{
	struct encoded e = { .per = CHUNK_BYTES / s->record->size };
	struct packer *p = packer_new();
	void *out = malloc(e.per * 8);
	char beside[64];
	double least = 1e9;

	e.at = calloc(s->n / e.per + 2, sizeof *e.at);
	e.columns = calloc(s->n / e.per + 2, sizeof *e.columns);
	if (!p || !out || !e.at || !e.columns)
		die("out of memory");
	for (int i = 0; i < ROUNDS; i++) {
		encode(s, &e, p);
		least = e.ns < least ? e.ns : least;
	}
	snprintf(beside, sizeof beside, " (goal 30)");
	row(s->name, "encode with zstd", least, beside);
	printf("%s: stored\t%.2f\tB/row\tgoal %d\n", s->name, (double)e.bodies.len / (double)s->n,
	       s->record->id == ROW_kernel ? 3 : 4);
	row(s->name, "checksum", least_decode(s, &e, 0, out), "");
	row(s->name, "decode name and duration", least_decode(s, &e, 1u << name | 1u << duration, out), "");
	row(s->name, "decode all columns", least_decode(s, &e, (1u << s->record->n_fields) - 1, out), "");
	if (getenv("COLUMNS_TOO"))
		show_columns(s, &e);
	free(e.at);
	free(e.columns);
	buf_free(&e.bodies);
	free(out);
	packer_free(p);
}

/* As the collector does: chunk after chunk, and a clock row for each tenth of a second, of a wall clock that is slewed. */
static double write_file(int fd, const struct stream *s, size_t per)
{
	struct file_header h = { .session = 1 };
	struct trace_error err = { 0 };
	struct writer *w = writer_new(fd, &h, &err);
	const struct record *clock = record_by_kind(ROW_clock);
	size_t repeats = (TOTAL + s->n - 1) / s->n;
	const int64_t *first = (const int64_t *)s->rows,
		      *last = (const int64_t *)(s->rows + (s->n - 1) * s->record->size);
	int64_t begin = cpu_ns(), took;

	for (size_t r = 0; r < repeats; r++)
		for (size_t i = 0; i < s->n; i += per)
			writer_rows(w, 1, CLOCK_REAL, s->record, s->rows + i * s->record->size,
				    s->n - i < per ? s->n - i : per, NULL, 0, &err);
	took = cpu_ns() - begin;
	for (int64_t t = *first; t < *last; t += 100000000) {
		struct clock_row row = { .mono = t - *first, .real = t + (t - *first) / 20000 };

		writer_rows(w, 0, CLOCK_MONO, clock, &row, 1, NULL, 0, &err);
	}
	if (writer_finish(w, &err) < 0 || err.text[0])
		die(err.text);
	return (double)took / (double)(repeats * s->n);
}

/* What a summary by name needs of a file: names, starts and lengths of all rows in trace time. */
static double read_file(const char *path, const struct stream *s, unsigned name, size_t per)
{
	int64_t *starts = malloc(per * 8), *lengths = malloc(per * 8), begin = cpu_ns(), took;
	uint32_t *names = malloc(per * 4);
	struct trace_error err = { 0 };
	struct trace t;

	if (trace_open(&t, path, 0, &err) < 0)
		die(err.text);
	for (struct chunk *c = t.chunks; c < t.chunks + t.n_chunks; c++)
		if (c->record == s->record &&
		    (trace_column(&t, c, name, names) < 0 || trace_spans(&t, c, starts, lengths) < 0))
			die("a chunk cannot be read");
	took = cpu_ns() - begin;
	trace_close(&t);
	free(starts);
	free(lengths);
	free(names);
	return (double)took / 1e9;
}

static void measure_file(const struct stream *s, unsigned name)
{
	size_t per = CHUNK_BYTES / s->record->size;
	int fd = memfd_create("bench", MFD_CLOEXEC);
	double least = 1e9;
	char path[40];

	row(s->name, "write a file in memory", write_file(dup(fd), s, per), "");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	for (int i = 0; i < ROUNDS; i++) {
		double seconds = read_file(path, s, name, per);

		least = seconds < least ? seconds : least;
	}
	printf("%s: open 10^7, read names, starts and lengths in trace time\t%.3f\ts\t\n", s->name, least);
	close(fd);
}

int main(int argc, char **argv)
{
	struct stream kernels = { "kernel rows", record_by_kind(ROW_kernel), NULL, DISTINCT };
	struct stream api = { "API rows", record_by_kind(ROW_api), NULL, DISTINCT };
	struct kernel_row *k = calloc(DISTINCT, sizeof *k);
	struct api_row *a = calloc(DISTINCT, sizeof *a);

	if (!k || !a)
		die("out of memory");
	if (argc > 1) {
		kernels.n = load(argv[1], 1, k, a);
		api.n = load(argv[1], 2, k, a);
	} else {
		make_kernels(k, DISTINCT);
		make_api(a, DISTINCT);
	}
	kernels.rows = (char *)k;
	api.rows = (char *)a;
	if (kernels.n) {
		measure(&kernels, COL_kernel_name, COL_kernel_duration);
		measure_file(&kernels, COL_kernel_name);
	}
	if (api.n)
		measure(&api, COL_api_name, COL_api_duration);
	free(k);
	free(a);
	return 0;
}
