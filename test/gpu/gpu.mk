# What scripts/gpu-check.sh runs.  `make gpu-programs` builds it for this machine into $(B)/gpu (the simulated GPU needs no more), `make
# gpu-kit` all that is carried to a machine with a GPU, which then needs neither compiler nor toolkit, into $(B)/kit: gprof-run with zstd
# inside, the programs with shared and with static runtime, and the runtime and CUPTI of this toolkit in case there are none.
GPU_OWN   := $(filter-out nested,$(patsubst test/gpu/%.cu,%,$(wildcard test/gpu/*.cu)))
GPU_ALL   := $(GPU_OWN) $(patsubst test/programs/%.cu,%,$(wildcard test/programs/*.cu))
GPU_OBJ   := client facts
GPU_CUPTI := 12.4.127 12.6.80 12.8.90 12.9.79 13.0.85 13.2.75 13.3.75 13.4.92
KIT       := $(B)/kit
# Machine code for A100 and what is like it, and for H100 and H200, so that no program is compiled at its start; PTX for the others.
GPU_ARCH  ?= -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
GPU_LINK   = -Xlinker --enable-new-dtags -Xlinker -rpath,'$$ORIGIN/../lib/cuda'
GPU_NVCC   = $(NVCC) -O2 -std=c++17 -I$(CUDA)/include -Xcompiler -static-libstdc++,-static-libgcc
GPU_FOLDER = $(B)/gpu $(KIT)/gpu

gpu-programs: $(if $(NVCC),$(GPU_OWN:%=$(B)/gpu/%-shared) $(GPU_OBJ:%=$(B)/gpu/%.so) $(B)/gpu/without_preload)
	$(if $(NVCC),,@echo "gpu-programs: no nvcc, so none of test/gpu")

$(B)/gpu/%-shared: test/gpu/%.cu test/gpu/expect.h test/gpu/client.h
	@mkdir -p $(@D); echo "  NVCC  $@"
	$(Q)$(GPU_NVCC) --cudart shared -o $@ $< -ldl

gpu_so = @mkdir -p $(@D); echo "  CC    $@"
$(GPU_FOLDER:%=%/client.so): test/gpu/client.c test/gpu/client.h inject/cupti/cupti_calls.def
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -g -fPIC -shared -isystem $(CUDA)/include -o $@ $< -ldl
$(GPU_FOLDER:%=%/facts.so): test/gpu/facts.c test/gpu/facts_records.c test/gpu/facts.h test/gpu/client.h
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -g -fPIC -shared -isystem $(CUDA)/include -o $@ $(filter %.c,$^) -ldl -lpthread

# Profiles itself as libkineto does, with the libcupti of the toolkit.
$(KIT)/gpu/kineto_client: test/programs/kineto_client.c
	$(gpu_so)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -iquote . -isystem $(CUDA)/include -o $@ $< -L$(CUDA)/lib64 -L$(CUDA)/extras/CUPTI/lib64 -lcupti \
		-Wl,-rpath-link,$(CUDA)/lib64 -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib/cuda' -ldl -lpthread

# Kernels that launch kernels need device code that is linked, and the device runtime; on the simulated GPU there are none.
$(KIT)/gpu/nested-static: test/gpu/nested.cu test/gpu/expect.h
	@mkdir -p $(@D); echo "  NVCC  $@"
	$(Q)$(GPU_NVCC) $(GPU_ARCH) -rdc=true --cudart static $(GPU_LINK) -o $@ $< -lcudadevrt -ldl

# libcupti of other releases (test/cupti), packed; those that were fetched.
kit-cupti:
	$(Q)mkdir -p $(KIT)/cupti
	$(Q)for release in $(GPU_CUPTI); do \
		for library in $(B)/cupti-wheels/$$release/nvidia/*/lib/libcupti.so.*; do \
			[ ! -e "$$library" ] || xz -9c "$$library" >$(KIT)/cupti/$$release.xz; \
		done; \
	done

$(GPU_FOLDER:%=%/without_preload): test/gpu/without_preload.c
	$(gpu_so)
	$(Q)$(CC) $(filter-out -MMD -MP,$(BASE)) -O2 -static -o $@ $<

# ---- the kit ----
define kit_program
	@mkdir -p $(@D); echo "  NVCC  $@"
	$(Q)$(GPU_NVCC) $(GPU_ARCH) --cudart $(1) $(GPU_LINK) -o $@ $< -ldl
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
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -iquote . -isystem $(CUDA)/include -o $@ $< -ldl

kit-products:
	$(Q)mkdir -p $(KIT)/bin $(KIT)/lib/gprof $(KIT)/lib/cuda
	$(Q)$(MAKE) --no-print-directory B=$(B)/kit-build all
	$(Q)cp $(B)/kit-build/bin/* $(KIT)/bin/ && cp $(B)/kit-build/lib/gprof/* $(KIT)/lib/gprof/
	$(Q)cp -L $(CUDA)/lib64/libcudart.so.1[0-9] $(KIT)/lib/cuda/
	$(Q)cp -L $(firstword $(wildcard $(CUDA)/lib64/libcupti.so.1[0-9] $(CUDA)/extras/CUPTI/lib64/libcupti.so.1[0-9])) $(KIT)/lib/cuda/
	$(Q)git describe --always --dirty >$(KIT)/commit 2>/dev/null || echo unknown >$(KIT)/commit

gpu-kit: kit-products $(foreach r,shared static,$(GPU_ALL:%=$(KIT)/gpu/%-$(r))) $(GPU_OBJ:%=$(KIT)/gpu/%.so)
gpu-kit: $(KIT)/gpu/driver_api-shared $(KIT)/gpu/without_preload $(KIT)/gpu/kineto_client $(KIT)/gpu/nested-static kit-cupti
	$(Q)strip -g $(KIT)/bin/* $(KIT)/lib/gprof/* $(KIT)/gpu/*
	@echo "  KIT   $(KIT): $$(du -sm $(KIT) | cut -f 1) MiB"

.PHONY: gpu-programs gpu-kit kit-products kit-cupti
