#include "cli/report/steps/path_pieces.h"

#include "cli/model/gpu/kernel_class.h"
#include "cli/model/model.h"
#include "cli/model/names.h"
#include "cli/model/torch/torch.h"

#include <stdio.h>

const char *const piece_words[PIECE_KINDS] = {
	[PIECE_HOST] = "host",
	[PIECE_DATA] = "host: data loading",
	[PIECE_FORWARD] = "host: forward",
	[PIECE_BACKWARD] = "host: backward",
	[PIECE_OPTIMIZER] = "host: optimizer",
	[PIECE_ZERO_GRAD] = "host: zero_grad",
	[PIECE_OTHER] = "host: other",
	[PIECE_CALLS] = "host: CUDA calls",
	[PIECE_WORKER] = "host: loader worker",
	[PIECE_WAIT_DATA] = "wait for data",
	[PIECE_WAIT_COMM] = "wait for communication",
	[PIECE_LAUNCH] = "launch delay",
	[PIECE_STREAM] = "gap on the stream",
	[PIECE_COMPUTE] = "GPU compute",
	[PIECE_COMM] = "GPU communication",
	[PIECE_COPY] = "GPU copy",
	[PIECE_SET] = "GPU memory set",
	[PIECE_GRAPH] = "CUDA graph",
};

struct piece_builder {
	struct model *m;
	struct path_rows *rows;
	const struct phases *phases;    /* of the process; NULL: not known */
	const struct torch_ranges *torch;       /* NULL: the trace has no ranges of PyTorch */
	struct buf out;                 /* struct piece */
	bool oom;
};

static void put_piece(struct piece_builder *k, int64_t start, int64_t end, struct piece p)
{
	struct piece *last = k->out.len ? (struct piece *)(void *)(k->out.data + k->out.len) - 1 : NULL;

	if (start >= end)
		return;
	if (last && last->kind == p.kind && last->name == p.name && last->on == p.on && last->gpu == p.gpu && !p.gpu) {
		last->end = end;
		return;
	}
	p.start = start;
	p.end = end;
	buf_put(&k->out, &p, sizeof p);
}

static uint32_t text_id(struct piece_builder *k, const char *text)
{
	uint32_t id = model_intern(k->m, text);

	k->oom |= id == MAP_NONE;
	return id == MAP_NONE ? STRING_NONE : id;
}

/* ---- GPU rows ---- */

static struct piece gpu_piece(struct piece_builder *k, const struct path_segment *s)
{
	const struct path_gpu_row *g = &PATH_LIST(k->rows->gpu, struct path_gpu_row)[k->rows->in.rows[s->of].what];
	struct piece p = { .gpu = true, .on = s->on };
	const char *words;
	char text[64];

	switch (g->kind) {
	case ROW_kernel:
		p.name = MODEL_U32(k->m, kernel, name)[g->row];
		p.kind = model_kernel_communicates(k->m, p.name) ? PIECE_COMM : PIECE_COMPUTE;
		p.name = model_name(k->m, model_name(k->m, p.name, NAME_DEMANGLED), NAME_PLAIN);
		break;
	case ROW_memcpy:
		words = memcpy_short(MODEL_U32(k->m, memcpy, kind)[g->row]);
		snprintf(text, sizeof text, "copy%s%s", words ? " " : "", words ? words : "");
		p.name = text_id(k, text);
		p.kind = PIECE_COPY;
		break;
	case ROW_memset:
		p.name = text_id(k, "memory set");
		p.kind = PIECE_SET;
		break;
	default:
		p.name = text_id(k, "CUDA graph");
		p.kind = PIECE_GRAPH;
	}
	if (s->kind != PATH_GPU)
		p.kind = s->kind == PATH_LAUNCH ? PIECE_LAUNCH : PIECE_STREAM;
	return p;
}

/* ---- the host ---- */

/* Whether a range is an operator.  Older files record PyTorch's scope enumerate(DataLoader) as an operator; it is none. */
static bool is_operator(const struct piece_builder *k, uint32_t range)
{
	uint32_t at = k->torch ? k->torch->at[range] : NO_TORCH;

	return at != NO_TORCH && k->torch->list[at].scope == TORCH_OPERATOR &&
	       strncmp(model_string(k->m, k->torch->list[at].name), "enumerate(", 10) != 0;
}

