/*
 * Walks frames of a fake free-threaded CPython 3.14: a table of offsets (_Py_DebugOffsets), a thread state, frames and code objects, laid
 * out as in the headers of 3.14t.  test/e2e/python-*.sh use real interpreters.
 */
#include "inject/python/python_state.h"

#include <elf.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

#define FRAMES 4u       /* three functions, and the record on the C stack behind them */
#define COPIES 3u       /* of the instructions: the shared ones, this thread's, another thread's */
#define CODE   232u     /* where a code object's own instructions begin */

struct object {
	uint64_t word[80];
};

static struct {
	uint64_t runtime[128];
	uint64_t state[64];
	struct object frame[FRAMES], code[FRAMES - 1], text[2 * (FRAMES - 1)], lines, code_type;
	uint64_t text_type[64], bytes_type[64];
	uint64_t copies[1 + COPIES];
	uint8_t instructions[COPIES][256];
	struct { uint64_t name; int32_t type, reserved; int64_t offset, flags; uint64_t doc; } members[8];
} made;

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void *this_state(void)
{
	return made.state;
}

static void put(struct object *o, unsigned offset, uint64_t value)
{
	memcpy((char *)o + offset, &value, sizeof value);
}

/* Interned has a byte of its own there; then kind 1, compact, ascii. */
static uint64_t make_text(struct object *o, const char *text)
{
	uint32_t state = 1u << 8 | 1u << 11 | 1u << 12;

	put(o, 24, at(made.text_type));
	put(o, 32, strlen(text));
	memcpy((char *)o + 48, &state, sizeof state);
	strcpy((char *)o + 56, text);
	return at(o);
}

static void make_table(void)
{
	static const struct { uint8_t slot; uint16_t value; } slots[] = {
		{ 4, 784 }, { 26, 72 }, { 27, 152 }, { 32, 8 }, { 33, 0 }, { 34, 56 }, { 36, 78 }, { 38, 72 }, { 40, 128 }, { 41, 136 },
		{ 42, 144 }, { 43, 152 }, { 44, 84 }, { 48, CODE }, { 49, 224 }, { 51, 24 }, { 75, 32 }, { 76, 48 }, { 78, 48 },
		{ 79, 32 }, { 80, 56 },
	};

	memcpy(made.runtime, "xdebugpy", 8);
	made.runtime[1] = 0x030e02f0;
	made.runtime[2] = 1;
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		made.runtime[slots[i].slot] = slots[i].value;
}

static void make_type(void)
{
	static const struct { const char *name; uint16_t offset; } members[] = {
		{ "co_filename", 128 }, { "co_name", 136 }, { "co_qualname", 144 }, { "co_firstlineno", 84 }, { "co_linetable", 152 },
	};

	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		made.members[i].name = at(members[i].name);
		made.members[i].offset = members[i].offset;
	}
	put(&made.code_type, 240 + 16, at(made.members));
	put(&made.code_type, 32 + 16, CODE);
}

/* Function i runs its unit i + 1, in the copy with this number. */
static void make_frame(unsigned i, unsigned copy)
{
	static const char *const names[] = { "leaf", "Model.forward", "<module>" };
	struct object *f = &made.frame[i], *c = &made.code[i];
	uint32_t first_line = 10 * (i + 1);
	uint64_t begin = copy ? at(made.instructions[copy]) : at(c) + CODE;

	put(c, 24, at(&made.code_type));
	put(c, 32, 64);         /* units */
	memcpy((char *)c + 84, &first_line, sizeof first_line);
	put(c, 128, make_text(&made.text[2 * i], "/home/me/net/train.py"));
	put(c, 136, make_text(&made.text[2 * i + 1], names[i]));
	put(c, 144, at(&made.text[2 * i + 1]));
	put(c, 152, at(&made.lines));
	put(c, 224, at(made.copies));
	put(f, 0, at(c) | 1);   /* a reference that is not counted */
	put(f, 8, at(&made.frame[i + 1]));
	put(f, 56, begin + 2 * (i + 1));
	put(f, 72, copy);
}

