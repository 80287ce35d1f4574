#include "cli/page/page_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/grow.h"

#define ELLIPSIS "\xe2\x80\xa6"

size_t page_block(struct page_lines *p, enum keep keep)
{
	if (!GROW(p->blocks, p->n + 1, p->cap)) {
		p->failed = true;
		return 0;
	}
	p->blocks[p->n] = (struct page_block){ .keep = keep };
	return p->n++;
}

/* Adds a line to a block, which takes it over; NULL: out of memory. */
static void add_line(struct page_lines *p, size_t block, char *line)
{
	struct page_block *b = block < p->n ? &p->blocks[block] : NULL;

	if (b && line && GROW(b->lines, b->n + 1, b->cap)) {
		b->lines[b->n++] = (struct page_line){ .text = line };
		return;
	}
	free(line);
	p->failed = true;
}

void page_line(struct page_lines *p, size_t block, const char *fmt, ...)
{
	char *line = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&line, fmt, args) < 0)
		line = NULL;
	va_end(args);
	add_line(p, block, line);
}

void page_style(struct page_lines *p, size_t block, size_t from, size_t n, enum style style)
{
	struct page_block *b = block < p->n ? &p->blocks[block] : NULL;
	struct page_line *line = b && b->n ? &b->lines[b->n - 1] : NULL;

	if (line && n && line->n_styled < sizeof line->styled / sizeof *line->styled)
		line->styled[line->n_styled++] = (struct styled){ from, from + n, style };
}

void page_label(struct page_lines *p, size_t block, const char *label)
{
	bool warning = block < p->n && p->blocks[block].keep == KEEP_LOSS;

	page_style(p, block, 2, strlen(label), warning ? STYLE_WARN : STYLE_BOLD);
}

/* Number of bytes up to the first blank where a line may break: not between a number and its unit. */
static size_t word_length(const char *text)
{
	size_t n = strcspn(text, " ");

	while (n && text[n] && text[n + 1] && text[n - 1] >= '0' && text[n - 1] <= '9')
		n += 1 + strcspn(text + n + 1, " ");
	return n;
}

/* Width in columns of the first n bytes. */
static size_t width_of(const char *text, size_t n)
{
	char *word = strndup(text, n);
	size_t width = word ? text_width(word) : n;

	free(word);
	return width;
}

/* Number of bytes of the words that fit into width columns; at least one word. */
static size_t line_length(const char *text, size_t width)
{
	size_t n = word_length(text);

	while (text[n] == ' ') {
		size_t more = n + 1 + word_length(text + n + 1);

		if (width_of(text, more) > width)
			break;
		n = more;
	}
	return n;
}

void page_text(struct page_lines *p, enum keep keep, const char *label, const char *text, size_t most)
{
	size_t block = page_block(p, keep), width = p->width - PAGE_LABEL;

	for (size_t i = 0; i < most && (*text || !i) && !p->failed; i++) {
		size_t n = line_length(text, width);

		if (i + 1 < most || !text[n])
			page_line(p, block, "  %-*s%.*s", (int)PAGE_LABEL - 2, label, (int)n, text);
		else if (width_of(text, n) + 2 <= width)
			page_line(p, block, "  %-*s%.*s " ELLIPSIS, (int)PAGE_LABEL - 2, label, (int)n, text);
		else    /* page_lines_print() cuts it */
			page_line(p, block, "  %-*s%s", (int)PAGE_LABEL - 2, label, text);
		page_label(p, block, label);
		text += n + (text[n] == ' ');
		label = "";
	}
}

const char *page_command(char *text, size_t size, const char *command, size_t width)
{
	snprintf(text, size, "%s", command);
	for (char *word = text; *word && text_width(text) > width;) {
		size_t n = strcspn(word, " ");
		char *slash = memrchr(word, '/', n);

		if (slash && (*word == '/' || *word == '.') && (size_t)(slash - word) >= sizeof ELLIPSIS - 1) {
			memcpy(word, ELLIPSIS, sizeof ELLIPSIS - 1);
			memmove(word + sizeof ELLIPSIS - 1, slash, strlen(slash) + 1);
			n = strcspn(word, " ");
		}
		word += n + (word[n] == ' ');
	}
	return text;
}

void page_split(struct page_lines *p, size_t block, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		page_line(p, block, "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

void page_drop(struct page_lines *p, size_t block)
{
	struct page_block *b = &p->blocks[block];

	if (b->n)
		free(b->lines[--b->n].text);
}

size_t page_count(const struct page_lines *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->blocks[i].n;
	return n;
}

/* The last of the least important blocks; NULL: only KEEP_ALWAYS blocks are left. */
static struct page_block *least_important(struct page_lines *p)
{
	struct page_block *least = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (p->blocks[i].n && p->blocks[i].keep && (!least || p->blocks[i].keep >= least->keep))
			least = &p->blocks[i];
	return least;
}

static void empty(struct page_block *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->lines[i].text);
	free(b->lines);
	*b = (struct page_block){ 0 };
}

int page_lines_print(struct page_lines *p, struct out *out)
{
	struct page_block *least;

	if (p->failed)
		return -1;
	while (page_count(p) > PAGE_LINES && (least = least_important(p)))
		empty(least);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->blocks[i].n; k++) {
			const struct page_line *line = &p->blocks[i].lines[k];

			out_visible_styled(out, line->text, p->width, line->styled, line->n_styled);
			out_char(out, '\n');
		}
	return 0;
}

void page_lines_release(struct page_lines *p)
{
	for (size_t i = 0; i < p->n; i++)
		empty(&p->blocks[i]);
	free(p->blocks);
	*p = (struct page_lines){ 0 };
}
