/* The command line of gprof-run, from the table run_options.def, with the grammar of nsys. */
#include "cli/run/run.h"
#include "cli/run/run_capture.h"
#include "cli/run/run_stacks.h"
#include "cli/run/run_torch.h"
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "cli/ui/words.h"
#include "trace/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_IGNORED 64

/* Set by the rows of the table; request_parse() copies the result. */
static struct request r;
static bool overwrite, env_all, memory_usage, um_cpu_faults, um_gpu_faults;
static bool start_later;
static struct torch_wish torch;
static struct capture_wish wish;
static struct stacks_wish stacks;

/* Options and values on the command line without effect. */
static struct ignored {
	const char *name, *text;        /* of the table */
	char value[128];
	bool later;                     /* LATER: asks for something that is not recorded; else VAIN */
} ignored[MAX_IGNORED];
static size_t n_ignored;

static void ignore(const char *name, const char *value, const char *text, bool later)
{
	size_t i;

	for (i = 0; i < n_ignored; i++)
		if (strcmp(ignored[i].name, name) == 0)
			break;
	if (i == MAX_IGNORED)
		return;
	n_ignored += i == n_ignored;
	ignored[i] = (struct ignored){ .name = name, .text = text, .later = later };
	snprintf(ignored[i].value, sizeof ignored[i].value, "%s", value);
}

/* A row of LATER or VAIN. */
struct absent {
	const char *unheard;            /* values for which nothing is printed */
	bool later;
};

static int opt_absent(const struct opt *o, const char *value)
{
	const struct absent *a = o->where;

	if (!value)
		value = "true";
	if (!o->arg && opt_bool_word(value) < 0)
		return fail("--%s must be true or false, not '%s'", o->name, value);
	if (!words_have(a->unheard, value))
		ignore(o->name, value, o->help, a->later);
	return 0;
}

/* ---- -t ---- */

enum kind { KIND_CUDA, KIND_NVTX, KIND_TORCH, KIND_TORCH_OPS, KIND_LIBRARY, KIND_NONE, KIND_LATER, KIND_LATER_CUDA, KIND_JIT };

