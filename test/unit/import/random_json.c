#include "test/unit/import/random_json.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

unsigned random_below(struct random_json *r, unsigned n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((r->state >> 33) % n);
}

static void __attribute__((format(printf, 2, 3))) put(struct random_json *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(r->text + r->n, r->size - r->n, fmt, ap);
	va_end(ap);
	r->n += r->n + (size_t)n < r->size ? (size_t)n : 0;
}

#define PICK(r, list) (list)[random_below(r, sizeof(list) / sizeof *(list))]

static void blank(struct random_json *r, unsigned spaced)
{
	static const char *const blanks[] = { "", " ", " ", "\n    ", "\t", "                                      " };

	if (spaced)
		put(r, "%s", PICK(r, blanks));
}

static void odd_value(struct random_json *r)
{
	static const char *const values[] = {
		"null", "true", "false", "NaN", "-Infinity", "N/A", "-1", "-0.0", "1e3", "1.5E-7", "0.1234567890123456789", "18446744073709551615",
		"123456789012345678901234567890", "-9223372036854775808", "9223372036854775807", "7.0", "\"7\"", "\" 12.5 \"", "\"\"", "[]", "{}",
		"[[1, 2], {\"]\": \"}\"}]", "\"a\\\"b\\\\\\u00e9\\ud83d\\ude00\\n\"", "\"x \"y\" z\"", "\"\tcontrol\x01\"", "\"stream 7\"", "[1,2,3]", "[12345678, 1, 2]",
		"[1 ,2 , 3 ]", "[1.5, 2, 3]", "[1, 2]", "\"0123456789012345678901234567890123456789012345678901234567890123456789\"", "12 34",
		"\"\xc3\xa9\xff\"", "0x17", "\"", "{", "-", "1.", ".5", "00012", "12345678", "123456789", "1234567890123456", "12345678901234567", "1.1234567", "1.12345678",
	};

	put(r, "%s", PICK(r, values));
}

static void usual_value(struct random_json *r, const char *key, unsigned i)
{
	static const char *const categories[] = {
		"cpu_op", "kernel", "cuda_runtime", "cuda_driver", "gpu_memcpy", "gpu_memset", "user_annotation", "python_function", "cuda_sync",
		"overhead", "gpu_user_annotation", "Trace", "ac2g", "cpu_instant_event", "what", "a\\\"b",
	};
	static const char phases[] = "XXXXXXXXXXXXBEbeiIsftMnC";
	static const char *const names[] = { "aten::mm", "k", "ProfilerStep#3", "[memory]", "process_name", "thread_name", "Memcpy HtoD (Pinned -> Device)",
					     "cudaLaunchKernel", "autograd::engine::evaluate_function: MmBackward0", "nn.Module: Linear_0" };

	if (strcmp(key, "ph") == 0)
		put(r, "\"%c\"", PICK(r, phases));
	else if (strcmp(key, "cat") == 0)
		put(r, "\"%s\"", PICK(r, categories));
	else if (strcmp(key, "name") == 0)
		put(r, "\"%s\"", PICK(r, names));
	else if (strcmp(key, "ts") == 0)
		put(r, random_below(r, 2) ? "%u.%03u" : "%u", 1000000 + i * 10 + random_below(r, 30), random_below(r, 1000));
	else if (strcmp(key, "dur") == 0)
		put(r, random_below(r, 2) ? "%u" : "%u.%03u", random_below(r, 90), random_below(r, 1000));
	else if (strcmp(key, "grid") == 0 || strcmp(key, "block") == 0)
		put(r, random_below(r, 2) ? "[%u, %u, 1]" : "[%u,%u,1]", random_below(r, 100), random_below(r, 100));
	else if (strcmp(key, "Input Dims") == 0)
		put(r, "[[%u, 4], [], [[2,3],[4]]]", random_below(r, 9));
	else if (strchr(key, ' ') && random_below(r, 4) == 0)
		put(r, "%u.%u", random_below(r, 1000), random_below(r, 100000));
	else
		put(r, "%u", random_below(r, 2) ? random_below(r, 9) : i);
}

