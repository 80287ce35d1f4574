/*
 * A guest that writes the wire protocol itself, correctly or not.  Its arguments are its actions, in order, e.g.
 *
 *	fake_guest roster=c hello thread api=100 kernels=1000 push=step wait=go kill=9
 *
 * Actions without a number: roster=HOW ask (sends hello; a later hello reads the answer) hello thread stack pop full cupti running clean
 * scribble scribble-head bad-kind bad-length bad-tail bad-used bad-state old-version shrink (the last two before hello); with a number:
 * api=N kernels=N start-range=N drop=N health=REASON sleep-ms=N exit=N kill=SIGNAL children=N; with a text: string=TEXT push=TEXT wait=FILE
 * touch=FILE; exec: executes this program again with the remaining arguments.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/config.h"
#include "trace/records.h"
#include "trace/wire.h"

static struct arena *arena;
static struct bell *bell;
static struct block *block;
static uint32_t strings, sequence, corr, how_old = WIRE_VERSION;
static int64_t start;
static bool shrinks;
static int connection = -1;     /* the connection, from ask() until hello() */

static void die(const char *what)
{
	fprintf(stderr, "fake_guest: %s: %s\n", what, strerror(errno));
	exit(3);
}

static int64_t now(void)
{
	return arena->clock == CLOCK_TSC ? (int64_t)tsc_now() : clock_ns(CLOCK_MONOTONIC);
}

static void roster(char how)
{
	char path[200], line[ROSTER_LINE_MAX];
	int fd, n;

	start = clock_ns(CLOCK_REALTIME);
	snprintf(path, sizeof path, "%s/roster", getenv(WIRE_ENV));
	n = snprintf(line, sizeof line, "R1 %c %d %d %lld fake_guest\n", how, getpid(), getppid(), (long long)start);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		die(path);
	close(fd);
}

