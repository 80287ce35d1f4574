/* What the tables of options look like: help on the screen, man page, completion. */
#include "cli/cmd.h"
#include "cli/fail.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#define SCREEN 80
#define COLUMN 28       /* where the explanations start */

/* The line stands at `at`: prints text from COLUMN on, in as many lines as it needs. */
static void wrap(FILE *out, const char *text, int at)
{
	if (at >= COLUMN)
		at = fprintf(out, "\n") - 1;
	fprintf(out, "%*s", COLUMN - at, "");
	at = COLUMN;
	for (;;) {
		int len = (int)strcspn(text, " ");

		at += fprintf(out, "%.*s", len, text);
		text += len + (text[len] == ' ');
		if (!*text)
			break;
		if (at + 1 + (int)strcspn(text, " ") <= SCREEN)
			at += fprintf(out, " ");
		else
			at = fprintf(out, "\n%*s", COLUMN, "") - 1;
	}
	fprintf(out, "\n");
}

static void help_row(FILE *out, const struct opt *o)
{
	int at = o->letter ? fprintf(out, "  -%c, ", o->letter) : fprintf(out, "      ");

	at += fprintf(out, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
	wrap(out, o->help, at);
}

void options_help(const struct cmd *cmd, FILE *out, bool all)
{
	fprintf(out, "usage: %s%s%s%s%s%s\n%s\n", program_name(), cmd->name ? " " : "", cmd->name ? cmd->name : "",
		cmd->opts ? " [OPTIONS]" : "", cmd->args ? " " : "", cmd->args ? cmd->args : "", cmd->help);
	if (cmd->opts)
		fprintf(out, "\n");
	for (const struct opt *o = cmd->opts; o && o->name; o++)
		if (all || !(o->flags & OPT_MORE))
			help_row(out, o);
	if (cmd->more)
		fprintf(out, "\n%s%s", cmd->more, cmd->more[strlen(cmd->more) - 1] == '\n' ? "" : "\n");
}

/* ---- man page ---- */

/* One line of roff text: dashes as typed, no line taken for a request. */
static void roff(FILE *out, const char *text, size_t n)
{
	if (n && (*text == '.' || *text == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else
			fputc(text[i], out);
	}
}

/* Lines of prose; indented ones stay as they are; "# TITLE" starts a section. */
static void roff_text(FILE *out, const char *text)
{
	bool plain = false;

	while (text && *text) {
		size_t n = strcspn(text, "\n");
		bool indented = *text == ' ' || *text == '\t';

		if (indented != plain && n)
			fputs((plain = indented) ? ".nf\n" : ".fi\n", out);
		if (!n) {
			fputs(".PP\n", out);
		} else if (strncmp(text, "# ", 2) == 0) {
			fputs(".SH ", out);
			roff(out, text + 2, n - 2);
			fputc('\n', out);
		} else {
			roff(out, text, n);
			fputc('\n', out);
		}
		text += n + (text[n] == '\n');
	}
	if (plain)
		fputs(".fi\n", out);
}

static void roff_options(FILE *out, const struct cmd *cmd)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		fputs(".TP\n\\fB", out);
		if (o->letter)
			fprintf(out, "\\-%c\\fR, \\fB", o->letter);
		fputs("\\-\\-", out);
		roff(out, o->name, strlen(o->name));
		fputs("\\fR", out);
		if (o->arg) {
			fputs(" \\fI", out);
			roff(out, o->arg, strlen(o->arg));
			fputs("\\fR", out);
		}
		fputc('\n', out);
		roff(out, o->help, strlen(o->help));
		fputc('\n', out);
	}
}

static void roff_synopsis(FILE *out, const struct program *p, const struct cmd *cmd)
{
	fprintf(out, "\\fB");
	roff(out, p->name, strlen(p->name));
	fprintf(out, "%s%s\\fR%s ", cmd->name ? " " : "", cmd->name ? cmd->name : "", cmd->opts ? " [\\fIOPTIONS\\fR]" : "");
	if (cmd->args)
		roff(out, cmd->args, strlen(cmd->args));
	fputc('\n', out);
}

