#include "trace/rules/period_parts.h"

#include <string.h>

/* Number of launches after which learning runs first; few programs have shorter steps. */
#define FIRST_LEARN 24u

/* In a ring without a period, pairs seen more often than this cannot mark steps of a longer period. */
#define COMMON 6u

void period_init_with(struct period *p, struct period_room room)
{
	memset(p, 0, sizeof *p);
	p->room = room;
	p->learn_at = FIRST_LEARN;
}

static uint32_t fold(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

/* Start of the launch with this number or, if it is not in the ring, of the launch before it. */
static int64_t start_of(const struct period *p, uint64_t number)
{
	uint32_t low = 0, high = p->stored;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (period_at(p, mid)->number <= number)
			low = mid + 1;
		else
			high = mid;
	}
	return p->stored ? period_at(p, low ? low - 1 : 0)->start : 0;
}

static void push(struct period *p, const struct period_step *step)
{
	p->queue[p->queued++ % PERIOD_QUEUE] = *step;
	if (p->queued - p->taken > PERIOD_QUEUE)
		p->taken = p->queued - PERIOD_QUEUE;
	p->n_steps++;
}

bool period_take(struct period *p, struct period_step *step)
{
	if (p->taken == p->queued)
		return false;
	*step = p->queue[p->taken++ % PERIOD_QUEUE];
	return true;
}

/* Whether the landmark's distance to the master at `number` is the usual one, within eighths/8 of it. */
static bool agrees(const struct period *p, const struct period_landmark *l, uint64_t number, unsigned eighths)
{
	uint64_t way = number + 1 - l->seen, usual = p->landmarks[p->master].offset - l->offset;
	uint64_t off = way > usual ? way - usual : usual - way;

	return off <= usual * eighths / 8 + (p->model.launches < 16 ? p->model.launches / 4 : 4);
}

/*
 * The landmark that locates best the begin of the step that ends at `number`, in this order: in the first 2 % of the step; in its first
 * quarter; in the first 2 % at a larger distance (a longer step, e.g. the first); any.  NULL: none was seen.
 */
static const struct period_landmark *best_landmark(const struct period *p, uint64_t number)
{
	const struct period_landmark *end = p->landmarks + p->n_landmarks;
	uint64_t size = p->model.launches;

	for (const struct period_landmark *l = p->landmarks; l < end && l->offset <= size / 50; l++)
		if (l->seen > p->previous_master && agrees(p, l, number, 4))
			return l;
	for (const struct period_landmark *l = p->landmarks; l < end && l->offset <= size / 4; l++)
		if (l->seen > p->previous_master && agrees(p, l, number, 1))
			return l;
	for (const struct period_landmark *l = p->landmarks; l < end && l->offset <= size / 50; l++)
		if (l->seen > p->previous_master && number + 1 - l->seen < 4 * size)
			return l;
	for (const struct period_landmark *l = p->landmarks; l < p->landmarks + p->master; l++)
		if (l->seen > p->previous_master && agrees(p, l, number, 1))
			return l;
	return NULL;
}

/* Queues the step that the master landmark, launch `number`, has completed. */
static void complete(struct period *p, uint64_t number, int64_t start)
{
	const struct period_landmark *l;
	uint64_t least = p->previous_master, first;

	if (least && number + 1 - least < (p->model.launches + 1) / 2)
		return;
	l = best_landmark(p, number);
	if (l)
		first = l->seen - 1 > l->offset ? l->seen - 1 - l->offset : 0;
	else
		first = number > p->landmarks[p->master].offset ? number - p->landmarks[p->master].offset : 0;
	if (first < least)
		first = least;
	push(p, &(struct period_step){
		.first = first, .last = number, .end = start,
		.start = l && !l->offset && first == l->seen - 1 ? l->seen_start : first == number ? start : start_of(p, first),
	});
	p->previous_master = number + 1;
}

static void look_at_launch(struct period *p, const uint32_t *id, uint64_t number, int64_t start)
{
	bool master = false;

	for (unsigned f = 0; f < PERIOD_FAMILIES; f++) {
		unsigned at = p->find[f][id[f] & 255];

		if (!at || p->landmarks[at - 1].id != id[f])
			continue;
		p->landmarks[at - 1].seen = number + 1;
		p->landmarks[at - 1].seen_start = start;
		master |= at - 1 == p->master;
	}
	if (master)
		complete(p, number, start);
}

/* Finds steps with the new model among the launches in the ring, from the last step on. */
static void replay(struct period *p)
{
	for (uint32_t i = 0; i < p->n_landmarks; i++)
		p->landmarks[i].seen = 0;
	for (uint32_t i = 0; i < p->stored; i++) {
		const struct period_entry *e = period_at(p, i);

		if (e->number >= p->previous_master)
			look_at_launch(p, e->id, e->number, e->start);
	}
}