static void take_block(void)
{
	for (uint32_t i = 0; i < arena->n_small + arena->n_large; i++) {
		uint32_t unused = BLOCK_FREE;

		if (!__atomic_compare_exchange_n(&arena->block_state[i], &unused, BLOCK_OWNED, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		block = arena_block(arena, i);
		block->index = i;
		block->cap = (i < arena->n_small ? SMALL_BLOCK : LARGE_BLOCK) - (uint32_t)sizeof *block;
		block->thread = 1;
		__atomic_fetch_add(&arena->n_taken, 1, __ATOMIC_RELAXED);
		return;
	}
	block = NULL;
}

static void full(void)
{
	if (!block)
		return;
	__atomic_store_n(&arena->block_state[block->index], BLOCK_FULL, __ATOMIC_RELEASE);
	block = NULL;
	__atomic_fetch_add(&bell->rings, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&bell->sleeping, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* length: value of the head's field; 0: the correct one. */
static void put(unsigned kind, const void *row, size_t size, const char *tail, size_t n_tail, uint32_t length)
{
	struct row_head h = { .kind = (uint16_t)kind, .length = length };
	size_t room = (sizeof h + size + n_tail + 7) & ~7ul;
	char *p;

	if (!length)
		h.length = (uint32_t)room;
	if (block && block->cap - block->used < room)
		full();
	if (!block)
		take_block();
	if (!block) {           /* no block: counts a drop, as the real guest does */
		arena->drops[kind].count++;
		return;
	}
	p = (char *)(block + 1) + block->used;
	memcpy(p, &h, sizeof h);
	memcpy(p + sizeof h, row, size);
	memcpy(p + sizeof h + size, tail, n_tail);
	__atomic_store_n(&block->used, block->used + (uint32_t)room, __ATOMIC_RELEASE);
}

static uint32_t string(const char *text)
{
	struct string_row row = { .id = ++strings, .bytes = (uint32_t)strlen(text) };

	put(ROW_string, &row, sizeof row, text, row.bytes, 0);
	return row.id;
}

static void ask(void)
{
	struct wire_hello h = { .version = how_old, .size = sizeof h, .pid = (uint32_t)getpid(),
		.ppid = (uint32_t)getppid(), .start = start, .alone = 1 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	snprintf(to.sun_path, sizeof to.sun_path, "%s/sock", getenv(WIRE_ENV));
	strcpy(h.name, "fake_guest");
	if (connect(connection, (struct sockaddr *)&to, sizeof to) < 0)
		die(to.sun_path);
	if (send(connection, &h, sizeof h, 0) != sizeof h)
		die("hello");
}

static void hello(void)
{
	static struct config config;
	struct wire_welcome w;
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov[2] = { { &w, sizeof w }, { &config, sizeof config } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	int fds[2];

	if (connection < 0)
		ask();
	if (recvmsg(connection, &m, 0) < (ssize_t)sizeof w)
		die("hello");
	close(connection);
	connection = -1;
	if (w.refused) {
		printf("refused %u\n", w.refused);
		exit(4);
	}
	errno = EPROTO;
	if (w.carrier != CARRIER_SHM || !CMSG_FIRSTHDR(&m))
		die("the answer is the pipe");
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fds);
	arena = mmap(NULL, w.arena_size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	bell = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (arena == MAP_FAILED || bell == MAP_FAILED || arena->magic != ARENA_MAGIC)
		die("arena");
	if (shrinks && ftruncate(fds[0], 4096) == 0)
		fprintf(stderr, "fake_guest: the arena can be shrunk\n");
	close(fds[0]);
	close(fds[1]);
	arena->next_thread = 1;
	arena->slots[0].owner = 1;
	__atomic_fetch_or(&arena->flags, PROCESS_CONNECTED, __ATOMIC_RELAXED);
	__atomic_store_n(&arena->life, LIFE_RUNNING, __ATOMIC_RELEASE);
}

static void thread(void)
{
	struct thread_row row = { .start = now(), .id = 1, .tid = (uint32_t)getpid(), .bytes = 4 };

	put(ROW_thread, &row, sizeof row, "main", 4, 0);
}

static void api(long n)
{
	for (; n > 0; n--) {
		struct api_row row = { .start = now(), .duration = 10, .corr = ++corr, .thread = 1, .step = -1 };

		put(ROW_api, &row, sizeof row, "", 0, 0);
	}
}

static void kernels(long n)
{
	for (; n > 0; n--, corr++) {
		struct kernel_row row = { .start = clock_ns(CLOCK_REALTIME), .duration = 1500 + rand() % 65536,
			.corr = corr, .name = 1 + corr % 5 };

		put(ROW_kernel, &row, sizeof row, "", 0, 0);
	}
}

static void push(const char *name)
{
	struct slot *s = &arena->slots[0];

	s->stack[s->depth] = (struct open_range){
		.id = 1ull << 40 | ++sequence, .start = now(), .name = string(name), .thread = 1, .step = -1,
	};
	__atomic_store_n(&s->depth, s->depth + 1, __ATOMIC_RELEASE);
}

static void pop(bool and_forget)
{
	struct slot *s = &arena->slots[0];
	struct open_range *o = &s->stack[s->depth - 1];
	struct range_row row = { .start = o->start, .duration = now() - o->start, .id = o->id, .thread = 1,
		.end_thread = 1, .name = o->name, .step = -1 };

	put(ROW_range, &row, sizeof row, "", 0, 0);
	if (!and_forget)
		__atomic_store_n(&s->depth, s->depth - 1, __ATOMIC_RELEASE);
}

static void start_ranges(long n)
{
	for (long i = 0; i < n; i++) {
		arena->started[i * 7 % MAX_STARTED] = (struct open_range){ .id = 1ull << 40 | ++sequence,
			.start = now(), .thread = 1 };
		arena->next_started++;
	}
}

static void scribble(void *from, size_t n)
{
	unsigned char *p = from;

	srand(1);
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)rand();
}

static void wait_for(const char *file)
{
	for (int i = 0; access(file, F_OK) != 0; i++) {
		if (i > 3000)
			die(file);
		usleep(10000);
	}
}

static void children(long n)
{
	for (; n > 0; n--) {
		if (fork() == 0) {
			roster('c');
			_exit(0);
		}
		wait(NULL);
	}
}

static bool with_number(const char *do_this, long n)
{
	struct { const char *name; void (*run)(long n); } table[] = {
		{ "api", api }, { "kernels", kernels }, { "start-range", start_ranges }, { "children", children },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (strcmp(do_this, table[i].name) == 0) {
			table[i].run(n);
			return true;
		}
	}
	if (strcmp(do_this, "drop") == 0)
		arena->drops[ROW_api].count += (uint64_t)n;
	else if (strcmp(do_this, "health") == 0)
		arena->health[n].count++;
	else if (strcmp(do_this, "sleep-ms") == 0)
		usleep((unsigned)n * 1000);
	else if (strcmp(do_this, "exit") == 0)
		_exit((int)n);
	else if (strcmp(do_this, "kill") == 0)
		raise((int)n);
	else
		return false;
	return true;
}

static bool with_text(const char *do_this, const char *text)
{
	if (strcmp(do_this, "roster") == 0)
		roster(text[0]);
	else if (strcmp(do_this, "string") == 0)
		string(text);
	else if (strcmp(do_this, "push") == 0)
		push(text);
	else if (strcmp(do_this, "wait") == 0)
		wait_for(text);
	else if (strcmp(do_this, "touch") == 0)
		close(open(text, O_CREAT | O_WRONLY, 0600));
	else
		return false;
	return true;
}

/* Writes an image row of this program, and a stack of one frame in it. */
static __attribute__((noinline)) void stack(void)
{
	extern char __executable_start, end;
	const struct stack_frame frame = { (uint64_t)__builtin_return_address(0) - 1, STACK_FRAME_NATIVE, 0 };
	struct image_row image = { .start = now(), .base = (uint64_t)&__executable_start,
				   .low = (uint64_t)&__executable_start, .high = (uint64_t)&end, .id = 1 };
	const struct stack_row row = { 1, STACK_NATIVE, 1, sizeof frame };
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		die("readlink");
	image.name = string(path);
	put(ROW_image, &image, sizeof image, "", 0, 0);
	put(ROW_stack, &row, sizeof row, (const char *)&frame, sizeof frame, 0);
}

static bool badly(const char *do_this)
{
	struct string_row lie = { .id = 1, .bytes = 100000 };
	struct kernel_row row = { 0 };

	if (strcmp(do_this, "bad-kind") == 0)
		put(99, &row, sizeof row, "", 0, 0);
	else if (strcmp(do_this, "bad-length") == 0)
		put(ROW_kernel, &row, sizeof row, "", 0, 12);
	else if (strcmp(do_this, "bad-tail") == 0)
		put(ROW_string, &lie, sizeof lie, "abc", 3, 0);
	else if (strcmp(do_this, "bad-used") == 0)
		block->used = 0x7ffffff0;
	else if (strcmp(do_this, "bad-state") == 0)
		arena->block_state[3] = 77;
	else if (strcmp(do_this, "shrink") == 0)
		shrinks = true;
	else if (strcmp(do_this, "old-version") == 0)
		how_old = 77;
	else if (strcmp(do_this, "scribble") == 0)
		scribble(arena, arena->blocks + (1 << 20));
	else if (strcmp(do_this, "scribble-head") == 0)
		scribble(arena, 128);
	else
		return false;
	return true;
}

static bool plainly(const char *do_this)
{
	if (strcmp(do_this, "hello") == 0)
		hello();
	else if (strcmp(do_this, "ask") == 0)
		ask();
	else if (strcmp(do_this, "thread") == 0)
		thread();
	else if (strcmp(do_this, "pop") == 0)
		pop(false);
	else if (strcmp(do_this, "stack") == 0)
		stack();
	else if (strcmp(do_this, "pop-half") == 0)
		pop(true);
	else if (strcmp(do_this, "full") == 0)
		full();
	else if (strcmp(do_this, "cupti") == 0)
		__atomic_fetch_or(&arena->flags, PROCESS_CUPTI | PROCESS_CUDA, __ATOMIC_RELAXED);
	else if (strcmp(do_this, "clean") == 0)
		arena->life = LIFE_ENDED;
	else
		return badly(do_this);
	return true;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		bool known;

		if (strcmp(argv[i], "exec") == 0) {
			argv[i] = argv[0];
			execv("/proc/self/exe", argv + i);
			die("exec");
		}
		if (equals)
			*equals = '\0';
		if (equals)
			known = with_text(argv[i], equals + 1) || with_number(argv[i], atol(equals + 1));
		else
			known = plainly(argv[i]);
		if (!known) {
			errno = EINVAL;
			die(argv[i]);
		}
		if (equals)
			*equals = '=';
	}
	return 0;
}
