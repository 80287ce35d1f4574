#include "cli/symbols/dwarf.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/symbols/dwarf_texts.h"
#include "trace/grow.h"

/* The part of libdw's interface used here; libdw's headers are not needed to build. */
struct die {
	void *address;
	void *cu, *abbrev;
	long padding;
};

struct dwarf_attribute {
	unsigned code, form;
	unsigned char *value;
	void *cu;
};

#define DW_TAG_class_type         0x02u
#define DW_TAG_lexical_block      0x0bu
#define DW_TAG_structure_type     0x13u
#define DW_TAG_union_type         0x17u
#define DW_TAG_inlined_subroutine 0x1du
#define DW_TAG_module             0x1eu
#define DW_TAG_subprogram         0x2eu
#define DW_TAG_namespace          0x39u
#define DW_AT_name                0x03u
#define DW_AT_comp_dir            0x1bu
#define DW_AT_call_file           0x58u
#define DW_AT_call_line           0x59u
#define DW_AT_linkage_name        0x6eu
#define DW_AT_MIPS_linkage_name   0x2007u
#define DW_UT_skeleton            0x04u

static struct {
	void *(*begin)(int fd, int how);
	int (*end)(void *dw);
	int (*get_units)(void *dw, void *cu, void **next, uint16_t *version, uint8_t *type, struct die *whole,
			 struct die *split);
	ptrdiff_t (*ranges)(struct die *die, ptrdiff_t at, uint64_t *base, uint64_t *start, uint64_t *end);
	void *(*getsrc_die)(struct die *unit, uint64_t address);
	const char *(*linesrc)(void *line, void *changed, void *length);
	int (*lineno)(void *line, int *out);
	int (*child)(struct die *die, struct die *out);
	int (*siblingof)(struct die *die, struct die *out);
	int (*tag)(struct die *die);
	struct dwarf_attribute *(*attr)(struct die *die, unsigned name, struct dwarf_attribute *out);
	struct dwarf_attribute *(*attr_integrate)(struct die *die, unsigned name, struct dwarf_attribute *out);
	const char *(*formstring)(struct dwarf_attribute *a);
	int (*formudata)(struct dwarf_attribute *a, uint64_t *out);
	int (*getsrcfiles)(struct die *unit, void **files, size_t *n);
	const char *(*filesrc)(void *files, size_t i, void *changed, void *length);
} dw;

static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_libdw(void)
{
	static const struct {
		const char *name;
		void *to;
	} needed[] = {
		{ "dwarf_begin", &dw.begin }, { "dwarf_end", &dw.end }, { "dwarf_get_units", &dw.get_units },
		{ "dwarf_ranges", &dw.ranges }, { "dwarf_getsrc_die", &dw.getsrc_die }, { "dwarf_linesrc", &dw.linesrc },
		{ "dwarf_lineno", &dw.lineno }, { "dwarf_child", &dw.child }, { "dwarf_siblingof", &dw.siblingof },
		{ "dwarf_tag", &dw.tag }, { "dwarf_attr", &dw.attr },
		{ "dwarf_attr_integrate", &dw.attr_integrate }, { "dwarf_formstring", &dw.formstring },
		{ "dwarf_formudata", &dw.formudata }, { "dwarf_getsrcfiles", &dw.getsrcfiles },
		{ "dwarf_filesrc", &dw.filesrc },
	};
	void *lib;

	/* With this variable, libdw's constructor loads an HTTP client for a search that is never used here. */
	unsetenv("DEBUGINFOD_URLS");
	lib = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		void *fn = dlsym(lib, needed[i].name);

		if (!fn)
			return;
		memcpy(needed[i].to, &fn, sizeof fn);
	}
	usable = dwarf_texts_find(lib);
}

bool dwarf_usable(void)
{
	pthread_once(&once, find_libdw);
	return usable;
}

/* An address range, start <= address < end, of unit or function number `what`. */
struct address_range {
	uint64_t start, end;
	uint32_t what;
};

struct address_ranges {
	struct address_range *list;     /* by start, once sorted */
	uint64_t *reach;                /* highest end of list[0..i] */
	size_t n, cap;
};

/* A compilation unit. */
struct unit {
	struct die whole;               /* die with the lines */
	struct die inner;               /* die with the functions: the same, or that of a .dwo file */
	struct die *functions;
	size_t n_functions, cap;
	struct address_ranges spans;    /* address ranges of its functions */
	bool read;
};

struct dwarf {
	void *dw;
	struct unit *units;
	size_t n_units, cap;
	struct address_ranges spans;    /* address ranges of the units */
	struct joined {
		struct joined *next;
		const char *folder, *file;      /* pointers of libdw */
		char text[];
	} *joined;
};

