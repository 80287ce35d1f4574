# What scripts/gpu-check.sh runs.  `make gpu-programs` builds it for this machine into $(B)/gpu (the simulated GPU needs no more), `make
# gpu-kit` all that is carried to a machine with a GPU, which then needs neither compiler nor toolkit, into $(B)/kit: gprof-run with zstd
# inside, the programs with shared and with static runtime, and the runtime and CUPTI of this toolkit in case there are none.
GPU_OWN   := $(patsubst test/gpu/%.cu,%,$(wildcard test/gpu/*.cu))
GPU_ALL   := $(GPU_OWN) $(patsubst test/programs/%.cu,%,$(wildcard test/programs/*.cu))
GPU_OBJ   := client facts
KIT       := $(B)/kit
# Machine code for A100 and what is like it, and for H100 and H200, so that no program is compiled at its start; PTX for the others.
GPU_ARCH  ?= -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
GPU_LINK   = -Xlinker --enable-new-dtags -Xlinker -rpath,'$$ORIGIN/../lib/cuda'
GPU_NVCC   = $(NVCC) -O2 -std=c++17 -Xcompiler -static-libstdc++,-static-libgcc
GPU_FOLDER = $(B)/gpu $(KIT)/gpu

gpu-programs: $(GPU_OWN:%=$(B)/gpu/%-shared) $(GPU_OBJ:%=$(B)/gpu/%.so) $(B)/gpu/door

$(B)/gpu/%-shared: test/gpu/%.cu test/gpu/expect.h
	@mkdir -p $(@D); echo "  NVCC  $@"
	$(Q)$(GPU_NVCC) --cudart shared -o $@ $<

gpu_so = @mkdir -p $(@D); echo "  CC    $@"
$(GPU_FOLDER:%=%/client.so): test/gpu/client.c test/gpu/client.h inject/cupti_calls.def
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -g -fPIC -shared -isystem $(CUDA)/include -o $@ $< -ldl
$(GPU_FOLDER:%=%/facts.so): test/gpu/facts.c test/gpu/facts_records.c test/gpu/facts.h test/gpu/client.h
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -g -fPIC -shared -isystem $(CUDA)/include -o $@ $(filter %.c,$^) -ldl -lpthread

$(GPU_FOLDER:%=%/door): test/gpu/door.c
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -static -o $@ $<

# ---- the kit ----
define kit_program
	@mkdir -p $(@D); echo "  NVCC  $@"
	$(Q)$(GPU_NVCC) $(GPU_ARCH) --cudart $(1) $(GPU_LINK) -o $@ $<
endef
$(KIT)/gpu/%-shared: test/gpu/%.cu test/gpu/expect.h
	$(call kit_program,shared)
$(KIT)/gpu/%-static: test/gpu/%.cu test/gpu/expect.h
	$(call kit_program,static)
$(KIT)/gpu/%-shared: test/programs/%.cu test/programs/spin.cuh
	$(call kit_program,shared)
$(KIT)/gpu/%-static: test/programs/%.cu test/programs/spin.cuh
	$(call kit_program,static)
$(KIT)/gpu/driver_api-shared: test/programs/driver_api.c
	$(gpu_so)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -isystem $(CUDA)/include -o $@ $< -ldl

kit-products:
	$(Q)mkdir -p $(KIT)/bin $(KIT)/lib/gprof $(KIT)/lib/cuda
	$(Q)$(MAKE) --no-print-directory B=$(B)/kit-build all
	$(Q)cp $(B)/kit-build/bin/* $(KIT)/bin/ && cp $(B)/kit-build/lib/gprof/* $(KIT)/lib/gprof/
	$(Q)cp -L $(CUDA)/lib64/libcudart.so.1[0-9] $(KIT)/lib/cuda/
	$(Q)cp -L $(firstword $(wildcard $(CUDA)/lib64/libcupti.so.1[0-9] $(CUDA)/extras/CUPTI/lib64/libcupti.so.1[0-9])) $(KIT)/lib/cuda/
	$(Q)git describe --always --dirty >$(KIT)/commit 2>/dev/null || echo unknown >$(KIT)/commit

gpu-kit: kit-products $(foreach r,shared static,$(GPU_ALL:%=$(KIT)/gpu/%-$(r))) $(GPU_OBJ:%=$(KIT)/gpu/%.so)
gpu-kit: $(KIT)/gpu/driver_api-shared $(KIT)/gpu/door
	@echo "  KIT   $(KIT): $$(du -sm $(KIT) | cut -f 1) MiB"

.PHONY: gpu-programs gpu-kit kit-products
