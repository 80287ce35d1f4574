"""CUPTI's raw buffers, recorded here to be played back where there is no GPU."""

import glob
import gzip
import os
import shutil
import tarfile

import machine
from check import Skip


def replay(ck):
    """CUPTI's raw buffers with the rows that we made of them here, in one archive, to be unpacked in test/data/replay."""
    keep = os.path.join(ck.top, "test", "data", "replay", "keep.sh")
    folder = os.path.join(ck.work, "replay")
    os.makedirs(folder, exist_ok=True)
    version = ck.reports("first").attributes().get("cupti.version", "unknown")
    gpu = "simulated" if ck.sim else machine.label(False).lower().replace("nvidia ", "").replace(" ", "-")
    programs = [
        ("counts", [], []),
        ("graphs", [], []),
        ("graphs", [], ["--cuda-graph-trace=graph"]),
        ("memory_use", [], ["--cuda-memory-usage=true"]),
        ("streams", [], []),
        ("vector_add", [], ["-t", "cuda,nvtx,cuda-jit"]),
    ]
    for name, arguments, options in programs[:2] if ck.quick else programs:
        program = ck.program(name)
        if not program:
            continue
        raw = os.path.join(ck.work, "raw")
        shutil.rmtree(raw, ignore_errors=True)
        outcome, reports = ck.gprof("raw", [program] + arguments, ["--record-raw", raw] + options)
        files = sorted(glob.glob(os.path.join(raw, "*")))
        what = f"{name}{' ' + options[-1] if options else ''}"
        if not ck.true(
            f"raw buffers of {what}", outcome.rc == 0 and bool(files), f"{len(files)} files", "at least one file"
        ):
            continue
        short = name + "".join("-" + o.split("=")[-1].replace(",", "-") for o in options if not o.startswith("-t"))
        kept = (
            ck.run(["sh", keep, raw, reports.path, os.path.join(folder, f"{gpu}-cupti{version}-{short}")])
            if os.path.exists(keep)
            else None
        )
        if kept is not None and not ck.true(
            f"recording of {what} is kept with its rows", kept.rc == 0, "yes" if kept.rc == 0 else kept.last_words()
        ):
            _keep_plainly(ck, files, reports, os.path.join(folder, f"{gpu}-cupti{version}-{short}"))
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        if os.path.getsize(path) > 1 << 20:
            ck.value(
                "left out of the archive, over 1 MiB", f"{os.path.basename(path)}, {os.path.getsize(path) >> 10} KiB"
            )
            os.unlink(path)
    if not os.listdir(folder):
        raise Skip("nothing was recorded")
    with tarfile.open(os.path.join(ck.out, "replay.tar.gz"), "w:gz") as archive:
        for name in sorted(os.listdir(folder)):
            archive.add(os.path.join(folder, name), arcname=name, filter=_nobody)
    ck.value(
        "recordings in replay.tar.gz",
        f"{len(os.listdir(folder))} files, {os.path.getsize(os.path.join(ck.out, 'replay.tar.gz')) >> 10} KiB",
    )


def _keep_plainly(ck, files, reports, name):
    """Where keep.sh does not work (it wants awk and gzip): the buffers, and the rows as gprof-trace prints them."""
    for i, path in enumerate(files):
        with open(path, "rb") as f, gzip.open(f"{name}-{i + 1}.gpraw.gz", "wb") as to:
            shutil.copyfileobj(f, to)
    kinds = "config,health,device,context,stream,kernel,memcpy,memset,sync,overhead,graph,memory,mempool,jit"
    with gzip.open(f"{name}.dump.gz", "wt", encoding="utf-8") as to:
        to.write(ck.ask(["dump", "--uncorrected", "-k", kinds, reports.path]))


def _nobody(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
