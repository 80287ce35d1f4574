#include "cli/cmd/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/model/model.h"
#include "cli/model/nvtx/payload.h"
#include "cli/model/process.h"
#include "trace/reader.h"

/* ---- the table ---- */

static const struct redact_text_rule rules[] = {
#define TEXT(record, member, rule, word) { ROW_##record, COL_##record##_##member, REDACT_##rule, word },
#define TAIL(record, rule, word) { ROW_##record, COL_##record##_bytes, REDACT_##rule, word },
#include "cli/cmd/redact_rules.def"
#undef TEXT
#undef TAIL
};

#define N_RULES (sizeof rules / sizeof *rules)

const struct redact_text_rule *redact_rule_of(unsigned kind, unsigned field)
{
	for (size_t i = 0; i < N_RULES; i++)
		if (rules[i].kind == kind && rules[i].field == field)
			return &rules[i];
	return NULL;
}

/* Attributes that are kept, because reports need them or they explain the numbers.  Settings that are numbers are kept too. */
static const char *const kept_facts[] = {
	"format.version", "collector.version", "clock", "cpus", "cpu", "kernel", "os", "memory.peak_kb", "end", "driver", "driver.version",
	"runtime.version", "cupti.version", "cupti.buffers", "sampling", "sampling.hz", "transport", "python", "rank", "rank.from",
	"local_rank", "local_rank.from", "world_size", "world_size.from", "imported", "imported.base", "imported.fraction", "imported.span",
	"distributed.backend", "setting.schedule",
};

/* ---- state ---- */

struct redacting {
	struct model *m;
	struct trace *t;
	struct writer *w;
	struct redact_texts texts;
	struct map uses;                /* text -> index in rules */
	struct map gpus;                /* hash of a UUID -> number of the GPU */
	struct buf rows, tails, new_rows, new_tails;
	struct trace_error *err;
	bool oom;
};

/* ---- the rule for each text: one rule in all processes, so that the text gets the same replacement in all ---- */

static void note_use(struct redacting *r, const struct chunk *c, unsigned field, uint32_t id)
{
	const struct redact_text_rule *rule = id ? redact_rule_of(c->head.kind, field) : NULL;
	uint32_t text = rule ? model_intern(r->m, model_file_string(r->m, c->head.process, id)) : MAP_NONE;
	uint32_t before = map_get(&r->uses, text);

	if (rule && (before == MAP_NONE || rules[before].rule < rule->rule))
		r->oom |= text == MAP_NONE || !map_set(&r->uses, text, (uint32_t)(rule - rules));
}

static void note_uses(struct redacting *r, struct chunk *c)
{
	uint32_t *ids = malloc((size_t)c->head.rows * sizeof *ids + 1);

	r->oom |= !ids;
	for (unsigned f = 0; ids && f < c->record->n_fields; f++) {
		if (c->record->fields[f].unit != UNIT_STRING || c->head.kind == ROW_string || trace_column(r->t, c, f, ids) < 0)
			continue;
		for (uint32_t i = 0; i < c->head.rows; i++)
			note_use(r, c, f, ids[i]);
	}
	free(ids);
}

/* ---- rows ---- */

static bool is_number(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return n > 0;
}

static bool keeps_fact(const char *key, size_t key_n, const char *value, size_t n)
{
	if (key_n > 8 && memcmp(key, "setting.", 8) == 0 && is_number(value, n))
		return true;
	for (size_t i = 0; i < sizeof kept_facts / sizeof *kept_facts; i++)
		if (strlen(kept_facts[i]) == key_n && memcmp(kept_facts[i], key, key_n) == 0)
			return true;
	return false;
}

/* Attributes are "key=value".  For setting.steps=nvtx:MY_STEP@D, that steps were requested is kept and the name is removed. */
static void put_fact(struct redacting *r, const char *text, size_t n)
{
	const char *equals = memchr(text, '=', n), *value = equals ? equals + 1 : NULL;
	size_t key_n = equals ? (size_t)(equals - text) : 0, left = n - key_n - !!equals;
	struct buf *out = &r->new_tails;

	if (!equals)
		return;
	if (keeps_fact(text, key_n, value, left)) {
		buf_put(out, text, n);
	} else if (key_n == 4 && memcmp(text, "name", 4) == 0) {
		buf_put(out, text, key_n + 1);
		redact_text(&r->texts, REDACT_NAME, "program", value, left, out);
	} else if (key_n == 13 && memcmp(text, "imported.file", 13) == 0) {
		buf_put(out, text, key_n + 1);
		redact_text(&r->texts, REDACT_PATH, "file", value, left, out);
	} else if (key_n == 13 && memcmp(text, "setting.steps", 13) == 0) {
		bool names = memmem(value, left, "nvtx:", 5) != NULL;

		buf_put(out, text, names ? key_n + 1 : n);
		if (names)
			buf_put(out, "nvtx:***", 8);
	}
}

static void put_payload(struct redacting *r, const struct chunk *c, const void *row, const char *tail, size_t n)
{
	const struct payload_row *p = row;
	uint8_t *room = buf_add(&r->new_tails, n);

	if (room && n == p->bytes)
		model_payload_numbers(r->m, model_process_at(r->m, c->head.process), p, tail, room);
	else if (room)
		memset(room, 0, n);
}

/* Replaces the text of a string by the rule of the fields that use it; a string that no field uses becomes empty. */
static void put_string(struct redacting *r, const struct chunk *c, const void *row, const char *tail, size_t n)
{
	const struct string_row *s = row;
	uint32_t text = model_intern(r->m, model_file_string(r->m, c->head.process, s->id));
	uint32_t use = map_get(&r->uses, text);

	if (use != MAP_NONE)
		redact_text(&r->texts, rules[use].rule, rules[use].word, tail, n, &r->new_tails);
}

