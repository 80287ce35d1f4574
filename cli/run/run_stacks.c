/* Options about call stacks, with the names (old and new) and values of nsys. */
#include "cli/run/run_stacks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "trace/rules/glob.h"

#define KERNEL 1u
#define MEMORY 2u
#define SYNC   4u
#define OTHER  8u
#define USUAL  (KERNEL | MEMORY | SYNC)

static const struct { const char *word; uint64_t classes; } class_words[] = {
	{ "kernel", KERNEL }, { "memory", MEMORY }, { "sync", SYNC }, { "other", OTHER },
	{ "all", USUAL | OTHER }, { "true", USUAL }, { "none", 0 }, { "false", 0 },
};

static int number_of(const char *text, uint64_t most, uint64_t *out)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > most)
		return -1;
	*out = n;
	return 0;
}

static int class_word(const struct opt *o, struct stacks_wish *w, char *word)
{
	char *colon = strchr(word, ':');
	uint64_t ns = 0;
	size_t i;

	if (colon) {
		*colon = '\0';
		if (number_of(colon + 1, 1ull << 50, &ns) < 0)
			return fail("--%s needs nanoseconds behind '%s:', not '%s'", o->name, word, colon + 1);
	}
	for (i = 0; i < sizeof class_words / sizeof *class_words; i++)
		if (strcmp(word, class_words[i].word) == 0)
			break;
	if (i == sizeof class_words / sizeof *class_words)
		return fail("--%s: unknown word '%s'; use all, none, or a list of kernel, memory, sync, other, each with :ns if needed",
			    o->name, word);
	if (colon && !class_words[i].classes)
		return fail("--%s: '%s' has no threshold", o->name, word);
	w->classes = class_words[i].classes ? w->classes | class_words[i].classes : 0;
	for (unsigned k = 0; colon && k < STACK_CLASSES; k++) {
		if (!(class_words[i].classes >> k & 1))
			continue;
		w->said[k] = true;
		w->ns[k] = ns;
	}
	return 0;
}

/* The last --cudabacktrace replaces earlier ones, as in nsys. */
int opt_cudabacktrace(const struct opt *o, const char *value)
{
	char *list = strdup(value), *rest = list, *word;
	struct stacks_wish *w = o->where;
	int rc = 0;

	if (!list)
		return fail("out of memory");
	w->classes = 0;
	memset(w->said, 0, sizeof w->said);
	while (rc == 0 && (word = strsep(&rest, ",")))
		rc = class_word(o, w, word);
	free(list);
	return rc;
}

int opt_cudabacktrace_threshold(const struct opt *o, const char *value)
{
	struct stacks_wish *w = o->where;

	if (number_of(value, 1ull << 50, &w->all_ns) < 0)
		return fail("--%s needs nanoseconds, not '%s'", o->name, value);
	w->all_said = true;
	return 0;
}

/* lbr (last branch records) needs privileges and is treated as auto. */
int opt_backtrace(const struct opt *o, const char *value)
{
	return opt_position(o, strcmp(value, "lbr") == 0 ? "auto" : value);
}

int opt_backtrace_depth(const struct opt *o, const char *value)
{
	uint64_t n;

	if (number_of(value, 128, &n) < 0 || !n)
		return fail("--%s needs a number of frames from 1 to 128, not '%s'", o->name, value);
	*(uint64_t *)o->where = n;
	return 0;
}

int opt_python_backtrace(const struct opt *o, const char *value)
{
	static const struct { const char *word; uint64_t bits; } words[] = {
		{ "cuda", 1 }, { "osrt", 2 }, { "all", 3 }, { "none", 0 }, { "true", 3 }, { "false", 0 },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(value, words[i].word) == 0)
			return *(uint64_t *)o->where = words[i].bits, 0;
	return fail("--%s must be cuda, osrt, all or none, not '%s'", o->name, value);
}

/* Without a value, or with true: every range of every domain. */
int opt_nvtx_backtrace(const struct opt *o, const char *value)
{
	int yes = value ? opt_bool_word(value) : 1;
	char *setting = o->where;
	struct glob_range g;

	if (yes >= 0) {
		strcpy(setting, yes ? "*@*" : "");
		return 0;
	}
	if (glob_range_parse(&g, value, strlen(value)) < 0)
		return fail("--%s needs a range, range@domain or range@*, not '%s'", o->name, value);
	if (strlen(value) >= CONFIG_TEXT)
		return fail("--%s: '%.40s...' is longer than %d bytes", o->name, value, CONFIG_TEXT - 1);
	strcpy(setting, value);
	return 0;
}

void stacks_settle(struct config *c, const struct stacks_wish *w)
{
	uint64_t *const ns[STACK_CLASSES] = {
		&c->cuda_backtrace_ns_kernel, &c->cuda_backtrace_ns_memory, &c->cuda_backtrace_ns_sync, &c->cuda_backtrace_ns_other,
	};

	c->cuda_backtrace = w->classes;
	for (unsigned k = 0; k < STACK_CLASSES; k++)
		if (w->said[k] || w->all_said)
			*ns[k] = w->said[k] ? w->ns[k] : w->all_ns;
}
