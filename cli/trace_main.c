/* gprof-trace: reads what gprof-run recorded.  A table of commands. */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/options.h"
#include "trace/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct cmd cmd_info, cmd_report, cmd_export, cmd_import, cmd_check, cmd_recover, cmd_resolve, cmd_dump;
static const struct cmd cmd_help;

static const struct cmd *const cmds[] = {
	&cmd_report, &cmd_info, &cmd_export, &cmd_import, &cmd_check, &cmd_recover, &cmd_resolve,
	&cmd_dump, &cmd_help, NULL,
};

static const struct program program = {
	.name = "gprof-trace",
	.help = "reads and converts traces of gprof-run",
	.text = "Answers questions about a trace that gprof-run has written (NAME.gtrace).  Without TRACE the newest "
		"one in the\n"
		"current folder is read, and named.  A trace that is still being written can be read too; so can one "
		"that was cut\n"
		"off or is damaged: what cannot be read is named on stderr, everything else is used.\n"
		"\n"
		"TRACE can also be a Kineto file, as torch.profiler writes them: NAME.json, NAME.json.gz, NAME.json.zst; or\n"
		"several, or a folder of them: the ranks of one job; or what 'nsys export --type sqlite' makes.  They are read\n"
		"anew each time, and nothing is left behind; 'gprof-trace import' makes a trace of them.\n"
		"\n"
		"A value that the trace cannot know is shown as \"-\" in tables, as nothing in CSV and as null in JSON,\n"
		"never as 0.\n"
		"\n"
		"C++ names of kernels are made readable by libstdc++.so.6 where it is installed; else they are shown\n"
		"as in the symbol table, and reports say so.  Lines of native code in stacks need libdw.so.1 (elfutils).\n"
		"# EXIT STATUS\n"
		"0: done; 1: failed, or the trace is damaged (check); 2: an option or operand was wrong.\n"
		"# EXAMPLES\n"
		"  gprof-trace report\n"
		"  gprof-trace report -r cuda_gpu_kern_sum --limit 20 run.gtrace\n"
		"  gprof-trace report -r cuda_api_sum --format csv -o api.csv run.gtrace\n"
		"  gprof-trace export run.gtrace\n"
		"  gprof-trace report old.pt.trace.json.gz\n"
		"  gprof-trace import rank*.pt.trace.json.gz -o job.gtrace\n"
		"  gprof-trace dump --kind kernel run.gtrace\n",
	.cmds = cmds,
};

static void print_help(FILE *out)
{
	fprintf(out, "usage: gprof-trace COMMAND [OPTIONS] [TRACE]\nReads and converts traces of gprof-run.\n\n");
	for (const struct cmd *const *c = cmds; *c; c++)
		fprintf(out, "  %-9s %s\n", (*c)->name, (*c)->help);
	fprintf(out, "\nWithout TRACE the newest *.gtrace of the current folder is read.\n"
		"gprof-trace COMMAND --help lists the options; gprof-trace help --man has it all.\n");
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
	hint("gprof-trace --help lists them");
	return EXIT_USAGE;
}

static bool help_man, help_completion;

static const struct opt help_opts[] = {
	{ 0, "man", NULL, opt_flag, &help_man, "print the manual page (roff)", NULL, 0 },
	{ 0, "completion", NULL, opt_flag, &help_completion, "print the bash completion", NULL, 0 },
	{ 0 },
};

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
	.help = "Show the options of a command, the manual, or the completion",
	.opts = help_opts,
	.run = run_help,
};

/* The dispatcher, not the command, asks whether what was printed has arrived: a full disk behind > is an error in all
 * of them. */
static int stdout_arrived(int rc)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	if (errno == EPIPE)     /* the reader had enough: head, or a pager that was left */
		return rc;
	if (errno)
		fail_errno("cannot write to standard output");
	else
		fail("cannot write all to standard output; is there space where it goes?");
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

/* Files are mapped: this is how one ends that gets shorter under our hands, or whose disk fails. */
static void file_is_gone(int sig)
{
	static const char text[] = "gprof-trace: a file became shorter, or its disk failed, while it was read; read it again when it is whole\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	signal(SIGBUS, file_is_gone);
	signal(SIGXFSZ, SIG_IGN);       /* a file that may not grow is an error of write() then, which is told */
	return stdout_arrived(dispatch(argc, argv));
}
