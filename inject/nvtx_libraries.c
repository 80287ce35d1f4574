/*
 * CUDA libraries whose calls were asked for (-t cublas, ...): when the process ends, those that are loaded but never
 * created their NVTX domain are named in health, with what is known of why.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/module.h"
#include "inject/names.h"
#include "trace/libraries.h"

/* Is there "/NAME" in the text? */
static bool mentions(const char *text, const char *name)
{
	for (const char *p = text; (p = strstr(p, name)); p++)
		if (p > text && p[-1] == '/')
			return true;
	return false;
}

/*
 * Bits of libraries that are mapped.  /proc rather than the loader's list: its lock may be held by a thread that is
 * gone.
 */
static uint32_t loaded(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	uint32_t found = 0;
	char text[4096];
	size_t kept = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
		size_t len = kept + (size_t)n;

		text[len] = '\0';
		for (uint32_t i = 0; i < N_LIBRARIES; i++)
			if (mentions(text, libraries[i].soname))
				found |= 1u << i;
		kept = len < 32 ? len : 32;     /* a name may go on in the next piece */
		memmove(text, text + len - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* "libcudnn (CUDNN_NVTX_LEVEL is 0)" */
static size_t why_silent(char *out, size_t size, const struct library *l)
{
	size_t n = strcspn(l->variables, "=");
	char name[64];
	const char *value;

	snprintf(name, sizeof name, "%.*s", (int)n, l->variables);
	value = getenv(name);
	if (!value)
		return (size_t)snprintf(out, size, "%s (%s is not set)", l->soname, name);
	if (atoi(value) < atoi(l->variables + n + 1))
		return (size_t)snprintf(out, size, "%s (%s is %.8s)", l->soname, name, value);
	return (size_t)snprintf(out, size, "%s (not called, or has no NVTX)", l->soname);
}

static void stop(void)
{
	static uint32_t said;           /* epoch: the end is passed more than once */
	uint32_t wanted = (uint32_t)guest->config.trace_libraries & ~names_libraries_seen(), silent;
	char detail[100] = "";
	size_t n = 0;

	if (!wanted || __atomic_exchange_n(&said, guest->epoch, __ATOMIC_RELAXED) == guest->epoch)
		return;
	silent = loaded() & wanted;
	for (uint32_t i = 0; i < N_LIBRARIES && n < sizeof detail; i++) {
		if (!(silent >> i & 1))
			continue;
		n += (size_t)snprintf(detail + n, sizeof detail - n, n ? ", " : "");
		if (n < sizeof detail)
			n += why_silent(detail + n, sizeof detail - n, &libraries[i]);
	}
	if (n)
		health_note(HEALTH_library_silent, "%s", detail);
}

/* An exit that nobody interposes: without CUPTI we have no handler for it. */
__attribute__((destructor)) static void unloaded(void)
{
	if (guest->arena)
		stop();
}

const struct module nvtx_libraries_module = { .stop = stop };
