#include "cli/ui/table_text.h"

#include "cli/ui/cells.h"

#include <stdlib.h>

#define NAME_WIDTH 100u         /* characters of a last text column without a given width; nsys cuts names there too */
#define WIDEST     4096u        /* characters of a cell */
#define NARROW     16u          /* least width of a text column; if that does not fit, another column is left out */
#define NARROW_LAST 30u         /* least width of the last column, if it is text */
#define BELOW      6u           /* indent of a line that belongs to the row above */

static void put_blanks(struct out *o, size_t n)
{
	for (; n > 0; n--)
		out_char(o, ' ');
}

/* ---- column widths ---- */

static bool is_text(const struct table *t, size_t column)
{
	return t->columns[column].flags & COLUMN_TEXT;
}

/* What of a text a table shows. */
static const char *text_of(const struct table *t, const struct cell *c, const struct heading *col)
{
	return c->text + (col->flags & COLUMN_PLAIN && !t->tables->full_names ? strspn(c->text, " \t") : 0);
}

static size_t cell_width(const struct table *t, const struct cell *c, const struct heading *col)
{
	char text[CELL_ROOM];

	switch (c->kind) {
	case CELL_NUMBER:
		return cell_number(text, c, col);
	case CELL_TEXT:
		return text_width_to(text_of(t, c, col), WIDEST);
	default:
		return 1;
	}
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->kind == b->kind && (a->kind == CELL_NUMBER ? a->number == b->number : a->kind == CELL_TEXT ? strcmp(a->text, b->text) == 0 : true);
}

/* Fills t->empty and t->same; neither for a long table, whose later rows are not known yet. */
static void compare(struct table *t)
{
	for (size_t i = 0; i < t->n_shown && t->kept && t->kept != ROWS_FOR_WIDTHS; i++) {
		const struct cell *first = &t->cells[i];
		size_t row = 1;

		while (row < t->kept && same_cell(&t->cells[row * t->n_columns + i], first))
			row++;
		t->same |= (uint32_t)(row == t->kept) << i;
		t->empty |= (uint32_t)(row == t->kept && first->kind == CELL_UNKNOWN) << i;
	}
}

/* Whether a COLUMN_SPARSE column is left out because all rows are unknown. */
static bool is_left_out(const struct table *t, size_t column)
{
	return t->columns[column].flags & COLUMN_SPARSE && t->empty >> column & 1;
}

static size_t head_width(const struct table *t, size_t column)
{
	char text[CELL_ROOM];

	heading_text(text, t->columns[column].name);
	return strlen(text);
}

static void measure(struct table *t)
{
	compare(t);
	for (size_t i = 0; i < t->n_shown; i++) {
		t->widths[i] = is_left_out(t, i) ? 0 : (unsigned)head_width(t, i);
		for (size_t row = 0; row < t->kept && t->widths[i]; row++) {
			size_t w = cell_width(t, &t->cells[row * t->n_columns + i], &t->columns[i]);

			t->widths[i] = w > t->widths[i] ? (unsigned)w : t->widths[i];
		}
	}
}

/* Least width of a column: texts may be cut, numbers not. */
static unsigned least(const struct table *t, size_t column)
{
	unsigned most = column + 1 == t->n_shown ? NARROW_LAST : NARROW, head = (unsigned)head_width(t, column);

	most = most > head ? most : head;
	return is_text(t, column) && t->widths[column] > most ? most : t->widths[column];
}

/* Width of a row with all columns that are shown; narrow: with texts at their least width. */
static size_t width_of(const struct table *t, bool narrow)
{
	size_t sum = 0, n = 0;

	for (size_t i = 0; i < t->n_shown; i++) {
		sum += narrow ? least(t, i) : t->widths[i];
		n += t->widths[i] > 0;
	}
	return sum + 1 + (n ? 2 * (n - 1) : 0);
}

/* The order in which columns are left out. */
enum rank { RANK_EMPTY, RANK_RARE, RANK_PLAIN, RANK_KEY, RANK_STAYS };

static enum rank rank_of(const struct table *t, size_t i)
{
	unsigned flags = t->columns[i].flags;

