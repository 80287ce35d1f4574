#include "inject/torch/torch.h"

#include <stdbool.h>
#include <string.h>

#include "inject/capture/watch.h"
#include "inject/capture/windows.h"
#include "inject/core/intern.h"
#include "inject/core/module.h"
#include "inject/core/scratch.h"
#include "inject/python/python.h"
#include "inject/ranges/names.h"
#include "inject/stacks/stacks.h"
#include "inject/torch/torch_context.h"
#include "inject/torch/torch_inputs.h"
#include "inject/torch/torch_modules.h"
#include "inject/torch/torch_steps.h"

#define DOMAIN "PyTorch"

static struct {
	struct torch torch;
	bool operators;                 /* write op rows for all ranges; false: only for autograd nodes */
	bool shapes;
	const void *domain;             /* handle of names.h */
	bool over;                      /* PyTorch's statics may be destroyed: the callbacks stay registered and do nothing */
} observer;

/* Contents of a record, read before the stream is entered. */
struct record_info {
	const char *name, *overload;
	int64_t sequence;
	uint64_t thread, forward_thread;
	uint8_t scope;
	bool async;                     /* may end on another thread */
};

static const uint8_t *part(const void *record, uint32_t at)
{
	return (const uint8_t *)record + at;
}

static struct record_info ask_record(const void *record)
{
	const struct torch *t = &observer.torch;
	struct record_info r = { .scope = *part(record, TORCH_SCOPE) };

	r.name = t->name(record);
	r.async = r.scope == TORCH_USER && t->is_async && t->is_async(record);
	if (r.scope == TORCH_USER && !observer.operators)
		return r;
	r.overload = observer.operators && t->overload ? t->overload(record) : NULL;
	memcpy(&r.sequence, part(record, t->sequence), sizeof r.sequence);
	memcpy(&r.thread, part(record, TORCH_THREAD), sizeof r.thread);
	if (r.scope == TORCH_BACKWARD && t->forward_thread)
		memcpy(&r.forward_thread, part(record, t->forward_thread), sizeof r.forward_thread);
	return r;
}

static uint32_t domain_id(struct stream *s)
{
	if (unlikely(!observer.domain))
		observer.domain = names_domain(s, DOMAIN, sizeof DOMAIN - 1);
	return names_domain_id(s, observer.domain);
}

static void write_op(struct stream *s, const struct record_info *r, const struct torch_inputs *in, uint64_t range)
{
	uint32_t overload = r->overload && *r->overload ? intern_text(s, r->overload) : 0, dims = 0, types = 0, values = 0;
	struct op_row *row;

	if (in) {
		torch_inputs_intern(s, in, &dims, &types);
		values = torch_values_intern(s, &in->values, r->name);
	}
	row = stream_reserve(s, ROW_op, sizeof *row);
	if (!row)
		return;
	*row = (struct op_row){
		.range = range,
		.sequence = r->sequence,
		.fwd_thread = r->forward_thread,
		.torch_thread = r->thread,
		.overload = overload,
		.scope = r->scope,
		.dims = dims,
		.types = types,
		.values = values,
	};
	stream_publish(s, row);
}

static bool begin_range(struct stream *s, const struct record_info *r, struct torch_context *c)
{
	struct range_what what = { .name = intern_text(s, r->name), .domain = domain_id(s) };
	const struct open_range *range;

	if (r->scope == TORCH_USER && unlikely(gate_now() & GATE_WATCH))
		what.watched = watch_name(what.name, r->name, strlen(r->name), observer.domain);
	c->name = what.name;
	if (r->async) {
		c->handle = ranges_start(s, &what);
		c->id = ranges_started(c->handle);
	} else if ((range = ranges_begin(s, &what))) {
		c->id = range->id;
		c->start = range->start;
		c->tag = range->tag;
	}
	return c->id;
}

static struct torch_context *begin(struct stream *s, const struct record_info *r, const struct torch_inputs *in)
{
	struct torch_context *c;
	struct torch_module_stack in_modules = { .modules = TORCH_INSIDE };
	uint32_t stack = 0;

