#include "cli/symbols/dwarf_texts.h"

#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>

/* The part of libelf's Elf_Data that is used here. */
struct data {
	const char *bytes;
	int type;
	unsigned version;
	size_t size;
};

static struct {
	void *(*getelf)(void *dw);
	void *(*getalt)(void *dw);
	void *(*cu_getdwarf)(void *cu);
	void *(*nextscn)(void *elf, void *section);
	Elf64_Shdr *(*getshdr)(void *section, Elf64_Shdr *out);
	struct data *(*getdata)(void *section, struct data *before);
	int (*getshdrstrndx)(void *elf, size_t *out);
	const char *(*strptr)(void *elf, size_t section, size_t at);
} lib;

bool dwarf_texts_find(void *from)
{
	static const struct {
		const char *name;
		void *to;
	} needed[] = {
		{ "dwarf_getelf", &lib.getelf }, { "dwarf_getalt", &lib.getalt }, { "dwarf_cu_getdwarf", &lib.cu_getdwarf },
		{ "elf_nextscn", &lib.nextscn }, { "gelf_getshdr", &lib.getshdr }, { "elf_getdata", &lib.getdata },
		{ "elf_getshdrstrndx", &lib.getshdrstrndx }, { "elf_strptr", &lib.strptr },
	};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		void *fn = dlsym(from, needed[i].name);

		if (!fn)
			return false;
		memcpy(needed[i].to, &fn, sizeof fn);
	}
	return true;
}

/* ".debug_str", ".debug_line_str", and the same with ".zdebug" or ".dwo"; not ".debug_str_offsets". */
static bool has_strings(const char *name)
{
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".dwo") == 0)
		n -= 4;
	return n > 4 && strstr(name, "debug_") && strncmp(name + n - 4, "_str", 4) == 0;
}

/* libdw has decompressed the sections: libelf returns the bytes that libdw reads. */
static bool sections_end(void *elf)
{
	size_t names;

	if (!elf || lib.getshdrstrndx(elf, &names) != 0)
		return false;
	for (void *section = NULL; (section = lib.nextscn(elf, section)); ) {
		Elf64_Shdr header;
		const char *name = lib.getshdr(section, &header) ? lib.strptr(elf, names, header.sh_name) : NULL;
		const struct data *d = name && has_strings(name) && header.sh_type != SHT_NOBITS ? lib.getdata(section, NULL) : NULL;

		if (d && d->size && (!d->bytes || d->bytes[d->size - 1]))
			return false;
	}
	return true;
}

bool dwarf_texts_end(void *dw)
{
	void *common = dw ? lib.getalt(dw) : NULL;

	return dw && sections_end(lib.getelf(dw)) && (!common || sections_end(lib.getelf(common)));
}

bool dwarf_texts_end_of_unit(void *cu)
{
	void *dw = cu ? lib.cu_getdwarf(cu) : NULL;

	return dw && sections_end(lib.getelf(dw));
}
