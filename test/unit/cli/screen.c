/* Escaping of texts from files, for output to a terminal. */
#include "cli/ui/screen.h"

#include "cli/ui/json_out.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

static const char *cleaned(const char *text)
{
	static char buf[200];

	snprintf(buf, sizeof buf, "%s", text);
	buf[screen_clean(buf, strlen(buf))] = '\0';
	return buf;
}

TEST(a_terminal_gets_no_controls_and_no_marks_of_direction)
{
	CHECK_STR(cleaned("a\x1b[31mred\x07\x7f"), "a?[31mred??");
	CHECK_STR(cleaned("C1: \xc2\x9b" "2J \xc2\x85."), "C1: ?2J ?.");
	CHECK_STR(cleaned("no UTF-8: \x9b" "2J, \xe9t\xe9"), "no UTF-8: ?2J, \xe9t\xe9");
	CHECK_STR(cleaned("\xe2\x80\xae" "gnp.exe \xe2\x81\xa6x\xe2\x81\xa9 \xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa"), "?gnp.exe ?x? ????");
	CHECK_STR(cleaned("lines\nand\ttabs\r"), "lines\nand\ttabs?");
	CHECK_STR(cleaned("\xc2\xa0 \xce\xbb \xe2\x80\xa6 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc2\xa0 \xce\xbb \xe2\x80\xa6 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(a_character_that_is_cut_between_two_writes_is_seen_whole)
{
	static const char text[] = "\xe2\x80\xae-\xc2\x9b-\xce\xbb-\xf0\x9f\x98\x80-";
	char got[100] = "";

	CHECK_EQ(screen_begun("ab\xe2\x80", 4), 2);
	CHECK_EQ(screen_begun("ab\xf0\x9f\x98", 5), 3);
	CHECK_EQ(screen_begun("ab\xce\xbb", 4), 0);
	CHECK_EQ(screen_begun("\x80\x80\x80\x80", 4), 0);
	for (size_t cut = 0; cut < sizeof text; cut++) {
		FILE *file = tmpfile();
		struct out o;
		size_t n;

		CHECK_EQ(out_init(&o, file), 0);
		CHECK(!o.screen);
		o.screen = true;
		out_bytes(&o, text, cut);
		out_flush(&o);
		out_bytes(&o, text + cut, sizeof text - 1 - cut);
		CHECK_EQ(out_finish(&o), 0);
		rewind(file);
		n = fread(got, 1, sizeof got - 1, file);
		got[n] = '\0';
		CHECK_STR(got, "?-?-\xce\xbb-\xf0\x9f\x98\x80-");
		fclose(file);
	}
}

/* What a file gets of `before`, our words in a style, and `after`. */
static const char *styled(const char *before, const char *after, bool screen, bool flush)
{
	static char got[200];
	FILE *file = tmpfile();
	struct out o;
	size_t n;

	CHECK_EQ(out_init(&o, file), 0);
	CHECK(!o.styled);
	o.styled = true;
	o.screen = screen;
	out_text(&o, before);
	out_style(&o, STYLE_BOLD);
	out_text(&o, "ours");
	if (flush)
		out_flush(&o);
	out_style(&o, STYLE_PLAIN);
	out_text(&o, after);
	CHECK_EQ(out_finish(&o), 0);
	rewind(file);
	n = fread(got, 1, sizeof got - 1, file);
	got[n] = '\0';
	fclose(file);
	return got;
}

TEST(our_styles_stay_and_those_in_names_do_not)
{
	for (int flush = 0; flush < 2; flush++) {
		CHECK_STR(styled("a\x1b[1mb", "c\x1b[0m\xc2\x9b", true, flush), "a?[1mb\x1b[1mours\x1b[0mc?[0m?");
		CHECK_STR(styled("\xe2\x9b", "", true, flush), "\xe2?\x1b[1mours\x1b[0m");      /* a character that is cut off */
		CHECK_STR(styled("a\x1b", "", false, flush), "a\x1b\x1b[1mours\x1b[0m");         /* data in a pipe */
	}
}

TEST(a_style_takes_no_columns)
{
	const struct styled parts[] = { { 0, 2, STYLE_BOLD }, { 3, 6, STYLE_WARN } };
	char *text = NULL;
	size_t n;
	FILE *file = open_memstream(&text, &n);
	struct out o;

	CHECK_EQ(out_init(&o, file), 0);
	out_visible_styled(&o, "ab cde f\n", 9, parts, 2);
	o.styled = true;
	out_visible_styled(&o, "ab cde f", 8, parts, 2);
	out_visible_styled(&o, "ab cde f", 5, parts, 2);
	CHECK_EQ(out_finish(&o), 0);
	fclose(file);
	CHECK_STR(text, "ab cde f?" "\x1b[1mab\x1b[0m \x1b[1;33mcde\x1b[0m f" "\x1b[1mab\x1b[0m \x1b[1;33mc\xe2\x80\xa6\x1b[0m");
	free(text);
}

TEST(columns_for_people_show_no_controls_in_files_either)
{
	char *text = NULL;
	size_t n;
	FILE *file = open_memstream(&text, &n);
	struct out o;

	CHECK_EQ(out_init(&o, file), 0);
	out_visible(&o, "a\xe2\x80\xae" "b\x1b" "c\xc2\x9b" "d\xff", SIZE_MAX);
	out_visible(&o, "-\xce\xbb\xce\xbb\xce\xbb", 3);
	CHECK_EQ(out_finish(&o), 0);
	fclose(file);
	CHECK_STR(text, "a?b?c?d?-\xce\xbb\xe2\x80\xa6");
	free(text);
}
