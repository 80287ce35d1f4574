/*
 * A name is split into words and numbers ("TrainStep#12" is train, step, 12).  It denotes a step if its words are qualifiers followed by
 * one unit, then a number or the end.  "Optimizer.step#SGD.step", "batch_size=32", "step 3 forward" and "[Strategy]X.training_step" do
 * not.  Names and the programs that use them:
 *
 *   ProfilerStep#N                        torch.profiler, Lightning, accelerate and Hugging Face through it, TensorBoard's plugin
 *   step N, step_N, Step N, steps N       training scripts, callbacks of Hugging Face's Trainer, MLPerf
 *   iteration N, iterationN, iter_N       NVIDIA's and PyTorch's tutorials on profiling with Nsight Systems, Megatron-LM's forks
 *   train_iter N, train_step_N            mmengine's hooks, Lightning's callbacks
 *   batch N, batch_N, BATCH N             loops over a DataLoader
 *   epoch N step M, Train Epoch N Batch M the same loops, with the epoch
 *   train_step, training_step             nvtx.annotate and record_function around a function
 *   run_training_batch                    Lightning's profilers
 *   step[DECODE bs=N]                     SGLang
 *   execute_N_context_N..., execute_context_N..., execute_new_N_cached_N   vLLM
 *
 * DeepSpeed names its own functions (DeepSpeedEngine.forward) and Megatron-LM phases (forward-backward): neither is a step.
 */
#include "trace/rules/stepname.h"

#include <string.h>

enum class { QUALIFIER, EPOCH, UNIT, OTHER };

static const struct word {
	const char *text;
	enum class class;
	enum stepname_rank rank;        /* of a unit */
} words[] = {
	{ "profiler",   QUALIFIER, 0 }, { "train",      QUALIFIER, 0 }, { "training",   QUALIFIER, 0 }, { "val",  QUALIFIER, 0 },
	{ "valid",      QUALIFIER, 0 }, { "validation", QUALIFIER, 0 }, { "eval",       QUALIFIER, 0 }, { "test", QUALIFIER, 0 },
	{ "evaluation", QUALIFIER, 0 }, { "inference",  QUALIFIER, 0 }, { "global",     QUALIFIER, 0 }, { "run",  QUALIFIER, 0 },
	{ "testing",    QUALIFIER, 0 }, { "warmup",     QUALIFIER, 0 }, { "benchmark",  QUALIFIER, 0 }, { "mini", QUALIFIER, 0 },
	{ "epoch",      EPOCH,     0 },
	{ "step",       UNIT, STEPNAME_STEP },      { "steps",     UNIT, STEPNAME_STEP },
	{ "iteration",  UNIT, STEPNAME_ITERATION }, { "iter",      UNIT, STEPNAME_ITERATION },
	{ "batch",      UNIT, STEPNAME_BATCH },     { "minibatch", UNIT, STEPNAME_BATCH },
};

#define N_WORDS (sizeof words / sizeof *words)
#define LONGEST 16              /* bytes for a word and its zero; all words of the table fit */

