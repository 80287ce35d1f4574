#include "inject/torch/torch_memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/core/seccomp.h"
#include "inject/core/stream.h"

#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

/* c10::Device, in one register. */
struct torch_device {
	int8_t type, index;
};

static struct {
	bool done;                      /* replaced, or given up */
	void (*real)(void *address, int64_t bytes, size_t allocated, size_t reserved, struct torch_device device);
} hook;

static void write_row(struct stream *s, const void *address, int64_t bytes, size_t allocated, size_t reserved, struct torch_device device)
{
	struct alloc_row *row = capture_nvtx() ? stream_reserve(s, ROW_alloc, sizeof *row) : NULL;

	if (!row)
		return;
	*row = (struct alloc_row){
		.start = clock_now(),
		.bytes = bytes,
		.address = (uintptr_t)address,
		.allocated = allocated,
		.reserved = reserved,
		.range = stream_range(s),
		.thread = s->thread,
		.device_type = (uint32_t)device.type,
		.device = device.index,
		.flags = 1,
	};
	stream_publish(s, row);
}

/* Replaces PyTorch's function; called with the allocator's lock held. */
static void report(void *address, int64_t bytes, size_t allocated, size_t reserved, struct torch_device device)
{
	struct stream *s = stream_enter();

	if (s) {
		write_row(s, address, bytes, allocated, reserved, device);
		stream_leave(s);
	}
	hook.real(address, bytes, allocated, reserved, device);
}

/* ---- the function's entry in libc10_cuda's procedure linkage table ---- */

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

struct reporter_tables {
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Rela) *calls;
	size_t n_calls;
};

static uintptr_t at(const struct dl_phdr_info *o, uintptr_t p)
{
	return p < o->dlpi_addr ? p + o->dlpi_addr : p;         /* glibc has added the base if the section is writable */
}

static struct reporter_tables tables_of(const struct dl_phdr_info *o)
{
	struct reporter_tables t = { 0 };

	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const ElfW(Dyn) *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);

		for (; o->dlpi_phdr[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				t.symbols = (const ElfW(Sym) *)at(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_STRTAB)
				t.strings = (const char *)at(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_JMPREL)
				t.calls = (const ElfW(Rela) *)at(o, d->d_un.d_ptr);
			else if (d->d_tag == DT_PLTRELSZ)
				t.n_calls = d->d_un.d_val / sizeof *t.calls;
		}
	}
	return t;
}

/* Returns the address of the table entry for that function; NULL: the object has none. */
static void **place_of(const struct dl_phdr_info *o)
{
	struct reporter_tables t = tables_of(o);

	for (size_t i = 0; t.symbols && t.strings && t.calls && i < t.n_calls; i++)
		if (strcmp(t.strings + t.symbols[t.calls[i].r_info >> 32].st_name, REPORT) == 0)
			return (void **)(o->dlpi_addr + t.calls[i].r_offset);
	return NULL;
}

/* True if the loader has made this part read-only after relocation. */
static bool is_sealed(const struct dl_phdr_info *o, const void *place)
{
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_GNU_RELRO &&
		    (uintptr_t)place - (o->dlpi_addr + o->dlpi_phdr[i].p_vaddr) < o->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

static bool replace(const struct dl_phdr_info *o, void **place)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)place & ~(page - 1));
	bool sealed = is_sealed(o, place);

	if (sealed && (!seccomp_allows(SECCOMP_MEMORY) || mprotect(start, page, PROT_READ | PROT_WRITE) < 0))
		return false;
	__atomic_store_n(place, (void *)report, __ATOMIC_RELEASE);
	if (sealed)
		mprotect(start, page, PROT_READ);
	return true;
}

struct libc10_search {
	struct dl_phdr_info cuda;
	const char *base;               /* path of libc10, which has the function */
	bool there;
};

static int see(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct libc10_search *f = arg;
	const char *name = base_name(o->dlpi_name);

	(void)size;
	if (strncmp(name, "libc10_cuda.so", 14) == 0) {
		f->cuda = *o;
		f->there = true;
	} else if (strncmp(name, "libc10.so", 9) == 0) {
		f->base = o->dlpi_name;
	}
	return 0;
}

void torch_memory_look(void)
{
	struct libc10_search f = { .there = false };
	void **place, *library;

	if (hook.done)
		return;
	dl_iterate_phdr(see, &f);
	if (!f.there || !f.base)
		return;
	hook.done = true;
	library = dlopen(f.base, RTLD_NOLOAD | RTLD_LAZY);
	*(void **)&hook.real = library ? dlsym(library, REPORT) : NULL;
	place = hook.real ? place_of(&f.cuda) : NULL;
	if (!place || !replace(&f.cuda, place)) {
		dlerror();
		health_note(HEALTH_torch_memory, "%s c10::reportMemoryUsageToProfiler",
			    hook.real ? "libc10_cuda has no writable PLT entry for" : "libc10 does not export");
	}
}
