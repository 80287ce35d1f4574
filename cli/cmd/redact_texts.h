/* Replaces texts in a redacted trace.  Equal texts get equal replacements, different texts different ones. */
#ifndef CLI_CMD_REDACT_TEXTS_H
#define CLI_CMD_REDACT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/map.h"
#include "trace/buf.h"

struct model;

/* Rules of redact_rules.def.  If several rules use one text, the last of them in this list applies. */
enum redact_rule {
	REDACT_NONE, REDACT_KEEP, REDACT_NAME, REDACT_MODULES, REDACT_MODULE_PATHS, REDACT_VALUES, REDACT_ARGUMENT, REDACT_PATH,
	REDACT_STRING, REDACT_ATTRIBUTE, REDACT_PAYLOAD, REDACT_ROW
};

#define REDACT_WORDS 32

struct redact_texts {
	struct model *m;                /* for its table of strings */
	const char *names, *keep;       /* comma-separated globs of names to replace, and of exceptions; NULL: none */
	struct map made;                /* text << 1 | is a path -> offset in texts */
	struct buf texts;               /* the replacements, each terminated by a NUL */
	struct { const char *word; uint32_t n; } words[REDACT_WORDS];   /* last number used for each word of placeholders */
	bool oom;
};

/*
 * Appends the replacement of a text to out; rule: at most REDACT_PATH.  word: first part of a placeholder, a string
 * constant.  Out of memory sets r->oom.
 */
void redact_text(struct redact_texts *r, enum redact_rule rule, const char *word, const char *text, size_t n, struct buf *out);

/* Frees the replacements, not r itself. */
void redact_texts_release(struct redact_texts *r);

#endif
