#include "cli/model/gpu/collectives.h"

#include "cli/model/gpu/kernel_class.h"

#include <ctype.h>
#include <string.h>

/* The operation of a name is the first row whose letters occur in it. */
static const struct {
	const char *letters;
	struct collective_op op;
} ops[] = {
	{ "crossdevicereduce", { "all_reduce", COLLECTIVE_ALL } },      /* vLLM, SGLang, AITER */
	{ "quickreduce",       { "all_reduce", COLLECTIVE_ALL } },
	{ "nvshmemireduce",    { "all_reduce", COLLECTIVE_ALL } },      /* a reduction of NVSHMEM has no root */
	{ "allreduce",         { "all_reduce", COLLECTIVE_ALL } },
	{ "allgather",         { "all_gather", COLLECTIVE_ALL } },
	{ "reducescatter",     { "reduce_scatter", COLLECTIVE_ALL } },
	{ "alltoall",          { "all_to_all", COLLECTIVE_ALL } },
	{ "barrier",           { "barrier", COLLECTIVE_ALL } },
	{ "sendrecv",          { "send, receive", COLLECTIVE_POINT } },
	{ "send",              { "send, receive", COLLECTIVE_POINT } },
	{ "recv",              { "send, receive", COLLECTIVE_POINT } },
	{ "broadcast",         { "broadcast", COLLECTIVE_ROOTED } },
	{ "gather",            { "gather", COLLECTIVE_ROOTED } },
	{ "scatter",           { "scatter", COLLECTIVE_ROOTED } },
	{ "reduce",            { "reduce", COLLECTIVE_ROOTED } },
};

static const struct collective_op unknown = { "unknown", COLLECTIVE_UNKNOWN };

const struct collective_op *collective_op_of(const char *name)
{
	size_t length = kernel_own_name(&name), n = 0;
	char letters[256];

	for (size_t i = 0; i < length && n < sizeof letters - 1; i++)
		if (name[i] != '_')
			letters[n++] = (char)tolower((unsigned char)name[i]);
	letters[n] = '\0';
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strstr(letters, ops[i].letters))
			return &ops[i].op;
	return &unknown;
}

const char *collective_of_range(const char *name)
{
	static const char *const before[] = { "nccl:", "rccl:", "c10d::", "nccl", "rccl" };

	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		size_t n = strlen(before[i]);

		if (strncmp(name, before[i], n) == 0)
			return collective_op_of(name + n)->kind == COLLECTIVE_UNKNOWN ? NULL : name + n;
	}
	return NULL;
}
