#define main gen_format_main
int gen_format_main(int argc, char **argv);
#include "scripts/gen-format.c"
#undef main

#include <stdlib.h>

#include "test/unit/test.h"

static char *read_page(FILE *f)
{
	char *text = calloc(1, 1 << 20);

	CHECK(fread(text, 1, (1 << 20) - 1, f) > 0);
	return text;
}

TEST(the_page_about_the_format_has_the_tables_of_today)
{
	FILE *page = fopen("docs/reference/trace-format.md", "r"), *out;
	char *made = NULL, *there;
	size_t size;

	if (!page) {
		test_skip("docs/reference/trace-format.md is not below the current folder");
		return;
	}
	out = open_memstream(&made, &size);
	CHECK_EQ(make_page(page, out), 0);
	fclose(out);
	rewind(page);
	there = read_page(page);
	fclose(page);
	if (!CHECK(strcmp(made, there) == 0))
		puts("  `make docs` makes the tables anew");
	free(made);
	free(there);
}
