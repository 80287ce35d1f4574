#!/usr/bin/env python3
"""nsys_export.py FILE [old]: a small SQLite file as `nsys export --type sqlite` writes it, of two processes; old: without newer columns."""
import sqlite3
import sys

PIDS = [0x1000000000000 | pid << 24 for pid in (4000, 4001)]


def main():
    db = sqlite3.connect(sys.argv[1])
    new = "old" not in sys.argv
    make = lambda name, columns: db.execute(f"CREATE TABLE {name} ({columns})")
    make("StringIds", "id INTEGER PRIMARY KEY, value TEXT")
    words = ["cudaLaunchKernel_v7000", "cuLaunchKernel", "k<int>(int*)", "_Z1kIiEvPi", "trainer", "registered", "cudaMemcpyAsync_v3020"]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(words, 1))
    make("TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER")
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)")
    make("TARGET_INFO_GPU", "vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 80000000000, 132, 9, 0)")
    make("CUPTI_ACTIVITY_KIND_RUNTIME",
         "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER")
    make("CUPTI_ACTIVITY_KIND_KERNEL", "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
         "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, " + ("mangledName INTEGER, " if new else "") +
         "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, "
         "staticSharedMemory INTEGER, dynamicSharedMemory INTEGER")
    make("CUPTI_ACTIVITY_KIND_MEMCPY", "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
         "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER")
    make("NVTX_EVENTS", "start INTEGER, end INTEGER, eventType INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "
         "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER")
    make("ThreadNames", "nameId INTEGER, priority INTEGER, globalTid INTEGER")
    make("PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT")
    for rank, pid in enumerate(PIDS):
        tid = pid | 4000 + rank
        db.execute("INSERT INTO PROCESSES VALUES (?, ?, '/usr/bin/python3')", (pid, 4000 + rank))
        db.execute("INSERT INTO ThreadNames VALUES (5, 0, ?)", (tid,))
        nvtx = "INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, 0, 0, ?, ?, NULL, ?, ?)"
        db.execute(nvtx, (0, None, 75, "library", tid, None, 7))
        db.execute(nvtx, (1000, 9000, 59, "step", tid, None, 0))
        db.execute(nvtx, (1500, 8000, 59, None, tid, 6, 7))
        db.execute(nvtx, (1600, 30000, 60, "request", tid, None, 0))
        db.execute(nvtx, (1700, None, 34, "here", tid, None, 0))
        for i in range(3):
            at = 2000 + 1000 * i
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, 0)", (at, at + 300, 0, tid, i + 1, 1))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 3, 3, " + ("4, " if new else "") +
                       "32, 10, 2, 1, 128, 1, 1, 48, 16)", (at + 5000, at + 5700 + rank, i + 1, pid))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20000, 20500, 0, ?, 9, 7, 0)", (tid,))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (21000, 21900, 0, 1, 7, 9, ?, 4096, 1, 1, 2)", (pid,))
    db.commit()


main()
