/* How many blocks of a launch a multiprocessor can hold at a time, by the rules that NVIDIA publishes for each compute
 * capability. */
#ifndef MODEL_OCCUPANCY_H
#define MODEL_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/records.h"

/* What keeps it from holding more; several may at once. */
#define LIMIT_WARPS     1u
#define LIMIT_BLOCKS    2u
#define LIMIT_REGISTERS 4u
#define LIMIT_SHARED    8u

struct occupancy {
	uint32_t blocks;                /* resident on a multiprocessor; 0: it cannot have run there as recorded */
	uint32_t warps;                 /* of them */
	uint32_t most_warps;            /* that the multiprocessor can hold */
	uint32_t limits;                /* LIMIT_ bits */
};

/*
 * Shared memory is what the driver chose for the launch where it says so, else all that the multiprocessor has.
 * Clusters are not looked at: they can only lower it.  False: the device's properties are not known, or its rules are
 * not.
 */
bool occupancy_of(const struct config_row *c, const struct device_row *d, struct occupancy *o);

#endif
