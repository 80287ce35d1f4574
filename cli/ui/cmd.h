/*
 * Commands and programs as tables.  Each command is a file with one const struct cmd; a program is a list of them.
 * --help, the man page and the bash completion are printed from these tables (options.h).
 */
#ifndef CLI_UI_CMD_H
#define CLI_UI_CMD_H

struct opt;

struct cmd {
	const char *name;               /* word of the command line; NULL: the program itself (gprof-run) */
	const char *args;               /* operands in the usage line, after the options: "[TRACE...]"; NULL: none */
	const char *help;               /* one sentence */
	const char *more;               /* text below the options in --help, and in the man page; lines of at most 80 columns; or NULL */
	const struct opt *opts;         /* ends with { 0 }; NULL: none */
	const char *words;              /* operands that the completion offers; NULL: files, or (gprof-run) a command */
	int (*run)(int argc, char **argv);      /* gets the operands without options; returns the exit status */
};

struct program {
	const char *name;               /* "gprof-trace" */
	const char *help;               /* one sentence without a full stop, for the man page's NAME */
	const char *text;               /* DESCRIPTION: paragraphs; indented lines stay as they are; "# TITLE" starts a section */
	const struct cmd *const *cmds;  /* ends with NULL */
};

#endif
