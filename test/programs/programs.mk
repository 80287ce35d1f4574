# Programs without CUDA for end-to-end tests: one .c each in test/programs/host.  Needs the NVTX headers of the CUDA toolkit.
HOST_PROGRAMS := $(patsubst test/programs/host/%.c,$(B)/test/programs/%,$(wildcard test/programs/host/*.c))
NVTX_INCLUDE  ?= $(CUDA)/include

host-programs: $(if $(wildcard $(NVTX_INCLUDE)/nvtx3/nvToolsExt.h),$(HOST_PROGRAMS))
	@test -n "$^" || echo "  no NVTX headers in $(NVTX_INCLUDE): test/programs/host is not built"

$(HOST_PROGRAMS): $(B)/test/programs/%: test/programs/host/%.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -iquote . -isystem $(NVTX_INCLUDE) -rdynamic -o $@ $< -ldl -lpthread

# Libraries that call NVTX (their file names imitate libraries of CUDA), and another NVTX tool.
STANDIN := $(B)/test/programs/libcublas_standin.so $(B)/test/programs/libnvtx_other.so $(B)/test/programs/libnvtx_module.so
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
