#!/usr/bin/env python3
"""nsys_export.py FILE [old|all]: a small SQLite file as `nsys export --type sqlite` writes it, of two processes; old: without newer
columns; all: with the tables of further options."""
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
    if "all" in sys.argv:
        further(db, PIDS[0], PIDS[0] | 4000)
    db.commit()


def further(db, pid, tid):
    def table(name, columns, *rows):
        db.execute("CREATE TABLE %s (%s)" % (name, columns))
        for row in rows:
            db.execute("INSERT INTO %s VALUES (%s)" % (name, ", ".join("?" * len(row))), row)

    words = {20: "leaf", 21: "/lib/libx.so", 22: "main", 23: "/usr/bin/prog", 24: "poll", 25: "cublasSgemm", 26: "MPI_Send", 27: "[Unknown]"}
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", words.items())
    db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN callchainId INTEGER")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = 3 WHERE globalTid = ? AND correlationId = 2", (tid,))
    frames = "id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER, PRIMARY KEY (id, stackDepth)"
    table("CUDA_CALLCHAINS", frames, (3, 22, 23, None, 0x5000, 1), (3, 20, 21, None, 0x7000, 0))
    table("SAMPLING_CALLCHAINS", frames, (1, 20, 21, None, 0x7000, 0), (1, 22, 23, None, 0x5000, 1), (2, 20, 21, None, 0x7000, 0),
          (2, 22, 23, None, 0x5000, 1), (3, 27, 23, 1, None, 0))
    table("COMPOSITE_EVENTS", "id INTEGER PRIMARY KEY, start INTEGER, cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER",
          (1, 2100, 0, 0, tid, 9), (2, 3100, 0, 0, tid, 9), (3, 4100, 0, 0, tid, 9))
    table("OSRT_API", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER",
          (2010, 2040, 27, tid, 24, 0))
    table("CUBLAS_EVENTS", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER", (1900, 2500, 29, tid, 25))
    table("MPI_P2P_EVENTS", "start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER", (5000, 5100, tid, 26))
    table("MPI_RANKS", "globalTid INTEGER, rank INTEGER", (tid, 3))
    table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
          "correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER", (40000, 41000, 0, 1, 7, 30, pid, 5, 6))
    table("CUDA_GRAPH_NODE_EVENTS", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, graphNodeId INTEGER, "
          "originalGraphNodeId INTEGER", (1600, 1600, 77, tid, 1, 100, None), (1650, 1650, 77, tid, 1, 200, 100))
    table("CUPTI_ACTIVITY_KIND_OVERHEAD", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, "
          "nameId INTEGER, overheadType INTEGER", (100, 200, 0, tid, 0, 1, 65536))
    table("ENUM_CUDA_DEV_MEM_EVENT_OPER", "id INTEGER, name TEXT, label TEXT", (0, "CUDA_DEV_MEM_EVENT_OPR_ALLOC", "Allocation"),
          (1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOC", "Deallocation"))
    table("CUDA_GPU_MEMORY_USAGE_EVENTS", "start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER, address INTEGER, pc INTEGER, "
          "bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, name TEXT, correlationId INTEGER, streamId INTEGER",
          (500, pid, 0, 1, 4096, 0, 1000, 2, 0, None, 40, None), (600, pid, 0, 1, 4096, 0, 1000, 2, 1, None, 41, None))
    table("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start INTEGER, globalPid INTEGER, address INTEGER, CpuInstruction INTEGER", (700, pid, 8192, 0x5004))
    table("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER, address INTEGER, "
          "numberOfPageFaults INTEGER, faultAccessType INTEGER", (800, 850, pid, 0, 8192, 4, 1))
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (900, 950, 0, 1, 7, 0, ?, 65536, 11, 4, 4)", (pid,))
    table("TARGET_INFO_CUDA_STREAM", "streamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER, contextId INTEGER, priority INTEGER, "
          "flag INTEGER", (7, 0, 0, 4000, 1, -2, 2))
    table("GPU_METRICS", "timestamp INTEGER, value INTEGER", (1, 2), (3, 4))
    table("SCHED_EVENTS", "start INTEGER, cpu INTEGER", (1, 0))
    for column in ("uint64Value INTEGER", "int64Value INTEGER", "doubleValue REAL", "jsonText TEXT"):
        db.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN " + column)
    nvtx = "INSERT INTO NVTX_EVENTS (start, end, eventType, category, color, text, globalTid, domainId, %s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    db.execute(nvtx % "uint64Value", (6100, 6200, 59, 3, 0xff00ff00, "with a number", tid, 7, 42))
    db.execute(nvtx % "doubleValue", (6300, None, 34, 0, 0, "half", tid, 0, 0.5))
    db.execute(nvtx % "jsonText", (6400, 6500, 59, 0, 0, "with a schema", tid, 0, "{}"))
    db.execute(nvtx % "uint64Value", (0, None, 33, 3, 0, "loading", tid, 7, None))


main()
