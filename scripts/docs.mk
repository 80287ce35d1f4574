# Pages with parts that are made from tables in the source.  A unit test says when they are out of date.
$(B)/tools/gen-format: $(B)/obj/scripts/gen-format.o $(B)/obj/trace/records.o
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS)

docs: $(B)/tools/gen-format
	$(Q)$(B)/tools/gen-format docs/trace-format.md >$(B)/trace-format.md && cat $(B)/trace-format.md >docs/trace-format.md

.PHONY: docs
