"""What traces say: ours through gprof-trace, torch.profiler's as Kineto JSON.  Both as plain counts and sums by name."""

import collections
import gzip
import json
import re


def plain_api(name):
    """__cudaLaunchKernel_v13000 and cudaLaunchKernel_ptsz_v7000 are both cudaLaunchKernel."""
    name = re.sub(r"^__", "", name)
    return re.sub(r"_(v\d+|ptsz|ptds).*$", "", name)


def base_name(name):
    """A kernel's name without return type, arguments and template arguments."""
    name = re.sub(r"^void ", "", name)
    depth, out = 0, []
    for c in name:
        if c in "<(":
            depth += 1
        elif c in ">)":
            depth = max(depth - 1, 0)  # operator->
        elif depth == 0:
            out.append(c)
    return "".join(out).strip()


def load_kineto(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as f:
        data = json.loads(f.read(), strict=False)
    return data["traceEvents"] if isinstance(data, dict) else data


def ns(microseconds):
    return round(float(microseconds) * 1000)


class Kineto:
    """Kernels, copies, sets and runtime calls of a Kineto trace; `within` keeps what was launched inside a range of that name."""

    # Files of 2021 capitalise them.
    GPU = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set", "memcpy": "copy", "memset": "set"}

    def __init__(self, events, within=None):
        slices = [e for e in events if e.get("ph") == "X" and "cat" in e]
        self.window = self._window(slices, within) if within else None
        self.gpu = []
        self.calls = collections.Counter()
        launched = {}
        for e in slices:
            if e["cat"].lower() in ("cuda_runtime", "cuda_driver", "runtime"):
                launched[(e.get("args") or {}).get("correlation")] = ns(e["ts"])
                if self._inside(ns(e["ts"])):
                    self.calls[plain_api(e["name"])] += 1
        for e in slices:
            kind = self.GPU.get(e["cat"].lower())
            if not kind:
                continue
            correlation = (e.get("args") or {}).get("correlation")
            # The range begins and ends with a wait for the GPU: without its call, a kernel's own time says where it belongs.
            if not self._inside(launched.get(correlation, ns(e["ts"]))):
                continue
            self.gpu.append((kind, e["name"], ns(e.get("dur", 0)), correlation))

    @staticmethod
    def _window(slices, name):
        found = [
            e for e in slices if e["name"].lstrip(":") == name and "annotation" in e["cat"] and "gpu" not in e["cat"]
        ]
        if not found:
            return (1, 0)
        return (ns(found[0]["ts"]), ns(found[0]["ts"]) + ns(found[0]["dur"]))

    def _inside(self, t):
        return self.window is None or self.window[0] <= t <= self.window[1]

    def count(self, kind):
        return sum(k == kind for k, _, _, _ in self.gpu)

    def kernels(self, short=False):
        """Number of kernels by name."""
        return collections.Counter(
            base_name(name) if short else name for kind, name, _, _ in self.gpu if kind == "kernel"
        )

    def kernel_ns(self):
        return sum(dur for kind, _, dur, _ in self.gpu if kind == "kernel")

    def kernel_ns_by_name(self):
        sums = collections.Counter()
        for kind, name, dur, _ in self.gpu:
            if kind == "kernel":
                sums[base_name(name)] += dur
        return sums


def difference(want, got, limit=4):
    """Where two counters differ, as text; empty when they are equal."""
    keys = [k for k in sorted(set(want) | set(got)) if want.get(k, 0) != got.get(k, 0)]
    shown = [f"{key[:70]}: {want.get(key, 0)} and {got.get(key, 0)}" for key in keys[:limit]]
    return "; ".join(shown) + (f"; and {len(keys) - limit} more" if len(keys) > limit else "")


def expectations(text):
    """What a test program says of itself: (kind, name or None, count).  Ours say "expect KIND [NAME] N"; those of test/programs also
    "name(arguments),N", perhaps with the range it was captured in before it, then several lines are of one kernel."""
    found, kernels = [], collections.Counter()
    for line in text.splitlines():
        line = line.replace('"', "")
        words = line.split()
        if line.startswith("expect ") and len(words) in (3, 4) and words[-1].isdigit():
            if words[1] == "kernel":
                kernels[words[2]] += int(words[3])
            else:
                found.append((words[1], words[2] if len(words) == 4 else None, int(words[-1])))
            continue
        line = re.sub(r"^[^(,]*,([A-Za-z_0-9]*\()", r"\1", line)
        match = re.fullmatch(r"([A-Za-z_0-9]*)\(.*\),(\d+)", line) or re.fullmatch(r"(spin_ptx),(\d+)", line)
        if match:
            kernels[match[1]] += int(match[2])
            continue
        match = re.fullmatch(r"(memcpy HtoD|memcpy DtoH|memset|graph launches),(\d+)", line)
        if match:
            kind = {
                "memcpy HtoD": ("operation", "memcpy Host-to-Device"),
                "memcpy DtoH": ("operation", "memcpy Device-to-Host"),
                "memset": ("sets", None),
                "graph launches": ("api", "cudaGraphLaunch"),
            }[match[1]]
            found.append(kind + (int(match[2]),))
            continue
        match = re.fullmatch(r"range ([^,]*),(\d+)", line)
        if match:
            found.append(("range", match[1], int(match[2])))
    return found + [("kernel", name, n) for name, n in kernels.items()]


class Reports:
    """A trace of ours by its reports; `ask` runs gprof-trace and gives its output, or nothing."""

    def __init__(self, ask, path):
        self.ask, self.path, self.kept = ask, path, {}

    def rows(self, report):
        if report not in self.kept:
            try:
                self.kept[report] = json.loads(
                    self.ask(["report", "-r", report, "--format", "json", self.path]) or "[]"
                )
            except json.JSONDecodeError:
                self.kept[report] = []
        return self.kept[report]

    def export(self, path):
        self.ask(["export", "-f", "--merged", "-o", path, self.path])
        return load_kineto(path)

    def attributes(self):
        """Facts about processes, the first of each name."""
        facts = {}
        for line in self.ask(["dump", "-k", "attribute", self.path]).splitlines():
            match = re.search(r'text="([^=]+)=(.*)"$', line)
            if match:
                facts.setdefault(match[1], match[2])
        return facts

    def sum(self, report, column, key, wanted):
        return sum(row[column] for row in self.rows(report) if wanted(str(row[key])))

    def health(self):
        return [str(row.get("reason", row)) for row in self.rows("health")]

    def lost(self, reason):
        """Sum of the counts of that reason in the health report.  test_check.py compares the names with those that health has."""
        return sum(row["count"] for row in self.rows("health") if row["reason"] == reason)

    def column(self, kind, name):
        """Column `name` of all rows of that kind; KeyError if a row lacks it."""
        rows = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in self.ask(["dump", "-k", kind, self.path]).splitlines()]
        return [int(row[name], 0) for row in rows]

    def kernel_ns(self):
        return self.sum("cuda_gpu_kern_sum", "Total Time (ns)", "Name", lambda _: True)

    def found(self, kind, name=None):
        """How many of that there are; None when the question is not known."""
        if kind in ("kernels", "graph_kernels"):
            return self.sum("cuda_gpu_kern_sum", "Instances", "Name", lambda _: True)
        if kind == "kernel":
            return self.sum("cuda_gpu_kern_sum", "Instances", "Name", lambda n: base_name(n) == name)
        if kind in ("copies", "sets"):
            return self.sum(
                "cuda_gpu_mem_time_sum",
                "Count",
                "Operation",
                lambda n: ("memcpy" if kind == "copies" else "memset") in n,
            )
        if kind == "operation":
            return self.sum("cuda_gpu_mem_time_sum", "Count", "Operation", lambda n: name in n)
        if kind == "range":
            return self.sum("nvtx_pushpop_sum", "Instances", "Range", lambda n: n.lstrip(":") == name)
        if kind == "ranges":
            return self.sum("nvtx_pushpop_sum", "Instances", "Range", lambda _: True)
        if kind == "api":
            return self.sum("cuda_api_sum", "Num Calls", "Name", lambda n: plain_api(n) == name)
        return None
