/* Lines of the page: how texts are wrapped, and which blocks are omitted if there are too many lines. */
#include "cli/page/page_lines.h"
#include "cli/ui/json_out.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

static char *printed(struct page_lines *p)
{
	char *text = NULL;
	size_t n = 0;
	struct out out;
	FILE *file = open_memstream(&text, &n);

	CHECK(file && out_init(&out, file) == 0);
	CHECK_EQ(page_lines_print(p, &out), 0);
	out_finish(&out);
	fclose(file);
	page_lines_release(p);
	return text;
}

TEST(a_text_is_broken_between_words_and_a_number_keeps_its_unit)
{
	struct page_lines p = { .width = 32 };
	char *text;

	page_text(&p, KEEP_ALWAYS, "steps", "20, median 5.61 ms, slowest #0 at 6.55 ms", 3);
	text = printed(&p);
	CHECK_STR(text, "  steps     20, median 5.61 ms,\n"
			"            slowest #0 at\n"
			"            6.55 ms\n");
	free(text);
}

TEST(a_text_that_is_too_long_ends_with_an_ellipsis)
{
	struct page_lines p = { .width = 32 };
	char *text;

	page_text(&p, KEEP_ALWAYS, "ended", "one two three four five six seven eight", 1);
	page_text(&p, KEEP_ALWAYS, "command", "/a/very/long/path/to/a/program argument", 1);
	text = printed(&p);
	CHECK_STR(text, "  ended     one two three four \xe2\x80\xa6\n"
			"  command   /a/very/long/path/t\xe2\x80\xa6\n");
	free(text);
}

TEST(a_long_command_loses_folders_before_the_names_of_its_files)
{
	char text[320];

	CHECK_STR(page_command(text, sizeof text, "/usr/bin/python3 /home/me/train.py", 80), "/usr/bin/python3 /home/me/train.py");
	CHECK_STR(page_command(text, sizeof text, "/usr/bin/python3 /home/me/train.py", 30), "\xe2\x80\xa6/python3 /home/me/train.py");
	CHECK_STR(page_command(text, sizeof text, "/usr/bin/python3 /home/me/train.py --out=/a/b/c 5", 20),
		  "\xe2\x80\xa6/python3 \xe2\x80\xa6/train.py --out=/a/b/c 5");
}

TEST(the_least_important_blocks_are_left_out_first_and_whole)
{
	struct page_lines p = { .width = PAGE_WIDTH };
	size_t block;
	char *text;

	page_text(&p, KEEP_ASIDE, "overhead", "none", 1);
	block = page_block(&p, KEEP_DETAIL);
	page_line(&p, block, "a");
	page_line(&p, block, "b");
	for (int i = 0; i < 23; i++)
		page_text(&p, KEEP_ALWAYS, "line", "text", 1);
	CHECK_EQ(page_count(&p), 26);
	text = printed(&p);
	CHECK(strncmp(text, "a\nb\n  line", 10) == 0);
	free(text);
	page_text(&p, KEEP_ASIDE, "overhead", "none", 1);
	p.width = PAGE_WIDTH;
	for (unsigned i = 0; i < PAGE_LINES; i++)
		page_text(&p, KEEP_ALWAYS, "line", "text", 1);
	text = printed(&p);
	CHECK(strstr(text, "overhead") == NULL);
	free(text);
}
