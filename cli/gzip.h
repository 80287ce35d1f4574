/* gzip files, without compression: for formats whose readers want the wrapping. */
#ifndef CLI_GZIP_H
#define CLI_GZIP_H

#include <stddef.h>
#include <stdio.h>

/* 0, or -1: not written (errno). */
int gzip_write(FILE *file, const void *data, size_t n);

#endif
