# A build for every glibc from 2.28 on, and a tarball of it; docs/howto/containers.md.  ARCH=aarch64 builds for aarch64.
release:
	$(Q)scripts/release.sh $(or $(ARCH),x86_64)

dist:
	$(Q)scripts/dist.sh

# Runs the unit tests of inject/ and trace/ under qemu-user.
check-aarch64:
	$(Q)scripts/release-check.sh aarch64

.PHONY: release dist check-aarch64
