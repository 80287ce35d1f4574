# Parts of ours that Python scripts call through ctypes, to hold them against Python itself: test/e2e/python-*.sh.
PYLINE := $(B)/test/programs/libpyline.so
host-programs: $(PYLINE)

$(PYLINE): trace/pyline.c trace/pyline.h
	@mkdir -p $(@D); echo "  CC    $< (for ctypes)"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote . -O2 -g -fPIC -shared -o $@ $<
