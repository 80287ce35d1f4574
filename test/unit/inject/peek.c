/* Guarded reads: peek() fails for unmapped memory and reads mapped memory. */
#include "inject/unwind/peek.h"

#include <errno.h>
#include <sys/mman.h>

#include "test/unit/test.h"

#define PAGE 4096u

/* Three pages, of which the last cannot be read. */
static uint64_t two_of_three(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK_EQ(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
	return (uint64_t)(uintptr_t)pages;
}

TEST(bytes_are_all_mapped_where_each_page_of_theirs_is)
{
	uint64_t pages = two_of_three(), end = pages + 2 * PAGE;

	errno = 77;
	CHECK(peek_all_mapped(pages, 1));
	CHECK(peek_all_mapped(pages, 2 * PAGE));
	CHECK(peek_all_mapped(pages + 3, 2 * PAGE - 3));
	CHECK(peek_all_mapped(end - 1, 1));
	CHECK(peek_all_mapped(end, 0));
	CHECK(!peek_all_mapped(end, 1));
	CHECK(!peek_all_mapped(end - 1, 2));
	CHECK(!peek_all_mapped(pages, 2 * PAGE + 1));
	CHECK(!peek_all_mapped(pages, 3 * PAGE));
	CHECK_EQ(errno, 77);
	munmap((void *)(uintptr_t)pages, 3 * PAGE);
}

TEST(no_address_and_what_passes_the_end_of_memory_are_not_mapped)
{
	CHECK(!peek_all_mapped(0, 8));
	CHECK(!peek_all_mapped(5, 1));
	CHECK(!peek_all_mapped(~0ull - 3, 8));
}

TEST(a_copy_fails_where_a_byte_of_it_cannot_be_read)
{
	uint64_t pages = two_of_three(), word = 0, words[2], from[2] = { pages, pages + 2 * PAGE };

	*(uint64_t *)(uintptr_t)(pages + 8) = 42;
	CHECK(peek(&word, pages + 8, 8));
	CHECK_EQ(word, 42);
	CHECK(!peek(&word, pages + 2 * PAGE - 4, 8));
	CHECK(!peek(&word, 0, 8));
	CHECK(!peek_words(words, from, 2));
	from[1] = pages + 8;
	CHECK(peek_words(words, from, 2));
	CHECK_EQ(words[1], 42);
	munmap((void *)(uintptr_t)pages, 3 * PAGE);
}
