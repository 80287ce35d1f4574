# NVIDIA's own libcupti of 13 releases, without a GPU: its functions, versions, return codes and records (test/cupti/README.md).
. "$(dirname "$0")/lib.sh"

it 'in functions, versions, answers without a driver, names of calls and layouts of records' '
	need cc
	need /usr/local/cuda/include/cuda.h "the headers of CUDA are not here"
	python=python3
	[ ! -x "$GPROF_BUILD/judges/bin/python" ] || python=$GPROF_BUILD/judges/bin/python
	"$python" -m pip --version >/dev/null 2>&1 || skip "needs pip"
	PYTHON=$python "$GPROF_TOP/test/cupti/fetch.sh" "$GPROF_BUILD/cupti-wheels" || skip "offline, or: $(PYTHON=$python "$GPROF_TOP/test/cupti/fetch.sh" "$GPROF_BUILD/cupti-wheels" | tail -n 1)"
	"$python" "$GPROF_TOP/test/cupti/libraries.py" "$GPROF_BUILD/cupti-wheels" >said || fail "$(grep ^FAIL said; tail -n 5 said)"
	[ "$(grep -c "^ok" said)" -ge 100 ] || fail "only $(grep -c "^ok" said) things were compared"
'
