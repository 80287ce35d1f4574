#include "collector/environ.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/rules/secrets.h"

#define MAX_VALUE 4096

/* Environment variables that tell how a GPU program was started. */
static const char *const allowed[] = {
	"CUDA_*", "NCCL_*", "PYTORCH_*", "TORCH_*", "TORCHELASTIC_*", "OMP_*", "MKL_*", "CUDNN_*", "CUBLAS_*",
	"NVIDIA_VISIBLE_DEVICES",
	"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR",
	"MASTER_PORT", "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_STEP_ID",
	"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_TASKS_PER_NODE",
	"SLURM_GPUS*", "SLURM_CPUS_PER_TASK", "SLURMD_NODENAME", "OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE", "PMI_RANK",
	"PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_*",
};

/* The first variable that is set gives the value. */
static const struct identity {
	const char *key;
	const char *names[6];
} identities[] = {
	{ "rank",       { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" } },
	{ "local_rank", { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID" } },
	{ "world_size", { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS" } },
};

#define LENGTH(a) (sizeof (a) / sizeof *(a))

static bool matches(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(list[i], name, 0) == 0)
			return true;
	return false;
}

/* Returns the next variable at *p, or NULL.  A last one without its zero is incomplete and not returned. */
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

/* Ranks are numbers; other values of these variables are ignored. */
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
	char key[256], cut[MAX_VALUE];
	struct buf value = { 0 };
	int n;

	if (!equals || equals == v)
		return;
	n = snprintf(key, sizeof key, "env.%.*s", (int)(equals - v), v);
	if (n >= (int)sizeof key || (!all && !matches(allowed, LENGTH(allowed), key + 4)))
		return;
	if (secret_variable(v, (size_t)(equals - v)))
		buf_put(&value, SECRET_MASK, strlen(SECRET_MASK));
	else
		secrets_put(&value, equals + 1, strlen(equals + 1));
	if (!value.oom) {
		snprintf(cut, sizeof cut, "%.*s", (int)value.len, value.data ? (char *)value.data : "");
		put(arg, key, cut);
	}
	buf_free(&value);
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
