/* The session's board (trace/board.h): made here, given the orders, and read as untrusted data. */
#ifndef COLLECTOR_BOARD_H
#define COLLECTOR_BOARD_H

#include <stdbool.h>

#include "collector/roster.h"
#include "trace/board.h"

struct board_view {
	struct board *b;                /* NULL: none; processes then write lines into the named pipe */
	uint32_t tail;                  /* lines read so far */
	int64_t waits;                  /* MONOTONIC ns: since when the next line is taken but not filled; 0: it is not taken */
	uint32_t lost_reported;
	uint32_t orders_turn;           /* board.orders_turn of the orders written last */
};

/* Makes the board.  If that fails there is none (b NULL), which is no error. */
void board_make(struct board_view *v, const char *folder, const struct config *config, unsigned clock);
void board_release(struct board_view *v);

/* Writes the orders that a new process begins with. */
void board_tell(struct board_view *v, const struct orders_given *capture);

/* True if there are unread lines or new losses.  Costs two loads. */
bool board_has_news(const struct board_view *v);

/* Takes the next line.  False: there is none, or it is not filled yet. */
bool board_next(struct board_view *v, struct roster_line *l);

/* Returns how many lines were lost since the last call: no line was free, or one was never filled. */
uint32_t board_lost(struct board_view *v);

#endif
