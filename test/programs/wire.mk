# Both ends of the wire protocol, without the injected object and gprof-run, for tests of the collector; and readers of traces.
WIRE_PROGRAMS := $(patsubst test/programs/wire/%.c,$(B)/test/programs/%,$(wildcard test/programs/wire/*.c))

wire-programs programs: $(WIRE_PROGRAMS)

$(WIRE_PROGRAMS): $(B)/test/programs/%: $(B)/obj/test/programs/wire/%.o $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

.PHONY: wire-programs
