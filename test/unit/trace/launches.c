#include "test/unit/trace/launches.h"

#include <stdlib.h>

struct run {
	const struct program *prog;
	struct sequence s;
	uint64_t random;
	int64_t now;                    /* ns */
	unsigned bucket;
	double slow;
	uint32_t thread;
	unsigned step;
};

static uint64_t random64(struct run *r)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return r->random * 0x2545f4914f6cdd1dull;
}

static unsigned below(struct run *r, unsigned n)
{
	return (unsigned)((random64(r) >> 33) % n);
}

static bool chance(struct run *r, unsigned percent)
{
	return below(r, 100) < percent;
}

static void pause_us(struct run *r, unsigned least, unsigned most)
{
	r->now += (int64_t)((least + below(r, most - least + 1)) * 1000 * r->slow);
}

static void put(struct run *r, struct period_launch l)
{
	if (r->s.n == r->s.cap) {
		r->s.cap = r->s.cap ? 2 * r->s.cap : 4096;
		r->s.launches = realloc(r->s.launches, r->s.cap * sizeof l);
		if (!r->s.launches)
			abort();
	}
	r->s.launches[r->s.n++] = l;
	r->s.n_numbered += l.name != 0;
}

static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 7) * 0xc2b2ae3d27d4eb4full;

	return h ^ h >> 29;
}

/* Kernels by number.  From OPTIMIZER_KERNEL on they are an optimizer's. */
enum { COPY_IN = 1, COPY_OUT, GRAPH, INIT, EMBED, NORM, GEMM, ATTENTION, SOFTMAX, DROPOUT, ADD, GELU, RELU, CONV, POOL = CONV + 8, CELL, LOSS,
	ARGMAX, MEAN, EXTRA, BACKWARD = 64, ACCUMULATE = 120, OPTIMIZER_KERNEL = 128, TRIAL = 256 };

static void launch(struct run *r, unsigned kernel, unsigned config)
{
	bool optimizer = kernel >= OPTIMIZER_KERNEL && kernel < TRIAL;
	int64_t start, cost = 4000 + below(r, 3000);

	pause_us(r, 3, 25);
	if (r->prog->noise && below(r, 3000) == 0)
		pause_us(r, 1000, 20000);
	if (r->prog->side && below(r, 150) == 0)
		put(r, (struct period_launch){ .name = hash(COPY_IN, 9), .config = 7, .start = r->now - 900, .end = r->now - 100,
					       .thread = 9, .flags = PERIOD_COPY_IN });
	start = r->now;
	if (r->prog->gpu_bound && kernel != COPY_IN)
		cost += below(r, 60) * 1000;
	r->now += (int64_t)((double)cost * r->slow);
	put(r, (struct period_launch){
		.name = hash(kernel, 0), .config = optimizer ? config : hash(config, r->bucket), .start = start, .end = r->now,
		.thread = r->thread,
		.flags = (kernel == COPY_IN ? PERIOD_COPY_IN : 0u) | (kernel == GRAPH ? PERIOD_GRAPH : 0u) |
			 (optimizer && r->prog->hints ? PERIOD_OPTIMIZER : 0u),
	});
}

/* The host waits for the GPU; that is no launch. */
static void synchronize(struct run *r)
{
	pause_us(r, 500, 5000);
	put(r, (struct period_launch){ .end = r->now });
}

/* A kernel of the model, sometimes with what depends on the data. */
static void op(struct run *r, unsigned kernel, unsigned config)
{
	if (r->prog->warmup && r->step < 2 && kernel >= GEMM && kernel < ARGMAX && chance(r, 30))
		for (unsigned i = below(r, 6); i > 0; i--)
			launch(r, TRIAL + below(r, 12), config);
	launch(r, kernel, config);
}

static void dependent(struct run *r)
{
	if (!chance(r, r->prog->dependent))
		return;
	for (unsigned i = 1 + below(r, 3); i > 0; i--)
		launch(r, EXTRA + below(r, 6), below(r, 4));
}

static unsigned layers(const struct program *p)
{
	static const unsigned n[N_SHAPES] = { 3, 12, 20, 24, 0, 0 };

	return n[p->shape];
}

