#include "inject/unwind/images.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/core/intern.h"
#include "inject/core/memory.h"
#include "inject/core/scratch.h"
#include "inject/core/seccomp.h"
#include "inject/unwind/peek.h"

#define PLACES      8192u       /* hash places, a power of two; at most half are used, more than the largest programs need */
#define MOST_PHDRS  64
#define NOTES_BYTES 1024

/* Same layout as struct dl_find_object of glibc 2.35, which older headers do not have. */
struct found_object {
	unsigned long long flags;
	void *low, *high;
	struct link_map *map;
	void *eh_frame;
	uint64_t reserved[9];           /* glibc has seven, on some machines after two more words */
};

static int (*find_object)(void *pc, struct found_object *found);

/* All images ever looked up, hashed by their lowest page.  Never removed: forked children and concurrent readers use them. */
static struct image **places;           /* NULL: none yet */
static uint32_t n_images, last_id;

uint32_t images_generation, images_unloading;
static uint32_t ends_due;               /* 1: rows of unmapped images lack their end */

static char program[PATH_MAX];          /* path of the executable: its link_map has an empty name */

#define TOOLS 4
static struct { uint64_t low, high; } tools[TOOLS];
static uint32_t n_tools;

void images_init(void)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

	program[n < 0 ? 0 : n] = '\0';
	*(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
	dlerror();
}

bool images_link_map(const void *address, const struct link_map **map)
{
	struct found_object found;

	if (!find_object)
		return false;
	*map = find_object((void *)(uintptr_t)address, &found) == 0 ? found.map : NULL;
	return true;
}

/* ---- the file's headers ---- */

/* Takes the build id from a PT_NOTE segment: the GNU note of --build-id, the same from all linkers. */
static void take_build_id(struct image *image, uint64_t at, uint64_t size, char notes[NOTES_BYTES])
{
	size_t n = size < NOTES_BYTES ? (size_t)size : NOTES_BYTES;

	if (image->n_build_id || !peek(notes, at, n))
		return;
	for (size_t i = 0; i + sizeof(Elf64_Nhdr) <= n;) {
		Elf64_Nhdr note;
		size_t name, desc;

		memcpy(&note, notes + i, sizeof note);
		name = i + sizeof note;
		desc = name + ((note.n_namesz + 3ull) & ~3ull);
		if (note.n_namesz > n || note.n_descsz > n || desc + note.n_descsz > n)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
			image->n_build_id = note.n_descsz < IMAGE_BUILD_ID ? note.n_descsz : IMAGE_BUILD_ID;
			memcpy(image->build_id, notes + desc, image->n_build_id);
			return;
		}
		i = desc + ((note.n_descsz + 3ull) & ~3ull);
	}
}

static void take_segment(struct image *image, const Elf64_Phdr *p)
{
	uint64_t low = image->base + p->p_vaddr;

	/* The bytes after p_filesz are zeroes and hold no unwind rules. */
	if (!(p->p_flags & PF_R) || low < image->low || low + p->p_filesz > image->high || image->n_segments == IMAGE_SEGMENTS)
		return;
	image->segments[image->n_segments].low = low;
	image->segments[image->n_segments++].high = low + p->p_filesz;
}