	if (t->empty >> i & 1)
		return RANK_EMPTY;
	if (flags & COLUMN_RARE || (flags & COLUMN_WHO && t->same >> i & 1))
		return RANK_RARE;
	if (flags & COLUMN_WHO || (i + 1 == t->n_shown && is_text(t, i)))
		return RANK_STAYS;
	return flags & COLUMN_KEY ? RANK_KEY : RANK_PLAIN;
}

/* The column to leave out next: the rightmost one of the lowest rank.  SIZE_MAX: none can be left out. */
static size_t least_important(const struct table *t)
{
	size_t found = SIZE_MAX, n = 0;
	enum rank lowest = RANK_STAYS;

	for (size_t i = 0; i < t->n_shown; i++) {
		enum rank rank = rank_of(t, i);

		if (!t->widths[i])
			continue;
		n++;
		if (rank <= lowest && rank < RANK_STAYS) {
			lowest = rank;
			found = i;
		}
	}
	return n > 1 ? found : SIZE_MAX;
}

/* Makes text columns narrower, the widest first, down to their least width, and if necessary below it. */
static void narrow_texts(struct table *t, size_t width)
{
	size_t all = width_of(t, false);

	while (all > width) {
		size_t widest = SIZE_MAX;

		for (size_t i = 0; i < t->n_shown; i++)
			if (is_text(t, i) && t->widths[i] > least(t, i) &&
			    (widest == SIZE_MAX || t->widths[i] >= t->widths[widest]))
				widest = i;
		if (widest == SIZE_MAX)
			break;
		t->widths[widest]--;
		all--;
	}
	for (size_t i = t->n_shown; i-- > 0 && all > width;)
		if (is_text(t, i) && t->widths[i] > all - width) {
			t->widths[i] -= (unsigned)(all - width);
			all = width;
		}
}

static void fit(struct table *t)
{
	struct tables *all = t->tables;
	size_t last = t->n_shown - 1;

	if (!all->width) {
		if (is_text(t, last) && t->widths[last] > NAME_WIDTH && !all->full_names)
			t->widths[last] = NAME_WIDTH;
		return;
	}
	for (size_t drop; width_of(t, true) > all->width && (drop = least_important(t)) != SIZE_MAX;) {
		t->hidden |= 1u << drop;
		t->widths[drop] = 0;
	}
	if (!all->full_names)
		narrow_texts(t, all->width);
}

char *table_text_hidden(const struct table *t)
{
	char *text = t->hidden ? malloc(t->n_shown * (CELL_ROOM + 2)) : NULL;
	size_t n = 0;

	for (size_t i = 0; text && i < t->n_shown; i++) {
		char head[CELL_ROOM];

		if (!(t->hidden >> i & 1))
			continue;
		heading_text(head, t->columns[i].name);
		n += (size_t)sprintf(text + n, "%s%s", n ? ", " : "", head);
	}
	return text;
}

/* ---- lines ---- */

/* Writes a word, broken where it is longer than a line; *at: characters in the line. */
static void put_pieces(struct out *o, const char *word, size_t *at, size_t indent, size_t width)
{
	const char *end = word + strlen(word);

	while (word < end) {
		size_t n = utf8_length(word, end);
		char one[8];

		if (*at == width) {
			out_char(o, '\n');
			put_blanks(o, indent);
			*at = indent;
		}
		n = n ? n : 1;
		snprintf(one, sizeof one, "%.*s", (int)n, word);
		out_visible(o, one, 1);
		++*at;
		word += n;
	}
}

/* As text_paragraph(), for a text that does not fit one line; without the line end. */
static void put_wrapped(struct out *o, const char *text, size_t at, size_t indent, size_t width)
{
	bool begun = false;

	width = width > indent + 10 ? width : indent + 10;
	for (size_t n; *text; text += n, text += strspn(text, " ")) {
		char word[1024];
		size_t w;

		n = strcspn(text, " ");
		n = n < sizeof word ? n : sizeof word - 1;
		snprintf(word, sizeof word, "%.*s", (int)n, text);
		w = text_width(word);
		if (begun && at + 1 + w > width) {
			out_char(o, '\n');
			put_blanks(o, indent);
			at = indent;
		} else if (begun) {
			out_char(o, ' ');
			at++;
		}
		put_pieces(o, word, &at, indent, width);
		begun = true;
	}
}

