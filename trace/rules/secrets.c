#include "trace/rules/secrets.h"

#include <ctype.h>
#include <strings.h>

#define LENGTH(a) (sizeof (a) / sizeof *(a))

/* ---- the tables ---- */

/*
 * Lower-case words that make the value of a name a secret.  Two adjacent words of a name are also tried as one: api-keys.
 * ENDS: also matches longer words with this ending: authtoken.  SOFT: no secret if the name has a word of `harmless`: eos-token, sort-key.
 */
#define ENDS 1u
#define SOFT 2u
static const struct word { const char *text; unsigned flags; } words[] = {
	{ "password", ENDS }, { "passwd", ENDS }, { "passphrase", ENDS }, { "passcode", ENDS }, { "pwd", ENDS }, { "secret", ENDS },
	{ "secrets", ENDS }, { "credential", ENDS }, { "credentials", ENDS }, { "creds", ENDS }, { "authorization", ENDS },
	{ "apikey", ENDS }, { "apikeys", ENDS }, { "accesskey", ENDS }, { "secretkey", ENDS }, { "privatekey", ENDS },
	{ "sshkey", ENDS }, { "authkey", ENDS }, { "cookie", ENDS }, { "webhook", ENDS }, { "dsn", ENDS }, { "connstr", ENDS },
	{ "token", ENDS | SOFT }, { "key", SOFT }, { "pass", SOFT }, { "conn", SOFT }, { "auth", SOFT }, { "connectionstring", 0 },
	{ "dbpass", 0 }, { "userpass", 0 }, { "passin", 0 }, { "passout", 0 }, { "oauth", 0 }, { "bearer", 0 }, { "jwt", 0 },
	{ "pat", 0 },
};

/* A name with such a last word describes a secret but does not contain it: key-size, token_type, password-file. */
static const char *const heads[] = {
	"size", "sizes", "type", "types", "len", "length", "count", "counts", "dim", "dims", "file", "files", "path", "paths",
	"dir", "folder", "name", "names", "mode", "limit", "index", "idx", "pos", "position", "weight", "weights", "prob",
	"rate", "ratio", "loss", "embedding", "embeddings", "column", "columns", "timeout", "ttl", "interval", "version",
	"format", "policy", "strategy", "method", "head", "heads", "padding", "dropout", "level", "alg", "algorithm", "bits",
	"offset", "env", "var", "variable",
};

/* Words that give a SOFT word another meaning: tokens of a model, keys of a table, passes of a program. */
static const char *const harmless[] = {
	"pad", "eos", "bos", "unk", "sep", "cls", "mask", "special", "stop", "image", "video", "audio", "vision", "text", "label",
	"caption", "prompt", "answer", "think", "tool", "next", "new", "start", "end", "begin", "per", "max", "min", "num", "word",
	"public", "sort", "cache", "primary", "foreign", "group", "partition", "hot", "data", "dict", "json", "column", "field",
	"shard", "batch", "state", "metric", "monitor", "score", "query", "value", "input", "output", "target", "sample",
	"feature", "cross", "attn", "one", "two", "single", "multi", "first", "second", "forward", "backward", "full",
};

/* An option that begins with such a word is a switch; the argument after it does not belong to it. */
static const char *const switches[] = { "no", "enable", "disable", "require", "skip", "show", "print", "with", "without" };

/* Values that reveal nothing and are not masked. */
static const char *const empty_values[] = { "", "true", "false", "none", "null", "yes", "no", "on", "off", "0", "1" };

/* Options followed by NAME:PASSWORD, as in curl.  If the part after the colon is a number, it is a group, not a password. */
static const char *const user_options[] = { "u", "U", "user", "proxy-user" };

/* One-letter options of single programs: the password follows in the same argument or (next) in the next one. */
static const struct { const char *program; char letter; bool next; } short_options[] = {
	{ "mysql", 'p', false }, { "mysqldump", 'p', false }, { "mysqladmin", 'p', false }, { "mariadb", 'p', false },
	{ "sshpass", 'p', true }, { "redis-cli", 'a', true },
};

