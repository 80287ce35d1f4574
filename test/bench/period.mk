# How well steps are found where nothing marks them, and at what cost.  `make bench-period` runs it alone.
BENCHES += $(B)/bench/period
$(B)/bench/period: $(B)/obj/test/bench/period_bench.o $(B)/obj/test/unit/trace/launches.o $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

bench-period: $(B)/bench/period
	$(Q)$(B)/bench/period

.PHONY: bench-period
