BENCHES += $(B)/bench/collector
$(B)/bench/collector: $(B)/obj/test/bench/collector_bench.o $(filter-out %/main.o,$(COLLECT)) $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

bench-collector: $(B)/bench/collector
	$(Q)$<

.PHONY: bench-collector
