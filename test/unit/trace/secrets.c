#include "trace/rules/secrets.h"

#include <stdio.h>

#include "test/unit/test.h"

static char shown[4096];

static const char *as_text(struct buf *out)
{
	snprintf(shown, sizeof shown, "%.*s", (int)out->len, (const char *)out->data);
	buf_free(out);
	return shown;
}

static const char *masked(const char *text)
{
	struct buf out = { 0 };

	secrets_put(&out, text, strlen(text));
	return as_text(&out);
}

/* Arguments with '|' between them. */
static const char *args(const char *line)
{
	struct secret_args a = { 0 };
	struct buf out = { 0 };

	for (size_t n; ; line += n + 1) {
		n = strcspn(line, "|");
		secrets_put_arg(&a, &out, line, n);
		if (!line[n])
			return as_text(&out);
		buf_put(&out, "|", 1);
	}
}

#define STAYS(line) CHECK_STR(args(line), line)

TEST(values_of_options_that_are_named_as_secrets_are_masked)
{
	CHECK_STR(args("tool|--token=abc|--x=1"), "tool|--token=***|--x=1");
	CHECK_STR(args("tool|--token|abc|next"), "tool|--token|***|next");
	CHECK_STR(args("tool|--hf-token|abc|-v"), "tool|--hf-token|***|-v");
	CHECK_STR(args("tool|--password=a,b c&d"), "tool|--password=***");
	CHECK_STR(args("tool|-password|x|--db.passwd|y"), "tool|-password|***|--db.passwd|***");
	CHECK_STR(args("tool|--aws_secret_access_key|x"), "tool|--aws_secret_access_key|***");
	CHECK_STR(args("tool|--authToken|x|--apiKey=y|--api-keys=y,z"), "tool|--authToken|***|--apiKey=***|--api-keys=***");
	CHECK_STR(args("tool|--auth|me|--webhook-url=https://x/y"), "tool|--auth|***|--webhook-url=***");
	CHECK_STR(args("tool|WANDB_API_KEY=x|DATABASE_PWD=y|AccountKey=z"), "tool|WANDB_API_KEY=***|DATABASE_PWD=***|AccountKey=***");
	CHECK_STR(args("tool|+hub.token=x|~auth.key=y"), "tool|+hub.token=***|~auth.key=***");
}

TEST(what_is_only_about_keys_and_tokens_stays_readable)
{
	STAYS("train|--key-size=4|--tokenizer|bert|--max-tokens|4096|--max_new_tokens=12|--num-kv-heads|8");
	STAYS("train|--eos-token-id|2|--pad-token|[PAD]|--stop_token=<|im_end>|--special-tokens=a");
	STAYS("train|--token-type-ids=1|--sort-key|name|--image_key=jpg|--monitor-key|loss|--public-key=x");
	STAYS("train|--password-file|/run/p|--secret-name=x|--key-column|4|--auth-type|basic");
	STAYS("train|--no-auth|script.py|--use-auth-token=True|--disable-token|x");
	STAYS("train|--monkey|1|--keyboard=2|--author|me|--path|p|--pattern=x|--compass|north|--bypass|x");
	STAYS("train|--two-pass|x|--passes=3|--max-conn|5|--connections=9|--padding|left");
	STAYS("train|--token|--verbose|--lr=1e-4|data=/home/me/keys|a==b");
}

TEST(passwords_of_users_are_masked)
{
	CHECK_STR(args("curl|-u|me:pw|https://x"), "curl|-u|me:***|https://x");
	CHECK_STR(args("curl|--user=me:p:w|--proxy-user|a:b"), "curl|--user=me:***|--proxy-user|a:***");
	STAYS("docker|run|-u|1000:1000|--user|me|-u");
	STAYS("python3|-u|train.py");
	CHECK_STR(args("mysql|-psecret|-p|db"), "mysql|-p***|-p|db");
	CHECK_STR(args("/usr/bin/sshpass|-p|secret|ssh|-p|22"), "/usr/bin/sshpass|-p|***|ssh|-p|***");
	STAYS("ssh|-p|22|-pall");
}

TEST(urls_keep_all_but_the_password)
{
	CHECK_STR(masked("postgres://me:p4ss@db:5432/x?a=1"), "postgres://me:***@db:5432/x?a=1");
	CHECK_STR(masked("http://a:b@c@host, http://me@host:80/@x:y"), "http://a:***@host, http://me@host:80/@x:y");
	CHECK_STR(masked("redis://:pw@host"), "redis://:***@host");
	CHECK_STR(masked("https://x/y?access_token=abc&b=1&sig=s%2f#z"), "https://x/y?access_token=***&b=1&sig=***");
	CHECK_STR(masked("https://hooks.slack.com/services/T0/B0/xyz"), "https://hooks.slack.com/services/***");
	CHECK_STR(masked("s3://bucket/key:value@x file:///a:b@c"), "s3://bucket/key:value@x file:///a:b@c");
}

