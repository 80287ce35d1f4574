/* Demangles Rust's v0 scheme (RFC 2603), a grammar with back references. */
#include "cli/symbols/demangle.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Limit of nesting: back references could make a short name nest or grow without end. */
#define MOST_NESTED 200

struct rust {
	const char *start, *p, *end;    /* start: behind "_R", base of back references */
	char *out;
	size_t size, n;                 /* size of out, bytes used */
	int nested;
	unsigned bound;                 /* number of lifetimes named by enclosing binders */
	bool silent;                    /* parse without printing */
	bool bad;
};

static void put_n(struct rust *r, const char *text, size_t n)
{
	if (r->silent || r->bad)
		return;
	if (n >= r->size - r->n) {
		r->bad = true;
		return;
	}
	memcpy(r->out + r->n, text, n);
	r->n += n;
}

static void put_text(struct rust *r, const char *text)
{
	put_n(r, text, strlen(text));
}

static void put_number(struct rust *r, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)v);
	put_text(r, text);
}

static char peek(const struct rust *r)
{
	return r->p < r->end && !r->bad ? *r->p : '\0';
}

static char next(struct rust *r)
{
	if (r->p >= r->end)
		r->bad = true;
	return r->bad ? '\0' : *r->p++;
}

static bool eat(struct rust *r, char c)
{
	bool is = peek(r) == c && c;

	r->p += is;
	return is;
}

/* Reads a base-62 number: "_" is 0, "0_" is 1, and so on. */
static uint64_t base_62(struct rust *r)
{
	uint64_t v = 0;

	if (eat(r, '_'))
		return 0;
	while (!eat(r, '_')) {
		char c = next(r);
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') :
				 c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10 :
				 c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36 : 62;

		if (digit == 62 || v > (UINT64_MAX - 62) / 62) {
			r->bad = true;
			return 0;
		}
		v = v * 62 + digit;
	}
	return v + 1;
}

/* Reads an optional number behind a tag; 0: no tag. */
static uint64_t tagged_62(struct rust *r, char tag)
{
	return eat(r, tag) ? base_62(r) + 1 : 0;
}

struct ident {
	const char *text;
	size_t n;
	bool punycode;
};

static size_t decimal(struct rust *r)
{
	size_t n = 0;

	if (peek(r) < '0' || peek(r) > '9')
		r->bad = true;
	if (eat(r, '0'))
		return 0;       /* a leading 0 is the whole number: the empty name of a closure */
	while (peek(r) >= '0' && peek(r) <= '9' && n < 100000)
		n = n * 10 + (size_t)(*r->p++ - '0');
	return n;
}

static void take_text(struct rust *r, struct ident *i)
{
	i->text = r->p;
	if (i->n > (size_t)(r->end - r->p))
		r->bad = true;
	else
		r->p += i->n;
}

static struct ident ident(struct rust *r)
{
	struct ident i = { .punycode = eat(r, 'u') };

	i.n = decimal(r);
	eat(r, '_');            /* separates length and text if the text begins with a digit or an underscore */
	take_text(r, &i);
	return i;
}

static void put_ident(struct rust *r, const struct ident *i)
{
	if (i->punycode)
		put_text(r, "punycode{");
	if (!r->bad)
		put_n(r, i->text, i->n);
	if (i->punycode)
		put_text(r, "}");
}

static void path(struct rust *r, bool value);
static void type(struct rust *r);
static void constant(struct rust *r);

/* Follows a back reference and parses its target again with read(). */
static void back(struct rust *r, void (*read)(struct rust *r))
{
	const char *here = r->p - 1;
	uint64_t at = base_62(r);
	const char *behind = r->p;

	if (r->bad || at >= (uint64_t)(here - r->start)) {
		r->bad = true;
		return;
	}
	if (r->silent)
		return;         /* the target was parsed before */
	r->p = r->start + at;
	read(r);
	r->p = behind;
}

static void path_plain(struct rust *r)
{
	path(r, false);
}

static void path_value(struct rust *r)
{
	path(r, true);
}

static bool enter(struct rust *r)
{
	if (++r->nested > MOST_NESTED)
		r->bad = true;
	return !r->bad;
}

/* ---- lifetimes ---- */

static void put_lifetime(struct rust *r, uint64_t index)
{
	char letter[3] = "'_";

	if (index > r->bound) {
		r->bad = true;
		return;
	}
	if (index && r->bound - index < 26)
		letter[1] = (char)('a' + (r->bound - index));
	put_text(r, letter);
	if (index && r->bound - index >= 26)
		put_number(r, r->bound - index);
}

