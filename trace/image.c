#include "trace/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "no such machine yet"
#endif

#define MAX_HEADERS 64u         /* limit of program headers read; linkers write about a dozen */
#define MAX_DYNAMIC 1024u
#define DYNAMIC     16u         /* entries of the dynamic section read at once */
#define MAX_SCRIPTS 5           /* depth of scripts run by scripts, the kernel's limit */

static bool get(const struct executable *m, uint64_t at, void *out, size_t size)
{
	if (at <= m->n && size <= m->n - at) {
		memcpy(out, m->head + at, size);
		return true;
	}
	return at <= INT64_MAX && pread(m->fd, out, size, (off_t)at) == (ssize_t)size;
}

/* Reads a zero-terminated text, cut at size. */
static void get_text(const struct executable *m, uint64_t at, char *out, size_t size)
{
	ssize_t n = at && at <= INT64_MAX ? pread(m->fd, out, size - 1, (off_t)at) : 0;

	out[n > 0 ? n : 0] = '\0';
}

static uint32_t n_headers(const Elf64_Ehdr *e)
{
	if (e->e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	return e->e_phnum < MAX_HEADERS ? e->e_phnum : MAX_HEADERS;
}

static bool header(const struct executable *m, const Elf64_Ehdr *e, uint32_t i, Elf64_Phdr *p)
{
	return e->e_phoff <= INT64_MAX && get(m, e->e_phoff + i * sizeof *p, p, sizeof *p);
}

static bool find_header(const struct executable *m, const Elf64_Ehdr *e, unsigned type, Elf64_Phdr *p)
{
	for (uint32_t i = 0; i < n_headers(e); i++)
		if (header(m, e, i, p) && p->p_type == type)
			return true;
	return false;
}

/* File offset of a virtual address; 0: not in the file. */
static uint64_t in_file(const struct executable *m, const Elf64_Ehdr *e, uint64_t address)
{
	Elf64_Phdr p;

	for (uint32_t i = 0; i < n_headers(e); i++)
		if (header(m, e, i, &p) && p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
			return address - p.p_vaddr + p.p_offset;
	return 0;
}

/* Whether the library ends the program if another library is loaded before it. */
static bool must_be_first(const char *name)
{
	static const char *const names[] = { "libasan.so", "libclang_rt.asan" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

struct dynamic {
	uint64_t strings;               /* file offset of the string table; 0: not known yet */
	bool soname;
	bool sanitized;
};

/* Reads the dynamic section.  Called twice: the first call finds the string table, the second reads names. */
static void read_dynamic(struct executable *m, const Elf64_Ehdr *e, const Elf64_Phdr *p, struct dynamic *d)
{
	uint64_t n = p->p_filesz / sizeof(Elf64_Dyn), strings = d->strings;
	Elf64_Dyn entries[DYNAMIC];

	for (uint64_t at = 0; at < n && at < MAX_DYNAMIC; at += DYNAMIC) {
		uint64_t some = n - at < DYNAMIC ? n - at : DYNAMIC;

		if (p->p_offset > INT64_MAX || !get(m, p->p_offset + at * sizeof *entries, entries, some * sizeof *entries))
			return;
		for (uint64_t i = 0; i < some; i++) {
			if (entries[i].d_tag == DT_NULL)
				return;
			d->soname |= entries[i].d_tag == DT_SONAME;
			if (entries[i].d_tag == DT_STRTAB)
				d->strings = in_file(m, e, entries[i].d_un.d_ptr);
			if (!strings || entries[i].d_tag != DT_NEEDED || d->sanitized)
				continue;
			get_text(m, strings + entries[i].d_un.d_val, m->runtime, sizeof m->runtime);
			d->sanitized = must_be_first(m->runtime);
		}
	}
}

static struct dynamic dynamic(struct executable *m, const Elf64_Ehdr *e)
{
	struct dynamic d = { 0 };
	Elf64_Phdr p;

	if (!find_header(m, e, PT_DYNAMIC, &p))
		return d;
	read_dynamic(m, e, &p, &d);
	if (d.strings)
		read_dynamic(m, e, &p, &d);
	if (!d.sanitized)
		m->runtime[0] = '\0';
	return d;
}

/* Whether a 32-bit program has a dynamic loader. */
static bool has_interpreter32(const struct executable *m)
{
	Elf32_Ehdr e;
	Elf32_Phdr p;

	if (!get(m, 0, &e, sizeof e) || e.e_phentsize != sizeof p)
		return false;
	for (uint32_t i = 0; i < e.e_phnum && i < MAX_HEADERS; i++)
		if (get(m, (uint64_t)e.e_phoff + i * sizeof p, &p, sizeof p) && p.p_type == PT_INTERP)
			return true;
	return false;
}

static enum image_kind kind_of(struct executable *m)
{
	Elf64_Ehdr e;
	Elf64_Phdr interp;
	char loader[64];

	if (m->n < sizeof(Elf32_Ehdr) || memcmp(m->head, ELFMAG, SELFMAG) != 0)
		return IMAGE_UNKNOWN;
	if (m->head[EI_CLASS] != ELFCLASS64) {
		m->loads = has_interpreter32(m);
		return IMAGE_32BIT;
	}
	if (!get(m, 0, &e, sizeof e))
		return IMAGE_UNKNOWN;
	m->loads = find_header(m, &e, PT_INTERP, &interp);
	if (e.e_machine != OUR_MACHINE)
		return IMAGE_FOREIGN;
	if (!n_headers(&e))
		return IMAGE_UNKNOWN;
	if (!m->loads) {        /* no interpreter: static, or ld.so itself ("ld.so ./program") */
		m->loads = e.e_type == ET_DYN && dynamic(m, &e).soname;
		return m->loads ? IMAGE_OPEN : IMAGE_STATIC;
	}
	get_text(m, interp.p_offset, loader, sizeof loader);
	if (strstr(loader, "ld-musl"))
		return IMAGE_MUSL;
	return dynamic(m, &e).sanitized ? IMAGE_SANITIZED : IMAGE_OPEN;
}

/* Opens the file and reads its begin into m->head; path may point into m->head.  O_NONBLOCK: the path may be a named pipe. */
static bool read_head(struct executable *m, int dir, const char *path)
{
	ssize_t n;

	m->kind = IMAGE_UNKNOWN;
	m->loads = false;
	m->runtime[0] = '\0';
	m->opened = *path;
	m->fd = m->opened ? openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : dir;
	n = m->fd < 0 ? -1 : pread(m->fd, m->head, sizeof m->head, 0);
	m->n = n > 0 ? (uint32_t)n : 0;
	return m->fd >= 0;
}

static void done(const struct executable *m)
{
	if (m->opened)
		close(m->fd);
}

enum image_kind image_look(struct executable *m, const char *path)
{
	int saved = errno;

	if (read_head(m, AT_FDCWD, path)) {
		m->kind = kind_of(m);
		done(m);
	}
	errno = saved;
	return m->kind;
}

/* The interpreter of a script, zero-terminated inside m->head; NULL: not a script. */
static const char *interpreter(struct executable *m)
{
	char *word = m->head + 2, *end;

	if (m->n < 4 || memcmp(m->head, "#!", 2) != 0)
		return NULL;
	m->head[m->n < sizeof m->head ? m->n : sizeof m->head - 1] = '\0';
	word += strspn(word, " \t");
	end = word + strcspn(word, " \t\n");
	*end = '\0';
	return *word ? word : NULL;
}

enum image_kind image_look_through(struct executable *m, int dir, const char *path)
{
	int saved = errno;

	for (int depth = 0; depth <= MAX_SCRIPTS && read_head(m, dir, path); depth++) {
		const char *next = interpreter(m);

		if (!next)
			m->kind = kind_of(m);
		done(m);
		if (!next)
			break;
		dir = AT_FDCWD;
		path = next;
	}
	errno = saved;
	return m->kind;
}
