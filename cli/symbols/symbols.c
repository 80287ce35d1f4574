#include "cli/symbols/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols/bounds.h"
#include "cli/symbols/demangle.h"
#include "cli/symbols/dwarf.h"
#include "cli/symbols/find.h"
#include "cli/symbols/functions.h"
#include "cli/symbols/packed.h"
#include "cli/symbols/perfmap.h"

struct symbol_file {
	struct symbol_file *next;
	struct symbols *symbols;
	struct wanted wanted;           /* path and id are owned by the object */
	struct elf module, debug;
	struct elf packed;              /* the file in .gnu_debugdata */
	uint8_t *packed_bytes;
	struct functions functions;
	struct bounds bounds;           /* read when an address without a name is met */
	bool bounds_tried;
	const char **names;             /* by function: demangled name, NULL until first used */
	struct dwarf *dwarf;
	bool opened, dwarf_tried;
};

struct process_map {
	struct process_map *next;
	uint32_t pid;
	struct perfmap map;
};

/* An owned text, in a list. */
struct owned_text {
	struct owned_text *next;
	char *owned;
};

struct symbols {
	char *symfs;
	bool trusted;
	int64_t deadline;
	struct symbol_file *objects;
	struct process_map *maps;
	struct owned_text *texts;
};

struct symbols *symbols_new(const char *symfs, bool trusted)
{
	struct symbols *s = calloc(1, sizeof *s);
	size_t n;

	if (!s)
		return NULL;
	s->trusted = trusted || symfs;
	s->symfs = strdup(symfs ? symfs : "");
	if (!s->symfs) {
		free(s);
		return NULL;
	}
	for (n = strlen(s->symfs); n && s->symfs[n - 1] == '/';)
		s->symfs[--n] = '\0';
	return s;
}

static void object_free(struct symbol_file *o)
{
	dwarf_close(o->dwarf);
	functions_release(&o->functions);
	elf_close(&o->module);
	elf_close(&o->debug);
	elf_close(&o->packed);
	free(o->packed_bytes);
	bounds_release(&o->bounds);
	free((char *)o->wanted.path);
	free((uint8_t *)o->wanted.id);
	free(o->names);
	free(o);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (struct symbol_file *o = s->objects, *next; o; o = next) {
		next = o->next;
		object_free(o);
	}
	for (struct process_map *m = s->maps, *next; m; m = next) {
		next = m->next;
		perfmap_release(&m->map);
		free(m);
	}
	for (struct owned_text *t = s->texts, *next; t; t = next) {
		next = t->next;
		free(t->owned);
		free(t);
	}
	free(s->symfs);
	free(s);
}

void symbols_deadline(struct symbols *s, int64_t deadline)
{
	s->deadline = deadline;
}

bool symbols_path(const struct symbols *s, const char *path, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "%s%s", s->symfs, path) < size;
}

/* Takes ownership of a malloc'ed text and returns it; NULL: it was NULL, or out of memory. */
static const char *keep(struct symbols *s, char *owned)
{
	struct owned_text *t = owned ? malloc(sizeof *t) : NULL;

	if (!t) {
		free(owned);
		return NULL;
	}
	*t = (struct owned_text){ s->texts, owned };
	s->texts = t;
	return owned;
}

struct symbol_file *symbols_object(struct symbols *s, const char *path, const uint8_t *id, size_t n, time_t when)
{
	struct symbol_file *o;

	for (o = s->objects; o; o = o->next)
		if (strcmp(o->wanted.path, path) == 0 && o->wanted.n_id == n &&
		    (n ? memcmp(o->wanted.id, id, n) == 0 : o->wanted.when == when))
			return o;
	o = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	o->symbols = s;
	o->module = o->debug = o->packed = (struct elf)ELF_INIT;
	o->wanted = (struct wanted){ s->symfs, s->trusted, strdup(path), malloc(n + 1), n, when };
	if (!o->wanted.path || !o->wanted.id) {
		object_free(o);
		return NULL;
	}
	if (n)
		memcpy((uint8_t *)o->wanted.id, id, n);
	o->next = s->objects;
	s->objects = o;
	return o;
}

/* Adds the functions of .gnu_debugdata, which a stripped file may contain. */
static void add_packed(struct symbol_file *o)
{
	o->packed_bytes = packed_open(&o->module, &o->packed);
	if (o->packed_bytes)
		functions_add(&o->functions, &o->packed);
}

/* Reads the full symbol table, from the module or a separate file; else exported functions and .gnu_debugdata. */
static void open_files(struct symbol_file *o)
{
	struct functions exported;

	o->opened = true;
	if (find_module(&o->wanted, &o->module) == 0 && functions_read(&o->functions, &o->module))
		goto names;
	if (find_symbols(&o->wanted, &o->module, &o->debug) < 0) {
		add_packed(o);
		goto names;
	}
	exported = o->functions;
	if (functions_read(&o->functions, &o->debug)) {
		functions_release(&exported);
	} else {
		functions_release(&o->functions);
		o->functions = exported;
		add_packed(o);
	}
names:
	o->names = calloc(o->functions.n + 1, sizeof *o->names);
	if (!o->names)
		o->functions.n = 0;
}

