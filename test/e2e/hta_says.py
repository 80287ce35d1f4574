"""hta_says.py FOLDER: what Holistic Trace Analysis makes of the Kineto JSON files in a folder, one fact a line."""
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir=sys.argv[1])
for rank in sorted(analysis.t.traces):
    print(f"rank {rank}")
kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000, duration_ratio=1.0)
for row in kernels.sort_values("name").itertuples():
    print(f"kernel {row.name} ns {round(row._2 * 1000)}")
for rank, stats in sorted(analysis.get_cuda_kernel_launch_stats(visualize=False).items()):
    print(f"launches {len(stats)}")
for row in analysis.get_temporal_breakdown(visualize=False).to_dict("records"):
    print(f"span ns {round(row['kernel_time(us)'] * 1000)}")
