#include "cli/ui/cells.h"

#include "cli/ui/table.h"

#include <ctype.h>
#include <string.h>

/* ---- units ---- */

enum unit { UNIT_NONE, UNIT_TIME, UNIT_MOMENT, UNIT_BYTES, UNIT_MB, UNIT_FLOP };

static bool ends(const char *text, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n >= len && strncasecmp(text + n - len, end, len) == 0;
}

/* Whether a column has points in time, for which four digits are too few.  n: length of the name without its unit. */
static bool is_moment(const char *name, size_t n)
{
	static const char *const words[] = { "start", "end", "at", "first", "last", "ts" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]);

		if (ends(name, n, words[i]) && (n == len || !isalpha((unsigned char)name[n - len - 1])))
			return true;
	}
	return false;
}

/* The unit in a column's name.  *n: length of the name without it. */
static enum unit unit_of(const char *name, size_t *n)
{
	static const struct {
		const char *end;
		enum unit unit;
	} units[] = {
		{ "_ns", UNIT_TIME }, { " (ns)", UNIT_TIME }, { "_bytes", UNIT_BYTES }, { "_mb", UNIT_MB }, { " (MB)", UNIT_MB },
	};
	size_t all = strlen(name);

	*n = all;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (!ends(name, all, units[i].end))
			continue;
		*n = all - strlen(units[i].end);
		return units[i].unit == UNIT_TIME && is_moment(name, *n) ? UNIT_MOMENT : units[i].unit;
	}
	return strcmp(name, "bytes") == 0 ? UNIT_BYTES :
	       strcmp(name, "flops") == 0 || strcmp(name, "flop_per_s") == 0 ? UNIT_FLOP : UNIT_NONE;
}

void heading_text(char out[CELL_ROOM], const char *name)
{
	size_t n;

	unit_of(name, &n);
	snprintf(out, CELL_ROOM, "%.*s", (int)n, name);
}

/* ---- numbers ---- */

/* Writes number / 10^decimals, with commas between thousands as nsys does.  Returns the length. */
static size_t put_number(char *p, int64_t number, unsigned decimals, bool commas)
{
	char plain[32], *end = digits_fixed(plain, number, decimals), *point = memchr(plain, '.', (size_t)(end - plain));
	const char *from = plain;
	char *to = p;
	size_t whole;

	if (*from == '-')
		*to++ = *from++;
	whole = (size_t)((point ? point : end) - from);
	for (size_t i = 0; i < whole; i++) {
		if (commas && i && (whole - i) % 3 == 0)
			*to++ = ',';
		*to++ = from[i];
	}
	memcpy(to, from + whole, (size_t)(end - from) - whole);
	return (size_t)(to - p) + (size_t)(end - from) - whole;
}

/* A unit, as a multiple of the smallest one. */
struct scale {
	uint64_t unit;
	const char *name;
};

/* of / den * 10^decimals, rounded half up. */
static unsigned __int128 rounded(unsigned __int128 of, unsigned __int128 den, unsigned decimals)
{
	for (unsigned i = 0; i < decimals; i++)
		of *= 10;
	return (of + den / 2) / den;
}

/* Number of decimals, at most `most`, with which of / den has four digits. */
static unsigned decimals_of(unsigned __int128 of, unsigned __int128 den, unsigned most)
{
	unsigned k = of < 10 * den ? 3 : of < 100 * den ? 2 : of < 1000 * den ? 1 : 0;

	k = k < most ? k : most;
	while (k && rounded(of, den, k) >= 10000)
		k--;
	return k;
}

/* Writes the number * mul in the largest unit that is not larger; from 999.95 on, in the next unit: 1.000. */
static size_t put_scaled(char out[CELL_ROOM], const struct cell *c, unsigned __int128 mul, const struct scale *scales, size_t n)
{
	unsigned __int128 of = c->number < 0 ? -(unsigned __int128)c->number : (unsigned __int128)c->number, den = 1, value;
	unsigned decimals, smallest = c->decimals;
	size_t at = 0, len;

	of *= mul;
	for (unsigned i = 0; i < c->decimals; i++)
		den *= 10;
	if (of % den == 0 || mul > 1)
		smallest = 0;
	while (at + 1 < n && of * 100 >= den * scales[at].unit * 99995)
		at++;
	den *= scales[at].unit;
	decimals = decimals_of(of, den, at ? 3 : smallest);
	value = rounded(of, den, decimals);
	if (!value)
		return (size_t)snprintf(out, CELL_ROOM, "0");
	len = put_number(out, c->number < 0 ? -(int64_t)value : (int64_t)value, decimals, true);
	return len + (size_t)snprintf(out + len, CELL_ROOM - len, "%s%s", *scales[at].name ? " " : "", scales[at].name);
}

