"""PyTorch's operators, autograd nodes and scopes by name, as torch.profiler's key_averages() adds them up."""
from fractions import Fraction

from ranges import add_gpu, self_time
from values import near, share

ENGINE = "autograd::engine::evaluate_function"  # around a node: not one itself
SCOPES = {"op": "operator", "backward": "backward", "user": "user"}


def folded(r):
    """An operator that is all that is in another of its name is one call with it: the outer one."""
    while r.parent is not None and r.parent.name == r.name and len(r.parent.children) == 1:
        r = r.parent
    return r


def forward_threads(process):
    """{number of a forward thread, as autograd nodes say it: thread}: files number these threads otherwise than the threads of rows.
    It is the thread whose operators have most of the sequence numbers."""
    found, wanted = {}, {}
    for r in process.ranges:
        if r.kind == "backward":
            wanted.setdefault(r.forward_thread, set()).add(r.sequence)
        elif r.kind == "op" and r.sequence >= 0:
            found.setdefault(r.thread, set()).add(r.sequence)
    return {number: max(found, key=lambda t: len(found[t] & sequences)) for number, sequences in wanted.items() if found}


def nodes_of(process):
    """{range: autograd node it made}: the node of the last operator that began with its sequence number on its forward thread."""
    operators = {}
    for r in process.ranges:
        if r.kind == "op" and r.sequence >= 0:
            operators.setdefault((r.thread, r.sequence), []).append(r)
    threads = forward_threads(process)
    out = {}
    for node in sorted((r for r in process.ranges if r.kind == "backward" and not r.name.startswith(ENGINE)), key=lambda r: r.start):
        key = threads.get(node.forward_thread), node.sequence
        candidates = [r for r in operators.get(key, []) if r.start <= node.start]
        if candidates:
            out.setdefault(id(max(candidates, key=lambda r: (r.start, -r.end))), node)
    return out


def table(processes, key):
    """One row for each key(range)."""
    groups = {}
    total_self = total_self_gpu = 0
    has_gpu = any(p.gpu for p in processes)
    for process in processes:
        add_gpu(process)
        made = nodes_of(process)
        for r in process.ranges:
            total_self += self_time(r)
            total_self_gpu += r.self_gpu
            outer = folded(r)
            g = groups.setdefault(key(outer), {"host": 0, "self": 0, "gpu": 0, "self_gpu": 0, "calls": 0, "scope": r.kind, "nodes": []})
            g["self"] += self_time(r)
            g["self_gpu"] += r.self_gpu
            if outer is r:
                g["host"] += r.end - r.start
                g["gpu"] += r.gpu
                g["calls"] += 1
            if id(r) in made:
                g["nodes"].append(made[id(r)])
    for name, g in groups.items():
        backward = sum(n.end - n.start for n in g["nodes"])
        yield {"self_host_pct": share(g["self"], total_self) if total_self else near(0), "self_host_ns": g["self"],
               "host_pct": share(g["host"], total_self) if total_self else near(0), "host_ns": g["host"],
               "host_mean_ns": (g["host"] + g["calls"] // 2) // g["calls"] if g["calls"] else None,
               "self_gpu_pct": (share(g["self_gpu"], total_self_gpu) if total_self_gpu else near(0)) if has_gpu else None,
               "self_gpu_ns": g["self_gpu"] if has_gpu else None, "gpu_ns": g["gpu"] if has_gpu else None,
               "gpu_mean_ns": (g["gpu"] + g["calls"] // 2) // g["calls"] if has_gpu and g["calls"] else None,
               "backward_ns": backward if g["nodes"] else None,
               "backward_gpu_ns": (sum(n.gpu for n in g["nodes"]) if has_gpu else None) if g["nodes"] else None,
               "calls": g["calls"], "scope": SCOPES[g["scope"]], "name": name}


def aten_around(r):
    while r is not None and not r.name.startswith("aten::"):
        r = r.parent
    return r


def launched(ranks):
    """aten_kernels: what each run of an ATen operator launched, no other ATen operator around it, in order, and how long after it began."""
    for rank in ranks:
        runs_of, groups = {}, {}
        for process in rank.processes:
            add_gpu(process)
        first = {id(row): call for call, row, _ in rank.launches()}
        for r in (r for p in rank.processes for r in p.ranges if r.launched):
            operator = aten_around(r)
            made = [(first[id(row)], row) for row in r.launched if id(row) in first and row.kind == "kernel"]
            if operator is not None and made:
                runs_of.setdefault(id(operator), (operator, []))[1].extend(made)
        for operator, made in runs_of.values():
            made.sort(key=lambda x: (x[0].start, x[0].index))
            groups.setdefault((operator.name, tuple(row.name for _, row in made)), []).append((operator, *made[0]))
        for (name, kernels), runs in groups.items():
            yield {"rank": rank.number, "operator": name, "kernels": " -> ".join(kernels), "count": len(runs),
                   "call_delay_ns": near(Fraction(sum(call.start - r.start for r, call, _ in runs), len(runs))),
                   "gpu_delay_ns": near(Fraction(sum(row.start - call.start for _, call, row in runs), len(runs)))}
