/* A process that calls exec is one process with several programs. */
#include "cli/model/process.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define EXECED (PROCESS_ENDED | PROCESS_EXECED)

/* Pid 100 becomes another program twice; 200 has an end, and its pid comes again; number 4 is a child of the second image. */
static struct model *chain(struct making *k)
{
	make_begin(k);
	ROWS(k, 0, process,
	     { T0 + 1, T0 + 10, 1, 100, 100, 50, 0, EXECED },
	     { T0 + 2, T0 + 5, 2, 200, 200, 100, 1, PROCESS_ENDED },
	     { T0 + 10, T0 + 20, 3, 100, 100, 50, 0, EXECED | PROCESS_CUDA },
	     { T0 + 11, 0, 4, 101, 101, 100, 3, 0 },
	     { T0 + 20, T0 + 90, 5, 100, 100, 50, 0, PROCESS_ENDED },
	     { T0 + 30, 0, 6, 200, 200, 100, 5, 0 },
	     { T0 + 31, T0 + 40, 7, 100, 900, 1, 0, PROCESS_ENDED });
	ROWS(k, 0, ending, { 7, 5, 0, 0, 0 }, { 5000, 5, 2, 9, 0 }, { 40, 2, 1, 3, 0 }, { 1, 77, 1, 1, 0 });
	make_attribute(k, 1, "name=sh");
	make_attribute(k, 3, "name=env");
	make_attribute(k, 5, "name=python3");
	make_end(k);
	return model_open(k->path, NULL);
}

TEST(images_of_a_pid_that_execs_have_one_number)
{
	static const uint32_t numbers[] = { 0, 1, 2, 1, 4, 1, 6, 7 }, parents[] = { 0, 0, 1, 0, 1, 0, 1, 0 };
	struct making k;
	struct model *m = chain(&k);
	uint32_t n;
	const struct process *p = model_processes(m, &n);
	char names[64];

	CHECK_EQ(n, 8);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(p[i].image, i);
		CHECK_EQ(p[i].number, numbers[i]);
		CHECK_EQ(p[i].parent, parents[i]);
	}
	CHECK_EQ(model_n_processes(m), 5);
	CHECK_EQ(p[1].after, 3);
	CHECK_EQ(p[5].before, 3);
	CHECK_EQ(p[2].after, 0);                /* it ended; the pid is another's later */
	CHECK_EQ(p[7].before, 0);               /* the same pid in another namespace */
	CHECK_STR(process_images(m, 3, names, sizeof names), "sh -> env -> python3");
	CHECK_STR(process_images(m, 3, names, 26), "sh -> \xe2\x80\xa6 -> python3");
	CHECK_STR(process_images(m, 3, names, 15), "python3");
	CHECK(process_last(m, 1) == &p[5]);
	CHECK(process_all_flags(m, 5) & PROCESS_CUDA);
	CHECK_EQ(p[5].cpu, 5000);
	CHECK_EQ(p[5].how, ENDED_SIGNAL);
	CHECK_EQ(p[5].status, 9);
	CHECK_EQ(p[0].how, ENDED_UNKNOWN);      /* of a process that no other row is about */
	model_close(m);
	unmake(&k);
}

TEST(the_report_has_a_row_for_each_process_and_its_end)
{
	struct making k;
	struct model *m = chain(&k);
	char *text = report_text(m, "processes", TABLE_CSV, NULL, 0);

	CHECK(text && strstr(text, "\n1,100,,,1,90,89,5000,,,,0,0,,0,SIGKILL,cuda execed ended,sh -> env -> python3\n"));
	CHECK(text && strstr(text, "\n2,200,1,,2,5,3,40,0,0,0,0,0,,0,exit 3,ended,pid 200\n"));
	CHECK(text && strstr(text, "\n4,101,1,,11,,") && strstr(text, ",running,seen,pid 101\n"));
	CHECK(text && !strstr(text, "\n3,") && !strstr(text, "\n5,"));
	free(text);
	model_close(m);
	unmake(&k);
}
