# `make fuzz`: throws bytes at the reader, at the importer, whole and in pieces, and databases at it where SQLite's header is installed,
# FUZZ_TIME seconds each.
# Needs clang; what it found is in $(B)/fuzz.
FUZZ_TIME ?= 60

$(B)/fuzz/reader: test/fuzz/reader.c $(wildcard trace/*.c trace/*.h trace/*.def)
$(B)/fuzz/import $(B)/fuzz/nsys: $(B)/fuzz/%: test/fuzz/%.c test/fuzz/import_bytes.h $(wildcard cli/import/*.c cli/import/*.h cli/import/*.def trace/*.c trace/*.h trace/*.def)
# Its source of bytes is the unit tests' own.
$(B)/fuzz/pieces: test/fuzz/pieces.c test/unit/import/source.c test/unit/import/rows.h $(filter-out cli/import/source.c,$(wildcard cli/import/*.c)) \
	$(wildcard cli/import/*.h cli/import/*.def trace/*.c trace/*.h trace/*.def)
$(B)/fuzz/%:
	@mkdir -p $(@D); echo "  FUZZ  $@"
	$(Q)clang $(filter-out -MMD -MP,$(BASE)) -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $(filter %.c,$^) -lzstd -lpthread -ldl $(if $(filter %/nsys,$@),-lsqlite3)

fuzz: $(B)/fuzz/reader $(B)/fuzz/import $(B)/fuzz/pieces $(B)/tools/synth_trace
	$(Q)mkdir -p $(B)/fuzz/corpus && $(B)/tools/synth_trace $(B)/fuzz/corpus/seed 50 >/dev/null
	$(Q)cd $(B)/fuzz && ./reader -verbosity=1 -max_total_time=$(FUZZ_TIME) -max_len=16384 corpus
	$(Q)mkdir -p $(B)/fuzz/import-corpus && cp test/fuzz/import/* $(B)/fuzz/import-corpus
	$(Q)cd $(B)/fuzz && ./import -verbosity=1 -max_total_time=$(FUZZ_TIME) -max_len=16384 -dict=$(CURDIR)/test/fuzz/import.dict import-corpus
	$(Q)mkdir -p $(B)/fuzz/pieces-corpus && for f in test/fuzz/import/*.json; do { printf 'a\0'; cat $$f; } >$(B)/fuzz/pieces-corpus/$${f##*/}; done
	$(Q)cd $(B)/fuzz && ./pieces -verbosity=1 -max_total_time=$(FUZZ_TIME) -max_len=16384 -dict=$(CURDIR)/test/fuzz/import.dict pieces-corpus
	$(Q)! echo '#include <sqlite3.h>' | clang -E - >/dev/null 2>&1 || $(MAKE) -s fuzz-nsys

fuzz-nsys: $(B)/fuzz/nsys
	$(Q)mkdir -p $(B)/fuzz/nsys-corpus && cp test/fuzz/nsys/* $(B)/fuzz/nsys-corpus
	$(Q)cd $(B)/fuzz && ./nsys -verbosity=1 -max_total_time=$(FUZZ_TIME) -timeout=20 -max_len=2048 nsys-corpus

.PHONY: fuzz fuzz-nsys
