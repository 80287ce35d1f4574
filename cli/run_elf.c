/* What an executable file is, as far as it matters to an object that wants to be preloaded into it.  Foreign bytes: each read is checked. */
#include "cli/run.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "no such machine yet"
#endif

#define MAX_HEADERS 64  /* program headers looked at; linkers write about a dozen */
#define MAX_NEEDED  256

struct elf {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr ph[MAX_HEADERS];
	unsigned n;
};

static bool get(int fd, uint64_t at, void *out, size_t size)
{
	return at <= INT64_MAX && pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

static bool read_headers(struct elf *e)
{
	if (e->head.e_phentsize != sizeof *e->ph)
		return false;
	e->n = e->head.e_phnum < MAX_HEADERS ? e->head.e_phnum : MAX_HEADERS;
	return get(e->fd, e->head.e_phoff, e->ph, e->n * sizeof *e->ph);
}

static const Elf64_Phdr *header(const struct elf *e, unsigned type)
{
	for (unsigned i = 0; i < e->n; i++)
		if (e->ph[i].p_type == type)
			return &e->ph[i];
	return NULL;
}

/* Where an address of the running program lies in the file; 0: nowhere. */
static uint64_t in_file(const struct elf *e, uint64_t address)
{
	for (unsigned i = 0; i < e->n; i++) {
		const Elf64_Phdr *p = &e->ph[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
			return address - p->p_vaddr + p->p_offset;
	}
	return 0;
}

/* A zero-terminated text, cut at size. */
static void get_text(const struct elf *e, uint64_t at, char *out, size_t size)
{
	ssize_t n = at && at <= INT64_MAX ? pread(e->fd, out, size - 1, (off_t)at) : 0;

	out[n > 0 ? n : 0] = '\0';
}

/* The dynamic section: number of its entries, 0 when there is none. */
static size_t read_dynamic(const struct elf *e, Elf64_Dyn *d)
{
	const Elf64_Phdr *dynamic = header(e, PT_DYNAMIC);
	size_t n = dynamic ? dynamic->p_filesz / sizeof *d : 0;

	if (n > MAX_NEEDED)
		n = MAX_NEEDED;
	return n && get(e->fd, dynamic->p_offset, d, n * sizeof *d) ? n : 0;
}

static bool has_soname(const struct elf *e)
{
	Elf64_Dyn d[MAX_NEEDED];
	size_t n = read_dynamic(e, d);

	for (size_t i = 0; i < n; i++)
		if (d[i].d_tag == DT_SONAME)
			return true;
	return false;
}

/* Does it need a library whose name starts like this? */
static bool needs(const struct elf *e, const char *const *names, size_t n)
{
	uint64_t strings = 0;
	Elf64_Dyn d[MAX_NEEDED];
	size_t n_d = read_dynamic(e, d);
	char name[32];

	for (size_t i = 0; i < n_d; i++)
		if (d[i].d_tag == DT_STRTAB)
			strings = in_file(e, d[i].d_un.d_ptr);
	for (size_t i = 0; i < n_d && strings; i++) {
		if (d[i].d_tag != DT_NEEDED)
			continue;
		get_text(e, strings + d[i].d_un.d_val, name, sizeof name);
		for (size_t k = 0; k < n; k++)
			if (strncmp(name, names[k], strlen(names[k])) == 0)
				return true;
	}
	return false;
}

static enum image_kind kind_of(struct elf *e)
{
	/* Their runtimes end a program in which another library comes first. */
	static const char *const sanitizers[] = { "libasan.so", "libtsan.so", "libclang_rt.asan", "libclang_rt.tsan" };
	const Elf64_Phdr *interp;
	char loader[256];

	if (!get(e->fd, 0, &e->head, sizeof e->head) || memcmp(e->head.e_ident, ELFMAG, SELFMAG) != 0)
		return IMAGE_UNKNOWN;
	if (e->head.e_ident[EI_CLASS] != ELFCLASS64)
		return IMAGE_32BIT;
	if (e->head.e_machine != OUR_MACHINE)
		return IMAGE_FOREIGN;
	if (!read_headers(e))
		return IMAGE_UNKNOWN;
	interp = header(e, PT_INTERP);
	if (!interp)            /* ld.so itself has none either: "ld.so ./program" */
		return e->head.e_type == ET_DYN && has_soname(e) ? IMAGE_OPEN : IMAGE_STATIC;
	get_text(e, interp->p_offset, loader, sizeof loader);
	if (strstr(loader, "ld-musl"))
		return IMAGE_MUSL;
	return needs(e, sanitizers, sizeof sanitizers / sizeof *sanitizers) ? IMAGE_SANITIZED : IMAGE_OPEN;
}

enum image_kind image_kind(const char *path)
{
	/* O_NONBLOCK: somebody may have put a pipe there. */
	struct elf e = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
	enum image_kind kind;

	if (e.fd < 0)
		return IMAGE_UNKNOWN;
	kind = kind_of(&e);
	close(e.fd);
	return kind;
}