/* A name being parsed.  Without ctype.h, whose results depend on the program's locale. */
struct name_reader {
	const char *p, *end;
	uint64_t series;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static void skip_separators(struct name_reader *r)
{
	while (r->p < r->end && *r->p && strchr(" _#-:=.", *r->p))
		r->p++;
}

/* Reads the next word in lower case; CamelCase begins a new word.  false: no letter here, or the word is too long for the table. */
static bool next_word(struct name_reader *r, char word[LONGEST])
{
	const char *start = r->p;
	size_t n = 0;

	while (r->p < r->end && (is_upper(*r->p) || is_lower(*r->p))) {
		if (r->p > start && is_upper(*r->p) && is_lower(r->p[-1]))
			break;
		if (n == LONGEST - 1)
			return false;
		word[n++] = (char)(*r->p++ | 0x20);
	}
	word[n] = '\0';
	for (size_t i = 0; i <= n; i++)
		r->series = (r->series ^ (unsigned char)word[i]) * 0x100000001b3ull;
	return n > 0;
}

/* Reads a number of at most 18 digits; -1: none here. */
static int64_t next_number(struct name_reader *r)
{
	int64_t v = 0;
	int n = 0;

	for (; r->p < r->end && is_digit(*r->p); r->p++, n++) {
		if (n == 18)
			return -1;
		v = v * 10 + (*r->p - '0');
	}
	return n ? v : -1;
}

static const struct word *find(const char *text)
{
	for (const struct word *w = words; w < words + N_WORDS; w++)
		if (strcmp(w->text, text) == 0)
			return w;
	return NULL;
}

/* Whether only punctuation, numbers and "of" follow the number: "12/100", "12 of 100", "[12,16)", "12: ". */
static bool ends_well(struct name_reader *r)
{
	char word[LONGEST];

	if (r->p < r->end && (is_upper(*r->p) || is_lower(*r->p)))
		return false;           /* "step 3x" */
	while (r->p < r->end) {
		if (!is_upper(*r->p) && !is_lower(*r->p)) {
			r->p++;
			continue;
		}
		if (!next_word(r, word) || strcmp(word, "of") != 0)
			return false;
	}
	return true;
}

/* Parses the number behind the unit and the end of the name; false: not a step. */
static bool parse_rest(struct name_reader *r, struct stepname *s, const struct word *unit, const char *before)
{
	uint64_t series;

	s->rank = before && strcmp(before, "profiler") == 0 ? STEPNAME_PROFILER : unit->rank;
	if (unit->rank == STEPNAME_STEP && !before && r->p < r->end && *r->p == '[' && r->end[-1] == ']' && !is_digit(r->p[1])) {
		s->number = -1;         /* SGLang's step[DECODE bs=8] */
		s->series = r->series;
		return true;
	}
	skip_separators(r);
	if (r->p < r->end && (*r->p == '[' || *r->p == '('))
		r->p++;
	s->number = next_number(r);
	series = r->series;
	if (s->number < 0) {
		/* "step" or "batch" alone is ambiguous; "train_step" and "iteration" are not. */
		if (r->p < r->end || (!before && strcmp(unit->text, "iteration") != 0))
			return false;
		s->rank = STEPNAME_UNNUMBERED;
	} else if (!ends_well(r)) {
		return false;
	}
	s->series = series;
	return true;
}

static bool parse_engine(struct stepname *s, const char *name, size_t n)
{
	static const char start[] = "execute_";
	struct name_reader r = { name + sizeof start - 1, name + n, 0xcbf29ce484222325ull };
	char word[LONGEST];

	if (n < sizeof start || memcmp(name, start, sizeof start - 1) != 0)
		return false;
	next_number(&r);
	skip_separators(&r);
	if (!next_word(&r, word) || (strcmp(word, "context") != 0 && strcmp(word, "new") != 0))
		return false;
	skip_separators(&r);
	if (next_number(&r) < 0)
		return false;
	*s = (struct stepname){ .rank = STEPNAME_ENGINE, .number = -1, .series = r.series };
	return true;
}

bool stepname_parse(struct stepname *s, const char *name, size_t n)
{
	struct name_reader r = { name, name + n, 0xcbf29ce484222325ull };
	const char *before = NULL;
	struct stepname found;

	while (r.p < r.end) {
		const struct word *w;
		char text[LONGEST];

		skip_separators(&r);
		if (r.p < r.end && *r.p == '/')
			r.p++;
		skip_separators(&r);
		if (!next_word(&r, text) || !(w = find(text)))
			break;
		if (w->class == UNIT) {
			if (!parse_rest(&r, &found, w, before))
				return false;
			*s = found;
			return true;
		}
		before = w->text;
		if (w->class == EPOCH) {
			skip_separators(&r);
			if (next_number(&r) < 0)
				return false;
			if (r.p < r.end && *r.p == ',')
				r.p++;
		}
	}
	return parse_engine(s, name, n);
}