static void forget(struct period *p, uint32_t n)
{
	p->oldest = (p->oldest + n) % PERIOD_RING;
	p->stored -= n;
}

static bool is_common(const struct period *p, uint32_t pair)
{
	return p->common[pair / 64 % (PERIOD_RING / 64)] >> pair % 64 & 1;
}

/* For a full ring without a period: keeps only rare pairs from now on, so that the ring reaches further back. */
static void thin_out(struct period *p)
{
	uint8_t *count = (uint8_t *)p->older;           /* scratch: a count for each bit of common[] */
	uint32_t kept = 0;

	memset(count, 0, PERIOD_RING);
	for (uint32_t i = 0; i < p->stored; i++) {
		uint8_t *c = &count[period_at(p, i)->id[PERIOD_PAIR] % PERIOD_RING];

		*c += *c < 255;
	}
	for (uint32_t i = 0; i < p->stored; i++) {
		const struct period_entry *e = period_at(p, i);
		uint32_t pair = e->id[PERIOD_PAIR] % PERIOD_RING;

		if (count[pair] > COMMON)
			p->common[pair / 64] |= 1ull << pair % 64;
		else
			p->ring[(p->oldest + kept++) % PERIOD_RING] = *e;
	}
	p->sparse = true;
	p->stored = kept;
	if (kept > PERIOD_RING / 2)
		forget(p, kept - PERIOD_RING / 2);
}

/* Whether the model is lost: no step was completed for a long time. */
static bool is_lost(const struct period *p)
{
	return p->model.launches && p->n - p->previous_master > 4 * p->model.launches + 16;
}

/* Whether two periods differ by at most an eighth. */
static bool is_alike(uint64_t a, uint64_t b)
{
	return a <= b + b / 8 && b <= a + a / 8;
}

/* State that learning changes, saved to undo it. */
struct learnt {
	struct period_model model;
	struct period_landmark landmarks[PERIOD_LANDMARKS];
	uint32_t n_landmarks, master;
	uint8_t find[PERIOD_FAMILIES][256];
};

static void save(const struct period *p, struct learnt *l)
{
	l->model = p->model;
	l->n_landmarks = p->n_landmarks;
	l->master = p->master;
	memcpy(l->landmarks, p->landmarks, sizeof l->landmarks);
	memcpy(l->find, p->find, sizeof l->find);
}

static void take_back(struct period *p, const struct learnt *l)
{
	p->model = l->model;
	p->n_landmarks = l->n_landmarks;
	p->master = l->master;
	memcpy(p->landmarks, l->landmarks, sizeof l->landmarks);
	memcpy(p->find, l->find, sizeof l->find);
}

/*
 * Whether to accept the period just found.  It may be that of a layer or a micro-batch; early in a program the difference cannot be
 * seen.  So a new period must be found again with four times as many launches, unless it contains a known optimizer or a clearly longest
 * pause of the host.  While steps of the old model go on, a shorter period is refused, and so is a many times longer one if the old
 * steps cover nearly all launches.
 */
static bool is_believed(struct period *p, const struct period_model *before, enum period_when when)
{
	uint64_t now = p->model.launches;

	if (before->launches && !is_lost(p))
		return now * 8 > before->launches * 5 && (p->model.named || !before->whole || now < 16 * before->launches);
	if (when == PERIOD_SETTLED && p->partial && !p->model.named)
		return false;
	if (when != PERIOD_SETTLED || p->model.named || (p->model.plain && p->model.duration >= PERIOD_SHORT))
		return true;
	if (p->tentative && now * 20 <= p->tentative * 21 && p->tentative * 20 <= now * 21)
		return p->n >= (p->model.duration < PERIOD_SHORT ? 16 : 4) * p->tentative_n;
	p->tentative = now;
	p->tentative_n = p->n;
	return false;
}

/* Accepts the period just found, or restores the old model. */
static void weigh_up(struct period *p, const struct learnt *old, enum period_when when)
{
	uint64_t before = old->model.launches;

	if (!is_believed(p, &old->model, when)) {
		take_back(p, old);
		return;
	}
	if (before && is_alike(p->model.launches, before)) {
		p->same++;
	} else {
		p->model.revised |= p->n_steps > 0;
		p->same = 0;
	}
	p->learn_at = p->n + 2 * p->model.launches + p->stored / 2;
	replay(p);
}

