# Sourced by the bodies of test/e2e/python-*.sh: lists the CPythons of this machine, one per version and location.

# pythons MINOR: paths of those from 3.MINOR to 3.14; $GPROF_PYTHONS (paths, separated by blanks) adds to the usual places.
pythons() {
	for python in ${GPROF_PYTHONS-} /usr/bin/python3 /usr/local/bin/python3 "${HOME-}"/.pyenv/versions/*/bin/python3; do
		[ -x "$python" ] || continue
		minor=$("$python" -c 'import sys
print(sys.version_info[1] if sys.implementation.name == "cpython" and sys.version_info[0] == 3 else 0)' 2>/dev/null) || continue
		[ "$minor" -ge "$1" ] && [ "$minor" -le 14 ] && echo "$python"
	done
	return 0
}
