"""own_golden.py DATA: the job reports of ours against Holistic Trace Analysis, where both mean the same.

Ours keep the last step and every nanosecond, so HTA's answers are those with its last step (include-last-step), without its
rounding (no-ns-rounding), or as it prints them where a file has whole microseconds and no second step.  Only the sets of SETS
are like that and have no rows that HTA counts as GPU work and we do not (waits, its "stream" of operators).
Prints how many of how many tables are equal, and each that is not.  Exit status 1: some are not."""
import collections
import csv
import glob
import gzip
import io
import os
import subprocess
import sys

DATA = os.path.join(sys.argv[1], "hta")
WHOLE, LAST, HONEST = "", "variants/include-last-step", "variants/no-ns-rounding"
SETS = {
    "dlrm-v100-8rank": WHOLE, "hta-edge-backward-thread": WHOLE, "hta-edge-inference-rank1": WHOLE, "param-linear-2080ti": WHOLE,
    "param-resnet-2080ti": WHOLE, "hta-df-index-resolver": LAST, "hta-sampled-2rank": LAST, "hta-amd-mi250": HONEST,
    "tl-h100-bert-small": HONEST, "tl-h100-nsfw": HONEST, "tl-h100-qwen": HONEST, "tl-h100-timesformer": HONEST,
    "tl-mi210-gpu-only": HONEST, "tl-mi300-sglang-decode": HONEST, "tl-mi300-vllm-decode": HONEST, "tl-mi300-vllm-prefilldecode": HONEST,
}
# HTA takes a stream 0 of a kernel for none, hip's copies for communication, and ROCm's copies by their names for kernels.
TYPES_BY_NAME = ("hta-amd-mi250", "tl-mi210", "tl-mi300")
csv.field_size_limit(1 << 30)


def read(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f))


def golden(name, report):
    for place in (SETS[name], WHOLE):
        if place == WHOLE and SETS[name] == LAST:
            continue    # without its last step
        for end in (".csv", ".csv.gz"):
            path = os.path.join(DATA, "golden", name, place, report + end)
            if os.path.exists(path):
                return read(path)
    return None


def ns(us):
    return float(us) * 1000


def by(key, rows, *columns):
    """{key: figures}; several rows of one key are added up."""
    found = {}
    for row in rows:
        figures = [c(row) if callable(c) else float(row[c] or "nan") for c in columns]
        k = tuple(row[x] for x in key)
        found[k] = [a + b for a, b in zip(found.get(k, [0] * len(figures)), figures)]
    return found


def us(name):
    return lambda row: ns(row[name] or "nan")


def share(part, whole):
    return lambda row: round(100 * int(row[part]) / int(row[whole]), 2) if int(row[whole] or 0) else -1


def percent(name):
    return lambda row: float(row[name]) if row[name] else -1


def temporal(want, got):
    return (by(["rank"], want, us("kernel_time(us)"), us("idle_time(us)"), us("compute_time(us)")),
            by(["rank"], got, "span_ns", "idle_ns", "compute_ns"))


def overlap(want, got):
    return by(["rank"], want, percent("comp_comm_overlap_pctg")), by(["rank"], got, share("overlap_ns", "comm_ns"))


WORDS = {"compute": "COMPUTATION", "communication": "COMMUNICATION", "memory": "MEMORY"}


def kinds(text, words=None):
    return tuple(sorted((words or {}).get(x, x) for x in text.split(" overlapping ")))


def kernel_types(want, got):
    return ({kinds(r["kernel_type"]): [ns(r["sum"])] for r in want if float(r["sum"])},
            {kinds(r["kernel_type"], WORDS): [float(r["time_ns"])] for r in got})


def breakdown(want, got):
    return (by(["rank", "name"], want, us("sum (us)"), us("max (us)"), us("min (us)")),
            by(["rank", "name"], got, "gpu_ns", "max_ns", "min_ns"))


