#include "cli/model/gpu/kernel_class.h"

#include "cli/model/model.h"
#include "cli/model/names.h"

#include <string.h>
#include <strings.h>

/* Libraries, and words in names of kernels for collectives; case is ignored. */
static const char *const begins[] = { "nccl" };
static const char *const has[] = {
	"ncclKernel", "ncclDevKernel", "rccl", "msccl", "nvshmem",
	"cross_device_reduce", "quickreduce",
	"allreduce", "all_reduce", "allgather", "all_gather", "reducescatter", "reduce_scatter", "alltoall", "all_to_all",
	"deep_ep::", "userbuffers",
};

/* Prefix of names that a compiler composed from the fused operators: such a kernel computes, whatever operators it names. */
static const char made[] = "triton_";

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool starts_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

size_t kernel_own_name(const char **name)
{
	static const char *const unnamed[] = { "(anonymous namespace)", "<unnamed>" };
	const char *at;

	if (starts_with(*name, "void "))
		*name += strlen("void ");
	at = *name;
	for (;;) {
		size_t skip = 0;

		at += strcspn(at, "<(");
		for (size_t i = 0; i < COUNT(unnamed); i++)
			if (starts_with(at, unnamed[i]))
				skip = strlen(unnamed[i]);
		if (!skip)
			return (size_t)(at - *name);
		at += skip;
	}
}

static bool contains(const char *text, size_t length, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= length; i++)
		if (strncasecmp(text + i, word, n) == 0)
			return true;
	return false;
}

bool kernel_name_communicates(const char *name)
{
	size_t length = kernel_own_name(&name);

	if (starts_with(name, made))
		return false;
	for (size_t i = 0; i < COUNT(begins); i++)
		if (length >= strlen(begins[i]) && strncasecmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	for (size_t i = 0; i < COUNT(has); i++)
		if (contains(name, length, has[i]))
			return true;
	return false;
}

bool model_kernel_communicates(struct model *m, uint32_t name)
{
	return kernel_name_communicates(model_string(m, model_name(m, name, NAME_DEMANGLED)));
}
