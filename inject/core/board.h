/* The session's board (trace/board.h), mapped when the injected object is loaded. */
#ifndef INJECT_CORE_BOARD_H
#define INJECT_CORE_BOARD_H

#include <stdbool.h>

#include "trace/board.h"

/* Opens and maps the board in the session's folder; leaves it unmapped on failure.  Once, at load; keeps errno. */
void board_open(const char *folder);

/* The mapped board; NULL: no board, or a board of another version.  Any thread. */
const struct board *board_map(void);

/*
 * Writes one roster line to the board.  Makes no system call, takes no lock, keeps errno: safe in a forked child of any program.  False:
 * no board, or no free line (counted in board->lost).
 */
bool board_put(char how, uint32_t pid, uint32_t ppid, int64_t start, const char *name);

#endif