static void layer_forward(struct run *r, unsigned layer)
{
	static const unsigned transformer[] = { NORM, GEMM, ADD, ATTENTION, GEMM, DROPOUT, ADD, NORM, GEMM, GELU, GEMM, DROPOUT, ADD };

	switch (r->prog->shape) {
	case SHAPE_TRANSFORMER:
		for (unsigned i = 0; i < sizeof transformer / sizeof *transformer; i++)
			op(r, transformer[i], i);
		break;
	case SHAPE_CNN:
		op(r, CONV + layer % 5, layer / 4);
		op(r, NORM, layer / 4);
		op(r, RELU, layer / 4);
		if (layer % 5 == 4)
			op(r, POOL, layer / 4);
		break;
	case SHAPE_RNN:
		op(r, GEMM, 1);
		op(r, CELL, 1);
		break;
	default:
		op(r, GEMM, layer);
		op(r, RELU, layer);
	}
}

static void layer_backward(struct run *r, unsigned layer, bool accumulates)
{
	static const unsigned transformer[] = { DROPOUT, GEMM, GEMM, GELU, GEMM, GEMM, NORM, ADD, DROPOUT, GEMM, GEMM, ATTENTION, GEMM, GEMM, NORM };
	unsigned weights = 1;

	switch (r->prog->shape) {
	case SHAPE_TRANSFORMER:
		for (unsigned i = 0; i < sizeof transformer / sizeof *transformer; i++)
			op(r, BACKWARD + transformer[i], i);
		weights = 12;
		break;
	case SHAPE_CNN:
		op(r, BACKWARD + RELU, layer / 4);
		op(r, BACKWARD + NORM, layer / 4);
		op(r, BACKWARD + CONV + layer % 3, layer / 4);
		op(r, BACKWARD + CONV + 3 + layer % 2, layer / 4);
		weights = 3;
		break;
	case SHAPE_RNN:
		op(r, BACKWARD + CELL, 1);
		op(r, BACKWARD + GEMM, 1);
		op(r, BACKWARD + GEMM, 2);
		break;
	default:
		op(r, BACKWARD + RELU, layer);
		op(r, BACKWARD + GEMM, layer);
		weights = 2;
	}
	for (unsigned i = 0; accumulates && i < weights; i++)
		launch(r, ACCUMULATE, i);
}

static void optimize(struct run *r)
{
	unsigned n = layers(r->prog);

	switch (r->prog->optimizer) {
	case OPTIMIZER_FUSED:
		for (unsigned i = 0; i < 1 + n / 4; i++)
			launch(r, OPTIMIZER_KERNEL, i == n / 4);
		break;
	case OPTIMIZER_FOREACH:
		for (unsigned o = 0; o < 8; o++)
			for (unsigned i = 0; i < 1 + n / 8; i++)
				launch(r, OPTIMIZER_KERNEL + 1 + o, i == n / 8);
		break;
	default:
		for (unsigned i = 0; i < n * 2; i++)
			for (unsigned o = 0; o < 4; o++)
				launch(r, OPTIMIZER_KERNEL + 20 + o, i % 4);
	}
}

static void forward(struct run *r, unsigned n)
{
	launch(r, COPY_IN, 1);
	launch(r, COPY_IN, 2);
	if (r->prog->shape == SHAPE_GRAPH || r->prog->shape == SHAPE_GRAPH_ALONE)
		return;
	dependent(r);
	if (r->prog->shape == SHAPE_TRANSFORMER || r->prog->shape == SHAPE_RNN)
		op(r, EMBED, 0);
	for (unsigned i = 0; i < n; i++) {
		layer_forward(r, i);
		if (i == n / 2)
			dependent(r);
	}
	op(r, GEMM, 77);
	op(r, SOFTMAX, 0);
	op(r, LOSS, 0);
}

static void backward(struct run *r, unsigned n, bool accumulates)
{
	pause_us(r, 30, 120);
	if (r->prog->threads)
		r->thread = 2;
	op(r, BACKWARD + LOSS, 0);
	op(r, BACKWARD + SOFTMAX, 0);
	for (unsigned i = n; i-- > 0;) {
		layer_backward(r, i, accumulates);
		if (i == n / 3)
			dependent(r);
	}
	if (r->prog->shape == SHAPE_TRANSFORMER || r->prog->shape == SHAPE_RNN)
		op(r, BACKWARD + EMBED, 0);
	r->thread = 1;
}

static void evaluate(struct run *r)
{
	unsigned n = layers(r->prog);

	for (unsigned batch = 0; batch < 6; batch++) {
		pause_us(r, 200, 600);
		r->bucket = r->prog->buckets ? below(r, r->prog->buckets) : 0;
		forward(r, n);
		if (r->prog->shape == SHAPE_GRAPH)
			launch(r, GRAPH, 2);
		launch(r, ARGMAX, 0);
		launch(r, MEAN, 0);
	}
	launch(r, COPY_OUT, 0);
	synchronize(r);
}