def annotations(want, got):
    return by(["rank", "name"], want, us("sum (us)")), by(["rank", "name"], got, "total_ns")


def launches(want, got):
    """HTA has four functions, and graphs a row for each kernel."""
    once = {k: v for k, v in by(["rank", "correlation"], want, lambda r: 1, us("cpu_duration"), us("gpu_duration"), us("launch_delay")).items()
            if v[0] == 1}
    ours = {(r["rank"], r["correlation"]): [float(r["gpu_rows"]), float(r["call_ns"]), float(r["gpu_ns"]), float(r["delay_ns"])] for r in got}
    return once, {k: ours.get(k) for k in once}


def aten(want, got):
    return (by(["aten_op_name", "kernel_sequence"], want, "occurrence_count", us("avg_aten_op_launch_delay"), us("avg_runtime_delay")),
            by(["operator", "kernels"], got, "count", "call_delay_ns", "gpu_delay_ns"))


def sequences(want, got):
    return (by(["pattern"], want, "count", us("GPU kernel duration (us)"), us("CPU op duration (us)")),
            by(["pattern"], got, "count", "gpu_ns", "host_ns"))


# What a word follows: those that HTA answered.
WITH_WORD = {"aten_op_kernels_and_delay": ("aten_kernels", aten), "kernel_sequences": ("kernel_sequences", sequences)}
REPORTS = {
    "temporal_breakdown": ("temporal", temporal), "comm_comp_overlap": ("overlap", overlap),
    "kernel_type_breakdown": ("kernel_types", kernel_types),
    "kernel_type_breakdown_no_memory": ("kernel_types_no_memory", kernel_types),
    "kernel_breakdown_all": ("kernel_breakdown", breakdown), "gpu_user_annotation_breakdown": ("gpu_annotations", annotations),
    "cuda_kernel_launch_stats": ("launch_delays", launches),
}


def reports(name):
    """HTA's name, ours, and what reads both."""
    found = {report: pair for report, pair in REPORTS.items()}
    for path in glob.glob(os.path.join(DATA, "golden", name, "*.csv*")):
        report = os.path.basename(path).replace(".gz", "")[: -len(".csv")]
        kind, _, word = report.partition(".")
        if kind in WITH_WORD:
            found[report] = (WITH_WORD[kind][0] + ":" + word, WITH_WORD[kind][1])
    return found


def own(name, report):
    run = subprocess.run(["gprof-trace", "report", "-r", report, "--format", "csv", os.path.join(DATA, "traces", name)],
                         capture_output=True, text=True, timeout=280, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout)))


def near(a, b, exact):
    return b is not None and len(a) == len(b) and all(abs(x - y) <= (0.01 if exact else 500) for x, y in zip(a, b))


def main():
    equal, total, bad = collections.Counter(), collections.Counter(), []
    for name in sorted(SETS):
        for report, (ours, figures) in sorted(reports(name).items()):
            rows = golden(name, report)
            if rows is None or (figures is kernel_types and (SETS[name] == HONEST or name.startswith(TYPES_BY_NAME))):
                continue        # cut to whole microseconds piece by piece
            want, got = figures(rows, own(name, ours))
            exact = SETS[name] != HONEST or figures is overlap
            wrong = [k for k in want if not near(want[k], got.get(k), exact)] + [k for k in got if k not in want]
            total[ours.split(":")[0]] += 1
            equal[ours.split(":")[0]] += not wrong
            if wrong:
                k = wrong[0]
                bad.append("%s %s: %d of %d differ, %s: HTA %s, ours %s" % (name, ours, len(wrong), len(want), str(k)[:80], want.get(k), got.get(k)))
    for report in sorted(total):
        print("%-24s %d of %d" % (report, equal[report], total[report]))
    for one in bad:
        print("differs:", one)
    print("ours equal to HTA where both mean the same: %d of %d" % (sum(equal.values()), sum(total.values())))
    sys.exit(1 if bad or not total else 0)


main()
