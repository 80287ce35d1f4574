#include "cli/ui/options.h"

#include "cli/ui/cmd.h"
#include "test/unit/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool loud, quiet;
static int number;
static uint64_t size, ms, count, mode;
static const char *name, *choice;
static char *list;

static const struct opt opts[] = {
	{ 'l', "loud", NULL, opt_flag, &loud, "h", NULL, OPT_WORD },
	{ 'q', "quiet", NULL, opt_flag, &quiet, "h", NULL, 0 },
	{ 'n', "number", "N", opt_int, &number, "h", NULL, 0 },
	{ 0, "size", "SIZE", opt_size, &size, "h", NULL, 0 },
	{ 'd', "duration", "S", opt_seconds, &ms, "h", NULL, 0 },
	{ 0, "count", "N", opt_u64, &count, "h", NULL, 0 },
	{ 'o', "output", "NAME", opt_text, &name, "a text that is long enough to need more than one line of the screen", NULL, 0 },
	{ 'f', "format", "WHAT", opt_choice, &choice, "h", "table csv json", 0 },
	{ 0, "mode", "WHAT", opt_position, &mode, "h", "yield share keep", 0 },
	{ 'r', "report", "NAME", opt_list, &list, "h", NULL, 0 },
	{ .name = "", .help = "Rarely used", .flags = OPT_TITLE },
	{ 0, "rare", NULL, opt_flag, &quiet, "h", NULL, OPT_MORE },
	{ 0, "elsewhere", NULL, opt_flag, &quiet, "h", NULL, OPT_MORE | OPT_HIDDEN },
	{ 0 }
};

static const struct cmd cmd = { .name = "try", .args = "FILE...", .help = "Try.", .opts = opts };

static int saved = -1;

