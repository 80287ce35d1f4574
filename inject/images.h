/*
 * The ELF files that are mapped, as far as addresses in them were met.  An address is looked up with _dl_find_object() of glibc 2.35,
 * which takes no lock; the loader's own lock is never taken, which another thread may hold for seconds.
 */
#ifndef INJECT_IMAGES_H
#define INJECT_IMAGES_H

#include "inject/stream.h"

#define IMAGE_SEGMENTS 8
#define IMAGE_BUILD_ID 32

struct link_map;

enum image_tool { IMAGE_PROGRAM, IMAGE_OURS, IMAGE_CUPTI };

struct image {
	uint64_t low, high, base;
	const uint8_t *eh_hdr;          /* .eh_frame_hdr; NULL: none */
	const void *link_map;
	uint32_t id;
	uint32_t tool;                  /* enum image_tool: not a part of the program's stack */
	uint32_t epoch;                 /* guest epoch in which its row was written */
	uint32_t name;                  /* string id of that epoch */
	uint32_t end_written;
	uint32_t searched;              /* python.c: for an interpreter */
	uint32_t n_build_id, n_segments;
	int64_t start, end;             /* end 0: mapped */
	uint8_t build_id[IMAGE_BUILD_ID];
	struct { uint64_t low, high; } segments[IMAGE_SEGMENTS];        /* readable */
};

/* Once, not on a hot path; asks the loader. */
void images_init(void);

/*
 * The loader's own entry of the object that an address lies in, found without its lock; NULL: there is none.  False: this libc has no
 * function for it.  After images_init().
 */
bool images_link_map(const void *address, const struct link_map **map);

/* The image that an address lies in, or NULL.  quick: in a signal handler. */
struct image *images_at(uint64_t pc, bool quick);

/* Changes when an image went away: what was learnt about addresses before is void. */
extern uint32_t images_generation;

/* Some thread is just inside dlclose(): what is learnt meanwhile is not kept. */
extern uint32_t images_unloading;

/* The row of an image, once; its id.  Nothing may be reserved. */
uint32_t images_describe(struct stream *s, struct image *image);

/* After something was unmapped: who is gone?  And their rows again, with the end, once; nothing may be reserved. */
void images_look_for_gone(void);
void images_write_ends(struct stream *s);

/* Were any met so far? */
bool images_any(void);

/* Is this an address in our own object, or in CUPTI's?  quick: in a signal handler. */
bool images_is_tool(uint64_t pc, bool quick);

#endif
