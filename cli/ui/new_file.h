/*
 * An output file of a command: mode 0600, written under a unique name in the same folder and renamed when it is complete.
 * So there is never a partial file under the final name, symbolic links are not followed, and a signal that ends the
 * command removes the unique file.
 */
#ifndef CLI_UI_NEW_FILE_H
#define CLI_UI_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>

struct new_file {
	const char *path;               /* the caller's; must stay valid */
	char part[PATH_MAX];            /* the unique name; "": path is a device or a pipe, which is opened directly */
	bool replace;
	int fd;                         /* the caller closes it */
};

/* Creates the file.  replace: allow an existing file to be replaced.  One file at a time.  0, or -1 after an error message. */
int new_file_open(struct new_file *f, const char *path, bool replace);

/* Renames the complete file to its path.  0, or -1 after an error message; then the file is removed. */
int new_file_keep(struct new_file *f);

/* Removes the file. */
void new_file_drop(struct new_file *f);

#endif
