#include "cli/cmd/redact.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/model/model.h"
#include "test/unit/test.h"
#include "trace/reader.h"

/* A record with a new text fails here until cli/cmd/redact_rules.def says what becomes of it. */
TEST(every_text_of_every_record_has_a_rule)
{
	for (size_t i = 0; i < n_records; i++)
		for (unsigned f = 0; f < records[i].n_fields; f++) {
			const struct field *field = &records[i].fields[f];
			bool text = field->unit == UNIT_LEN || (field->unit == UNIT_STRING && records[i].id != ROW_string);
			char which[80], said[120];

			snprintf(which, sizeof which, "%s.%s", records[i].name, field->name);
			snprintf(said, sizeof said, "%s%s", which, redact_rule_of(records[i].id, f) ? "" : " has no rule");
			if (text)
				CHECK_STR(said, which);
			else
				CHECK(redact_rule_of(records[i].id, f) == NULL);
		}
}

static struct model *nothing(void)
{
	const struct file_header head = { .session = 1 };
	static struct trace t;

	t = (struct trace)TRACE_INIT;
	CHECK_EQ(trace_begin(&t, "nothing", &head), 0);
	return model_of(&t);
}

static char shown[512];

static const char *made(struct redact_texts *r, enum redact_rule rule, const char *text)
{
	struct buf out = { 0 };

	redact_text(r, rule, "word", text, strlen(text), &out);
	snprintf(shown, sizeof shown, "%.*s", (int)out.len, out.data ? (char *)out.data : "");
	buf_free(&out);
	return shown;
}

TEST(paths_become_placeholders_that_reports_read_alike)
{
	struct redact_texts r = { .m = nothing() };

	CHECK_STR(made(&r, REDACT_PATH, "/home/me/net.py"), "/word_1.py");
	CHECK_STR(made(&r, REDACT_PATH, "/opt/x/site-packages/mine/a.py"), "/site-packages/word_2.py");
	CHECK_STR(made(&r, REDACT_PATH, "/usr/lib/python3.11/json/decoder.py"), "/lib/python3/word_3.py");
	CHECK_STR(made(&r, REDACT_PATH, "/usr/lib/libcuda.so.1"), "/word_4/libcuda.so.1");
	CHECK_STR(made(&r, REDACT_PATH, "/home/me/libsecret.so.1"), "/word_5.so.1");
	CHECK_STR(made(&r, REDACT_PATH, "/home/me/net.py"), "/word_1.py");
	CHECK_STR(made(&r, REDACT_PATH, "<frozen os>"), "<frozen os>");
	CHECK_STR(made(&r, REDACT_PATH, "/tmp/python-build.1/Lib/threading.py"), "/lib/python3/word_6.py");
	CHECK_STR(made(&r, REDACT_PATH, ""), "");
	redact_texts_release(&r);
	model_close(r.m);
}

TEST(names_stay_unless_a_glob_has_them_and_paths_in_them_do_not)
{
	struct redact_texts r = { .m = nothing(), .names = "mine*,*::mine", .keep = "mine_too" };

	CHECK_STR(made(&r, REDACT_NAME, "forward"), "forward");
	CHECK_STR(made(&r, REDACT_NAME, "mine_1"), "word_1");
	CHECK_STR(made(&r, REDACT_NAME, "mine_2_h884"), "word_2_h884");
	CHECK_STR(made(&r, REDACT_NAME, "mine_1"), "word_1");
	CHECK_STR(made(&r, REDACT_NAME, "mine_too"), "mine_too");
	CHECK_STR(made(&r, REDACT_NAME, "aten::mine"), "aten::mine");
	CHECK_STR(made(&r, REDACT_NAME, "read /home/me/x.bin (a/b)"), "read /file_1.bin (a/b)");
	CHECK_STR(made(&r, REDACT_NAME, "libmine.so+0x12"), "/file_2.so+0x12");
	CHECK_STR(made(&r, REDACT_NAME, "libc.so.6+0x12"), "libc.so.6+0x12");
	CHECK_STR(made(&r, REDACT_MODULES, "mine_0 > Linear_12"), "word_3_0 > Linear_12");
	CHECK_STR(made(&r, REDACT_MODULE_PATHS, ". > layers.0.mine"), ". > layers.0.word_3");
	redact_texts_release(&r);
	model_close(r.m);
}

TEST(of_values_and_arguments_the_numbers_stay)
{
	struct redact_texts r = { .m = nothing() };

	CHECK_STR(made(&r, REDACT_VALUES, "[\"\", \"[1, 1]\", \"False\", \"/home/me\", \"1e-05\"]"), "[\"\", \"[1, 1]\", \"False\", \"/x/x\", \"1e-05\"]");
	CHECK_STR(made(&r, REDACT_ARGUMENT, "[0, 1, 2]"), "[0, 1, 2]");
	CHECK_STR(made(&r, REDACT_ARGUMENT, "my group"), "word_1");
	CHECK_STR(made(&r, REDACT_ARGUMENT, "nccl:all_reduce"), "nccl:all_reduce");
	redact_texts_release(&r);
	model_close(r.m);
}
