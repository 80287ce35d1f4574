/* Parts of gprof-run without side effects: names of traces, environment variables, checks of program files. */
#include "cli/run/run.h"

#include "cli/ui/paths.h"
#include "test/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a tree of small files ---- */

static char root[64];

static void tree_start(void)
{
	strcpy(root, "/tmp/gprof-unit-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
}

static void tree_end(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd, "rm -rf '%s'", root);
	CHECK_EQ(system(cmd), 0);
}

/* Path of a file below the root; static, four at a time. */
static const char *at(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned i;

	snprintf(paths[i++ % 4], PATH_MAX, "%s/%s", root, name);
	return paths[(i - 1) % 4];
}

static void file(const char *name, const char *text, mode_t mode)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof path, "%s", at(name));
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!CHECK(f != NULL))
		return;
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
}

/* ---- words, variables, paths ---- */

TEST(variables_are_set_replaced_and_removed)
{
	struct env e;

	CHECK_EQ(env_copy(&e, (char *[]){ "A=1", "AB=2", "C=3", NULL }), 0);
	CHECK_EQ(env_set(&e, "A", "x"), 0);
	CHECK_EQ(env_set(&e, "D", "=4"), 0);
	env_unset(&e, "AB");
	env_unset(&e, "NONE");
	CHECK_EQ(e.n, 3);
	CHECK_STR(env_get(&e, "A"), "x");
	CHECK_STR(env_get(&e, "D"), "=4");
	CHECK(!env_get(&e, "AB"));
	CHECK(!e.vars[3]);
	env_release(&e);
}

static const char *variables(const char *list, bool inherit)
{
	static char out[256];
	struct request r = { .variables = (char *)list, .inherit = inherit };
	struct env e;

	out[0] = '\0';
	CHECK_EQ(env_of_request(&e, &r, (char *[]){ "P=0", NULL }), 0);
	for (size_t i = 0; i < e.n; i++)
		strcat(strcat(out, e.vars[i]), ";");
	env_release(&e);
	return out;
}

TEST(pieces_of_a_list_of_variables_without_equals_sign_belong_to_the_value)
{
	CHECK_STR(variables("A=1", true), "P=0;A=1;");
	CHECK_STR(variables("A=1,B=2", false), "A=1;B=2;");
	CHECK_STR(variables("A=0,1,2,B=x=y", false), "A=0,1,2;B=x=y;");
	CHECK_STR(variables("A=,B=", false), "A=;B=;");
	CHECK_STR(variables("A=1,,B=2,", false), "A=1,;B=2,;");
	CHECK_STR(variables("P=9", true), "P=9;");
	CHECK_STR(variables(NULL, true), "P=0;");
}

static const struct target target = { .preload = true };

TEST(a_sanitizer_stays_the_first_of_the_preloaded)
{
	struct env e;

	CHECK_EQ(env_copy(&e, (char *[]){ "LD_PRELOAD=/usr/lib/libasan.so.8", NULL }), 0);
	CHECK_EQ(env_open_doors(&e, "/s", "/our.so", &target, true), 0);
	CHECK_STR(env_get(&e, "LD_PRELOAD"), "/usr/lib/libasan.so.8:/our.so");
	CHECK(!env_get(&e, "GPROF_NEXT_CUDA_INJECTION"));
	env_release(&e);
}

TEST(an_outer_session_is_replaced_not_stacked)
{
	struct env e;

	CHECK_EQ(env_copy(&e, (char *[]){ "LD_PRELOAD=/old/lib/gprof/libgprof_inject.so a.so:/tmp/gprof-abcdef/inject:/b/inject",
					  "CUDA_INJECTION64_PATH=/old/lib/gprof/libgprof_inject.so", "NVTX_INJECTION64_PATH=/nsys.so", NULL }), 0);
	CHECK_EQ(env_open_doors(&e, "/s", "/our.so", &target, true), 0);
	CHECK_STR(env_get(&e, "LD_PRELOAD"), "/our.so:a.so:/b/inject");
	CHECK_STR(env_get(&e, "CUDA_INJECTION64_PATH"), "/our.so");
	CHECK(!env_get(&e, "GPROF_NEXT_CUDA_INJECTION"));
	CHECK_STR(env_get(&e, "GPROF_NEXT_NVTX_INJECTION"), "/nsys.so");
	CHECK_STR(env_get(&e, "GPROF_SESSION"), "/s");
	env_release(&e);
}

