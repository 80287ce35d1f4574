/* The completion for bash: a fixed script with words from the tables of options. */
#include "cli/ui/cmd.h"
#include "cli/ui/options.h"

#include <stdio.h>

/* In COMP_WORDS, each "=" is a separate word. */
static const char start[] =
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"	COMPREPLY=()\n"
	"	[[ $cur == = ]] && cur=\n"
	"	[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"	local list=${cur%\"${cur##*,}\"}\n";

/* For a program that runs another one: completes options up to the first operand, and from there on the other command. */
static const char find_command[] =
	"	local i=1 word=\n"
	"	while ((i < COMP_CWORD)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		[[ $word != -* ]] && break\n"
	"		i=$((i + 1))\n"
	"		[[ $word == -- ]] && break\n"
	"		if [[ ${COMP_WORDS[i]} == = ]]; then\n"
	"			i=$((i + 2))\n"
	"		elif [[ $valued == *\" $word \"* ]]; then\n"
	"			i=$((i + 1))\n"
	"		fi\n"
	"	done\n"
	"	if ((i < COMP_CWORD)); then\n"
	"		if declare -F _command_offset >/dev/null; then\n"
	"			_command_offset $i\n"
	"		else\n"
	"			COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	"		fi\n"
	"		return\n"
	"	fi\n"
	"	if ((i == COMP_CWORD)); then\n"
	"		if [[ $cur == -* && $word != -- ]]; then\n"
	"			COMPREPLY=($(compgen -W \"$all\" -- \"$cur\"))\n"
	"		else\n"
	"			COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
	"		fi\n"
	"		return\n"
	"	fi\n";

/* Prints "-o --output -f --force-overwrite ..."; valued: only options with a value. */
static void option_words(FILE *out, const struct cmd *cmd, bool valued)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (o->flags & (OPT_TITLE | OPT_HIDDEN) || (valued && !o->arg))
			continue;
		if (o->letter)
			fprintf(out, "-%c ", o->letter);
		fprintf(out, "--%s ", o->name);
	}
}

/* Prints the branches of `case`: for each option with a value, its words (for a list, the last word), or file names. */
static void value_words(FILE *out, const struct cmd *cmd, const char *prefix)
{
	for (const struct opt *o = cmd->opts; o && o->name; o++) {
		if (!o->arg || o->flags & OPT_HIDDEN)
			continue;
		fprintf(out, "	%s--%s", prefix, o->name);
		if (o->letter)
			fprintf(out, "|%s-%c", prefix, o->letter);
		fprintf(out, o->values ? ") COMPREPLY=($(compgen -P \"$list\" -W '%s' -- \"${cur##*,}\")); return;;\n"
				       : ") COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n", o->values);
	}
}

static void complete_wrapper(FILE *out, const struct cmd *cmd)
{
	fputs("	local valued=' ", out);
	option_words(out, cmd, true);
	fputs("' all='--help --help-all ", out);
	option_words(out, cmd, false);
	fprintf(out, "'\n%s	case $prev in\n", find_command);
	value_words(out, cmd, "");
	fputs("	esac\n", out);
}

static void complete_words(FILE *out, const struct cmd *cmd)
{
	fputs("	if [[ $cur == -* ]]; then\n		COMPREPLY=($(compgen -W '--help --help-all ", out);
	option_words(out, cmd, false);
	fprintf(out, "' -- \"$cur\"))\n	else\n		COMPREPLY=($(compgen -W '%s' -- \"$cur\") "
		"$(compgen -f -X '!*.gtrace' -- \"$cur\"))\n	fi\n", cmd->words);
}

static void complete_commands(FILE *out, const struct cmd *const *cmds)
{
	char prefix[64];

	fputs("	if ((COMP_CWORD == 1)); then\n		COMPREPLY=($(compgen -W '", out);
	for (const struct cmd *const *c = cmds; *c; c++)
		fprintf(out, "%s ", (*c)->name);
	fputs("--help --version' -- \"$cur\"))\n		return\n	fi\n	case ${COMP_WORDS[1]}:$prev in\n", out);
	for (const struct cmd *const *c = cmds; *c; c++) {
		snprintf(prefix, sizeof prefix, "%s:", (*c)->name);
		value_words(out, *c, prefix);
	}
	fputs("	esac\n	if [[ $cur != -* ]]; then\n		COMPREPLY=($(compgen -f -X '!*.gtrace' -- \"$cur\") "
	      "$(compgen -d -- \"$cur\"))\n		return\n	fi\n"
	      "	case ${COMP_WORDS[1]} in\n", out);
	for (const struct cmd *const *c = cmds; *c; c++) {
		fprintf(out, "	%s) COMPREPLY=($(compgen -W '--help --help-all ", (*c)->name);
		option_words(out, *c, false);
		fputs("' -- \"$cur\"));;\n", out);
	}
	fputs("	esac\n", out);
}

void options_completion(const struct program *p, FILE *out)
{
	char function[64];

	snprintf(function, sizeof function, "_%s", p->name);
	for (char *c = function; *c; c++)
		if (*c == '-')
			*c = '_';
	fprintf(out, "# bash completion of %s, printed by it\n%s()\n{\n%s", p->name, function, start);
	if (p->cmds[0]->name)
		complete_commands(out, p->cmds);
	else if (p->cmds[0]->words)
		complete_words(out, p->cmds[0]);
	else
		complete_wrapper(out, p->cmds[0]);
	fprintf(out, "}\ncomplete -o filenames -F %s %s\n", function, p->name);
}
