"""tb_golden.py DATA [VIEW...]: the tb_ reports on the traces of DATA/tb and DATA/hta against what torch_tb_profiler computed.

DATA/tb/golden/torch_tb_profiler/SET/*.json[.gz] are the plugin's answers, DATA/hta/minimal/golden-torch_tb_profiler likewise.
Prints for each view how many values of how many are equal, and where the plugin's 0 is our unknown; each value that
differs, unless DIFFERENT_ON_PURPOSE (docs/reference/tb-reports.md) has the reason.  Exit status 1: some do without one."""
import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import subprocess
import sys

DATA = sys.argv[1]
VIEWS = sys.argv[2:]
csv.field_size_limit(1 << 30)
ROLES = {"Kernel": "kernel_ns", "Memcpy": "memcpy_ns", "Memset": "memset_ns", "Communication": "communication_ns",
         "Runtime": "runtime_ns", "DataLoader": "dataloader_ns", "CpuOp": "cpu_exec_ns", "Other": "other_ns", "Total": "total_ns"}
# Where our report leaves a value empty that the trace cannot tell, and the plugin says 0 or no.
PER_STEP = {"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CpuOp"}
PER_OPERATOR = {"device_self_duration", "device_total_duration", "tc_self_ratio", "tc_total_ratio"}
MAY_BE_EMPTY = {"steps": PER_STEP, "average": PER_STEP, "operators": PER_OPERATOR, "operators by shape": PER_OPERATOR,
                "gpu_summary": {"Kernel Time using Tensor Cores"}, "kernels": {"Tensor Cores Used"},
                "kernels by operator": {"Kernel Uses Tensor Cores"}}
ABOUT = {"input data loading": "data loading", "low utilization": "low utilization", "cost on communication": "communication",
         "Tensor Cores eligible": "mixed precision", "memory usage is at the limit": "memory",
         "instead of DataParallel": "DataParallel", "Nccl backend": "nccl"}


class Judge:
    def __init__(self):
        self.equal, self.total, self.unknown = (collections.Counter() for _ in range(3))
        self.purpose = collections.Counter()
        self.bad = []

    def value(self, view, where, want, got, tolerance=0.01):
        """got: a text of CSV, "" is unknown, which only the fields of MAY_BE_EMPTY may be."""
        self.total[view] += 1
        if want == got:
            self.equal[view] += 1
        elif got == "" and want in (0, "no") and where[-1] in MAY_BE_EMPTY.get(view, ()):
            self.unknown[view] += 1
        elif isinstance(want, str) or got in ("", None):
            same = str(want) == got
            self.equal[view] += same
            if not same:
                self.differs(view, where, want, got)
        elif abs(float(got) - want) <= max(tolerance, 1e-6 * abs(want)):
            self.equal[view] += 1
        else:
            self.differs(view, where, want, got)

    def differs(self, view, where, want, got):
        reason = on_purpose(view, where, want, got)
        if reason:
            self.purpose[view, reason] += 1
        else:
            self.bad.append("%s %s: the plugin has %s, we have %s" % (view, " ".join(map(str, where)), want, got))


def on_purpose(view, where, want, got):
    """Why the two differ, where the plugin is wrong or cannot know."""
    name = where[0]
    if name == "hta-ns-resolution" and view != "gpu_summary" and not isinstance(want, str) and got and \
            abs(float(got) - want) <= max(100, 0.04 * abs(want)):
        return "the file counts microseconds since 1970, which a double holds to 0.25 us: we read the digits"
    if view == "recommendations" and "-mi" in name:
        return "names of AMD's kernels do not say whether they use matrix units"
    if name == "tl-mi300-resnet-act-ckpt" and view in ("steps", "average"):
        return "a step's copy on the GPU is no further step"
    if name == "tl-mi300-resnet-act-ckpt" and view != "gpu_summary":
        return "operators of the backward pass stay where they ran; the plugin moves them to modules and loses some"
    if view == "kernels by operator" and where[2] == "CallTreeRoot":
        return "kernels of no known operator are all there; the plugin loses those whose call names an id of nobody"
    if got == "unknown" and (str(want).startswith(("nn.Module", "ProfilerStep#"))):
        return "calls without an External id belong to nobody, not to the first row without one"
    if name == "neg-dur":
        return "a length below 0 is none"
    if name == "no-device-arg" and where[-1] in ("devices", "about"):
        return "a GPU row's pid is its device where no argument says it"
    return None


def us(text, round_to=None):
    return text if text == "" else float(text) / 1000


