#include "cli/report/parts/mean.h"

struct cell mean_cell(int64_t sum, size_t n, unsigned decimals)
{
	__int128 scaled = sum;

	if (!n)
		return UNKNOWN;
	for (unsigned i = 0; i < decimals; i++)
		scaled *= 10;
	return FIXED((int64_t)((scaled * 2 + (__int128)n) / (2 * (__int128)n)), decimals);
}
