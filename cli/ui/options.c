#include "cli/ui/options.h"

#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

int opt_bool_word(const char *word)
{
	if (strcmp(word, "true") == 0)
		return 1;
	return strcmp(word, "false") == 0 ? 0 : -1;
}

int opt_flag(const struct opt *o, const char *value)
{
	int yes = value ? opt_bool_word(value) : 1;

	if (yes < 0)
		return fail("--%s must be true or false, not '%s'", o->name, value);
	*(bool *)o->where = yes;
	return 0;
}

/* Accepts digits only: strtoull() would accept " +1" and "-1". */
static int whole_number(const char *value, const char **end, uint64_t *out)
{
	char *stop;

	if (*value < '0' || *value > '9')
		return -1;
	errno = 0;
	*out = strtoull(value, &stop, 10);
	*end = stop;
	return errno ? -1 : 0;
}

int opt_u64(const struct opt *o, const char *value)
{
	const char *end;
	uint64_t n;

	if (whole_number(value, &end, &n) < 0 || *end)
		return fail("--%s needs a whole number, not '%s'", o->name, value);
	*(uint64_t *)o->where = n;
	return 0;
}

int opt_int(const struct opt *o, const char *value)
{
	bool negative = *value == '-';
	const char *end;
	uint64_t n;

	if (whole_number(value + negative, &end, &n) < 0 || *end || n > INT32_MAX)
		return fail("--%s needs a whole number, not '%s'", o->name, value);
	*(int *)o->where = negative ? -(int)n : (int)n;
	return 0;
}

int opt_text(const struct opt *o, const char *value)
{
	*(const char **)o->where = value;
	return 0;
}

static int not_one_of(const struct opt *o, const char *value)
{
	return fail("--%s must be one of %s, not '%s'", o->name, o->values, value);
}

int opt_choice(const struct opt *o, const char *value)
{
	return words_have(o->values, value) ? opt_text(o, value) : not_one_of(o, value);
}

int opt_position(const struct opt *o, const char *value)
{
	int position = words_index(o->values, value);

	if (position < 0)
		return not_one_of(o, value);
	*(uint64_t *)o->where = (uint64_t)position;
	return 0;
}

int opt_list(const struct opt *o, const char *value)
{
	char **list = o->where;
	size_t old = *list ? strlen(*list) : 0;
	char *grown = realloc(*list, old + strlen(value) + 2);

	if (!grown)
		return fail("out of memory");
	if (old)
		grown[old++] = ',';
	strcpy(grown + old, value);
	*list = grown;
	return 0;
}

int opt_size(const struct opt *o, const char *value)
{
	static const char units[] = "KMGT";
	const char *end, *unit;
	unsigned shift = 0;
	uint64_t n;

	if (whole_number(value, &end, &n) < 0)
		goto bad;
	if (*end) {
		unit = strchr(units, *end & ~0x20);
		if (!unit || !*unit)
			goto bad;
		shift = (unsigned)(unit - units + 1) * 10;
		end += strcmp(end + 1, "iB") == 0 ? 3 : strcmp(end + 1, "B") == 0 ? 2 : 1;
	}
	if (*end || n > UINT64_MAX >> shift)
		goto bad;
	*(uint64_t *)o->where = n << shift;
	return 0;
bad:
	return fail("--%s needs a size such as 512M or 8G, not '%s'", o->name, value);
}

int opt_seconds(const struct opt *o, const char *value)
{
	double seconds;
	char *end;

	errno = 0;
	seconds = strtod(value, &end);
	if (end == value || *end || errno || !(seconds >= 0) || seconds > 1e9 ||
	    value[strspn(value, "0123456789.eE+-")])
		return fail("--%s needs seconds such as 10 or 0.5, not '%s'", o->name, value);
	*(uint64_t *)o->where = (uint64_t)(seconds * 1000 + 0.5);
	return 0;
}

/* ---- misspelt words ---- */

#define WORD_MAX 48

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edit distance (insert, delete, change, swap two neighbours) of a and b, which are at most WORD_MAX long. */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
	size_t row[3][WORD_MAX + 1];    /* rows of the last three letters of a */

	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