def tables(names, operands):
    run = subprocess.run(["gprof-trace", "report", "-r", ",".join(names), "--format", "csv", *operands], capture_output=True,
                         text=True, timeout=280)
    if run.returncode:
        return {name: None for name in names}, run.stderr
    parts, part = [], []
    for row in csv.reader(io.StringIO(run.stdout)):
        if row:
            part.append(row)
        else:
            parts.append(part)
            part = []
    parts.append(part)
    return {name: [dict(zip(p[0], row)) for row in p[1:]] for name, p in zip(names, parts)}, run.stderr


def of_worker(rows, worker):
    return [row for row in rows if row["worker"] == worker]


def steps(judge, where, golden, rows):
    want, got = golden["steps"], [row for row in rows if row["step"] != "average"]
    if len(want) == 1 and want[0]["Total"] < 0:
        return              # no steps and no operators: one of -1.8e19 us
    judge.value("steps", where + ["number of steps"], len(want), str(len(got)))
    for w, g in zip(want, got):
        judge.value("steps", where + ["name"], w["step"], g["step"])
        for theirs, ours in ROLES.items():
            judge.value("steps", where + [w["step"], theirs], w[theirs], us(g[ours]), 1)
    for g in rows:
        if g["step"] == "average":
            for theirs, ours in ROLES.items():
                judge.value("average", where + [theirs], golden["average"][theirs], us(g[ours]), 1)


SUMMARY = {"GPU Utilization": "utilization_pct", "Est. SM Efficiency": "est_sm_efficiency_pct",
           "Est. Achieved Occupancy": "est_achieved_occupancy_pct", "Kernel Time using Tensor Cores": "tensor_core_pct",
           "Name": "name", "Compute Capability": "compute_capability"}


def gpus(golden):
    device = None
    for row in golden["gpu_summary"] or []:
        if row["title"].startswith("GPU ") and row["title"].endswith(":"):
            device = row["title"][4:-1]
            yield device, {}
        elif device is not None:
            yield device, {row["title"]: row["value"]}


def gpu_summary(judge, where, golden, rows):
    want = collections.defaultdict(dict)
    for device, fact in gpus(golden):
        want[device].update(fact)
    if golden["steps"][0]["Total"] < 0:
        return
    judge.value("gpu_summary", where + ["devices"], " ".join(sorted(want)), " ".join(sorted(r["device"] for r in rows)))
    for row in rows:
        for title, value in want.get(row["device"], {}).items():
            if title in SUMMARY and SUMMARY[title] in row:
                judge.value("gpu_summary", where + [row["device"], title], float(value[:-2]) if value.endswith("%") else value,
                            row[SUMMARY[title]], 0.011)


def keyed(rows, *names):
    found = collections.defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def operator_rows(judge, view, where, table, rows, shapes):
    """Rows by name, or name and shapes; of golden tables with the largest only, those."""
    got = keyed(rows, "name", "input_shapes") if shapes else keyed(rows, "name")
    for w in table:
        key = (w["name"], w["input_shape"] if w["input_shape"] != "[]" else "") if shapes else (w["name"],)
        g = got.pop(key, None)
        judge.value(view, where + [*key, "rows"], "1", str(len(g or [])))
        if not g:
            continue
        g = g[0]
        judge.value(view, where + [*key, "calls"], w["calls"], g["calls"])
        for theirs, ours in (("device_self_duration", "device_self_ns"), ("device_total_duration", "device_total_ns"),
                             ("host_self_duration", "host_self_ns"), ("host_total_duration", "host_total_ns")):
            if theirs in w:
                judge.value(view, where + [*key, theirs], w[theirs], us(g[ours]), 1)
        judge.value(view, where + [*key, "eligible"], w["tc_eligible"].lower(), g["tensor_core_eligible"])
        for theirs, ours in (("tc_self_ratio", "tensor_core_self_pct"), ("tc_total_ratio", "tensor_core_total_pct")):
            judge.value(view, where + [*key, theirs], w[theirs], g[ours], 0.011)
    for key in got:
        judge.value(view, where + [*key, "rows"], "0", "1")


def operators(judge, where, golden, rows):
    operator_rows(judge, "operators", where, golden["operator_table"]["data"], rows, False)


def operators_by_shape(judge, where, golden, rows):
    if golden.get("operator_table_by_input_shape"):
        operator_rows(judge, "operators by shape", where, golden["operator_table_by_input_shape"]["data"], rows, True)


NUMBERS = {"Calls": "calls", "Total Duration (us)": "total_ns", "Mean Duration (us)": "mean_ns", "Max Duration (us)": "max_ns",
           "Min Duration (us)": "min_ns", "Mean Blocks Per SM": "blocks_per_sm",
           "Mean Est. Achieved Occupancy (%)": "est_achieved_occupancy_pct", "Tensor Cores Used": "tensor_cores",
           "Kernel Uses Tensor Cores": "tensor_cores", "Op is Tensor Cores eligible": "tensor_core_eligible"}


