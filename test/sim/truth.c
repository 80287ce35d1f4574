/* SIM_TRUTH=path: one JSON line per operation, call or event.  Each process appends whole lines to the same file. */
#include "test/sim/engine.h"

#include <cuda.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_MAX_BYTES 16384            /* tests use kernel names longer than 4 KiB */

static int truth_fd = -2;               /* -2: not opened yet, -1: SIM_TRUTH is not set or cannot be opened */
static dev_t truth_dev;
static ino_t truth_ino;

static int truth_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), high;
	struct stat st;

	/* A high number: programs that close all their descriptors seldom go that far. */
	high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 900) : -1;
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	if (fd >= 0 && !fstat(fd, &st)) {
		truth_dev = st.st_dev;
		truth_ino = st.st_ino;
	}
	return fd;
}

/* False if the program has closed the descriptor; its number may now be another file.  The truth file is then opened again. */
static bool truth_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == truth_dev && st.st_ino == truth_ino;
}

static bool truth_wanted(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const char *path;
	int fd = __atomic_load_n(&truth_fd, __ATOMIC_ACQUIRE);

	if (fd == -1 || (fd >= 0 && truth_ours(fd)))
		return fd >= 0;
	path = getenv("SIM_TRUTH");
	pthread_mutex_lock(&lock);
	fd = truth_fd;
	if (fd == -2 || (fd >= 0 && !truth_ours(fd))) {
		fd = path && *path ? truth_open(path) : -1;
		__atomic_store_n(&truth_fd, fd, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return fd >= 0;
}

static void put_string(char *out, size_t size, const char *s)
{
	size_t n = 0;

	for (; s && *s && n + 8 < size; s++) {
		if (*s == '"' || *s == '\\')
			out[n++] = '\\';
		if ((unsigned char)*s < 0x20)
			n += (size_t)snprintf(out + n, size - n, "\\u%04x", *s);
		else
			out[n++] = *s;
	}
	out[n] = '\0';
}

static void __attribute__((format(printf, 1, 2))) put_line(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "{\"pid\":%d,\"tid\":%ld,", getpid(), syscall(SYS_gettid));
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n - 3, fmt, ap);
	va_end(ap);
	if (n > LINE_MAX_BYTES - 3)
		n = LINE_MAX_BYTES - 3;
	line[n++] = '}';
	line[n++] = '\n';
	if (write(truth_fd, line, (size_t)n) < 0)
		return;                 /* the program has closed it; the test for that does not need this line */
}

static const char *copy_name(const struct op *op)
{
	static const char *const name[] = { "?", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD",
					    "HtoH", "PtoP" };

	return op->copy_kind < sizeof(name) / sizeof(*name) ? name[op->copy_kind] : "?";
}

static const char *fate_name(enum op_fate fate)
{
	static const char *const name[] = { "not enabled", "recorded", "dropped", "lost" };

	return name[fate];
}

