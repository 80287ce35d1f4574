/* A command is a file with one const struct cmd; a program is a table of them.  Help, man page and completion are printed from here. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

struct opt;

struct cmd {
	const char *name;               /* word of the command line; NULL: the program itself (gprof-run) */
	const char *args;               /* what follows the options in the usage line: "[TRACE...]" */
	const char *help;               /* one sentence */
	const char *more;               /* for --help, below the options, and for the man page; lines up to 80, or NULL */
	const struct opt *opts;         /* ends with { 0 }; NULL: none */
	const char *words;              /* what may follow, for the completion; NULL: another program's command line, or files */
	int (*run)(int argc, char **argv);      /* the operands alone; the exit code */
};

struct program {
	const char *name;               /* "gprof-trace" */
	const char *help;               /* one sentence without a full stop, for the man page's NAME */
	const char *text;               /* DESCRIPTION: paragraphs; indented lines stay as they are; "# TITLE" starts a section */
	const struct cmd *const *cmds;  /* ends with NULL */
};

#endif
