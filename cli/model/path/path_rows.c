#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

uint32_t path_thread_of(struct path_rows *p, uint32_t process, uint32_t thread)
{
	const struct path_thread t = { process, thread };
	bool new;
	uint32_t *at = map_put(&p->thread_at, (uint64_t)process << 32 | thread, (uint32_t)p->thread_at.n, &new);

	if (at && new)
		buf_put(&p->threads, &t, sizeof t);
	p->oom |= !at || p->threads.oom;
	return p->oom ? 0 : *at - 1;
}

static enum path_queue_kind kind_of(struct path_rows *p, uint32_t context, uint32_t stream)
{
	const struct stream_row *row = model_stream(p->m, p->process, stream);

	if (!row || row->context != context)
		return QUEUE_ALONE;
	return row->flags == 3 ? QUEUE_NULL : row->flags == 1 ? QUEUE_BLOCKING : QUEUE_ALONE;   /* CUPTI's values */
}

static void add_names(struct path_rows *p, uint32_t context, uint32_t stream, uint32_t queue)
{
	bool new = false;
	uint32_t *at = map_put(&p->stream_at, stream, queue, &new);

	if (at && !new)
		*at = PATH_SEVERAL + 1;
	p->oom |= !at || !map_set(&p->contexts, context, 0);
}

uint32_t path_queue_of(struct path_rows *p, uint32_t context, uint32_t stream)
{
	bool new;
	uint32_t *at = map_put(&p->queue_at, (uint64_t)context << 32 | stream, (uint32_t)p->queue_at.n, &new);
	struct path_queue q = { .context = context };

	if (at && new) {
		q.kind = kind_of(p, context, stream);
		buf_put(&p->queues, &q, sizeof q);
		buf_put(&p->streams, &stream, sizeof stream);
		add_names(p, context, stream, *at - 1);
	}
	p->oom |= !at || p->queues.oom || p->streams.oom;
	return p->oom ? 0 : *at - 1;
}

uint32_t path_queue_known(const struct path_rows *p, uint32_t context, uint32_t stream, bool *several)
{
	uint32_t at = map_get(&p->queue_at, (uint64_t)context << 32 | stream);

	*several = false;
	if (at != MAP_NONE)
		return at;
	at = map_get(&p->stream_at, stream);
	*several = at == PATH_SEVERAL;
	return *several || at == MAP_NONE ? PATH_NONE : at;
}

int path_rows_make(struct path_rows *p, struct model *m, uint32_t process, uint32_t thread, int64_t start, int64_t end)
{
	*p = (struct path_rows){ .m = m, .process = process };
	p->in.start = start;
	p->in.end = end;
	p->in.thread = path_thread_of(p, process, thread);
	if (p->oom || model_join(m) < 0 || path_add_host(p) < 0 || path_add_gpu(p) < 0 || path_add_events(p) < 0 || path_add_waits(p) < 0)
		return -1;
	if (p->oom || p->acts.oom || p->rows.oom || p->gpu.oom || p->orders.oom || p->guesses.oom || p->waits.oom || p->batches.oom)
		return -1;
	p->in.n_threads = (uint32_t)PATH_COUNT(p->threads, struct path_thread);
	p->in.acts = PATH_LIST(p->acts, struct path_act);
	p->in.n_acts = PATH_COUNT(p->acts, struct path_act);
	p->in.rows = PATH_LIST(p->rows, struct path_row);
	p->in.n_rows = PATH_COUNT(p->rows, struct path_row);
	p->in.queues = PATH_LIST(p->queues, struct path_queue);
	p->in.n_queues = PATH_COUNT(p->queues, struct path_queue);
	p->in.orders = PATH_LIST(p->orders, struct path_order);
	p->in.n_orders = PATH_COUNT(p->orders, struct path_order);
	p->in.guesses = PATH_LIST(p->guesses, struct path_guess);
	p->in.n_guesses = PATH_COUNT(p->guesses, struct path_guess);
	p->in.waits = PATH_LIST(p->waits, struct path_wait);
	p->in.n_waits = PATH_COUNT(p->waits, struct path_wait);
	return 0;
}

void path_rows_release(struct path_rows *p)
{
	struct buf *all[] = { &p->acts, &p->rows, &p->queues, &p->orders, &p->guesses, &p->waits, &p->gpu, &p->threads,
			      &p->streams, &p->batches, &p->events };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		buf_free(all[i]);
	map_release(&p->thread_at);
	map_release(&p->queue_at);
	map_release(&p->contexts);
	map_release(&p->stream_at);
	spans_release(&p->loaders);
	map_release(&p->call_event);
	map_release(&p->sync_of);
}
