# Stand-ins for PyTorch: build/test/programs/torch/KIND/libtorch_cpu.so, beside each a library that needs it, and a program.
TORCH_KINDS := new old more_scopes starts_twice no_name other_name version_3
TORCH_DIR   := $(B)/test/programs/torch
TORCH_CC     = $(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote . -O1 -g
TORCH_USERS := $(TORCH_KINDS:%=$(TORCH_DIR)/%/libtorch_user.so)

host-programs: $(TORCH_USERS) $(B)/test/programs/torch_standin $(B)/test/programs/torch_linked

$(TORCH_DIR)/%/libtorch_cpu.so: test/programs/libtorch/libtorch_cpu.c test/programs/libtorch/standin.h
	@mkdir -p $(@D); echo "  CC    $< ($*)"
	$(Q)$(TORCH_CC) -D$(shell echo $* | tr a-z A-Z) -fPIC -shared -Wl,-soname,libtorch_cpu.so -o $@ $<

$(TORCH_DIR)/%/libtorch_user.so: test/programs/libtorch/libtorch_user.c $(TORCH_DIR)/%/libtorch_cpu.so
	@mkdir -p $(@D); echo "  CC    $< ($*)"
	$(Q)$(TORCH_CC) -fPIC -shared -o $@ $< $(TORCH_DIR)/$*/libtorch_cpu.so '-Wl,-rpath,$$ORIGIN'

$(B)/test/programs/torch_standin: test/programs/libtorch/torch_standin.c test/programs/libtorch/standin.h
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(TORCH_CC) -o $@ $< -ldl -lpthread

$(B)/test/programs/torch_linked: test/programs/libtorch/torch_standin.c $(TORCH_DIR)/new/libtorch_cpu.so
	@mkdir -p $(@D); echo "  CC    $< (linked)"
	$(Q)$(TORCH_CC) -o $@ $< -Wl,--no-as-needed $(TORCH_DIR)/new/libtorch_cpu.so '-Wl,-rpath,$$ORIGIN/torch/new' -ldl -lpthread

# The allocator library, linked in two ways: bound at load time, with a read-only table (now), and bound at the first call (lazy).
TORCH_MEMORY := $(TORCH_DIR)/now/libc10_cuda.so $(TORCH_DIR)/lazy/libc10_cuda.so
host-programs: $(TORCH_MEMORY)
$(TORCH_DIR)/%/libc10.so: test/programs/libtorch/libc10.c
	@mkdir -p $(@D); echo "  CC    $< ($*)"
	$(Q)$(TORCH_CC) -fPIC -shared -Wl,-soname,libc10.so -o $@ $<
$(TORCH_DIR)/%/libc10_cuda.so: test/programs/libtorch/libc10_cuda.c $(TORCH_DIR)/%/libc10.so
	@mkdir -p $(@D); echo "  CC    $< ($*)"
	$(Q)$(TORCH_CC) -fplt -fPIC -shared -Wl,-z,$* -Wl,-z,relro -o $@ $< $(TORCH_DIR)/$*/libc10.so '-Wl,-rpath,$$ORIGIN'

.SECONDARY: $(TORCH_DIR)/now/libc10.so $(TORCH_DIR)/lazy/libc10.so
.SECONDARY: $(TORCH_KINDS:%=$(TORCH_DIR)/%/libtorch_cpu.so)