static void step(struct run *r)
{
	const struct program *p = r->prog;
	unsigned accumulate = p->accumulate ? p->accumulate : 1, n = layers(p);

	if (p->tight)
		pause_us(r, 30, 120);
	else
		pause_us(r, 400, 1500); /* the next batch, the loop around it */
	r->s.steps[r->s.n_steps++] = r->s.n_numbered;
	for (unsigned m = 0; m < accumulate; m++) {
		unsigned length = n;

		if (m)
			pause_us(r, 200, 700);
		r->bucket = p->buckets ? below(r, p->buckets) : 0;
		if (p->varying)
			length = n - n * p->varying / 100 + below(r, 2 * n * p->varying / 100 + 1);
		if (p->shape == SHAPE_GRAPH_ALONE) {
			launch(r, GRAPH, 1);
			continue;
		}
		forward(r, length);
		if (p->shape == SHAPE_GRAPH) {
			launch(r, GRAPH, 1);
			continue;
		}
		backward(r, length, m > 0);
	}
	if (p->shape != SHAPE_GRAPH_ALONE && p->shape != SHAPE_GRAPH) {
		pause_us(r, 80, 250);
		if (p->amp) {
			launch(r, COPY_OUT, 1);
			synchronize(r);
			pause_us(r, 20, 60);
		}
		optimize(r);
	}
	if (p->log_every && r->step % p->log_every == p->log_every - 1) {
		launch(r, MEAN, 5);
		launch(r, COPY_OUT, 5);
		synchronize(r);
	}
}

struct sequence program_run(const struct program *prog)
{
	struct run r = { .prog = prog, .random = prog->seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull, .now = 1000000, .slow = 1, .thread = 1 };

	r.s.steps = calloc(prog->steps + 1, sizeof *r.s.steps);
	if (!r.s.steps)
		abort();
	for (int i = 0; i < 20; i++)
		random64(&r);
	if (prog->warmup)
		for (unsigned i = 0; i < 40 + below(&r, 200); i++)
			launch(&r, INIT + below(&r, 2), below(&r, 6));
	for (; r.step < prog->steps; r.step++) {
		if (prog->drift)
			r.slow = 1 + 2.0 * r.step / prog->steps;
		step(&r);
		if (prog->evaluate_every && r.step % prog->evaluate_every == prog->evaluate_every - 1)
			evaluate(&r);
	}
	return r.s;
}

void sequence_free(struct sequence *s)
{
	free(s->launches);
	free(s->steps);
	*s = (struct sequence){ 0 };
}

size_t sequence_feed(const struct sequence *s, struct period *p, struct period_step *steps, size_t max, uint64_t *first_at)
{
	struct period_step step;
	uint64_t at = 0;
	size_t n = 0;

	for (size_t i = 0; i <= s->n; i++) {
		if (i == s->n) {
			period_finish(p);
		} else if (!s->launches[i].name) {
			period_call(p, s->launches[i].end);
		} else {
			period_launch(p, &s->launches[i]);
			at++;
		}
		while (period_take(p, &step)) {
			if (!n && first_at)
				*first_at = at;
			if (n < max)
				steps[n++] = step;
		}
	}
	return n;
}

struct score sequence_score(const struct sequence *s, const struct period_step *found, size_t n, size_t skip)
{
	uint64_t *size = calloc(s->n_steps + 1, sizeof *size), tolerance;
	struct score r = { 0 };
	size_t f = 0;

	for (size_t i = 0; i + 1 < s->n_steps; i++) {   /* insertion sort: there are few */
		uint64_t x = s->steps[i + 1] - s->steps[i];
		size_t k = i;

		for (; k > 0 && size[k - 1] > x; k--)
			size[k] = size[k - 1];
		size[k] = x;
	}
	tolerance = size[s->n_steps / 2] * 2 / 100;
	free(size);
	for (size_t i = skip; i < s->n_steps; i++) {
		r.truth++;
		while (f < n && found[f].first + tolerance < s->steps[i])
			f++;
		if (f < n && found[f].first <= s->steps[i] + tolerance) {
			r.right++;
			f++;
		}
	}
	for (size_t i = 0; i < n; i++)
		r.found += skip >= s->n_steps || found[i].first + tolerance >= s->steps[skip];
	return r;
}
