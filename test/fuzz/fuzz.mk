# `make fuzz`: throws bytes at the reader for FUZZ_TIME seconds.  Needs clang; what it found is in $(B)/fuzz.
FUZZ_TIME ?= 60

$(B)/fuzz/reader: test/fuzz/reader.c $(wildcard trace/*.c trace/*.h trace/*.def)
	@mkdir -p $(@D); echo "  FUZZ  $@"
	$(Q)clang $(filter-out -MMD -MP,$(BASE)) -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $(filter %.c,$^) -lzstd -lpthread

fuzz: $(B)/fuzz/reader $(B)/tools/synth_trace
	$(Q)mkdir -p $(B)/fuzz/corpus && $(B)/tools/synth_trace $(B)/fuzz/corpus/seed 50 >/dev/null
	$(Q)cd $(B)/fuzz && ./reader -verbosity=1 -max_total_time=$(FUZZ_TIME) -max_len=16384 corpus

.PHONY: fuzz
