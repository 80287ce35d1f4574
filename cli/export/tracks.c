/* Assigns slices to tracks, and pids and tids to tracks. */
#include "cli/export/export.h"
#include "cli/model/process.h"
#include "trace/grow.h"

#include <stdlib.h>

#define WAITS_TID   1000000u    /* added to a stream's id for waits for it, as in Kineto */
#define LANE_TID    2000000u
#define LIBRARY_TID 10000000u   /* above the Linux kernel's largest thread id (4194304) */
#define STEPS_TID   20000000u
#define SAMPLES_TID 30000000u
#define CONTEXT_TID 1999999u    /* waits for a whole context */
#define RANGES_TID  1500000u    /* ranges of a stream that overlap slices of its track partly */
#define UNIFIED_TID 1999990u    /* transfers of unified memory; + 1: page faults */
#define HOST_PID    1000000u    /* added to a host pid that readers would take for a GPU's (e.g. 1 in a container) */
#define MOST_GPUS   64u         /* host pids below this are changed */

static uint32_t add_track(struct export *x, const struct track *t)
{
	if (!GROW(x->tracks, x->n_tracks + 1, x->cap_tracks)) {
		x->oom = true;
		return 0;
	}
	x->tracks[x->n_tracks] = *t;
	return (uint32_t)x->n_tracks++;
}

/* Number of a key, counted from 0 if *new; UINT32_MAX: out of memory. */
static uint32_t number_of(struct export *x, struct map *map, uint64_t key, bool *new)
{
	uint32_t *at = map_put(map, key, (uint32_t)map->n, new);

	x->oom |= !at;
	return at ? *at - 1 : UINT32_MAX;
}

/* A tid that makes (pid, tid) unique: the requested one, or the next free one. */
static uint32_t free_tid(struct export *x, uint32_t pid, uint32_t tid)
{
	bool new = false;

	while (number_of(x, &x->taken, (uint64_t)pid << 32 | tid, &new) != UINT32_MAX && !new)
		tid++;
	return tid;
}

uint32_t pid_of_process(struct export *x, uint32_t process)
{
	uint32_t n, pid = map_get(&x->pids, (uint64_t)process << 1 | 1);
	const struct process *p = model_processes(x->m, &n) + process;
	bool new = false;

	if (pid != MAP_NONE)
		return pid;
	pid = p->described ? p->pid : p->number;
	if (pid < MOST_GPUS)
		pid = p->host_pid >= MOST_GPUS ? p->host_pid : pid + HOST_PID;
	/* Processes can have the same pid, one after the other or in two namespaces; they need different pids in the file. */
	while (number_of(x, &x->pids, (uint64_t)pid << 1, &new) != UINT32_MAX && !new)
		pid += HOST_PID;
	if (!map_set(&x->pids, (uint64_t)process << 1 | 1, pid))
		x->oom = true;
	return pid;
}

/* Number of a GPU as written: its device ordinal; in a merged file, physical GPUs are numbered from 0. */
static uint32_t gpu_of(struct export *x, uint32_t process, uint32_t device)
{
	uint64_t key = (uint64_t)process << 32 | device;
	uint32_t gpu = x->merged ? map_get(&x->gpu_places, key) : device;
	const struct device_row *d, *other;

	if (gpu != MAP_NONE)
		return gpu;
	d = model_device(x->m, process, device);
	for (size_t i = 0; d && (d->uuid_high || d->uuid_low) && i < x->n_tracks && gpu == MAP_NONE; i++) {
		const struct track *t = &x->tracks[i];

		if (t->kind == TRACK_THREAD || t->kind == TRACK_OVERHEAD)
			continue;
		other = model_device(x->m, t->process, t->device);
		if (other && other->uuid_high == d->uuid_high && other->uuid_low == d->uuid_low)
			gpu = t->gpu;
	}
	if (gpu == MAP_NONE)
		gpu = x->n_gpus++;
	if (!map_set(&x->gpu_places, key, gpu))
		x->oom = true;
	return gpu;
}

static uint32_t host_track(struct export *x, uint32_t process, uint32_t thread, bool libraries)
{
	bool new;
	uint32_t *place = map_put(&x->places, (uint64_t)process << 34 | (uint64_t)thread << 2 | !libraries,
				  (uint32_t)x->n_tracks, &new);
	const struct thread *t;

	if (!place) {
		x->oom = true;
		return 0;
	}
	if (new) {
		struct track track = {
			.kind = TRACK_THREAD, .process = process, .id = thread, .libraries = libraries,
			.pid = pid_of_process(x, process)
		};

		t = model_thread(x->m, process, thread);
		track.tid = free_tid(x, track.pid,
				     (t && t->row.tid ? t->row.tid : thread) + (libraries ? LIBRARY_TID : 0));
		add_track(x, &track);
	}
	return *place - 1;
}

