/* The imported row of an event (what the event was in its file), and imported_arg rows for arguments that no other row holds. */
#include <string.h>

#include "cli/import/rows/kineto.h"

#define ON_GPU (BIT(ARG_EXTERNAL) | BIT(ARG_CORRELATION) | BIT(ARG_STREAM) | BIT(ARG_DEVICE) | BIT(ARG_CONTEXT) | BIT(ARG_GRAPH) | \
		BIT(ARG_GRAPH_NODE) | BIT(ARG_PRIORITY))

/* Arguments that the row of each class holds; all others become imported_arg rows. */
static const uint64_t placed[] = {
	[CLASS_OP] = BIT(ARG_EXTERNAL) | BIT(ARG_DIMS) | BIT(ARG_TYPES) | BIT(ARG_VALUES) | BIT(ARG_SEQUENCE) | BIT(ARG_FWD_THREAD),
	[CLASS_ANNOTATION] = BIT(ARG_EXTERNAL),
	[CLASS_PYTHON] = BIT(ARG_EXTERNAL),
	[CLASS_NVTX] = BIT(ARG_EXTERNAL),
	[CLASS_OTHER_HOST] = BIT(ARG_EXTERNAL),
	[CLASS_RUNTIME] = BIT(ARG_EXTERNAL) | BIT(ARG_CORRELATION) | BIT(ARG_CBID),
	[CLASS_DRIVER] = BIT(ARG_EXTERNAL) | BIT(ARG_CORRELATION) | BIT(ARG_CBID),
	[CLASS_KERNEL] = ON_GPU | BIT(ARG_GRID) | BIT(ARG_BLOCK) | BIT(ARG_REGISTERS) | BIT(ARG_SHARED),
	[CLASS_MEMCPY] = ON_GPU | BIT(ARG_BYTES) | BIT(ARG_FROM_DEVICE) | BIT(ARG_TO_DEVICE),
	[CLASS_MEMSET] = ON_GPU | BIT(ARG_BYTES),
	[CLASS_SYNC] = BIT(ARG_EXTERNAL) | BIT(ARG_CORRELATION) | BIT(ARG_STREAM) | BIT(ARG_CONTEXT) | BIT(ARG_EVENT),
	[CLASS_OVERHEAD] = 0,
	[CLASS_GPU_RANGE] = BIT(ARG_EXTERNAL) | BIT(ARG_STREAM) | BIT(ARG_DEVICE),
	[CLASS_SPAN] = ~0ull,
};

static void put_arg_row(struct kineto *k, const struct event *e, uint32_t key, uint32_t type, uint64_t bits, uint32_t text)
{
	struct imported_arg_row *row = buf_add(&k->args, sizeof *row);

	if (row)
		*row = (struct imported_arg_row){ .index = e->index, .key = key, .type = type, .bits = bits, .text = text };
}

/* A number that the fast path did not read. */
static void put_odd_number(struct kineto *k, const struct event *e, uint32_t key, const struct json_value *v)
{
	union { double d; uint64_t bits; } u;
	int64_t whole;

	if (json_whole(v, &whole))
		put_arg_row(k, e, key, ARG_WHOLE, (uint64_t)whole, 0);
	else if (json_double(v, &u.d))
		put_arg_row(k, e, key, ARG_DOUBLE, u.bits, 0);
	else
		put_arg_row(k, e, key, ARG_TEXT, 0, texts_value(&k->texts, v));
}

static void put_arg(struct kineto *k, const struct event *e, uint32_t key, const struct event_number *n)
{
	const struct json_value *v = &n->value;

	switch (v->type) {
	case JSON_NUMBER:
		if (n->is_whole || n->is_double)
			put_arg_row(k, e, key, n->is_whole ? ARG_WHOLE : ARG_DOUBLE, (uint64_t)n->whole, 0);
		else
			put_odd_number(k, e, key, v);
		break;
	case JSON_TRUE: case JSON_FALSE:
		put_arg_row(k, e, key, ARG_WHOLE, v->type == JSON_TRUE, 0);
		break;
	case JSON_WORD:
		kineto_count(k, COUNT_VALUE, "%.*s for '%.60s' of event %llu", v->n < 40 ? (int)v->n : 40, (const char *)v->at,
			     kineto_text(k, key), (unsigned long long)e->index);
		put_arg_row(k, e, key, ARG_TEXT, 0, texts_value(&k->texts, v));
		break;
	case JSON_TEXT:
		put_arg_row(k, e, key, ARG_TEXT, 0, texts_value(&k->texts, v));
		break;
	case JSON_LIST: case JSON_OBJECT:
		put_arg_row(k, e, key, ARG_JSON, 0, n->is_text ? (uint32_t)n->whole : event_list(k, v));
		break;
	default:
		return;
	}
}

