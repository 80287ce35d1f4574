#include "test/sim/release.h"

#include <stdio.h>
#include <stdlib.h>

/* Read from the real libraries (test/cupti), oldest first.  A version holds from its release up to the next release listed. */
static const struct {
	uint32_t release, version;
} releases[] = {
	{ RELEASE(11, 0, 0), 13 },
	{ RELEASE(11, 6, 0), 16 },
	{ RELEASE(11, 7, 0), 17 },
	{ RELEASE(11, 8, 0), 18 },      /* also 12.0 and 12.1 */
	{ RELEASE(12, 2, 0), 20 },
	{ RELEASE(12, 3, 0), 21 },
	{ RELEASE(12, 4, 0), 22 },
	{ RELEASE(12, 5, 0), 23 },
	{ RELEASE(12, 6, 0), 24 },      /* GA, U1 and U2 */
	{ RELEASE(12, 8, 0), 26 },
	{ RELEASE(12, 9, 0), 27 },
	{ RELEASE(12, 9, 79), 28 },
	{ RELEASE(13, 0, 0), 130000 },
	{ RELEASE(13, 0, 85), 130001 },
	{ RELEASE(13, 1, 0), 130100 },
	{ RELEASE(13, 1, 115), 130101 },
	{ RELEASE(13, 2, 0), 130200 },
	{ RELEASE(13, 2, 75), 130201 },
	{ RELEASE(13, 3, 0), 130300 },
	{ RELEASE(13, 3, 75), 130301 },
	{ RELEASE(13, 4, 0), 130400 },
	{ RELEASE(13, 4, 92), 130401 },
};
#define N_RELEASES (sizeof(releases) / sizeof(*releases))

static uint32_t number(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? (uint32_t)strtoul(value, NULL, 0) : 0;
}

static uint32_t asked(void)
{
	const char *value = getenv("SIM_CUPTI_RELEASE");
	unsigned major, minor = 0, patch = 0;

	if (!value || !*value)
		return 0;
	if (sscanf(value, "%u.%u.%u", &major, &minor, &patch) < 1 || major < 11) {
		fprintf(stderr, "sim: SIM_CUPTI_RELEASE=%s is no release such as 12.6.80\n", value);
		abort();
	}
	return RELEASE(major, minor, patch);
}

/* For 12.4 and 12.6 the last update, which PyTorch's wheels contain. */
uint32_t sim_release_of(uint32_t version)
{
	uint32_t release = releases[0].release;

	for (size_t i = 0; i < N_RELEASES && releases[i].version <= version; i++)
		release = releases[i].release;
	return release == RELEASE(12, 6, 0) ? RELEASE(12, 6, 80) : release == RELEASE(12, 4, 0) ? RELEASE(12, 4, 127) : release;
}

uint32_t sim_release(void)
{
	static _Atomic uint32_t release;

	if (!release) {
		uint32_t version = number("SIM_CUPTI_VERSION");

		release = asked() ? asked() : version ? sim_release_of(version) : RELEASE(13, 0, 85);
	}
	return release;
}

uint32_t sim_release_version(void)
{
	uint32_t version = number("SIM_CUPTI_VERSION");

	if (version)
		return version;
	for (size_t i = 0; i < N_RELEASES && releases[i].release <= sim_release(); i++)
		version = releases[i].version;
	return version;
}
