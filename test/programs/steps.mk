# Programs that call the functions for steps, for comparison with other implementations.
STEP_PROGRAMS := $(patsubst test/programs/steps/%.c,$(B)/test/programs/%,$(wildcard test/programs/steps/*.c))

step-programs programs: $(STEP_PROGRAMS)

$(STEP_PROGRAMS): $(B)/test/programs/%: $(B)/obj/test/programs/steps/%.o $(TRACE)
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS) -lzstd -lpthread

.PHONY: step-programs