def kernel_row(judge, view, where, w, g):
    for theirs, ours in NUMBERS.items():
        if theirs not in w:
            continue
        time = ours.endswith("_ns")
        want = w[theirs].lower() if isinstance(w[theirs], str) else w[theirs]
        if ours == "tensor_core_eligible" and g[ours] == "":
            continue                # of no operator
        judge.value(view, where + [theirs], want, us(g[ours]) if time else g[ours], 1 if time else 0.011)


def plugin_table(table):
    if not table:
        return []
    names = [c["name"] for c in table["data"]["columns"]]
    return [dict(zip(names, row)) for row in table["data"]["rows"]]


def kernels(judge, where, golden, rows):
    got = keyed(rows, "name")
    for w in plugin_table(golden["kernel_table"]):
        g = got.pop((w["Name"],), None)
        judge.value("kernels", where + [w["Name"], "rows"], "1", str(len(g or [])))
        if g:
            kernel_row(judge, "kernels", where + [w["Name"][:60]], w, g[0])
    for key in got:
        judge.value("kernels", where + [*key, "rows"], "0", "1")


def kernels_by_operator(judge, where, golden, rows):
    """What the plugin knows no operator of, or gives to the first module it meets, has none here."""
    for row in rows:
        row.update({k: row[k] or "0" for k in ("registers_per_thread", "shared_bytes")})
    got = keyed(rows, "name", "operator", "grid", "block", "registers_per_thread", "shared_bytes")
    for w in plugin_table(golden["kernel_op_table"]):
        where_row = where + [w["Operator"], w["Name"][:60], w["Grid"], w["Block"]]
        place = (w["Grid"].replace("None", ""), w["Block"].replace("None", ""), w["Register Per Thread"], w["Shared Memory"])
        root = w["Operator"] == "CallTreeRoot"         # its word for unknown
        g = got.pop((w["Name"], "" if root else w["Operator"], *place), None)
        if not g and (w["Name"], "", *place) in got:
            judge.value("kernels by operator", where_row + ["operator"], w["Operator"], "unknown")
            continue
        judge.value("kernels by operator", where_row + ["rows"], "1", str(len(g or [])))
        if g:
            kernel_row(judge, "kernels by operator", where_row, w, g[0])
    for key in got:
        if key[1]:
            judge.value("kernels by operator", where + [*key, "rows"], "0", "1")


def memory(judge, where, golden, rows):
    got = keyed(rows, "device", "name")
    names = {"Calls": "calls", "Size Increase (KB)": "increase_bytes", "Self Size Increase (KB)": "self_increase_bytes",
             "Allocation Count": "allocations", "Self Allocation Count": "self_allocations",
             "Allocation Size (KB)": "allocated_bytes", "Self Allocation Size (KB)": "self_allocated_bytes"}
    table = golden.get("memory_stats_KB") or {"rows": {}}
    for device, theirs in table["rows"].items():
        columns = [c["name"] for c in table["columns"]]
        for w in theirs:
            w = dict(zip(columns, w))
            key = (device, w["Operator Name"])
            g = got.pop(key, None)
            judge.value("memory", where + [*key, "rows"], "1", str(len(g or [])))
            for name, ours in names.items() if g else ():
                value = g[0][ours]
                judge.value("memory", where + [*key, name], w[name], float(value) / 1024 if "KB" in name else value, 0.0051)
    for key in got:
        judge.value("memory", where + [*key, "rows"], "0", "1")


def memory_peaks(judge, where, golden, rows):
    want = golden.get("memory_peaks_bytes") or {}
    got = {row["device"]: row for row in rows}
    for device, value in want.items():
        judge.value("memory peaks", where + [device], value, got.get(device, {}).get("peak_allocated_bytes", ""))


def recommendations(judge, where, golden, rows):
    """What they are about, and the numbers in them."""
    want = {about: text for text in golden["recommendations"] for word, about in ABOUT.items() if word in text}
    got = keyed(rows, "about")
    if golden["steps"][0]["Total"] < 0:
        return
    judge.value("recommendations", where + ["about"], " ".join(sorted(want)), " ".join(sorted({row["about"] for row in rows})))
    for about, text in want.items():
        number = re.search(r"([0-9.]+)%", text)
        if number and (about,) in got:
            judge.value("recommendations", where + [about], float(number.group(1)), got[about,][0]["value_pct"],
                        0.51 if about == "mixed precision" else 0.06)