void options_man(const struct program *p, FILE *out)
{
	fprintf(out, ".TH %s 1\n.SH NAME\n", p->name);
	roff(out, p->name, strlen(p->name));
	fprintf(out, " \\- %s\n.SH SYNOPSIS\n", p->help);
	for (const struct cmd *const *c = p->cmds; *c; c++) {
		roff_synopsis(out, p, *c);
		fputs(".br\n", out);
	}
	fputs(".SH DESCRIPTION\n", out);
	/* What belongs to DESCRIPTION stands before the options, further sections behind them. */
	const char *sections = p->text ? strstr(p->text, "\n# ") : NULL;

	if (p->text) {
		size_t n = sections ? (size_t)(sections + 1 - p->text) : strlen(p->text);
		char *part = strndup(p->text, n);

		roff_text(out, part);
		free(part);
	}
	for (const struct cmd *const *c = p->cmds; *c; c++) {
		if ((*c)->name) {
			fprintf(out, ".SH %s ", p->name);
			roff(out, (*c)->name, strlen((*c)->name));
			fputs("\n", out);
			roff_text(out, (*c)->help);
		} else {
			fputs(".SH OPTIONS\n", out);
		}
		roff_options(out, *c);
		if ((*c)->more) {
			fputs(".PP\n", out);
			roff_text(out, (*c)->more);
		}
	}
	roff_text(out, sections ? sections + 1 : NULL);
}

/* ---- bash completion ---- */

static void option_words(FILE *out, const struct cmd *cmd)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (o->letter)
			fprintf(out, "-%c ", o->letter);
		fprintf(out, "--%s ", o->name);
	}
	fputs("--help", out);
}

/* case lines: an option and the words that can follow it; options with a free value complete file names. */
static void value_cases(FILE *out, const struct cmd *cmd, const char *prefix)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (!o->arg)
			continue;
		fprintf(out, "\t%s--%s", prefix, o->name);
		if (o->letter)
			fprintf(out, "|%s-%c", prefix, o->letter);
		if (o->values)
			fprintf(out, ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return;;\n", o->values);
		else
			fprintf(out, ") COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n");
	}
}

/* gprof-run: its own options up to the first word, from there on the program's. */
static void complete_wrapper(FILE *out, const char *fn, const struct cmd *cmd)
{
	fprintf(out, "%s() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} i=1 w\n\tCOMPREPLY=()\n\twhile ((i < COMP_CWORD)); do\n"
		"\t\tw=${COMP_WORDS[i]}\n\t\tcase $w in\n\t\t--) i=$((i + 1)); break;;\n\t\t", fn);
	for (const struct opt *o = cmd->opts; o->name; o++)
		if (o->arg)
			fprintf(out, "%s--%s%s%.1s", o == cmd->opts ? "" : "|", o->name, o->letter ? "|-" : "", &o->letter);
	fprintf(out, ")\n\t\t\tif ((i + 1 == COMP_CWORD)); then break; fi; i=$((i + 2))\n"
		"\t\t\t[[ ${COMP_WORDS[i]} == = ]] && i=$((i + 1));;\n\t\t-*) i=$((i + 1));;\n\t\t*) break;;\n\t\tesac\n\tdone\n");
	fprintf(out, "\tif ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} != -* ]]; then\n"
		"\t\tif declare -F _command_offset >/dev/null; then _command_offset $i; else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
		"\t\treturn\n\tfi\n\tcase ${COMP_WORDS[COMP_CWORD-1]} in\n");
	value_cases(out, cmd, "");
	fprintf(out, "\tesac\n\tif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '");
	option_words(out, cmd);
	fprintf(out, "' -- \"$cur\"))\n\telse COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\")); fi\n}\n");
}

static void complete_commands(FILE *out, const char *fn, const struct program *p)
{
	fprintf(out, "%s() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]}\n\tCOMPREPLY=()\n"
		"\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '", fn);
	for (const struct cmd *const *c = p->cmds; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fprintf(out, "--help --version' -- \"$cur\")); return\n\tfi\n\tcase $cmd:${COMP_WORDS[COMP_CWORD-1]} in\n");
	for (const struct cmd *const *c = p->cmds; *c; c++) {
		char prefix[64];

		snprintf(prefix, sizeof prefix, "%s:", (*c)->name);
		value_cases(out, *c, prefix);
	}
	fprintf(out, "\tesac\n\tif [[ $cur == -* ]]; then case $cmd in\n");
	for (const struct cmd *const *c = p->cmds; *c; c++) {
		fprintf(out, "\t%s) COMPREPLY=($(compgen -W '", (*c)->name);
		option_words(out, *c);
		fprintf(out, "' -- \"$cur\"));;\n");
	}
	fprintf(out, "\tesac; else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n}\n");
}

void options_completion(const struct program *p, FILE *out)
{
	char fn[64];

	snprintf(fn, sizeof fn, "_%s", p->name);
	for (char *c = fn; *c; c++)
		if (*c == '-')
			*c = '_';
	fprintf(out, "# bash completion of %s, printed by it\n", p->name);
	if (p->cmds[0] && !p->cmds[0]->name)
		complete_wrapper(out, fn, p->cmds[0]);
	else
		complete_commands(out, fn, p);
	fprintf(out, "complete -o filenames -F %s %s\n", fn, p->name);
}
