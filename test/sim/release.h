/*
 * The release of libcupti that is simulated: SIM_CUPTI_RELEASE=12.6.80.  Several releases with different behaviour report the same version
 * number (12.6, 12.6 Update 1 and Update 2 all report 24).  So behaviour depends on the release; clients see the version.
 */
#ifndef TEST_SIM_RELEASE_H
#define TEST_SIM_RELEASE_H

#include <stdint.h>

#define RELEASE(major, minor, patch) ((major) * 1000000u + (minor) * 1000u + (patch))

/* SIM_CUPTI_RELEASE; else the newest release that reports SIM_CUPTI_VERSION; else 13.0.85. */
uint32_t sim_release(void);

/* The version that cuptiGetVersion() reports: SIM_CUPTI_VERSION, else the release's. */
uint32_t sim_release_version(void);

/* The newest release that reports this version. */
uint32_t sim_release_of(uint32_t version);

#endif