void truth_op(const struct op *op, enum op_fate fate)
{
	static const char *const type[] = { "kernel", "memcpy", "memset", "sync", "overhead", "memory", "graph", "pool", "jit", "unified" };
	char name[LINE_MAX_BYTES / 2], more[256] = "";

	if (!truth_wanted())
		return;
	put_string(name, sizeof(name), op->type == OP_MEMCPY ? copy_name(op) : op->name);
	if (op->type == OP_KERNEL)
		snprintf(more, sizeof(more), ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"registers\":%u,"
			 "\"static\":%u,\"dynamic\":%u,\"cooperative\":%u,\"cluster\":[%u,%u,%u]", op->grid[0],
			 op->grid[1], op->grid[2], op->block[0], op->block[1], op->block[2], op->registers,
			 op->static_shared, op->dynamic_shared, op->cooperative, op->cluster[0], op->cluster[1],
			 op->cluster[2]);
	else if (op->type == OP_MEMORY || op->type == OP_POOL)
		snprintf(more, sizeof(more), ",\"bytes\":%llu,\"async\":%u,\"operation\":%u,\"kind\":%u,\"address\":%llu,"
			 "\"pool\":%llu,\"size\":%llu,\"used\":%llu", (unsigned long long)op->bytes, op->async, op->value, op->src_kind,
			 (unsigned long long)op->address, (unsigned long long)op->pool, (unsigned long long)op->pool_size,
			 (unsigned long long)op->pool_used);
	else if (op->type == OP_UNIFIED)
		snprintf(more, sizeof(more), ",\"kind\":%u,\"value\":%llu,\"address\":%llu,\"target\":%u,\"flags\":%u", op->value,
			 (unsigned long long)op->bytes, (unsigned long long)op->address, op->peer_device, op->copy_kind);
	else if (op->type == OP_JIT)
		snprintf(more, sizeof(more), ",\"operation\":%u,\"job\":%llu,\"bytes\":%llu", op->value,
			 (unsigned long long)op->node, (unsigned long long)op->bytes);
	else if (op->type == OP_MEMCPY || op->type == OP_MEMSET)
		snprintf(more, sizeof(more), ",\"bytes\":%llu,\"async\":%u,\"from\":%u,\"to\":%u,\"peer\":%u,\"value\":%u",
			 (unsigned long long)op->bytes, op->async, op->src_kind, op->dst_kind, op->peer_device, op->value);
	else
		snprintf(more, sizeof(more), ",\"kind\":%u,\"result\":%u,\"event\":%u", op->value, op->result, op->event);
	put_line("\"type\":\"%s\",\"name\":\"%s\",\"start\":%llu,\"end\":%llu,\"correlation\":%u,\"device\":%u,"
		 "\"context\":%u,\"stream\":%u%s,\"graph\":%u,\"node\":%llu,\"zeroed\":%s,\"fate\":\"%s\"",
		 type[op->type], name, (unsigned long long)op->start, (unsigned long long)op->end, op->corr, op->device,
		 op->context, op->stream, more, op->graph, (unsigned long long)op->node,
		 op->zeroed || op->backward ? "true" : "false", fate_name(fate));
}

void truth_node(uint64_t node, uint64_t original, uint32_t type, bool told)
{
	if (truth_wanted())
		put_line("\"type\":\"node\",\"node\":%llu,\"original\":%llu,\"kind\":%u,\"correlation\":%u,\"told\":%s",
			 (unsigned long long)node, (unsigned long long)original, type, call_correlation(), told ? "true" : "false");
}

void truth_line(const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (!truth_wanted())
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	put_line("%s", text);
}

void truth_device(const struct device *dev)
{
	char uuid[33] = "";

	for (int i = 0; i < 16; i++)
		snprintf(uuid + 2 * i, 3, "%02x", dev->uuid[i]);
#define OF(name) device_attribute(CU_DEVICE_ATTRIBUTE_##name)
	truth_line("\"type\":\"device\",\"device\":%d,\"uuid\":\"%s\",\"sms\":%d,\"major\":%d,\"minor\":%d,\"clock\":%d,"
		   "\"l2\":%d,\"warp\":%d,\"threads_block\":%d,\"threads_sm\":%d,\"blocks_sm\":%d,\"shared_sm\":%d,"
		   "\"shared_block\":%d,\"registers_sm\":%d,\"registers_block\":%d", dev->ordinal, uuid,
		   OF(MULTIPROCESSOR_COUNT), OF(COMPUTE_CAPABILITY_MAJOR), OF(COMPUTE_CAPABILITY_MINOR), OF(CLOCK_RATE),
		   OF(L2_CACHE_SIZE), OF(WARP_SIZE), OF(MAX_THREADS_PER_BLOCK), OF(MAX_THREADS_PER_MULTIPROCESSOR),
		   OF(MAX_BLOCKS_PER_MULTIPROCESSOR), OF(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
		   OF(MAX_SHARED_MEMORY_PER_BLOCK), OF(MAX_REGISTERS_PER_MULTIPROCESSOR), OF(MAX_REGISTERS_PER_BLOCK));
#undef OF
}

void truth_call(const struct sim_call *call)
{
	if (!truth_wanted())
		return;
	put_line("\"type\":\"api\",\"domain\":\"%s\",\"cbid\":%u,\"name\":\"%s\",\"start\":%llu,\"end\":%llu,"
		 "\"correlation\":%u,\"result\":%d,\"outermost\":%s,\"told\":%s",
		 call->domain == SIM_RUNTIME_API ? "runtime" : "driver", call->cbid, call->name,
		 (unsigned long long)call->begin, (unsigned long long)call->end, call->corr, *(int *)call->ret,
		 call->outer ? "false" : "true", call->told ? "true" : "false");
}

void truth_event(const char *what)
{
	if (truth_wanted())
		put_line("\"type\":\"event\",\"name\":\"%s\",\"start\":%llu", what, (unsigned long long)sim_now());
}
