#include "trace/rules/pythonlib.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/test.h"

static void judged(const char *path, bool library)
{
	if (!CHECK_EQ(pythonlib_has(path, strlen(path)), library))
		printf("  '%s'\n", path);
}

TEST(files_of_python_and_of_packages_are_known_by_their_folders)
{
	judged("/usr/lib/python3/dist-packages/yaml/__init__.py", true);
	judged("/venv/lib/python3.12/site-packages/torch/nn/linear.py", true);
	judged("/opt/x/site-packages/mine/a.py", true);
	judged("/usr/lib/python3.11/json/decoder.py", true);
	judged("/usr/lib64/python3/threading.py", true);
	judged("/usr/lib/python312.zip/os.py", true);
	judged("/usr/lib/python3.zip/os.py", true);
	judged("/opt/python3.11/threading.py", true);
	judged("/opt/python3.13t/threading.py", true);
}

TEST(the_library_in_a_folder_where_python_was_built_is_python_s)
{
	judged("/tmp/python-build.20240101.1234/Python-3.11.7/Lib/threading.py", true);
	judged("/tmp/python-build.1234/Lib/json/decoder.py", true);
	judged("/home/me/src/cpython/Lib/threading.py", true);
}

TEST(the_program_s_own_files_may_have_similar_names)
{
	judged("/home/me/net/train.py", false);
	judged("/home/me/net/Lib/train.py", false);
	judged("/home/me/python/train.py", false);
	judged("/home/me/python3.py", false);
	judged("/home/me/lib/python3_tricks.py", false);
	judged("/home/me/python3.x/train.py", false);
	judged("/home/me/python3.11-tests/train.py", false);
	judged("/home/me/lib/train.py", false);
	judged("python-3/train.py", false);
	judged("/Lib/train.py", false);
	judged("/", false);
	judged("", false);
}