static const struct scale times[] = { { 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } };
static const struct scale sizes[] = {
	{ 1, "B" }, { 1000, "kB" }, { 1000000, "MB" }, { 1000000000, "GB" }, { 1000000000000, "TB" },
};
static const struct scale flops[] = {
	{ 1, "" }, { 1000, "k" }, { 1000000, "M" }, { 1000000000, "G" }, { 1000000000000, "T" }, { 1000000000000000, "P" },
};
#define SCALED(out, c, mul, scales) put_scaled(out, c, mul, scales, sizeof(scales) / sizeof *(scales))

/* Writes ms with three decimals, enough to tell the times of neighbouring rows apart. */
static size_t put_moment(char out[CELL_ROOM], const struct cell *c)
{
	int64_t ns = c->number, us;
	size_t len;

	for (unsigned i = 0; i < c->decimals; i++)
		ns /= 10;
	us = ns / 1000 + (ns % 1000 >= 500) - (ns % 1000 <= -500);
	len = put_number(out, us, 3, true);
	return len + (size_t)snprintf(out + len, CELL_ROOM - len, " ms");
}

/* Writes a number without unit: an integer exactly, a fraction with four digits. */
static size_t put_plain(char out[CELL_ROOM], const struct cell *c, bool commas)
{
	unsigned __int128 of = c->number < 0 ? -(unsigned __int128)c->number : (unsigned __int128)c->number, den = 1;
	unsigned decimals;
	uint64_t value;

	for (unsigned i = 0; i < c->decimals; i++)
		den *= 10;
	decimals = decimals_of(of, den, c->decimals);
	value = (uint64_t)rounded(of, den, decimals);
	return put_number(out, (int64_t)(c->number < 0 ? -value : value), decimals, commas);
}

size_t cell_number(char out[CELL_ROOM], const struct cell *c, const struct heading *column)
{
	size_t n;

	if (column->flags & (COLUMN_ID | COLUMN_MOMENT))
		return column->flags & COLUMN_ID ? put_plain(out, c, false) : put_moment(out, c);
	switch (unit_of(column->name, &n)) {
	case UNIT_TIME:
		return SCALED(out, c, 1, times);
	case UNIT_MOMENT:
		return put_moment(out, c);
	case UNIT_BYTES:
		return SCALED(out, c, 1, sizes);
	case UNIT_MB:
		return SCALED(out, c, 1000000, sizes);
	case UNIT_FLOP:
		return SCALED(out, c, 1, flops);
	default:
		return put_plain(out, c, true);
	}
}

/* ---- names ---- */

#define DEEPEST 3u              /* template arguments below this depth are folded first */

/* The bracket that closes the one at p; NULL: none. */
static const char *group_end(const char *p)
{
	char open = *p, close = open == '<' ? '>' : ')';
	unsigned depth = 0;

	for (const char *at = p; *at; at++) {
		depth += *at == open;
		if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at;
	}
	return NULL;
}

/* Whether all of the group is one name, such as "<cutlass_80_tensorop_128x2_tn>": it tells kernels apart. */
static bool is_one_argument(const char *p, const char *end)
{
	size_t n = (size_t)(end - p);

	return *p == '<' && !memchr(p, ',', n) && !memchr(p + 1, '<', n - 1);
}

/*
 * Whether the group from p to end may be folded: not "(train.py:30)", "(anonymous namespace)", a "(" behind a blank, one template argument
 * and the '<' of "operator<".
 */
static bool may_fold(const char *text, const char *p, const char *end)
{
	const char *digit = end;
	size_t before = (size_t)(p - text);

	while (digit > p + 1 && isdigit((unsigned char)digit[-1]))
		digit--;
	if (*p == '(' && ((before && p[-1] == ' ') || strncmp(p, "(anonymous", 10) == 0))
		return false;
	return end - p > 4 && !(digit < end && digit[-1] == ':') && !is_one_argument(p, end) && !(*p == '<' && ends(text, before, "operator"));
}

static void fold_to(char *out, size_t size, const char *text, unsigned depth)
{
	unsigned inside = 0;
	size_t n = 0;

	for (const char *p = text; *p && n + 8 < size; p++) {
		const char *end = *p == '<' || *p == '(' ? group_end(p) : NULL;

		if (end && may_fold(text, p, end) && (*p == '(' || inside >= depth)) {
			n += (size_t)sprintf(out + n, "%c...%c", *p, *end);
			p = end;
			continue;
		}
		if (end && *p == '<')
			inside++;
		else if (*p == '>' && inside && p[-1] != '-')
			inside--;
		out[n++] = *p;
	}
	out[n] = '\0';
}