/* Tokens recognised by shape: a prefix, and the minimum number and kind of characters that follow. */
#define UPPER  1u       /* upper-case letters and digits */
#define MIXED  2u       /* letters and digits */
#define DASHES 4u       /* also - and _ */
#define SLASH  8u       /* also / */
#define DOTS   16u      /* also dots, at least one */
#define VISIBLE 32u     /* all characters except blanks and quotes */
#define RANDOM 64u      /* at least a digit and a capital, to exclude plain words */
static const struct shape { const char *begin; unsigned least, flags; } shapes[] = {
	{ "AKIA", 16, UPPER }, { "ASIA", 16, UPPER },                                                   /* Amazon */
	{ "ghp_", 20, MIXED }, { "gho_", 20, MIXED }, { "ghu_", 20, MIXED }, { "ghs_", 20, MIXED }, { "ghr_", 20, MIXED },
	{ "github_pat_", 20, MIXED | DASHES }, { "glpat-", 16, MIXED | DASHES }, { "hf_", 20, MIXED }, { "npm_", 30, MIXED },
	{ "pypi-", 40, MIXED | DASHES | RANDOM }, { "AIza", 30, MIXED | DASHES }, { "sk-", 20, MIXED | DASHES | RANDOM },
	{ "xoxb-", 10, MIXED | DASHES }, { "xoxp-", 10, MIXED | DASHES }, { "xoxa-", 10, MIXED | DASHES },
	{ "xoxr-", 10, MIXED | DASHES }, { "xoxs-", 10, MIXED | DASHES }, { "eyJ", 20, MIXED | DASHES | DOTS },   /* JSON web token */
	{ "Bearer ", 8, VISIBLE }, { "bearer ", 8, VISIBLE },
	{ "hooks.slack.com/services/", 1, MIXED | DASHES | SLASH }, { "discord.com/api/webhooks/", 1, MIXED | DASHES | SLASH },
};

/* ---- names ---- */

#define MOST_WORDS 16

struct secret_name {
	char text[128];                 /* lower case, a zero after each word */
	const char *words[MOST_WORDS];
	size_t n;
};

static bool is_one_of(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}

/* Splits a name into words: auth-token, AUTH_TOKEN, auth.token and authToken give auth, token.  Uses only the end of a long name. */
static void split(struct secret_name *name, const char *s, size_t n)
{
	size_t at = 0, most = sizeof name->text / 2 - 1;
	bool open = false;

	name->n = 0;
	if (n > most) {
		s += n - most;
		n = most;
	}
	for (size_t i = 0; i < n; i++) {
		bool letter = isalnum((unsigned char)s[i]);

		if (open && (!letter || (isupper((unsigned char)s[i]) && islower((unsigned char)s[i - 1])))) {
			name->text[at++] = '\0';
			open = false;
		}
		if (!letter)
			continue;
		if (!open && name->n < MOST_WORDS)
			name->words[name->n++] = &name->text[at];
		open = true;
		name->text[at++] = (char)tolower((unsigned char)s[i]);
	}
	name->text[at] = '\0';
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct word *find_word(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; n > 2 && i < LENGTH(words); i++)
		if (words[i].flags & ENDS ? ends_with(text, words[i].text) : strcmp(text, words[i].text) == 0)
			return &words[i];
	return NULL;
}

/* The table's entry for word i of a name, alone or joined with word i + 1; NULL: none. */
static const struct word *word_at(const struct secret_name *name, size_t i)
{
	const struct word *w = find_word(name->words[i]);
	char both[sizeof name->text];

	if (w || i + 1 == name->n)
		return w;
	strcpy(both, name->words[i]);
	strcat(both, name->words[i + 1]);
	w = find_word(both);
	return w && !(w->flags & SOFT) ? w : NULL;
}

/* Strictest secret word in a name: 0 none, 1 SOFT, 2 not SOFT. */
static int words_in(const struct secret_name *name)
{
	int most = 0;

	for (size_t i = 0; i < name->n && most < 2; i++) {
		const struct word *w = word_at(name, i);
		int is = !w ? 0 : w->flags & SOFT ? 1 : 2;

		most = is > most ? is : most;
	}
	return most;
}

bool secret_name(const char *s, size_t n)
{
	struct secret_name name;
	int most;

	split(&name, s, n);
	most = words_in(&name);
	if (!most || is_one_of(heads, LENGTH(heads), name.words[name.n - 1]) || is_one_of(switches, LENGTH(switches), name.words[0]))
		return false;
	for (size_t i = 0; most == 1 && i < name.n; i++)
		if (is_one_of(harmless, LENGTH(harmless), name.words[i]))
			return false;
	return true;
}

bool secret_variable(const char *s, size_t n)
{
	struct secret_name name;

	/* The shell's current and previous folder. */
	if ((n == 3 && memcmp(s, "PWD", 3) == 0) || (n == 6 && memcmp(s, "OLDPWD", 6) == 0))
		return false;
	split(&name, s, n);
	for (size_t i = 0; i < name.n; i++) {
		size_t last = strlen(name.words[i]);
		char one[sizeof name.text];

		if (word_at(&name, i))
			return true;
		strcpy(one, name.words[i]);
		if (last > 1 && one[last - 1] == 's') {
			one[last - 1] = '\0';
			if (find_word(one))
				return true;
		}
	}
	return false;
}

/* ---- values ---- */

