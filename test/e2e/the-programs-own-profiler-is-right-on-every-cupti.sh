#!/bin/sh
# A program profiles itself in three sessions, with its own clock as torch.profiler does, on each release of CUPTI with its real faults.
# also on the pipe
. "$(dirname "$0")/lib.sh"

SIM='. "$GPROF_TOP/test/e2e/cuda/sim.sh"
need "$P/kineto_client" "kineto_client is not built (make programs)"
# complete WORD...: its tables are those of a CUPTI whose clock callback works as documented, all records within its sessions.
complete() {
	SIM_TRUTH= SIM_IDEAL=1 "$P/kineto_client" "$@" >alone
	exits 0 traced kineto_client "$@"
	same alone out
	is "$(grep -c "outside of the profile" out)" "$(grep -c "outside of the profile 0," out)" "sessions with all records inside"
}
'
export SIM

for release in 12.4.127 12.6.80 12.8.90 12.9.79 13.0.85 13.1 13.3.75; do
	export release
	it "$release: its three sessions are complete and on its clock, and we record everything" '
		eval "$SIM"
		release $release
		for words in "clock" "early clockfirst clock" "otherclock clock"; do
			complete cycles=3 kernels=12 $words
			is 3 "$(grep -c "kernel spin_inside 12 times, 600000 ns" out)" "sessions with all kernels"
			as_the_gpu_says
			is "" "$(health zero_time)$(health cupti_yielded)$(health record_unknown)"
		done
	'
done

for release in 12.6.80 12.9.79 13.3.75; do
	export release
	it "$release, --cupti=yield: what ran between its sessions is there, with its times" '
		eval "$SIM"
		release $release
		OPTIONS=--cupti=yield
		complete cycles=3 kernels=12 early clockfirst clock
		is 3 "$(health cupti_yielded)" "gaps"
		is "" "$(health zero_time)"
		is 19 "$(rows kernel)" "kernels: 4 before, 5 after each session"
		"$P/sim_rows" rows t.gtrace | sort >got
		"$P/sim_rows" truth truth | sort >want
		comm -23 got want >strange
		same /dev/null strange
	'
done

for release in 12.4.127 13.0.85 13.1; do
	export release
	it "$release: kernels are lost, or graphs have wrong ids, after kernels were off, so --cupti=yield shares, and health says so" '
		eval "$SIM"
		release $release
		OPTIONS=--cupti=yield
		complete cycles=3 driven
		as_the_gpu_says
		is "" "$(health cupti_yielded)" "gaps"
		detail cupti_flawed >said
		says "--cupti=share replaces yield" said
	'
done

it 'a session that cannot be shared has CUPTI to itself, and health names the kind' '
	eval "$SIM"
	release 13.3.75
	export SIM_EXCLUDES=17:37
	complete clock cycles=2
	is 2 "$(health cupti_yielded)" "gaps"
	detail cupti_yielded >said
	says "kind 17 cannot be shared" said
	says "kineto_client, 2 times" said
	"$P/sim_rows" rows t.gtrace | sort >got
	"$P/sim_rows" truth truth | sort >want
	comm -23 got want >strange
	same /dev/null strange
	is 14 "$(rows kernel)" "kernels: 4 before, 5 after each session"
'

for release in 12.4.127 13.0.85 13.1; do
	export release
	it "$release: a session that cannot be shared is refused its kind, since kernels would be lost or have wrong ids afterwards" '
		eval "$SIM"
		release $release
		export SIM_EXCLUDES=17:37
		exits 3 traced kineto_client driven
		says "cuptiActivityEnable: error 14" out
		as_the_gpu_says
		is "" "$(health cupti_yielded)" "gaps"
		detail cupti_flawed >said
		says "kind 17 refused" said
	'
done

for release in 12.8.90 13.0.85 13.3.75; do
	export release
	it "$release: who takes CUPTI by dlsym is refused with error 39, and takes nothing from us" '
		eval "$SIM"
		release $release
		complete stranger
		says "cuptiSubscribe answers 39" out
		as_the_gpu_says
	'
done

it 'who subscribes with a name is served up to 13.1, and refused by CUPTI from 13.2 on' '
	eval "$SIM"
	release 13.1.115
	complete named clock
	complete named early
	as_the_gpu_says
	release 13.3.75
	exits 3 traced kineto_client named
	says "cuptiSubscribe: error 39" out
	is kineto_client "$(detail cupti_refused)"
'

it 'callbacks that the program switches while CUPTI starts are switched one at a time' '
	eval "$SIM"
	export SIM_SWITCH_US=20
	complete early switching
	is "$(grep -c "\"type\":\"kernel\"" truth)" "$(rows kernel)" "kernels"
'

it '13.2 is not asked for its version before there is a driver' '
	eval "$SIM"
	release 13.2.75
	complete early clockfirst clock
	as_the_gpu_says
'
