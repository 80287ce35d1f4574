# What call stacks cost.
BENCHES += $(B)/bench/stacks

$(B)/bench/stacks: $(B)/obj/test/bench/stacks_bench.o $(B)/obj/test/unit/inject/fake.o \
		$(B)/obj/test/unit/inject/cupti_fake.o $(filter-out %/entry.o %/lifecycle.o %/limits.o %/torch_door.o,$(INJECT))
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $^ -ldl -lpthread