/* Appends the redacted tail of a row.  False: leave the row out. */
static bool put_tail(struct redacting *r, const struct chunk *c, const void *row, const char *tail, size_t n)
{
	const struct redact_text_rule *rule = redact_rule_of(c->head.kind, (unsigned)c->record->len_field);
	size_t before = r->new_tails.len;

	switch (rule ? rule->rule : REDACT_ROW) {
	case REDACT_STRING:
		put_string(r, c, row, tail, n);
		return true;
	case REDACT_ATTRIBUTE:
		put_fact(r, tail, n);
		return r->new_tails.len > before;
	case REDACT_PAYLOAD:
		put_payload(r, c, row, tail, n);
		return true;
	case REDACT_ROW:
		return false;
	default:
		redact_text(&r->texts, rule->rule, rule->word, tail, n, &r->new_tails);
		return true;
	}
}

/* Replaces a UUID, which identifies a GPU worldwide, by a number that is unique in the trace. */
static void number_gpu(struct redacting *r, uint64_t *high, uint64_t *low)
{
	uint32_t *at;
	bool new;

	if (!*high && !*low)
		return;
	at = map_put(&r->gpus, *high * 0x9e3779b97f4a7c15ull ^ *low, (uint32_t)r->gpus.n + 1, &new);
	r->oom |= !at;
	*high = 0;
	*low = at ? *at - 1 : 0;
}

/* Clears fields whose rule is NONE, and UUIDs. */
static void clear_fields(struct redacting *r, const struct chunk *c, uint8_t *row)
{
	for (unsigned f = 0; f < c->record->n_fields; f++) {
		const struct redact_text_rule *rule = c->record->fields[f].unit == UNIT_STRING ? redact_rule_of(c->head.kind, f) : NULL;

		if (rule && rule->rule == REDACT_NONE)
			field_store(&c->record->fields[f], row, 0);
	}
	if (c->head.kind == ROW_device) {
		struct device_row *d = (void *)row;

		number_gpu(r, &d->uuid_high, &d->uuid_low);
		number_gpu(r, &d->mig_high, &d->mig_low);
	}
}

static int write_chunk(struct redacting *r, struct chunk *c)
{
	const struct record *record = c->record;
	size_t n = 0, at = 0;
	uint8_t *rows;

	r->rows.len = r->tails.len = r->new_rows.len = r->new_tails.len = 0;
	rows = buf_add(&r->rows, (size_t)c->head.rows * record->size);
	if (!rows || trace_rows(r->t, c, rows) < 0 || (record->len_field >= 0 && trace_tails(r->t, c, &r->tails) < 0))
		return rows ? 0 : -1;   /* a damaged chunk is left out */
	for (uint32_t i = 0; i < c->head.rows; i++, rows += record->size) {
		const struct field *length = record->len_field < 0 ? NULL : &record->fields[record->len_field];
		size_t bytes = length ? (size_t)field_load(length, rows) : 0, before = r->new_tails.len;

		if (bytes > r->tails.len - at)
			bytes = r->tails.len - at;
		if (length && !put_tail(r, c, rows, r->tails.data ? (char *)r->tails.data + at : "", bytes)) {
			at += bytes;
			continue;
		}
		at += bytes;
		if (length)
			field_store(length, rows, r->new_tails.len - before);
		clear_fields(r, c, rows);
		buf_put(&r->new_rows, rows, record->size);
		n++;
	}
	if (r->oom || r->texts.oom || r->new_rows.oom || r->new_tails.oom)
		return -1;
	return n ? writer_rows(r->w, c->head.process, c->head.clock, record, r->new_rows.data, n, r->new_tails.data, r->new_tails.len,
			       r->err) : 0;
}

/* ---- the whole trace ---- */

static int write_all(struct redacting *r)
{
	struct trace *t = r->t;

	/* Do not convert times: rows are written with the times of their clocks, as they were read. */
	clock_map_release(&t->clock);
	if (clock_map_init(&t->clock, NULL, 0) < 0)
		return -1;
	for (size_t i = 0; i < t->n_chunks; i++)
		if (t->chunks[i].record && !t->chunks[i].bad)
			note_uses(r, &t->chunks[i]);
	for (size_t i = 0; i < t->n_chunks && !r->oom; i++)
		if (t->chunks[i].record && !t->chunks[i].bad && write_chunk(r, &t->chunks[i]) < 0)
			return -1;
	return r->oom ? -1 : 0;
}

int redact_write(struct model *m, int fd, const char *names, const char *keep, struct trace_error *err)
{
	struct redacting r = { .m = m, .t = model_trace(m), .err = err, .texts = { .m = m, .names = names, .keep = keep } };
	struct file_header head = { .start_real = r.t->header.start_real, .start_mono = r.t->header.start_mono };
	int rc;

	if (getrandom(&head.session, sizeof head.session, 0) != sizeof head.session)
		head.session = r.t->header.session ^ (uint64_t)head.start_mono;
	model_payloads(m);              /* loads payload layouts before the clock map is removed */
	r.w = writer_new(fd, &head, err);
	rc = r.w ? write_all(&r) : -1;
	if (rc < 0 && r.w && !err->text[0])
		trace_fail(err, 0, "out of memory");
	if (r.w && writer_finish(r.w, err) < 0)
		rc = -1;
	redact_texts_release(&r.texts);
	map_release(&r.uses);
	map_release(&r.gpus);
	buf_free(&r.rows);
	buf_free(&r.tails);
	buf_free(&r.new_rows);
	buf_free(&r.new_tails);
	return rc;
}
