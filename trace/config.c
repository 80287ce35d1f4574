#include "trace/config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum type { TYPE_u64, TYPE_text };

struct setting {
	const char *name;
	enum type type;
	size_t offset;
	uint64_t number;                /* default of a u64 */
	const char *text;               /* default of a text */
};

#define DEFAULT_u64(value) .number = (value), .text = ""
#define DEFAULT_text(value) .text = (value)
static const struct setting settings[] = {
#define SETTING(type, name, value, doc) { #name, TYPE_##type, offsetof(struct config, name), DEFAULT_##type(value) },
#include "trace/config.def"
#undef SETTING
};

#define N_SETTINGS (sizeof settings / sizeof *settings)

void config_init(struct config *c)
{
	memset(c, 0, sizeof *c);        /* padding too: all bytes are sent to other processes */
	for (const struct setting *s = settings; s < settings + N_SETTINGS; s++) {
		char *at = (char *)c + s->offset;

		if (s->type == TYPE_u64)
			memcpy(at, &s->number, sizeof s->number);
		else
			snprintf(at, CONFIG_TEXT, "%s", s->text);
	}
}

/* Output text of limited size; counts the full length beyond its end, as snprintf() does. */
struct text_out {
	char *text;
	size_t size, length;
};

static void put_char(struct text_out *o, char c)
{
	if (o->length + 1 < o->size)
		o->text[o->length] = c;
	o->length++;
}

static void put_text(struct text_out *o, const char *s, bool escape)
{
	for (; *s; s++) {
		if (escape && (*s == '\n' || *s == '\\')) {
			put_char(o, '\\');
			put_char(o, *s == '\n' ? 'n' : '\\');
		} else {
			put_char(o, *s);
		}
	}
}

size_t config_format(const struct config *c, char *text, size_t size)
{
	struct text_out o = { text, size, 0 };

	for (const struct setting *s = settings; s < settings + N_SETTINGS; s++) {
		const char *at = (const char *)c + s->offset;
		char number[24];
		uint64_t v;

		put_text(&o, s->name, false);
		put_char(&o, '=');
		if (s->type == TYPE_u64) {
			memcpy(&v, at, sizeof v);
			snprintf(number, sizeof number, "%llu", (unsigned long long)v);
			put_text(&o, number, false);
		} else {
			put_text(&o, at, true);
		}
		put_char(&o, '\n');
	}
	if (size)
		text[o.length < size ? o.length : size - 1] = '\0';
	return o.length;
}

static int parse_number(uint64_t *v, const char *p, const char *end)
{
	*v = 0;
	if (p == end)
		return -1;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(*p - '0'), v))
			return -1;
	}
	return 0;
}

static int parse_text(char *out, const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++) {
		char c = *p;

		if (c == '\\') {
			if (++p == end || (*p != 'n' && *p != '\\'))
				return -1;
			c = *p == 'n' ? '\n' : '\\';
		}
		if (!c || n + 1 == CONFIG_TEXT)
			return -1;
		out[n++] = c;
	}
	memset(out + n, 0, CONFIG_TEXT - n);
	return 0;
}

static int parse_line(struct config *c, const char *line, const char *end)
{
	const char *eq = memchr(line, '=', (size_t)(end - line));

	if (!eq)
		return -1;
	for (const struct setting *s = settings; s < settings + N_SETTINGS; s++) {
		char *at = (char *)c + s->offset;
		char text[CONFIG_TEXT];
		uint64_t v;

		if (strlen(s->name) != (size_t)(eq - line) || memcmp(s->name, line, (size_t)(eq - line)))
			continue;
		if (s->type == TYPE_u64) {
			if (parse_number(&v, eq + 1, end) < 0)
				return -1;
			memcpy(at, &v, sizeof v);
		} else {
			if (parse_text(text, eq + 1, end) < 0)
				return -1;
			memcpy(at, text, sizeof text);
		}
		return 0;
	}
	return 0;                       /* unknown name: a setting of a newer gprof-run */
}

int config_parse(struct config *c, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));

		if (!nl)
			nl = end;
		if (nl > text && parse_line(c, text, nl) < 0)
			return -1;
		text = nl + 1;
	}
	return 0;
}
