# Rows to columns and back.  `make bench-trace` runs it alone; COLUMNS_TOO=1 shows each column's bytes.
BENCHES += $(B)/bench/trace
$(B)/bench/trace: $(B)/obj/test/bench/trace_bench.o $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

bench-trace: $(B)/bench/trace
	$(Q)$(B)/bench/trace

.PHONY: bench-trace
