# The checks of scripts/ are only worth something if they find what is planted.
# not sanitized: shell scripts alone
. "$(dirname "$0")/lib.sh"

it 'finds no include that a floor forbids' '
	sh "$GPROF_TOP/scripts/check-layers.sh"
'

it 'names each include that a floor forbids' '
	mkdir -p trace inject collector cli/analyze cli/export cli/model cli/symbols
	echo "#include \"cli/model/model.h\"" >cli/symbols/s.c
	echo "#include \"collector/drain.h\"" >inject/a.c
	echo "#include \"trace/file.h\"" >inject/b.c
	echo "#include \"inject/stream.h\"" >collector/c.c
	echo "#include \"trace/reader.h\"" >cli/analyze/d.c
	echo "#include \"cli/analyze/kernels.h\"" >cli/export/e.c
	echo "#include \"cli/table.h\"" >cli/model/f.c
	echo "#include \"cli/fail.h\"" >trace/g.c
	echo "#include <cupti.h>" >inject/h.h
	echo "# include \"cli/options.h\"" >inject/i.c
	exits 1 sh "$GPROF_TOP/scripts/check-layers.sh" . >found
	for file in inject/a.c inject/b.c collector/c.c cli/analyze/d.c cli/export/e.c cli/model/f.c cli/symbols/s.c trace/g.c inject/h.h inject/i.c; do
		says "$file" found
	done
	is 10 "$(wc -l <found)" "number of finds"
'

it 'allows what the floors are for' '
	mkdir -p trace inject collector cli/analyze cli/model
	printf "%s\n" "#include \"inject/stream.h\"" "#include \"trace/wire.h\"" "#include <stdio.h>" >inject/a.c
	printf "%s\n" "#include \"trace/file.h\"" "#include \"collector/drain.h\"" >collector/c.c
	printf "%s\n" "#include \"cli/model/model.h\"" "#include \"cli/table.h\"" "#include \"trace/records.h\"" >cli/analyze/d.c
	printf "%s\n" "#include \"trace/reader.h\"" >cli/model/m.c
	sh "$GPROF_TOP/scripts/check-layers.sh" .
'

it 'names a word that a guest must not say, and no comment or string' '
	mkdir inject
	printf "%s\n" "/* never exit(1) here */" "void a(void);" "void a(void) { const char *s = \"abort()\"; (void)s; } // printf(x)" >inject/good.c
	printf "%s\n" "void module_exit(void);" "void b(void) { snprintf(0, 0, 0); module_exit(); }" >>inject/good.c
	sh "$GPROF_TOP/scripts/check-guest.sh" .
	echo "void c(void) { fprintf(stderr, \"no\"); }" >inject/bad.c
	echo "void d(void) { _exit(1); }" >inject/lifecycle.c
	exits 1 sh "$GPROF_TOP/scripts/check-guest.sh" . >found
	says inject/bad.c found
	is 1 "$(wc -l <found)" "number of finds"
'