static bool address_ranges_add(struct address_ranges *s, uint64_t start, uint64_t end, uint32_t what)
{
	if (!GROW(s->list, s->n + 1, s->cap))
		return false;
	s->list[s->n++] = (struct address_range){ start, end, what };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct address_range *s = a, *t = b;

	return s->start < t->start ? -1 : s->start > t->start;
}

static bool address_ranges_sort(struct address_ranges *s)
{
	s->reach = malloc(s->n * sizeof *s->reach + 1);
	if (!s->reach)
		return false;
	if (s->n)
		qsort(s->list, s->n, sizeof *s->list, by_start);
	for (size_t i = 0; i < s->n; i++)
		s->reach[i] = i && s->reach[i - 1] > s->list[i].end ? s->reach[i - 1] : s->list[i].end;
	return true;
}

static void address_ranges_release(struct address_ranges *s)
{
	free(s->list);
	free(s->reach);
}

/* Of the spans that contain the address, the one that begins last; or NULL. */
static const struct address_range *address_ranges_at(const struct address_ranges *s, uint64_t address)
{
	size_t low = 0, high = s->reach ? s->n : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low > 0 && s->reach[low - 1] > address; low--)
		if (s->list[low - 1].end > address)
			return &s->list[low - 1];
	return NULL;
}

/* Adds the address ranges of a die.  False: out of memory. */
static bool add_ranges(struct address_ranges *s, struct die *die, uint32_t what)
{
	uint64_t base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dw.ranges(die, at, &base, &start, &end)) > 0)
		/* Functions removed by the linker have address 0. */
		if (start && start < end && !address_ranges_add(s, start, end, what))
			return false;
	return true;
}

static int add_unit(struct dwarf *d, const struct die *whole, const struct die *split, uint8_t type)
{
	struct unit *u;

	if (!GROW(d->units, d->n_units + 1, d->cap))
		return -1;
	u = &d->units[d->n_units];
	*u = (struct unit){ .whole = *whole, .inner = *whole };
	if (type == DW_UT_skeleton && split->address && dwarf_texts_end_of_unit(split->cu))
		u->inner = *split;
	if (!add_ranges(&d->spans, &u->whole, d->n_units))
		return -1;
	d->n_units++;
	return 0;
}

/* Whether the deadline has passed; reading all units of a large library takes seconds. */
static bool late(const struct dwarf *d, int64_t deadline)
{
	struct timespec now;

	if (!deadline || d->n_units % 64)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec > deadline;
}

struct dwarf *dwarf_open(int fd, int64_t deadline)
{
	struct dwarf *d = dwarf_usable() ? calloc(1, sizeof *d) : NULL;
	struct die whole = { 0 }, split = { 0 };
	void *unit = NULL;
	uint16_t version;
	uint8_t type = 0;
	bool readable;

	if (!d)
		return NULL;
	d->dw = dw.begin(fd, 0);
	readable = dwarf_texts_end(d->dw);
	while (readable && !late(d, deadline) && dw.get_units(d->dw, unit, &unit, &version, &type, &whole, &split) == 0) {
		if (add_unit(d, &whole, &split, type) < 0)
			break;
		memset(&split, 0, sizeof split);
	}
	if (!d->spans.n || !address_ranges_sort(&d->spans)) {
		dwarf_close(d);
		return NULL;
	}
	return d;
}

void dwarf_close(struct dwarf *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n_units; i++) {
		free(d->units[i].functions);
		address_ranges_release(&d->units[i].spans);
	}
	free(d->units);
	address_ranges_release(&d->spans);
	for (struct joined *j = d->joined, *next; j; j = next) {
		next = j->next;
		free(j);
	}
	if (d->dw)
		dw.end(d->dw);
	free(d);
}

/* ---- functions of a unit ---- */

/* Limits of nested namespaces, types and functions, and of inlining, for damaged files. */
#define MOST_NESTED  64
#define MOST_INLINED 128

static bool may_hold_functions(unsigned tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_subprogram;
}

static bool add_function(struct unit *u, struct die *die)
{
	size_t before = u->spans.n;

	if (!add_ranges(&u->spans, die, u->n_functions))
		return false;
	if (u->spans.n == before)
		return true;    /* a declaration */
	if (!GROW(u->functions, u->n_functions + 1, u->cap)) {
		u->spans.n = before;
		return false;
	}
	u->functions[u->n_functions++] = *die;
	return true;
}

static bool add_functions(struct unit *u, struct die *parent, int nested)
{
	struct die die;

	if (nested > MOST_NESTED || dw.child(parent, &die) != 0)
		return true;
	do {
		unsigned tag = (unsigned)dw.tag(&die);

		if (tag == DW_TAG_subprogram && !add_function(u, &die))
			return false;
		if (may_hold_functions(tag) && !add_functions(u, &die, nested + 1))
			return false;
	} while (dw.siblingof(&die, &die) == 0);
	return true;
}

