# Parents and children for tests of gprof-run: things that a shell cannot observe or do.
RUN_PROGRAMS := $(patsubst test/programs/run/%.c,$(B)/test/programs/%,$(wildcard test/programs/run/*.c))

run-programs programs: $(RUN_PROGRAMS)

$(RUN_PROGRAMS): $(B)/test/programs/%: test/programs/run/%.c
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g -o $@ $<

.PHONY: run-programs
