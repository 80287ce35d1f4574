/*
 * CUDA libraries whose calls are recorded on request (-t cublas, ...).  At process end, writes a health note that names the libraries that
 * are loaded but never created their NVTX domain, with the likely reason.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/core/module.h"
#include "inject/core/scratch.h"
#include "inject/core/seccomp.h"
#include "inject/ranges/names.h"
#include "trace/rules/libraries.h"

/* True if text contains "/NAME". */
static bool mentions(const char *text, const char *name)
{
	for (const char *p = text; (p = strstr(p, name)); p++)
		if (p > text && p[-1] == '/')
			return true;
	return false;
}

#define TEXT_BYTES 4096u

/*
 * Returns a mask of the libraries that are mapped.  Reads /proc/self/maps, not the loader's list: a thread that no longer exists may hold
 * the loader's lock.
 */
static uint32_t loaded(void)
{
	uint32_t found = 0;
	char *text = scratch_push(TEXT_BYTES);
	int fd = !text || !seccomp_allows(SECCOMP_FILE) ? -1 : open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text + kept, TEXT_BYTES - 1 - kept)) > 0) {
		size_t len = kept + (size_t)n;

		text[len] = '\0';
		for (uint32_t i = 0; i < N_LIBRARIES; i++)
			if (mentions(text, libraries[i].soname))
				found |= 1u << i;
		kept = len < 32 ? len : 32;     /* a name may continue in the next piece */
		memmove(text, text + len - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	scratch_pop(text);
	return found;
}

/* Writes e.g. "libcudnn (CUDNN_NVTX_LEVEL is 0)"; returns its length. */
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
	static uint32_t said;           /* epoch of the last note: stop() may run more than once */
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

/* For an exit that is not interposed: without CUPTI there is no exit handler. */
__attribute__((destructor)) static void unloaded(void)
{
	if (guest->arena)
		stop();
}

const struct module nvtx_libraries_module = { .stop = stop };
