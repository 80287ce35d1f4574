# What the injected object costs per CUDA call and per GPU record, without CUPTI: its callbacks are called directly.
BENCHES += $(B)/bench/inject
INJECT_BENCH := $(B)/obj/test/bench/inject_bench.o $(B)/obj/test/unit/inject/fake.o $(B)/obj/test/unit/inject/cupti_fake.o

$(B)/bench/inject: $(INJECT_BENCH) $(filter-out %/entry.o %/lifecycle.o %/limits.o %/torch_door.o,$(INJECT))
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -ldl -lpthread
