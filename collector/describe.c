#include "collector/describe.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/clocks.h"
#include "collector/environ.h"
#include "collector/proc.h"
#include "trace/clock.h"
#include "trace/health.h"
#include "trace/rules/secrets.h"
#include "trace/version.h"

#define MAX_ARGV (16u << 10)
#define MAX_ENVIRON (1u << 20)

/* ---- a process ---- */

/* Appends one argument, quoted for a shell if necessary. */
static void quote(struct buf *out, const char *s, size_t n)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (n && strspn(s, plain) >= n) {
		buf_put(out, s, n);
		return;
	}
	buf_put(out, "'", 1);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\'')
			buf_put(out, "'\\''", 4);
		else
			buf_put(out, &s[i], 1);
	}
	buf_put(out, "'", 1);
}

static void put_argv(struct staging *s, struct tree_process *p)
{
	struct buf raw = { 0 }, text = { 0 }, shown = { 0 };
	struct secret_args args = { 0 };
	const char *at, *end;

	if (proc_read_all(p->host_pid, "cmdline", &raw, MAX_ARGV) == 0 && raw.len) {
		buf_put(&raw, "", 1);   /* a command line that was cut has no terminating zero */
		at = (const char *)raw.data;
		end = at + raw.len - 1;
		while (!raw.oom && at < end) {
			size_t n = strlen(at);

			if (text.len)
				buf_put(&text, " ", 1);
			shown.len = 0;
			secrets_put_arg(&args, &shown, at, n);
			buf_put(&shown, "", 1);
			if (!shown.oom)
				quote(&text, (const char *)shown.data, shown.len - 1);
			at += n + 1;
		}
		if (raw.len > MAX_ARGV)
			buf_put(&text, " ...", 4);
		if (!text.oom)
			staging_attribute(s, p->number, "argv", "%.*s", (int)text.len, (const char *)text.data);
	}
	buf_free(&raw);
	buf_free(&text);
	buf_free(&shown);
}

struct process_facts {
	struct staging *s;
	uint32_t process;
};

static void put_fact(void *arg, const char *key, const char *value)
{
	struct process_facts *f = arg;

	staging_attribute(f->s, f->process, key, "%s", value);
}

static void put_environ(struct staging *s, struct tree_process *p, bool all)
{
	struct process_facts f = { s, p->number };
	struct buf env = { 0 };

	if (proc_read_all(p->host_pid, "environ", &env, MAX_ENVIRON) == 0 && !env.oom)
		environ_facts((const char *)env.data, env.len, all, put_fact, &f);
	else if (errno == EACCES || errno == EPERM)
		health_counts_add(&p->health_counts, HEALTH_env_unreadable, 1, clocks_now(p->clock), NULL);
	buf_free(&env);
}

/* Returns the first run of 64 hexadecimal digits, the name of a container in docker, podman and Kubernetes; NULL: none. */
static const char *find_id(const char *text)
{
	size_t run = 0;

	for (; *text; text++) {
		run = isxdigit((unsigned char)*text) ? run + 1 : 0;
		if (run == 64)
			return text - 63;
	}
	return NULL;
}

static void put_container(struct staging *s, struct tree_process *p)
{
	static const char *const files[] = { "cgroup", "mountinfo" };
	static const char *const runtimes[] = { "docker", "libpod", "crio", "containerd", "kubepods" };

	for (size_t i = 0; i < 2; i++) {
		struct buf text = { 0 };
		const char *id = NULL, *runtime = "container";

		if (proc_read_all(p->host_pid, files[i], &text, 64u << 10) == 0) {
			buf_put(&text, "", 1);
			/* Of the mounts, only those of files like /etc/hostname name the container. */
			char *from = text.oom ? NULL : (char *)text.data;

			if (from && i == 1)
				from = strstr(from, "/containers/");
			id = from ? find_id(from) : NULL;
			for (size_t k = 0; id && k < sizeof runtimes / sizeof *runtimes; k++)
				if (strstr((char *)text.data, runtimes[k]))
					runtime = runtimes[k];
			if (id)
				staging_attribute(s, p->number, "container", "%s %.12s", runtime, id);
		}
		buf_free(&text);
		if (id)
			return;
	}
}

void describe_process(struct staging *s, struct tree_process *p, const struct config *c)
{
	char exe[4096], cwd[4096];
	const char *base;

	p->described = true;
	staging_attribute(s, p->number, "name", "%s", p->name);
	if (!p->host_pid)
		return;
	proc_link(p->host_pid, "exe", exe, sizeof exe);
	proc_link(p->host_pid, "cwd", cwd, sizeof cwd);
	base = strrchr(exe, '/');
	if (exe[0])
		staging_attribute(s, p->number, "exe", "%s", exe);
	if (cwd[0])
		staging_attribute(s, p->number, "cwd", "%s", cwd);
	if (base && strncmp(base, "/python", 7) == 0)
		staging_attribute(s, p->number, "python", "%s", base + 1);
	if (!c->no_argv)
		put_argv(s, p);
	put_container(s, p);
	put_environ(s, p, c->env_all);
}

