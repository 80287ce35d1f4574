#include "cli/symbols/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of sections, for damaged files; the largest libraries have hundreds. */
#define MOST_SECTIONS 100000u

static bool inside(const struct elf *e, uint64_t at, uint64_t n)
{
	return at <= e->size && n <= e->size - at;
}

bool elf_section(const struct elf *e, unsigned i, Elf64_Shdr *out)
{
	if (i >= e->n_sections)
		return false;
	memcpy(out, e->map + e->sections + (uint64_t)i * sizeof *out, sizeof *out);
	return true;
}

/* Checks the ELF header and the section headers.  0, or -1: not a supported ELF file. */
static int read_head(struct elf *e)
{
	Elf64_Ehdr head;
	Elf64_Shdr first;

	if (!inside(e, 0, sizeof head))
		return -1;
	memcpy(&head, e->map, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB)
		return -1;
	if (!head.e_shoff || head.e_shentsize != sizeof first || !inside(e, head.e_shoff, sizeof first))
		return 0;
	memcpy(&first, e->map + head.e_shoff, sizeof first);
	/* e_shnum 0: there are more than 65,000 sections, and sh_size of the first section is their number. */
	e->n_sections = head.e_shnum ? head.e_shnum : first.sh_size < MOST_SECTIONS ? (unsigned)first.sh_size : 0;
	e->names = head.e_shstrndx == SHN_XINDEX ? first.sh_link : head.e_shstrndx;
	e->sections = head.e_shoff;
	if (!inside(e, head.e_shoff, (uint64_t)e->n_sections * sizeof first))
		e->n_sections = 0;
	return 0;
}

int elf_memory(struct elf *e, const void *bytes, size_t size)
{
	*e = (struct elf){ .map = bytes, .size = size, .fd = -1 };
	return read_head(e);
}

int elf_open(struct elf *e, const char *path)
{
	struct stat st;
	void *map;

	*e = (struct elf)ELF_INIT;
	e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e->fd < 0 || fstat(e->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		goto no;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, e->fd, 0);
	if (map == MAP_FAILED)
		goto no;
	e->map = map;
	e->mapped = true;
	e->size = (size_t)st.st_size;
	e->changed = st.st_mtime;
	if (read_head(e) == 0)
		return 0;
no:
	elf_close(e);
	return -1;
}

int elf_vdso(struct elf *e)
{
	const uint8_t *bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint64_t end;
	Elf64_Ehdr head;

	*e = (struct elf)ELF_INIT;
	if (!bytes)
		return -1;
	memcpy(&head, bytes, sizeof head);
	end = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;
	return end > 1 << 20 ? -1 : elf_memory(e, bytes, end);
}

void elf_close(struct elf *e)
{
	if (e->mapped)
		munmap((void *)e->map, e->size);
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct elf)ELF_INIT;
}

const uint8_t *elf_bytes(const struct elf *e, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS || !inside(e, s->sh_offset, s->sh_size) ? NULL : e->map + s->sh_offset;
}

const char *elf_text(const struct elf *e, const Elf64_Shdr *s, uint64_t at)
{
	const char *bytes = (const char *)elf_bytes(e, s);

	return bytes && at < s->sh_size && memchr(bytes + at, '\0', s->sh_size - at) ? bytes + at : "";
}

unsigned elf_find(const struct elf *e, const char *name, uint32_t type, Elf64_Shdr *out)
{
	Elf64_Shdr names;

	if (name && !elf_section(e, e->names, &names))
		return 0;
	for (unsigned i = 1; i < e->n_sections && elf_section(e, i, out); i++)
		if (name ? strcmp(elf_text(e, &names, out->sh_name), name) == 0 : out->sh_type == type)
			return i;
	return 0;
}

/* Finds the build id among notes.  A note is two sizes, a type, name and contents, each padded to four bytes. */
static const uint8_t *id_among(const uint8_t *p, uint64_t size, size_t *n)
{
	Elf64_Nhdr note;

	while (size >= sizeof note) {
		uint64_t name, all;

		memcpy(&note, p, sizeof note);
		name = sizeof note + (((uint64_t)note.n_namesz + 3) & ~3ull);
		all = name + (((uint64_t)note.n_descsz + 3) & ~3ull);
		if (name + note.n_descsz > size)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
		    memcmp(p + sizeof note, "GNU", 4) == 0) {
			*n = note.n_descsz;
			return p + name;
		}
		if (all >= size)
			return NULL;
		p += all;
		size -= all;
	}
	return NULL;
}

static const uint8_t *id_in_segments(const struct elf *e, size_t *n)
{
	const uint8_t *id = NULL;
	Elf64_Ehdr head;
	Elf64_Phdr p;

	memcpy(&head, e->map, sizeof head);
	for (unsigned i = 0; i < head.e_phnum && !id; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * sizeof p;

		if (head.e_phentsize != sizeof p || at < head.e_phoff || !inside(e, at, sizeof p))
			return NULL;
		memcpy(&p, e->map + at, sizeof p);
		if (p.p_type == PT_NOTE && inside(e, p.p_offset, p.p_filesz))
			id = id_among(e->map + p.p_offset, p.p_filesz, n);
	}
	return id;
}

const uint8_t *elf_build_id(const struct elf *e, size_t *n)
{
	const uint8_t *id = NULL, *bytes;
	Elf64_Shdr s;

	/* Sections first: in a file with only symbols, segments refer to removed contents. */
	for (unsigned i = 1; !id && elf_section(e, i, &s); i++)
		if (s.sh_type == SHT_NOTE && (bytes = elf_bytes(e, &s)))
			id = id_among(bytes, s.sh_size, n);
	return id || e->n_sections ? id : id_in_segments(e, n);
}

const char *elf_debug_link(const struct elf *e, uint32_t *crc)
{
	const char *name;
	uint64_t at;
	Elf64_Shdr s;

	if (!elf_find(e, ".gnu_debuglink", 0, &s))
		return NULL;
	name = elf_text(e, &s, 0);
	at = (strlen(name) + 4) & ~3ull;        /* behind the name and its zero, padded to four bytes */
	if (!*name || strchr(name, '/') || s.sh_size < 4 || at > s.sh_size - 4)
		return NULL;
	memcpy(crc, elf_bytes(e, &s) + at, sizeof *crc);
	return name;
}
