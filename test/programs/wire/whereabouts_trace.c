/*
 * whereabouts_trace OUT: writes a trace with one stack of one process, from a program's description of itself on stdin:
 *	host NAME                               host of the trace (default: this machine)
 *	boot                                    the trace was recorded before this machine was booted
 *	pid N
 *	image BASE LOW HIGH BUILDID|- PATH      in hexadecimal
 *	native ADDRESS
 *	python NAME LINE FILE                   a code object without a line table
 */
#include "trace/file.h"
#include "trace/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct writer *writer;
static struct file_header head;
static struct stack_frame frames[1 << 17];
static uint32_t n_frames, strings, images, codes, pid = 1;
static const char *out;

static void put(uint32_t process, unsigned kind, const void *row, const void *tail, size_t n)
{
	struct trace_error err = { 0 };
	int fd;

	if (!writer) {
		fd = open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		writer = writer_new(fd, &head, &err);
	}
	if (writer && writer_rows(writer, process, CLOCK_REAL, record_by_kind(kind), row, 1, tail, n, &err) == 0)
		return;
	fprintf(stderr, "whereabouts_trace: %s\n", err.text);
	exit(1);
}

static uint32_t string(const char *text)
{
	put(1, ROW_string, &(struct string_row){ ++strings, (uint32_t)strlen(text) }, text, strlen(text));
	return strings;
}

static void put_image(const char *line)
{
	struct image_row row = { .start = head.start_real, .id = ++images };
	char hex[130], path[4096];
	uint8_t id[64];

	if (sscanf(line, "image %lx %lx %lx %129s %4095[^\n]", &row.base, &row.low, &row.high, hex, path) != 5)
		exit(2);
	for (const char *p = hex; *p != '-' && p[0] && p[1] && row.bytes < sizeof id; p += 2) {
		const char two[] = { p[0], p[1], '\0' };

		id[row.bytes++] = (uint8_t)strtoul(two, NULL, 16);
	}
	row.name = string(path);
	put(1, ROW_image, &row, id, row.bytes);
}

static void put_python(const char *line)
{
	char name[256], file[4096];
	struct code_row row = { .id = ++codes, .version = 0x030b };

	if (sscanf(line, "python %255s %u %4095[^\n]", name, &row.first_line, file) != 3)
		exit(2);
	row.name = string(name);
	row.file = string(file);
	put(1, ROW_code, &row, NULL, 0);
	frames[n_frames++] = (struct stack_frame){ codes, STACK_FRAME_PYTHON, STACK_NO_OFFSET };
}

static void read_boot(uint8_t id[16])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	unsigned byte;

	for (int i = 0; f && i < 16; i++) {
		if (fscanf(f, i == 4 || i == 6 || i == 8 || i == 10 ? "-%2x" : "%2x", &byte) == 1)
			id[i] = (uint8_t)byte;
	}
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	char line[8192];

	out = argc > 1 ? argv[1] : "stacks.gtrace";
	gethostname(head.host, sizeof head.host - 1);
	read_boot(head.boot_id);
	head.session = 0x57ac;
	head.start_real = time(NULL) * 1000000000ll;
	while (fgets(line, sizeof line, stdin)) {
		uint64_t address;

		sscanf(line, "host %63s", head.host);
		if (strncmp(line, "boot", 4) == 0)
			head.boot_id[15] ^= 1;
		sscanf(line, "pid %u", &pid);
		if (strncmp(line, "image ", 6) == 0)
			put_image(line);
		if (strncmp(line, "python ", 7) == 0)
			put_python(line);
		if (sscanf(line, "native %lx", &address) == 1 && n_frames < 1 << 17)
			frames[n_frames++] = (struct stack_frame){ address, STACK_FRAME_NATIVE, 0 };
	}
	put(0, ROW_process, &(struct process_row){ head.start_real, 0, 1, pid, pid, 1, 0, PROCESS_CONNECTED }, NULL, 0);
	put(1, ROW_stack, &(struct stack_row){ 1, 0, n_frames, n_frames * (uint32_t)sizeof *frames }, frames,
	    n_frames * sizeof *frames);
	return writer_finish(writer, NULL) < 0;
}