/* Reads the program headers, which all linkers place in the first segment.  Elsewhere: no unwind rules, no build id. */
static void read_headers(struct image *image, Elf64_Phdr phdrs[MOST_PHDRS], char notes[NOTES_BYTES])
{
	uint64_t eh_hdr = 0;
	Elf64_Ehdr e;

	if (!peek(&e, image->low, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_phentsize != sizeof phdrs[0] || e.e_phnum > MOST_PHDRS ||
	    !peek(phdrs, image->low + e.e_phoff, e.e_phnum * sizeof phdrs[0]))
		return;
	for (int i = 0; i < e.e_phnum; i++) {
		if (phdrs[i].p_type == PT_LOAD)
			take_segment(image, &phdrs[i]);
		else if (phdrs[i].p_type == PT_NOTE)
			take_build_id(image, image->base + phdrs[i].p_vaddr, phdrs[i].p_filesz, notes);
		else if (phdrs[i].p_type == PT_GNU_EH_FRAME)
			eh_hdr = image->base + phdrs[i].p_vaddr;
	}
	for (uint32_t i = 0; i < image->n_segments; i++)
		if (eh_hdr >= image->segments[i].low && eh_hdr < image->segments[i].high)
			image->eh_hdr = (const uint8_t *)(uintptr_t)eh_hdr;
}

static void take_headers(struct image *image)
{
	struct {
		Elf64_Phdr phdrs[MOST_PHDRS];
		char notes[NOTES_BYTES];
	} *room = scratch_push(sizeof *room);

	if (room)
		read_headers(image, room->phdrs, room->notes);
	scratch_pop(room);
}

/* ---- the table ---- */

static uint32_t place_of(uint64_t low)
{
	return (uint32_t)((low >> 12) * 0x9e3779b97f4a7c15ull >> 32) & (PLACES - 1);
}

static bool is_same(const struct image *image, const struct image *other)
{
	return image->low == other->low && image->high == other->high && image->base == other->base &&
	       image->link_map == other->link_map;
}

static void mark_tool(struct image *image, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	uint64_t self = (uint64_t)(uintptr_t)mark_tool;
	uint32_t i;

	/* An empty name is the executable: unit tests link this code in, and it counts as the program. */
	if (!name || !*name)
		return;
	if (self >= image->low && self < image->high)
		image->tool = IMAGE_OURS;
	else if (strncmp(name, "libcupti.so", 11) == 0)
		image->tool = IMAGE_CUPTI;
	else
		return;
	i = __atomic_fetch_add(&n_tools, 1, __ATOMIC_RELAXED);
	if (i >= TOOLS)
		return;
	tools[i].low = image->low;
	__atomic_store_n(&tools[i].high, image->high, __ATOMIC_RELEASE);
}

bool images_is_tool(uint64_t pc, bool quick)
{
	uint32_t n = __atomic_load_n(&n_tools, __ATOMIC_RELAXED);
	const struct image *image;

	for (uint32_t i = 0; i < n && i < TOOLS; i++)
		if (pc >= tools[i].low && pc < __atomic_load_n(&tools[i].high, __ATOMIC_ACQUIRE))
			return true;
	image = images_at(pc, quick);
	return image && image->tool;
}

static struct image *add_image(const struct image *like, const char *path)
{
	struct image **all = MEMORY_TABLE(places, PLACES), *image = all ? memory_take(sizeof *image) : NULL, *none = NULL;

	if (!image || __atomic_load_n(&n_images, __ATOMIC_RELAXED) >= PLACES / 2)
		return NULL;
	*image = *like;
	image->start = clock_now();
	take_headers(image);
	image->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	for (uint32_t i = place_of(image->low);; i = (i + 1) & (PLACES - 1), none = NULL) {
		if (__atomic_compare_exchange_n(&all[i], &none, image, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			break;
		if (!none->end && is_same(none, image))
			return none;    /* another thread was faster */
	}
	__atomic_fetch_add(&n_images, 1, __ATOMIC_RELAXED);
	mark_tool(image, path);
	return image;
}

static void is_gone(struct image *image)
{
	int64_t none = 0;

	if (__atomic_compare_exchange_n(&image->end, &none, clock_now(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_add_fetch(&images_generation, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ends_due, 1, __ATOMIC_RELAXED);
}

static struct image *table_look(const struct image *like, const char *path)
{
	struct image **all = __atomic_load_n(&places, __ATOMIC_ACQUIRE), *image;

	for (uint32_t i = place_of(like->low); all && (image = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE)); i = (i + 1) & (PLACES - 1)) {
		if (image->low != like->low || __atomic_load_n(&image->end, __ATOMIC_RELAXED))
			continue;
		if (is_same(image, like))
			return image;
		is_gone(image);         /* another object at this address: the old one was unmapped unnoticed */
	}
	return add_image(like, path);
}

uint32_t images_met(void)
{
	return __atomic_load_n(&n_images, __ATOMIC_RELAXED);
}

/* ---- glibc before 2.35: dl_iterate_phdr(), whose lock is held briefly ---- */

struct image_search {
	uint64_t pc;
	struct image found;
	const char *path;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct image_search *s = arg;
	uint64_t low = UINT64_MAX, high = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < low)
			low = (info->dlpi_addr + p->p_vaddr) & ~4095ull;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > high)
			high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (s->pc < low || s->pc >= high)
		return 0;
	/* dl_iterate_phdr() does not give the link_map.  The name's address identifies it and lives as long. */
	s->found = (struct image){ .low = low, .high = high, .base = info->dlpi_addr, .link_map = info->dlpi_name };
	s->path = info->dlpi_name;
	return 1;
}

static struct image *known_at(uint64_t pc)
{
	struct image **all = __atomic_load_n(&places, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; all && i < PLACES; i++) {
		struct image *image = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE);

		if (image && pc >= image->low && pc < image->high && !__atomic_load_n(&image->end, __ATOMIC_RELAXED))
			return image;
	}
	return NULL;
}

static __attribute__((noinline)) struct image *search_at(uint64_t pc)
{
	struct image_search s = { .pc = pc };

	return dl_iterate_phdr(visit, &s) ? table_look(&s.found, s.path) : NULL;
}

struct image *images_at(uint64_t pc, bool quick)
{
	struct found_object f;

	if (find_object) {
		struct image like;

		if (find_object((void *)(uintptr_t)pc, &f) != 0)
			return NULL;
		like = (struct image){ .low = (uint64_t)(uintptr_t)f.low, .high = (uint64_t)(uintptr_t)f.high,
				       .base = f.map ? f.map->l_addr : 0, .link_map = f.map };
		return table_look(&like, f.map ? f.map->l_name : NULL);
	}
	return quick ? known_at(pc) : search_at(pc);
}

/* ---- rows ---- */

static void write_row(struct stream *s, const struct image *image)
{
	struct image_row *row = stream_reserve(s, ROW_image, stream_tail(sizeof *row, image->n_build_id));

	if (!row)
		return;
	*row = (struct image_row){ .start = image->start, .end = image->end, .base = image->base, .low = image->low,
				   .high = image->high, .id = image->id, .name = image->name, .bytes = image->n_build_id };
	memcpy(row + 1, image->build_id, image->n_build_id);
	stream_publish(s, row);
}

/* The image's path, NULL if it is gone: the loader's name, or the executable's path.  A relative path is made absolute in `whole`. */
static const char *path_of(const struct image *image, char whole[PATH_MAX])
{
	const char *path;
	size_t n;

	if (!image->link_map)
		return NULL;
	path = find_object ? ((const struct link_map *)image->link_map)->l_name : image->link_map;
	if (!path || !*path)
		return program;
	if (*path == '/' || !strchr(path, '/') || !seccomp_allows(SECCOMP_PEEK) ||
	    syscall(SYS_getcwd, whole, PATH_MAX) < 0 || *whole != '/')
		return path;
	n = strlen(whole);
	if (n + 1 + strlen(path) >= PATH_MAX)
		return path;
	whole[n] = '/';
	strcpy(whole + n + 1, strncmp(path, "./", 2) == 0 ? path + 2 : path);
	return whole;
}

uint32_t images_describe(struct stream *s, struct image *image)
{
	uint32_t epoch = __atomic_load_n(&image->epoch, __ATOMIC_ACQUIRE);
	int saved = errno;
	char *path;

	images_write_ends(s);
	if (epoch == guest->epoch || __atomic_load_n(&image->end, __ATOMIC_RELAXED))
		return epoch == guest->epoch ? image->id : 0;
	if (!(path = scratch_push(PATH_MAX)))
		return 0;
	image->name = intern_text(s, path_of(image, path));
	scratch_pop(path);
	errno = saved;
	write_row(s, image);    /* two threads at once write the same row twice */
	__atomic_store_n(&image->epoch, guest->epoch, __ATOMIC_RELEASE);
	return image->id;
}

static bool is_there(const struct image *image)
{
	struct image now = *image;

	if (find_object) {
		struct found_object f;

		if (find_object((void *)(uintptr_t)image->low, &f) != 0 || f.map != image->link_map ||
		    (uint64_t)(uintptr_t)f.high != image->high)
			return false;
	} else {
		struct image_search s = { .pc = image->low };

		if (!dl_iterate_phdr(visit, &s) || !is_same(&s.found, image))
			return false;
	}
	/* Another file may be mapped here, with a reused link_map: compare build id and segments. */
	now.n_build_id = now.n_segments = 0;
	take_headers(&now);
	return now.n_build_id == image->n_build_id && memcmp(now.build_id, image->build_id, now.n_build_id) == 0 &&
	       now.n_segments == image->n_segments && memcmp(now.segments, image->segments, sizeof now.segments) == 0;
}

void images_look_for_gone(void)
{
	struct image **all = __atomic_load_n(&places, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; all && i < PLACES; i++) {
		struct image *image = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE);

		if (image && !__atomic_load_n(&image->end, __ATOMIC_RELAXED) && !is_there(image))
			is_gone(image);
	}
}

void images_write_ends(struct stream *s)
{
	if (likely(!__atomic_load_n(&ends_due, __ATOMIC_RELAXED)) || !__atomic_exchange_n(&ends_due, 0, __ATOMIC_RELAXED))
		return;

	struct image **all = __atomic_load_n(&places, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; all && i < PLACES; i++) {
		struct image *image = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE);

		if (image && __atomic_load_n(&image->end, __ATOMIC_RELAXED) && image->epoch == guest->epoch &&
		    !__atomic_exchange_n(&image->end_written, 1, __ATOMIC_RELAXED))
			write_row(s, image);
	}
}
