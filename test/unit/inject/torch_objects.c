/* Reading Python objects from an interpreter's memory: damaged or cyclic objects must not cause crashes, endless loops or wrong names. */
#include "inject/torch/torch_objects.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/python/python_dict.h"
#include "inject/python/python_state.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

/* An index without a free place: two threads that both hold the lock may leave one. */
static int look_in_a_full_index(void)
{
	const struct rlimit seconds = { 5, 5 };
	uint32_t found;

	setrlimit(RLIMIT_CPU, &seconds);
	fake_session(4, 4);
	if (!torch_objects_open() || torch_object_at(0x10000, 0x20000, false) != 0)
		return 1;
	memset(torch_objects->index, 0, sizeof torch_objects->index);
	for (size_t i = 0; i < sizeof torch_objects->index / sizeof *torch_objects->index; i++)
		torch_objects->index[i] = 1;
	found = torch_object_at(0x30000, 0x20000, false);
	return found == TORCH_NONE && torch_object_at(0x10000, 0x20000, false) == 0 ? 0 : 2;
}

TEST(an_index_without_a_free_place_ends_the_search)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(look_in_a_full_index());
	waitpid(child, &status, 0);
	CHECK_EQ(status, 0);
}

/* The flags of three classes, where a head of that size has them. */
static bool ready_with(uint16_t object_type)
{
	static uint64_t classes[3][1024];
	const uint64_t flags[3] = { 1ull << 28, 1ull << 27, 0 };
	bool ready;

	for (int i = 0; i < 3; i++)
		memcpy((char *)classes[i] + 168 + object_type - 8, &flags[i], 8);
	python = (struct python){ 0 };
	python.layout.version = PY_VERSION(3, 14);
	python.layout.object_type = object_type;
	python.layout.free_threaded = object_type != 8;
	python.layout.text_length = (uint16_t)(object_type + 8);
	python.layout.text_ascii = (uint16_t)(object_type + 32);
	python.symbols.text_type = (uintptr_t)classes[0];
	python.symbols.bytes_type = (uintptr_t)classes[1];
	python.symbols.code_type = (uintptr_t)classes[2];
	ready = py_classes_ready();
	python = (struct python){ 0 };
	return ready;
}

/* It is the interpreter that says how long a head is: what is read by it lies in arrays of ours. */
TEST(a_head_that_no_version_has_is_not_read_by)
{
	CHECK(ready_with(8));
	CHECK(ready_with(24));
	CHECK(!ready_with(72));
	CHECK(!ready_with(4096));
}
