/*
 * Prints the content of a trace for tests, one fact per line:
 *
 *	finished | unfinished
 *	damage N
 *	rows PROCESS KIND N
 *	process NUMBER flags=HEX pid=PID parent=NUMBER ended|alive
 *	attribute PROCESS key=value
 *	health PROCESS REASON COUNT DETAIL
 *	drop PROCESS KIND where=N COUNT
 *	range PROCESS flags=N level=N positive|zero NAME-ID
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/health.h"
#include "trace/reader.h"
#include "trace/wire.h"

#define MAX_PROCESS 4096

static uint64_t counts[MAX_PROCESS][ROW_KINDS];

static const char *reason_name(unsigned reason)
{
	static const char *const names[HEALTH_REASONS] = {
#define REASON(id, name, what, next) [id] = #name,
#include "trace/health.def"
#undef REASON
	};

	return reason < HEALTH_REASONS && names[reason] ? names[reason] : "?";
}

static void tell(unsigned process, unsigned kind, const void *row, const char *tail, size_t n)
{
	const struct process_row *p = row;
	const struct attribute_row *a = row;
	const struct health_row *h = row;
	const struct drop_row *d = row;
	const struct range_row *r = row;

	switch (kind) {
	case ROW_process:
		printf("process %u flags=%x pid=%u parent=%u %s\n", p->number, p->flags, p->pid, p->parent,
		       p->end ? "ended" : "alive");
		break;
	case ROW_attribute:
		printf("attribute %u %.*s\n", a->process, (int)n, tail);
		break;
	case ROW_health:
		printf("health %u %s %" PRIu64 " %.*s\n", process, reason_name(h->reason), h->count, (int)n, tail);
		break;
	case ROW_drop:
		printf("drop %u %s where=%u %" PRIu64 "\n", process,
		       record_by_kind(d->kind) ? record_by_kind(d->kind)->name : "?", d->where, d->count);
		break;
	case ROW_range:
		printf("range %u flags=%u level=%u %s %u\n", process, r->flags, r->level,
		       r->duration > 0 ? "positive" : "zero", r->name);
		break;
	}
}

static void tell_chunk(struct trace *t, struct chunk *c)
{
	const struct record *r = c->record;
	char *rows = malloc((size_t)c->head.rows * r->size + 1);
	struct buf tails = { 0 };
	size_t at = 0;

	if (trace_rows(t, c, rows) == 0 && (r->len_field < 0 || trace_tails(t, c, &tails) == 0)) {
		for (uint32_t i = 0; i < c->head.rows; i++) {
			const char *row = rows + (size_t)i * r->size;
			size_t n = r->len_field >= 0 ? field_load(&r->fields[r->len_field], row) : 0;

			tell(c->head.process, r->id, row, (const char *)tails.data + at, n);
			at += n;
		}
	}
	buf_free(&tails);
	free(rows);
}

int main(int argc, char **argv)
{
	struct trace t = TRACE_INIT;
	struct trace_error err = { 0 };

	if (argc != 2 || trace_open(&t, argv[1], 0, &err) < 0) {
		fprintf(stderr, "count_rows: %s\n", argc == 2 ? err.text : "needs a trace");
		return 1;
	}
	puts(t.finished ? "finished" : "unfinished");
	printf("damage %zu\n", trace_check(&t));
	for (size_t i = 0; i < t.n_chunks; i++) {
		struct chunk *c = &t.chunks[i];

		if (!c->record || c->bad)
			continue;
		if (c->head.process < MAX_PROCESS)
			counts[c->head.process][c->record->id] += c->head.rows;
		tell_chunk(&t, c);
	}
	for (unsigned p = 0; p < MAX_PROCESS; p++)
		for (unsigned k = 0; k < ROW_KINDS; k++)
			if (counts[p][k])
				printf("rows %u %s %" PRIu64 "\n", p, record_by_kind(k)->name, counts[p][k]);
	trace_close(&t);
	return 0;
}
