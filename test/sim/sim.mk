# Builds the simulated CUDA stack, $(B)/sim/{libcuda.so.1,libcudart.so.13,libcupti.so.13}, and the programs that run on it or on a real
# GPU, $(B)/test/programs/*.  Needs NVIDIA's headers; programs in .cu also need nvcc.
CUDA      ?= /usr/local/cuda
NVCC      ?= $(firstword $(wildcard $(CUDA)/bin/nvcc) $(shell command -v nvcc))
SIM_HAVE  := $(wildcard $(CUDA)/include/cupti.h)
SIM_FLAGS  = -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote . -iquote $(B)/sim-obj -isystem $(CUDA)/include -MMD -MP -fPIC

SIM_CUDA   := calls engine submit memory unified module graph truth player cuda cuda_memory cuda_work
SIM_CUDART := cudart cudart_ptsz cudart_work
SIM_CUPTI  := cupti cupti_ids cupti_activity cupti_resources cupti_clock records buffers replay release faults
SIM_LIBS   := $(B)/sim/libcuda.so.1 $(B)/sim/libcudart.so.13 $(B)/sim/libcupti.so.13
SIM_LATER  := $(B)/sim/13.2/libcupti.so.13 $(B)/sim/13.3/libcupti.so.13        # with the functions that these releases add

CUDA_PROGRAMS := $(patsubst test/programs/%.cu,$(B)/test/programs/%,$(wildcard test/programs/*.cu))
DRIVER_ONLY   := $(addprefix $(B)/test/programs/,driver_api cuda_stacks module_names rough_cuda contexts call_chain stack_locks play every_kind)
CUDA_C        := $(DRIVER_ONLY) $(B)/test/programs/libnvtx_shim.so
CUDA_C        += $(B)/test/programs/play_profiled $(B)/test/programs/kineto_client $(B)/test/programs/libkineto_client.so

ifeq ($(SIM_HAVE),)
sim programs sim-check:
	@echo "$@: skipped, no $(CUDA)/include/cupti.h (CUDA=DIR names another toolkit)"
else
sim: $(SIM_LIBS) $(SIM_LATER) $(B)/sim/selfcheck.so $(B)/test/programs/libnvtx_shim.so
programs: $(CUDA_C) $(if $(NVCC),$(CUDA_PROGRAMS))
	$(if $(NVCC),,@echo "programs: no nvcc, so none of test/programs/*.cu")
endif

sim_obj = $(patsubst %,$(B)/sim-obj/%.o,$(1))
$(B)/sim/libcuda.so.1: $(call sim_obj,$(SIM_CUDA)) test/sim/cuda.map
$(B)/sim/libcudart.so.13: $(call sim_obj,$(SIM_CUDART)) test/sim/cudart.map
$(B)/sim/libcupti.so.13: $(call sim_obj,$(SIM_CUPTI)) test/sim/cupti.map
$(SIM_LIBS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $(filter %.o,$^) -Wl,--version-script,$(filter %.map,$^) \
		-Wl,-soname,$(@F) -Wl,--no-undefined -Wl,-Bsymbolic -Wl,-z,nodelete -ldl -lpthread
	$(Q)ln -sfn . $(@D)/lib64       # CUDA_HOME=$(B)/sim: libraries are in lib64

$(B)/sim/13.3/libcupti.so.13: SIM_FLAGS += -DSINCE_13_3
$(SIM_LATER): test/sim/family.c $(call sim_obj,$(SIM_CUPTI)) test/sim/cupti.map
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SIM_FLAGS) -MF $(B)/sim-obj/family.d $(CFLAGS) -shared -o $@ $(filter %.c %.o,$^) -Wl,--version-script,$(filter %.map,$^) \
		-Wl,-soname,$(@F) -Wl,--no-undefined -Wl,-Bsymbolic -Wl,-z,nodelete -ldl -lpthread
	$(Q)ln -sf ../libcuda.so.1 ../libcudart.so.13 $(@D)     # CUPTI is searched in the folder of these libraries

$(B)/sim-obj/%.o: test/sim/%.c | $(B)/sim-obj/cbid_runtime.h
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -c -o $@ $<

$(B)/sim-obj/cbid_runtime.h: test/sim/gen.sh
	$(Q)test/sim/gen.sh $(CUDA)/include $(@D)

# A minimal CUPTI client: selfcheck.sh compares what it gets with the truth file.
$(B)/sim/selfcheck.so: test/sim/selfcheck.c
	@mkdir -p $(@D) $(B)/sim-obj; echo "  LINK  $@"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/selfcheck.d -shared -o $@ $< -ldl -lpthread

ifneq ($(SIM_HAVE),)
sim-check: sim programs
	$(Q)test/sim/selfcheck.sh $(B)
endif

$(B)/test/programs/%: test/programs/%.cu test/programs/spin.cuh
	@mkdir -p $(@D); echo "  NVCC  $<"
	$(Q)$(NVCC) -O2 -cudart shared -I$(CUDA)/include -o $@ $<

$(B)/test/programs/stack_locks: SIM_FLAGS += -rdynamic

$(DRIVER_ONLY): $(B)/test/programs/%: test/programs/%.c
	@mkdir -p $(@D) $(B)/sim-obj; echo "  CC    $<"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/$*.d -o $@ $< -ldl -lpthread

# Linked with libcupti, as libkineto is.  On a machine with a GPU the loader finds the toolkit's libcupti.
$(B)/test/programs/kineto_client: test/programs/kineto_client.c $(B)/sim/libcupti.so.13
	@mkdir -p $(@D) $(B)/sim-obj; echo "  CC    $<"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/kineto_client.d -o $@ $< $(B)/sim/libcupti.so.13 -ldl -lpthread

# Two sources: gcc -MF lists the dependencies of the last source only, so headers are listed here.
$(B)/test/programs/play_profiled: test/programs/play.c test/programs/play_profiler.c test/sim/player.h test/sim/engine.h $(B)/sim/libcupti.so.13
	@mkdir -p $(@D) $(B)/sim-obj; echo "  CC    $<"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/play_profiled.d -o $@ $(filter %.c,$^) $(B)/sim/libcupti.so.13 -ldl -lpthread

# The same client as a library, which a program loads at run time, as Python loads libtorch.
$(B)/test/programs/libkineto_client.so: test/programs/kineto_client.c $(B)/sim/libcupti.so.13
	@mkdir -p $(@D) $(B)/sim-obj; echo "  LINK  $@"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/libkineto_client.d -shared -o $@ $< $(B)/sim/libcupti.so.13 -ldl -lpthread

$(B)/test/programs/libnvtx_shim.so: test/programs/nvtx_shim.c
	@mkdir -p $(@D) $(B)/sim-obj; echo "  LINK  $@"
	$(Q)$(CC) $(SIM_FLAGS) $(CFLAGS) -MF $(B)/sim-obj/nvtx_shim.d -shared -o $@ $< -ldl

.PHONY: sim programs sim-check
