/* Processes and threads of a Kineto file. */
#include "trace/grow.h"

#include "cli/import/rows/kineto.h"

#define MOST_HOSTS 64u                  /* processes of one file; a limit because each is written with all texts of the file */

int64_t kineto_number(struct kineto *k, const struct event_number *number)
{
	const struct json_value *v = &number->value;
	int64_t n;
	double d;
	size_t digits = 0;

	if (number->is_whole)
		return number->whole;
	if (v->type != JSON_TEXT)
		return json_double(v, &d) && d > -0x1p53 && d < 0x1p53 ? (int64_t)d : 0;
	while (digits < v->n && v->at[v->n - 1 - digits] >= '0' && v->at[v->n - 1 - digits] <= '9')
		digits++;
	if (digits && digits < 10 && digits < v->n && v->at[v->n - 1 - digits] == ' ') {
		struct json_value end = { v->at + v->n - digits, digits, JSON_NUMBER, false };

		if (json_whole(&end, &n))
			return n;
	}
	return 0x80000000ll | texts_value(&k->texts, v);
}

uint32_t kineto_host(struct kineto *k, int64_t pid)
{
	for (size_t i = 0; i < k->n_hosts; i++)
		if (k->hosts[i].pid == pid)
			return (uint32_t)i;
	if (k->n_hosts == MOST_HOSTS) {
		kineto_count(k, COUNT_VALUE, "more than %u processes: rows of pid %lld count for pid %lld", MOST_HOSTS, (long long)pid,
			     (long long)k->hosts[0].pid);
		return 0;
	}
	if (!GROW(k->hosts, k->n_hosts + 1, k->cap_hosts))
		return NO_HOST;
	k->hosts[k->n_hosts] = (struct host){ .pid = pid };
	return (uint32_t)k->n_hosts++;
}

static uint32_t new_thread(struct kineto *k, int64_t pid, int64_t tid)
{
	uint32_t host = kineto_host(k, pid);

	if (host == NO_HOST)
		return NO_HOST;
	if (!GROW(k->threads, k->n_threads + 1, k->cap_threads))
		return NO_HOST;
	k->threads[k->n_threads] = (struct host_thread){
		.host = host, .tid = (uint32_t)tid, .ordinal = ++k->hosts[host].threads, .first = INT64_MAX,
	};
	return (uint32_t)k->n_threads++;
}

uint32_t kineto_thread_of(struct kineto *k, int64_t pid, int64_t tid)
{
	uint32_t at;
	bool new;

	if (k->n_threads && pid == k->last_pid && tid == k->last_tid)
		return k->last_thread;
	at = map_get(&k->thread_of, (uint64_t)pid << 32 ^ (uint64_t)tid);
	if (at == MAP_NONE) {
		at = new_thread(k, pid, tid);
		if (at == NO_HOST || !map_put(&k->thread_of, (uint64_t)pid << 32 ^ (uint64_t)tid, at, &new))
			return NO_HOST;
	}
	k->last_pid = pid;
	k->last_tid = tid;
	return k->last_thread = at;
}

uint32_t kineto_thread(struct kineto *k, const struct event *e)
{
	int64_t pid = kineto_number(k, &e->pid);

	/* Python threads whose ids the profiler does not know have pid 0: they belong to the file's first process, or the label's. */
	if (!pid && k->n_hosts) {
		uint32_t host = label_host(k, e);

		pid = k->hosts[host == NO_HOST ? 0 : host].pid;
	}
	return kineto_thread_of(k, pid, kineto_number(k, &e->tid));
}
