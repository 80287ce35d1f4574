#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/python/python_state.h"
#include "inject/stacks/stacks.h"

/*
 * The call site of a launch: its innermost Python frames in user code, then frames of libraries if there are too few.  Two launches have
 * the same site if their code objects and instructions agree from the innermost frame to the last one kept.  A hash of these finds the id,
 * so a known site costs a walk and one comparison.  Each frame contributes four words: the addresses of the code object and of the
 * instruction and, because addresses are reused, of the code object's name and line table.
 */
#define SITE_FRAMES 3u
#define SITE_DEPTH  24u         /* frames that are searched for user code: PyTorch has three frames between two modules of a model */
#define PLACES      8192u       /* a power of two */

/* key is hash ^ id: a pair written by two threads at the same time matches no hash. */
struct cached_site {
	uint64_t key, id;
};

/* only_place and only_kind replace the tables when there is no memory for them. */
static struct cached_site *places, only_place;

/* Code addresses, with KIND_USER set where the code is not a library's.  A wrong entry only makes the search longer or shorter. */
#define KIND_USER 1u
static uint64_t *kinds, only_kind;

static inline uint64_t *kind_of(uint64_t code)
{
	uint64_t *all = MEMORY_TABLE(kinds, PLACES);

	return likely(all != NULL) ? &all[code * 0x9e3779b97f4a7c15ull >> 51] : &only_kind;
}

static inline struct cached_site *place_of(uint64_t hash)
{
	struct cached_site *all = MEMORY_TABLE(places, PLACES);

	return likely(all != NULL) ? &all[hash >> 51] : &only_place;
}

static inline uint64_t rotate(uint64_t v)
{
	return v << 20 | v >> 44;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_frame(uint64_t h, const struct py_layout *l, uint64_t frame, uint64_t code)
{
	uint64_t at = frame + l->frame_instruction;
	uint64_t instruction = l->instruction == PY_POINTER ? py_load64(at) : py_load32(at);
	uint64_t lines = py_load64(code + l->code_lines), name = py_load64(code + l->code_name);

	return mix(h ^ code ^ rotate(lines), instruction ^ rotate(name) ^ 0xa0761d6478bd642full);
}

/* Hashes the frames up to the last one kept, on the thread itself, with plain loads.  0: no frames. */
static uint64_t hash_site(const struct py_layout *l, uint64_t state)
{
	const bool shims = py_has_shims(l);
	uint64_t frame, h = 0xe7037ed1a0b428dbull ^ py_epoch();
	uint32_t n = 0, user = 0, left = PY_LINKS(SITE_DEPTH);

	if (!py_first_frame(&frame, l, state, false))
		return 0;
	while (peek_plausible(frame) && n < SITE_DEPTH && user < SITE_FRAMES && left--) {
		uint64_t code = py_load64(frame + l->frame_code) & PY_UNTAG;

		if (!shims || *(const uint8_t *)(uintptr_t)(frame + l->frame_owner) < PY_OWNER_C) {
			if (unlikely(!peek_plausible(code)))
				break;
			h = hash_frame(h, l, frame, code);
			user += *kind_of(code) == (code | KIND_USER);
			n++;
		}
		frame = py_load64(frame + l->frame_previous);
	}
	return n ? h : 0;
}

struct site_frame {
	struct stack_frame frame;
	bool user;
};

/* Working memory from scratch_push(): the program's stack may be small. */
struct site_room {
	struct py_frame frames[SITE_DEPTH];
	struct site_frame found[SITE_DEPTH];
};

/* Writes the frames that have an id, and whether each is user code; returns their number. */
static uint32_t describe(struct stream *s, uint64_t state, unsigned how, struct py_frame frames[SITE_DEPTH], struct site_frame out[SITE_DEPTH])
{
	uint32_t n = python_walk((const void *)(uintptr_t)state, frames, SITE_DEPTH, how), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = how ? python_code_id_guarded(s, &frames[i]) : python_code_id(s, &frames[i]);
		bool user = id && id != PY_HIDDEN && !python_is_library(&frames[i], id);

		__atomic_store_n(kind_of(frames[i].code), frames[i].code | (user ? KIND_USER : 0), __ATOMIC_RELAXED);
		if (!id || id == PY_HIDDEN)
			continue;
		out[kept++] = (struct site_frame){ { .value = id, .what = STACK_FRAME_PYTHON, .extra = frames[i].offset }, user };
	}
	return kept;
}

static uint32_t make_site(struct stream *s, uint64_t state, unsigned how, struct site_room *room)
{
	struct stack_frame kept[SITE_FRAMES];
	const struct site_frame *found = room->found;
	uint32_t n = describe(s, state, how, room->frames, room->found), user = 0, others, taken = 0;

	for (uint32_t i = 0; i < n; i++)
		user += found[i].user;
	user = user < SITE_FRAMES ? user : SITE_FRAMES;
	others = SITE_FRAMES - user;
	for (uint32_t i = 0; i < n && taken < SITE_FRAMES; i++) {
		uint32_t *left = found[i].user ? &user : &others;

		if (*left) {
			kept[taken++] = found[i].frame;
			--*left;
		}
	}
	return taken ? stacks_intern(s, kept, taken, STACK_PYTHON | STACK_SITE) : 0;
}

static uint32_t new_site(struct stream *s, uint64_t state, unsigned how)
{
	struct site_room *room = scratch_push(sizeof *room);
	uint32_t id = room ? make_site(s, state, how, room) : 0;

	scratch_pop(room);
	return id;
}

uint32_t python_site(struct stream *s)
{
	uint64_t state, hash, id;
	struct cached_site *place;

	if (!python_ready())
		return 0;
	state = python_thread_state();
	if (unlikely(state && !python_is_safe(state)))
		return new_site(s, state, PY_SHARED);
	hash = state ? hash_site(&python.layout, state) : 0;
	if (!hash)
		return 0;
	place = place_of(hash);
	id = __atomic_load_n(&place->id, __ATOMIC_RELAXED);
	if (likely((__atomic_load_n(&place->key, __ATOMIC_RELAXED) ^ id) == hash))
		return (uint32_t)id;
	id = new_site(s, state, 0);
	if (id) {
		__atomic_store_n(&place->id, id, __ATOMIC_RELAXED);
		__atomic_store_n(&place->key, hash ^ id, __ATOMIC_RELAXED);
	}
	return (uint32_t)id;
}
