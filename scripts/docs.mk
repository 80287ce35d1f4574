# Documents with parts that are generated from tables in the source.  A unit test fails if they are out of date.
$(B)/tools/gen-format: $(B)/obj/scripts/gen-format.o $(B)/obj/trace/records.o
	@mkdir -p $(@D); echo "  LINK  $@"
	$(Q)$(CC) $(SANF) $(CFLAGS) -o $@ $^ $(LDFLAGS)

docs: $(B)/tools/gen-format all
	$(Q)$(B)/tools/gen-format docs/reference/trace-format.md >$(B)/trace-format.md && cat $(B)/trace-format.md >docs/reference/trace-format.md
	$(Q)scripts/gen-options.sh $(B) >$(B)/options.md && cat $(B)/options.md >docs/reference/options.md

.PHONY: docs
