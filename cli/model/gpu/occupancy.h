/* Theoretical occupancy: how many blocks of a launch a multiprocessor can hold, by NVIDIA's published rules for each compute capability. */
#ifndef CLI_MODEL_GPU_OCCUPANCY_H
#define CLI_MODEL_GPU_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/records.h"

/* Resources that limit the number of blocks; several can at once. */
#define LIMIT_WARPS     1u
#define LIMIT_BLOCKS    2u
#define LIMIT_REGISTERS 4u
#define LIMIT_SHARED    8u

struct occupancy {
	uint32_t blocks;                /* resident blocks per multiprocessor; 0: the recorded launch does not fit on this device */
	uint32_t warps;                 /* warps of these blocks */
	uint32_t most_warps;            /* limit of warps per multiprocessor */
	uint32_t limits;                /* LIMIT_ bits */
};

/*
 * Computes the occupancy of a launch configuration on a device.  Shared memory per multiprocessor is what the driver chose for the launch
 * if recorded, else all it has.  Ignores clusters, which can only lower the result.  False: the device's properties or the rules of its
 * compute capability are unknown.
 */
bool occupancy_of(const struct config_row *c, const struct device_row *d, struct occupancy *o);

#endif