/* Runs learning and schedules the next run.  After enough confirmations of a period it runs again only if the period is lost. */
static void learn(struct period *p, enum period_when when)
{
	uint64_t before = p->model.launches;
	struct learnt *old;

	if (before && when == PERIOD_SETTLED && !is_lost(p) && p->same >= (p->model.named ? 2 : 3)) {
		p->learn_at = p->previous_master + 4 * before + 17;
		return;
	}
	p->learn_at = p->n + FIRST_LEARN / 2 + p->stored / 2 * (p->stored > PERIOD_RING / 4 ? 4 : 1);
	if (!(old = p->room.take(sizeof *old)))
		return;
	save(p, old);
	if (period_learn(p, when))
		weigh_up(p, old, when);
	p->room.give(old);
}

/* The ring is full and no period is known: accepts an unsettled period, or thins out the ring. */
static void overflow(struct period *p)
{
	learn(p, PERIOD_FULL);
	if (p->model.launches && !is_lost(p))
		forget(p, 1);
	else
		thin_out(p);
}

/* A launch of a known optimizer that the model lacks.  The second one discards the model: it is only a part of the step. */
static void doubt(struct period *p)
{
	if (p->n - p->doubted_at < p->model.launches)
		return;
	p->doubted_at = p->n;
	if (++p->doubts < 2)
		return;
	p->doubts = 0;
	p->model.launches = 0;
	p->model.revised |= p->n_steps > 0;
	p->tentative = 0;
	p->learn_at = p->n + FIRST_LEARN;
}

void period_launch(struct period *p, const struct period_launch *l)
{
	uint32_t name = fold(l->name), *before = &p->before[l->thread % PERIOD_THREADS];
	uint32_t id[PERIOD_FAMILIES] = {
		[PERIOD_NAME] = name,
		[PERIOD_PAIR] = fold((uint64_t)*before << 32 | name),
		[PERIOD_CONFIG] = fold(l->name ^ l->config * 0xc2b2ae3d27d4eb4full),
	};
	int64_t idle = period_ns(p->busy_until, l->start), end = l->end ? l->end : l->start;

	*before = name;
	if (end > p->busy_until)
		p->busy_until = end;
	if (!p->sparse || !is_common(p, id[PERIOD_PAIR])) {
		if (p->stored == PERIOD_RING) {
			if (p->model.launches && !is_lost(p))
				forget(p, 1);
			else
				overflow(p);
		}
		p->ring[(p->oldest + p->stored++) % PERIOD_RING] = (struct period_entry){
			.start = l->start, .number = p->n, .id = { id[0], id[1], id[2] }, .flags = l->flags & 0xff,
			.idle = !p->n ? 0 : idle > UINT32_MAX ? UINT32_MAX : (uint32_t)idle,
		};
	}
	if (p->model.launches) {
		look_at_launch(p, id, p->n, l->start);
		if (l->flags & PERIOD_OPTIMIZER && !p->model.named)
			doubt(p);
	}
	if (++p->n >= p->learn_at)
		learn(p, PERIOD_SETTLED);
}

void period_finish(struct period *p)
{
	if (!p->model.launches || is_lost(p) || p->same < 3)
		learn(p, PERIOD_LAST);
}

void period_again(struct period *p)
{
	struct period_model model = p->model;

	model.revised = false;
	p->model = model;
	p->n = p->previous_master = p->n_steps = p->tentative = p->doubted_at = p->doubts = 0;
	p->oldest = p->stored = 0;
	p->queued = p->taken = 0;
	p->busy_until = 0;
	p->sparse = false;
	p->learn_at = model.launches ? 4 * model.launches + 17 : FIRST_LEARN;
	p->same = model.launches ? 3 : 0;
	memset(p->before, 0, sizeof p->before);
	memset(p->common, 0, sizeof p->common);
	for (uint32_t i = 0; i < p->n_landmarks; i++)
		p->landmarks[i].seen = 0;
}

static bool contains(const char *text, const char *word)
{
	for (; *text; text++) {
		size_t i = 0;

		while (word[i] && (text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 'a' - 'A' : text[i]) == word[i])
			i++;
		if (!word[i])
			return true;
	}
	return false;
}

uint32_t period_kernel_flags(const char *name)
{
	static const char *const words[] = {
		"multi_tensor_apply", "multitensorapply", "fusedadam", "fused_adam", "adamw", "adam_", "adagrad", "rmsprop", "sgd_", "_sgd",
		"sgdmomentum", "lamb_", "lion_", "adafactor", "optimizer_step", "applygradient", "applyadam", "resourceapply",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (contains(name, words[i]))
			return PERIOD_OPTIMIZER;
	return 0;
}