static void put_mask(struct buf *out)
{
	buf_put(out, SECRET_MASK, strlen(SECRET_MASK));
}

static bool is_empty_value(const char *s, size_t n)
{
	for (size_t i = 0; i < LENGTH(empty_values); i++)
		if (strlen(empty_values[i]) == n && strncasecmp(empty_values[i], s, n) == 0)
			return true;
	return false;
}

static void put_value(struct buf *out, const char *s, size_t n)
{
	if (is_empty_value(s, n))
		buf_put(out, s, n);
	else
		put_mask(out);
}

/* NAME:PASSWORD */
static void put_user(struct buf *out, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n), *rest = colon ? colon + 1 : NULL;
	size_t digits = 0, left = colon ? (size_t)(s + n - rest) : 0;

	while (digits < left && isdigit((unsigned char)rest[digits]))
		digits++;
	if (!colon || digits == left) {
		secrets_put(out, s, n);
		return;
	}
	buf_put(out, s, (size_t)(rest - s));
	put_mask(out);
}

static bool is_user_option(const char *s, size_t n)
{
	for (size_t i = 0; i < LENGTH(user_options); i++)
		if (strlen(user_options[i]) == n && memcmp(user_options[i], s, n) == 0)
			return true;
	return false;
}

/* ---- texts ---- */

struct secret_scan {
	const char *begin, *end;
	const char *named;              /* end of the last name examined */
	struct buf *out;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"';
}

static bool fits(unsigned flags, char c)
{
	if (flags & VISIBLE)
		return !is_blank(c) && !is_quote(c);
	return isdigit((unsigned char)c) || (flags & UPPER ? isupper((unsigned char)c) : isalpha((unsigned char)c)) ||
	       (flags & DASHES && (c == '-' || c == '_')) || (flags & SLASH && c == '/') || (flags & DOTS && c == '.');
}

/* Length of a token of this shape at p; 0: no token. */
static size_t shape_at(const struct shape *shape, const char *p, const char *end)
{
	size_t begin = strlen(shape->begin), n = begin;
	bool digit = false, capital = false, dot = false;

	if ((size_t)(end - p) < begin || memcmp(p, shape->begin, begin) != 0)
		return 0;
	for (; p + n < end && fits(shape->flags, p[n]); n++) {
		digit |= isdigit((unsigned char)p[n]);
		capital |= isupper((unsigned char)p[n]);
		dot |= p[n] == '.';
	}
	if (n - begin < shape->least || (shape->flags & RANDOM && !(digit && capital)) || (shape->flags & DOTS && !dot))
		return 0;
	return n;
}

static const char *put_token(struct secret_scan *s, const char *p)
{
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		size_t n = *p == *shapes[i].begin ? shape_at(&shapes[i], p, s->end) : 0;

		if (!n)
			continue;
		buf_put(s->out, shapes[i].begin, strlen(shapes[i].begin));
		put_mask(s->out);
		return p + n;
	}
	return NULL;
}

/* Masks the password of "://user:password@" at p; returns where to continue. */
static const char *put_url(struct secret_scan *s, const char *p)
{
	const char *colon = NULL, *at = NULL;

	for (const char *q = p + 3; q < s->end && !is_blank(*q) && !is_quote(*q) && !strchr("/?#", *q); q++) {
		if (*q == ':' && !colon)
			colon = q;
		if (*q == '@')
			at = q;
	}
	if (!at || !colon || colon + 1 >= at) {
		buf_put(s->out, p, 3);
		return p + 3;
	}
	buf_put(s->out, p, (size_t)(colon + 1 - p));
	put_mask(s->out);
	return at;
}

