# NVTX needs NVIDIA's headers; without them test/bench/nvtx.sh says so.
ifneq ($(wildcard $(CUDA)/include/nvtx3/nvToolsExt.h),)
BENCH_TOOLS += $(B)/tools/nvtx_pair
$(B)/tools/nvtx_pair: $(B)/obj/test/bench/nvtx_pair.o
$(B)/obj/test/bench/nvtx_pair.o: BASE += -isystem $(CUDA)/include
endif