static void make_interpreter(void)
{
	memset(&made, 0, sizeof made);
	make_table();
	make_type();
	put(&made.lines, 24, at(made.bytes_type));
	put(&made.lines, 32, 2);
	memcpy((char *)&made.lines + 48, "\x80\x00", 2);
	made.copies[0] = COPIES;
	for (unsigned i = 0; i < COPIES; i++)
		made.copies[1 + i] = at(made.instructions[i]);
	for (unsigned i = 0; i < FRAMES - 1; i++)
		make_frame(i, i == 1 ? 0 : 1);
	((uint8_t *)&made.frame[FRAMES - 1])[78] = PY_OWNER_C;
	made.state[72 / 8] = at(made.frame);
	made.state[88 / 8] = at(&made.code_type);      /* some other object */
	made.state[152 / 8] = (uint64_t)pthread_self();
}

static const char *begin(uint32_t version)
{
	const char *why;

	fake_session(64, 16);
	python = (struct python){ .symbols = {
		.runtime = at(made.runtime), .code_type = at(&made.code_type), .text_type = at(made.text_type),
		.bytes_type = at(made.bytes_type), .this_state = at(this_state), .holder_state = at(this_state),
	} };
	python.layout.version = version;
	why = py_layout_fill(&python.layout, &python.symbols, version);
	python.phase = why ? PY_OFF : PY_FOUND;
	python.why_off = why;
	return why;
}

static const char *name_of(struct stream *s, const struct py_frame *f)
{
	uint32_t id = python_code_id(s, f);

	for (size_t i = 0, n = fake_count(ROW_code); i < n; i++) {
		const struct code_row *row = fake_row(ROW_code, i);

		if (row->id == id)
			return fake_string(row->name);
	}
	return "";
}

TEST(free_threads_of_3_14_are_walked_in_their_own_copies_of_the_code)
{
	struct py_frame frames[8];
	struct stream *s;

	make_interpreter();
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	CHECK_EQ(python_walk(NULL, frames, 8, PY_GUARDED), 3);
	s = stream_enter();
	CHECK_STR(name_of(s, &frames[0]), "leaf");
	CHECK_STR(name_of(s, &frames[1]), "Model.forward");
	CHECK_STR(name_of(s, &frames[2]), "<module>");
	stream_leave(s);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(frames[i].offset, 2 * (i + 1));
	CHECK_EQ(frames[2].entry, 1);
	CHECK_EQ(frames[2].c_stack, at(&made.frame[3]));
}

TEST(a_copy_of_the_code_that_cannot_be_is_no_place_in_it)
{
	struct py_frame frames[8];

	make_interpreter();
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	put(&made.frame[0], 72, COPIES);
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	CHECK_EQ(frames[0].offset, STACK_NO_OFFSET);
	put(&made.frame[0], 72, 0xffffffff);
	put(&made.code[2], 224, 0);
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	CHECK_EQ(frames[0].offset, STACK_NO_OFFSET);
	CHECK_EQ(frames[2].offset, STACK_NO_OFFSET);
	CHECK_EQ(frames[1].offset, 4);
}

/* As a build with other options, or another version's table, would be. */
TEST(a_table_with_a_wrong_offset_in_it_is_noticed_and_said_once)
{
	static const uint8_t slots[] = { 26, 27, 32, 33, 34, 36, 38, 40, 41, 42, 43, 44, 48, 49, 51 };

	for (size_t i = 0; i < sizeof slots; i++) {
		make_interpreter();
		made.runtime[slots[i]] += 16;
		CHECK(!begin(PY_VERSION(3, 14)));
		for (int again = 0; again < 3; again++)
			CHECK(!python_ready());
		CHECK_EQ(python.phase, PY_OFF);
		CHECK_EQ(guest->arena->health[HEALTH_python_off].count, 1);
		CHECK(strncmp(guest->arena->health[HEALTH_python_off].detail, "Python 3.14: unexpected ", 24) == 0);
	}
}

