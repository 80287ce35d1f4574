#!/usr/bin/env python3
"""kineto_hta.py FOLDER: what Holistic Trace Analysis sees in exported files."""
import sys

from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir=sys.argv[1])
ranks = sorted(analysis.t.get_all_traces())
print("ranks", ranks)
analysis.get_temporal_breakdown(visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
launches = analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
for rank in ranks:
    rows = analysis.t.get_trace(rank)
    gpu = rows[(rows.stream >= -1) & (rows.correlation >= 0) & (rows.s_cat if "s_cat" in rows else rows.cat).notna()]
    gpu = gpu[gpu.stream >= 0]
    print("rank", rank, "gpu rows", len(gpu), "steps", sorted(int(i) for i in rows.iteration.unique() if i >= 0))
    print("launches %d: %d" % (rank, len(launches[rank])))
