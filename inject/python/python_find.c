#include <link.h>
#include <string.h>

#include "inject/python/python_layout.h"
#include "inject/unwind/peek.h"

struct wanted_symbol {
	const char *name;
	size_t at, size_at;             /* offsets in struct py_symbols; size_at 0: the size is not needed */
	bool optional;
};

#define WANTED(name, member, optional) { name, offsetof(struct py_symbols, member), 0, optional }

/* _PyRuntime, which only an interpreter exports, is looked up first. */
static const struct wanted_symbol wanted[] = {
	WANTED("_PyRuntime", runtime, false),
	WANTED("PyCode_Type", code_type, false),
	WANTED("PyUnicode_Type", text_type, false),
	WANTED("PyBytes_Type", bytes_type, false),
	WANTED("PyGILState_GetThisThreadState", this_state, false),
	WANTED("Py_RunMain", in_3_8, true),
	WANTED("PyFrame_GetCode", in_3_9, true),
	WANTED("PyModule_AddObjectRef", in_3_10, true),
	WANTED("Py_Version", version, true),
	WANTED("_PyThreadState_UncheckedGet", holder_state, true),
	WANTED("PyThreadState_GetUnchecked", holder_state, true),       /* name from 3.13 on */
	WANTED("PyCell_Type", cell_type, true),
	{ "_PyEval_EvalFrameDefault", offsetof(struct py_symbols, eval), offsetof(struct py_symbols, eval_size), true },
};

#define N_WANTED  (sizeof wanted / sizeof *wanted)
#define NAME_MOST 48u           /* longer than each name above */

/* A mapped ELF object. */
struct loaded_object {
	uint64_t base, phdrs;
	uint32_t n_phdrs;
	bool guarded;                   /* another thread may unmap it; false: the loader's lock is held */
	uint64_t symbols, strings, hash;        /* DT_SYMTAB, DT_STRTAB, DT_GNU_HASH */
};

/* ---- reading ---- */

