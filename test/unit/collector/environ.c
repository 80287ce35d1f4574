#include "collector/environ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/test.h"

static char said[4096];

static void put(void *arg, const char *key, const char *value)
{
	(void)arg;
	snprintf(said + strlen(said), sizeof said - strlen(said), "%s=%s;", key, value);
}

static const char *facts(const char *env, size_t n, bool all)
{
	said[0] = '\0';
	environ_facts(env, n, all, put, NULL);
	return said;
}

/* A literal's last zero is the last variable's own. */
#define FACTS(env, all) facts(env, sizeof env, all)

TEST(the_first_rank_variable_that_is_set_wins)
{
	CHECK_STR(FACTS("SLURM_PROCID=9\0PMI_RANK=4\0OMPI_COMM_WORLD_RANK=2", false),
		  "rank=2;rank.from=OMPI_COMM_WORLD_RANK;env.SLURM_PROCID=9;env.PMI_RANK=4;env.OMPI_COMM_WORLD_RANK=2;");
	CHECK(strstr(FACTS("RANK=0\0SLURM_PROCID=9", false), "rank=0;rank.from=RANK;") != NULL);
}

TEST(a_rank_is_a_number)
{
	CHECK(strstr(FACTS("RANK=general\0PMI_RANK=1", false), "rank=1;rank.from=PMI_RANK;") != NULL);
	CHECK(strstr(FACTS("RANK=", false), "rank=") == NULL);
}

TEST(only_names_of_the_allow_list_are_taken)
{
	CHECK_STR(FACTS("HOME=/root\0NCCL_DEBUG=INFO\0MY_NCCL_X=1\0CUDA_VISIBLE_DEVICES=", false),
		  "env.NCCL_DEBUG=INFO;env.CUDA_VISIBLE_DEVICES=;");
	CHECK_STR(FACTS("HOME=/root\0A=b=c", true), "env.HOME=/root;env.A=b=c;");
}

TEST(what_sounds_like_a_secret_is_masked)
{
	CHECK_STR(FACTS("TORCH_TOKEN_X=1\0NCCL_Secret=2\0x_password=3\0AWS_ACCESS_KEY_ID=4\0PATH=5", true),
		  "env.TORCH_TOKEN_X=***;env.NCCL_Secret=***;env.x_password=***;env.AWS_ACCESS_KEY_ID=***;env.PATH=5;");
}

TEST(secrets_are_masked_under_names_of_the_allow_list_too)
{
	CHECK_STR(FACTS("TORCH_AUTH=a\0NCCL_CONN=b\0CUDA_DEVICE_MAX_CONNECTIONS=1\0TORCH_HUB=https://me:pw@host\0OMP_X=--token=t n", false),
		  "env.TORCH_AUTH=***;env.NCCL_CONN=***;env.CUDA_DEVICE_MAX_CONNECTIONS=1;env.TORCH_HUB=https://me:***@host;env.OMP_X=--token=*** n;");
	CHECK_STR(FACTS("MYSQL_PWD=1\0DATABASE_URL=postgres://u:p@h/d\0PWD=/x\0SENTRY_DSN=2\0SLACK_WEBHOOK=3\0X=hf_abcdefghijklmnopqrstuvwx", true),
		  "env.MYSQL_PWD=***;env.DATABASE_URL=postgres://u:***@h/d;env.PWD=/x;env.SENTRY_DSN=***;env.SLACK_WEBHOOK=***;env.X=hf_***;");
}

TEST(an_environment_cut_anywhere_is_never_read_past)
{
	static const char env[] = "RANK=3\0CUDA_X=1\0noequals\0=x\0NCCL_DEBUG=INFO";

	for (size_t n = 0; n <= sizeof env; n++) {
		char *exact = malloc(n + !n);

		memcpy(exact, env, n);
		facts(exact, n, true);
		CHECK(n >= sizeof "RANK=3" || !strstr(said, "rank"));
		CHECK(n >= sizeof env || !strstr(said, "NCCL"));
		free(exact);
	}
}

TEST(environ_has_compares_whole_names_and_values)
{
	static const char env[] = "XA=1\0A=12\0B=";

	CHECK(environ_has(env, sizeof env, "A", "12"));
	CHECK(!environ_has(env, sizeof env, "A", "1"));
	CHECK(!environ_has(env, sizeof env, "A", "123"));
	CHECK(environ_has(env, sizeof env, "B", ""));
	CHECK(!environ_has(env, sizeof env, "C", ""));
}
