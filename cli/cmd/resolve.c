#include "cli/cmd/resolve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd/resolve_sources.h"
#include "cli/input/input.h"
#include "cli/model/map.h"
#include "cli/model/model.h"
#include "cli/model/process.h"
#include "cli/model/stacks/symbols.h"
#include "cli/symbols/symbols.h"
#include "cli/ui/fail.h"
#include "trace/append.h"
#include "trace/reader.h"

/* Bytes of rows and tails after which a new chunk begins; the format allows 64 MiB. */
#define CHUNK_BYTES (8u << 20)

/* Rows of one kind and process that will be written as one chunk. */
struct batch_out {
	struct batch_out *next;
	uint32_t process;               /* its number */
	unsigned kind;
	size_t n;
	struct buf rows, tails;
};

struct address_places {
	const struct spot *places;
	size_t n;
};

struct resolving {
	struct model *m;
	const struct resolve *how;
	struct resolved *out;
	const struct address *addresses;
	struct address_places *found;   /* by address */
	size_t n;
	struct batch_out *first, **last;
	/* The process whose rows are being made: */
	uint32_t process;               /* index of model_processes() */
	uint32_t next_string;
	struct map strings;             /* id of the model -> id in the file */
	bool oom;
};

static bool late(const struct resolve *how)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return how->deadline && now.tv_sec * 1000000000ll + now.tv_nsec >= how->deadline;
}

/* ---- lookup ---- */

/* Looks up all addresses: first, fast, without lines, then with lines, which may not finish before the deadline. */
static int look_up(struct resolving *r, bool lines)
{
	struct spot places[MOST_PLACES];

	for (size_t i = 0; i < r->n; i++) {
		const struct address *a = &r->addresses[i];
		struct spot *copy;
		size_t n;

		if (a->lined || (a->known && !lines))
			continue;
		if (late(r->how)) {
			r->out->late = true;
			return 0;
		}
		n = model_look_up(r->m, a, lines, places);
		/* Nothing new: no function was found, no line for a known name, or unnamed again. */
		if (!n || !places[n - 1].function || (a->known && !places[0].line) || (a->unnamed && places[n - 1].unnamed))
			continue;
		copy = malloc(n * sizeof *copy);
		if (!copy)
			return -1;
		memcpy(copy, places, n * sizeof *copy);
		free((void *)r->found[i].places);
		r->found[i] = (struct address_places){ copy, n };
	}
	return 0;
}

static void count(struct resolving *r)
{
	r->out->addresses = r->n;
	for (size_t i = 0; i < r->n; i++) {
		const struct address_places *f = &r->found[i];

		bool named = f->n && !f->places[f->n - 1].unnamed;

		r->out->added += named;
		r->out->known += named || r->addresses[i].known;
		r->out->lined += r->addresses[i].lined || (f->n && f->places[0].line);
	}
}

/* ---- rows ---- */

/* The chunk for the next row of a kind and process; NULL: out of memory (r->oom). */
static struct batch_out *batch_for(struct resolving *r, uint32_t process, unsigned kind)
{
	struct batch_out *b;

	for (b = r->first; b; b = b->next)
		if (b->process == process && b->kind == kind && b->rows.len + b->tails.len < CHUNK_BYTES)
			return b;
	b = calloc(1, sizeof *b);
	if (!b) {
		r->oom = true;
		return NULL;
	}
	*b = (struct batch_out){ .process = process, .kind = kind };
	*r->last = b;
	r->last = &b->next;
	return b;
}

static void put_row(struct resolving *r, uint32_t process, unsigned kind, const void *row, const void *tail, size_t n)
{
	struct batch_out *b = batch_for(r, process, kind);

	if (!b)
		return;
	buf_put(&b->rows, row, record_by_kind(kind)->size);
	buf_put(&b->tails, tail, n);
	b->n++;
}

/* The highest string id that a process has used. */
static uint32_t last_string(struct trace *t, uint32_t process)
{
	uint32_t last = 0;

	for (struct chunk *c = t->chunks; c < t->chunks + t->n_chunks; c++) {
		uint32_t *ids = c->head.kind == ROW_string && c->head.process == process && c->record
					? malloc(c->head.rows * sizeof *ids + 1) : NULL;

		if (ids && trace_column(t, c, COL_string_id, ids) == 0)
			for (uint32_t i = 0; i < c->head.rows; i++)
				last = ids[i] > last ? ids[i] : last;
		free(ids);
	}
	return last;
}

static void begin_process(struct resolving *r, uint32_t process)
{
	uint32_t n;

	map_release(&r->strings);
	r->process = process;
	r->next_string = last_string(model_trace(r->m), model_processes(r->m, &n)[process].image) + 1;
}