TEST(a_runtime_that_is_not_what_its_version_says_is_refused)
{
	make_interpreter();
	made.runtime[1] = 0x030d00f0;
	CHECK_STR(begin(PY_VERSION(3, 14)), "unexpected header of _PyRuntime (modified build of CPython?)");
	make_interpreter();
	made.runtime[32] = 1 << 20;
	CHECK_STR(begin(PY_VERSION(3, 14)), "invalid offsets in _PyRuntime (modified build of CPython?)");
	CHECK_STR(begin(PY_VERSION(3, 15)), "too new, versions 3.8 to 3.14 are supported");
	CHECK_STR(begin(PY_VERSION(3, 7)), "too old, versions 3.8 to 3.14 are supported");
	CHECK(!python_ready());
	python = (struct python){ 0 };
}

/* ---- what another thread does meanwhile ---- */

#define PAGE 4096u

static char *pages(uint32_t n)
{
	return mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *stack_pages;       /* of Python's frames */

/* The interpreter does not end yet when this thread looks, and has ended when it reads on. */
static void *state_of_one_that_ends(void)
{
	munmap(stack_pages, PAGE);
	return made.state;
}

static void *no_state(void)
{
	return NULL;
}

static void move_frames(char *to)
{
	memcpy(to, made.frame, sizeof made.frame);
	for (unsigned i = 0; i < FRAMES - 1; i++)
		put((struct object *)to + i, 8, at(to) + (i + 1) * sizeof made.frame[0]);
	made.state[72 / 8] = at(to);
}

static void *walk_at_the_end(void *without_gil)
{
	struct py_frame frames[8];
	struct stream *s;

	stack_pages = pages(1);
	make_interpreter();
	move_frames(stack_pages);
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	s = stream_enter();
	CHECK_EQ(python_how(), 0);
	CHECK_EQ(python_walk(NULL, frames, 8, python_how()), 3);
	python.symbols.holder_state = at(no_state);
	CHECK_EQ(python_how(), PY_SHARED);
	CHECK_EQ(python_walk(NULL, frames, 8, python_how()), 3);
	CHECK(python_site(s));
	python.stays = true;    /* it ends with the program alone: no guarded reads at each launch of a pool of threads */
	CHECK_EQ(python_how(), 0);
	CHECK(python_site(s));
	python.stays = false;
	python.symbols.this_state = at(state_of_one_that_ends);
	CHECK_EQ(python_walk(NULL, frames, 8, python_how()), 0);
	CHECK_EQ(python_site(s), 0);
	stream_leave(s);
	python = (struct python){ 0 };
	return without_gil;
}

TEST(frames_that_the_end_of_python_frees_meanwhile_are_no_frames)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, walk_at_the_end, NULL), 0);
	pthread_join(thread, NULL);
}

TEST(the_state_of_a_python_that_ends_is_asked_for_by_nobody_else)
{
	struct py_frame frames[8];

	make_interpreter();
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	made.runtime[784 / 8] = at(made.text_type);     /* the thread that ends it; another one's */
	python.symbols.this_state = 0x1000;             /* a call of it is a crash */
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 0);
	python.symbols.this_state = at(this_state);
	made.runtime[784 / 8] = at(made.state);
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	python = (struct python){ 0 };
}

TEST(a_chain_of_frames_without_an_end_is_followed_to_an_end)
{
	struct py_frame frames[8];
	struct stream *s;

	make_interpreter();
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	put(&made.frame[FRAMES - 1], 8, at(&made.frame[FRAMES - 1]));
	alarm(60);
	s = stream_enter();
	CHECK(python_site(s));
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	put(&made.frame[FRAMES - 2], 8, at(&made.frame[0]));
	CHECK(python_site(s));
	stream_leave(s);
	alarm(0);
	python = (struct python){ 0 };
}