/* ---- the session ---- */

/* Reads the value, without quotes, of the file's first line that begins with key. */
static void line_of(const char *path, const char *key, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	char line[512];

	out[0] = '\0';
	while (f && fgets(line, sizeof line, f)) {
		char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		value += strspn(value, "\t :=\"");
		value[strcspn(value, "\"\n")] = '\0';
		snprintf(out, size, "%s", value);
		break;
	}
	if (f)
		fclose(f);
}

void read_boot_id(char *out, size_t size)
{
	line_of("/proc/sys/kernel/random/boot_id", "", out, size);
}

/* Writes a text that a user typed, with secrets masked. */
static void put_masked(struct staging *s, const char *key, const char *text)
{
	struct buf shown = { 0 };

	secrets_put(&shown, text, strlen(text));
	if (!shown.oom && shown.len)
		staging_attribute(s, 0, key, "%.*s", (int)shown.len, (const char *)shown.data);
	buf_free(&shown);
}

static void put_setting_u64(struct staging *s, const char *name, uint64_t is, uint64_t normal)
{
	char key[64];

	snprintf(key, sizeof key, "setting.%s", name);
	if (is != normal)
		staging_attribute(s, 0, key, "%" PRIu64, is);
}

static void put_setting_text(struct staging *s, const char *name, const char *is, const char *normal)
{
	/* Not settings of a user: attributes under their own names, or values that gprof-run found. */
	static const char *const not_settings[] = { "command", "options", "not_recorded", "moved_from", "output",
		"cupti_hint" };
	char key[64];

	for (size_t i = 0; i < sizeof not_settings / sizeof *not_settings; i++)
		if (strcmp(name, not_settings[i]) == 0)
			return;
	snprintf(key, sizeof key, "setting.%s", name);
	if (strcmp(is, normal) != 0)
		put_masked(s, key, is);
}

static void put_settings(struct staging *s, const struct config *c)
{
	struct config normal;

	config_init(&normal);
	normal.main_pid = c->main_pid;
	if (c->no_argv)
		memcpy(normal.on_trace_ready, c->on_trace_ready, sizeof normal.on_trace_ready);
#define SETTING(type, name, value, doc) put_setting_##type(s, #name, c->name, normal.name);
#include "trace/config.def"
#undef SETTING
}

static void put_host(struct staging *s, const char *boot_id)
{
	struct utsname u;
	char text[256];

	if (uname(&u) == 0) {
		staging_attribute(s, 0, "host", "%s", u.nodename);
		staging_attribute(s, 0, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
	}
	line_of("/etc/os-release", "PRETTY_NAME", text, sizeof text);
	if (text[0])
		staging_attribute(s, 0, "os", "%s", text);
	line_of("/proc/cpuinfo", "model name", text, sizeof text);
	if (text[0])
		staging_attribute(s, 0, "cpu", "%s", text);
	staging_attribute(s, 0, "cpus", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (boot_id[0])
		staging_attribute(s, 0, "boot_id", "%s", boot_id);
	/* Any of these may mean that there is a driver; without all three CUDA cannot work. */
	if (access("/proc/driver/nvidia/version", F_OK) < 0 && access("/dev/nvidiactl", F_OK) < 0 &&
	    access("/dev/dxg", F_OK) < 0)
		staging_attribute(s, 0, "driver", "none");
}

void describe_session(struct staging *s, const struct config *c, const char *moved_from, unsigned clock,
		      const char *boot_id)
{
	char cwd[4096];

	staging_attribute(s, 0, "format.version", "%u", FILE_VERSION);
	staging_attribute(s, 0, "collector.version", "%s", GPROF_VERSION);
	put_host(s, boot_id);
	staging_attribute(s, 0, "clock", "%s", clock == CLOCK_TSC ? "tsc" : "mono");
	if (getcwd(cwd, sizeof cwd))
		staging_attribute(s, 0, "cwd", "%s", cwd);
	staging_attribute(s, 0, "command", "%s", c->command);
	staging_attribute(s, 0, "options", "%s", c->options);
	put_masked(s, "not_recorded", c->not_recorded);
	if (moved_from[0] || c->moved_from[0])
		staging_attribute(s, 0, "moved_from", "%s", moved_from[0] ? moved_from : c->moved_from);
	put_settings(s, c);
}

void describe_end(struct staging *s)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) == 0)
		staging_attribute(s, 0, "memory.peak_kb", "%ld", u.ru_maxrss);
	staging_attribute(s, 0, "end", "%" PRId64, clock_ns(CLOCK_REALTIME));
}
