#include "trace/config.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"

TEST(settings_have_their_defaults)
{
	struct config c;

	config_init(&c);
	CHECK_EQ(c.trace_nvtx, 1);
	CHECK_EQ(c.max_size, 8ull << 30);
	CHECK_STR(c.output, "");
}

static char *formatted(const struct config *c)
{
	size_t n = config_format(c, NULL, 0);
	char *text = malloc(n + 1);

	CHECK_EQ(config_format(c, text, n + 1), n);
	CHECK_EQ(strlen(text), n);
	return text;
}

TEST(settings_go_through_text_and_come_back)
{
	struct config c, back;
	char *text;

	config_init(&c);
	strcpy(c.output, "a=b\\n\n\nc\\");
	memset(c.command, '\n', CONFIG_TEXT - 1);
	c.max_size = UINT64_MAX;
	c.delay_ms = 0;
	c.trace_cuda = 0;
	text = formatted(&c);
	memset(&back, 'x', sizeof back);
	CHECK_EQ(config_parse(&back, text, strlen(text)), 0);
	CHECK_EQ(memcmp(&c, &back, sizeof c), 0);
	free(text);
}

TEST(text_that_does_not_fit_is_cut_and_its_length_told)
{
	struct config c;
	char text[100];

	config_init(&c);
	memset(text, 'x', sizeof text);
	CHECK(config_format(&c, text, 10) > 10);
	CHECK_STR(text, "output=\no");
	CHECK_EQ(text[10], 'x');
}

TEST(settings_of_a_newer_program_are_skipped)
{
	const char *text = "colour=mauve\nmain_pid=7\n";
	struct config c;

	config_init(&c);
	CHECK_EQ(config_parse(&c, text, strlen(text)), 0);
	CHECK_EQ(c.main_pid, 7);
}

TEST(settings_that_cannot_be_read_are_refused)
{
	static const char *const bad[] = {
		"main_pid", "main_pid=", "main_pid=1o", "main_pid=-1", "main_pid=18446744073709551616", "output=a\\", "output=\\t",
	};
	char long_line[CONFIG_TEXT + 20] = "output=";
	struct config c;

	config_init(&c);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_EQ(config_parse(&c, bad[i], strlen(bad[i])), -1);
	memset(long_line + 7, 'a', CONFIG_TEXT - 1);
	CHECK_EQ(config_parse(&c, long_line, 7 + CONFIG_TEXT - 1), 0);
	memset(long_line + 7, 'a', CONFIG_TEXT);
	CHECK_EQ(config_parse(&c, long_line, 7 + CONFIG_TEXT), -1);
	CHECK_EQ(config_parse(&c, "output=a\0b", 10), -1);
}