/* Prints "for<'a, 'b> "; returns the number of lifetimes it names. */
static unsigned binder(struct rust *r)
{
	uint64_t n = tagged_62(r, 'G');

	if (n > 100)
		r->bad = true;
	if (!n || r->bad)
		return 0;
	put_text(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		r->bound++;
		put_text(r, i ? ", " : "");
		put_lifetime(r, 1);
	}
	put_text(r, "> ");
	return (unsigned)n;
}

static void generic_argument(struct rust *r)
{
	if (eat(r, 'L'))
		put_lifetime(r, base_62(r));
	else if (eat(r, 'K'))
		constant(r);
	else
		type(r);
}

/* Parses elements with read() up to an E; returns their number. */
static unsigned list(struct rust *r, void (*read)(struct rust *r), const char *between)
{
	unsigned n = 0;

	while (!r->bad && !eat(r, 'E')) {
		put_text(r, n++ ? between : "");
		read(r);
	}
	return n;
}

/* ---- paths ---- */

static void nested_path(struct rust *r, bool value)
{
	char space = next(r);
	uint64_t number;
	struct ident name;

	path(r, value);
	number = tagged_62(r, 's');
	name = ident(r);
	if (space >= 'A' && space <= 'Z') {
		put_text(r, "::{");
		if (space == 'C')
			put_text(r, "closure");
		else if (space == 'S')
			put_text(r, "shim");
		else
			put_n(r, &space, 1);
		put_text(r, name.n ? ":" : "");
		put_ident(r, &name);
		put_text(r, "#");
		put_number(r, number);
		put_text(r, "}");
	} else if (name.n) {
		put_text(r, "::");
		put_ident(r, &name);
	}
}

/* Prints <T> or <T as Trait>; the path of an impl is parsed but not printed. */
static void impl_path(struct rust *r, char tag)
{
	bool silent = r->silent;

	if (tag != 'Y') {
		tagged_62(r, 's');
		r->silent = true;
		path(r, false);
		r->silent = silent;
	}
	put_text(r, "<");
	type(r);
	if (tag != 'M') {
		put_text(r, " as ");
		path(r, false);
	}
	put_text(r, ">");
}

static void path(struct rust *r, bool value)
{
	char tag = next(r);
	struct ident name;

	if (!enter(r))
		return;
	switch (tag) {
	case 'C':
		tagged_62(r, 's');
		name = ident(r);
		put_ident(r, &name);
		break;
	case 'N':
		nested_path(r, value);
		break;
	case 'M': case 'X': case 'Y':
		impl_path(r, tag);
		break;
	case 'I':
		path(r, value);
		put_text(r, value ? "::<" : "<");
		list(r, generic_argument, ", ");
		put_text(r, ">");
		break;
	case 'B':
		back(r, value ? path_value : path_plain);
		break;
	default:
		r->bad = true;
	}
	r->nested--;
}

/* ---- types ---- */

