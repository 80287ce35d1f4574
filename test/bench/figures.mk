# What test/bench/figures.sh runs: a launch loop and another CUPTI tool on the simulated stack, a loop of NVTX ranges, a slow disk.
BENCH_TOOLS += $(B)/tools/launches
$(B)/tools/launches: $(B)/obj/test/bench/launches.o
ifneq ($(wildcard $(CUDA)/include/nvtx3/nvToolsExt.h),)
BENCH_TOOLS += $(B)/tools/rows
$(B)/tools/rows: $(B)/obj/test/bench/rows.o
$(B)/obj/test/bench/rows.o: BASE += -isystem $(CUDA)/include
endif

BENCH_OBJECTS := $(B)/tools/empty_cupti.so $(B)/tools/slow_write.so $(B)/tools/empty_observer.so
$(BENCH_OBJECTS): $(B)/tools/%.so: test/bench/%.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote . -O2 -fPIC -shared -o $@ $< -ldl
bench-programs: $(BENCH_OBJECTS) sim
