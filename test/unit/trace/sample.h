/* Random rows of any record type, and trace files in memory: what the tests of this floor are made of. */
#ifndef TEST_UNIT_TRACE_SAMPLE_H
#define TEST_UNIT_TRACE_SAMPLE_H

#include "test/unit/test.h"
#include "trace/reader.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

/* A stream of numbers that is the same in every run. */
struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);

/* A number of any size: small ones, powers of two and their neighbours, and the extremes are all likely. */
uint64_t random_value(struct random *r);

struct sample {
	const struct record *record;
	size_t n;
	char *rows;
	struct buf tails;
};

/* n rows; where the record has tails, their lengths and bytes.  Times are never 0 (no time), lengths of tails small. */
void sample_make(struct sample *s, const struct record *r, size_t n, uint64_t seed);
void sample_free(struct sample *s);

/* A file without a name, for things that want a descriptor and for things that want a path. */
struct mem_file {
	int fd;
	char path[40];
};

void mem_file_make(struct mem_file *f, const void *bytes, size_t n);
void mem_file_free(struct mem_file *f);

/* All bytes of a descriptor's file. */
void slurp(int fd, struct buf *out);

#define SAMPLE_SESSION 0x1122334455667788ull

/* A writer into *f with some header. */
struct writer *writer_to(struct mem_file *f);

/* writer_rows() of a whole sample, checked. */
void write_sample(struct writer *w, uint32_t process, const struct sample *s);

/* The chunk holds exactly the sample's rows and tails. */
bool chunk_holds(struct trace *t, struct chunk *c, const struct sample *s);

#endif
