/* Repeated parts of a Kineto file: times, names, tracks, launch configurations. */
#include "cli/export/kineto/kineto_pieces.h"
#include "cli/export/kineto/kineto.h"
#include "cli/model/gpu/occupancy.h"
#include "cli/model/names.h"
#include "cli/model/sort.h"
#include "trace/grow.h"

#include <stdlib.h>

static struct kineto_writer *own(struct export *x)
{
	return x->own;
}

/* ---- times ---- */

/* With --us start and end are both rounded down, which keeps nesting.  from and to are not negative here. */
void kineto_span(struct export *x, int64_t start, int64_t duration)
{
	int64_t from = time_sub(start, own(x)->base), to = time_add(from, duration > 0 ? duration : 0);

	if (from < 0)
		from = 0;
	if (to < from)
		to = from;
	if (x->integers) {
		out_i64(x->out, from / 1000);
		out_lit(x->out, ", \"dur\": ");
		out_i64(x->out, to / 1000 - from / 1000);
	} else {
		out_fixed(x->out, from, 3);
		out_lit(x->out, ", \"dur\": ");
		out_fixed(x->out, to - from, 3);
	}
}

void kineto_time(struct export *x, int64_t ns)
{
	ns = time_sub(ns, own(x)->base);
	if (ns < 0)
		ns = 0;
	if (x->integers)
		out_i64(x->out, ns / 1000);
	else
		out_fixed(x->out, ns, 3);
}

/* ---- pieces ---- */

/* The cached piece of a key; NULL: not made yet. */
static const struct kineto_piece *piece_get(struct export *x, enum piece_class class, uint64_t key)
{
	uint32_t at = map_get(&own(x)->index[class], key);

	return at == MAP_NONE ? NULL : &own(x)->pieces[at];
}

/* Begins a piece; it is written to memory with the same functions as the file. */
static struct out *piece_begin(struct export *x)
{
	return &own(x)->making;
}

static const struct kineto_piece *piece_end(struct export *x, enum piece_class class, uint64_t key)
{
	static const struct kineto_piece none = { "\"?\"", 3 };
	struct kineto_writer *k = own(x);
	struct kineto_piece made = { .len = 0 };

	if (GROW(k->pieces, k->n_pieces + 1, k->cap_pieces) && out_flush(&k->making) == 0 && fflush(k->memory) == 0)
		made = (struct kineto_piece){ malloc(k->made_len + 1), k->made_len };
	if (!made.text || !map_set(&k->index[class], key, (uint32_t)k->n_pieces)) {
		free(made.text);
		x->oom = true;
		return &none;
	}
	memcpy(made.text, k->made, made.len);
	rewind(k->memory);              /* the next piece overwrites this one */
	k->pieces[k->n_pieces] = made;
	return &k->pieces[k->n_pieces++];
}

void kineto_name(struct export *x, enum piece_class class, uint32_t id)
{
	static const enum name_style styles[] = {
		[PIECE_KERNEL] = NAME_DEMANGLED, [PIECE_CALL] = NAME_API_PLAIN, [PIECE_TEXT] = NAME_AS_IS,
	};
	const struct kineto_piece *piece = piece_get(x, class, id);

	if (!piece) {
		const char *text = model_string(x->m, model_name(x->m, id, styles[class]));

		/* With nvcc 13, <<<>>> calls __cudaLaunchKernel, but HTA recognises launches only by the name cudaLaunchKernel. */
		if (class == PIECE_CALL && strncmp(text, "__", 2) == 0)
			text += 2;
		json_string(piece_begin(x), text);
		piece = piece_end(x, class, id);
	}
	out_bytes(x->out, piece->text, piece->len);
}

/* Whether a text can be written as a JSON list without breaking the file: all brackets and quotes are closed in order. */
static bool is_list(const char *text)
{
	unsigned open = 0;
	bool quoted = false;

	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || (p > text && !open))
			return false;
		if (quoted) {
			quoted = *p != '"';
			if (*p == '\\' && !*++p)
				return false;
		} else if (*p == '"') {
			quoted = true;
		} else if (*p == '[') {
			open++;
		} else if (*p == ']') {
			open--;
		} else if (!open || !strchr("0123456789.-, ", *p)) {
			return false;
		}
	}
	return *text && !open && !quoted;
}

