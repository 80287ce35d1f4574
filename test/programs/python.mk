# Parts of gprof-run that Python scripts call through ctypes, to compare them with Python itself: test/e2e/python-*.sh.
PYLINE := $(B)/test/programs/libpyline.so
host-programs: $(PYLINE)

$(PYLINE): trace/pyline.c trace/pyline.h
	@mkdir -p $(@D); echo "  CC    $< (for ctypes)"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -iquote . -O2 -g -fPIC -shared -o $@ $<

# The injected object's code without its entry points, with the arena of the unit tests.
PYWALK := $(B)/test/programs/libpywalk.so
host-programs: $(PYWALK)

$(PYWALK): $(filter-out %/entry.o %/lifecycle.o %/limits.o %/torch_door.o,$(INJECT)) $(B)/pic/trace/pyline.o $(B)/pic/test/unit/inject/fake.o \
	   $(B)/pic/test/programs/python/pywalk.o
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $^ -Wl,--no-undefined -Wl,-Bsymbolic -ldl -lpthread

PESTER := $(B)/test/programs/libpester.so
host-programs: $(PESTER)

$(PESTER): test/programs/python/pester.c
	@mkdir -p $(@D); echo "  CC    $< (for ctypes)"
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -fPIC -fvisibility=hidden -shared -o $@ $< -lpthread