static void put_paragraph(struct out *o, const char *text, size_t at, size_t indent, size_t width)
{
	size_t blanks = strspn(text, " ");

	if (!width || at + text_width(text) <= width) {
		out_visible(o, text, SIZE_MAX);
	} else {
		put_blanks(o, blanks);
		put_wrapped(o, text + blanks, at + blanks, indent + blanks, width);
	}
}

void text_paragraph(struct out *o, const char *text, size_t at, size_t indent, size_t width)
{
	put_paragraph(o, text, at, indent, width);
	out_char(o, '\n');
}

static unsigned width_for(const struct table *t)
{
	return t->tables->full_names ? 0 : t->tables->width;
}

/* The end of a path that fits `room` characters, from a '/' on if there is one. */
static const char *path_end(const char *path, size_t room)
{
	const char *end = path + strlen(path), *slash;

	while (path < end && text_width_to(path, room + 1) > room) {
		size_t n = utf8_length(path, end);

		path += n ? n : 1;
	}
	slash = strchr(path, '/');
	return slash ? slash : path;
}

/* Writes a text into a cell of `room` characters: a longer name is folded, then cut; a path loses its front.  Returns its width. */
static size_t put_name(struct table *t, const char *text, size_t room, unsigned flags)
{
	size_t width = text_width_to(text, WIDEST);
	char folded[WIDEST];

	if (t->tables->full_names || width <= room) {
		out_visible(t->tables->out, text, SIZE_MAX);
		return width;
	}
	if (flags & COLUMN_PATH && room > 1) {
		text = path_end(text, room - 1);
		out_lit(t->tables->out, "\xe2\x80\xa6");
		out_visible(t->tables->out, text, SIZE_MAX);
		return text_width_to(text, room) + 1;
	}
	t->folded = true;
	if (flags & COLUMN_PLAIN) {
		out_visible(t->tables->out, text, room);
		return room;
	}
	if (name_fold(folded, sizeof folded, text, room))
		out_visible(t->tables->out, folded, room);
	else
		out_middle(t->tables->out, folded, room);
	return text_width_to(folded, room);
}

/* Position of the last column that is shown. */
static size_t last_shown(const struct table *t)
{
	size_t last = t->n_shown - 1;

	while (last > 0 && !t->widths[last])
		last--;
	return last;
}

void table_text_head(struct table *t)
{
	struct out *o = t->tables->out;
	char text[CELL_ROOM], title[256];
	bool begun = false;

	measure(t);
	fit(t);
	if (t->tables->printed)
		out_char(o, '\n');
	snprintf(title, sizeof title, " ** %s (%s):", t->title, t->name);
	out_style(o, STYLE_BOLD);
	put_paragraph(o, title, 0, 4, t->tables->width);
	out_style(o, STYLE_PLAIN);
	out_lit(o, "\n\n");
	if (!t->n_rows && t->n_notes)
		return;         /* the note says why there are no rows */
	for (size_t i = 0; i < t->n_shown; i++) {
		size_t head = head_width(t, i), blanks = head < t->widths[i] ? t->widths[i] - head : 0;

		if (!t->widths[i])
			continue;
		heading_text(text, t->columns[i].name);
		put_blanks(o, (begun ? 2 : 1) + (is_text(t, i) ? 0 : blanks));
		out_visible(o, text, t->widths[i]);
		put_blanks(o, is_text(t, i) && i < last_shown(t) ? blanks : 0);
		begun = true;
	}
	out_char(o, '\n');
	begun = false;
	for (size_t i = 0; i < t->n_shown; i++) {
		put_blanks(o, !t->widths[i] ? 0 : begun ? 2 : 1);
		begun |= t->widths[i] > 0;
		for (unsigned w = 0; w < t->widths[i]; w++)
			out_char(o, '-');
	}
	out_char(o, '\n');
}

