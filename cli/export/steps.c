/* Which ranges are steps of a training loop. */
#include "cli/export/export.h"
#include "cli/model/join.h"
#include "cli/model/sort.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#define KINETO_STEP "ProfilerStep#"

/* Words for a step, the best first: where several are used, the first is the one that tools should count. */
static const char *const words[] = { "step", "iteration", "iter", "batch" };
#define WORDS (sizeof words / sizeof *words)
#define NO_NUMBER UINT64_MAX

/* "train_step 12" -> word 0, number 12; "step" -> word 0, NO_NUMBER.  False: nothing of the kind. */
static bool parse(const char *name, size_t *word, uint64_t *number)
{
	size_t n = strlen(name), digits = 0;

	while (digits < n && digits < 18 && isdigit((unsigned char)name[n - digits - 1]))
		digits++;
	*number = digits ? strtoull(name + n - digits, NULL, 10) : NO_NUMBER;
	n -= digits;
	while (n && strchr(" _:#=-", name[n - 1]))
		n--;
	for (*word = 0; *word < WORDS; ++*word) {
		size_t len = strlen(words[*word]);

		/* The word stands alone or behind another: "train_step", not "instep". */
		if (n >= len && strncasecmp(name + n - len, words[*word], len) == 0 &&
		    (n == len || !isalpha((unsigned char)name[n - len - 1])))
			return true;
	}
	return false;
}

/* What of a range's name matters, by string id. */
struct looks {
	size_t word;
	uint64_t number;
	bool step, kineto;
};

struct candidates {
	struct export *x;
	const int64_t *start, *duration;
	const uint32_t *thread, *flags, *process, *name;
	uint32_t *parents;
	struct map seen;                /* string id -> position in looks */
	struct looks *looks;
	size_t n_looks, cap_looks;
};

static const struct looks *look(struct candidates *c, uint32_t name)
{
	bool new;
	uint32_t *at = map_put(&c->seen, name, (uint32_t)c->n_looks, &new);
	const char *text;

	if (!at)
		return NULL;
	if (!new)
		return &c->looks[*at - 1];
	if (c->n_looks == c->cap_looks) {
		size_t cap = c->cap_looks ? c->cap_looks * 2 : 64;
		struct looks *looks = realloc(c->looks, cap * sizeof *looks);

		if (!looks)
			return NULL;
		c->looks = looks;
		c->cap_looks = cap;
	}
	struct looks *l = &c->looks[c->n_looks++];

	text = model_string(c->x->m, name);
	l->step = parse(text, &l->word, &l->number);
	l->kineto = strncmp(text, KINETO_STEP, sizeof KINETO_STEP - 1) == 0 && l->number != NO_NUMBER;
	return l;
}

/* A step inside another of its kind is a part of it. */
static bool inside_another(struct candidates *c, size_t row, size_t word)
{
	for (uint32_t up = c->parents[row], depth = 0; up != UINT32_MAX && depth < 128; up = c->parents[up], depth++) {
		const struct looks *l = look(c, c->name[up]);

		if (l && l->step && l->word == word)
			return true;
	}
	return false;
}

static bool is_candidate(struct candidates *c, size_t row, const struct looks *l)
{
	return l->step && !(c->flags[row] & (RANGE_STARTEND | RANGE_INCOMPLETE)) && !inside_another(c, row, l->word);
}

/* Which word and thread: the best word that occurs, the thread with most of it. */
struct choice {
	size_t word;
	uint32_t process, thread;
	uint32_t count;
};

static int choose(struct candidates *c, size_t rows, struct choice *best, bool *named)
{
	struct map counts = { 0 };
	int rc = -1;

	*best = (struct choice){ .word = WORDS };
	for (size_t row = 0; row < rows; row++) {
		const struct looks *l;
		uint32_t *count;
		bool new;

		if (c->x->takes && !c->x->takes[c->process[row]])
			continue;
		l = look(c, c->name[row]);
		if (!l)
			goto out;
		*named |= l->kineto;
		if (!is_candidate(c, row, l))
			continue;
		count = map_put(&counts, (uint64_t)c->process[row] << 34 | (uint64_t)c->thread[row] << 2 | l->word, 0,
				&new);
		if (!count)
			goto out;
		*count += !new;
		if (l->word < best->word || (l->word == best->word && *count > best->count))
			*best = (struct choice){ l->word, c->process[row], c->thread[row], *count };
	}
	rc = 0;
out:
	map_release(&counts);
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct step *p = a, *q = b;

	return p->start < q->start ? -1 : p->start > q->start;
}

/* Numbered one after the other from the first one's own number; then an empty one, because HTA drops the last of
 * several. */
static void number(struct step *steps, size_t n, uint64_t first)
{
	qsort(steps, n, sizeof *steps, by_start);
	for (size_t i = 0; i < n; i++)
		steps[i].number = first + i;
	steps[n] = steps[n - 1];
	steps[n].start = steps[n].end;
	steps[n].number++;
}

static int collect(struct candidates *c, size_t rows, const struct choice *best, struct step **steps, size_t *n)
{
	uint64_t first = NO_NUMBER;
	int64_t first_start = INT64_MAX;

	*steps = malloc(((size_t)best->count + 2) * sizeof **steps);
	if (!*steps)
		return -1;
	for (size_t row = 0; row < rows; row++) {
		const struct looks *l;

		if (c->process[row] != best->process || c->thread[row] != best->thread)
			continue;
		l = look(c, c->name[row]);
		if (!l || l->word != best->word || !is_candidate(c, row, l) || *n > best->count)
			continue;
		(*steps)[(*n)++] = (struct step){ c->start[row], time_add(c->start[row], c->duration[row]), 0,
						  best->process, best->thread };
		if (c->start[row] < first_start) {
			first_start = c->start[row];
			first = l->number;
		}
	}
	if (*n > 1) {
		number(*steps, *n, first == NO_NUMBER ? 0 : first);
		++*n;
	} else if (*n) {
		(*steps)->number = first == NO_NUMBER ? 0 : first;
	}
	return 0;
}

int steps_find(struct export *x, struct step **steps, size_t *n, bool *named)
{
	struct model *m = x->m;
	struct candidates c = {
		.x = x,
		.start = MODEL_I64(m, range, start),
		.duration = MODEL_I64(m, range, duration),
		.thread = MODEL_U32(m, range, thread),
		.flags = MODEL_U32(m, range, flags),
		.name = MODEL_U32(m, range, name),
		.process = model_row_process(m, ROW_range),
		.parents = model_range_parents(m),
	};
	size_t rows = model_rows(m, ROW_range);
	struct choice best;
	int rc = -1;

	*steps = NULL;
	*n = 0;
	*named = false;
	if (c.start && c.duration && c.thread && c.flags && c.name && c.process && c.parents)
		rc = choose(&c, rows, &best, named);
	if (rc == 0 && !*named && best.word < WORDS)
		rc = collect(&c, rows, &best, steps, n);
	map_release(&c.seen);
	free(c.looks);
	free(c.parents);
	return rc;
}
