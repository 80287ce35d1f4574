# Both ends of the wire without the injected object and without gprof-run, for tests of the collector; and a reader that counts.
WIRE_PROGRAMS := $(patsubst test/programs/wire/%.c,$(B)/test/programs/%,$(wildcard test/programs/wire/*.c))

wire-programs programs: $(WIRE_PROGRAMS)

$(WIRE_PROGRAMS): $(B)/test/programs/%: $(B)/obj/test/programs/wire/%.o $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

.PHONY: wire-programs
