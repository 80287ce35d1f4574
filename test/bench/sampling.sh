#!/bin/sh
# What samples of the CPU cost a Python loop and a loop of native code that Python calls: without a sampler, ours, and, where
# $GPROF_PEERS is the bin/ of an environment that has them, py-spy and Scalene; and whether they name the same functions.
set -u
python=${GPROF_PYTHON:-$(python3 -c 'import sys; print(sys.executable)')} || { echo "no Python: not measured"; exit 0; }
exec "$python" "$(dirname "$0")/sampling_loops.py"
