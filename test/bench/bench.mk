# `make bench`.  A bench is a program $(B)/bench/NAME (its rule in a test/bench/*.mk of its own) that prints rows of four fields with
# tabs between: what, value, unit, beside (a ratio to a reference of the same run; may be empty).  Other lines are passed on as notes.
# BENCHES += $(B)/bench/NAME makes it part of the run.  Programs in $(B)/tools only help.
BENCHES :=
BENCH_TOOLS := $(B)/tools/alternate
-include $(filter-out test/bench/bench.mk,$(wildcard test/bench/*.mk))

$(B)/tools/%: test/bench/%.c
	@mkdir -p $(@D); echo "  CC    $@"
	$(Q)$(CC) $(BASE) $(CFLAGS) -MF $@.d -o $@ $<

bench-programs: $(BENCH_TOOLS) $(BENCHES)

bench: all bench-programs
	$(Q)scripts/bench.sh

.PHONY: bench-programs
