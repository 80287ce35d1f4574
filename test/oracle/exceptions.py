"""Reports, columns and quantities that the oracle computes nothing for, each with the reason."""

COUNTED = "a program of test/programs knows its own answer: "
STACKS = ("stacks of calls are not read from a Kineto file; test/e2e/stacks_check.py adds them up from the rows of made traces, "
          "test/oracle/check_stacks.py from the export of a recording, and check_pairs.py compares the sum")
TEXT = "a text"

# Whole reports.  A test that is named here names the report: check_columns.py looks.
REPORTS = {
    "nvtx_pushpop_sum": COUNTED + "test/e2e/nvtx-of-every-kind-is-recorded.sh; no NVTX is in Kineto files or in SIM_TRUTH",
    "nvtx_startend_sum": COUNTED + "test/e2e/nvtx-of-every-kind-is-recorded.sh",
    "nvtx_sum": COUNTED + "test/e2e/nvtx-of-every-kind-is-recorded.sh",
    "lib_api_sum": COUNTED + "test/e2e/calls-of-cuda-libraries-are-recorded.sh",
    "nvtx_payloads": COUNTED + "test/e2e/nvtx-payloads-are-decoded.sh",
    "nvtx_resources": COUNTED + "test/e2e/cuda-names-of-streams-and-devices-are-kept.sh",
    "cuda_graph_kern_sum": COUNTED + "test/e2e/cuda-graphs-are-read-back-to-their-capture.sh; test/oracle/check_pairs.py compares the sum",
    "cuda_memory": COUNTED + "test/e2e/cuda-memory-usage-is-recorded-on-request.sh",
    "torch_memory": COUNTED + "test/e2e/pytorch-is-observed-only-if-it-is-understood.sh",
    "cuda_sync_sum": COUNTED + "test/e2e/cuda-launches-copies-and-contexts-are-told-apart.sh",
    "um_sum": COUNTED + "test/e2e/cuda-unified-memory-is-recorded-on-request.sh",
    "um_total_sum": COUNTED + "test/e2e/cuda-unified-memory-is-recorded-on-request.sh",
    "um_cpu_page_faults_sum": COUNTED + "test/e2e/cuda-unified-memory-is-recorded-on-request.sh",
    "cuda_events": COUNTED + "test/e2e/cuda-events-are-measured-twice.sh",
    "cuda_jit": COUNTED + "test/e2e/cuda-compilations-are-recorded-on-request.sh",
    "critical_path": "test/oracle/critical.py, which test/e2e/critical-path-is-the-known-one.sh runs",
    "critical_path_segments": "that they tile the step and add up to critical_path: test/e2e/critical-path-is-the-known-one.sh",
    "stacks": STACKS, "lines": STACKS,
    "launch_sites": "as stacks (test/e2e/stacks_check.py); test/oracle/check_pairs.py compares the sum",
    "range_sites": "stacks are not read from a Kineto file: test/e2e/stacks_check.py",
    "ops_by_stack": "its GPU and host times are those of ops, divided by stack; one stack: test/e2e/pytorch-modules-are-those-of-torch-profiler.sh",
    "modules": "test/e2e/pytorch-modules-are-those-of-torch-profiler.sh compares operators and modules; times, of the GPU too, by hand: test/unit/cli/ops.c",
    "cpu_sum": "samples: test/e2e/samples-show-what-ran.sh",
    "idle_stacks": "idle time and span: test/e2e/busy-and-idle-are-of-what-was-recorded.sh and test/oracle/check_pairs.py; call_ns: test/e2e/stacks_check.py",
    "health": "what is missing from a trace, not a quantity of it",
    "overhead": "what the recorder measured of itself: no file has it",
    "kernel_sequences": "patterns: test/e2e/hta-numbers-are-equal.sh",
    "compare_traces": "of two traces: test/e2e/hta-numbers-are-equal.sh", "ops_diff": "of two traces: test/e2e/hta-numbers-are-equal.sh",
    "memory_by_category": "of another kind of file; test/e2e/hta-numbers-are-equal.sh holds it against HTA",
}

