#include "trace/path.h"

#include <string.h>

#include "test/unit/test.h"

TEST(a_path_that_fits_exactly_is_joined)
{
	char path[9];

	CHECK_EQ(path_join(path, sizeof path, "/tmp", "abc"), 0);
	CHECK_STR(path, "/tmp/abc");
}

TEST(a_path_that_does_not_fit_is_refused_and_nothing_written_behind_it)
{
	const char *volatile name = "abc";      /* volatile: compilers warn of a result that they know to be cut */
	char path[] = "........x";

	errno = 0;
	CHECK_EQ(path_join(path, 8, "/tmp", name), -1);
	CHECK_EQ(errno, ENAMETOOLONG);
	CHECK_STR(path, "/tmp/ab");
	CHECK_STR(path + 8, "x");
}
