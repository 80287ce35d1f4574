# scripts/gpu-check.sh is meant for a real GPU; here it runs on the simulated GPU.
. "$(dirname "$0")/lib.sh"

prepared='
	need nvcc
	need python3
	need "$GPROF_BUILD/sim/libcuda.so.1"
	make -s -C "$GPROF_TOP" B="${GPROF_BUILD#"$GPROF_TOP/"}" gpu-programs >build.log 2>&1 || fail "$(tail -n 20 build.log)"
	gpu_check() { bash "$GPROF_TOP/scripts/gpu-check.sh" --sim --quick --out "$PWD/out" "$@" >log 2>&1; }
	# value EXPRESSION: of the result, r
	value() { python3 -c "import json; r = json.load(open(\"out/latest.json\")); print($1)"; }
	# faults FILE: where it does not keep to the schema
	faults() { PYTHONPATH="$GPROF_TOP/test/gpu/check" PYTHONDONTWRITEBYTECODE=1 python3 -c "import json, result, sys; print(\"\\n\".join(result.faults(json.load(open(sys.argv[1])))))" "$1"; }
'

it 'all of it runs on the simulated GPU, and the result says what it is' "$prepared"'
	gpu_check || fail "$(tail -n 30 log)"
	says " 0 failed" log
	is "True simulated GPU True True" "$(value "r[\"simulated\"], r[\"label\"], r[\"quick\"], r[\"finished\"]" | tr -d "(),'"'"'")"
	is "" "$(faults out/latest.json)" "what is wrong with latest.json"
	is "0" "$(value "sum(s[\"status\"] in (\"cut off\", \"broken\", \"failed\", \"not run\", \"running\") for s in r[\"steps\"])")" "steps that did not pass"
	for step in first counts facts killed replay cost-launch cost-graph startup kinds options cost-compute; do
		is passed "$(value "[s[\"status\"] for s in r[\"steps\"] if s[\"name\"] == \"$step\"][0]")" "$step"
	done
	says "**On the simulated GPU**" out/*.md
	for point in A B C E F H I J K M N; do
		grep -q "^| $point .*| PASS *|$" out/*.md || fail "point $point: $(grep "^| $point " out/*.md)"
	done
	for point in D G L O P; do
		grep -q "^| $point .*| cannot be asked here: " out/*.md || fail "point $point: $(grep "^| $point " out/*.md)"
	done
	says "| PASS  | counts-_exit-shared: kernels " out/*.md
	says "ours over CUPTI" out/*.md
	never_says "$(hostname)" out/*.md
	never_says "$PWD" out/latest.json
	never_says "$GPROF_BUILD" out/latest.json
	tar tzf out/replay.tar.gz >list
	says "counts.gpraw.gz" list
	says "counts.rows" list
'

it 'what is carried to a GPU can be built: clients, and programs that the simulated GPU cannot run' "$prepared"'
	for program in driver_api-shared kineto_client nested-static points-static; do set -- "$@" "kit/gpu/$program"; done
	make -s -C "$GPROF_TOP" B="$PWD" KIT="$PWD/kit" GPU_ARCH="-arch=sm_90" $(printf "$PWD/%s " "$@") >build.log 2>&1 || fail "$(tail -n 20 build.log)"
'

it 'names what failed where counts differ' "$prepared"'
	export GPU_CHECK_MISCOUNT=1
	exits 1 gpu_check counts
	says "FAIL counts-return-shared: kernels: expected 151, got 150" log
	says "counts: counts-return-shared: kernels: expected 151, got 150" out/*.md
	is failed "$(value "r[\"steps\"][1][\"status\"]")"
	says "| FAIL  | counts-return-shared: kernels " out/*.md
'

it 'cuts off a step that hangs, and runs the next' "$prepared"'
	export GPU_CHECK_HANG=1
	exits 1 gpu_check --step-limit 3 counts startup
	is "cut off" "$(value "r[\"steps\"][1][\"status\"]")"
	is passed "$(value "r[\"steps\"][2][\"status\"]")"
	says "cut off: after 3 s" out/*.md
	[ "$(value "r[\"seconds\"] < 60")" = True ] || fail "it took $(value "r[\"seconds\"]") s"
'

it 'has a whole result at any moment, also when it is stopped' "$prepared"'
	GPU_CHECK_HANG=1 bash "$GPROF_TOP/scripts/gpu-check.sh" --sim --quick --out "$PWD/out" first facts >log 2>&1 &
	pid=$!
	trap "kill $pid 2>/dev/null || :" EXIT
	until [ -e out/latest.json ] && [ "$(value "r[\"steps\"][0][\"status\"]")" = running ]; do sleep 0.1; done
	is "" "$(faults out/latest.json)"
	is "not run" "$(value "r[\"steps\"][1][\"status\"]")"
	says "not finished: this is what there is so far" out/*.md
	kill $pid
	exits 143 wait $pid
	is "False" "$(value "r[\"finished\"]")"
	is "" "$(faults out/latest.json)"
'

it 'leaves out what no longer fits, and says so' "$prepared"'
	bash "$GPROF_TOP/scripts/gpu-check.sh" --sim --budget 8 --out "$PWD/out" first cost-launch kinds >log 2>&1 || fail "$(tail -n 30 log)"
	says "not run for lack of time: cost-launch kinds" log
	says "cost-launch: not run: takes about" out/*.md
	is "" "$(faults out/latest.json)"
'

it 'compares with an older result, and joins two' "$prepared"'
	gpu_check first
	mv out old
	gpu_check first facts --compare "$PWD/old/latest.json"
	says "only in the new result" log
	never_says "worse: first" log
	bash "$GPROF_TOP/scripts/gpu-check.sh" --join old/latest.json out/latest.json --out "$PWD/both" 2>err
	is "first facts" "$(python3 -c "import json; print(*[s[\"name\"] for s in json.load(open(\"both/latest.json\"))[\"steps\"]])")"
	sed "s/\"got\": \"150\"/\"got\": \"149\"/; s/\"PASS\"/\"FAIL\"/" out/latest.json >worse.json
	bash "$GPROF_TOP/scripts/gpu-check.sh" --diff out/latest.json worse.json >said
	says "worse: first: its kernels are recorded: was PASS, is FAIL" said
	exits 1 bash "$GPROF_TOP/scripts/gpu-check.sh" --diff out/latest.json log 2>err
	says "cannot read" err
'

it 'every field of the result is in its page' '
	need python3
	page=$GPROF_TOP/docs/howto/check-a-gpu.md
	PYTHONPATH="$GPROF_TOP/test/gpu/check" PYTHONDONTWRITEBYTECODE=1 python3 -c "
import result
print(*[name for part in (result.TOP, result.STEP, result.CHECK, result.FIGURE) for name in part], sep=\"\n\")" | sort -u >fields
	[ "$(wc -l <fields)" -gt 20 ] || fail "no fields"
	while read -r field; do says "\`$field\`" "$page"; done <fields
	bash "$GPROF_TOP/scripts/gpu-check.sh" --list | while read -r step rest; do
		case $step in
		point-*) says "| ${step#point-} |" "$page" ;;
		*) says "\`$step\`" "$page" ;;
		esac
	done
'

for class in Statistics Comparison Schema Names KinetoTraces HealthReasons Commands; do
	it "its own arithmetic and parsing: $class" '
		need python3
		PYTHONDONTWRITEBYTECODE=1 GPROF_TEST_DATA=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data} \
			python3 "$GPROF_TOP/test/gpu/check/test_check.py" '$class' >log 2>&1 || fail "$(tail -n 20 log)"
	'
done

it 'refuses in one line where there is no GPU' '
	need python3
	! nvidia-smi -L 2>/dev/null | grep -q "^GPU " || skip "there is a GPU here"
	mkdir -p kit/bin
	GPROF_BUILD=$PWD/kit exits 1 bash "$GPROF_TOP/scripts/gpu-check.sh" >log 2>&1
	is "gpu-check: no GPU here (nvidia-smi -L lists none)" "$(cat log)"
'