static bool fetch(const struct loaded_object *o, void *to, uint64_t from, size_t n)
{
	if (o->guarded)
		return peek(to, from, n);
	memcpy(to, (const void *)(uintptr_t)from, n);
	return true;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static bool is_called(const struct loaded_object *o, const ElfW(Sym) *symbol, const char *name)
{
	size_t n = strlen(name) + 1;
	char text[NAME_MOST];

	return symbol->st_shndx != SHN_UNDEF && n <= sizeof text && fetch(o, text, o->strings + symbol->st_name, n) &&
	       memcmp(text, name, n) == 0;
}

#define MOST_ALIKE 1024u        /* most symbols read per bucket; typical tables have two */

static bool search_bucket(const struct loaded_object *o, ElfW(Sym) *symbol, const char *name, uint32_t i, uint64_t chain)
{
	uint32_t found, h = hash_of(name);

	for (uint32_t n = 0; n < MOST_ALIKE; n++, i++, chain += 4) {
		if (!fetch(o, &found, chain, sizeof found))
			return false;
		if ((found | 1) == (h | 1) && fetch(o, symbol, o->symbols + (uint64_t)i * sizeof *symbol, sizeof *symbol) &&
		    is_called(o, symbol, name))
			return true;
		if (found & 1)
			return false;
	}
	return false;
}

static bool look_up(const struct loaded_object *o, ElfW(Sym) *symbol, const char *name)
{
	struct { uint32_t n_buckets, first, n_bloom, shift; } head;
	const uint64_t bloom = o->hash + sizeof head;
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	uint32_t h = hash_of(name), i;
	uint64_t buckets;
	ElfW(Addr) word;

	if (!fetch(o, &head, o->hash, sizeof head) || !head.n_buckets || !head.n_bloom ||
	    !fetch(o, &word, bloom + h / bits % head.n_bloom * sizeof word, sizeof word) ||
	    !(word >> h % bits & word >> (h >> (head.shift & 31)) % bits & 1))
		return false;
	buckets = bloom + (uint64_t)head.n_bloom * sizeof word;
	return fetch(o, &i, buckets + 4ull * (h % head.n_buckets), sizeof i) && i >= head.first &&
	       search_bucket(o, symbol, name, i, buckets + 4ull * head.n_buckets + 4ull * (i - head.first));
}

static bool phdr_of(const struct loaded_object *o, ElfW(Phdr) *p, uint32_t i)
{
	return fetch(o, p, o->phdrs + i * sizeof *p, sizeof *p);
}

/* The loader replaces these offsets by addresses, except in objects whose dynamic section is read-only. */
static uint64_t address(const struct loaded_object *o, ElfW(Addr) value)
{
	return value < o->base ? value + o->base : value;
}

#define MOST_ENTRIES 512u       /* most dynamic entries read; libraries have about thirty */

static bool read_dynamic(struct loaded_object *o, uint64_t at)
{
	ElfW(Dyn) d;

	for (uint32_t i = 0; i < MOST_ENTRIES && fetch(o, &d, at + i * sizeof d, sizeof d) && d.d_tag != DT_NULL; i++) {
		if (d.d_tag == DT_SYMTAB)
			o->symbols = address(o, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			o->strings = address(o, d.d_un.d_ptr);
		else if (d.d_tag == DT_GNU_HASH)
			o->hash = address(o, d.d_un.d_ptr);
		if (o->symbols && o->strings && o->hash)
			return true;
	}
	return false;
}

static bool read_tables(struct loaded_object *o)
{
	ElfW(Phdr) p;

	for (uint32_t i = 0; i < o->n_phdrs && phdr_of(o, &p, i); i++)
		if (p.p_type == PT_DYNAMIC)
			return read_dynamic(o, o->base + p.p_vaddr);
	return false;
}

static void read_extent(struct py_symbols *p, const struct loaded_object *o)
{
	ElfW(Phdr) h;

	p->low = UINT64_MAX;
	p->high = 0;
	for (uint32_t i = 0; i < o->n_phdrs && phdr_of(o, &h, i); i++) {
		uint64_t start = o->base + h.p_vaddr;

		if (h.p_type != PT_LOAD)
			continue;
		p->low = start < p->low ? start : p->low;
		p->high = start + h.p_memsz > p->high ? start + h.p_memsz : p->high;
	}
}

/* False: this object contains no complete interpreter. */
static bool look_into(struct py_symbols *found, struct loaded_object *o)
{
	ElfW(Sym) symbol;

	if (!read_tables(o) || !look_up(o, &symbol, wanted[0].name))
		return false;
	*found = (struct py_symbols){ 0 };
	for (size_t i = 0; i < N_WANTED; i++) {
		if (!look_up(o, &symbol, wanted[i].name)) {
			if (wanted[i].optional)
				continue;
			found->runtime = 0;
			return false;
		}
		*(uint64_t *)((char *)found + wanted[i].at) = o->base + symbol.st_value;
		if (wanted[i].size_at)
			*(uint64_t *)((char *)found + wanted[i].size_at) = symbol.st_size;
	}
	read_extent(found, o);
	return true;
}

/* ---- search of the loaded objects ---- */

static struct loaded_object object_of(const struct dl_phdr_info *info)
{
	return (struct loaded_object){ .base = info->dlpi_addr, .phdrs = (uint64_t)(uintptr_t)info->dlpi_phdr, .n_phdrs = info->dlpi_phnum };
}

struct python_search {
	struct py_symbols *found;
	uint64_t added;         /* dlpi_adds at the last search */
	bool done, complete;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct python_search *s = arg;
	struct loaded_object o = object_of(info);

	(void)size;
	if (info->dlpi_adds == s->added)
		return 1;
	s->done = true;
	s->complete = look_into(s->found, &o);
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
	struct python_search s = { .found = symbols, .added = __atomic_load_n(&added, __ATOMIC_RELAXED) };
	uint64_t now = 0;

	dl_iterate_phdr(count_loaded, &now);
	dl_iterate_phdr(visit, &s);
	if (s.done && !s.complete)
		__atomic_store_n(&added, now, __ATOMIC_RELAXED);
	return s.complete;
}

bool py_symbols_present(struct py_symbols *symbols)
{
	struct python_search s = { .found = symbols };

	return dl_iterate_phdr(visit, &s) && s.complete;
}

bool py_symbols_in(struct py_symbols *symbols, uint64_t base, uint64_t low)
{
	ElfW(Ehdr) e;

	if (!peek(&e, low, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	return look_into(symbols, &(struct loaded_object){ .base = base, .phdrs = low + e.e_phoff, .n_phdrs = e.e_phnum, .guarded = true });
}

static int compare(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct py_symbols *known = arg;
	struct loaded_object o = object_of(info);
	struct py_symbols now;

	(void)size;
	read_extent(&now, &o);
	return now.low == known->low && look_into(&now, &o) && memcmp(&now, known, sizeof now) == 0;
}

bool py_symbols_hold(const struct py_symbols *symbols)
{
	return dl_iterate_phdr(compare, (void *)(uintptr_t)symbols);
}

/* ---- version ---- */

/*
 * Before 3.11 no variable holds the version, and the function that returns it may not be called from any context: deduce it from the
 * functions that each version added.
 */
uint32_t py_symbols_version(const struct py_symbols *symbols)
{
	unsigned long hex;

	if (symbols->version)
		return peek(&hex, symbols->version, sizeof hex) ? (uint32_t)(hex >> 16) : 0;
	return symbols->in_3_10 ? PY_VERSION(3, 10) : symbols->in_3_9 ? PY_VERSION(3, 9) :
	       symbols->in_3_8 ? PY_VERSION(3, 8) : PY_VERSION(3, 7);
}
