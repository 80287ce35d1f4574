#!/bin/sh
# Installs what building and testing need.  System packages: with apt-get if run as root; otherwise prints what to install, and continues.
# Judges (reference programs of tests) from PyPI: in $B/judges, a virtual environment.  If one is not available, its name is printed and its
# tests are skipped.  A second run does nothing; remove $B/judges to try the judges again.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
CC=${CC:-cc}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

has() { command -v "$1" >/dev/null 2>&1; }
builds() { printf '%s\n' "$1" >"$scratch/a.c" && shift && $CC -o "$scratch/a" "$scratch/a.c" "$@" >/dev/null 2>&1; }

has_compiler() { builds 'int main(void) { return 0; }'; }
has_zstd() { ! has_compiler || builds '#include <zstd.h>
int main(void) { return ZSTD_versionNumber() == 0; }' -lzstd; }
has_zlib() { ! has_compiler || builds '#include <zlib.h>
int main(void) { return zlibVersion() == 0; }' -lz; }
has_sanitizers() { ! has_compiler || builds 'int main(void) { return 0; }' -fsanitize=address,undefined; }
has_fuzzer() { ! has clang || CC=clang builds '#include <stddef.h>
int LLVMFuzzerTestOneInput(const char *p, size_t n); int LLVMFuzzerTestOneInput(const char *p, size_t n) { return p + n == 0; }' -fsanitize=fuzzer; }
clang_major() { clang -dumpversion 2>/dev/null | cut -d. -f1; }
has_libdw() { ldconfig -p 2>/dev/null | grep -q 'libdw\.so\.1 ' || [ -e /usr/lib64/libdw.so.1 ]; }
has_venv() { ! has python3 || python3 -c 'import venv, ensurepip' 2>/dev/null; }

# need|what for|check|Debian package|Fedora package
things() {
	cat <<-END
	must|a C compiler|has_compiler|gcc libc6-dev|gcc
	must|make|has make|make|make
	must|zstd's header and library|has_zstd|libzstd-dev|libzstd-devel
	must|zlib's header and library|has_zlib|zlib1g-dev|zlib-devel
	test|the second compiler of the checks|has clang|clang|clang
	test|the sanitized build|has_sanitizers|libasan8 libubsan1|libasan libubsan
	test|fuzzing|has_fuzzer|libclang-rt-$(clang_major)-dev|compiler-rt
	test|packing the tarball|has xz|xz-utils|xz
	test|children of another libc|has musl-gcc|musl-tools|musl-gcc
	test|reading symbol tables|has readelf|binutils|binutils
	test|lines and inlined functions of stacks|has_libdw|libdw1|elfutils-libs
	test|C++ names in stacks|has c++|g++|gcc-c++
	test|looking at processes|has ps|procps|procps-ng
	test|namespaces, setsid, script|has unshare|util-linux bsdutils|util-linux util-linux-script
	test|the example training loop and the judges|has python3|python3 python3-venv|python3
	test|the judges|has_venv|python3-venv|python3
	END
}

missing() {
	things | while IFS='|' read -r need what check deb rpm; do
		$check || printf '%s|%s|%s|%s\n' "$need" "$what" "$deb" "$rpm"
	done
}

install_packages() {
	DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -qq -y --no-install-recommends "$@" >"$scratch/apt" 2>&1
}

lacking=$(missing)
if [ "$lacking" ] && [ "$(id -u)" -eq 0 ] && has apt-get; then
	packages=$(printf '%s\n' "$lacking" | cut -d'|' -f3)
	echo "setup: installing" $packages
	# shellcheck disable=SC2086
	install_packages $packages || { timeout 120 apt-get -qq update >/dev/null 2>&1; install_packages $packages; } || {
		for package in $packages; do    # one by one: a missing package must not block the others
			install_packages "$package" || echo "setup: apt-get could not install $package: $(tail -n 1 "$scratch/apt")"
		done
	}
	lacking=$(missing)
fi
if [ "$lacking" ]; then
	packages=$(printf '%s\n' "$lacking" | if has dnf; then cut -d'|' -f4; else cut -d'|' -f3; fi)
	printf '%s\n' "$lacking" | while IFS='|' read -r need what deb rpm; do echo "setup: missing: $what ($need)"; done
	if has dnf; then
		echo "setup: as root, run: dnf install" $packages
	else
		echo "setup: as root, run: apt-get install" $packages
	fi
fi

# Lines: name|import that tests it|arguments of pip|arguments of a second pip.  HTA is installed with --no-deps, because its notebook is not
# needed.  PyTorch is the build without CUDA (200 MB instead of 2 GB), unless the machine has PyTorch.  The frameworks (220 MB, 40 s) are
# judges of steps; --no-deps keeps them from fetching PyTorch again.
judges() {
	cat <<-END
	nvtx|import nvtx|nvtx
	hta|import hta.trace_analysis|--no-deps traceinsight==0.6.1|numpy pandas networkx plotly psutil pydot pyyaml
	tb|import torch_tb_profiler.profiler.data|--no-deps torch_tb_profiler==0.4.3
	$(python3 -W ignore -c 'import torch.profiler' 2>/dev/null || echo 'torch|import torch.profiler|--no-deps torch==2.13.0+cpu|typing_extensions filelock fsspec jinja2 sympy networkx numpy')
	frameworks|import transformers, accelerate, lightning|--no-deps transformers==5.23.0 accelerate==1.15.0 lightning==2.6.6|--no-deps torchmetrics lightning-utilities tokenizers huggingface-hub safetensors regex requests urllib3 idna certifi charset-normalizer tqdm httpx2 httpcore2 truststore h11 anyio hf-xet
	END
}

newest_python() {
	for python in $(compgen_pythons) python3; do
		rm -rf "$scratch/venv"
		"$python" -m venv "$scratch/venv" >/dev/null 2>&1 && "$scratch/venv/bin/pip" --version >/dev/null 2>&1 &&
			echo "$python" && return 0
	done
	return 1
}

compgen_pythons() {
	for minor in 15 14 13 12 11 10 9; do
		! has "python3.$minor" || echo "python3.$minor"
	done
}

pip_install() { timeout 240 "$B/judges/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 "$@"; }

set_up_judges() {
	python=$(newest_python) || { echo "setup: no judges: no python3 here can make a virtual environment"; return; }
	rm -rf "$B/judges"
	mkdir -p "$B" && "$python" -m venv "$B/judges" || return
	echo "setup: judges in $B/judges ($("$python" --version))"
	judges | while IFS='|' read -r name proof first then; do
		[ "$name" ] || continue
		# shellcheck disable=SC2086
		pip_install $first </dev/null >"$scratch/pip" 2>&1 && { [ -z "$then" ] || pip_install $then </dev/null >"$scratch/pip" 2>&1; }
		"$B/judges/bin/python" -c "$proof" >>"$scratch/pip" 2>&1 ||
			echo "$name: $(grep -v -i '^warning' "$scratch/pip" | tail -n 1)" >>"$B/judges/missing"
	done
	touch "$B/judges/tried"
}

[ -e "$B/judges/tried" ] || set_up_judges
[ ! -s "$B/judges/missing" ] || sed 's/^/setup: judge not to be had, its tests are skipped: /' "$B/judges/missing"
! printf '%s\n' "$lacking" | grep -q '^must' || exit 1
