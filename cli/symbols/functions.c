#include "cli/symbols/functions.h"

#include <stdlib.h>
#include <string.h>

#include "trace/grow.h"

/* Limit of symbols examined before an address to find the enclosing function; symbols inside functions are rare. */
#define MOST_INSIDE 64u

/* Added to ranks: of names without a type; of names without a size. */
#define RANK_LABEL   1000u
#define RANK_ENDLESS 500u

/* Rank of a name: an address can have several (write, __write, __GI___libc_write); the most usual one has the lowest rank. */
static uint32_t rank_of(const Elf64_Sym *s, const char *name)
{
	uint32_t rank = ELF64_ST_TYPE(s->st_info) == STT_NOTYPE ? RANK_LABEL : 0;

	rank += s->st_size ? 0 : RANK_ENDLESS;
	rank += 10 * (uint32_t)(strspn(name, "_") & 15);
	return rank + (ELF64_ST_BIND(s->st_info) == STB_LOCAL ? 2 : ELF64_ST_BIND(s->st_info) == STB_WEAK);
}

/* Whether a symbol is named code.  Untyped labels of assembly code count only in the full table, .symtab. */
static bool is_function(const struct elf *e, const Elf64_Sym *s, const char *name, bool full, Elf64_Shdr *where)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && !(type == STT_NOTYPE && full))
		return false;
	/* ".Ltext0", "$x": internal labels of assemblers. */
	if (!*name || (type == STT_NOTYPE && (*name == '.' || *name == '$')))
		return false;
	return s->st_shndx != SHN_UNDEF && s->st_shndx < SHN_LORESERVE && elf_section(e, s->st_shndx, where) &&
	       where->sh_flags & SHF_EXECINSTR && s->st_value >= where->sh_addr &&
	       s->st_value - where->sh_addr < where->sh_size;
}

static int by_start(const void *a, const void *b)
{
	const struct elf_function *f = a, *g = b;

	if (f->start != g->start)
		return f->start < g->start ? -1 : 1;
	if (f->rank != g->rank)
		return f->rank < g->rank ? -1 : 1;
	return f->length != g->length ? (f->length < g->length ? -1 : 1) : strcmp(f->name, g->name);
}

/* Sorts, keeps one name per address; functions without a size end at the next function or the end of their section. */
static void tidy(struct functions *f)
{
	size_t n = 0;

	qsort(f->list, f->n, sizeof *f->list, by_start);
	for (size_t i = 0; i < f->n; i++)
		if (!n || f->list[n - 1].start != f->list[i].start)
			f->list[n++] = f->list[i];
	f->n = n;
	for (size_t i = 0; i < n; i++) {
		struct elf_function *now = &f->list[i];

		if (now->rank % RANK_LABEL >= RANK_ENDLESS && i + 1 < n && f->list[i + 1].start < now->end)
			now->end = f->list[i + 1].start;
		f->reach[i] = i && f->reach[i - 1] > now->end ? f->reach[i - 1] : now->end;
	}
}

static void take_symbols(struct functions *f, const struct elf *e, const uint8_t *symbols, uint64_t n, const Elf64_Shdr *texts,
			 bool full)
{
	Elf64_Shdr where;
	Elf64_Sym s;

	for (uint64_t i = 0; i < n; i++) {
		const char *name;
		uint64_t room;

		memcpy(&s, symbols + i * sizeof s, sizeof s);
		if (!s.st_value)
			continue;
		name = elf_text(e, texts, s.st_name);
		if (!is_function(e, &s, name, full, &where))
			continue;
		room = where.sh_size - (s.st_value - where.sh_addr);
		room = room < UINT64_MAX - s.st_value ? room : UINT64_MAX - s.st_value;
		if (!room)
			continue;
		f->list[f->n++] = (struct elf_function){
			.start = s.st_value,
			.end = s.st_value + (s.st_size && s.st_size < room ? s.st_size : room),
			.name = name,
			.length = (uint32_t)strcspn(name, "@"),
			.rank = rank_of(&s, name),
		};
	}
}

bool functions_add(struct functions *f, const struct elf *e)
{
	Elf64_Shdr table, texts;
	const uint8_t *symbols;
	size_t cap;
	bool full = elf_find(e, NULL, SHT_SYMTAB, &table) && elf_bytes(e, &table);
	uint64_t n;

	if (!full && !elf_find(e, NULL, SHT_DYNSYM, &table))
		return false;
	symbols = elf_bytes(e, &table);
	if (!symbols || !elf_section(e, table.sh_link, &texts))
		return false;
	n = table.sh_size / sizeof(Elf64_Sym);
	cap = f->cap;
	if (GROW(f->list, f->n + n + 1, cap) && GROW(f->reach, f->n + n + 1, f->cap)) {
		take_symbols(f, e, symbols, n, &texts, full);
		tidy(f);
	}
	return full && f->n;
}

bool functions_read(struct functions *f, const struct elf *e)
{
	*f = (struct functions){ 0 };
	return functions_add(f, e);
}

void functions_release(struct functions *f)
{
	free(f->list);
	free(f->reach);
	*f = (struct functions){ 0 };
}

const struct elf_function *functions_at(const struct functions *f, uint64_t address)
{
	const struct elf_function *label = NULL; /* may be the label of a loop inside a typed function */
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i > 0 && low - i < MOST_INSIDE && f->reach[i - 1] > address; i--) {
		if (f->list[i - 1].end <= address)
			continue;
		if (f->list[i - 1].rank < RANK_LABEL)
			return &f->list[i - 1];
		label = label ? label : &f->list[i - 1];
	}
	return label;
}