static void hush(void)
{
	int null = open("/dev/null", O_WRONLY);

	saved = dup(STDERR_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

static void speak(void)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/* Parses words up to NULL; the operands that are left, joined by blanks; "!" for a failure. */
static const char *parse_words(bool stop, char **words)
{
	static char left[256];
	int argc = 0, i;

	loud = quiet = false;
	number = 0;
	size = ms = count = 0;
	name = choice = NULL;
	free(list);
	list = NULL;
	while (words[argc])
		argc++;
	hush();
	i = options_parse(&cmd, argc, words, stop);
	speak();
	left[0] = '\0';
	if (i < 0)
		return i == OPTIONS_FAILED ? "!" : "done";
	for (; i < argc; i++) {
		strcat(left, words[i]);
		strcat(left, i + 1 < argc ? " " : "");
	}
	return left;
}

#define PARSE(...) parse_words(false, (char *[]){ "prog", __VA_ARGS__, NULL })
#define PARSE_TO_WORD(...) parse_words(true, (char *[]){ "prog", __VA_ARGS__, NULL })

TEST(options_are_taken_in_every_form)
{
	CHECK_STR(PARSE("-n", "3", "a"), "a");
	CHECK_EQ(number, 3);
	CHECK_STR(PARSE("-n3", "a"), "a");
	CHECK_EQ(number, 3);
	CHECK_STR(PARSE("-n=3", "a"), "a");
	CHECK_EQ(number, 3);
	CHECK_STR(PARSE("--number=-3", "a"), "a");
	CHECK_EQ(number, -3);
	CHECK_STR(PARSE("--number", "3", "a"), "a");
	CHECK_STR(PARSE("-ql", "a"), "a");
	CHECK(quiet && loud);
	CHECK_STR(PARSE("-qn4", "a"), "a");
	CHECK(quiet && number == 4);
	CHECK_STR(PARSE("--output="), "");
	CHECK_STR(name, "");
}

TEST(operands_between_options_keep_their_order)
{
	CHECK_STR(PARSE("a", "-q", "b", "-n", "5", "c"), "a b c");
	CHECK(quiet && number == 5);
	CHECK_STR(PARSE("a", "--", "-q", "b"), "a -q b");
	CHECK(!quiet);
	CHECK_STR(PARSE("-", "-q"), "-");
	CHECK_STR(PARSE("--"), "");
}

TEST(options_of_another_program_are_left_alone)
{
	CHECK_STR(PARSE_TO_WORD("-q", "python", "-n", "5", "--", "--nonsense"), "python -n 5 -- --nonsense");
	CHECK(quiet && number == 0);
	CHECK_STR(PARSE_TO_WORD("--", "-q"), "-q");
	CHECK(!quiet);
}

TEST(flags_take_true_and_false)
{
	CHECK_STR(PARSE("--quiet=false", "a"), "a");
	CHECK(!quiet);
	CHECK_STR(PARSE("--quiet=true", "a"), "a");
	CHECK(quiet);
	CHECK_STR(PARSE("--quiet", "false"), "false");
	CHECK(quiet);
	CHECK_STR(PARSE("-l", "false", "true"), "true");
	CHECK(!loud);
	CHECK_STR(PARSE("-ltrue"), "");
	CHECK(loud);
	CHECK_STR(PARSE("--loud", "yes"), "yes");
	CHECK(loud);
	CHECK_STR(PARSE("--loud=yes"), "!");
}

TEST(values_are_checked)
{
	static const char *const bad[] = { "", "x", "1o", " 1", "+1", "0x10", "99999999999999999999999", "1.5" };

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK_STR(PARSE("--count", (char *)bad[i]), "!");
		CHECK_STR(PARSE("-n", (char *)bad[i]), "!");
	}
	CHECK_STR(PARSE("--count", "18446744073709551615"), "");
	CHECK(count == UINT64_MAX);
	CHECK_STR(PARSE("-n", "2147483648"), "!");
	CHECK_STR(PARSE("--count"), "!");
	CHECK_STR(PARSE("-f", "csv"), "");
	CHECK_STR(choice, "csv");
	CHECK_STR(PARSE("-f", "cs"), "!");
	CHECK_STR(PARSE("-f", "csv json"), "!");
	CHECK_STR(PARSE("--mode", "keep"), "");
	CHECK_EQ(mode, 2);
	CHECK_STR(PARSE("--mode", "kee"), "!");
	CHECK_EQ(mode, 2);
	CHECK_STR(PARSE("-r", "a,b", "-r", "c"), "");
	CHECK_STR(list, "a,b,c");
}

TEST(sizes_have_units)
{
	CHECK_STR(PARSE("--size", "8G"), "");
	CHECK_EQ(size, 8ull << 30);
	CHECK_STR(PARSE("--size", "512m"), "");
	CHECK_EQ(size, 512ull << 20);
	CHECK_STR(PARSE("--size", "3KiB"), "");
	CHECK_EQ(size, 3072);
	CHECK_STR(PARSE("--size", "2TB"), "");
	CHECK_EQ(size, 2ull << 40);
	CHECK_STR(PARSE("--size", "17"), "");
	CHECK_EQ(size, 17);
	CHECK_STR(PARSE("--size", "0"), "");
	CHECK_STR(PARSE("--size", "8X"), "!");
	CHECK_STR(PARSE("--size", "8GG"), "!");
	CHECK_STR(PARSE("--size", "G"), "!");
	CHECK_STR(PARSE("--size", "99999999999T"), "!");
	CHECK_STR(PARSE("--size", "-1"), "!");
}

TEST(seconds_may_be_fractions)
{
	CHECK_STR(PARSE("-d", "0.25"), "");
	CHECK_EQ(ms, 250);
	CHECK_STR(PARSE("-d", "10"), "");
	CHECK_EQ(ms, 10000);
	CHECK_STR(PARSE("-d", "-1"), "!");
	CHECK_STR(PARSE("-d", "nan"), "!");
	CHECK_STR(PARSE("-d", "inf"), "!");
	CHECK_STR(PARSE("-d", "1s"), "!");
	CHECK_STR(PARSE("-d", ""), "!");
}

TEST(the_nearest_word_is_the_one_that_was_meant)
{
	static const char *const words[] = { "trace", "output", "cuda-flush-interval", "force-overwrite", "nvtx", "osrt" };
	static const char *const tries[][2] = {
		{ "trcae", "trace" }, { "ouput", "output" }, { "outputs", "output" }, { "cuda-flush", "cuda-flush-interval" },
		{ "force-overwite", "force-overwrite" }, { "nvtxx", "nvtx" }, { "osr", "osrt" }, { "force_overwrite", "force-overwrite" },
	};
	char longer[200];

	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
		CHECK_STR(options_nearest(tries[i][0], words, 6), tries[i][1]);
	CHECK(!options_nearest("python", words, 6));
	CHECK(!options_nearest("", words, 6));
	CHECK(!options_nearest("x", words, 6));
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	CHECK(!options_nearest(longer, words, 6));
}

TEST(unknown_options_and_help_are_told_apart)
{
	CHECK_STR(PARSE("--nonsense"), "!");
	CHECK_STR(PARSE("-z"), "!");
	CHECK_STR(PARSE("-qz"), "!");
}

TEST(help_stays_within_the_screen)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	options_help(&cmd, out, false);
	fclose(out);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		CHECK(strlen(line) <= 80);
	free(text);
}

static bool help_has(bool all, const char *line)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	bool has;

	options_help(&cmd, out, all);
	fclose(out);
	has = strstr(text, line);
	free(text);
	return has;
}

TEST(help_all_has_titles_and_all_options_but_hidden_ones)
{
	CHECK(!help_has(false, "--rare"));
	CHECK(!help_has(false, "Rarely used"));
	CHECK(help_has(false, "--help-all"));
	CHECK(help_has(true, "\nRarely used:\n      --rare"));
	CHECK(!help_has(true, "--help-all"));
	CHECK(!help_has(true, "--elsewhere"));
}

TEST(a_title_is_no_option_and_a_hidden_option_is_one)
{
	CHECK_STR(PARSE("--"), "");
	CHECK_STR(PARSE("--=true"), "!");
	CHECK_STR(PARSE("--elsewhere"), "");
	CHECK(quiet);
}
