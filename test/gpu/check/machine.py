"""What this was run on, and which CUPTI is used."""

import functools
import glob
import json
import os
import platform
import shutil
import site
import subprocess
import sys


def _first_line(argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None
    except (OSError, subprocess.TimeoutExpired):
        return None


FIELDS = ("name", "memory.total", "driver_version", "compute_mode", "persistence_mode", "clocks.sm", "clocks.max.sm")


@functools.lru_cache(maxsize=1)
def _smi():
    """One question: nvidia-smi takes its time."""
    line = _first_line(["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader"])
    return dict(zip(FIELDS, line.split(", "))) if line else {}


def _file(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def has_gpu():
    listed = _first_line(["nvidia-smi", "-L"])
    return bool(listed and listed.startswith("GPU ")) or bool(glob.glob("/dev/nvidia[0-9]*"))


def label(sim):
    return "simulated GPU" if sim else _smi().get("name", "NVIDIA GPU")


def torch_facts():
    """Versions of PyTorch and whether it can use the GPU, asked in a process of its own; None without PyTorch."""
    code = (
        "import json, os, torch\n"
        "ok = torch.cuda.is_available()\n"
        "print(json.dumps({'torch': torch.__version__, 'cuda': torch.version.cuda, 'cudnn': torch.backends.cudnn.version() if ok else None,\n"
        "    'ok': ok or os.environ.get('GPU_CHECK_DEVICE') == 'cpu'}))"
    )  # as torch_loop.py
    line = _first_line([sys.executable, "-W", "ignore", "-c", code])
    try:
        return json.loads(line) if line else None
    except json.JSONDecodeError:
        return None


def libcuptis(build):
    """Copies of libcupti that there are, as (where, path), the likeliest first."""
    roots = [
        ("PyTorch's wheels", os.path.join(p, "nvidia")) for p in site.getsitepackages() + [site.getusersitepackages()]
    ]
    found = []
    for where, root in roots:
        found += [(where, p) for p in sorted(glob.glob(os.path.join(root, "*", "lib", "libcupti.so.1[0-9]")))]
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    for folder in (os.path.join(cuda, "lib64"), os.path.join(cuda, "extras", "CUPTI", "lib64")):
        found += [("the toolkit", p) for p in sorted(glob.glob(os.path.join(folder, "libcupti.so.1[0-9]")))]
    return found + [("carried", p) for p in sorted(glob.glob(os.path.join(build, "lib", "cuda", "libcupti.so.1[0-9]")))]


def is_divided():
    """Whether what CUDA sees is an instance of a divided GPU."""
    line = _first_line(["nvidia-smi", "--query-gpu=mig.mode.current", "--format=csv,noheader"])
    return line == "Enabled"


def tree_usage(pid, thread):
    """Resident memory in kB of the process below pid that has a thread of that name, and that thread's CPU time in s; None without one."""
    tick = os.sysconf("SC_CLK_TCK")
    for task in glob.glob("/proc/[0-9]*/task/[0-9]*/comm"):
        if _file(task).strip() != thread:
            continue
        process, stat = task.split("/")[2], _file(os.path.join(os.path.dirname(task), "stat")).rpartition(")")[2].split()
        if len(stat) > 12 and _descends(process, pid):
            pages = _file(f"/proc/{process}/statm").split()
            return int(pages[1]) * os.sysconf("SC_PAGESIZE") // 1024, (int(stat[11]) + int(stat[12])) / tick
    return None


def _descends(process, ancestor):
    for _ in range(20):
        if process == str(ancestor):
            return True
        stat = _file(f"/proc/{process}/stat").rpartition(")")[2].split()
        if len(stat) < 2 or stat[1] in ("0", "1"):
            return False
        process = stat[1]
    return False


def commit(top, build):
    carried = _file(os.path.join(build, "commit")).strip()
    return carried or _first_line(["git", "-C", top, "describe", "--always", "--dirty"]) or "unknown"


def describe(top, build, sim, torch):
    """Facts for the head of the result; no names of hosts, no places."""
    facts = {}
    if not sim:
        toolkit = _first_line([shutil.which("nvcc") or "nvcc", "--version"])
        smi = {field: _smi().get(field, "unknown") for field in FIELDS}
        facts["GPU"] = (
            f"{smi['name']}, {smi['memory.total']}, compute mode {smi['compute_mode']}, persistence {smi['persistence_mode']}"
        )
        facts["clocks"] = f"SM {smi['clocks.sm']} now, {smi['clocks.max.sm']} at most"
        facts["driver"] = smi["driver_version"]
        facts["toolkit here"] = "yes" if toolkit else "no nvcc"
    else:
        facts["GPU"] = "simulated GPU"
    facts["PyTorch"] = (
        "not here"
        if not torch
        else f"{torch['torch']}, CUDA {torch['cuda']}, cuDNN {torch['cudnn']}"
        + ("" if torch["ok"] else ", without a GPU")
    )
    model = [
        line.split(":", 1)[1].strip() for line in _file("/proc/cpuinfo").splitlines() if line.startswith("model name")
    ]
    facts["CPU"] = f"{model[0] if model else platform.machine()}, {os.cpu_count()} cores"
    facts["system"] = (
        f"{platform.system()} {platform.release()}, {platform.libc_ver()[0]} {platform.libc_ver()[1]}, Python {platform.python_version()}"
    )
    facts["clock source"] = (
        _file("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip() or "unknown"
    )
    facts["gprof-run"] = _first_line([os.path.join(build, "bin", "gprof-run"), "--version"]) or "does not start"
    facts["commit"] = commit(top, build)
    return facts