static enum piece_kind kind_of_phase(enum phase phase)
{
	static const enum piece_kind kinds[PHASES] = {
		[PHASE_DATA] = PIECE_DATA, [PHASE_FORWARD] = PIECE_FORWARD, [PHASE_BACKWARD] = PIECE_BACKWARD,
		[PHASE_OPTIMIZER] = PIECE_OPTIMIZER, [PHASE_ZERO_GRAD] = PIECE_ZERO_GRAD, [PHASE_OTHER] = PIECE_OTHER,
	};

	return kinds[phase];
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Adds host time, split at the starts and ends of phases.  idle: the thread is in no operator. */
static void put_phases(struct piece_builder *k, int64_t from, int64_t to, struct piece p, bool idle)
{
	for (size_t i = phases_first_after(k->phases->list, k->phases->n, from); from < to; i++) {
		const struct phase_span *s = i < k->phases->n ? &k->phases->list[i] : NULL;
		int64_t until = s ? sooner(s->start, to) : to;

		p.kind = PIECE_OTHER;
		put_piece(k, from, until, p);
		from = until > from ? until : from;
		if (!s || from >= to)
			return;
		until = sooner(s->end, to);
		p.kind = kind_of_phase(s->phase);
		if (idle && s->phase == PHASE_BACKWARD && k->phases->seen[MARK_COMM] && s->computed < until) {
			int64_t computed = s->computed > from ? s->computed : from;

			put_piece(k, from, computed, p);
			p.kind = PIECE_WAIT_COMM;
			from = computed;
		}
		put_piece(k, from, until, p);
		from = until;
	}
}

static void put_host(struct piece_builder *k, const struct path_segment *s)
{
	const struct path_thread *t = &PATH_LIST(k->rows->threads, struct path_thread)[s->on];
	uint32_t what = s->of == PATH_NONE ? PATH_NONE : k->rows->in.acts[s->of].what;
	struct piece p = { .kind = PIECE_HOST, .on = s->on, .name = STRING_NONE };
	bool idle = true;

	if (what != PATH_NONE && what & PATH_CALL) {
		p.kind = PIECE_CALLS;
		p.name = model_name(k->m, MODEL_U32(k->m, api, name)[what & ~PATH_CALL], NAME_API_PLAIN);
		put_piece(k, s->start, s->end, p);
		return;
	}
	if (what != PATH_NONE) {
		p.name = MODEL_U32(k->m, range, name)[what];
		idle = !is_operator(k, what);
	}
	if (t->process != k->rows->process)
		p.kind = PIECE_WORKER;
	else if (idle && s->on == k->rows->in.thread && spans_have(&k->rows->loaders, s->start))
		p.kind = PIECE_WAIT_DATA;
	else if (k->phases)
		return put_phases(k, s->start, s->end, p, idle);
	put_piece(k, s->start, s->end, p);
}

/* Phases of the process, if the trace has ranges of PyTorch.  Returns 0, or -1 when out of memory. */
static int find_phases(struct piece_builder *k)
{
	const struct phases *phases;

	if (!model_has_torch(k->m))
		return 0;
	phases = model_phases(k->m);
	k->torch = model_torch(k->m);
	if (!phases || !k->torch)
		return -1;
	if (phases[k->rows->process].n)
		k->phases = &phases[k->rows->process];
	return 0;
}

static bool columns_read(struct model *m)
{
	return MODEL_U32(m, kernel, name) && MODEL_U32(m, memcpy, kind) && MODEL_U32(m, api, name) && MODEL_U32(m, range, name);
}

int pieces_make(struct pieces *p, struct model *m, const struct path_span *span)
{
	struct piece_builder k = { .m = m, .rows = &p->rows };
	struct path_segment *path = NULL;
	size_t n = 0;

	*p = (struct pieces){ .list = NULL };
	if (path_rows_make(&p->rows, m, span->process, span->thread, span->start, span->end) == 0 && columns_read(m) &&
	    find_phases(&k) == 0)
		path = path_find(&p->rows.in, &n);
	for (size_t i = 0; i < n && path; i++)
		if (path[i].kind == PATH_HOST)
			put_host(&k, &path[i]);
		else
			put_piece(&k, path[i].start, path[i].end, gpu_piece(&k, &path[i]));
	p->list = PATH_LIST(k.out, struct piece);
	p->n = PATH_COUNT(k.out, struct piece);
	k.oom |= !path || k.out.oom;
	free(path);
	return k.oom ? -1 : 0;
}

void pieces_release(struct pieces *p)
{
	free(p->list);
	p->list = NULL;
	path_rows_release(&p->rows);
}
