/* Prints tables of options as --help and as a man page. */
#include "cli/ui/cmd.h"
#include "cli/ui/fail.h"
#include "cli/ui/options.h"

#include <stdlib.h>
#include <string.h>

#define SCREEN 80
#define COLUMN 28       /* where the descriptions start */

/* Prints text from COLUMN on, in several lines if necessary; at: current column of the line. */
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

static const struct opt help_all = { .name = "help-all", .help = "print all options" };

void options_help(const struct cmd *cmd, FILE *out, bool all)
{
	unsigned hidden = 0;

	fprintf(out, "usage: %s%s%s%s%s%s\n%s\n", program_name(), cmd->name ? " " : "", cmd->name ? cmd->name : "",
		cmd->opts ? " [OPTIONS]" : "", cmd->args ? " " : "", cmd->args ? cmd->args : "", cmd->help);
	if (cmd->opts && cmd->opts->name && !(all && cmd->opts->flags & OPT_TITLE))
		fprintf(out, "\n");
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (all && o->flags & OPT_TITLE)
			fprintf(out, "\n%s:\n", o->help);
		else if (!(o->flags & (OPT_TITLE | OPT_HIDDEN | (all ? 0 : OPT_MORE))))
			help_row(out, o);
		hidden += !(o->flags & OPT_TITLE) && o->flags & OPT_MORE;
	}
	if (hidden && !all)
		help_row(out, &help_all);
	if (cmd->more)
		fprintf(out, "\n%s%s", cmd->more, cmd->more[strlen(cmd->more) - 1] == '\n' ? "" : "\n");
}

/* ---- man page ---- */

/* Prints n bytes of a line as roff: dashes stay dashes, and no line is read as a roff request. */
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

/* Prints paragraphs; indented lines are not filled; "# TITLE" starts a section. */
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
		if (o->flags & OPT_TITLE) {
			fprintf(out, ".SS %s\n", o->help);
			continue;
		}
		if (o->flags & OPT_HIDDEN)
			continue;
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
	fprintf(out, "%s%s\\fR%s ", cmd->name ? " " : "", cmd->name ? cmd->name : "",
		cmd->opts ? " [\\fIOPTIONS\\fR]" : "");
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
	/* The text up to the first "# TITLE" is DESCRIPTION; the further sections follow the options. */
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
		if (!(*c)->name)
			fputs(".TP\n\\fB\\-\\-help\\fR, \\fB\\-\\-help\\-all\\fR\nprint the common options, or all options\n", out);
		if ((*c)->more) {
			fputs(".PP\n", out);
			roff_text(out, (*c)->more);
		}
	}
	roff_text(out, sections ? sections + 1 : NULL);
}