TEST(what_is_not_recorded_has_no_door)
{
	struct env e;

	CHECK_EQ(env_copy(&e, (char *[]){ "NVTX_INJECTION64_PATH=/old/lib/gprof/libgprof_inject.so", NULL }), 0);
	CHECK_EQ(env_open_doors(&e, "/s", "/our.so", &target, false), 0);
	CHECK(!env_get(&e, "NVTX_INJECTION64_PATH"));
	CHECK_EQ(env_set(&e, "NVTX_INJECTION64_PATH", "/other.so"), 0);
	CHECK_EQ(env_open_doors(&e, "/s", "/our.so", &target, false), 0);
	CHECK_STR(env_get(&e, "NVTX_INJECTION64_PATH"), "/other.so");
	CHECK(!env_get(&e, "GPROF_NEXT_NVTX_INJECTION"));
	env_release(&e);
}

TEST(our_files_are_found_beside_the_program)
{
	char out[PATH_MAX];

	tree_start();
	file("p/bin/gprof-run", "", 0755);
	file("p/lib/gprof/gprof-collector", "", 0755);
	CHECK_EQ(path_beside(at("p/bin/gprof-run"), PATH_COLLECTOR, out, sizeof out), 0);
	CHECK_STR(out, at("p/lib/gprof/gprof-collector"));
	CHECK_EQ(path_beside(at("p/bin/gprof-run"), PATH_INJECT, out, sizeof out), -1);
	CHECK_STR(out, at("p/lib/gprof/libgprof_inject.so"));
	CHECK_EQ(path_beside("/gprof-run", PATH_COLLECTOR, out, sizeof out), -1);
	CHECK_STR(out, "/lib/gprof/gprof-collector");
	CHECK_EQ(path_beside(at("p/bin/gprof-run"), PATH_COLLECTOR, out, 20), -1);
	CHECK_EQ(errno, ENAMETOOLONG);
	tree_end();
}

/* ---- the command ---- */

