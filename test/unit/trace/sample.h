/* Random rows of any record type, and trace files in memory, for the tests of trace/. */
#ifndef TEST_UNIT_TRACE_SAMPLE_H
#define TEST_UNIT_TRACE_SAMPLE_H

#include "test/unit/test.h"
#include "trace/reader.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

/* Pseudo-random numbers; the same in every run. */
struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);

/* Returns a number of any size; small numbers, powers of two and their neighbours, and the extremes are likely. */
uint64_t random_value(struct random *r);

struct sample {
	const struct record *record;
	size_t n;
	char *rows;
	struct buf tails;
};

/* Makes n rows, with tails if the record has them.  Times are not 0, which means no time; tails are short. */
void sample_make(struct sample *s, const struct record *r, size_t n, uint64_t seed);
void sample_free(struct sample *s);

/* A file in memory (memfd); path is its name in /proc. */
struct mem_file {
	int fd;
	char path[40];
};

void mem_file_make(struct mem_file *f, const void *bytes, size_t n);
void mem_file_free(struct mem_file *f);

/* Reads all bytes of a descriptor's file. */
void slurp(int fd, struct buf *out);

#define SAMPLE_SESSION 0x1122334455667788ull

/* Makes *f, and returns a writer to it that has written a header. */
struct writer *writer_to(struct mem_file *f);

/* Writes the sample with writer_rows(), and checks that this succeeds. */
void write_sample(struct writer *w, uint32_t process, const struct sample *s);

/* True: the chunk contains exactly the sample's rows and tails. */
bool chunk_holds(struct trace *t, struct chunk *c, const struct sample *s);

#endif
