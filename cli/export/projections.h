/* Slices of PyTorch's user scopes on the streams into which they launched work; collected by the walk over GPU rows. */
#ifndef EXPORT_PROJECTIONS_H
#define EXPORT_PROJECTIONS_H

#include "cli/export/export.h"
#include "cli/model/torch/torch.h"

struct projections {
	struct export *x;
	const struct torch_ranges *torch;       /* NULL: no slices are needed */
	struct map index;               /* scope << 32 | track -> position in list */
	struct projection *list;
	struct stream_work *streams;    /* by track */
	size_t n, cap, n_streams, cap_streams;
	bool oom;
};

/* Begins collecting; call projections_end() in any case.  0, or -1: out of memory. */
int projections_begin(struct projections *p, struct export *x);

/* Adds a written GPU slice that was launched in this range of its process; call in order of start. */
void projections_see(struct projections *p, const struct gpu_slice *s, uint32_t process, uint64_t range);

/* Writes the slices and frees everything.  0, or -1: out of memory. */
int projections_end(struct projections *p);

#endif
