/*
 * Finds out whether an executable file can load gprof-run's library by LD_PRELOAD.  The file is untrusted: each read is checked.
 * Async-signal-safe and without large stack frames, because a child of vfork() calls it: all buffers are in struct executable.
 */
#ifndef TRACE_IMAGE_H
#define TRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_kind {
	IMAGE_UNKNOWN,                  /* no ELF file, or one that cannot be read */
	IMAGE_OPEN,                     /* dynamic, glibc, this processor: LD_PRELOAD works */
	IMAGE_32BIT, IMAGE_FOREIGN,     /* a 32-bit program; a program for another processor */
	IMAGE_STATIC,
	IMAGE_MUSL,                     /* musl can load the library, which then does nothing */
	IMAGE_SANITIZED,                /* AddressSanitizer's library must come first in LD_PRELOAD */
};

#define IMAGE_HEAD 800                  /* bytes: the ELF header and 13 program headers, as many as linkers write */
#define IMAGE_NAME 32

struct executable {
	enum image_kind kind;
	bool loads;                     /* the program has a dynamic loader, which reads LD_PRELOAD */
	char runtime[IMAGE_NAME];       /* IMAGE_SANITIZED: name of AddressSanitizer's library */

	/* state of the scan */
	int fd;
	bool opened;                    /* image.c opened fd and closes it */
	uint32_t n;
	char head[IMAGE_HEAD];
};

/* Fills *m and returns m->kind for a file; a script is IMAGE_UNKNOWN.  Keeps errno. */
enum image_kind image_look(struct executable *m, const char *path);

/*
 * As image_look(), but of a script it looks at the interpreter, which may be a script again, as deep as the kernel allows.  dir, path: as
 * for openat(); path "": dir is the file's descriptor.
 */
enum image_kind image_look_through(struct executable *m, int dir, const char *path);

#endif
