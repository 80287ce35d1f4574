/* A C++ library with functions that return an address in themselves. */
#include <cstdint>

namespace deep {
template <class T> struct Box {
	static __attribute__((noinline)) T here()
	{
		return (T)__builtin_return_address(0) - 1;
	}
};

static __attribute__((noinline)) uint64_t hidden(int)
{
	uint64_t at = Box<uint64_t>::here();

	__asm__ volatile("" : "+r"(at));
	return at;
}
}

extern "C" uint64_t say_where()
{
	uint64_t at = deep::hidden(1);

	__asm__ volatile("" : "+r"(at));
	return at;
}