static void put_place(struct kineto *k, const struct event *e, uint32_t key, enum arg_place place)
{
	struct event_number n = {
		.is_whole = e->plain & BIT(place), .is_text = e->known & ~e->plain & BIT(place), .whole = e->whole[place],
	};

	if (n.is_whole)
		n.value.type = JSON_NUMBER;
	else
		n.value = e->args[place];
	put_arg(k, e, key, &n);
}

static const char *const place_keys[] = {
#define ARG(key, place, doc) [place] = key,
#define SAME(key, place)
#include "cli/import/rows/kineto_args.def"
#undef ARG
#undef SAME
};

/*
 * Keeps pid and tid of a GPU event as arguments if they are not its device and stream: "stream 7" in files of 2021,
 * "[TP00] 0" in files merged from several ranks.  Also those of a host event with a stream.
 */
static void put_track(struct kineto *k, const struct event *e, enum event_class class)
{
	bool host = class < CLASS_KERNEL;
	int64_t device = host ? -1 : 0, stream = device;

	if (class != CLASS_OVERHEAD && class != CLASS_SYNC && !host)
		device = kineto_whole(e, ARG_DEVICE, 0);
	if (class != CLASS_OVERHEAD && !host)
		stream = kineto_whole(e, ARG_STREAM, 0);
	if (e->pid.value.type == JSON_TEXT || (e->pid.is_whole && e->pid.whole != device))
		put_arg(k, e, texts_put(&k->texts, "pid", 3), &e->pid);
	if (e->tid.value.type == JSON_TEXT || (e->tid.is_whole && e->tid.whole != stream))
		put_arg(k, e, texts_put(&k->texts, "tid", 3), &e->tid);
}

/* Adds imported_arg rows for all arguments that the event's row does not hold. */
static void put_args(struct kineto *k, const struct event *e, enum event_class class)
{
	uint64_t left = e->has & ~placed[class] & ~BIT(ARG_UNUSED), left_out = e->is_whole & placed[class];

	for (unsigned i = 0; i < e->n_others; i++)
		put_arg(k, e, event_word(k, k->key_of, &e->others[i].key), &e->others[i].number);
	if (e->n_lost)
		kineto_count(k, COUNT_VALUE, "more than %u arguments of event %llu", OTHER_ARGS, (unsigned long long)e->index);
	for (; left; left &= left - 1) {
		unsigned place = (unsigned)__builtin_ctzll(left);
		uint32_t key = texts_put(&k->texts, place_keys[place], strlen(place_keys[place]));

		put_place(k, e, key, place);
	}
	if (e->negative)
		put_arg_row(k, e, texts_put(&k->texts, "dur", 3), ARG_WHOLE, (uint64_t)e->negative_dur, 0);
	if (left_out & BIT(ARG_CORRELATION) && e->whole[ARG_CORRELATION] > UINT32_MAX)   /* does not fit the row's 32 bits */
		put_place(k, e, texts_put(&k->texts, "correlation", 11), ARG_CORRELATION);
	/* Host events with a stream: kernels of MTIA, operators of Triton. */
	if ((class >= CLASS_KERNEL && class < CLASS_SPAN) || (class < CLASS_KERNEL && e->has & BIT(ARG_STREAM)))
		put_track(k, e, class);
}

void event_imported(struct kineto *k, const struct event *e, enum event_class class, unsigned kind, uint32_t host)
{
	uint64_t whole = e->is_whole;
	struct imported_row *row = buf_add(&k->imported, sizeof *row);
	uint32_t *whose = buf_add(&k->imported_host, sizeof *whose);

	if (!row || !whose)
		return;
	*whose = host;
	row->index = e->index;
	row->external = whole & BIT(ARG_EXTERNAL) ? (uint64_t)e->whole[ARG_EXTERNAL] : 0;
	row->name = e->name;
	row->category = e->category;
	row->kind = kind;
	row->flags = (whole & BIT(ARG_STREAM) && e->whole[ARG_STREAM] >= 0 ? IMPORTED_STREAM : 0) |
		     (whole & BIT(ARG_CORRELATION) && e->whole[ARG_CORRELATION] >= 0 ? IMPORTED_CORRELATION : 0) |
		     (e->has_dur ? 0 : IMPORTED_ENDLESS) | (e->negative ? IMPORTED_NEGATIVE : 0) |
		     (whole & BIT(ARG_EXTERNAL) && e->whole[ARG_EXTERNAL] >= 0 ? IMPORTED_EXTERNAL : 0);
	put_args(k, e, class);
	k->understood++;
}