const char *options_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word), best = SIZE_MAX;
	const char *nearest = NULL;

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(words[i]), d;

		if (other > WORD_MAX)
			continue;
		d = edits(word, len, words[i], other);
		/* The beginning of a word (--cuda-flush) is most likely an abbreviation of it. */
		if (len >= 3 && strncmp(word, words[i], len) == 0)
			d = 1;
		if (d < best) {
			best = d;
			nearest = words[i];
		}
	}
	return best <= (len < 6 ? 2 : len / 3) && best < len ? nearest : NULL;
}

/* ---- the command line ---- */

static int unknown(const struct cmd *cmd, const char *dashes, const char *word, size_t len)
{
	const char *names[512], *nearest;
	char asked[WORD_MAX + 1];
	size_t n = 0;

	snprintf(asked, sizeof asked, "%.*s", (int)len, word);
	for (const struct opt *o = cmd->opts; o && o->name && n < 510; o++)
		names[n++] = o->name;
	names[n++] = "help";
	names[n++] = "help-all";
	nearest = dashes[1] && len <= WORD_MAX ? options_nearest(asked, names, n) : NULL;
	fail("%s%sno option '%s%.*s'%s%s%s", cmd->name ? cmd->name : "", cmd->name ? " has " : "", dashes, (int)len,
	     word, nearest ? "; did you mean '--" : "", nearest ? nearest : "", nearest ? "'?" : "");
	hint("%s%s%s --help-all lists the options", program_name(), cmd->name ? " " : "", cmd->name ? cmd->name : "");
	return OPTIONS_FAILED;
}

static const struct opt *by_name(const struct cmd *cmd, const char *name, size_t len)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++)
		if (!(o->flags & OPT_TITLE) && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct opt *by_letter(const struct cmd *cmd, char letter)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int help(const struct cmd *cmd, bool all)
{
	options_help(cmd, stdout, all);
	return OPTIONS_DONE;
}

/* The word after option *i, if the option takes it as its value; then *i is advanced.  NULL: no value. */
static const char *next_value(const struct opt *o, int argc, char **argv, int *i)
{
	bool takes = o->arg || (o->flags & OPT_WORD && *i + 1 < argc && opt_bool_word(argv[*i + 1]) >= 0);

	return takes && *i + 1 < argc ? argv[++*i] : NULL;
}

static int apply(const struct opt *o, const char *value)
{
	if (o->arg && !value)
		return fail("option '--%s' needs a value: %s", o->name, o->arg);
	return o->parse(o, value);
}

static int long_option(const struct cmd *cmd, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct opt *o = by_name(cmd, name, len);

	if (!o && (strcmp(name, "help") == 0 || strcmp(name, "help-all") == 0))
		return help(cmd, name[4]);
	if (!o)
		return unknown(cmd, "--", name, len);
	return apply(o, value ? value : next_value(o, argc, argv, i));
}

/* -x, -xVALUE, -x=VALUE, and several flags: -qf. */
static int short_options(const struct cmd *cmd, int argc, char **argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = by_letter(cmd, *p);
		const char *rest = p[1] == '=' ? p + 2 : p + 1;
		int rc;

		if (!o)
			return *p == 'h' ? help(cmd, false) : unknown(cmd, "-", p, 1);
		if (p[1] && (o->arg || p[1] == '=' || opt_bool_word(rest) >= 0))
			return apply(o, rest);
		rc = apply(o, p[1] ? NULL : next_value(o, argc, argv, i));
		if (rc < 0)
			return rc;
	}
	return 0;
}

int options_parse(const struct cmd *cmd, int argc, char **argv, bool stop_at_first_word)
{
	char **words = calloc((size_t)argc + 1, sizeof *words);
	int i, n = 0, rc = OPTIONS_FAILED;

	if (!words)
		return fail("out of memory");
	for (i = 1; i < argc; i++) {
		char *a = argv[i];

		if (strcmp(a, "--") == 0) {
			i++;
			break;
		}
		if (a[0] != '-' || !a[1]) {
			if (stop_at_first_word)
				break;
			words[n++] = a;
			continue;
		}
		rc = a[1] == '-' ? long_option(cmd, argc, argv, &i) : short_options(cmd, argc, argv, &i);
		if (rc < 0)
			goto out;
	}
	memcpy(argv + i - n, words, (size_t)n * sizeof *words);         /* the operands so far, directly before the rest */
	rc = i - n;
out:
	free(words);
	return rc;
}
