#!/bin/sh
# Secrets of command lines, URLs and the environment are neither in the output of commands nor in the bytes of the trace.
. "$(dirname "$0")/lib.sh"
USE='PATH=$GPROF_BUILD/test/programs:$PATH
need "$GPROF_BUILD/test/programs/nvtx_kinds" "test programs are not built (make programs)"
# nowhere WORD: neither a row nor an export of t.gtrace has it.
nowhere() {
	gprof-trace dump t.gtrace >rows
	gprof-trace dump --raw t.gtrace >>rows
	gprof-trace info t.gtrace >>rows
	gprof-trace export -o - t.gtrace >>rows
	never_says "$1" rows
}
has() { gprof-trace dump -k attribute t.gtrace | grep -qF -e "$1" || fail "no attribute has $1"; }
'

it 'masks them in the command lines of all processes, and keeps the rest' "$USE"'
	exits 0 gprof-run -q -o t -e "HIDDEN=s3cr3t0" --on-trace-ready "post --token s3cr3t0" --schedule wait=1,active=1 -- \
		env sh -c "nvtx_kinds --lr=3e-4 \"\$@\" >/dev/null" sh --token=s3cr3t1 -u user:s3cr3t2 --password s3cr3t3 \
		MY_SECRET=s3cr3t4 https://me:s3cr3t5@host/x "Authorization: Bearer s3cr3t6" AKIAS3CR3T78901234567 \
		--key-size=4 --tokenizer bert --max-tokens 4096
	nowhere s3cr3t
	nowhere S3CR3T
	for kept in "--key-size=4 --tokenizer bert --max-tokens 4096" "--token=***" "user:***" "--lr=3e-4" "https://me:***@host/x"; do
		has "$kept"
	done
	is 2 "$(gprof-trace dump -k attribute t.gtrace | grep -c "text=\"\(command\|argv\)=.*token=[*]*.*AKIA[*]*")" "command and argv"
'

it 'stores no value of -e in a group of options, and no command that failed' "$USE"'
	exits 0 gprof-run -qf -o t -qe HIDDEN=s3cr3t1 -qeHIDDEN2=s3cr3t2 --on-trace-ready "false --token s3cr3t3" --schedule wait=0,active=1 \
		--step nvtx:* -- nvtx_kinds >out
	nowhere s3cr3t
	gprof-trace report -r health -f csv t.gtrace >health
	says ready_failed health
	has "HIDDEN=..."
	has "HIDDEN2=..."
'

it 'masks them in the environment, by name and by value' "$USE"'
	export MYSQL_PWD=s3cr3t1 DATABASE_URL=postgres://u:s3cr3t2@db/x GITHUB_PAT=s3cr3t3 SENTRY_DSN=s3cr3t4 SLACK_WEBHOOK=s3cr3t5 \
		AZURE_CONN=s3cr3t6 TORCH_AUTH=s3cr3t7 NCCL_PARAMS="a=1,password=s3cr3t8" CUDA_DEVICE_MAX_CONNECTIONS=1
	for option in "" --env-all; do
		# shellcheck disable=SC2086
		exits 0 gprof-run -q -f -o t $option -- nvtx_kinds >out
		nowhere s3cr3t
		has "env.CUDA_DEVICE_MAX_CONNECTIONS=1"
		has "env.TORCH_AUTH=***"
		has "env.NCCL_PARAMS=a=1,password=***"
	done
	has "env.DATABASE_URL=postgres://u:***@db/x"
	has "env.PWD=$PWD"
'

it 'stores no command line with --no-argv, but the names of programs' "$USE"'
	exits 0 gprof-run -q --no-argv -o t -- env sh -c "nvtx_kinds onlyhere >/dev/null" other >out
	nowhere onlyhere
	nowhere other
	is 0 "$(gprof-trace dump -k attribute t.gtrace | grep -c -e "text=\"argv=" -e "text=\"options=[^\"]")" "command lines"
	has "setting.no_argv=1"
	has "command=env\""
	gprof-trace report -r processes t.gtrace >out
	says nvtx_kinds out
'
