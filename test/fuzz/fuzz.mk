# Fuzz targets.  test/fuzz/NAME.c tests one parser of untrusted bytes.  The folder test/fuzz/NAME has its inputs: small ones written for it,
# and every input that once caused a failure.
#	make fuzz                           builds all targets with libFuzzer (clang and its runtime, libclang-rt-dev), in $(B)/fuzz
#	make fuzz-run TARGET=elf MINUTES=5  runs one; new inputs and findings stay in $(B)/fuzz/elf-inputs and $(B)/fuzz
#	make fuzz-keep TARGET=elf           adds the new inputs to the target's folder, reduced to those that add coverage
#	make fuzz-replay                    builds $(B)/fuzz-replay/NAME, which runs the kept inputs without a fuzzer, as make check does
MINUTES     ?= 1
FUZZ_CC     ?= clang
FUZZ_FLAGS   = $(filter-out -MMD -MP,$(BASE)) -MMD -MP -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_SQLITE := $(shell $(CC) -include sqlite3.h -x c -E /dev/null >/dev/null 2>&1 && echo nsys)
FUZZ_COLL   := frames roster
FUZZ_CLI    := reader import pieces gzip elf dwarf demangle perfmap $(FUZZ_SQLITE)
FUZZ_ALL    := $(FUZZ_CLI) $(FUZZ_COLL)

# Objects that a target is linked with: from obj, or, with coverage instrumentation, from fuzz/obj.
fuzz_libs    = $(if $(filter $(FUZZ_COLL),$(1)),$(filter-out %/main.o,$(COLLECT)),$(if $(filter pieces,$(1)),$(filter-out %/bytes/source.o,$(CLI)) \
	$(B)/obj/test/unit/import/source.o,$(CLI))) $(TRACE)
fuzz_objects = $(B)/obj/test/fuzz/$(1).o $(call fuzz_libs,$(1))
fuzz_link    = -lzstd -lz -lpthread -ldl -lm $(if $(filter nsys,$(1)),-lsqlite3)
marked       = $(patsubst $(B)/obj/%,$(B)/fuzz/obj/%,$(1))

$(B)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $< (fuzzed)"
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

define fuzz_target
$(B)/fuzz/$(1): $(call marked,$(call fuzz_objects,$(1)))
	@mkdir -p $$(@D); echo "  FUZZ  $$@"
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $$@ $$^ $(call fuzz_link,$(1))

$(B)/fuzz-replay/$(1): $(call fuzz_objects,$(1)) $(B)/obj/test/fuzz/replay.o
	@mkdir -p $$(@D); echo "  LINK  $$@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $$@ $$^ $(LDFLAGS) $(call fuzz_link,$(1))
endef
$(foreach t,$(FUZZ_ALL),$(eval $(call fuzz_target,$(t))))

fuzz: $(FUZZ_ALL:%=$(B)/fuzz/%)
fuzz-replay: $(FUZZ_ALL:%=$(B)/fuzz-replay/%)

fuzz-run: $(B)/fuzz/$(TARGET)
	$(Q)mkdir -p $(B)/fuzz/$(TARGET)-inputs
	$(Q)cd $(B)/fuzz && ./$(TARGET) -verbosity=1 -print_final_stats=1 -max_total_time=$$(($(MINUTES) * 60)) -timeout=20 -max_len=16384 \
		$(if $(wildcard test/fuzz/$(TARGET).dict),-dict=$(CURDIR)/test/fuzz/$(TARGET).dict) $(TARGET)-inputs $(CURDIR)/test/fuzz/$(TARGET)

fuzz-keep: $(B)/fuzz/$(TARGET)
	$(Q)cd $(B)/fuzz && ./$(TARGET) -merge=1 -max_len=4096 $(CURDIR)/test/fuzz/$(TARGET) $(TARGET)-inputs

.PHONY: fuzz fuzz-replay fuzz-run fuzz-keep
