/* Shared by the files of the Kineto format: kineto.c writes slices, kineto_meta.c metadata before and after them. */
#ifndef CLI_EXPORT_KINETO_KINETO_H
#define CLI_EXPORT_KINETO_KINETO_H

#include "cli/export/export.h"

/* A repeated text, cached as it is written. */
struct kineto_piece {
	char *text;
	size_t len;
};

enum piece_class { PIECE_KERNEL, PIECE_CALL, PIECE_TEXT, PIECE_LIST, PIECE_COPY, PIECE_CONFIG, PIECE_TRACK, PIECE_CLASSES };

struct kineto_writer {
	int64_t base;                   /* ns; written times are relative to it */
	struct map index[PIECE_CLASSES];
	struct kineto_piece *pieces;
	size_t n_pieces, cap_pieces;
	struct out making;              /* writes the next piece to memory */
	FILE *memory;
	char *made;
	size_t made_len;
	bool payloads;                  /* the trace has extended payloads */
	const struct torch_ranges *torch;       /* NULL: no PyTorch ranges */
	struct torch_nesting *nesting;          /* by PyTorch range: its modules; NULL: none were recorded */
	bool any;                       /* an event was written, so the next one needs a comma */
	/* columns */
	const uint32_t *call_name, *call_cbid, *call_stack;     /* call_stack NULL: no stacks */
	uint32_t *range_stack;          /* by range row: position of its stack; NULL: no stacks */
	const int32_t *call_result;
	const uint32_t *range_name, *range_domain, *range_category, *range_payload_type;
	const uint64_t *range_payload, *range_id;
	const uint32_t *mark_name, *mark_domain;
	const uint32_t *kernel_name, *kernel_config, *kernel_context, *kernel_graph;
	const uint64_t *kernel_node;
	const uint32_t *copy_kind, *copy_src, *copy_dst, *copy_context, *copy_flags, *copy_src_device, *copy_dst_device,
		*copy_graph;
	const uint64_t *copy_bytes, *copy_node;
	const uint32_t *set_kind, *set_context, *set_graph;
	const uint64_t *set_bytes, *set_node;
	const uint32_t *graph_id, *graph_context;
	const uint64_t *node_range;
	const uint32_t *wait_type, *wait_context, *wait_stream;
	const uint32_t *overhead_kind;
	const uint32_t *unified_kind, *unified_cause, *unified_access, *unified_faults;
	const uint64_t *unified_address, *unified_bytes;
};

/* Write everything before the events, and after them.  0, or -1: out of memory. */
int kineto_head(struct export *x);
int kineto_tail(struct export *x);

/* kineto_stacks.c: write the "call stack" argument of a call or range; write a slice of samples. */
void kineto_call_stack(struct export *x, uint32_t stack);
void kineto_frame(struct export *x, const struct frame_slice *s);

/* kineto_torch.c: whether a range is PyTorch's; write such a range, a scope's GPU work on a stream, arrows from forward to backward. */
bool kineto_is_torch(struct export *x, size_t row);
void kineto_torch_range(struct export *x, const struct host_slice *s);
void kineto_projection(struct export *x, const struct gpu_slice *s);
int kineto_torch_flows(struct export *x);       /* 0, or -1: out of memory */

/* Writes the separator before an event. */
static inline void kineto_next(struct export *x)
{
	struct kineto_writer *k = x->own;

	if (k->any)
		out_lit(x->out, ",\n");
	k->any = true;
}

/* Writes a time (trace time in ns) as microseconds relative to base; times before base as 0. */
void kineto_time(struct export *x, int64_t ns);

#endif
