/* PyTorch's user scopes on the streams that they launched work into; the walk collects them while it goes through the GPU's rows. */
#ifndef EXPORT_PROJECTIONS_H
#define EXPORT_PROJECTIONS_H

#include "cli/export/export.h"
#include "cli/model/torch.h"

struct projections {
	struct export *x;
	const struct torch_ranges *torch;       /* NULL: none are wanted */
	struct map index;               /* scope << 32 | track -> position in list */
	struct projection *list;
	struct stream_work *streams;    /* by track */
	size_t n, cap, n_streams, cap_streams;
	bool oom;
};

/* 0, or -1: out of memory. */
int projections_begin(struct projections *p, struct export *x);

/* A slice of a GPU has been written that was launched in this range of its process; by start. */
void projections_see(struct projections *p, const struct gpu_slice *s, uint32_t process, uint64_t range);

/* Writes them, and releases all.  0, or -1: out of memory. */
int projections_end(struct projections *p);

#endif
