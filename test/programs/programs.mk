# Programs without CUDA that end-to-end tests run: one .c each in test/programs/host.  NVTX headers come with the CUDA toolkit.
HOST_PROGRAMS := $(patsubst test/programs/host/%.c,$(B)/test/programs/%,$(wildcard test/programs/host/*.c))
NVTX_INCLUDE  ?= $(CUDA)/include

host-programs: $(if $(wildcard $(NVTX_INCLUDE)/nvtx3/nvToolsExt.h),$(HOST_PROGRAMS))
	@test -n "$^" || echo "  no NVTX headers in $(NVTX_INCLUDE): test/programs/host is not built"

$(HOST_PROGRAMS): $(B)/test/programs/%: test/programs/host/%.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -isystem $(NVTX_INCLUDE) -o $@ $< -ldl -lpthread

# A library with NVTX of its own, as CUDA's libraries are (its file name is what tells them), and another NVTX tool.
STANDIN := $(B)/test/programs/libcublas_standin.so $(B)/test/programs/libnvtx_other.so
host-programs: $(if $(wildcard $(NVTX_INCLUDE)/nvtx3/nvToolsExt.h),$(STANDIN))
$(STANDIN): $(B)/test/programs/lib%.so: test/programs/lib/%.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -fPIC -shared -isystem $(NVTX_INCLUDE) -o $@ $< -ldl

.PHONY: host-programs

-include test/programs/wire.mk
-include test/programs/run.mk
-include test/programs/steps.mk
-include test/programs/python.mk
-include test/programs/torch.mk
