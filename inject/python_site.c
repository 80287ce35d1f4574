#include "inject/python_state.h"
#include "inject/stacks.h"

/*
 * The site of a launch: its innermost Python frames in the user's code, filled up with those of libraries.  What makes two launches one
 * site are the code objects and instructions of their frames from the innermost to the last one that is kept; a hash of those finds the
 * id, so that a site costs its walk and one compare from the second time on.  Four words stand for a frame: the addresses of the code
 * object and the instruction, and since addresses are used again, those of the code object's name and line table.
 */
#define SITE_FRAMES 3u
#define SITE_DEPTH  24u         /* frames that are searched for user code: PyTorch has three of its own between two modules of a model */
#define PLACES      8192u       /* a power of two */

/* hash ^ id, id: a pair that two threads wrote at once fits no hash. */
static struct place {
	uint64_t key, id;
} places[PLACES];

/* Code addresses, with KIND_USER set where they are known to be no library's.  A wrong one makes a search longer or shorter, no more. */
#define KIND_USER 1u
static uint64_t kinds[PLACES];

static inline uint64_t *kind_of(uint64_t code)
{
	return &kinds[code * 0x9e3779b97f4a7c15ull >> 51];
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
	uint64_t instruction = l->instruction == PY_POINTER ? py_load64(frame + l->frame_instruction) : py_load32(frame + l->frame_instruction);
	uint64_t lines = py_load64(code + l->code_lines), name = py_load64(code + l->code_name);

	return mix(h ^ code ^ rotate(lines), instruction ^ rotate(name) ^ 0xa0761d6478bd642full);
}

/* Of the frames up to the last one that is kept; plain loads, on the thread itself. */
static uint64_t hash_site(const struct py_layout *l, uint64_t state)
{
	const bool shims = py_has_shims(l);
	uint64_t frame = py_first_frame(l, state), h = 0xe7037ed1a0b428dbull ^ guest->epoch;
	uint32_t n = 0, user = 0;

	while (peek_plausible(frame) && n < SITE_DEPTH && user < SITE_FRAMES) {
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

struct found {
	struct stack_frame frame;
	bool user;
};

/* Those with an id, and which of them are the user's. */
static uint32_t describe(struct stream *s, uint64_t state, struct found out[SITE_DEPTH])
{
	struct py_frame frames[SITE_DEPTH];
	uint32_t n = python_walk((const void *)(uintptr_t)state, frames, SITE_DEPTH, 0), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = python_code_id(s, &frames[i]);
		bool user = id && id != PY_HIDDEN && !python_is_library(&frames[i]);

		__atomic_store_n(kind_of(frames[i].code), frames[i].code | (user ? KIND_USER : 0), __ATOMIC_RELAXED);
		if (!id || id == PY_HIDDEN)
			continue;
		out[kept++] = (struct found){ { .value = id, .what = STACK_FRAME_PYTHON, .extra = frames[i].offset }, user };
	}
	return kept;
}

static uint32_t new_site(struct stream *s, uint64_t state)
{
	struct stack_frame kept[SITE_FRAMES];
	struct found found[SITE_DEPTH];
	uint32_t n = describe(s, state, found), user = 0, others, taken = 0;

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

uint32_t python_site(struct stream *s)
{
	uint64_t state, hash, id;
	struct place *place;

	if (!python_ready())
		return 0;
	state = python_thread_state();
	hash = state ? hash_site(&python.layout, state) : 0;
	if (!hash)
		return 0;
	place = &places[hash >> 51];
	id = __atomic_load_n(&place->id, __ATOMIC_RELAXED);
	if (likely((__atomic_load_n(&place->key, __ATOMIC_RELAXED) ^ id) == hash))
		return (uint32_t)id;
	id = new_site(s, state);
	if (id) {
		__atomic_store_n(&place->id, id, __ATOMIC_RELAXED);
		__atomic_store_n(&place->key, hash ^ id, __ATOMIC_RELAXED);
	}
	return (uint32_t)id;
}
