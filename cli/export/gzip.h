/* Writes gzip files, for formats whose readers require gzip (pprof). */
#ifndef CLI_EXPORT_GZIP_H
#define CLI_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>

/* Writes n bytes as one gzip member to file.  0, or -1 with errno. */
int gzip_write(FILE *file, const void *data, size_t n);

#endif