TEST(commands_are_searched_as_execvp_does)
{
	char out[PATH_MAX], list[256];

	tree_start();
	file("a/tool", "", 0644);
	file("b/tool", "", 0755);
	file("a/only", "", 0644);
	mkdir(at("a/folder"), 0755);
	snprintf(list, sizeof list, "%s/none:%s/a:%s/b", root, root, root);
	CHECK_EQ(path_search("tool", list, out, sizeof out), 0);
	CHECK_STR(out, at("b/tool"));
	CHECK_EQ(path_search("only", list, out, sizeof out), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(path_search("folder", list, out, sizeof out), -1);
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(path_search("", list, out, sizeof out), -1);
	CHECK_EQ(path_search(at("b/tool"), "", out, sizeof out), 0);
	CHECK_EQ(chdir(at("b")), 0);
	CHECK_EQ(path_search("tool", "", out, sizeof out), 0);
	CHECK_STR(out, "./tool");
	CHECK_EQ(path_search("tool", "/none:", out, sizeof out), 0);
	CHECK_EQ(chdir("/"), 0);
	tree_end();
}

TEST(interpreters_of_scripts_are_found)
{
	struct env e;
	char out[PATH_MAX], path[128], script[256];

	tree_start();
	file("bin/python3.9", "", 0755);
	snprintf(path, sizeof path, "PATH=%s/bin", root);
	env_copy(&e, (char *[]){ path, NULL });
	snprintf(script, sizeof script, "#! %s/bin/python3.9 -u\nx", root);
	file("one", script, 0755);
	file("two", "#!/usr/bin/env python3.9\n", 0755);
	file("three", "#!/usr/bin/env -S -i A=B python3.9 -u", 0755);
	file("four", "#!/usr/bin/env\n", 0755);
	file("five", "echo no script\n", 0755);
	file("six", "#!", 0755);
	for (const char *const *name = (const char *[]){ "one", "two", "three", NULL }; *name; name++) {
		CHECK_EQ(target_interpreter(at(*name), &e, out, sizeof out), 0);
		CHECK_STR(out, at("bin/python3.9"));
	}
	for (const char *const *name = (const char *[]){ "four", "five", "six", "none", NULL }; *name; name++)
		CHECK_EQ(target_interpreter(at(*name), &e, out, sizeof out), -1);
	env_release(&e);
	tree_end();
}

static enum image_kind look(const char *path)
{
	struct executable m;

	return image_look(&m, path);
}

TEST(programs_are_told_apart_and_cut_ones_are_no_danger)
{
	char bytes[8192], cut[80];
	FILE *f = fopen("/bin/sh", "r");
	size_t n = fread(bytes, 1, sizeof bytes, f);

	fclose(f);
	CHECK_EQ(look("/bin/sh"), IMAGE_OPEN);
	CHECK_EQ(look("/etc/passwd"), IMAGE_UNKNOWN);
	CHECK_EQ(look("/dev/null"), IMAGE_UNKNOWN);
	CHECK_EQ(look("/none"), IMAGE_UNKNOWN);
	tree_start();
	snprintf(cut, sizeof cut, "%s/cut", root);
	for (size_t len = 0; len <= n; len += len < 1200 ? 7 : 611) {
		f = fopen(cut, "w");
		fwrite(bytes, 1, len, f);
		fclose(f);
		look(cut);
	}
	for (size_t i = 0; i < 1024; i++) {
		bytes[i] ^= 0xff;
		f = fopen(cut, "w");
		fwrite(bytes, 1, n, f);
		fclose(f);
		look(cut);
		bytes[i] ^= 0xff;
	}
	tree_end();
}

/* ---- the name of the trace ---- */

static const char *named(const char *name)
{
	static char out[PATH_MAX];
	static char *argv[] = { "/usr/bin/python3", NULL };
	struct request r = { .name = name, .argc = 1, .argv = argv };

	output_path(&r, 4711, out, 256);
	return out;
}

TEST(output_names_are_expanded_and_absolute)
{
	char here[PATH_MAX], host[256], want[PATH_MAX + 512];

	unsetenv("RANK"), unsetenv("WORLD_SIZE"), unsetenv("SLURM_PROCID"), unsetenv("SLURM_NTASKS");
	CHECK(getcwd(here, sizeof here) != NULL);
	gethostname(host, sizeof host);
	CHECK_STR(named("/tmp/run"), "/tmp/run.gtrace");
	CHECK_STR(named("/tmp/run.gtrace"), "/tmp/run.gtrace");
	CHECK_STR(named("/tmp/run.nsys-rep"), "/tmp/run.gtrace");
	CHECK_STR(named("/tmp/a%p%%b"), "/tmp/a4711%b.gtrace");
	snprintf(want, sizeof want, "%s/x-%s.gtrace", here, host);
	CHECK_STR(named("x-%h"), want);
	snprintf(want, sizeof want, "%s/gprof-python3-%s-4711.gtrace", here, host);
	CHECK_STR(named(NULL), want);
	snprintf(want, sizeof want, "/tmp/gprof-python3-%s-4711.gtrace", host);
	CHECK_STR(named("/tmp/"), want);
	setenv("JOB", "12", 1);
	CHECK_STR(named("/tmp/%q{JOB}"), "/tmp/12.gtrace");
	unsetenv("JOB");
}

TEST(ranks_do_not_meet_in_one_name)
{
	setenv("RANK", "3", 1);
	setenv("WORLD_SIZE", "8", 1);
	CHECK_STR(named("/tmp/run"), "/tmp/run.rank3.gtrace");
	CHECK_STR(named("/tmp/100%%"), "/tmp/100%.rank3.gtrace");
	CHECK_STR(named("/tmp/run.%r"), "/tmp/run.3.gtrace");
	setenv("RANK", "x", 1);
	setenv("SLURM_PROCID", "5", 1);
	CHECK_STR(named("/tmp/run"), "/tmp/run.rank5.gtrace");
	setenv("WORLD_SIZE", "1", 1);
	CHECK_STR(named("/tmp/run"), "/tmp/run.gtrace");
	unsetenv("RANK"), unsetenv("WORLD_SIZE"), unsetenv("SLURM_PROCID");
}

/* ---- libcupti of a Python ---- */

static const char *hint_for(const char *python, char *const *vars)
{
	static char out[CONFIG_TEXT];
	struct target t = { .preload = true };
	struct request r = { .inherit = true };
	struct env e;

	config_init(&r.config);
	snprintf(t.path, sizeof t.path, "%s", python);
	snprintf(t.image, sizeof t.image, "%s", python);
	env_copy(&e, vars);
	cupti_hint(&t, &r, &e, out, sizeof out);
	env_release(&e);
	return strncmp(out, root, strlen(root)) == 0 ? out + strlen(root) + 1 : out;
}

TEST(the_wheel_of_a_venv_is_the_hint)
{
	tree_start();
	file("v/bin/python3", "", 0755);
	file("v/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n", 0644);
	CHECK_STR(hint_for(at("v/bin/python3"), NULL), "");
	file("v/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "", 0644);
	CHECK_STR(hint_for(at("v/bin/python3"), NULL), "v/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	file("v/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", "", 0644);
	file("v/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.2025.3.0.bak", "", 0644);
	CHECK_STR(hint_for(at("v/bin/python3"), NULL), "v/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
	file("v/lib/python3.11/site-packages/torch/version.py", "__version__ = '2.7'\ncuda: Optional[str] = '12.8'\n", 0644);
	CHECK_STR(hint_for(at("v/bin/python3"), NULL), "v/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	tree_end();
}

TEST(odd_folders_pyenv_conda_and_pythonpath_are_found)
{
	char shims[256], conda[256], path[256], more[256];

	tree_start();
	file("a[b*]/bin/python3", "", 0755);
	file("a[b*]/pyvenv.cfg", "", 0644);
	file("a[b*]/lib/python3.9/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "", 0644);
	CHECK_STR(hint_for(at("a[b*]/bin/python3"), NULL), "a[b*]/lib/python3.9/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");

	file("pyenv/shims/python3", "#!/bin/sh\n", 0755);
	file("pyenv/version", "3.8.1\n", 0644);
	file("pyenv/versions/3.8.1/bin/python3", "", 0755);
	file("pyenv/versions/3.8.1/lib/python3.8/site-packages/nvidia/cuda_cupti/lib/libcupti.so.11.8", "", 0644);
	snprintf(shims, sizeof shims, "%s", at("pyenv/shims/python3"));
	CHECK_STR(hint_for(shims, NULL), "pyenv/versions/3.8.1/lib/python3.8/site-packages/nvidia/cuda_cupti/lib/libcupti.so.11.8");

	file("conda/bin/python3", "", 0755);
	file("conda/lib/libcupti.so.12", "", 0644);
	file("conda/lib/libcupti.so.2024.1.1", "", 0644);
	CHECK_STR(hint_for(at("conda/bin/python3"), NULL), "conda/lib/libcupti.so.12");
	snprintf(conda, sizeof conda, "CONDA_PREFIX=%s", at("conda"));
	snprintf(path, sizeof path, "PATH=%s", at("none"));
	CHECK_STR(hint_for("/bin/sh", (char *[]){ path, conda, NULL }), "conda/lib/libcupti.so.12");

	file("extra/nvidia/cu13/lib/libcupti.so.13", "", 0644);
	snprintf(more, sizeof more, "PYTHONPATH=:%s", at("extra"));
	CHECK_STR(hint_for(at("conda/bin/python3"), (char *[]){ more, NULL }), "extra/nvidia/cu13/lib/libcupti.so.13");
	tree_end();
}
