/*
 * Output to a terminal.  Text from files is printed without characters that move the cursor, set colours or change the
 * writing direction.  Output to files and pipes is data and is not changed.
 */
#ifndef CLI_UI_SCREEN_H
#define CLI_UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Length of the UTF-8 character at p, before end; 0: these bytes are not UTF-8. */
size_t utf8_length(const char *p, const char *end);

/* Whether the UTF-8 character at p, n bytes, is a control (C0 with ESC, DEL, C1) or a mark of writing direction. */
bool screen_controls(const char *p, size_t n);

/* Replaces each of them by '?', except line ends and tabs.  Returns the new length, at most n. */
size_t screen_clean(char *text, size_t n);

/* Number of bytes, 0 to 3, at the end of a text that are an incomplete character. */
size_t screen_begun(const char *text, size_t n);

/* Whether the file is a terminal. */
bool screen_is(FILE *file);

/* Columns of the terminal; 0: the file is none, or its size is unknown. */
unsigned screen_columns(FILE *file);

/* Columns for tables on this file: $COLUMNS, the terminal's, or 120. */
unsigned screen_width(FILE *file);

/* Styles of headings and warnings, which gprof-trace writes itself. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_WARN };

/*
 * Whether to use styles on this file.  --color=always and never decide for standard output; auto: only on a terminal, unless
 * NO_COLOR has a value or TERM is dumb or missing.
 */
bool screen_styled(FILE *file);

struct opt;
/* Parser of --color (options.h). */
int screen_option(const struct opt *o, const char *value);

#define SCREEN_OPTIONS                                                                                          \
	{ 0, "color", "WHEN", screen_option, NULL,                                                              \
	  "bold headings and yellow warnings on standard output: auto (default: on a terminal, if NO_COLOR is not set), always or never", \
	  "auto always never", OPT_MORE }

/* printf() to standard output, through screen_clean() if that is a terminal. */
void screen_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
