"""What NVIDIA's documents leave open: each a named line.  facts.so and facts.cu ask, this judges."""

import os
import re

from check import Skip

SYNC = {"1": "event", "2": "stream waits for an event", "3": "stream", "4": "context"}
SLACK_NS = 2000  # CUPTI's two clocks agree to about that


def read(path):
    """The report's lines as {name: words}; of a name that comes twice the last."""
    facts = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                words = line.split()
                if len(words) > 1:
                    facts[words[0]] = words[1:]
    except OSError:
        pass
    return facts


def number(facts, name, default=None):
    words = facts.get(name)
    return int(float(words[0])) if words and re.fullmatch(r"-?\d+(\.\d+)?", words[0]) else default


def asked(ck, arguments, preload, variable):
    """facts.cu with its questions: the object preloaded or not, the driver's variable set by us or by its constructor."""
    path = os.path.join(ck.work, "facts.report")
    if os.path.exists(path):
        os.unlink(path)
    facts_so = ck.object("facts.so")
    env = {"GPU_CHECK_REPORT": path, "GPU_CHECK_LIBCUPTI": ck.libcupti or ""}
    if preload:
        env["LD_PRELOAD"] = facts_so
    env["CUDA_INJECTION64_PATH" if variable else "GPU_CHECK_SETENV"] = facts_so
    outcome = ck.run([ck.need_program("facts")] + arguments, 60, env)
    return outcome, read(path)


def facts(ck):
    outcome, found = asked(ck, [], True, True)
    if not found:
        raise Skip("the driver did not load our object: " + outcome.last_words())
    did = {words[0]: int(words[1]) for words in outcome.lines("did")}
    ck.check("facts: the program ends well", 0, outcome.rc)
    injection(ck, found)
    if number(found, "subscribe") != 0:
        return ck.true("CUPTI can be subscribed to", False, f"error {found.get('subscribe', ['none'])[0]}")
    exit_order(ck, found)
    correlation(ck, found, did)
    clocks(ck, found)
    flushes(ck, found)
    synchronisation(ck, found, did)
    layouts(ck, found)
    constructor_sets(ck)
    reset(ck)
    driver_door(ck)


def injection(ck, found):
    ck.check("InitializeInjection is called once", 1, number(found, "initialize.calls"))
    ck.check(
        "a preloaded object is not loaded a second time by the driver",
        1,
        number(found, "initialize.same_copy_as_preloaded"),
    )
    ck.value("InitializeInjection runs in the main thread", number(found, "initialize.in_main_thread"))
    words = found.get("initialize.driver_version", ["?", "?"])
    ck.true(
        "cuDriverGetVersion works inside InitializeInjection",
        words[0] == "0" and words[1] != "0",
        f"result {words[0]}, version {words[1]}",
        "result 0",
    )


def exit_order(ck, found):
    places = ("cu_init", "initialize", "destructor", "constructor")
    order = {place: number(found, f"exit.{place}.order") for place in places if number(found, f"exit.{place}.order")}
    ck.value("exit handlers run in this order", ", ".join(sorted(order, key=order.get)))
    for place in places:
        if f"exit.{place}.context" in found:
            ck.value(
                f"exit handler registered in {place}: cuDriverGetVersion, cuCtxGetDevice",
                f"{found.get(f'exit.{place}.driver_version', ['?'])[0]}, {found[f'exit.{place}.context'][0]}",
            )
    ck.check("CUDA still works in the handler registered at CU_INIT_FINISHED", 0, number(found, "exit.cu_init.context"))
    ck.check("a flush works there", 0, number(found, "exit.cu_init.flush"))
    ck.true(
        "and brings records",
        number(found, "exit.cu_init.records", 0) > 0,
        number(found, "exit.cu_init.records"),
        "some",
    )
    if "context_destroy" in found:
        ck.value("CONTEXT_DESTROY_STARTING comes", found["context_destroy"][0])


def correlation(ck, found, did):
    nested, same = number(found, "correlation.nested", 0), number(found, "correlation.nested_same", 0)
    ck.value("driver calls inside runtime calls", nested)
    if nested:
        ck.check("nested driver calls have the runtime call's correlation id", nested, same)
    ck.check(
        "each kernel has the correlation id of a launch, without API activity kinds",
        0,
        number(found, "correlation.kernels_without_call"),
    )
    # The kernel that was running at a forced flush may have no times.
    kernels = number(found, "records.10", 0)
    ck.true(
        "each launch has one kernel record",
        did["launches"] <= kernels <= did["launches"] + 1,
        kernels,
        str(did["launches"]),
    )
    for what in ("off", "on"):
        words = found.get(f"toggle.{what}", ["?", "?"])
        ck.value(f"turning CONCURRENT_KERNEL {what} while running", f"result {words[0]}, {words[1]} us")


