# `make` builds, `make demo` profiles an example, `make check` runs all tests, `make quick` the most important ones, `make bench` runs the
# benchmarks, `make install PREFIX=DIR` installs, `make dist` makes a tarball.
# V=1 prints the commands.  SAN=address,undefined builds with sanitizers (collector, programs, unit tests).  CC=clang also works.
# The build folder has the layout of an installation (bin/, lib/gprof/), so programs run from there.
CFLAGS ?= -O2 -g
B      ?= build
PREFIX ?= /usr/local
WARN   := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla
# -fno-math-errno: sqrt() becomes an instruction, so programs do not need libm, which would slow down their start.
BASE   := -std=gnu11 -D_GNU_SOURCE $(WARN) -fno-math-errno -iquote . -MMD -MP
# Hardening, because programs read untrusted files.  FORTIFY_SOURCE needs optimisation and no ASan; level 3 if compiler and libc have it.
FORTIFY := $(shell $(CC) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -include features.h -x c -E -dM /dev/null 2>/dev/null | \
	   grep -q '__USE_FORTIFY_LEVEL 3' && echo 3 || echo 2)
HARD_C := -fPIE -fstack-protector-strong $(if $(SAN),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY)))
HARD_L := -pie -Wl,-z,relro,-z,now
SANF   := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
Q      := $(if $(V),,@)
CUDA   ?= /usr/local/cuda
export B CC

obj       = $(patsubst %.c,$(B)/obj/%.o,$(wildcard $(1)))
TRACE    := $(call obj,trace/*.c trace/*/*.c)
COLLECT  := $(call obj,collector/*.c)
MAINS    := $(B)/obj/cli/run/run_main.o $(B)/obj/cli/cmd/trace_main.o $(B)/obj/cli/ctl/ctl_main.o
CLI      := $(filter-out $(MAINS),$(call obj,cli/*/*.c cli/*/*/*.c))
# Without the files of trace/ that need zstd: the injected object uses only the wire protocol.
INJECT   := $(patsubst %.c,$(B)/pic/%.o,$(wildcard inject/*/*.c) trace/image.c trace/records.c trace/config.c trace/payload.c \
	    $(filter-out %/secrets.c %/stepname.c,$(wildcard trace/rules/*.c)))

PROGRAMS := $(B)/bin/gprof-run $(B)/bin/gprof-trace $(B)/bin/gprof-ctl $(B)/lib/gprof/gprof-collector
OBJECT   := $(B)/lib/gprof/libgprof_inject.so
UNITS    := $(patsubst test/unit/%/,$(B)/test/unit-%,$(dir $(wildcard test/unit/*/test_main.c)))

all: $(PROGRAMS) $(OBJECT)

$(B)/bin/gprof-run: $(B)/obj/cli/run/run_main.o $(CLI) $(TRACE)
$(B)/bin/gprof-trace: $(B)/obj/cli/cmd/trace_main.o $(CLI) $(TRACE)
$(B)/bin/gprof-ctl: $(B)/obj/cli/ctl/ctl_main.o $(CLI) $(TRACE)
$(B)/lib/gprof/gprof-collector: $(COLLECT) $(TRACE)
$(PROGRAMS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(HARD_L) $(LDFLAGS) -Wl,--as-needed $(LIBZSTD) $(LIBZ) -lpthread -ldl -lm

# zstd and zlib are linked statically if libzstd.a and libz.a exist: each shared library adds 0.1 ms to the start of a program, which for small traces takes
# longer than the report.
LIBZSTD ?= $(or $(wildcard $(shell $(CC) -print-file-name=libzstd.a 2>/dev/null)),-lzstd)
LIBZ    ?= $(or $(wildcard $(shell $(CC) -print-file-name=libz.a 2>/dev/null)),-lz)

# Never sanitized, because it is loaded into arbitrary programs.  --no-undefined: it must need only glibc's libraries.
$(OBJECT): $(INJECT) | $(INJECT:.o=.su)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $^ -Wl,--no-undefined -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,-z,now \
		-Wl,-soname,libgprof_inject.so -ldl -lpthread

$(B)/obj/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(BASE) $(HARD_C) $(SANF) $(CFLAGS) -c -o $@ $<

# .su files: stack frame of each function, read by scripts/check-guest.sh.
$(B)/pic/%.o $(B)/pic/%.su: %.c
	@mkdir -p $(@D); echo "  CC    $< (injected)"
	$(Q)$(CC) $(BASE) $(CFLAGS) -fPIC -fvisibility=hidden -fno-exceptions -U_FORTIFY_SOURCE -ftls-model=initial-exec -fstack-usage \
		-c -o $(B)/pic/$*.o $<

# ---- unit tests: one runner per folder of test/unit ----
unit: $(UNITS)
unit_obj = $(call obj,test/unit/$(1)/*.c test/unit/*.c)
$(B)/test/unit-trace: $(call unit_obj,trace) $(TRACE)
$(B)/test/unit-cli: $(call unit_obj,cli) $(B)/obj/test/unit/import/random_json.o $(CLI) $(TRACE)
# test/unit/import/source.c replaces cli/import/bytes/source.c.
$(B)/test/unit-import: $(call unit_obj,import) $(filter-out %/bytes/source.o,$(CLI)) $(TRACE)
$(B)/test/unit-collector: $(call unit_obj,collector) $(filter-out %/main.o,$(COLLECT)) $(TRACE)
$(B)/test/unit-inject: $(call unit_obj,inject) $(filter-out %/entry.o %/lifecycle.o %/limits.o %/system_hooks.o %/torch_door.o,$(INJECT))
$(UNITS):
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lz -lpthread -ldl -lm

-include test/sim/sim.mk test/programs/programs.mk test/gpu/gpu.mk test/bench/bench.mk test/fuzz/fuzz.mk scripts/docs.mk scripts/release.mk

setup:
	$(Q)scripts/setup.sh

check:
	$(Q)scripts/check.sh

# The tests that most changes break first: test/e2e/quick.txt, unit tests and rules.
quick:
	$(Q)scripts/check.sh quick

demo:
	$(Q)scripts/demo.sh

install: all
	$(Q)scripts/install.sh $(B) $(DESTDIR)$(PREFIX)

clean:
	rm -rf $(B)

.PHONY: all unit setup check quick demo bench install clean
-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
