/* gprof-trace: the program that reads traces.  Each command is in its own file; this is their table and dispatcher. */
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"
#include "trace/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct cmd cmd_info, cmd_report, cmd_export, cmd_import, cmd_check, cmd_recover, cmd_resolve, cmd_redact, cmd_dump;
static const struct cmd cmd_help;

static const struct cmd *const cmds[] = {
	&cmd_report, &cmd_info, &cmd_export, &cmd_import, &cmd_check, &cmd_recover, &cmd_resolve,
	&cmd_redact, &cmd_dump, &cmd_help, NULL,
};

static const struct program program = {
	.name = "gprof-trace",
	.help = "report on, convert and check traces of GPU programs",
	.text = "Reads a trace that gprof-run wrote (NAME.gtrace).  Without TRACE, reads the newest trace of the current folder\n"
		"and prints its name.  A trace can be read while gprof-run writes it, and after it was cut off or damaged: each\n"
		"unreadable part is named on stderr, and all other parts are used.\n"
		"\n"
		"TRACE can also be a file of torch.profiler (Kineto): NAME.json, NAME.json.gz or NAME.json.zst; several such files\n"
		"or a folder of them, which are the ranks of one job; or the output of 'nsys export --type sqlite'.  Such files are\n"
		"read again by each command.  'gprof-trace import' converts them to a trace once.\n"
		"\n"
		"A value that the trace does not have is \"-\" in tables, empty in CSV and null in JSON.  It is never 0.\n"
		"\n"
		"C++ names of kernels are demangled with libstdc++.so.6.  Without that library, reports show mangled names and\n"
		"say so.  Lines of native code in stacks need libdw.so.1 (elfutils).\n"
		"# FILES\n"
		"Commands create files with mode 0600.  A file gets its name when it is complete.  If the name is a symbolic link,\n"
		"the file replaces the link.\n"
		"# ENVIRONMENT\n"
		"COLUMNS is the width of tables; without it they are as wide as the terminal, or 120 columns.  NO_COLOR with any\n"
		"value, TERM=dumb and no TERM turn bold and coloured words off; option --color overrides them.\n"
		"# EXIT STATUS\n"
		"0: done.  1: failed, or 'check' found damage.  2: an option or operand was wrong.\n"
		"# EXAMPLES\n"
		"See where the time went, on one page:\n"
		"    gprof-trace report run.gtrace\n"
		"\n"
		"Read a trace that torch.profiler wrote:\n"
		"    gprof-trace report old.pt.trace.json.gz\n"
		"\n"
		"List the 20 most expensive kernels:\n"
		"    gprof-trace report -r cuda_gpu_kern_sum --limit 20 run.gtrace\n"
		"\n"
		"Compare the steps of a loop, then look at steps 3 to 9 alone:\n"
		"    gprof-trace report -r steps run.gtrace\n"
		"    gprof-trace report --step 3:9 run.gtrace\n"
		"\n"
		"See how much of each training step is data loading, forward, backward, optimizer and communication:\n"
		"    gprof-trace report -r phases run.gtrace\n"
		"\n"
		"Find the late rank of a job:\n"
		"    gprof-trace report -r ranks traces/\n"
		"\n"
		"Write a report as CSV:\n"
		"    gprof-trace report -r cuda_api_sum --format csv -o api.csv run.gtrace\n"
		"\n"
		"See the timeline in Perfetto or chrome://tracing:\n"
		"    gprof-trace export run.gtrace\n"
		"\n"
		"Make a flame graph of GPU time:\n"
		"    gprof-trace export --format folded run.gtrace\n"
		"\n"
		"Convert the files of all ranks to one trace:\n"
		"    gprof-trace import rank*.pt.trace.json.gz -o job.gtrace\n"
		"\n"
		"Remove names and paths before you give a trace away:\n"
		"    gprof-trace redact run.gtrace -o given.gtrace --names='my_*'\n"
		"\n"
		"See why something is missing from a trace:\n"
		"    gprof-trace report -r health run.gtrace\n"
		"# SEE ALSO\n"
		"gprof-run(1), gprof-ctl(1)\n",
	.cmds = cmds,
};

