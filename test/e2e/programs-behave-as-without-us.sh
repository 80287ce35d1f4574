#!/bin/sh
# Programs that act on themselves or inspect themselves behave the same under gprof-run: exit status, standard output, standard error, time.
#
# Exceptions.  gprof-run prints the trace's name on standard error (with -q only this line).  `env` shows four more variables.  Time: a row
# costs up to 0.2 us, the first row of a thread some 40 us (docs/reference/performance.md).  On the pipe a child of clone(2) ends up to
# 0.1 s later (docs/reference/limits.md).  The first NVTX call opens a library, which needs more than 8 KiB of stack even without gprof-run.
# Tested in other scripts: seccomp filters (filters-of-the-program-...), locked and limited memory
# (the-guest-takes-little-memory), sanitizers, musl, chroot of a child (children-that-cannot-load-us-...), environments
# (children-are-recorded-whatever-...), a collector that is stopped or killed and a gprof-run that is killed (the-guest-hangs-no-thread-...,
# gprof-run-runs-the-program-whatever-fails), tools and interpreters (tools-and-languages-behave-...).
. "$(dirname "$0")/lib.sh"

row() {
	name=$1
	shift
	it "$name" ". \"\$GPROF_TOP/test/e2e/alike.sh\"
$*"
}

row 'a program of NVTX' 'nvtx hello; OPTIONS="-s cpu" nvtx hello; OPTIONS=--transport=pipe nvtx hello; nvtx hello 50000'
row 'a program without it' 'alike sh -c "echo out; echo err >&2; exit 9"; alike true; alike cat /nothing'
row 'threads of 16 KiB' 'nvtx small_threads; OPTIONS="-s cpu" nvtx small_threads; OPTIONS=--transport=pipe nvtx small_threads; OPTIONS=--nvtx-backtrace nvtx small_threads'
row '500 threads at once, 3,000 one after another' 'nvtx threads_at_once 500; nvtx threads_in_turn 3000; OPTIONS="-s cpu" nvtx threads_in_turn 300'
row 'coroutines of 4 KiB, a handler on 8 KiB' 'nvtx coroutine 4096; nvtx handler 8192'
row 'threads that change their ids, with samples' 'nvtx changes_ids; OPTIONS="-s cpu" nvtx changes_ids'
row 'a thread that is cancelled, a main() that leaves its threads behind' 'nvtx cancelled; nvtx leaves_main; OPTIONS=--transport=pipe nvtx leaves_main'
row 'fork, vfork, clone with and without memory in common, posix_spawn' 'nvtx forks; nvtx clones; nvtx spawns'
row 'on the pipe: the same' 'OPTIONS=--transport=pipe; nvtx forks; UNTIMED=yes nvtx clones; nvtx spawns'
row 'a program that changes its root' 'test "$(id -u)" = 0 || skip "needs root"; nvtx new_root'
row 'a user namespace of its own' 'nvtx new_user'
row 'jumps out of SIGSEGV, an end in its handler' 'nvtx faults 1000; nvtx exits_in_handler 8192'
row 'ends by abort, SIGTERM, SIGKILL, SIGSEGV' 'ulimit -c 0; nvtx aborts; nvtx signalled 15; nvtx signalled 9; nvtx signalled 11'
row 'three and four descriptors, all of them closed' 'nvtx descriptors 3; nvtx descriptors 4; nvtx closes_all 50000'
row 'files of at most 4 KiB, an address space of 300 MB' 'nvtx file_size 100000; alike sh -c "ulimit -v 300000; exec \"\$0\" hello" "$GPROF_BUILD/test/programs/scenarios"'
row 'a real-time thread' 'nvtx real_time 100000'
row 'errno over 100,000 calls' 'nvtx keeps_errno 100000'
row 'a second link namespace' 'nvtx namespaces'
row 'an environment that is empty, and that of a child' 'EXCEPT="/^\(LD_PRELOAD\|CUDA_INJECTION64_PATH\|NVTX_INJECTION64_PATH\|GPROF_SESSION\)=/d"; alike env -i env; alike env -i A=1 sh -c env; alike env'