static bool has_lines(const struct elf *e)
{
	Elf64_Shdr s;

	return e->fd >= 0 && elf_find(e, ".debug_info", 0, &s) && s.sh_type != SHT_NOBITS;
}

static struct dwarf *lines_of(struct symbol_file *o)
{
	if (o->dwarf_tried)
		return o->dwarf;
	o->dwarf_tried = true;
	if (!dwarf_usable())
		return NULL;
	/* The module may have symbols but no lines; then search the separate file. */
	if (!has_lines(&o->module) && !o->debug.map)
		find_symbols(&o->wanted, &o->module, &o->debug);
	if (has_lines(&o->module))
		o->dwarf = dwarf_open(o->module.fd, o->symbols->deadline);
	else if (has_lines(&o->debug))
		o->dwarf = dwarf_open(o->debug.fd, o->symbols->deadline);
	return o->dwarf;
}

static const char *readable(struct symbol_file *o, const char *name, size_t n)
{
	char *copy = strndup(name, n), *shown = copy ? demangle(copy) : NULL;

	if (shown)
		free(copy);
	return keep(o->symbols, shown ? shown : copy);
}

static const char *function_name(struct symbol_file *o, uint64_t address)
{
	const struct elf_function *f = functions_at(&o->functions, address);
	const char **name = f ? &o->names[f - o->functions.list] : NULL;

	if (name && !*name)
		*name = readable(o, f->name, f->length);
	return name ? *name : NULL;
}

static bool mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

/*
 * Whether the symbol table's name of the outermost function is better than DWARF's.  DWARF's name lacks template arguments, or is libc's
 * internal one (__GI___qsort_r); but for a clone (f.part.0) DWARF's name is better.
 */
static bool table_says_more(const struct symbol_file *o, uint64_t address, const char *name)
{
	const struct elf_function *f = functions_at(&o->functions, address);

	return !name || (f && !mangled(name) && (mangled(f->name) || !memchr(f->name, '.', f->length)));
}

static size_t with_lines(struct symbol_file *o, uint64_t address, struct spot *out)
{
	struct dwarf_place found[MOST_PLACES];
	struct dwarf *d = lines_of(o);
	size_t n = d ? dwarf_at(d, address, found, MOST_PLACES) : 0;

	if (n && table_says_more(o, address, found[n - 1].function))
		found[n - 1].function = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *name = found[i].function;

		out[i] = (struct spot){ .function = name ? readable(o, name, strlen(name)) : NULL, .file = found[i].file,
					.line = found[i].line };
	}
	return n;
}

static bool in_time(const struct symbols *s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return !s->deadline || now.tv_sec * 1000000000ll + now.tv_nsec < s->deadline;
}

/* Name of an unnamed function: file and offset of its begin, so that all its addresses have one name; NULL: begin unknown. */
static const char *beginning(struct symbol_file *o, uint64_t address)
{
	const char *slash = strrchr(o->wanted.path, '/');
	const struct bound *b;
	char *text;

	if (!o->bounds_tried)
		bounds_read(&o->bounds, &o->module);
	o->bounds_tried = true;
	b = bounds_at(&o->bounds, address);
	if (!b || asprintf(&text, "%.400s+0x%llx", slash ? slash + 1 : o->wanted.path, (unsigned long long)b->start) < 0)
		return NULL;
	return keep(o->symbols, text);
}

size_t object_at(struct symbol_file *o, uint64_t address, bool lines, struct spot *out)
{
	const char *name;
	bool unnamed = false;
	size_t n = 0;

	if (!o->opened)
		open_files(o);
	if (lines && in_time(o->symbols))
		n = with_lines(o, address, out);
	name = n && out[n - 1].function ? NULL : function_name(o, address);
	if (!name && !(n && out[n - 1].function)) {
		name = beginning(o, address);
		unnamed = name != NULL;
	}
	if (n && !out[n - 1].function)
		out[n - 1].function = name, out[n - 1].unnamed = unnamed;
	else if (name)
		out[n++] = (struct spot){ .function = name, .unnamed = unnamed };
	return n;
}

const char *symbols_made(struct symbols *s, uint32_t pid, time_t when, uint64_t address)
{
	char name[64], path[PATH_MAX];
	struct process_map *m;

	for (m = s->maps; m && m->pid != pid; m = m->next)
		;
	if (!m && s->trusted) {
		m = calloc(1, sizeof *m);
		if (!m)
			return NULL;
		*m = (struct process_map){ .next = s->maps, .pid = pid };
		s->maps = m;
		snprintf(name, sizeof name, "/tmp/perf-%u.map", pid);
		if (symbols_path(s, name, path, sizeof path))
			perfmap_read(&m->map, path, *s->symfs ? 0 : when, *s->symfs);
	}
	return m ? perfmap_at(&m->map, address) : NULL;
}
