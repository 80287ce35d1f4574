/*
 * Steps as PyTorch tells them: from the end of one Optimizer.step to that of the next; without an optimizer (inference) from batch to batch.  Pure;
 * reports find the same in a trace (cli/model/phases.h).
 *
 * Several optimizers of one batch make one step, which ends with the last of them.  How many there are is learnt from the batch before: so a step can end
 * with the last one, not when the next batch is asked for.  Without a loader those belong together that have no backward pass between them.
 */
#ifndef INJECT_TORCH_RHYTHM_H
#define INJECT_TORCH_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

enum torch_event {
	TORCH_NOTHING,
	TORCH_BATCH,                    /* a loader is asked for one: DataLoader.__next__ begins */
	TORCH_NODE,                     /* an autograd node begins */
	TORCH_OTHER,                    /* zero_grad, or Optimizer.step, begins */
	TORCH_STEPPED,                  /* Optimizer.step has ended */
};

enum torch_boundary {
	TORCH_NO_BOUNDARY,
	TORCH_FIRST,                    /* the first step begins now */
	TORCH_NEXT,                     /* a step ends now, the next one begins */
	TORCH_NEXT_BEFORE,              /* that was so at `last` */
	TORCH_MOVED,                    /* the step that runs begins only now */
};

struct torch_rhythm {
	int64_t first, last;            /* time of the first event, of the end of the last Optimizer.step */
	uint32_t stepped, size;         /* optimizers of this batch so far, and of the one before */
	bool begun, training, batch, declared, backward;
};

enum torch_boundary torch_rhythm_feed(struct torch_rhythm *r, enum torch_event event, int64_t now);

/* What a range is to that; begins: it begins. */
enum torch_event torch_event_of(unsigned scope, const char *name, bool begins);

#endif
