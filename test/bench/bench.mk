# `make bench`.  A bench is a program $(B)/bench/NAME (its rule in a test/bench/*.mk of its own) that prints rows of four fields with
# tabs between: what, value, unit, beside (a ratio to a reference of the same run; may be empty).  Other lines are passed on as notes.
# BENCHES += $(B)/bench/NAME makes it part of the run.  Programs in $(B)/tools only help.
BENCHES :=
BENCH_TOOLS := $(B)/tools/alternate $(B)/tools/measure $(B)/tools/synth_trace $(B)/tools/unpack
-include $(filter-out test/bench/bench.mk,$(wildcard test/bench/*.mk))

$(B)/tools/alternate: $(B)/obj/test/bench/alternate.o
$(B)/tools/measure: $(B)/obj/test/bench/measure.o
$(B)/tools/synth_trace: $(B)/obj/test/bench/synth_trace.o $(TRACE)
$(B)/tools/unpack: $(B)/obj/test/bench/unpack.o $(CLI) $(TRACE)
$(BENCH_TOOLS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lz -lpthread -ldl -lm

bench-programs: $(BENCH_TOOLS) $(BENCHES)

bench: all bench-programs
	$(Q)scripts/bench.sh

.PHONY: bench-programs
