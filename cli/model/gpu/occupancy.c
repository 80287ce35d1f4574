/*
 * The rules: CUDA C++ programming guide, "Compute Capabilities" (allocation units, shared memory reserved by the system per
 * block), and the occupancy section of the best practices guide.  test/e2e/occupancy-is-as-nvidia-computes-it.sh compares the
 * results with NVIDIA's.
 */
#include "cli/model/gpu/occupancy.h"

#include <stddef.h>

#define MOST_THREADS  1024u     /* per block, on every GPU so far */
#define REGISTER_UNIT 256u      /* allocation unit of registers per warp, compute capability 3.0 to 12.x */
#define WARP          32u       /* other warp sizes (AMD: 64) are not supported */
#define ANY_MINOR     UINT32_MAX

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Limit of blocks per multiprocessor, if the trace does not have it (torch.profiler's files). */
static uint32_t most_blocks(const struct device_row *d)
{
	static const struct { uint32_t major, minor, blocks; } known[] = {
		{ 3, ANY_MINOR, 16 }, { 5, ANY_MINOR, 32 }, { 6, ANY_MINOR, 32 }, { 7, 5, 16 }, { 7, ANY_MINOR, 32 },
		{ 8, 0, 32 }, { 8, 9, 24 }, { 8, ANY_MINOR, 16 }, { 9, ANY_MINOR, 32 },
		{ 10, 1, 24 }, { 10, ANY_MINOR, 32 }, { 11, ANY_MINOR, 24 }, { 12, ANY_MINOR, 24 },
	};

	if (d->max_blocks_sm)
		return d->max_blocks_sm;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].major == d->cc_major && (known[i].minor == ANY_MINOR || known[i].minor == d->cc_minor))
			return known[i].blocks;
	return 0;
}

/* Number of partitions of a multiprocessor; each runs its warps with its share of the registers. */
static uint32_t parts_of(const struct device_row *d)
{
	return d->cc_major == 6 && d->cc_minor == 0 ? 2 : 4;
}

static uint64_t by_registers(const struct config_row *c, const struct device_row *d, uint64_t warps)
{
	uint64_t of_warp = round_up((uint64_t)c->registers * d->warp, REGISTER_UNIT);

	return of_warp ? d->max_registers_sm / parts_of(d) / of_warp * parts_of(d) / warps : UINT32_MAX;
}

static uint64_t by_shared(const struct config_row *c, const struct device_row *d)
{
	uint64_t unit = d->cc_major >= 8 ? 128 : 256, kept = d->cc_major >= 8 ? 1024 : 0;
	uint64_t of_block = round_up((uint64_t)c->static_shared + c->dynamic_shared + kept, unit);
	uint64_t there = c->shared_executed >= of_block && c->shared_executed <= d->max_shared_sm ? c->shared_executed
												  : d->max_shared_sm;

	return of_block ? there / of_block : UINT32_MAX;
}

bool occupancy_of(const struct config_row *c, const struct device_row *d, struct occupancy *o)
{
	uint64_t threads = (uint64_t)c->block_x * c->block_y * c->block_z, warps, limit[4], least;

	*o = (struct occupancy){ 0 };
	if (!threads || threads > MOST_THREADS || d->cc_major < 3 || d->cc_major == 4 || d->cc_major > 12 || d->warp != WARP ||
	    !d->max_warps_sm || !most_blocks(d) || !d->max_registers_sm || !d->max_shared_sm)
		return false;
	warps = (threads + d->warp - 1) / d->warp;
	limit[0] = d->max_warps_sm / warps;
	limit[1] = most_blocks(d);
	limit[2] = by_registers(c, d, warps);
	limit[3] = by_shared(c, d);
	least = limit[0];
	for (int i = 1; i < 4; i++)
		least = limit[i] < least ? limit[i] : least;
	for (int i = 0; i < 4; i++)
		o->limits |= limit[i] == least ? 1u << i : 0;
	o->blocks = (uint32_t)least;
	o->warps = (uint32_t)(least * warps);
	o->most_warps = d->max_warps_sm;
	return true;
}