static struct die *function_at(struct unit *u, uint64_t address)
{
	const struct address_range *s;

	if (!u->read) {
		u->read = true;
		if (!add_functions(u, &u->inner, 0) || !address_ranges_sort(&u->spans))
			u->spans.n = 0;
	}
	s = address_ranges_at(&u->spans, address);
	return s ? &u->functions[s->what] : NULL;
}

/* ---- one address ---- */

static bool covers(struct die *die, uint64_t address)
{
	uint64_t base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dw.ranges(die, at, &base, &start, &end)) > 0)
		if (start <= address && address < end)
			return true;
	return false;
}

/* Finds the inlined functions around an address, outermost first; returns their number. */
static size_t inlined_at(struct die *in, uint64_t address, struct die *out, size_t max)
{
	struct die die = *in, child;
	size_t n = 0;

	/* Each iteration goes one level (block or inlined function) deeper. */
	for (int level = 0; level < 2 * MOST_INLINED; level++) {
		bool found = false;

		if (dw.child(&die, &child) != 0)
			break;
		do {
			unsigned tag = (unsigned)dw.tag(&child);

			found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				covers(&child, address);
			if (found && tag == DW_TAG_inlined_subroutine && n < max)
				out[n++] = child;
		} while (!found && dw.siblingof(&child, &child) == 0);
		if (!found)
			break;
		die = child;
	}
	return n;
}

static const char *name_of(struct die *die)
{
	struct dwarf_attribute a;
	const char *name = NULL;

	if (dw.attr_integrate(die, DW_AT_linkage_name, &a) || dw.attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		name = dw.formstring(&a);
	if (!name && dw.attr_integrate(die, DW_AT_name, &a))
		name = dw.formstring(&a);
	return name;
}

/* The absolute path of a file; in DWARF 5 it is relative to the compiler's working folder.  Results are cached. */
static const char *absolute(struct dwarf *d, struct unit *u, const char *file)
{
	const char *folder = NULL;
	struct joined *j;
	struct dwarf_attribute a;

	if (!file || *file == '/' || !dw.attr(&u->whole, DW_AT_comp_dir, &a) || !(folder = dw.formstring(&a)))
		return file;
	for (j = d->joined; j; j = j->next)
		if (j->file == file && j->folder == folder)
			return j->text;
	j = malloc(sizeof *j + strlen(folder) + strlen(file) + 2);
	if (!j)
		return file;
	*j = (struct joined){ d->joined, folder, file };
	sprintf(j->text, "%s/%s", folder, file);
	d->joined = j;
	return j->text;
}

/* Sets file and line of the call of an inlined function. */
static void call_place(struct dwarf *d, struct unit *u, struct die *inlined, struct dwarf_place *out)
{
	struct dwarf_attribute a;
	uint64_t file = 0, line = 0;
	void *files;
	size_t n;

	if (dw.attr(inlined, DW_AT_call_line, &a) && dw.formudata(&a, &line) == 0)
		out->line = (uint32_t)line;
	if (dw.attr(inlined, DW_AT_call_file, &a) && dw.formudata(&a, &file) == 0 &&
	    dw.getsrcfiles(&u->inner, &files, &n) == 0 && file < n)
		out->file = absolute(d, u, dw.filesrc(files, file, NULL, NULL));
}

size_t dwarf_at(struct dwarf *d, uint64_t address, struct dwarf_place *out, size_t max)
{
	const struct address_range *s = address_ranges_at(&d->spans, address);
	struct unit *u = s ? &d->units[s->what] : NULL;
	struct die *function, inlined[MOST_INLINED];
	size_t n_inlined, n = 0;
	void *line;
	int number;

	if (!u || !max)
		return 0;
	out[0] = (struct dwarf_place){ 0 };
	line = dw.getsrc_die(&u->whole, address);
	if (line && dw.lineno(line, &number) == 0) {
		out[0].file = absolute(d, u, dw.linesrc(line, NULL, NULL));
		out[0].line = number > 0 ? (uint32_t)number : 0;        /* 0: code of several lines */
	}
	function = function_at(u, address);
	if (!function)
		return out[0].line ? 1 : 0;
	n_inlined = inlined_at(function, address, inlined, MOST_INLINED);
	for (size_t i = n_inlined; i > 0 && n + 1 < max; i--) {
		out[n].function = name_of(&inlined[i - 1]);
		out[n + 1] = (struct dwarf_place){ 0 };
		call_place(d, u, &inlined[i - 1], &out[++n]);
	}
	out[n].function = name_of(function);
	return n + 1;
}
