#!/bin/sh
# Holistic Trace Analysis and gprof-trace answer the same questions about the same files (hta_set.py), where there are HTA (`make setup`)
# and files with its answers (GPROF_TEST_DATA).  GPROF_BENCH_SETS: names of some of the sets.
set -u
judge=${B:-build}/judges/bin/python
data=${GPROF_TEST_DATA:-../shared/data}
"$judge" -c 'import hta' 2>/dev/null || { echo "HTA is not in $judge: not compared"; exit 0; }
[ -d "$data/hta/golden" ] || { echo "no answers of HTA in GPROF_TEST_DATA: not compared"; exit 0; }
exec "$judge" "$(dirname "$0")/hta_set.py" "$(realpath "$data")" ${GPROF_BENCH_SETS-}
