"""torch_says.py FOLDER: what Holistic Trace Analysis and the TensorBoard plugin read of the operators in the Kineto file of a folder, and the arrows
from forward to backward in it: one fact a line."""
import collections
import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
from torch_tb_profiler.profiler.data import RunProfileData

path = sys.argv[1] + "/run.pt.trace.json"
rows, names = (analysis := TraceAnalysis(trace_dir=sys.argv[1], include_last_profiler_step=True)).t.get_trace(0), analysis.t.symbol_table.get_sym_table()
counts = collections.Counter(names[n] for n, c in zip(rows["name"], rows["cat"]) if names[c] == "cpu_op")
for name in sorted(counts):
    print("hta", counts[name], name)

plugin = RunProfileData.parse("worker", 0, path, sys.argv[1])
plugin.process()
for op in sorted(plugin.op_list_groupby_name, key=lambda op: op.name):
    print("plugin", op.calls, op.name)
for op in sorted(plugin.op_list_groupby_name_input, key=lambda op: (op.name, op.input_shape)):
    print("plugin", op.calls, op.name, op.input_shape)

events, at, arrows = json.load(open(path))["traceEvents"], {}, collections.defaultdict(dict)
for e in events:
    if e.get("cat") == "cpu_op":
        at[e["tid"], e["ts"]] = e["name"]
for e in events:
    if e.get("cat") == "fwdbwd":
        arrows[e["id"]][e["ph"]] = at[e["tid"], e["ts"]]
for arrow, n in sorted(collections.Counter((a["s"], a["f"]) for a in arrows.values()).items()):
    print("arrow", n, *arrow)
