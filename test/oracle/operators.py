"""PyTorch's operators, autograd nodes and scopes by name, as torch.profiler's key_averages() adds them up."""
from ranges import add_gpu, nest, self_time
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
    total_self = 0
    has_gpu = any(p.gpu for p in processes)
    for process in processes:
        add_gpu(process, nest(process))
        made = nodes_of(process)
        for r in process.ranges:
            total_self += self_time(r)
            g = groups.setdefault(key(r), {"host": 0, "self": 0, "gpu": 0, "self_gpu": 0, "calls": 0, "scope": r.kind, "nodes": []})
            outer = folded(r)
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
        yield {"self_host_pct": share(g["self"], total_self) if total_self else near(0), "self_host_ns": g["self"], "host_ns": g["host"],
               "self_gpu_ns": g["self_gpu"] if has_gpu else None, "gpu_ns": g["gpu"] if has_gpu else None,
               "backward_ns": backward if g["nodes"] else None,
               "backward_gpu_ns": (sum(n.gpu for n in g["nodes"]) if has_gpu else None) if g["nodes"] else None,
               "calls": g["calls"], "scope": SCOPES[g["scope"]], "name": name}
