#include "test/unit/test.h"

int main(int argc, char **argv)
{
	return test_run_all(argc, argv);
}