# PyTorch's TensorBoard plugin and HTA have their own answers: test/e2e/tensorboard-numbers-are-equal.sh, hta-numbers-are-equal.sh.
COMPATIBLE = ("tb_", "hta_")

COLUMNS = {
    "cuda_gpu_trace": {"StcSMem (MB)": "Kineto has it in one number with DymSMem", "SrcMemKd": TEXT, "DstMemKd": TEXT, "Device": TEXT,
                       "Ctx": "an id", "GreenCtx": "an id"},
    "processes": {"process": "the order of the file", "parent": "no file has it", "start_ns": "of the file, not of the process",
                  "end_ns": "of the file", "marks": "no quantity", "dropped": "no file has it", "state": TEXT,
                  "name": TEXT, "ended": TEXT, "wall_ns": "no file has it: test/e2e/how-each-process-ended-is-known.sh",
                  "cpu_ns": "no file has it: test/e2e/how-each-process-ended-is-known.sh",
                  "samples": "test/e2e/samples-show-what-ran.sh"},
    "windows": {"cause": TEXT, "name": TEXT, "start_ns": "of the recording", "duration_ns": "of the recording"},
    "cuda_devices": {"rank": "of processes", "uuid": TEXT, "mig": TEXT, "l2_mb": "Kineto has it not", "clock_mhz": "Kineto has it not"},
}

# docs/reference/numbers.md, first column of its tables -> report and column that stand for it, or why there is none.
QUANTITIES = {
    "busy": ("temporal", "busy_ns"), "idle": ("temporal", "idle_ns"), "compute": ("temporal", "compute_ns"),
    "communication (`comm`)": ("temporal", "comm_ns"), "exposed communication (`comm_exposed`)": ("temporal", "comm_exposed_ns"),
    "overlap": ("overlap", "overlap_ns"), "copies, memory sets (`memcpy`, `memset`)": ("steps", "memcpy_ns"),
    "step: `gpu_busy`": ("steps", "gpu_busy_ns"), "step: `gpu_idle`": ("steps", "gpu_idle_ns"), "`launched_busy`": ("steps", "launched_busy_ns"),
    "`launched_start`, `launched_end`": ("steps", "launched_start_ns"),
    "CPU time (`cpu`) of a line": "stacks are not read from a Kineto file: test/e2e/stacks_check.py",
    "GPU time (`gpu`) of a range, operator, module, line, stack": ("ops", "gpu_ns"), "launch delay": ("launch_delays", "delay_ns"),
    "queue depth of a stream": ("queue_length_series", "queue_length"), "step: `wall`": ("steps", "wall_ns"), "`api`": ("steps", "api_ns"),
    "phase: `gpu_idle`": ("phases", "forward_gpu_idle_ns"), "`comm_host`": ("phases", "comm_host_ns"),
    "phase (`data`, `forward`, `backward`, `optimizer`, `zero_grad`, `other`)": ("phases", "forward_ns"),
    "`comm_host_exposed`": ("phases", "comm_host_exposed_ns"), "total, self time of a range": ("ops", "self_host_ns"),
    "share of an operator (`self_host_pct`, `host_pct`; `self_gpu_pct`)": ("ops", "host_pct"), "mean of an operator (`host_mean`, `gpu_mean`)": ("ops", "host_mean_ns"), "launches, kernels": ("steps", "launches"),
    "process: `wall_ns`": "test/e2e/how-each-process-ended-is-known.sh", "process: `cpu_ns`": "test/e2e/how-each-process-ended-is-known.sh",
    "process: `samples`": "test/e2e/samples-show-what-ran.sh", "process: `ended`": "test/e2e/how-each-process-ended-is-known.sh",
    "`collectives`": ("ranks", "collectives"), "`wait_ns`": ("ranks", "wait_ns"), "`last`": ("ranks", "last"), "`step_wait_ns`": ("ranks", "step_wait_ns"),
}
CRITICAL_PATH = "kind"          # the heading of the table of its kinds, which are texts
BY_RANK = "report"              # the heading of the table whose first column names reports
