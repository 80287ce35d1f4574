/* Resolution of frames: functions of this test, its libraries, the vdso, generated code and Python. */
#include "cli/model/stacks/symbols.h"

#include "cli/cmd/resolve.h"
#include "cli/model/stacks/stacks.h"
#include "cli/symbols/dwarf.h"
#include "cli/symbols/perfmap.h"
#include "cli/symbols/symbols.h"
#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"
#include "trace/error.h"
#include "trace/reader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- functions to be found: of this file, one in another, with a known line ---- */

static uintptr_t caller_at;
static int line_of_middle, line_of_outer;

static __attribute__((noinline)) void take_address(void)
{
	caller_at = (uintptr_t)__builtin_return_address(0) - 1;
}

static inline __attribute__((always_inline)) int symbols_middle(int v)
{
	line_of_middle = __LINE__ + 1;
	take_address();
	return v + 1;
}

static __attribute__((noinline)) int symbols_outer(int v)
{
	line_of_outer = __LINE__ + 1;
	v = symbols_middle(v);
	__asm__ volatile("" : "+r"(v));
	return v;
}

/* ---- the images of this process ---- */

struct listing {
	struct making *k;
	uint32_t n;
	uint32_t own, libc, vdso;       /* image ids */
	uintptr_t base;                 /* of the runner */
	bool with_ids;
	char own_path[4096];
};