/* Words of -t.  As in nsys, CUDA's libraries and OpenACC enable cuda too. */
static const struct kind_word {
	const char *word;
	enum kind kind;
} kinds[] = {
	{ "cuda", KIND_CUDA }, { "cuda-sw", KIND_CUDA }, { "cuda-jit", KIND_JIT }, { "nvtx", KIND_NVTX }, { "none", KIND_NONE },
	{ "osrt", KIND_LATER }, { "torch", KIND_TORCH }, { "torch-ops", KIND_TORCH_OPS }, { "nccl", KIND_LATER },
	{ "mpi", KIND_LATER }, { "ucx", KIND_LATER },
	{ "python-gil", KIND_LATER }, { "openmp", KIND_LATER }, { "oshmem", KIND_LATER }, { "gds", KIND_LATER },
	{ "s3", KIND_LATER }, { "s3-verbose", KIND_LATER }, { "nvvideo", KIND_LATER },
	{ "cublas", KIND_LIBRARY }, { "cublas-verbose", KIND_LIBRARY }, { "cudnn", KIND_LIBRARY },
	{ "cusparse", KIND_LIBRARY }, { "cusparse-verbose", KIND_LIBRARY }, { "cusolver", KIND_LIBRARY },
	{ "cusolver-verbose", KIND_LIBRARY }, { "cudla", KIND_LATER_CUDA }, { "cudla-verbose", KIND_LATER_CUDA },
	{ "openacc", KIND_LATER_CUDA },
	{ "opengl", KIND_LATER }, { "opengl-annotations", KIND_LATER }, { "vulkan", KIND_LATER }, { "vulkan-annotations", KIND_LATER },
	{ "openxr", KIND_LATER }, { "openxr-annotations", KIND_LATER }, { "dx11", KIND_LATER }, { "dx11-annotations", KIND_LATER },
	{ "dx12", KIND_LATER }, { "dx12-annotations", KIND_LATER }, { "wddm", KIND_LATER }, { "tegra-accelerators", KIND_LATER },
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

static int unknown_kind(const char *word)
{
	const char *names[N_KINDS], *nearest;

	for (size_t i = 0; i < N_KINDS; i++)
		names[i] = kinds[i].word;
	nearest = options_nearest(word, names, N_KINDS);
	return fail("-t: unknown kind '%s'%s%s%s", word, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int trace_word(const char *word, char *absent, size_t size)
{
	const struct kind_word *k = kinds;

	while (k < kinds + N_KINDS && strcmp(k->word, word) != 0)
		k++;
	if (k == kinds + N_KINDS)
		return unknown_kind(word);
	r.config.trace_jit |= k->kind == KIND_JIT;
	r.config.trace_cuda |= k->kind == KIND_JIT || k->kind == KIND_CUDA || k->kind == KIND_LIBRARY || k->kind == KIND_LATER_CUDA;
	r.config.trace_libraries |= k->kind == KIND_LIBRARY ? libraries_of_word(word) : 0;
	r.config.trace_nvtx |= k->kind == KIND_NVTX;
	if (k->kind == KIND_TORCH || k->kind == KIND_TORCH_OPS)
		torch_record(&r.config, k->kind == KIND_TORCH_OPS ? TORCH_OPS : TORCH_RANGES);
	if (k->kind == KIND_LATER || k->kind == KIND_LATER_CUDA) {
		size_t n = strlen(absent);

		snprintf(absent + n, size - n, "%s%s", n ? "," : "", word);
	}
	return 0;
}

/* The last -t replaces earlier ones, as in nsys. */
static int opt_trace(const struct opt *o, const char *value)
{
	char *list = strdup(value), *rest = list, *word, absent[128] = "";
	int rc = 0;

	if (!list)
		return fail("out of memory");
	r.config.trace_jit = r.config.trace_cuda = r.config.trace_nvtx = r.config.trace_libraries = r.config.trace_torch = 0;
	while (rc == 0 && (word = strsep(&rest, ",")))
		if (*word)
			rc = trace_word(word, absent, sizeof absent);
	if (rc == 0 && absent[0])
		ignore(o->name, absent, "not recorded by this version", true);
	free(list);
	return rc;
}

/* ---- other values ---- */

static int signal_number(const char *value)
{
	static const struct { const char *name; int number; } names[] = {
		{ "none", 0 }, { "kill", SIGKILL }, { "term", SIGTERM }, { "int", SIGINT }, { "hup", SIGHUP }, { "quit", SIGQUIT },
		{ "usr1", SIGUSR1 }, { "usr2", SIGUSR2 }, { "abrt", SIGABRT }, { "stop", SIGSTOP },
	};
	const char *name = strncasecmp(value, "sig", 3) == 0 ? value + 3 : value;
	char *end;
	long n = strtol(value, &end, 10);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(name, names[i].name) == 0)
			return names[i].number;
	return end == value || *end || n < 0 || n > SIGRTMAX ? -1 : (int)n;
}

static int opt_kill(const struct opt *o, const char *value)
{
	int n = signal_number(value);

	if (n < 0)
		return fail("--kill must be none, sigterm, sigkill or another signal, not '%s'", value);
	*(int *)o->where = n;
	return 0;
}

/* Rejects signals that cannot be caught, and those by which gprof-run follows the program. */
static int opt_capture_signal(const struct opt *o, const char *value)
{
	int n = signal_number(value);

	if (n < 0 || n == SIGKILL || n == SIGSTOP || n == SIGCHLD || n == SIGCONT)
		return fail("--%s must be none or a signal such as sigusr2, not '%s'", o->name, value);
	*(int *)o->where = n;
	return 0;
}

/* A=B,C=D.  A piece without '=' belongs to the value before it: CUDA_VISIBLE_DEVICES=0,1. */
static int opt_variables(const struct opt *o, const char *value)
{
	if (*value == '=' || !strchr(value, '=') || strchr(value, '=') > value + strcspn(value, ","))
		return fail("-e needs NAME=VALUE, not '%s'", value);
	return opt_list(o, value);
}

static int export_word(const struct opt *o, const char *word)
{
	static const char later[] = "sqlite arrow arrowdir hdf jsonlines parquetdir text perfetto";

	if (strcmp(word, "kineto") == 0 || strcmp(word, "json") == 0)
		return opt_list(o, "kineto");
	if (!*word || strcmp(word, "none") == 0)
		return 0;
	if (!words_have(later, word))
		return fail("--export: unknown format '%s'; use kineto", word);
	ignore(o->name, word, "not written by this version; gprof-trace export writes kineto", true);
	return 0;
}

static int opt_export(const struct opt *o, const char *value)
{
	char *list = strdup(value), *rest = list, *word;
	int rc = 0;

	if (!list)
		return fail("out of memory");
	while (rc == 0 && (word = strsep(&rest, ",")))
		rc = export_word(o, word);
	free(list);
	return rc;
}

/* A number from low to high, of digits only.  0, or -1. */
static int number_within(const char *value, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n < low || n > high)
		return -1;
	*out = n;
	return 0;
}

/* 0 means the default, as in nsys. */
static int opt_flush_interval(const struct opt *o, const char *value)
{
	uint64_t ms;

	if (number_within(value, 0, 3600000, &ms) < 0)
		return fail("--%s needs milliseconds, at most 3600000 (an hour), not '%s'", o->name, value);
	if (ms)
		r.config.flush_ms = ms;
	return 0;
}

static int opt_buffer_limit(const struct opt *o, const char *value)
{
	if (number_within(value, 1, 4096, &r.config.buffer_limit) < 0)
		return fail("--%s needs a number of buffers from 1 to 4096, not '%s'", o->name, value);
	return 0;
}

/* system-wide, of nsys, would need privileges: the program's processes are sampled, with a note. */
static int opt_sample(const struct opt *o, const char *value)
{
	r.config.sample = strcmp(value, "none") != 0;
	if (strcmp(value, "system-wide") == 0)
		ignore(o->name, value, "only the program's own processes are sampled", true);
	else if (!words_have("cpu process-tree none", value))
		return fail("--%s must be cpu, process-tree (the same) or none, not '%s'", o->name, value);
	return 0;
}

/* true is -s cpu; false changes nothing, because it does not disable native samples in nsys. */
static int opt_python_sampling(const struct opt *o, const char *value)
{
	int yes = value ? opt_bool_word(value) : 1;

	if (yes < 0)
		return fail("--%s must be true or false, not '%s'", o->name, value);
	if (yes)
		r.config.sample = 1;
	return 0;
}

static int opt_sampling_frequency(const struct opt *o, const char *value)
{
	if (number_within(value, 1, 8000, &r.config.sample_hz) < 0)
		return fail("--%s needs a number from 1 to 8000 (Hz), not '%s'", o->name, value);
	return 0;
}

/* node or graph.  The words that nsys allows after a colon have no effect and get a note. */
static int opt_graphs(const struct opt *o, const char *value)
{
	static const char known[] = "host-only host-and-device nvtx-live nvtx-precapture";
	char *list = strdup(value), *rest = list, *word;
	uint64_t *whole = o->where;
	int rc = 0;

	if (!list)
		return fail("out of memory");
	word = strsep(&rest, ":");
	if (strcmp(word, "graph") != 0 && strcmp(word, "node") != 0)
		rc = fail("--%s must be node or graph, not '%s'", o->name, word);
	*whole = word[0] == 'g';
	while (rc == 0 && (word = strsep(&rest, ":"))) {
		if (!words_have(known, word))
			rc = fail("--%s: unknown word '%s'; after the colon, nsys has: %s", o->name, word, known);
		else
			ignore(o->name, value, "graphs that the GPU launches are not recorded; NVTX ranges around a capture are "
			       "always recorded", false);
	}
	free(list);
	return rc;
}

/* A path in a setting, made absolute, because other processes read it. */
static int opt_path(const struct opt *o, const char *value)
{
	char here[PATH_MAX] = "";

	if (*value != '/' && !getcwd(here, sizeof here))
		return fail_errno("--%s: cannot get the current folder, to which '%s' is relative", o->name, value);
	if (snprintf(o->where, CONFIG_TEXT, "%s%s%s", here, *here ? "/" : "", value) >= CONFIG_TEXT)
		return fail("--%s: '%s' is too long", o->name, value);
	return 0;
}

/* A library: a path, a folder that contains libcupti, or a name that the loader searches. */
static int opt_library(const struct opt *o, const char *value)
{
	char found[PATH_MAX];
	struct stat st;

	if (stat(value, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (cupti_in_folder(value, found, sizeof found))
			return opt_path(o, found);
		fail("--%s: no libcupti.so.N in the folder '%s'", o->name, value);
	}
	if (strchr(value, '/') || access(value, F_OK) == 0) {
		if (access(value, R_OK) < 0)
			fail_errno("--%s: cannot read '%s'", o->name, value);   /* a warning only: everything else is recorded */
		return opt_path(o, value);
	}
	if (snprintf(o->where, CONFIG_TEXT, "%s", value) >= CONFIG_TEXT)
		return fail("--%s: '%s' is too long", o->name, value);
	return 0;
}

/* Copies a text into a setting. */
static int opt_setting(const struct opt *o, const char *value)
{
	if (snprintf(o->where, CONFIG_TEXT, "%s", value) >= CONFIG_TEXT)
		return fail("--%s: '%.40s...' is too long", o->name, value);
	return 0;
}

static int opt_setting_flag(const struct opt *o, const char *value)
{
	int yes = value ? opt_bool_word(value) : 1;

	if (yes < 0)
		return fail("--%s must be true or false, not '%s'", o->name, value);
	*(uint64_t *)o->where = (uint64_t)yes;
	return 0;
}

/* ---- options that only print ---- */

static int opt_version(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	printf("gprof-run %s\n", GPROF_VERSION);
	return OPTIONS_DONE;
}

static int opt_man(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	options_man(&run_program, stdout);
	return OPTIONS_DONE;
}

static int opt_completion(const struct opt *o, const char *value)
{
	(void)o, (void)value;
	options_completion(&run_program, stdout);
	return OPTIONS_DONE;
}

/* ---- the table ---- */

static int opt_command_file(const struct opt *o, const char *value);

#define OWN(letter, name, arg, parse, where, values, flags, help) { letter, name, arg, parse, where, help, values, flags },
#define ABSENT(letter, name, arg, unheard, text, later, flags) \
	{ letter, name, arg, opt_absent, &(struct absent){ unheard, later }, text, NULL, OPT_WORD | OPT_MORE | (flags) },
#define LATER(letter, name, arg, unheard, text) ABSENT(letter, name, arg, unheard, text, true, 0)
#define VAIN(letter, name, arg, unheard, text) ABSENT(letter, name, arg, unheard, text, false, 0)
#define OTHER(letter, name, arg, unheard, text) ABSENT(letter, name, arg, unheard, text, false, OPT_HIDDEN)
#define TITLE(text) { .name = "", .help = text, .flags = OPT_TITLE },
static const struct opt opts[] = {
#include "cli/run/run_options.def"
	{ 0 }
};

static const struct cmd cmd_run = {
	.args = "[--] COMMAND...",
	.help = "Record CUDA calls, GPU work, NVTX ranges and PyTorch scopes of COMMAND and its\n"
		"children in one trace, and print a summary at the end.",
	.more = "  gprof-run -- python train.py                   then: gprof-trace report\n"
		"  srun gprof-run -o run.%r -- python train.py    one trace per rank\n"
		"Options of 'nsys profile' are accepted.  A note names each one without effect.\n",
	.opts = opts,
};

static const struct cmd *const run_cmds[] = { &cmd_run, NULL };

const struct program run_program = {
	.name = "gprof-run",
	.help = "record the CUDA calls, GPU work, NVTX ranges and PyTorch scopes of a program",
	.text = "Runs COMMAND and records it, and every process that it starts, in one trace, NAME.gtrace: CUDA calls, kernels and\n"
		"copies on the GPU, NVTX ranges and PyTorch scopes.  COMMAND begins at the first word that is not an option, or\n"
		"after \"--\".  COMMAND keeps its input, output, terminal, signals and exit status.\n\n"
		"Options of \"nsys profile\" are accepted with nsys's names and values.  For each option without effect, gprof-run\n"
		"prints one line on standard error and stores it in the trace.  Options of nsys for Windows, embedded systems and\n"
		"graphics programs are accepted too, and are not listed here.\n\n"
		"gprof-run never overwrites a trace without -f: if NAME.gtrace exists, the new trace is NAME.2.gtrace.  If the folder\n"
		"cannot be written, the trace goes to $TMPDIR and a line says so.  With a world size over 1, \".rank<N>\" is added to\n"
		"a name without placeholder.  Without -o the name is gprof-<program>-<host>-<pid>.\n\n"
		"After COMMAND ends, a page on standard error shows where the trace is and where the time went.  Of several ranks,\n"
		"only rank 0 prints the page; the other ranks print where their trace is.\n"
		"# EXIT STATUS\n"
		"The exit status of COMMAND.  If a signal killed COMMAND, gprof-run ends by the same signal.\n"
		"127: COMMAND was not found.  126: COMMAND cannot be executed.  2: an option was wrong, and COMMAND did not run.\n"
		"# SIGNALS\n"
		"COMMAND is in the process group of gprof-run, so it receives the signals of the terminal.  gprof-run forwards\n"
		"signals that are sent to gprof-run alone.\n"
		"# FILES\n"
		"The session folder gprof-XXXXXX in $XDG_RUNTIME_DIR, $TMPDIR or /tmp exists until the last recorded process ends.\n"
		"NAME.gtrace.log exists only if writing the trace failed; it says what failed.\n"
		"# EXAMPLES\n"
		"Record a program, then read the page again:\n"
		"    gprof-run -o run -- python train.py\n"
		"    gprof-trace report run.gtrace\n"
		"\n"
		"Record a job with one trace per rank:\n"
		"    srun gprof-run -o run.%r -- python train.py\n"
		"\n"
		"Record two steps of a training loop, after ten steps and two warm-up steps:\n"
		"    gprof-run --schedule wait=10,warmup=2,active=2 -- python train.py\n"
		"\n"
		"Record only between cudaProfilerStart() and cudaProfilerStop():\n"
		"    gprof-run --capture-range=cudaProfilerApi -- ./program\n"
		"\n"
		"Record 10 seconds, 30 seconds after the start:\n"
		"    gprof-run --delay 30 --duration 10 -- ./program\n"
		"\n"
		"Start a server without recording, and record later with gprof-ctl:\n"
		"    gprof-run --start-later -o server -- python serve.py\n"
		"\n"
		"See where the CPU time goes:\n"
		"    gprof-run -s cpu -- python train.py\n"
		"\n"
		"Find the Python line of each launch:\n"
		"    gprof-run --python-launch-site -o run -- python train.py\n"
		"    gprof-trace report -r launch_sites run.gtrace\n"
		"\n"
		"See the cost of PyTorch's operators and modules:\n"
		"    gprof-run --torch-modules --torch-shapes -o run -- python train.py\n"
		"    gprof-trace report -r ops,modules run.gtrace\n"
		"\n"
		"Find who makes slow CUDA calls, with call stacks:\n"
		"    gprof-run --cudabacktrace=true -o run -- ./program\n"
		"    gprof-trace report -r call_sites run.gtrace\n"
		"\n"
		"Use a command line that was written for nsys:\n"
		"    gprof-run -t cuda,nvtx,osrt -o report -f true python train.py\n"
		"# SEE ALSO\n"
		"gprof-trace(1), gprof-ctl(1)\n",
	.cmds = run_cmds,
};

/* ---- options from a file ---- */

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 64 << 10);
	size_t n = f && text ? fread(text, 1, (64 << 10) - 1, f) : 0;

	if (!f || !text || ferror(f) || memchr(text, 0, n)) {
		if (f && text && !ferror(f))
			errno = EINVAL;
		fail_errno("cannot read options from '%s'", path);
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static int opt_command_file(const struct opt *o, const char *value)
{
	static char *kept[8];           /* never freed: options point into the text */
	static size_t depth;
	char *words[512] = { "" };
	int n, first;

	(void)o;
	if (depth == sizeof kept / sizeof *kept)
		return fail("--command-file: more than %zu nested files", depth);
	kept[depth] = read_text(value);
	if (!kept[depth])
		return -1;
	n = 1 + words_split(kept[depth++], words + 1, 510);
	first = options_parse(&cmd_run, n, words, true);
	if (first >= 0 && first < n)
		return fail("'%s' is not an option, in '%s'", words[first], value);
	return first < 0 ? first : 0;
}

/* ---- the whole command line ---- */

void request_say_ignored(void)
{
	for (size_t i = 0; i < n_ignored; i++)
		note("--%s=%s: %s", ignored[i].name, ignored[i].value, ignored[i].text);
}

/* Writes the attribute not_recorded: words of -t, and other options as "--name=value". */
static void list_not_recorded(char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < n_ignored && at < size; i++) {
		bool kind = strcmp(ignored[i].name, "trace") == 0;

		if (ignored[i].later)
			at += (size_t)snprintf(out + at, size - at, "%s%s%s%s%s", at ? "," : "", kind ? "" : "--",
					       kind ? "" : ignored[i].name, kind ? "" : "=", ignored[i].value);
	}
}

int request_parse(struct request *out, int argc, char **argv)
{
	int first;

	r = (struct request){ .inherit = true, .restore = true };
	config_init(&r.config);
	torch = (struct torch_wish){ 0 };
	wish = (struct capture_wish){ 0 };
	stacks = (struct stacks_wish){ 0 };
	first = options_parse(&cmd_run, argc, argv, true);
	if (first < 0)
		return first;
	if (first == argc) {
		fail("no command; example: gprof-run -- python train.py");
		hint("gprof-run --help lists the options");
		return OPTIONS_FAILED;
	}
	r.config.overwrite = overwrite;
	r.config.env_all = env_all;
	r.config.memory_usage = memory_usage;
	r.config.um_cpu_faults = um_cpu_faults;
	r.config.um_gpu_faults = um_gpu_faults;
	r.config.start_later = start_later;
	torch_settle(&r.config, &torch);
	if (torch.nearest)
		ignore("pytorch", torch.said, torch.nearest, false);
	if (capture_settle(&r.config, &wish) < 0)
		return OPTIONS_FAILED;
	stacks_settle(&r.config, &stacks);
	if (r.config.on_trace_ready[0] && !r.config.schedule[0])
		ignore("on-trace-ready", r.config.on_trace_ready, "CMD runs when a cycle of --schedule ends, but --schedule was not "
		       "given", false);
	r.argc = argc - first;
	r.argv = argv + first;
	if (strcmp(argv[first - 1], "--") == 0)
		first--;
	record_command(&r.config, argv + 1, first - 1, r.argv, r.argc);
	list_not_recorded(r.config.not_recorded, sizeof r.config.not_recorded);
	*out = r;
	return 0;
}

void request_release(struct request *q)
{
	free(q->variables);
	free(q->exports);
	*q = (struct request){ 0 };
}