	/* First: the event may open a window, which must contain the range. */
	torch_steps_event(s, torch_steps_event_of(r->scope, r->name, true));
	if (r->scope != TORCH_USER && !capture_nvtx())
		return NULL;
	torch_context_tidy(s);
	c = torch_context_take(s);
	if (!c)
		return NULL;
	if (unlikely(guest->config.torch_modules) && r->scope == TORCH_FUNCTION)
		in_modules = torch_modules_look(s);        /* before the operator's own time begins */
	if (unlikely(guest->config.torch_stacks) && capture_nvtx())
		stack = stacks_capture(s, &(struct stack_want){ 0 });
	if (!begin_range(s, r, c)) {
		torch_context_give(c);
		return NULL;
	}
	c->event = torch_steps_event_of(r->scope, r->name, false);
	if (unlikely(in_modules.modules != TORCH_INSIDE))
		torch_modules_note(s, in_modules, c->id);
	if (unlikely(stack))
		stacks_note(s, c->id, stack);
	if ((r->scope != TORCH_USER || observer.operators) && capture_nvtx())
		write_op(s, r, in, c->id);
	return c;
}

/* All calls into PyTorch come before stream_enter(). */
static struct torch_context *begun(const void *record, const struct torch_inputs *in)
{
	struct record_info r = ask_record(record);
	struct stream *s = stream_enter();
	struct torch_context *c;

	if (!s)
		return NULL;
	c = begin(s, &r, in);
	stream_leave(s);
	return c;
}

static __attribute__((noinline)) struct torch_context *begun_with_inputs(const void *record)
{
	struct torch_inputs *in = scratch_push(sizeof *in);
	struct torch_context *c;

	if (!in)
		return begun(record, NULL);
	torch_inputs_read(in, &observer.torch, record);
	c = begun(record, in);
	scratch_pop(in);
	return c;
}

static struct torch_context *record_begins(const void *record)
{
	return unlikely(observer.shapes) ? begun_with_inputs(record) : begun(record, NULL);
}

/* ---- callbacks ---- */

/* Follows user scopes also outside windows, like NVTX ranges: their nesting must be known. */
static void *start_user(void **context, const void *record)
{
	*context = likely(!observer.over) ? record_begins(record) : NULL;
	return context;
}

static bool wanted(const void *record)
{
	uint32_t gate = gate_now();

	return gate & GATE_NVTX || (gate & GATE_TORCH && *part(record, TORCH_SCOPE) == TORCH_BACKWARD);
}

static void *start_other(void **context, const void *record)
{
	*context = likely(!observer.over) && wanted(record) ? record_begins(record) : NULL;
	return context;
}

static void end_elsewhere(struct stream *s, struct torch_context *c)
{
	struct open_range range = {
		.id = c->id, .start = c->start, .name = c->name, .domain = domain_id(s), .thread = c->thread, .step = -1, .tag = c->tag,
	};

	if (torch_context_leave(c))
		ranges_ended_elsewhere(s, &range);
}

static void end(const void *record, void *context)
{
	struct torch_context *c = context;
	struct stream *s;

	(void)record;
	/* A range that the parent began before fork() is not the child's. */
	if (!c || observer.over || c->epoch != guest->epoch || !(s = stream_enter()))
		return;
	if (c->handle)
		ranges_end(s, c->handle);
	else if (likely(c->thread == s->thread))
		ranges_finish(s, c->id);
	else
		end_elsewhere(s, c);
	torch_steps_event(s, c->event);
	stream_leave(s);
}

void torch_observe(const struct torch *t, bool operators, bool shapes)
{
	struct torch_callback user = { .start = start_user, .end = end, .probability = 1.0, .inputs = shapes };
	struct torch_callback other = { .start = start_other, .end = end, .probability = 1.0, .inputs = shapes };

	if (!torch_contexts_ready())
		return;
	if (operators)
		python_look();
	torch_inputs_begin();
	observer.torch = *t;
	observer.operators = operators;
	observer.shapes = shapes;
	user.scopes[TORCH_USER] = 1;
	other.scopes[TORCH_BACKWARD] = 1;
	for (unsigned i = 0; operators && i < TORCH_SCOPES; i++)
		other.scopes[i] = i != TORCH_USER;
	t->add(user);
	t->add(other);
}

/* Runs after PyTorch's own destructors: its statics are destroyed, and removing the callbacks would make PyTorch complain. */
__attribute__((destructor)) static void over(void)
{
	if (observer.torch.name)
		torch_steps_stop();
	observer.over = true;
}
