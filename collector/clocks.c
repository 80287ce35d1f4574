#include "collector/clocks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "trace/clock.h"
#include "trace/wire.h"

/* A reading takes 60 ns, or 10 us if an interrupt comes in between.  One of five is undisturbed. */
#define TRIES 5

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
	return false;
#endif
}

static bool kernel_uses_tsc(void)
{
	char source[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, source, sizeof source - 1);
	close(fd);
	return n >= 4 && memcmp(source, "tsc\n", 4) == 0;
}

bool clocks_tsc_usable(void)
{
	return tsc_is_invariant() && kernel_uses_tsc();
}

struct clock_row clocks_read(bool with_tsc)
{
	struct clock_row best = { 0 };
	int64_t best_width = INT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		int64_t before = clock_ns(CLOCK_MONOTONIC);
		uint64_t tsc = with_tsc ? tsc_now() : 0;
		int64_t real = clock_ns(CLOCK_REALTIME);
		int64_t after = clock_ns(CLOCK_MONOTONIC);

		if (after - before < best_width) {
			best_width = after - before;
			best = (struct clock_row){ .tsc = tsc, .mono = before + best_width / 2, .real = real };
		}
	}
	return best;
}

int64_t clocks_now(unsigned clock)
{
	switch (clock) {
	case CLOCK_TSC:
		return (int64_t)tsc_now();
	case CLOCK_REAL:
		return clock_ns(CLOCK_REALTIME);
	default:
		return clock_ns(CLOCK_MONOTONIC);
	}
}