/* A call stack below a row, a line for each frame. */
static void lines_below(struct table *t, const char *text)
{
	static const char between[] = " <- ";
	unsigned width = width_for(t);
	char line[1024];

	for (const char *next; text; text = next ? next + sizeof between - 1 : NULL) {
		next = strstr(text, between);
		snprintf(line, sizeof line, "%.*s", next ? (int)(next - text) : (int)sizeof line, text);
		put_blanks(t->tables->out, BELOW);
		put_name(t, line, !width ? WIDEST : width > BELOW + 20 ? width - BELOW : 20, 0);
		out_char(t->tables->out, '\n');
	}
}

static void text_below(struct table *t, const struct cell *cells)
{
	struct out *o = t->tables->out;

	for (size_t i = t->n_shown; i < t->n_columns; i++) {
		if (cells[i].kind != CELL_TEXT || !*cells[i].text)
			continue;
		if (t->columns[i].flags & COLUMN_LINES) {
			lines_below(t, cells[i].text);
			continue;
		}
		put_blanks(o, BELOW);
		out_text(o, t->columns[i].name);
		out_lit(o, ": ");
		text_paragraph(o, cells[i].text, BELOW + strlen(t->columns[i].name) + 2, BELOW + 2, width_for(t));
	}
}

void table_text_row(struct table *t, const struct cell *cells)
{
	struct out *o = t->tables->out;
	size_t used = 0, limit = width_for(t) ? width_for(t) : SIZE_MAX, end = last_shown(t);

	for (size_t i = 0; i < t->n_shown; i++) {
		size_t room = t->widths[i], width = 1, blanks;
		bool text = cells[i].kind == CELL_TEXT, last = i == end;
		char number[CELL_ROOM] = "-";

		if (!room)
			continue;
		used += used ? 2 : 1;
		if (last && is_text(t, i) && used < limit && limit - used < room)
			room = limit - used;    /* numbers may be wider than in the rows that decided the widths */
		if (cells[i].kind == CELL_NUMBER)
			width = cell_number(number, &cells[i], &t->columns[i]);
		else if (text)
			width = text_width_to(text_of(t, &cells[i], &t->columns[i]), WIDEST);
		blanks = is_text(t, i) || width > room ? 0 : room - width;
		put_blanks(o, (used > 1 ? 2 : 1) + blanks);
		if (text)
			width = put_name(t, text_of(t, &cells[i], &t->columns[i]), room, t->columns[i].flags);
		else
			out_bytes(o, number, width);
		put_blanks(o, is_text(t, i) && !last && width < room ? room - width : 0);
		used += width > room ? width : room;
	}
	out_char(o, '\n');
	text_below(t, cells);
}

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Length of the heading of the column called `name`, which is the name's first part; n: there is no such column. */
static size_t printed_length(const struct table *t, const char *name, size_t n)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (strlen(t->columns[i].name) == n && memcmp(t->columns[i].name, name, n) == 0)
			return head_width(t, i);
	return n;
}

static void print_headings(const struct table *t, char *note)
{
	char *to = note;

	for (const char *from = note; *from;) {
		size_t n = strspn(from, NAME_LETTERS), printed = n ? printed_length(t, from, n) : 1;

		memmove(to, from, printed);
		to += printed;
		from += n ? n : 1;
	}
	*to = '\0';
}

bool table_text_defines(const struct table *t, const char *line, size_t n)
{
	size_t names = strcspn(line, ":"), hidden = 0;
	char text[CELL_ROOM];

	for (size_t at = 0; at < names && names < n; at += strspn(line + at, ", ")) {
		size_t length = strcspn(line + at, ",:");

		for (size_t i = 0; i < t->n_columns; i++) {
			heading_text(text, t->columns[i].name);
			if (strlen(text) != length || strncmp(text, line + at, length) != 0)
				continue;
			if (t->widths[i] || i >= t->n_shown)
				return true;
			hidden++;
		}
		at += length;
	}
	return !hidden;
}

void table_text_note(struct table *t, char *note, bool first)
{
	struct out *o = t->tables->out;

	print_headings(t, note);
	if (first)
		out_char(o, '\n');
	put_blanks(o, 2);
	text_paragraph(o, note, 2, 4, t->tables->width);
}
