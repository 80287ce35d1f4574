# One built copy for every glibc from 2.28 on, and a tarball of it; docs/containers.md.  ARCH=aarch64 builds for that machine.
release:
	$(Q)scripts/release.sh $(or $(ARCH),x86_64)

dist:
	$(Q)scripts/dist.sh

# The unit tests of the floors that programs load and files come from, under qemu-user.
check-aarch64:
	$(Q)scripts/release-check.sh aarch64

.PHONY: release dist check-aarch64