def distributed(judge, where, golden, rows):
    """golden: distributed.json; rows: of all workers."""
    for view, names in (("steps_to_overlap", ("computation_ns", "overlapping_ns", "communication_ns", "other_ns")),
                        ("steps_to_wait", ("transfer_ns", "synchronizing_ns"))):
        for step, workers in golden[view]["data"].items():
            for worker, want in workers.items():
                got = [row for row in rows if row["worker"] == worker and row["step"] == step.replace("all", "average")]
                judge.value("distributed", where + [view, worker, step, "rows"], "1", str(len(got)))
                for name, w in zip(names, want):
                    judge.value("distributed", where + [view, worker, step, name], w, us(got[0][name]) if got else "", 1)


def collectives(judge, where, golden, rows):
    names = {"Calls": "calls", "Total Size (bytes)": "bytes", "Avg Size (bytes)": "mean_bytes",
             "Total Latency (us)": "latency_ns", "Avg Latency (us)": "mean_latency_ns", "Data Transfer Time (us)": "transfer_ns",
             "Avg Data Transfer Time (us)": "mean_transfer_ns"}
    for worker, table in golden["comm_ops"]["data"].items():
        for w in table["rows"]:
            w = dict(zip([c["name"] for c in table["columns"]], w))
            got = [row for row in rows if row["worker"] == worker and row["name"] == w["Name"]]
            judge.value("collectives", where + [worker, w["Name"], "rows"], "1", str(len(got)))
            for name, ours in names.items() if got else ():
                judge.value("collectives", where + [worker, w["Name"], name], w[name],
                            us(got[0][ours]) if "(us)" in name else got[0][ours], 1)


JOBS = {"tb_distributed": distributed, "tb_collectives": collectives}
REPORTS = {"tb_memory": memory, "tb_memory_peaks": memory_peaks, "tb_recommendations": recommendations, "tb_steps": steps, "tb_gpu_summary": gpu_summary, "tb_operators": operators,
           "tb_operators_by_shape": operators_by_shape, "tb_kernels": kernels, "tb_kernels_by_operator": kernels_by_operator}


def one_set(judge, name, traces, goldens):
    paths = sorted(p for p in glob.glob(goldens + "/*.json*") if os.path.basename(p) not in ("status.json", "distributed.json"))
    if not paths or not os.path.isdir(traces):
        return
    names = [r for r in [*REPORTS, *JOBS] if not VIEWS or r in VIEWS]
    got, said = tables(names, [traces])
    if os.path.exists(goldens + "/distributed.json"):
        with open(goldens + "/distributed.json") as f:
            golden = json.load(f)
        for report in JOBS:
            if got.get(report) is not None:
                JOBS[report](judge, [name], golden, got[report])
    names = [r for r in names if r in REPORTS]
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
            golden = json.load(f)
        worker = re.sub(r"\.json(\.gz)?$", "", os.path.basename(path))
        for report in names:
            if got[report] is None:
                judge.bad.append("%s %s: %s" % (name, report, said.strip()[-100:]))
                continue
            rows = of_worker(got[report], worker) or of_worker(got[report], re.sub(r"\.\d+$", "", worker))
            if re.fullmatch(r"rank\d", worker):
                rows = of_worker(got[report], sorted({row["worker"] for row in got[report]} or {""})[int(worker[4]) :][0])
            REPORTS[report](judge, [name, worker], golden, rows)


def main():
    judge = Judge()
    for goldens in sorted(glob.glob(DATA + "/tb/golden/torch_tb_profiler/*")):
        name = os.path.basename(goldens)
        for place in ("tb", "hta"):
            one_set(judge, name, os.path.join(DATA, place, "traces", name), goldens)
    for goldens in sorted(glob.glob(DATA + "/hta/minimal/golden-torch_tb_profiler/*")):
        name = os.path.basename(goldens)
        one_set(judge, name, os.path.join(DATA, "hta/minimal/traces", name), goldens)
    for line in judge.bad[:3000]:
        print("differs:", line)
    for (view, reason), n in sorted(judge.purpose.items()):
        print("%-20s %d differ on purpose: %s" % (view, n, reason))
    for view in judge.total:
        print("%-20s %d of %d equal, %d unknown where the plugin says 0" %
              (view, judge.equal[view], judge.total[view], judge.unknown[view]))
    print("equal to torch_tb_profiler: %d of %d" % (sum(judge.equal.values()), sum(judge.total.values())))
    sys.exit(1 if judge.bad or not judge.total else 0)


if __name__ == "__main__":
    main()
