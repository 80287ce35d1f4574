/*
 * Interface of the simulated driver for test/programs/play, which repeats recorded calls and GPU operations with their times and ids.
 * Callbacks and records are delivered as for any program; the SIM_... variables apply.
 */
#ifndef TEST_SIM_PLAYER_H
#define TEST_SIM_PLAYER_H

#include "test/sim/engine.h"

/* An API call and the operations that it submits.  Times are ns of CLOCK_REALTIME. */
struct play_call {
	uint32_t domain, cbid, corr;
	uint32_t device, context, stream;
	uint32_t event;                 /* event that the call records or waits for; 0: unknown */
	const char *name, *symbol;      /* symbol: the kernel of a launch */
	uint64_t begin, end;
	struct op *ops;                 /* .start and .end are set */
	size_t n_ops;
};

/* Creates the device's context and a stream with these ids, if needed.  False: no such device, or no driver. */
bool sim_play_stream(uint32_t device, uint32_t context, uint32_t stream);

/* Makes the call on the calling thread, after waiting for call->begin.  Returns how late it began, ns. */
uint64_t sim_play_call(const struct play_call *call);

/* Runs an operation whose API call is unknown. */
void sim_play_op(const struct op *op);

void sim_play_wait(uint64_t when);

#endif
