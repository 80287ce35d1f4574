/*
 * The mapped ELF files in which an address has been looked up.  From glibc 2.35 on, _dl_find_object() looks addresses up without a lock.
 * Older glibc: dl_iterate_phdr(), whose lock is held only briefly.  The loader's main lock, which another thread may hold for seconds, is
 * never taken.
 */
#ifndef INJECT_UNWIND_IMAGES_H
#define INJECT_UNWIND_IMAGES_H

#include "inject/core/stream.h"

#define IMAGE_SEGMENTS 8
#define IMAGE_BUILD_ID 32

struct link_map;

enum image_tool { IMAGE_PROGRAM, IMAGE_OURS, IMAGE_CUPTI };

struct image {
	uint64_t low, high, base;
	const uint8_t *eh_hdr;          /* .eh_frame_hdr in memory; NULL: none */
	const void *link_map;
	uint32_t id;
	uint32_t tool;                  /* enum image_tool; other than IMAGE_PROGRAM: left out of call stacks */
	uint32_t epoch;                 /* guest epoch in which the row was written */
	uint32_t name;                  /* string id, valid in that epoch */
	uint32_t end_written;
	uint32_t searched;              /* python.c: searched for an interpreter */
	uint32_t n_build_id, n_segments;
	int64_t start, end;             /* clock_now(); end 0: still mapped */
	uint8_t build_id[IMAGE_BUILD_ID];
	struct { uint64_t low, high; } segments[IMAGE_SEGMENTS];        /* readable */
};

/* Once, before all other functions here, not on a hot path: calls dlsym(). */
void images_init(void);

/*
 * Finds, without the loader's lock, the link_map of the object that contains an address; NULL: none.  False: this libc has no
 * _dl_find_object().
 */
bool images_link_map(const void *address, const struct link_map **map);

/*
 * The image that contains pc, or NULL.  Valid for ever, also after dlclose().  quick: call is in a signal handler; with older glibc only
 * images already known are found.
 */
struct image *images_at(uint64_t pc, bool quick);

/* Incremented when an image was unmapped: facts about addresses learnt under an older value are void. */
extern uint32_t images_generation;

/* Number of threads inside dlclose().  While above 0, do not cache facts about addresses. */
extern uint32_t images_unloading;

/* Writes the image's row once per process; returns its id, 0 if the image is gone or cannot be named.  Nothing may be reserved in s. */
uint32_t images_describe(struct stream *s, struct image *image);

/*
 * images_look_for_gone(): after dlclose(), marks images that are no longer mapped.  images_write_ends(): writes their rows again, once,
 * now with an end; nothing may be reserved in s.
 */
void images_look_for_gone(void);
void images_write_ends(struct stream *s);

/* Images looked up so far, including images that were unmapped since. */
uint32_t images_met(void);

/* True if pc lies in the injected object or in CUPTI.  quick: as for images_at(). */
bool images_is_tool(uint64_t pc, bool quick);

#endif
