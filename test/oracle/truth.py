"""Reads what the simulated GPU wrote down of itself (SIM_TRUTH, test/sim/README.md): what it did, not what was recorded of it."""
import json

from rows import Call, GpuRow, Process, Trace, link


def read(path):
    processes = {}
    with open(path, encoding="utf-8") as f:
        for index, line in enumerate(f):
            said = json.loads(line)
            process = processes.setdefault(said["pid"], Process(said["pid"]))
            if said["type"] == "api" and said["told"]:
                process.calls.append(Call(said["name"], said["start"], said["end"], said["correlation"], said["tid"], index))
            elif said["type"] in ("kernel", "memcpy", "memset") and said["fate"] == "recorded":
                process.gpu.append(row_of(said, index))
    for process in processes.values():
        link(process)
    used = [p for p in processes.values() if p.gpu]
    return Trace(used, 0, path)


def row_of(said, index):
    start, end = (0, 0) if said["zeroed"] else (said["start"], said["end"])
    row = GpuRow(said["type"], said["name"], start, end, said["correlation"], said["device"], said["stream"])
    row.index, row.bytes = index, said.get("bytes")
    if said["type"] == "kernel":
        row.grid, row.block, row.registers = said["grid"], said["block"], said["registers"]
        row.static, row.shared = said["static"], said["dynamic"]
    elif said["type"] == "memcpy":
        row.moves = said["name"]
    return row
