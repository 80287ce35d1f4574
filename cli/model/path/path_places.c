/* Numbers of threads and queues in path_find(). */
#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"

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