def clocks(ck, found):
    for when in ("initialize", "cu_init", "context", "later", "end"):
        if f"clock.{when}" in found:
            ck.value(f"cuptiGetTimestamp - CLOCK_REALTIME, at {when}", f"{number(found, f'clock.{when}'):,} ns")
    end = number(found, "clock.end")
    if end is not None:
        ck.true("CUPTI's clock is CLOCK_REALTIME", abs(end) < SLACK_NS, f"{end:,} ns apart", f"within {SLACK_NS} ns")
        for when in ("initialize", "cu_init", "context"):
            early = number(found, f"clock.{when}")
            if early is not None:
                ck.true(
                    f"CUPTI's clock is right at {when}",
                    abs(early - end) < SLACK_NS,
                    f"{early - end:,} ns off",
                    f"within {SLACK_NS} ns",
                )
    ck.value(
        "from the begin of a launch's call to its kernel's start",
        ", ".join(f"{what} {number(found, f'delay.{what}', 0):,} ns" for what in ("least", "median", "most")),
    )
    ck.check("kernels that start before their launch was called", 0, number(found, "delay.before_call"))


def flushes(ck, found):
    ck.value("FlushAll(0) with a kernel running: records", number(found, "flush.running.records"))
    ck.value(
        "FlushAll(forced) with a kernel running: records, unfinished",
        f"{number(found, 'flush.running_forced.records')}, {number(found, 'flush.running_forced.unfinished')}",
    )
    ck.value(
        "a record that was forced out unfinished comes again", "yes" if number(found, "flush.delivered_again") else "no"
    )
    ck.value("FlushAll(0) after that kernel ended: records", number(found, "flush.after_running.records"))
    words = found.get("complete.threads", ["?", ""])
    ck.value(
        "threads that buffers were delivered on",
        f"{words[0]}, the first is the program's main thread: {'yes' if 'main=1' in words else 'no'}",
    )


def synchronisation(ck, found, did):
    for number_of_type, name in SYNC.items():
        ck.value(f"synchronisation records, {name}", number(found, f"sync.{number_of_type}", 0))
    ck.check("cudaStreamSynchronize makes one record each", did["stream_syncs"], number(found, "sync.3", 0))
    ck.check("cudaDeviceSynchronize makes one record each", did["device_syncs"], number(found, "sync.4", 0))
    ck.value(
        "event records: cudaEventSynchronize, cudaEventQuery",
        f"{did['event_syncs']} waits and {did['queries']} queries made {number(found, 'sync.1', 0)}",
    )


def layouts(ck, found):
    for name in sorted(found):
        if name.startswith("records."):
            size = next((w[5:] for w in found[name] if w.startswith("size=")), "0")
            if (
                size != "0"
                and f"header.{name[8:]}" in found
                and found.get("header.version") == found.get("cupti.version")
            ):
                ck.check(
                    f"activity kind {name[8:]}: bytes of a record, as NVIDIA's header says",
                    number(found, f"header.{name[8:]}"),
                    int(size),
                )
            ck.value(
                f"activity kind {name[8:]}",
                f"{found[name][0]} records of {size} bytes" if size != "0" else f"{found[name][0]} records",
            )
        if name.startswith("enable.") and found[name][0] != "0":
            ck.value(f"activity kind {name[7:]} is refused", f"CUPTI error {found[name][0]}")
        if name.startswith("attribute."):
            ck.value(f"activity attribute {name[10:]}", found[name][0])


def constructor_sets(ck):
    _, found = asked(ck, [], True, False)
    ck.check("a constructor's setenv of CUDA_INJECTION64_PATH is honoured", 1, number(found, "initialize.calls", 0))


def reset(ck):
    outcome, found = asked(ck, ["reset"], True, True)
    ck.check("facts, with cudaDeviceReset: the program ends well", 0, outcome.rc)
    ck.check("FlushAll at the begin of cudaDeviceReset", 0, number(found, "reset.flush"))
    ck.true("and it brings records", number(found, "reset.records", 0) > 0, number(found, "reset.records"), "some")


def driver_door(ck):
    """Nothing preloaded: the driver's variable alone.  On a real GPU with a runtime linked statically."""
    runtime = "shared" if ck.sim else "static"
    program = ck.program("counts", runtime)
    if not program:
        return ck.skip("through CUDA_INJECTION64_PATH alone", f"counts-{runtime} is not built")
    what = f"{runtime} runtime, through CUDA_INJECTION64_PATH alone"
    outcome, reports = ck.gprof("without_preload", [ck.object("without_preload"), program])
    ck.check(f"{what}: status", 0, outcome.rc)
    ck.counts(what, outcome.out, reports)
