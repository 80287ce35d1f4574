# `make` builds, `make demo` shows, `make check` proves, `make bench` measures, `make install PREFIX=DIR` installs, `make dist` packs.
# V=1 shows the commands.  SAN=address,undefined makes a sanitized build (collector, programs, unit tests).  CC=clang works too.
# The build folder mirrors the installed tree (bin/, lib/gprof/), so everything also runs from there.
CFLAGS ?= -O2 -g
B      ?= build
PREFIX ?= /usr/local
WARN   := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla
# No errno of sqrt(): it is an instruction then, and the programs need no libm, which would be loaded whenever one starts.
BASE   := -std=gnu11 -D_GNU_SOURCE $(WARN) -fno-math-errno -iquote . -MMD -MP
SANF   := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
Q      := $(if $(V),,@)
CUDA   ?= /usr/local/cuda
export B CC

obj       = $(patsubst %.c,$(B)/obj/%.o,$(wildcard $(1)))
TRACE    := $(call obj,trace/*.c)
COLLECT  := $(call obj,collector/*.c)
MAINS    := $(B)/obj/cli/run_main.o $(B)/obj/cli/trace_main.o $(B)/obj/cli/ctl_main.o
CLI      := $(filter-out $(MAINS),$(call obj,cli/*.c cli/*/*.c))
# The injected object speaks only the wire: no zstd below it.
INJECT   := $(patsubst %.c,$(B)/pic/%.o,$(wildcard inject/*.c) \
	    $(addprefix trace/,records.c config.c payload.c libraries.c schedule.c glob.c torchsteps.c \
	    $(notdir $(wildcard trace/period*.c))))

PROGRAMS := $(B)/bin/gprof-run $(B)/bin/gprof-trace $(B)/bin/gprof-ctl $(B)/lib/gprof/gprof-collector
OBJECT   := $(B)/lib/gprof/libgprof_inject.so
UNITS    := $(patsubst test/unit/%/,$(B)/test/unit-%,$(dir $(wildcard test/unit/*/test_main.c)))

all: $(PROGRAMS) $(OBJECT)

$(B)/bin/gprof-run: $(B)/obj/cli/run_main.o $(CLI) $(TRACE)
$(B)/bin/gprof-trace: $(B)/obj/cli/trace_main.o $(CLI) $(TRACE)
$(B)/bin/gprof-ctl: $(B)/obj/cli/ctl_main.o $(CLI) $(TRACE)
$(B)/lib/gprof/gprof-collector: $(COLLECT) $(TRACE)
$(PROGRAMS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(START) $(LDFLAGS) -Wl,--as-needed $(LIBZSTD) -lpthread -ldl -lm

# A report about a small trace takes less time than its process took to start: every library costs 0.1 ms, so zstd is inside where it is
# had as an archive, and the tables of gprof-trace (5000 pointers, 16 pages) are ready in the file.
LIBZSTD ?= $(or $(wildcard $(shell $(CC) -print-file-name=libzstd.a 2>/dev/null)),-lzstd)
$(B)/bin/gprof-trace: START ?= $(if $(SAN),,-no-pie -Wl,-z,noseparate-code)

# Never sanitized: it lives in other people's programs.  --no-undefined: it needs glibc's own libraries alone.
$(OBJECT): $(INJECT)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $^ -Wl,--no-undefined -Wl,-Bsymbolic -Wl,-z,nodelete \
		-Wl,-soname,libgprof_inject.so -ldl -lpthread

$(B)/obj/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(BASE) $(SANF) $(CFLAGS) -c -o $@ $<

$(B)/pic/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $< (injected)"
	$(Q)$(CC) $(BASE) $(CFLAGS) -fPIC -fvisibility=hidden -fno-exceptions -U_FORTIFY_SOURCE -ftls-model=initial-exec -c -o $@ $<

# ---- tests: one runner a floor, test/unit/FLOOR/*.c ----
unit: $(UNITS)
unit_obj = $(call obj,test/unit/$(1)/*.c test/unit/*.c)
$(B)/test/unit-trace: $(call unit_obj,trace) $(TRACE)
$(B)/test/unit-cli: $(call unit_obj,cli) $(B)/obj/test/unit/import/random_json.o $(CLI) $(TRACE)
# Its source of bytes is the test's own.
$(B)/test/unit-import: $(call unit_obj,import) $(filter-out %/import/source.o,$(CLI)) $(TRACE)
$(B)/test/unit-collector: $(call unit_obj,collector) $(filter-out %/main.o,$(COLLECT)) $(TRACE)
$(B)/test/unit-inject: $(call unit_obj,inject) $(filter-out %/entry.o %/lifecycle.o %/torch_door.o,$(INJECT))
$(UNITS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread -ldl -lm

-include test/sim/sim.mk test/programs/programs.mk test/gpu/gpu.mk test/bench/bench.mk test/fuzz/fuzz.mk scripts/docs.mk scripts/release.mk

setup:
	$(Q)scripts/setup.sh

check:
	$(Q)scripts/check.sh

demo:
	$(Q)scripts/demo.sh

install: all
	$(Q)scripts/install.sh $(B) $(DESTDIR)$(PREFIX)

clean:
	rm -rf $(B)

.PHONY: all unit setup check demo bench install clean
-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
