/* Classes and roles that HTA derives from names (hta/common/types.py and its analyzers). */
#include "cli/compat/hta/hta.h"

#include <ctype.h>
#include <stdlib.h>

const char *const hta_class_words[HTA_CLASSES] = { "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER" };

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* (.*word) of Python's re.match: a dot matches any character but the end of a line. */
static bool in_first_line(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at && !memchr(text, '\n', (size_t)(at - text));
}

static bool communicates(const char *name)
{
	return begins(name, "nccl") || begins(name, "hip") || begins(name, "hccl") || in_first_line(name, "ncclKernel");
}

bool hta_is_memory_name(const char *name)
{
	if (begins(name, "dma"))
		return true;
	if (begins(name, "hip"))
		name += 3;
	return begins(name, "Memcpy") || begins(name, "Memset");
}

static bool computes(const char *name)
{
	static const char *const starts[] = {
		"nccl", "Stream Wait Event", "runFunction", "hip", "job_exe", "packet", "pe_exe", "cpum_exe_subgraph", "hccl",
		"collective_subgraph_execution",
	};
	static const char *const words[] = { "Memcpy", "Memset", "dma", "Sync" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (begins(name, starts[i]))
			return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (in_first_line(name, words[i]))
			return false;
	return !begins(name, "cuda") || !in_first_line(name + 4, "LaunchKernel");
}

enum hta_class hta_class_of(const char *name)
{
	return communicates(name)   ? HTA_COMMUNICATION
	       : hta_is_memory_name(name) ? HTA_MEMORY
	       : computes(name)     ? HTA_COMPUTATION
				    : HTA_OTHER;
}

uint32_t hta_flags_of(const char *name)
{
	static const struct { const char *name; uint32_t flags; } all[] = {
		{ "cudaLaunchKernel", HTA_LAUNCH | HTA_QUEUES | HTA_LOCKS }, { "cudaLaunchKernelExC", HTA_LAUNCH | HTA_QUEUES },
		{ "runFunction - job_prep_and_submit_for_execution", HTA_LAUNCH | HTA_QUEUES },
		{ "cudaMemcpyAsync", HTA_LAUNCH | HTA_QUEUES | HTA_BLOCKS | HTA_LOCKS }, { "cudaMemsetAsync", HTA_LAUNCH | HTA_QUEUES },
		{ "cuLaunchKernel", HTA_QUEUES }, { "cuLaunchKernelEx", HTA_QUEUES }, { "hipLaunchKernel", HTA_QUEUES },
		{ "hipExtModuleLaunchKernel", HTA_QUEUES }, { "hipMemsetAsync", HTA_QUEUES }, { "hipMemcpyAsync", HTA_QUEUES },
		{ "hipMemcpyWithStream", HTA_QUEUES }, { "cudaDeviceSynchronize", HTA_BLOCKS }, { "cudaStreamSynchronize", HTA_BLOCKS },
		{ "cudaEventQuery", HTA_BLOCKS }, { "cudaEventSynchronize", HTA_BLOCKS }, { "cudaMemcpy", HTA_BLOCKS },
		{ "cudaHostAlloc", HTA_LOCKS }, { "Event Sync", HTA_HOST_WAIT }, { "Context Sync", HTA_HOST_WAIT },
		{ "Stream Wait Event", HTA_WAIT_ROW }, { "cudaStreamWaitEvent", HTA_WAIT_CALL }, { "cudaEventRecord", HTA_RECORD_CALL },
	};
	uint32_t flags = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (*name == *all[i].name && strcmp(name, all[i].name) == 0)
			flags = all[i].flags;
	if (begins(name, "ProfilerStep#") && isdigit((unsigned char)name[13]))
		flags |= HTA_STEP;
	if (begins(name, "aten::"))
		flags |= HTA_ATEN;
	if ((begins(name, "cuda") && in_first_line(name + 4, "LaunchKernel")) || begins(name, "cuLaunchKernel") ||
	    begins(name, "runFunction"))
		flags |= HTA_STARTS_KERNEL;
	return flags;
}

enum hta_category hta_category_of(const char *word)
{
	static const struct { const char *word; enum hta_category category; } all[] = {
		{ "kernel", HTA_KERNEL }, { "Kernel", HTA_KERNEL }, { "mtia_ccp_events", HTA_KERNEL },
		{ "gpu_memset", HTA_MEMSET }, { "Memset", HTA_MEMSET }, { "gpu_memcpy", HTA_MEMCPY }, { "Memcpy", HTA_MEMCPY },
		{ "cpu_op", HTA_CPU_OP }, { "user_annotation", HTA_ANNOTATION },
		{ "gpu_user_annotation", HTA_GPU_ANNOTATION }, { "cuda_runtime", HTA_RUNTIME }, { "cuda_driver", HTA_DRIVER },
		{ "cuda_sync", HTA_SYNC }, { "Trace", HTA_TRACE },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(word, all[i].word) == 0)
			return all[i].category;
	return HTA_OTHER_CATEGORY;
}

/* Whether text starts with word, where "_" in word also matches "::".  *length: of the match in text. */
static bool stands_at(const char *text, const char *word, size_t *length)
{
	const char *at = text;

	for (; *word; word++) {
		if (*at == *word)
			at++;
		else if (*word == '_' && at[0] == ':' && at[1] == ':')
			at += 2;
		else
			return false;
	}
	*length = (size_t)(at - text);
	return true;
}

/*
 * How well word matches a name at its first match (*at, *length): 5 whole name, 3 start of it, 1 elsewhere, + 1 without "_" for "::"; 0: no
 * match.
 */
static unsigned fit(const char *name, const char *word, const char **at, size_t *length)
{
	for (const char *p = name; *p; p++) {
		bool literal;

		if (!stands_at(p, word, length))
			continue;
		*at = p;
		literal = *length == strlen(word) && memcmp(p, word, *length) == 0;
		return (p == name ? p[*length] ? 3 : 5 : 1) + literal;
	}
	return 0;
}

const char *hta_word_meant(const struct hta *h, const char *word, char *buf, size_t size)
{
	unsigned best = 0;

	for (size_t i = 0; i < h->n_names && *word; i++) {
		const char *at = NULL;
		size_t length = 0;
		unsigned how = fit(h->names[i].text, word, &at, &length);

		if (how <= best || length >= size)
			continue;
		best = how;
		memcpy(buf, at, length);
		buf[length] = '\0';
	}
	return best ? buf : word;
}

bool *hta_names_with(const struct hta *h, const char *part)
{
	bool *with = malloc(h->n_names + 1);

	for (size_t i = 0; i < h->n_names && with; i++)
		with[i] = strstr(h->names[i].text, part) != NULL;
	return with;
}