/* A library whose begin is mapped, and what follows no longer: its dynamic section, or the table that this leads to. */
TEST(a_library_that_another_thread_unmaps_has_no_interpreter)
{
	struct py_symbols symbols;
	char *p = pages(3);
	Elf64_Ehdr *e = (Elf64_Ehdr *)p;
	Elf64_Phdr *h = (Elf64_Phdr *)(e + 1);
	Elf64_Dyn *d = (Elf64_Dyn *)(p + PAGE);

	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_phoff = sizeof *e;
	e->e_phentsize = sizeof *h;
	e->e_phnum = 1;
	*h = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_vaddr = PAGE };
	d[0] = (Elf64_Dyn){ DT_SYMTAB, { 2 * PAGE } };
	d[1] = (Elf64_Dyn){ DT_STRTAB, { 2 * PAGE } };
	d[2] = (Elf64_Dyn){ DT_GNU_HASH, { 2 * PAGE } };
	CHECK(!py_symbols_in(&symbols, at(p), at(p)));
	munmap(p + 2 * PAGE, PAGE);
	CHECK(!py_symbols_in(&symbols, at(p), at(p)));
	munmap(p + PAGE, PAGE);
	CHECK(!py_symbols_in(&symbols, at(p), at(p)));
	munmap(p, PAGE);
	CHECK(!py_symbols_in(&symbols, at(p), at(p)));
}

/* A handler of a signal may find the interpreter: none of its functions is asked. */
TEST(the_version_is_told_by_what_is_exported)
{
	unsigned long hex = 0x030b02f0;

	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .runtime = 8 }), PY_VERSION(3, 7));
	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .in_3_8 = 8 }), PY_VERSION(3, 8));
	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .in_3_8 = 8, .in_3_9 = 8 }), PY_VERSION(3, 9));
	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .in_3_8 = 8, .in_3_9 = 8, .in_3_10 = 8 }), PY_VERSION(3, 10));
	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .in_3_10 = 8, .version = at(&hex) }), PY_VERSION(3, 11));
	CHECK_EQ(py_symbols_version(&(struct py_symbols){ .version = 8 }), 0);
}

TEST(an_interpreter_runs_once_it_says_so)
{
	static uint64_t runtime[128];
	const struct py_symbols symbols = { .runtime = at(runtime) };

	CHECK(!py_runs(&symbols, PY_VERSION(3, 8)));
	runtime[1] = 1ull << 32;
	CHECK(py_runs(&symbols, PY_VERSION(3, 12)));
	runtime[5] = 800;
	CHECK(!py_runs(&symbols, PY_VERSION(3, 13)));
	runtime[100] = at(runtime);
	CHECK(py_runs(&symbols, PY_VERSION(3, 14)));
}

/* As a fork finds it when another thread is just writing: nobody ends that in the child. */
TEST(a_place_that_a_fork_found_half_written_serves_the_child)
{
	struct py_frame frames[8];
	struct py_known *place;
	struct stream *s;
	uint32_t id;

	make_interpreter();
	CHECK(!begin(PY_VERSION(3, 14)));
	CHECK(python_ready());
	CHECK_EQ(python_walk(NULL, frames, 8, 0), 3);
	s = stream_enter();
	CHECK(python_code_id(s, &frames[0]));
	stream_leave(s);
	place = py_known_at(frames[0].code);
	CHECK_EQ(place->number & 1, 0);
	place->number |= 1;
	place->writer = guest->epoch;
	place->id = 77;
	s = stream_enter();
	CHECK(python_code_id(s, &frames[0]) != 77);     /* in the parent: it is being written */
	CHECK_EQ(place->number & 1, 1);
	stream_leave(s);
	fake_session(64, 16);
	place->epoch = py_epoch();
	s = stream_enter();
	id = python_code_id(s, &frames[0]);
	CHECK(id && id != 77);
	CHECK_EQ(place->number & 1, 0);
	CHECK_EQ(place->id, id);
	CHECK_EQ(python_code_id(s, &frames[0]), id);
	stream_leave(s);
	python = (struct python){ 0 };
}