static size_t name_length(const char *p, const char *end)
{
	size_t n = 0;

	if (p < end && !isalpha((unsigned char)*p) && *p != '_')
		return 0;
	while (p + n < end && (isalnum((unsigned char)p[n]) || (p[n] && strchr("_.-", p[n]))))
		n++;
	return n;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* Begin of the value in NAME="x", NAME: x, "NAME": "x" or --NAME x.  p: end of the name.  NULL: no value. */
static const char *value_of(const struct secret_scan *s, const char *name, const char *p, char *separator)
{
	bool option = name > s->begin && name[-1] == '-', quoted = p < s->end && is_quote(*p);
	const char *q = skip_blanks(p + quoted, s->end);

	if (q >= s->end)
		return NULL;
	*separator = *q;
	if (*q == '=')
		return q + 1 < s->end && q[1] == '=' ? NULL : skip_blanks(q + 1, s->end);
	if (*q == ':' && q + 1 < s->end && (quoted || is_blank(q[1]) || is_quote(q[1])))
		return skip_blanks(q + 1, s->end);
	*separator = ' ';
	return option && !quoted && q > p && *q != '-' ? q : NULL;
}

/* End of the value.  After ':', as in an HTTP header, the value is the rest of the line. */
static const char *value_end(const struct secret_scan *s, const char *p, char separator)
{
	const char *stop = separator == ':' ? "\n'\"" : " \t\n\r&;,|<>)]}'\"";

	while (p < s->end && !strchr(stop, *p))
		p++;
	return p;
}

/* Appends a name and its masked value, if the name's value is a secret.  Returns where to continue, or NULL: nothing appended. */
static const char *put_named(struct secret_scan *s, const char *p, size_t n)
{
	bool user = p > s->begin && p[-1] == '-' && is_user_option(p, n);
	char separator = 0;
	const char *value, *end;

	if (!user && !secret_name(p, n) &&
	    !(n == 3 && memcmp(p, "sig", 3) == 0 && p > s->begin && (p[-1] == '&' || p[-1] == '?')))
		return NULL;
	value = value_of(s, p, p + n, &separator);
	if (!value || value >= s->end)
		return NULL;
	if (is_quote(*value)) {
		char quote = *value++;

		end = value < s->end ? memchr(value, quote, (size_t)(s->end - value)) : NULL;
		end = end ? end : s->end;
	} else
		end = value_end(s, value, separator);
	buf_put(s->out, p, (size_t)(value - p));
	(user ? put_user : put_value)(s->out, value, (size_t)(end - value));
	return end;
}

/* Appends a token, or a name with a secret value, that begins at p.  Returns where to continue, or NULL: nothing appended. */
static const char *put_word(struct secret_scan *s, const char *p)
{
	const char *next = put_token(s, p);
	size_t n;

	if (next || p < s->named)
		return next;
	n = name_length(p, s->end);
	s->named = p + n;
	return n ? put_named(s, p, n) : NULL;
}

void secrets_put(struct buf *out, const char *text, size_t n)
{
	struct secret_scan s = { .begin = text, .end = text + n, .named = text, .out = out };

	for (const char *p = text; p < s.end;) {
		const char *next = NULL;

		if (p == text || !isalnum((unsigned char)p[-1]))
			next = put_word(&s, p);
		if (!next && s.end - p > 3 && memcmp(p, "://", 3) == 0)
			next = put_url(&s, p);
		if (!next) {
			buf_put(out, p, 1);
			next = p + 1;
		}
		p = next;
	}
}

/* ---- arguments ---- */

enum next { NEXT_PLAIN, NEXT_SECRET, NEXT_USER };

static void begin(struct secret_args *a, const char *arg, size_t n)
{
	const char *slash = memrchr(arg, '/', n), *name = slash ? slash + 1 : arg;
	size_t length = n - (size_t)(name - arg);

	a->begun = true;
	if (length < sizeof a->program)
		memcpy(a->program, name, length);
}

/* sshpass -p PASSWORD, mysql -pPASSWORD.  True: the argument was appended. */
static bool put_short(struct secret_args *a, struct buf *out, const char *arg, size_t n)
{
	for (size_t i = 0; i < LENGTH(short_options); i++) {
		if (n < 2 || arg[0] != '-' || arg[1] != short_options[i].letter ||
		    strcmp(a->program, short_options[i].program) != 0)
			continue;
		buf_put(out, arg, 2);
		if (n > 2)
			put_mask(out);
		else if (short_options[i].next)
			a->next = NEXT_SECRET;
		return true;
	}
	return false;
}

void secrets_put_arg(struct secret_args *a, struct buf *out, const char *arg, size_t n)
{
	unsigned is = a->next;
	size_t dashes = 0, name;

	a->next = NEXT_PLAIN;
	if (!a->begun)
		begin(a, arg, n);
	else if (put_short(a, out, arg, n))
		return;
	if (is != NEXT_PLAIN && n && (arg[0] != '-' || n == 1)) {
		(is == NEXT_USER ? put_user : put_value)(out, arg, n);
		return;
	}
	while (dashes < n && arg[dashes] && strchr("-+~", arg[dashes]))
		dashes++;
	name = name_length(arg + dashes, arg + n);
	if (dashes && dashes + name == n)
		a->next = is_user_option(arg + dashes, name) ? NEXT_USER :
			  secret_name(arg + dashes, name) ? NEXT_SECRET : NEXT_PLAIN;
	if (name && dashes + name < n && arg[dashes + name] == '=') {
		const char *value = arg + dashes + name + 1;
		bool user = dashes && is_user_option(arg + dashes, name);

		if (user || secret_name(arg + dashes, name)) {
			buf_put(out, arg, (size_t)(value - arg));
			(user ? put_user : put_value)(out, value, (size_t)(arg + n - value));
			return;
		}
	}
	secrets_put(out, arg, n);
}