uint32_t track_of_thread(struct export *x, uint32_t process, uint32_t thread)
{
	return host_track(x, process, thread, false);
}

uint32_t track_of_libraries(struct export *x, uint32_t process, uint32_t thread)
{
	return host_track(x, process, thread, true);
}

/* Keyed by kernel thread id, because a thread has no ordinal before its first row, but may be sampled. */
uint32_t track_of_samples(struct export *x, uint32_t process, uint32_t thread, uint32_t tid)
{
	bool new;
	const struct thread *t = thread ? model_thread(x->m, process, thread) : NULL;
	uint32_t sampled = t && t->row.tid ? t->row.tid : tid ? tid : thread;
	uint32_t *place = map_put(&x->places, (uint64_t)process << 34 | (uint64_t)(sampled | 0x80000000u) << 2,
				  (uint32_t)x->n_tracks, &new);

	if (!place) {
		x->oom = true;
		return 0;
	}
	if (new) {
		struct track track = {
			.kind = TRACK_THREAD, .process = process, .id = thread, .pid = pid_of_process(x, process),
			.sampled = sampled,
		};

		track.tid = free_tid(x, track.pid, sampled + SAMPLES_TID);
		add_track(x, &track);
	}
	return *place - 1;
}

/* Not the ordinal of any thread. */
#define NO_THREAD UINT32_MAX

uint32_t track_of_steps(struct export *x, uint32_t process)
{
	bool new;
	uint32_t *place =
		map_put(&x->places, (uint64_t)process << 34 | (uint64_t)NO_THREAD << 2, (uint32_t)x->n_tracks, &new);

	if (!place) {
		x->oom = true;
		return 0;
	}
	if (new) {
		struct track track = {
			.kind = TRACK_THREAD, .process = process, .id = NO_THREAD, .steps = true,
			.pid = pid_of_process(x, process)
		};

		track.tid = free_tid(x, track.pid, STEPS_TID);
		add_track(x, &track);
	}
	return *place - 1;
}

static uint32_t new_stream(struct export *x, enum track_kind kind, uint32_t process, uint32_t device, uint32_t stream,
			   uint32_t lane)
{
	struct track t = {
		.kind = kind,
		.process = process,
		.device = device,
		.id = stream,
		.lane = lane,
		.gpu = gpu_of(x, process, device),
	};
	uint32_t tid = stream == STREAM_NONE ? CONTEXT_TID : kind == TRACK_WAITS ? stream + WAITS_TID :
		       kind == TRACK_UNIFIED ? stream + UNIFIED_TID : kind == TRACK_RANGES ? stream + RANGES_TID : stream;

	t.pid = kind == TRACK_OVERHEAD ? UINT32_MAX : t.gpu;
	t.tid = free_tid(x, t.pid, tid + lane * LANE_TID);
	t.end = INT64_MIN;
	return add_track(x, &t);
}

/* Kernels of one stream can overlap (programmatic launch, graphs), but viewers need disjoint or nested slices on a track. */
uint32_t track_of_stream(struct export *x, enum track_kind kind, uint32_t process, uint32_t device, uint32_t stream,
			 int64_t start, int64_t end)
{
	bool new;
	uint32_t slot = number_of(x, &x->places,
				  (uint64_t)process << 34 | (uint64_t)device << 18 | (uint64_t)kind << 2 | 2, &new);
	uint32_t *place, at;

	place = map_put(&x->places, (uint64_t)slot << 34 | (uint64_t)stream << 2 | 3, (uint32_t)x->n_tracks, &new);
	if (!place) {
		x->oom = true;
		return 0;
	}
	at = *place - 1;
	if (new) {
		new_stream(x, kind, process, device, stream, 0);
		x->tracks[at].first = at;
	}
	while (!x->oom && x->tracks[at].end > start) {
		if (!x->tracks[at].next_lane) {
			uint32_t lane = new_stream(x, kind, process, device, stream, x->tracks[at].lane + 1);

			x->tracks[lane].first = x->tracks[at].first;
			x->tracks[at].next_lane = lane;
		}
		at = x->tracks[at].next_lane;
	}
	if (x->oom)
		return 0;
	x->tracks[at].end = end;
	return at;
}