static void print_help(FILE *out)
{
	fprintf(out, "usage: gprof-trace COMMAND [OPTIONS] [TRACE]\n"
		"Report on, convert and check traces of gprof-run, torch.profiler and nsys.\n\n");
	for (const struct cmd *const *c = cmds; *c; c++)
		fprintf(out, "  %-9s %s\n", (*c)->name, (*c)->help);
	fprintf(out, "\n  gprof-trace report run.gtrace                  one page: where the time went\n"
		"  gprof-trace report list                        all reports\n"
		"  gprof-trace report old.pt.trace.json.gz        a file of torch.profiler\n"
		"Without TRACE, the newest *.gtrace of the current folder is read.\n"
		"gprof-trace COMMAND --help lists options.  gprof-trace --man prints the manual.\n");
}

static const struct cmd *find(const char *name)
{
	for (const struct cmd *const *c = cmds; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static int unknown(const char *name)
{
	const char *names[sizeof cmds / sizeof *cmds], *nearest;
	size_t n = 0;

	for (const struct cmd *const *c = cmds; *c; c++)
		names[n++] = (*c)->name;
	nearest = options_nearest(name, names, n);
	fail("no command '%s'%s%s%s", name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
	     nearest ? "'?" : "");
	hint("gprof-trace --help lists the commands");
	return EXIT_USAGE;
}

static bool help_man, help_completion;

static const struct opt help_opts[] = {
	{ 0, "man", NULL, opt_flag, &help_man, "print the man page (roff)", NULL, 0 },
	{ 0, "completion", NULL, opt_flag, &help_completion, "print the bash completion", NULL, 0 },
	{ 0 },
};

/* --help-all: the options of every command. */
static int help_of_all(void)
{
	print_help(stdout);
	for (const struct cmd *const *c = cmds; *c; c++) {
		printf("\n");
		options_help(*c, stdout, true);
	}
	return EXIT_OK;
}

static int run_help(int argc, char **argv)
{
	const struct cmd *cmd;

	if (help_man)
		options_man(&program, stdout);
	else if (help_completion)
		options_completion(&program, stdout);
	else if (!argc)
		print_help(stdout);
	else if ((cmd = find(argv[0])))
		options_help(cmd, stdout, true);
	else
		return unknown(argv[0]);
	return EXIT_OK;
}

static const struct cmd cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.help = "Print all options of a command, the man page or the bash completion",
	.opts = help_opts,
	.run = run_help,
};

/* Checks, for all commands, that standard output was written: a full disk behind > is an error.  Returns the exit status. */
static int stdout_arrived(int rc)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	if (errno == EPIPE)     /* the reader closed the pipe (head, a pager): not an error */
		return rc;
	if (errno)
		fail_errno("cannot write to standard output");
	else
		fail("cannot write all output to standard output; is the disk full?");
	return rc == EXIT_OK ? EXIT_FAILED : rc;
}

static int dispatch(int argc, char **argv)
{
	const struct cmd *cmd;
	int first;

	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return run_help(0, NULL);
	if (strcmp(argv[1], "--help-all") == 0)
		return help_of_all();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		printf("gprof-trace %s\n", GPROF_VERSION);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "--man") == 0 || strcmp(argv[1], "--completion") == 0) {
		help_man = argv[1][2] == 'm';
		help_completion = !help_man;
		return run_help(0, NULL);
	}
	cmd = find(argv[1]);
	if (!cmd)
		return unknown(argv[1]);
	first = options_parse(cmd, argc - 1, argv + 1, false);
	if (first < 0)
		return first == OPTIONS_DONE ? EXIT_OK : EXIT_USAGE;
	return cmd->run(argc - 1 - first, argv + 1 + first);
}

/* SIGBUS: a mapped file was truncated, or its disk failed. */
static void file_is_gone(int sig)
{
	static const char text[] = "gprof-trace: a file was truncated, or its disk failed, during reading; try again when the file is "
				   "complete\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	signal(SIGBUS, file_is_gone);
	signal(SIGXFSZ, SIG_IGN);       /* at the file size limit write() then fails, and the error is reported */
	return stdout_arrived(dispatch(argc, argv));
}
