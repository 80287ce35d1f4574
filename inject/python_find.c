#include <link.h>
#include <stdio.h>
#include <string.h>

#include "inject/peek.h"
#include "inject/python_layout.h"

struct wanted {
	const char *name;
	size_t at, size_at;             /* members of struct py_symbols; size_at 0: its size is of no interest */
	bool optional;
};

#define WANTED(name, member, optional) { name, offsetof(struct py_symbols, member), 0, optional }

/* The first one is in no other object. */
static const struct wanted wanted[] = {
	WANTED("_PyRuntime", runtime, false),
	WANTED("PyCode_Type", code_type, false),
	WANTED("PyUnicode_Type", text_type, false),
	WANTED("PyBytes_Type", bytes_type, false),
	WANTED("PyGILState_GetThisThreadState", this_state, false),
	WANTED("Py_GetVersion", get_version, false),
	WANTED("Py_Version", version, true),
	WANTED("_PyThreadState_UncheckedGet", holder_state, true),
	WANTED("PyCell_Type", cell_type, true),
	{ "_PyEval_EvalFrameDefault", offsetof(struct py_symbols, eval), offsetof(struct py_symbols, eval_size), true },
};

#define N_WANTED (sizeof wanted / sizeof *wanted)

/* The dynamic symbols of an object. */
struct table {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;           /* DT_GNU_HASH */
};

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static const ElfW(Sym) *look_up(const struct table *t, const char *name)
{
	uint32_t n_buckets = t->hash[0], first = t->hash[1], n_bloom = t->hash[2], shift = t->hash[3], h = hash_of(name);
	const ElfW(Addr) *bloom = (const void *)&t->hash[4];
	const uint32_t *buckets = (const void *)(bloom + n_bloom), *chain = buckets + n_buckets;
	const unsigned bits = 8 * sizeof *bloom;
	ElfW(Addr) word = n_bloom ? bloom[h / bits % n_bloom] : 0;
	uint32_t i;

	if (!n_buckets || !(word >> h % bits & word >> (h >> shift) % bits & 1))
		return NULL;
	for (i = buckets[h % n_buckets]; i >= first; i++) {
		const ElfW(Sym) *s = &t->symbols[i];

		if ((chain[i - first] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF && strcmp(t->strings + s->st_name, name) == 0)
			return s;
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

/* The loader made addresses of these, except in objects whose table it could not write. */
static const void *pointer(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	return (const void *)(uintptr_t)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static bool read_table(struct table *t, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *d = NULL;

	*t = (struct table){ 0 };
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			t->symbols = pointer(info, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			t->strings = pointer(info, d->d_un.d_ptr);
		else if (d->d_tag == DT_GNU_HASH)
			t->hash = pointer(info, d->d_un.d_ptr);
	}
	return t->symbols && t->strings && t->hash;
}

static void read_extent(struct py_symbols *p, const struct dl_phdr_info *info)
{
	p->low = UINT64_MAX;
	p->high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		p->low = start < p->low ? start : p->low;
		p->high = start + info->dlpi_phdr[i].p_memsz > p->high ? start + info->dlpi_phdr[i].p_memsz : p->high;
	}
}

struct search {
	struct py_symbols *found;
	uint64_t added;         /* objects ever loaded, at the last look */
	bool done, complete;
};

/* False: this object has no interpreter. */
static bool look_into(struct py_symbols *found, const struct dl_phdr_info *info)
{
	struct table t;

	if (!read_table(&t, info) || !look_up(&t, wanted[0].name))
		return false;
	*found = (struct py_symbols){ 0 };
	for (size_t i = 0; i < N_WANTED; i++) {
		const ElfW(Sym) *symbol = look_up(&t, wanted[i].name);

		if (!symbol && !wanted[i].optional) {
			found->runtime = 0;
			return false;
		}
		if (!symbol)
			continue;
		*(uint64_t *)((char *)found + wanted[i].at) = info->dlpi_addr + symbol->st_value;
		if (wanted[i].size_at)
			*(uint64_t *)((char *)found + wanted[i].size_at) = symbol->st_size;
	}
	read_extent(found, info);
	return true;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (info->dlpi_adds == s->added)
		return 1;
	s->done = true;
	s->complete = look_into(s->found, info);
	return s->complete;
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

bool py_symbols_find(struct py_symbols *symbols)
{
	static uint64_t added;
	struct search s = { .found = symbols, .added = __atomic_load_n(&added, __ATOMIC_RELAXED) };
	uint64_t now = 0;

	dl_iterate_phdr(count_loaded, &now);
	dl_iterate_phdr(visit, &s);
	if (s.done && !s.complete)
		__atomic_store_n(&added, now, __ATOMIC_RELAXED);
	return s.complete;
}

bool py_symbols_in(struct py_symbols *symbols, uint64_t base, uint64_t low)
{
	ElfW(Ehdr) e;
	char last;

	if (!peek(&e, low, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_phentsize != sizeof(ElfW(Phdr)) ||
	    !peek(&last, low + e.e_phoff + e.e_phnum * sizeof(ElfW(Phdr)) - 1, 1))
		return false;
	return look_into(symbols, &(struct dl_phdr_info){ .dlpi_addr = base, .dlpi_phnum = e.e_phnum,
							  .dlpi_phdr = (const void *)(uintptr_t)(low + e.e_phoff) });
}

/*
 * Before 3.11 a function must be asked, and another thread may be in the middle of loading it; Python that runs is loaded.  Its runtime
 * begins with flags that say so.
 */
uint32_t py_symbols_version(const struct py_symbols *symbols)
{
	const char *(*get_version)(void) = (const char *(*)(void))(uintptr_t)symbols->get_version;
	const int32_t *runs = (const int32_t *)(uintptr_t)symbols->runtime;
	unsigned major = 0, minor = 0;

	if (symbols->version)
		return (uint32_t)(*(const unsigned long *)(uintptr_t)symbols->version >> 16);
	if (!(runs[0] | runs[1] | runs[2] | runs[3]))
		return 0;
	return sscanf(get_version(), "%u.%u", &major, &minor) == 2 ? PY_VERSION(major, minor) : 0;
}