static bool fits(const char *text, size_t width)
{
	return text_width_to(text, width + 1) <= width;
}

/* Folds arguments of a C++ name, from the innermost. */
static bool arguments_fold(char *out, size_t size, const char *text, size_t width)
{
	for (unsigned depth = DEEPEST + 1; depth-- > 0;) {
		fold_to(out, size, text, depth);
		if (fits(out, width))
			return true;
	}
	if (strncmp(out, "void ", 5) == 0)
		memmove(out, out + 5, strlen(out + 5) + 1);
	while (!fits(out, width) && (ends(out, strlen(out), "(...)") || ends(out, strlen(out), "<...>")))
		out[strlen(out) - 5] = '\0';
	return fits(out, width);
}

#define ELLIPSIS  "\xe2\x80\xa6"
#define LEAST     6u            /* characters kept of a name before its place */
#define LONGEST   1024u         /* bytes of a name that these functions shorten */

static void cut_end(char *text, size_t width)
{
	const char *end = text + strlen(text);
	char *p = text;

	if (fits(text, width))
		return;
	for (size_t n; width > 1; width--, p += n ? n : 1)
		n = utf8_length(p, end);
	strcpy(p, ELLIPSIS);
}

/* The " (" in "name (path:line)" or "name (folder/file)"; NULL: a name of another kind. */
static const char *place_of(const char *text)
{
	size_t n = strlen(text), digits = 0;
	const char *open = NULL;

	if (!n || text[n - 1] != ')')
		return NULL;
	for (const char *p = text; (p = strstr(p, " (")); p++)
		open = p;
	while (n > 2 + digits && isdigit((unsigned char)text[n - 2 - digits]))
		digits++;
	return open && ((digits && text[n - 2 - digits] == ':') || (strchr(open, '/') && !strpbrk(open + 1, " ,<*"))) ? open : NULL;
}

/* Shortens "name (path:line)": removes folders, then the end of the name; file and line are kept. */
static bool place_fold(char *out, size_t size, const char *text, size_t width)
{
	const char *open = place_of(text), *from, *file, *slash;
	char name[LONGEST], folded[LONGEST];
	size_t behind;

	if (!open || (size_t)(open - text) >= sizeof name - sizeof ELLIPSIS)
		return false;
	snprintf(name, sizeof name, "%.*s", (int)(open - text), text);
	for (file = open + 2; (slash = strchr(file, '/')); file = slash + 1)
		;
	for (from = strchr(open + 3, '/'); from; from = strchr(from + 1, '/')) {
		snprintf(out, size, "%s (" ELLIPSIS "%s", name, from);
		if (fits(out, width))
			return true;
	}
	behind = 2 + text_width_to(file, width);
	if (width < behind + LEAST)
		return false;
	if (fits(name, width - behind) || arguments_fold(folded, sizeof folded - sizeof ELLIPSIS, name, width - behind)) {
		snprintf(out, size, "%s (%s", fits(name, width - behind) ? name : folded, file);
		return true;
	}
	cut_end(folded, width - behind);
	snprintf(out, size, "%s (%s", folded, file);
	return true;
}

/* Shortens "sh -> env -> bash -> python3": keeps the last program, and as many of the first ones as fit. */
static bool chain_fold(char *out, size_t size, const char *text, size_t width)
{
	static const char arrow[] = " -> ";
	const char *last = NULL, *cut = NULL;

	for (const char *p = text; (p = strstr(p, arrow)); p++)
		last = p;
	if (!last || strchr(text, '('))
		return false;
	for (const char *p = text; (p = strstr(p, arrow)) && p < last; p++) {
		snprintf(out, size, "%.*s%s" ELLIPSIS "%s", (int)(p - text), text, arrow, last);
		cut = fits(out, width) ? p : cut;
	}
	if (cut)
		snprintf(out, size, "%.*s%s" ELLIPSIS "%s", (int)(cut - text), text, arrow, last);
	else
		snprintf(out, size, "%.*s" ELLIPSIS "%s", (int)strspn(text, " "), text, last);
	if (!fits(out, width))
		snprintf(out, size, "%s", last + sizeof arrow - 1);
	return true;
}

bool name_fold(char *out, size_t size, const char *text, size_t width)
{
	if (fits(text, width)) {
		snprintf(out, size, "%s", text);
		return true;
	}
	if (place_fold(out, size, text, width) || chain_fold(out, size, text, width))
		return fits(out, width);
	return arguments_fold(out, size, text, width);
}