static size_t id_of(const struct dl_phdr_info *info, const uint8_t **id)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = (note->n_namesz + 3) & ~3u;

			*id = at + sizeof *note + name;
			if (note->n_type == NT_GNU_BUILD_ID)
				return note->n_descsz;
			at = *id + ((note->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

static int list_image(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct listing *l = arg;
	struct image_row row = { .start = T0, .base = info->dlpi_addr, .low = UINT64_MAX, .id = ++l->n };
	const char *name = l->n == 1 ? l->own_path : info->dlpi_name;
	const uint8_t *id = NULL;
	size_t n = id_of(info, &id);

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			uint64_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

			row.low = low < row.low ? low : row.low;
			row.high = low + info->dlpi_phdr[i].p_memsz;
		}
	if (l->n == 1) {
		l->own = l->n;
		l->base = info->dlpi_addr;
		l->with_ids = n > 0;
	}
	if (strstr(name, "libc.so"))
		l->libc = l->n;
	if (strstr(name, "vdso"))
		l->vdso = l->n;
	make_string(l->k, 1, 100 + l->n, name);
	row.name = 100 + l->n;
	row.bytes = (uint32_t)n;
	make_row(l->k, 1, ROW_image, &row, id, n);
	return 0;
}

/* A trace with the images of this process, and stacks of the given frames. */
static struct listing make_images(struct making *k, const struct stack_frame *frames, uint32_t n)
{
	struct listing l = { .k = k };
	const struct stack_row row = { 1, STACK_NATIVE, n, n * (uint32_t)sizeof *frames };

	if (readlink("/proc/self/exe", l.own_path, sizeof l.own_path - 1) < 0)
		test_skip("no /proc");
	make_begin(k);
	ROWS(k, 0, process, { T0, 0, 1, (uint32_t)getpid(), (uint32_t)getpid(), 1, 0, PROCESS_CONNECTED });
	dl_iterate_phdr(list_image, &l);
	make_row(k, 1, ROW_stack, &row, frames, n * sizeof *frames);
	make_end(k);
	return l;
}

static struct stack_frame native(const void *address)
{
	return (struct stack_frame){ (uintptr_t)address, STACK_FRAME_NATIVE, 0 };
}

static const char *function_of(struct model *m, struct stack_frame f)
{
	size_t n;
	const struct source_frame *frames = model_frames(m, 1, &f, 0, &n);

	CHECK(n > 0);
	return n ? model_string(m, frames[n - 1].function) : "";
}

static struct model *open_trace(const struct making *k, bool trace_only)
{
	struct model *m = model_open(k->path, NULL);

	CHECK(m != NULL);
	CHECK_EQ(model_look_in(m, &(struct lookup){ .symfs = "/", .trace_only = trace_only }), 0);
	return m;
}

TEST(functions_of_the_program_of_libraries_and_of_the_kernel_are_found)
{
	void *vdso_call = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *gettime = vdso_call ? dlsym(vdso_call, "__vdso_clock_gettime") : NULL;
	const struct stack_frame frames[] = {
		native((char *)make_begin + 4), native((char *)dlsym(RTLD_DEFAULT, "qsort_r") + 8),
		native(gettime ? (char *)gettime + 1 : (char *)make_begin),
	};
	struct making k;
	struct listing l = make_images(&k, frames, 3);
	struct model *m = open_trace(&k, false);

	CHECK_STR(function_of(m, frames[0]), "make_begin");
	CHECK_STR(function_of(m, frames[1]), "qsort_r");
	if (gettime && l.vdso)
		CHECK(strstr(function_of(m, frames[2]), "clock_gettime") != NULL);
	model_close(m);
	unmake(&k);
}

TEST(inlined_functions_have_their_lines_and_those_of_their_calls)
{
	const struct source_frame *f;
	struct stack_frame frame;
	struct making k;
	struct model *m;
	size_t n;

	CHECK_EQ(symbols_outer(1), 2);
	frame = native((void *)caller_at);
	make_images(&k, &frame, 1);
	m = open_trace(&k, false);
	f = model_frames(m, 1, &frame, 0, &n);
	if (!dwarf_usable()) {
		test_skip("needs libdw.so.1");
	} else if (n != 2) {
		/* Built without -g. */
		CHECK_EQ(n, 1);
		CHECK(!f[0].line);
	} else {
		CHECK_STR(model_string(m, f[0].function), "symbols_middle");
		CHECK_STR(model_string(m, f[1].function), "symbols_outer");
		CHECK_EQ(f[0].line, line_of_middle);
		CHECK_EQ(f[1].line, line_of_outer);
		CHECK_EQ(f[0].flags, FRAME_INLINED);
		CHECK_EQ(f[1].flags, 0);
		CHECK(strstr(model_string(m, f[0].file), "test/unit/cli/symbols.c") != NULL);
	}
	model_close(m);
	unmake(&k);
}

TEST(what_is_in_no_known_function_says_file_and_offset)
{
	static char data[64];
	char want[64];
	struct making k;
	const struct stack_frame frames[] = { native(data), native((void *)16) };
	struct listing l = make_images(&k, frames, 2);
	struct model *m = open_trace(&k, false);
	const struct source_frame *f;
	size_t n;

	f = model_frames(m, 1, &frames[0], 0, &n);
	snprintf(want, sizeof want, "[unit-cli+0x%lx]", (long)((uintptr_t)data - l.base));
	CHECK_EQ(n, 1);
	CHECK_STR(model_string(m, f->function), want);
	CHECK_STR(model_string(m, f->module), l.own_path);
	CHECK_EQ(f->flags, FRAME_UNKNOWN);
	CHECK_STR(function_of(m, frames[1]), "[0x10]");
	model_close(m);
	unmake(&k);
}

static void same_frames(struct model *m, struct model *other, const struct stack_frame *f)
{
	size_t n, n_other;
	const struct source_frame *a = model_frames(m, 1, f, 0, &n), *b = model_frames(other, 1, f, 0, &n_other);

	CHECK_EQ(n, n_other);
	for (size_t i = 0; i < n && i < n_other; i++) {
		CHECK_STR(model_string(m, a[i].function), model_string(other, b[i].function));
		CHECK_STR(model_string(m, a[i].file), model_string(other, b[i].file));
		CHECK_EQ(a[i].line, b[i].line);
		CHECK_EQ(a[i].flags, b[i].flags);
	}
}

TEST(a_resolved_trace_says_the_same_without_the_files_and_is_not_written_again)
{
	const struct resolve how = { .symfs = "/", .sources = true };
	struct stack_frame frames[3];
	struct resolved r;
	struct stat before, after;
	struct making k;
	struct model *m, *alone;
	struct trace t = TRACE_INIT;

	symbols_outer(1);
	frames[0] = native((void *)caller_at);
	frames[1] = native((char *)dlsym(RTLD_DEFAULT, "qsort_r") + 8);
	frames[2] = native((void *)16);
	make_images(&k, frames, 3);
	m = open_trace(&k, false);
	CHECK_EQ(resolve_trace(k.path, &how, &r), 0);
	CHECK_EQ(r.addresses, 3);
	CHECK_EQ(r.known, 2);
	CHECK_EQ(r.added, 2);
	CHECK_EQ(stat(k.path, &before), 0);
	alone = open_trace(&k, true);
	for (int i = 0; i < 3; i++)
		same_frames(m, alone, &frames[i]);
	CHECK_EQ(resolve_trace(k.path, &how, &r), 0);
	CHECK_EQ(r.known, 2);
	CHECK_EQ(stat(k.path, &after), 0);
	if (r.lined == 2)
		CHECK_EQ(after.st_size, before.st_size);
	CHECK_EQ(trace_open(&t, k.path, 0, NULL), 0);
	CHECK(t.finished);
	CHECK_EQ(trace_check(&t), 0);
	trace_close(&t);
	model_close(m);
	model_close(alone);
	unmake(&k);
}

TEST(a_set_of_symbols_written_later_replaces_the_earlier_one)
{
	const struct stack_frame frame = { 0x1234, STACK_FRAME_NATIVE, 0 };
	const struct image_row image = { .start = T0, .base = 0x1000, .low = 0x1000, .high = 0x2000, .id = 3, .name = 9 };
	const struct source_frame *f;
	struct making k;
	struct model *m;
	size_t n;

	make_begin(&k);
	ROWS(&k, 0, process, { T0, 0, 1, 10, 10, 1, 0, PROCESS_CONNECTED });
	make_string(&k, 1, 1, "old");
	make_string(&k, 1, 2, "inner");
	make_string(&k, 1, 3, "outer");
	make_string(&k, 1, 9, "/no/such/file.so");
	make_row(&k, 1, ROW_image, &image, "\1\2\3\4", 0);
	ROWS(&k, 1, symbol, { 0x234, 3, 1, 0, 0, 0, 0 });
	ROWS(&k, 1, symbol, { 0x111, 3, 2, 0, 0, 1, 0 }, { 0x234, 3, 2, 0, 7, 1, 0 }, { 0x234, 3, 3, 0, 8, 0, 0 });
	make_end(&k);
	m = open_trace(&k, true);
	f = model_frames(m, 1, &frame, 0, &n);
	CHECK_EQ(n, 2);
	CHECK_STR(model_string(m, f[0].function), "inner");
	CHECK_STR(model_string(m, f[1].function), "outer");
	CHECK_EQ(f[0].line, 7);
	model_close(m);
	unmake(&k);
}

TEST(two_libraries_at_one_address_are_told_apart_by_time)
{
	const struct stack_frame frame = { 0x1500, STACK_FRAME_NATIVE, 0 };
	struct making k;
	struct model *m;
	size_t n;

	make_begin(&k);
	ROWS(&k, 0, process, { T0, 0, 1, 10, 10, 1, 0, PROCESS_CONNECTED });
	make_string(&k, 1, 1, "/lib/first.so");
	make_string(&k, 1, 2, "/lib/second.so");
	make_row(&k, 1, ROW_image, &(struct image_row){ T0, T0 + 100, 0x1000, 0x1000, 0x2000, 1, 1, 0, 0 }, NULL, 0);
	make_row(&k, 1, ROW_image, &(struct image_row){ T0 + 200, 0, 0x1000, 0x1000, 0x2000, 2, 2, 0, 0 }, NULL, 0);
	make_end(&k);
	m = open_trace(&k, true);
	CHECK_STR(model_string(m, model_frames(m, 1, &frame, T0 + 50, &n)->module), "/lib/first.so");
	CHECK_STR(model_string(m, model_frames(m, 1, &frame, T0 + 250, &n)->module), "/lib/second.so");
	CHECK_STR(model_string(m, model_frames(m, 1, &frame, 0, &n)->module), "/lib/second.so");
	CHECK_STR(model_string(m, model_frames(m, 1, &frame, 0, &n)->function), "[second.so+0x500]");
	model_close(m);
	unmake(&k);
}

TEST(code_that_the_process_made_is_named_by_its_map)
{
	const struct stack_frame frame = { 0x7000010, STACK_FRAME_NATIVE, 0 };
	char path[64];
	struct making k;
	struct model *m;
	FILE *map;

	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	CHECK(map != NULL);
	fprintf(map, "7000000 20 first\n7000000 20 py::f:/a b.py\nnonsense\n7000100 0 none\nffffffffffffffff ff over\n7000200");
	fclose(map);
	make_images(&k, &frame, 1);
	m = open_trace(&k, false);
	CHECK_STR(function_of(m, frame), "py::f:/a b.py");
	CHECK_STR(function_of(m, (struct stack_frame){ 0x7000020, STACK_FRAME_NATIVE, 0 }), "[0x7000020]");
	model_close(m);
	unlink(path);
	unmake(&k);
}

TEST(a_map_that_a_link_has_put_there_names_nothing)
{
	char path[] = "/tmp/gprof-unit-map-XXXXXX", link[40];
	struct perfmap map;
	int fd = mkstemp(path);

	CHECK_EQ(write(fd, "7000000 20 f\n", 13), 13);
	close(fd);
	perfmap_read(&map, path, 0, false);
	CHECK_STR(perfmap_at(&map, 0x7000010), "f");
	perfmap_release(&map);
	snprintf(link, sizeof link, "%s.link", path);
	CHECK_EQ(symlink(path, link), 0);
	perfmap_read(&map, link, 0, false);
	CHECK(!perfmap_at(&map, 0x7000010));
	perfmap_release(&map);
	unlink(link);
	unlink(path);
}

#define OTHER_USER 65533
#define THIS_USER 65534

TEST(a_user_believes_its_own_map_and_roots_alone)
{
	static const struct {
		uid_t reader, owner;
		bool any_owner, named;
	} cases[] = {
		{ 0, 0, false, true }, { 0, OTHER_USER, false, false }, { 0, OTHER_USER, true, true },
		{ THIS_USER, THIS_USER, false, true }, { THIS_USER, 0, false, true },
		{ THIS_USER, OTHER_USER, false, false }, { THIS_USER, OTHER_USER, true, true },
	};
	char path[] = "/tmp/gprof-unit-map-XXXXXX";
	struct perfmap map;
	int fd;

	if (geteuid() != 0) {
		test_skip("only root can give a file to another user");
		return;
	}
	fd = mkstemp(path);
	CHECK_EQ(write(fd, "7000000 20 f\n", 13), 13);
	CHECK_EQ(fchmod(fd, 0644), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK_EQ(fchown(fd, cases[i].owner, cases[i].owner), 0);
		CHECK_EQ(seteuid(cases[i].reader), 0);
		perfmap_read(&map, path, 0, cases[i].any_owner);
		CHECK_EQ(perfmap_at(&map, 0x7000010) != NULL, cases[i].named);
		perfmap_release(&map);
		CHECK_EQ(seteuid(0), 0);
	}
	close(fd);
	unlink(path);
}

TEST(python_sources_are_written_once_and_read_line_by_line)
{
	const char text[] = "import x\n\ndef f():\n    return 1";
	const struct resolve how = { .symfs = "/", .sources = SOURCES_OWN };
	const struct stack_frame frame = { 5, STACK_FRAME_PYTHON, STACK_NO_OFFSET };
	char path[] = "/tmp/gprof-unit-source-XXXXXX.py";
	const char *line;
	uint32_t file;
	struct resolved r;
	struct making k;
	struct model *m;
	size_t n;

	CHECK_EQ(write(mkstemps(path, 3), text, sizeof text - 1), sizeof text - 1);
	make_begin(&k);
	ROWS(&k, 0, process, { T0, 0, 1, 10, 10, 1, 0, PROCESS_CONNECTED });
	make_string(&k, 1, 1, "Net.forward");
	make_string(&k, 1, 2, path);
	make_row(&k, 1, ROW_code, &(struct code_row){ 5, 1, 2, 3, 0x030b, 0 }, NULL, 0);
	make_row(&k, 1, ROW_stack, &(struct stack_row){ 1, STACK_PYTHON, 1, sizeof frame }, &frame, sizeof frame);
	make_end(&k);
	CHECK_EQ(resolve_trace(k.path, &how, &r), 0);
	CHECK_EQ(r.sources, 1);
	CHECK_EQ(resolve_trace(k.path, &how, &r), 0);
	CHECK_EQ(r.sources, 0);
	m = open_trace(&k, true);
	file = model_intern(m, path);
	CHECK(model_frames(m, 1, &frame, 0, &n) == NULL && n == 0);     /* those are not looked up in files */
	line = model_source_line(m, file, 1, &n);
	CHECK(line && n == 8 && memcmp(line, "import x", 8) == 0);
	line = model_source_line(m, file, 2, &n);
	CHECK(line && n == 0);
	line = model_source_line(m, file, 4, &n);
	CHECK(line && n == 12 && memcmp(line, "    return 1", 12) == 0);
	CHECK(model_source_line(m, file, 5, &n) == NULL);
	model_close(m);
	unlink(path);
	unmake(&k);
}

TEST(a_trace_that_is_not_finished_is_not_resolved)
{
	const struct resolve how = { 0 };
	struct resolved r;
	struct making k;

	make_begin(&k);
	ROWS(&k, 0, process, { T0, 0, 1, 10, 10, 1, 0, PROCESS_CONNECTED });
	CHECK_EQ(resolve_trace(k.path, &how, &r), -1);         /* its writer has it */
	make_abandon(&k);
	CHECK_EQ(resolve_trace(k.path, &how, &r), -1);
	unmake(&k);
}