void kineto_list(struct export *x, uint32_t id)
{
	const struct kineto_piece *piece = piece_get(x, PIECE_LIST, id);

	if (!piece) {
		const char *text = model_string(x->m, id);

		if (is_list(text))
			out_text(piece_begin(x), text);
		else
			json_string(piece_begin(x), text);
		piece = piece_end(x, PIECE_LIST, id);
	}
	out_bytes(x->out, piece->text, piece->len);
}

void kineto_track(struct export *x, uint32_t track)
{
	const struct kineto_piece *piece = piece_get(x, PIECE_TRACK, track);

	if (!piece) {
		const struct track *t = &x->tracks[track];

		out_format(piece_begin(x), ", \"pid\": %d, \"tid\": %u, \"ts\": ", (int)t->pid, t->tid);
		piece = piece_end(x, PIECE_TRACK, track);
	}
	out_bytes(x->out, piece->text, piece->len);
}

void kineto_ratio(struct out *o, unsigned __int128 a, uint64_t b)
{
	out_fixed(o, (int64_t)((a * 1000000 + b / 2) / b), 6);
}

/* Kineto's estimate of achieved occupancy: threads of the resident blocks (launched, at most those that fit) in percent of the limit. */
static void put_occupancy(struct out *o, const struct config_row *c, const struct device_row *d, uint64_t blocks,
			  uint64_t threads)
{
	uint64_t room = (uint64_t)d->max_warps_sm * d->warp * d->sm_count, resident;
	struct occupancy full;

	if (!occupancy_of(c, d, &full))
		return;
	resident = blocks < (uint64_t)full.blocks * d->sm_count ? blocks : (uint64_t)full.blocks * d->sm_count;
	out_lit(o, ", \"est. achieved occupancy %\": ");
	out_u64(o, (resident * threads * 100 + room / 2) / room);
}

static void put_config_args(struct out *o, const struct config_row *c, const struct device_row *d)
{
	uint64_t blocks = (uint64_t)c->grid_x * c->grid_y * c->grid_z,
		 threads = (uint64_t)c->block_x * c->block_y * c->block_z;

	out_format(o, ", \"registers per thread\": %u, \"shared memory\": %llu", c->registers,
		   (unsigned long long)c->static_shared + c->dynamic_shared);
	if (d && d->sm_count) {
		out_lit(o, ", \"blocks per SM\": ");
		kineto_ratio(o, blocks, d->sm_count);
		out_lit(o, ", \"warps per SM\": ");
		kineto_ratio(o, (unsigned __int128)blocks * threads, (uint64_t)d->sm_count * (d->warp ? d->warp : 32));
		put_occupancy(o, c, d, blocks, threads);
	}
	out_format(o, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", c->grid_x, c->grid_y, c->grid_z, c->block_x,
		   c->block_y, c->block_z);
}

/* The text is the same for all kernels of a configuration on a device, so it is cached. */
void kineto_config(struct export *x, const struct track *t, uint32_t config)
{
	uint64_t key = ((uint64_t)t->process * 64 + t->device) << 32 | config;
	const struct kineto_piece *piece = piece_get(x, PIECE_CONFIG, key);
	const struct config_row *c;
	const struct device_row *d;
	struct out *o;

	if (!piece) {
		c = model_config(x->m, t->process, config);
		d = model_device(x->m, t->process, t->device);
		o = piece_begin(x);
		if (c)
			put_config_args(o, c, d);
		piece = piece_end(x, PIECE_CONFIG, key);
	}
	out_bytes(x->out, piece->text, piece->len);
}

void kineto_copy_name(struct export *x, unsigned kind, unsigned from, unsigned to)
{
	uint64_t key = (uint64_t)kind << 40 | (uint64_t)(from & 0xfffff) << 20 | (to & 0xfffff);
	const struct kineto_piece *piece = piece_get(x, PIECE_COPY, key);
	const char *how = memcpy_short(kind), *source = memory_words(from), *target = memory_words(to);
	struct out *o;

	if (!piece) {
		o = piece_begin(x);
		if (kind)
			out_format(o, "\"Memcpy %s (%s -> %s)\"", how ? how : "Unknown", source ? source : "Unknown",
				   target ? target : "Unknown");
		else
			out_format(o, "\"Memset (%s)\"", target ? target : "Unknown");
		piece = piece_end(x, PIECE_COPY, key);
	}
	out_bytes(x->out, piece->text, piece->len);
}

void kineto_pieces_release(struct kineto_writer *k)
{
	for (size_t i = 0; i < k->n_pieces; i++)
		free(k->pieces[i].text);
	for (size_t i = 0; i < PIECE_CLASSES; i++)
		map_release(&k->index[i]);
	free(k->pieces);
}