TEST(tokens_are_known_by_their_shape)
{
	CHECK_STR(masked("x AKIAIOSFODNN7EXAMPLE y"), "x AKIA*** y");
	CHECK_STR(masked("ghp_0123456789abcdefghijABCDEFGHIJ012345,hf_abcdefghijklmnopqrstuvwx"), "ghp_***,hf_***");
	CHECK_STR(masked("[github_pat_11ABCDEFG0123456789_abcdef]"), "[github_pat_***]");
	CHECK_STR(masked("sk-proj-abcDEF0123456789abcDEF"), "sk-***");
	CHECK_STR(masked("sk-learn-pipeline-version-two"), "sk-learn-pipeline-version-two");
	CHECK_STR(masked("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5x-_a"), "eyJ***");
	CHECK_STR(masked("AKIAshort hf_model eyJ ghp_x task-AKIN"), "AKIAshort hf_model eyJ ghp_x task-AKIN");
	CHECK_STR(args("tool|hf_abcdefghijklmnopqrstuvwx"), "tool|hf_***");
}

TEST(texts_are_searched_for_names_with_values)
{
	CHECK_STR(masked("export TOKEN=abc; curl -u a:b x"), "export TOKEN=***; curl -u a:*** x");
	CHECK_STR(masked("tool --password hunter2 --key-size 4"), "tool --password *** --key-size 4");
	CHECK_STR(masked("{\"user\": \"me\", \"password\": \"x y\", \"n\": 1}"), "{\"user\": \"me\", \"password\": \"***\", \"n\": 1}");
	CHECK_STR(masked("-H 'Authorization: Basic abc=' -v"), "-H 'Authorization: ***' -v");
	CHECK_STR(args("curl|-H|X-Api-Key: abc def|-H|Accept: text/html"), "curl|-H|X-Api-Key: ***|-H|Accept: text/html");
	CHECK_STR(masked("if token == 5: key.append(1)"), "if token == 5: key.append(1)");
	CHECK_STR(masked("A=1,SECRET='a b',C=3"), "A=1,SECRET='***',C=3");
	CHECK_STR(masked("--opts lr=1,hub.token=x,y=2"), "--opts lr=1,hub.token=***,y=2");
}

TEST(variables_are_masked_by_a_word_of_their_name)
{
	static const char *const secret[] = {
		"TORCH_TOKEN_X", "NCCL_Secret", "x_password", "AWS_ACCESS_KEY_ID", "MYSQL_PWD", "GITHUB_PAT", "SENTRY_DSN",
		"SLACK_WEBHOOK", "AZURE_CONN", "TORCH_AUTH", "HF_TOKENS", "DB_PASS", "githubtoken", "AZURE_CONNECTION_STRING",
		"SSH_AUTH_SOCK", "KEY", "GOOGLE_APPLICATION_CREDENTIALS",
	};
	static const char *const plain[] = {
		"PWD", "OLDPWD", "PATH", "LD_LIBRARY_PATH", "CUDA_DEVICE_MAX_CONNECTIONS", "TOKENIZERS_PARALLELISM",
		"GIT_AUTHOR_NAME", "NCCL_IB_PKEY", "XDG_RUNTIME_DIR", "PYTORCH_CUDA_ALLOC_CONF", "NCCL_DEBUG", "HOME", "_",
	};

	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
		CHECK_STR(secret_variable(secret[i], strlen(secret[i])) ? secret[i] : "readable", secret[i]);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		CHECK_STR(secret_variable(plain[i], strlen(plain[i])) ? "masked" : plain[i], plain[i]);
}

/* Cut anywhere, nothing is read behind the end; and no byte is lost where nothing is a secret. */
TEST(texts_that_end_anywhere_are_read_to_their_end_alone)
{
	static const char text[] = "a --token \"x\" 'secret': 1 Bearer abcdefghij http://a:b@c --user=u:p eyJabcdefghijklmnopqr.st -u key = v?sig=1 _";

	for (size_t from = 0; from < sizeof text; from++)
		for (size_t n = 0; from + n < sizeof text; n++) {
			char *exact = malloc(n + !n);
			struct secret_args a = { .begun = true };
			struct buf out = { 0 };

			memcpy(exact, text + from, n);
			secrets_put(&out, exact, n);
			secrets_put_arg(&a, &out, exact, n);
			CHECK(!out.oom);
			buf_free(&out);
			free(exact);
		}
	for (unsigned c = 1; c < 256; c++) {
		const char one[2] = { (char)c, 0 };

		CHECK_STR(masked(one), one);
	}
}