/* Keys of `all` in their order, some left out; mostly the same spelling, as of one writer. */
static void members(struct random_json *r, const char *const *all, size_t n, unsigned i, unsigned odd, unsigned spaced)
{
	bool some = false;

	for (size_t k = 0; k < n; k++) {
		if (k > 4 && random_below(r, 3) == 0)
			continue;
		put(r, "%s", some ? "," : "");
		some = true;
		blank(r, spaced);
		put(r, random_below(r, 100) < odd / 4 ? "\"%s\\u0041\"" : "\"%s\"", all[k]);
		blank(r, spaced && random_below(r, 100) < odd);
		put(r, ":");
		blank(r, spaced);
		if (random_below(r, 100) < odd)
			odd_value(r);
		else
			usual_value(r, all[k], i);
	}
}

static void event(struct random_json *r, unsigned i, unsigned odd, unsigned spaced)
{
	static const char *const keys[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "id" };
	static const char *const other[] = { "name", "ts", "dur", "tid", "pid", "cat", "ph", "id" };
	static const char *const args[] = {
		"External id", "correlation", "stream", "device", "context", "grid", "block", "registers per thread", "shared memory", "bytes", "Input Dims",
		"Sequence number", "Fwd thread id", "queued", "blocks per SM", "est. achieved occupancy %", "Collective name", "name", "Addr", "Bytes",
		"Device Type", "Device Id", "Total Allocated", "Total Reserved", "cbid", "priority", "Ev Idx", "a key that is longer than those of sixty-four bytes mostly are",
	};
	size_t from = random_below(r, sizeof args / sizeof *args - 3), n = random_below(r, 3) + 1 + random_below(r, 8);

	n = from + n < sizeof args / sizeof *args ? n : sizeof args / sizeof *args - from;
	put(r, "{");
	members(r, random_below(r, 20) ? keys : other, 8, i, odd, spaced);
	if (random_below(r, 4)) {
		put(r, ",");
		blank(r, spaced);
		put(r, "\"args\":");
		blank(r, spaced);
		put(r, "{");
		members(r, args + from, n, i, odd, spaced);
		put(r, "}");
	}
	blank(r, spaced);
	put(r, "}");
}

void random_json(struct random_json *r, unsigned events, unsigned odd)
{
	static const char *const heads[] = {
		"{\"traceEvents\":[", "[", "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 1, \"world_size\": 2, \"backend\": \"nccl\"}, \"traceEvents\": [",
		"{\"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\", \"numSms\": 108, \"warpSize\": 32}], \"traceEvents\" : [\n",
	};
	static const char *const tails[] = { "]}", "], \"baseTimeNanoseconds\": 1700000000000000000, \"traceName\": \"a\"}", "]", "", "]}]", "}" };
	unsigned spaced = random_below(r, 2), n = random_below(r, events) + 1;

	r->n = 0;
	put(r, "%s", PICK(r, heads));
	for (unsigned i = 0; i < n; i++) {
		put(r, "%s", i ? "," : "");
		blank(r, spaced);
		if (random_below(r, 100) < odd / 8)
			odd_value(r);
		else
			event(r, i, odd, spaced);
	}
	put(r, "%s", PICK(r, tails));
}

void random_damage(struct random_json *r)
{
	for (unsigned n = random_below(r, 6); n && r->n > 8; n--) {
		static const char marks[] = "\"\"\"{}[]:,\\ 0159.-eN\n\0";
		size_t at = random_below(r, (unsigned)r->n), length = random_below(r, 40) + 1;

		length = at + length < r->n ? length : r->n - at;
		switch (random_below(r, 4)) {
		case 0:
			r->text[at] = PICK(r, marks);
			break;
		case 1:
			memmove(r->text + at, r->text + at + length, r->n - at - length);
			r->n -= length;
			break;
		case 2:
			if (r->n + length < r->size) {
				memmove(r->text + at + length, r->text + at, r->n - at);
				r->n += length;
			}
			break;
		default:
			r->n = random_below(r, 4) ? r->n : at + 1;
			break;
		}
	}
}