/* String id of a text for the current process; adds a string row if it is new.  0: no text, or out of memory. */
static uint32_t string_of(struct resolving *r, const char *text)
{
	uint32_t id = text ? model_intern(r->m, text) : STRING_NONE, n, *at;
	bool new;

	if (id == STRING_NONE || id == MAP_NONE)
		return 0;
	at = map_put(&r->strings, id, r->next_string, &new);
	if (!at || r->next_string >= STRING_LOST) {
		r->oom = true;
		return 0;
	}
	if (new) {
		const struct string_row row = { r->next_string++, (uint32_t)strlen(text) };

		put_row(r, model_processes(r->m, &n)[r->process].image, ROW_string, &row, text, row.bytes);
	}
	return *at - 1;
}

static void put_set(struct resolving *r, const struct address *a, const struct address_places *f)
{
	uint32_t n_processes;
	uint32_t number = model_processes(r->m, &n_processes)[a->process].image;

	for (size_t i = 0; i < f->n; i++) {
		const struct symbol_row row = {
			.offset = a->offset,
			.image = a->image,
			.name = string_of(r, f->places[i].function),
			.file = string_of(r, f->places[i].file),
			.line = f->places[i].line,
			.depth = (uint32_t)(f->n - 1 - i),
			.flags = f->places[i].unnamed ? SYMBOL_UNNAMED : 0,
		};

		put_row(r, number, ROW_symbol, &row, NULL, 0);
	}
}

static void put_sets(struct resolving *r)
{
	bool begun = false;

	for (size_t i = 0; i < r->n && !r->oom; i++) {
		if (!r->found[i].n)
			continue;
		if (!begun || r->addresses[i].process != r->process)
			begin_process(r, r->addresses[i].process);
		begun = true;
		put_set(r, &r->addresses[i], &r->found[i]);
	}
}

/* Adds a source row to the session (process 0), because processes share sources. */
static void put_source(void *arg, const char *name, const char *text, size_t n, uint32_t flags)
{
	struct resolving *r = arg;
	const struct source_row row = { string_of(r, name), flags, (uint32_t)n, 0 };

	put_row(r, 0, ROW_source, &row, text, n);
	r->out->sources++;
}

static int write_batches(struct writer *w, void *arg, struct trace_error *err)
{
	const struct resolving *r = arg;

	for (const struct batch_out *b = r->first; b; b = b->next)
		if (writer_rows(w, b->process, CLOCK_MONO, record_by_kind(b->kind), b->rows.data, b->n, b->tails.data,
				b->tails.len, err) < 0)
			return -1;
	return 0;
}

static int make_rows(struct resolving *r)
{
	r->addresses = model_addresses(r->m, &r->n);
	r->found = calloc(r->n + 1, sizeof *r->found);
	if (!r->found || look_up(r, false) < 0 || look_up(r, true) < 0)
		return -1;
	count(r);
	put_sets(r);
	if (r->how->sources != SOURCES_NONE) {
		begin_process(r, 0);
		if (sources_read(r->m, r->how->symfs, r->how->sources == SOURCES_ALL, put_source, r) < 0)
			r->oom = true;
	}
	for (const struct batch_out *b = r->first; b; b = b->next)
		r->oom |= b->rows.oom || b->tails.oom;
	return r->oom ? -1 : 0;
}

static void release(struct resolving *r)
{
	for (struct batch_out *b = r->first, *next; b; b = next) {
		next = b->next;
		buf_free(&b->rows);
		buf_free(&b->tails);
		free(b);
	}
	for (size_t i = 0; i < r->n && r->found; i++)
		free((void *)r->found[i].places);
	free(r->found);
	map_release(&r->strings);
	model_close(r->m);
}

int resolve_trace(const char *path, const struct resolve *how, struct resolved *out)
{
	struct resolving r = { .how = how, .out = out };
	struct trace_error err = { 0 };
	int fd = trace_open_to_append(path, &err), rc = -1;
	uint64_t room = 0;

	*out = (struct resolved){ 0 };
	r.last = &r.first;
	if (fd < 0)
		return fail("%s", err.text);
	r.m = input_open(&(struct input){ .path = path });
	if (!r.m)
		goto out;
	if (!model_trace(r.m)->finished) {
		fail("'%s' is not finished; 'gprof-trace recover %s' finishes it", path, path);
		goto out;
	}
	if (model_look_in(r.m, &(struct lookup){ .symfs = how->symfs, .deadline = how->deadline }) < 0 ||
	    make_rows(&r) < 0) {
		fail("cannot resolve '%s': out of memory", path);
		goto out;
	}
	rc = 0;
	for (const struct batch_out *b = r.first; b; b = b->next)
		room += 4096 + b->rows.len + b->tails.len;
	if (r.first) {
		rc = trace_append(model_trace(r.m), fd, room, write_batches, &r, &err);
		fd = -1;
		if (rc < 0)
			fail("%s", err.text);
	}
out:
	if (fd >= 0)
		close(fd);
	release(&r);
	return rc;
}
