#include "trace/records.h"

#include <string.h>

/* Rows are stored in shared memory byte by byte, so structs must have no padding. */
#define FIELD(rec, type, member, codec, unit, doc) + sizeof(type)
#define RECORD(id, name, doc, fields)                                                                   \
	_Static_assert(sizeof(struct name##_row) == (0 fields), #name "_row has padding");              \
	_Static_assert(sizeof(struct name##_row) % 8 == 0, #name "_row is not a multiple of 8 bytes");  \
	_Static_assert((id) > 0 && (id) < ROW_KINDS, #name " has an id that does not fit a byte");
#include "trace/records.def"
#undef RECORD
#undef FIELD

#define FIELD(rec, type, member, codec, unit, doc)                                                      \
	{ #member, doc, offsetof(struct rec##_row, member), sizeof(type), CODEC_##codec, UNIT_##unit, (type)-1 < 1 },
#define RECORD(id, name, doc, fields) static const struct field name##_fields[] = { fields };
#include "trace/records.def"
#undef RECORD
#undef FIELD

/* Position of the field of unit LEN: the sum has one non-zero term, position + 1. */
#define FIELD(rec, type, member, codec, unit, doc) + (UNIT_##unit == UNIT_LEN ? COL_##rec##_##member + 1 : 0)
#define RECORD(id, name, doc, fields) enum { name##_len_field = (0 fields) - 1 };
#include "trace/records.def"
#undef RECORD
#undef FIELD

const struct record records[] = {
#define FIELD(rec, type, member, codec, unit, doc)
#define RECORD(id, name, doc, fields)                                                                   \
	{ id, sizeof(struct name##_row), N_##name##_fields, name##_len_field, #name, doc, name##_fields },
#include "trace/records.def"
#undef RECORD
#undef FIELD
};

const size_t n_records = sizeof records / sizeof *records;

const struct record *record_by_kind(unsigned kind)
{
	for (size_t i = 0; i < n_records; i++)
		if (records[i].id == kind)
			return &records[i];
	return NULL;
}

int record_field(const struct record *r, const char *name)
{
	for (unsigned f = 0; f < r->n_fields; f++)
		if (strcmp(r->fields[f].name, name) == 0)
			return (int)f;
	return -1;
}

uint64_t field_load(const struct field *f, const void *row)
{
	const char *p = (const char *)row + f->offset;
	uint64_t v;
	uint32_t u;

	if (f->size == 8) {
		memcpy(&v, p, 8);
		return v;
	}
	memcpy(&u, p, 4);
	return f->is_signed ? (uint64_t)(int64_t)(int32_t)u : u;
}

void field_store(const struct field *f, void *row, uint64_t value)
{
	char *p = (char *)row + f->offset;
	uint32_t u = (uint32_t)value;

	if (f->size == 8)
		memcpy(p, &value, 8);
	else
		memcpy(p, &u, 4);
}
