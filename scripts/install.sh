#!/bin/sh
# install.sh BUILD PREFIX: does `make install`.  Programs find their files relative to themselves, so PREFIX may be moved.
set -eu
build=$1
prefix=$2

put() {
	install -d "$3" && install -m "$1" "$2" "$3/"
}

for program in gprof-run gprof-trace gprof-ctl; do
	put 755 "$build/bin/$program" "$prefix/bin"
done
put 755 "$build/lib/gprof/gprof-collector" "$prefix/lib/gprof"
put 755 "$build/lib/gprof/libgprof_inject.so" "$prefix/lib/gprof"

# The programs print man pages and completion from their tables of options.
pages=$build/pages
mkdir -p "$pages"
for program in gprof-run gprof-trace gprof-ctl; do
	"$build/bin/$program" --man >"$pages/$program.1"
	"$build/bin/$program" --completion >"$pages/$program"
	put 644 "$pages/$program.1" "$prefix/share/man/man1"
	put 644 "$pages/$program" "$prefix/share/bash-completion/completions"
done
echo "installed in $prefix; next: $prefix/bin/gprof-run -- COMMAND"
