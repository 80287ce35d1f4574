#include "inject/images.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/intern.h"
#include "inject/memory.h"
#include "inject/peek.h"

#define PLACES      8192u       /* a power of two, twice what programs with everything in them load */
#define MOST_PHDRS  64
#define NOTES_BYTES 1024

/* Same layout as struct dl_find_object of glibc 2.35, which older headers do not have. */
struct found_object {
	unsigned long long flags;
	void *low, *high;
	struct link_map *map;
	void *eh_frame;
	uint64_t reserved[9];           /* seven there; some machines have two words before them */
};

static int (*find_object)(void *pc, struct found_object *found);

/*
 * Images that were ever met, by the page that they begin at.  Never taken out: a child that was forked goes on with them, and so does
 * a thread that is just looking.
 */
static struct image *places[PLACES];
static uint32_t n_images, last_id;

uint32_t images_generation, images_unloading;
static uint32_t ends_due;               /* images went away whose rows do not say so yet */

static char program[PATH_MAX];          /* the loader has no name for it */

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

/* ---- what the file's headers say ---- */

/* The note that ld --build-id makes; link editors of other toolchains make the same. */
static void take_build_id(struct image *image, uint64_t at, uint64_t size)
{
	char notes[NOTES_BYTES];
	size_t n = size < sizeof notes ? (size_t)size : sizeof notes;

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

	/* Behind the file's part there are zeroes, which hold no rules. */
	if (!(p->p_flags & PF_R) || low < image->low || low + p->p_filesz > image->high || image->n_segments == IMAGE_SEGMENTS)
		return;
	image->segments[image->n_segments].low = low;
	image->segments[image->n_segments++].high = low + p->p_filesz;
}

/* The headers are in the first segment of all that link editors make; where they are not, there are no rules and no build id. */
static void take_headers(struct image *image)
{
	Elf64_Phdr phdrs[MOST_PHDRS];
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
			take_build_id(image, image->base + phdrs[i].p_vaddr, phdrs[i].p_filesz);
		else if (phdrs[i].p_type == PT_GNU_EH_FRAME)
			eh_hdr = image->base + phdrs[i].p_vaddr;
	}
	for (uint32_t i = 0; i < image->n_segments; i++)
		if (eh_hdr >= image->segments[i].low && eh_hdr < image->segments[i].high)
			image->eh_hdr = (const uint8_t *)(uintptr_t)eh_hdr;
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

	/* Where our code is in the program itself, as in our own tests, it is a part of it. */
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

static struct image *add(const struct image *like, const char *path)
{
	struct image *image = memory_take(sizeof *image), *none = NULL;

	if (!image || __atomic_load_n(&n_images, __ATOMIC_RELAXED) >= PLACES / 2)
		return NULL;
	*image = *like;
	image->start = clock_now();
	take_headers(image);
	image->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	for (uint32_t i = place_of(image->low);; i = (i + 1) & (PLACES - 1), none = NULL) {
		if (__atomic_compare_exchange_n(&places[i], &none, image, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
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
	struct image *image;

	for (uint32_t i = place_of(like->low); (image = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE)); i = (i + 1) & (PLACES - 1)) {
		if (image->low != like->low || __atomic_load_n(&image->end, __ATOMIC_RELAXED))
			continue;
		if (is_same(image, like))
			return image;
		is_gone(image);         /* something else is there: it was unmapped behind our back */
	}
	return add(like, path);
}

bool images_any(void)
{
	return __atomic_load_n(&n_images, __ATOMIC_RELAXED);
}

/* ---- older glibc: the loader's list, under a lock that is held for moments ---- */

struct search {
	uint64_t pc;
	struct image found;
	const char *path;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
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
	/* It says no more of the loader's own entry than where the name is, which lives as long. */
	s->found = (struct image){ .low = low, .high = high, .base = info->dlpi_addr, .link_map = info->dlpi_name };
	s->path = info->dlpi_name;
	return 1;
}

static struct image *known_at(uint64_t pc)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct image *image = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);

		if (image && pc >= image->low && pc < image->high && !__atomic_load_n(&image->end, __ATOMIC_RELAXED))
			return image;
	}
	return NULL;
}

struct image *images_at(uint64_t pc, bool quick)
{
	struct found_object f;
	struct search s = { .pc = pc };

	if (find_object) {
		if (find_object((void *)(uintptr_t)pc, &f) != 0)
			return NULL;
		s.found = (struct image){ .low = (uint64_t)(uintptr_t)f.low, .high = (uint64_t)(uintptr_t)f.high,
					  .base = f.map ? f.map->l_addr : 0, .link_map = f.map };
		return table_look(&s.found, f.map ? f.map->l_name : NULL);
	}
	if (quick)
		return known_at(pc);
	return dl_iterate_phdr(visit, &s) ? table_look(&s.found, s.path) : NULL;
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

/* Its name, while it is mapped: the loader's, or ours of the program.  What was named from the working folder is found from there alone. */
static const char *path_of(const struct image *image, char whole[PATH_MAX])
{
	const char *path;
	size_t n;

	if (!image->link_map)
		return NULL;
	path = find_object ? ((const struct link_map *)image->link_map)->l_name : image->link_map;
	if (!path || !*path)
		return program;
	if (*path == '/' || !strchr(path, '/') || syscall(SYS_getcwd, whole, PATH_MAX) < 0 || *whole != '/')
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
	char path[PATH_MAX];
	int saved = errno;

	images_write_ends(s);
	if (epoch == guest->epoch || __atomic_load_n(&image->end, __ATOMIC_RELAXED))
		return epoch == guest->epoch ? image->id : 0;
	image->name = intern_text(s, path_of(image, path));
	errno = saved;
	write_row(s, image);    /* by two threads at once: twice the same row */
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
		struct search s = { .pc = image->low };

		if (!dl_iterate_phdr(visit, &s) || !is_same(&s.found, image))
			return false;
	}
	/* The same again, or another one that was given its place, and even the loader's entry? */
	now.n_build_id = now.n_segments = 0;
	take_headers(&now);
	return now.n_build_id == image->n_build_id && memcmp(now.build_id, image->build_id, now.n_build_id) == 0 &&
	       now.n_segments == image->n_segments && memcmp(now.segments, image->segments, sizeof now.segments) == 0;
}

void images_look_for_gone(void)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct image *image = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);

		if (image && !__atomic_load_n(&image->end, __ATOMIC_RELAXED) && !is_there(image))
			is_gone(image);
	}
}

void images_write_ends(struct stream *s)
{
	if (likely(!__atomic_load_n(&ends_due, __ATOMIC_RELAXED)) || !__atomic_exchange_n(&ends_due, 0, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < PLACES; i++) {
		struct image *image = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);

		if (image && __atomic_load_n(&image->end, __ATOMIC_RELAXED) && image->epoch == guest->epoch &&
		    !__atomic_exchange_n(&image->end_written, 1, __ATOMIC_RELAXED))
			write_row(s, image);
	}
}
