#include "cli/model/path/path_rows.h"

#include "cli/model/inside.h"
#include "cli/model/join.h"

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
