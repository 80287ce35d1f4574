#include "cli/ui/words.h"

#include "test/unit/test.h"

#include <string.h>

TEST(command_lines_are_quoted_so_that_a_shell_reads_them_back)
{
	char out[64];

	words_quote(out, sizeof out, (char *[]){ "python", "a b", "", "it's", "--x=1", "$HOME" }, 6);
	CHECK_STR(out, "python 'a b' '' 'it'\\''s' --x=1 '$HOME'");
	words_quote(out, 8, (char *[]){ "abcdefgh", "i j" }, 2);
	CHECK_STR(out, "abcdefg");
	words_quote(out, sizeof out, NULL, 0);
	CHECK_STR(out, "");
}

static const char *split(const char *text)
{
	static char joined[256];
	char copy[256], *words[4];
	int n;

	strcpy(copy, text);
	n = words_split(copy, words, 4);
	joined[0] = '\0';
	for (int i = 0; i < n; i++)
		strcat(strcat(joined, words[i]), "|");
	return joined;
}

TEST(words_are_split_at_blanks_outside_of_quotes)
{
	CHECK_STR(split(""), "");
	CHECK_STR(split(" \t\n"), "");
	CHECK_STR(split("a"), "a|");
	CHECK_STR(split("a b\nc"), "a|b|c|");
	CHECK_STR(split("-o 'a b'\"c d\"e f"), "-o|a bc de|f|");
	CHECK_STR(split("'' \"\" x"), "||x|");
	CHECK_STR(split("'it\"s' \"it's\""), "it\"s|it's|");
	CHECK_STR(split("# comment\n a # b\nc#d"), "a|c#d|");
	CHECK_STR(split("'open"), "open|");
	CHECK_STR(split("a b c d e"), "a|b|c|d|");
}

TEST(a_word_of_a_list_is_a_whole_word)
{
	CHECK(words_have("none sigterm sigkill", "sigterm"));
	CHECK(words_have("one", "one"));
	CHECK_EQ(words_index("none sigterm sigkill", "sigkill"), 2);
	CHECK(!words_have("none sigterm", "sig"));
	CHECK(!words_have("none sigterm", "none sigterm"));
	CHECK(!words_have("none sigterm", ""));
	CHECK(!words_have("", "x"));
}
