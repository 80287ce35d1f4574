#include "inject/stacks/stacks_merge.h"

#include "inject/python/python.h"

/*
 * Replaces the interpreter's native frames by the Python frames that they run.  A Python entry frame has an address in the C frame of its
 * eval call, so the two lists, both ordered outwards, are joined by addresses, without symbols.  CPython 3.8 and 3.9 have no such address:
 * there each frame of the eval function, as far as its symbol goes, is one Python frame.  Other frames of the interpreter next to an eval
 * call are dropped.
 */
struct stack_merge {
	struct stream *s;
	const struct unwind_walk *w;
	const struct py_image *image;
	const struct py_frame *py;
	uint32_t n_py, at;              /* the next Python frame */
	struct stack_frame *out;
	uint32_t n, most;
	uint32_t flags;                 /* STACK_ bits of the frames in `out` */
	bool guarded, cut;
};

static bool is_interpreter(const struct stack_merge *m, uint32_t i)
{
	return m->w->pcs[i] >= m->image->low && m->w->pcs[i] < m->image->high;
}

/* True if native frame i, one of the interpreter's, is the eval call whose Python frames end with `last`. */
static bool carries(const struct stack_merge *m, uint32_t i, const struct py_frame *last)
{
	const struct unwind_walk *w = m->w;

	if (last->c_stack)
		return last->c_stack >= w->sps[i] && (i + 1 == w->n || last->c_stack < w->sps[i + 1]);
	/* Not an entry: the walk was cut inside this call, before the frame that knows the address on the C stack. */
	return !last->entry || (w->pcs[i] >= m->image->eval_low && w->pcs[i] < m->image->eval_high);
}

static void put_frame(struct stack_merge *m, struct stack_frame f)
{
	if (m->n == m->most) {
		m->cut = true;
		return;
	}
	m->out[m->n++] = f;
	m->flags |= f.what == STACK_FRAME_PYTHON ? STACK_PYTHON : STACK_NATIVE;
}

static void put_native(struct stack_merge *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && !m->cut; i++)
		put_frame(m, (struct stack_frame){ .value = m->w->pcs[i], .what = STACK_FRAME_NATIVE });
}

static void put_python(struct stack_merge *m, uint32_t to)
{
	while (m->at < to && !m->cut) {
		const struct py_frame *f = &m->py[m->at];
		uint32_t id = m->guarded ? python_code_id_guarded(m->s, f) : python_code_id(m->s, f);

		if (!id && m->guarded) {        /* the interpreter was changing its list: frames further out may be invalid */
			m->n_py = m->at;
			return;
		}
		if (id && id != PY_HIDDEN)
			put_frame(m, (struct stack_frame){ .value = id, .what = STACK_FRAME_PYTHON, .extra = f->offset });
		m->at++;
	}
}

/* Returns the index after the last Python frame of the next eval call. */
static uint32_t call_end(const struct stack_merge *m)
{
	uint32_t end = m->at;

	while (end < m->n_py && !m->py[end++].entry)
		continue;
	return end;
}

/* Handles a run of the interpreter's frames: puts the Python frames that it runs, or itself if it runs none.  Returns its end. */
static uint32_t put_run(struct stack_merge *m, uint32_t from)
{
	uint32_t end = call_end(m), i = from;
	bool carried = false;

	for (; i < m->w->n && is_interpreter(m, i) && !m->cut; i++) {
		if (m->at == m->n_py || !carries(m, i, &m->py[end - 1]))
			continue;
		put_python(m, end);
		end = call_end(m);
		carried = true;
	}
	if (!carried)
		put_native(m, from, i);
	return i;
}

uint32_t stacks_merge(struct stream *s, struct stack_frame *out, uint32_t most, const struct unwind_walk *w, uint32_t first,
		      const struct stacks_python *python, uint32_t *flags)
{
	struct stack_merge m = { .s = s, .w = w, .out = out, .most = most, .guarded = python->guarded };

	if (python->n && (m.image = python_image())) {
		m.py = python->frames;
		m.n_py = python->n;
	}
	for (uint32_t i = first; i < w->n && !m.cut;) {
		if (m.at < m.n_py && is_interpreter(&m, i)) {
			i = put_run(&m, i);
			continue;
		}
		put_native(&m, i, i + 1);
		i++;
	}
	*flags = m.cut ? STACK_CUT : w->flags;
	/* Python frames remain.  If the native walk is complete, the interpreter was changing its list. */
	if (m.at < m.n_py && !m.cut && m.guarded && !w->flags && w->n > first) {
		*flags = STACK_INCOMPLETE;
	} else if (m.at < m.n_py && !m.cut) {
		put_python(&m, m.n_py);
		*flags = m.cut ? STACK_CUT : w->n > first ? STACK_INCOMPLETE : 0;
	}
	if (python->cut && m.at == python->n)
		*flags |= STACK_CUT;
	*flags |= m.flags;
	return m.n;
}