static const char *basic_type(char tag)
{
	static const char *const names[] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64", ['e' - 'a'] = "str",
		['f' - 'a'] = "f32", ['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32", ['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128", ['p' - 'a'] = "_",
		['s' - 'a'] = "i16", ['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...", ['x' - 'a'] = "i64",
		['y' - 'a'] = "u64", ['z' - 'a'] = "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void function_type(struct rust *r)
{
	unsigned bound = binder(r);
	struct ident abi;

	put_text(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		abi = eat(r, 'C') ? (struct ident){ "C", 1, false } : ident(r);
		put_text(r, "extern \"");
		for (size_t i = 0; i < abi.n && !r->bad; i++)
			put_n(r, abi.text[i] == '_' ? "-" : abi.text + i, 1);
		put_text(r, "\" ");
	}
	put_text(r, "fn(");
	list(r, type, ", ");
	put_text(r, ")");
	if (!eat(r, 'u')) {
		put_text(r, " -> ");
		type(r);
	}
	r->bound -= bound;
}

/* Prints a trait's path, without the closing '>' of its generic arguments so that "Item = T" can follow.  True: '>' is missing. */
static bool open_path(struct rust *r)
{
	const char *behind;
	uint64_t at;
	bool open;

	if (eat(r, 'I')) {
		path(r, false);
		put_text(r, "<");
		list(r, generic_argument, ", ");
		return true;
	}
	if (peek(r) != 'B' || r->silent) {
		path(r, false);
		return false;
	}
	if (!enter(r))
		return false;
	behind = r->p++;
	at = base_62(r);
	if (r->bad || at >= (uint64_t)(behind - r->start)) {
		r->bad = true;
		return false;
	}
	behind = r->p;
	r->p = r->start + at;
	open = open_path(r);
	r->p = behind;
	r->nested--;
	return open;
}

static void dyn_trait(struct rust *r)
{
	bool open = open_path(r);

	while (eat(r, 'p')) {
		struct ident name = ident(r);

		put_text(r, open ? ", " : "<");
		open = true;
		put_ident(r, &name);
		put_text(r, " = ");
		type(r);
	}
	put_text(r, open ? ">" : "");
}

static void dyn_type(struct rust *r)
{
	unsigned bound;
	uint64_t lifetime;

	put_text(r, "dyn ");
	bound = binder(r);
	list(r, dyn_trait, " + ");
	r->bound -= bound;
	if (!eat(r, 'L'))
		r->bad = true;
	lifetime = base_62(r);
	if (lifetime) {
		put_text(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void reference(struct rust *r, const char *what)
{
	uint64_t lifetime = eat(r, 'L') ? base_62(r) : 0;

	put_text(r, "&");
	if (lifetime) {
		put_lifetime(r, lifetime);
		put_text(r, " ");
	}
	put_text(r, what);
	type(r);
}

static void type(struct rust *r)
{
	char tag = next(r);
	const char *basic = basic_type(tag);

	if (basic || !enter(r)) {
		put_text(r, basic ? basic : "");
		return;
	}
	switch (tag) {
	case 'R': reference(r, ""); break;
	case 'Q': reference(r, "mut "); break;
	case 'P': put_text(r, "*const "); type(r); break;
	case 'O': put_text(r, "*mut "); type(r); break;
	case 'A': case 'S':
		put_text(r, "[");
		type(r);
		if (tag == 'A') {
			put_text(r, "; ");
			constant(r);
		}
		put_text(r, "]");
		break;
	case 'T':
		put_text(r, "(");
		put_text(r, list(r, type, ", ") == 1 ? ",)" : ")");
		break;
	case 'F': function_type(r); break;
	case 'D': dyn_type(r); break;
	case 'B': back(r, type); break;
	default:
		r->p--;
		path(r, false);
	}
	r->nested--;
}

/* ---- constants: numbers, bool, char; other types as digits ---- */

static void put_char(struct rust *r, uint64_t c)
{
	char text[16];

	if (c == '\'' || c == '\\')
		snprintf(text, sizeof text, "'\\%c'", (char)c);
	else if (c >= ' ' && c < 0x7f)
		snprintf(text, sizeof text, "'%c'", (char)c);
	else
		snprintf(text, sizeof text, "'\\u{%x}'", (unsigned)c);
	put_text(r, text);
}

static void constant(struct rust *r)
{
	char tag = next(r);
	const char *digits;
	uint64_t v = 0;
	size_t n;

	if (tag == 'p') {
		put_text(r, "_");
		return;
	}
	if (tag == 'B') {
		if (enter(r))
			back(r, constant);
		r->nested--;
		return;
	}
	if (!tag || !strchr("abchijlmnostxy", tag)) {
		r->bad = true;
		return;
	}
	if (eat(r, 'n'))
		put_text(r, "-");
	digits = r->p;
	n = strspn(digits, "0123456789abcdef");
	if (n >= (size_t)(r->end - digits) || digits[n] != '_') {
		r->bad = true;
		return;
	}
	r->p += n + 1;
	for (size_t i = 0; i < n && n <= 16; i++)
		v = v << 4 | (unsigned)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	if (n > 16) {
		put_text(r, "0x");
		put_n(r, digits, n);
	} else if (tag == 'b') {
		put_text(r, v ? "true" : "false");
	} else if (tag == 'c') {
		put_char(r, v);
	} else {
		put_number(r, v);
	}
}

/* ---- a whole name ---- */

static bool v0(const char *name, char *out, size_t size)
{
	struct rust r = { .start = name + 2, .p = name + 2, .out = out, .size = size };

	/* A digit here would be an encoding version; none is defined yet. */
	r.end = r.p + strcspn(r.p, ".$");
	if (*r.p < 'A' || *r.p > 'Z')
		return false;
	path(&r, true);
	if (peek(&r) >= 'A' && peek(&r) <= 'Z') {
		r.silent = true;        /* the crate that instantiated a generic */
		path(&r, false);
	}
	out[r.n] = '\0';
	return !r.bad && r.p == r.end;
}

bool demangle_rust(const char *name, char *out, size_t size)
{
	return strncmp(name, "_R", 2) == 0 ? v0(name, out, size) :
	       strncmp(name, "_ZN", 3) == 0 && demangle_rust_legacy(name, out, size);
}
