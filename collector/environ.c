#include "collector/environ.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUE 4096

/* Names of the environment that say how a GPU program was started. */
static const char *const allowed[] = {
	"CUDA_*", "NCCL_*", "PYTORCH_*", "TORCH_*", "TORCHELASTIC_*", "OMP_*", "MKL_*", "CUDNN_*", "CUBLAS_*",
	"NVIDIA_VISIBLE_DEVICES",
	"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
	"MASTER_PORT", "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_STEP_ID",
	"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_TASKS_PER_NODE",
	"SLURM_GPUS*", "SLURM_CPUS_PER_TASK", "SLURMD_NODENAME", "OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE", "PMI_RANK",
	"PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_*",
};

static const char *const secrets[] = { "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*", "*KEY*" };

/* The first variable that is set says it. */
static const struct identity {
	const char *key;
	const char *names[6];
} identities[] = {
	{ "rank",       { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" } },
	{ "local_rank", { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID" } },
	{ "world_size", { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS" } },
};

#define LENGTH(a) (sizeof (a) / sizeof *(a))

static bool matches(const char *const *list, size_t n, const char *name, int flags)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(list[i], name, flags) == 0)
			return true;
	return false;
}

/* The next variable at *p, or NULL; the last may lack its zero, then it is not whole and not taken. */
static const char *next_variable(const char **p, const char *end)
{
	const char *variable = *p;
	const char *zero = variable < end ? memchr(variable, '\0', (size_t)(end - variable)) : NULL;

	if (!zero)
		return NULL;
	*p = zero + 1;
	return variable;
}

static const char *value_of(const char *env, size_t n, const char *name)
{
	const char *end = env + n;
	size_t length = strlen(name);

	for (const char *v; (v = next_variable(&env, end));)
		if (strncmp(v, name, length) == 0 && v[length] == '=')
			return v + length + 1;
	return NULL;
}

bool environ_has(const char *env, size_t n, const char *name, const char *value)
{
	const char *is = value_of(env, n, name);

	return is && strcmp(is, value) == 0;
}

/* A rank is a number; something else in such a variable is not a rank. */
static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s) && strlen(s) < 10;
}

static void put_identity(const struct identity *id, const char *env, size_t n,
			 void (*put)(void *arg, const char *key, const char *value), void *arg)
{
	char from[32];

	for (size_t i = 0; id->names[i]; i++) {
		const char *value = value_of(env, n, id->names[i]);

		if (!value || !is_number(value))
			continue;
		put(arg, id->key, value);
		snprintf(from, sizeof from, "%s.from", id->key);
		put(arg, from, id->names[i]);
		return;
	}
}

static void put_variable(const char *v, bool all, void (*put)(void *arg, const char *key, const char *value), void *arg)
{
	const char *equals = strchr(v, '=');
	char key[256], value[MAX_VALUE];
	bool secret;
	int n;

	if (!equals || equals == v)
		return;
	n = snprintf(key, sizeof key, "env.%.*s", (int)(equals - v), v);
	if (n >= (int)sizeof key || (!all && !matches(allowed, LENGTH(allowed), key + 4, 0)))
		return;
	secret = matches(secrets, LENGTH(secrets), key + 4, FNM_CASEFOLD);
	snprintf(value, sizeof value, "%s", secret ? "***" : equals + 1);
	put(arg, key, value);
}

void environ_facts(const char *env, size_t n, bool all,
		   void (*put)(void *arg, const char *key, const char *value), void *arg)
{
	const char *p = env, *image;

	for (size_t i = 0; i < LENGTH(identities); i++)
		put_identity(&identities[i], env, n, put, arg);
	image = value_of(env, n, "APPTAINER_CONTAINER");
	if (!image)
		image = value_of(env, n, "SINGULARITY_CONTAINER");
	if (image)
		put(arg, "container", image);
	for (const char *v; (v = next_variable(&p, env + n));)
		put_variable(v, all, put, arg);
}
