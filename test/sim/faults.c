/* Faults of CUPTI releases.  Also client mistakes that hang in a real CUPTI: here they print a message and abort. */
#include "test/sim/release.h"
#include "test/sim/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEADLOCK_MS 5000

static _Atomic unsigned sessions;       /* how often a kernel kind was enabled */

bool fault_none(void)
{
	return getenv("SIM_IDEAL");
}

/* 12.4 Update 1 and 12.5 lose kernels of already loaded modules after kernels were enabled again; here all kernels are lost. */
bool fault_loses(const struct op *op)
{
	return op->type == OP_KERNEL && sessions > 1 && !fault_none() && sim_release() >= RELEASE(12, 4, 127) &&
	       sim_release() < RELEASE(12, 6, 0);
}

static void forbidden(const char *what)
{
	fprintf(stderr, "sim: an activity kind is switched %s\n", what);
	abort();
}

/* CUPTI holds a lock during buffer callbacks, the driver holds one in cuInit; a real switch would wait for these locks. */
void fault_switch(CUpti_ActivityKind kind, bool on)
{
	if (buffer_in_client())
		forbidden("inside a buffer callback");
	for (int ms = 0; buffer_completing(); ms++) {
		if (ms == DEADLOCK_MS)
			forbidden("while a buffer callback waits for something else");
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	if (drv->starting())
		forbidden("by another thread while cuInit runs");
	if (on && !kind_on[kind] &&
	    (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL))
		sessions++;
}

/* SIM_EXCLUDES=17:37: kind 17 cannot be enabled while kind 37 is enabled. */
bool fault_excludes(CUpti_ActivityKind kind)
{
	const char *value = getenv("SIM_EXCLUDES");
	unsigned one, other;

	return value && sscanf(value, "%u:%u", &one, &other) == 2 && one == kind && other < N_KINDS && kind_on[other];
}

/* 13.0, and 13.1 before Update 1: after kernels were enabled again, operations of graphs have the correlation id of another launch. */
const struct op *fault_correlation(const struct op *op, struct op *wrong)
{
	if (!op->graph || sessions < 2 || fault_none() || sim_release() < RELEASE(13, 0, 0) || sim_release() >= RELEASE(13, 1, 115))
		return op;
	*wrong = *op;
	wrong->corr += 100000;
	return wrong;
}
