/* What the files kineto_*.c share: one Kineto file on its way to rows.  For nobody else. */
#ifndef IMPORT_KINETO_H
#define IMPORT_KINETO_H

#include "cli/import/hops.h"
#include "cli/import/import.h"
#include "cli/import/json_scan.h"
#include "cli/import/texts.h"
#include "cli/model/map.h"
#include "trace/buf.h"
#include "trace/records.h"

/* What an event is, by its category. */
enum event_class {
	CLASS_UNKNOWN,                  /* not looked up yet */
	CLASS_OP, CLASS_ANNOTATION, CLASS_PYTHON, CLASS_NVTX, CLASS_OTHER_HOST,
	CLASS_RUNTIME, CLASS_DRIVER,
	CLASS_KERNEL, CLASS_MEMCPY, CLASS_MEMSET, CLASS_SYNC, CLASS_OVERHEAD, CLASS_GPU_RANGE,
	CLASS_SPAN,                     /* the time that the profiler was on */
};

/* Arguments with a place of their own; kineto_args.def. */
enum arg_place {
	ARG_OTHER,                      /* not in the table */
#define ARG(key, place, doc) place,
#define SAME(key, place)
#include "cli/import/kineto_args.def"
#undef ARG
#undef SAME
	N_ARG_PLACES
};

struct source;
struct trace;
struct writer;

/* Where rows go: one of the two. */
struct kineto_sink {
	struct writer *writer;
	struct trace *memory;
};

#define BIT(place) (1ull << (place))     /* of enum arg_place */
#define OTHER_ARGS 64u                  /* of one event; more are counted */

struct event_number {
	struct json_value value;        /* of a plain number its type, and nothing else */
	bool is_whole, is_double, is_text;
	int64_t whole;                  /* or the bits of the double; or the text that a list is, where it is known */
};

/* A word of a hop, which has no number where the hop is not kept. */
struct word {
	struct json_value v;
	uint16_t hop;
};

struct other_arg {
	struct word key;
	struct event_number number;     /* or anything else */
};

/* A hop that is not kept, with what may not fit its bytes. */
struct odd_hop {
	struct hop hop;
	struct json_value category, key;
};

/* What a hop leads to. */
enum hop_what {
	GO_ON,                          /* to the next hop */
	TO_NOTHING,                     /* a value that is not needed */
	TO_ARG, TO_THREE, TO_OTHER_ARG, TO_NAME, TO_PID, TO_TID, TO_ID, TO_TS, TO_DUR,
	BEHIND_EVENT,
};

enum event_item {
	ITEM_EVENT,
	ITEM_CHANGE,                    /* of a memory timeline */
	ITEM_BROKEN, ITEM_NO_EVENT,
	ITEM_END,                       /* of the list */
	ITEM_CUT,                       /* of the file, in the middle of it */
};

struct event {
	enum event_item item;
	uint64_t index;
	const uint8_t *at, *end;        /* its {; behind it */
	struct json_value name_value;
	struct word category_word;
	char phase;
	bool has_ts, has_dur, negative, fraction;
	bool bad_time;                  /* ts or dur is there and no number */
	int64_t ts, dur;                /* ns, as in the file; dur: 0 where below 0 */
	int64_t negative_dur;
	uint32_t name, category;        /* texts; event_rows() puts them there, but the name where it is known */
	struct event_number pid, tid, id;
	uint64_t has;                   /* bits 1 << enum arg_place */
	uint64_t is_whole;              /* of them, those that are whole numbers: they are in whole[], too */
	uint64_t plain;                 /* of these, those that are digits alone: they are not in args[] */
	uint64_t known;                 /* lists whose text is known: its number is in whole[] */
	uint64_t threes;                /* lists of three numbers: they are in three[], too */
	uint32_t three[2][3];           /* grid, block */
	struct json_value args[N_ARG_PLACES];
	int64_t whole[N_ARG_PLACES];
	struct other_arg others[OTHER_ARGS];
	unsigned n_others, n_lost;      /* n_lost: for which there was no place */
	struct memory_change_row change;
};

/* A process of the file: rows of the host, times as in the file, threads as positions in kineto.threads. */
struct host {
	int64_t pid;
	uint32_t name;                  /* text */
	uint32_t threads;               /* ordinals given out */
	struct buf range, op, api, alloc, step, mark, graph_node;
	uint64_t gpu_rows;              /* made by its calls */
};

struct host_thread {
	uint32_t host, tid, ordinal;
	uint32_t name;                  /* text */
	uint32_t open;                  /* range row + 1 of the last B without its E; 0: none */
	int64_t first;
};

#define NO_HOST 0xffffffffu             /* of the GPU: goes to the process that used it */
#define GPU_KINDS 6u                    /* of rows that belong to the process whose call has their correlation id */

struct kineto {
	struct import_file *file;
	struct scan scan;
	struct source *source;
	uint64_t index;                 /* of the next event */
	const uint8_t *since, *broken;  /* behind the event before; where one made no sense, or NULL */
	const uint8_t *needed;          /* in the source: what lies before may go; NULL: the scanner's place */
	bool at_end;                    /* the reader has met the end of the bytes */
	bool gave_up;                   /* something is too long for memory: the file is taken to end in it */

	struct texts texts;
	uint64_t odd_quotes;            /* of scan, up to the event before */
	uint32_t category_of[MOST_HOPS], key_of[MOST_HOPS];     /* texts, by the hop's number; 0: not looked for yet */

	struct host *hosts;
	size_t n_hosts;
	struct host_thread *threads;
	size_t n_threads, cap_threads;
	struct map labels;              /* kineto_labels.c: text -> position in hosts */
	struct map thread_of;           /* pid << 32 | tid, mixed with words -> position */
	int64_t last_pid, last_tid;
	uint32_t last_thread;

	struct buf kernel, memcpy, memset, sync, overhead, gpu_range;  /* rows of the GPUs */
	bool owned;                     /* several processes called CUDA: owners says whose each of these rows is */
	struct buf owners[GPU_KINDS];   /* u32 of each row of kernel .. gpu_range, as imported_host */
	struct buf imported, imported_host;     /* imported_host: u32 of each, a position in hosts or NO_HOST */
	struct buf args;
	struct early {
		bool wanted;            /* rows go into a file */
		struct packer *packer;
		struct buf bodies, list;        /* made by kineto_pack.c */
	} early;
	struct buf memory_change;       /* of a memory timeline */
	struct buf graph, memory, unified, category, sample, image, symbol;     /* of nsys; sample.thread as in hosts */
	struct buf stack, frames;       /* frames: struct stack_frame, of all stacks in turn */
	struct buf config, device, context, stream, domain;
	struct map configs, contexts, streams, domains;
	struct map pairs;               /* kineto_pairs.c */
	uint32_t last_category, last_domain;
	uint64_t last_stream;           /* its context above it */
	uint32_t python_domain;         /* 0: none yet */

	uint64_t understood;            /* events that made a row */
	bool phased;                    /* there was an event with a phase */
	bool listed;                    /* there was a list where an event should be */
	const char *format;             /* "kineto", "nsys" */
	int64_t base;                   /* ns of the epoch that times count from */
	bool has_base, fraction;        /* fraction: some time has decimals, or an event has none (HTA's rule) */
	int64_t first, last;            /* of all events, as in the file */
	int64_t span_start, span_end;   /* of the profiler's own span; 0, 0: none */
	struct counted {
		uint64_t count;
		char first[160];        /* in words */
	} counts[N_IMPORT_COUNTS];
	struct buf attributes;          /* key=value, each with a zero behind it */
	struct trace_error *err;
	struct hops hops;               /* at the end: what is behind their root is not cleared */
};

static inline int64_t kineto_whole(const struct event *e, enum arg_place place, int64_t otherwise)
{
	return e->is_whole & 1ull << place ? e->whole[place] : otherwise;
}

/* An argument that is no plain number; NULL: it is one, or there is none. */
static inline const struct json_value *kineto_value(const struct event *e, enum arg_place place)
{
	return e->has & ~e->plain & 1ull << place ? &e->args[place] : NULL;
}

static inline const char *kineto_text(const struct kineto *k, uint32_t id)
{
	return k->texts.list[id].at;
}

/* kineto_read.c: everything up to rows with the file's own times.  0 or -1. */
int kineto_read(struct kineto *k, const char *path);

/* Counts something that was not understood; words for the first. */
void kineto_count(struct kineto *k, enum import_count what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A fact about the trace. */
void kineto_fact(struct kineto *k, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* kineto_events.c: the list of events; the scanner is behind its [.  0, or -1: the file ends in it, or err says why. */
int kineto_events(struct kineto *k);

/*
 * kineto_event.c: reads one event.  1; 0: it makes no sense, the scanner stands somewhere in it; -1: the file ends.
 * since: behind the event before, with blanks and commas between, or where it begins.  first: the hop whose bytes stand
 * there; NULL: the scanner is at its {.
 */
int event_read(struct kineto *k, struct event *e, const uint8_t *since, struct hop *first);

/* kineto_hop.c: a hop that was not met before, behind `from`, whose bytes begin at since; *to may be in odd.  As event_read(). */
int event_hop(struct kineto *k, struct event *e, struct hop *from, const uint8_t *since, struct odd_hop *odd, struct hop **to);

/* kineto_words.c: texts.  category_of or key_of; its name; a list or an object; an argument that is a list or a text. */
uint32_t event_word(struct kineto *k, uint32_t *of_hops, const struct word *w);
uint32_t event_name(struct kineto *k, const struct event *e);
uint32_t event_list(struct kineto *k, const struct json_value *v);
uint32_t event_value(struct kineto *k, const struct event *e, enum arg_place place);

/* kineto_imported.c: the imported row of an event that became a row of that kind, and imported_arg rows. */
void event_imported(struct kineto *k, const struct event *e, enum event_class class, unsigned kind, uint32_t host);

/* kineto_rows.c: rows of one event.  0, or -1: out of memory. */
int event_rows(struct kineto *k, struct event *e);
/* The same of one that a GPU did (kineto_gpu.c). */
void event_gpu(struct kineto *k, const struct event *e, enum event_class class);
/* Names of processes and threads. */
void event_names(struct kineto *k, const struct event *e);
/* A number for a pid or tid: "stream 7" is 7, other words get a number of their own. */
int64_t kineto_number(struct kineto *k, const struct event_number *n);
/* Position of the thread; NO_HOST: out of memory. */
uint32_t kineto_thread_of(struct kineto *k, int64_t pid, int64_t tid);
uint32_t kineto_thread(struct kineto *k, const struct event *e);

/* kineto_labels.c: e's pid is a text: the host is called so, and what has its label is of this host.  0, or -1: out of memory. */
int label_put(struct kineto *k, const struct event *e, uint32_t host);
/* That host; NO_HOST: none, or it was not met before. */
uint32_t label_host(struct kineto *k, const struct event *e);
/* Of an event without a category: PyTorch's first profiler (autograd.profiler) wrote two processes that it made up instead. */
enum event_class label_class(const struct kineto *k, const struct event *e);

/* kineto_pairs.c: what is told in two events, and marks.  0, or -1: out of memory. */
int pair_begin(struct kineto *k, const struct event *e, uint32_t thread);
int pair_end(struct kineto *k, const struct event *e);
int event_mark(struct kineto *k, const struct event *e);

/* kineto_defs.c: ids for launch configurations, and rows for what GPU rows name. */
uint32_t kineto_config_id(struct kineto *k, const struct event *e);
uint32_t kineto_put_config(struct kineto *k, struct config_row row);
void kineto_stream(struct kineto *k, int32_t priority, uint32_t device, uint32_t context, uint32_t stream);
uint32_t kineto_domain(struct kineto *k, const char *name);
/* An element of deviceProperties; the scanner is behind its {.  JSON_OBJECT, or what came instead of its end: JSON_NOTHING, JSON_BAD. */
enum json_type kineto_device(struct kineto *k);

/* kineto_nest.c: what lies inside what: range ids, levels, the ranges of calls.  0 or -1. */
int kineto_nest(struct kineto *k);
/* kineto_steps.c: the calls of steps, and their ranges by id.  0, or -1: out of memory. */
int kineto_bound_steps(struct host *h);

/* kineto_owner.c: which process each GPU row belongs to, where several called CUDA.  0 or -1. */
int kineto_owners(struct kineto *k);

/* kineto_pack.c: imported and imported_arg rows become columns early.  kineto_pack_full() is called now and then. */
#define PACK_ROWS 32000u                /* 1 MB */

void kineto_pack(struct kineto *k);
/* No rows follow. */
void kineto_pack_end(struct kineto *k);
/* Back into their buffers, all of them.  0, or -1: out of memory. */
int kineto_unpack(struct kineto *k);
/* Those of a kind into the file; the others follow them.  0 or -1. */
int kineto_put_packed(const struct kineto *k, struct writer *w, uint32_t process, unsigned kind);

static inline void kineto_pack_full(struct kineto *k)
{
	if (k->imported.len >= PACK_ROWS * sizeof(struct imported_row) ||
	    k->args.len >= PACK_ROWS * sizeof(struct imported_arg_row))
		kineto_pack(k);
}

/* kineto_write.c: the rows into the trace.  Into one in memory they go with their buffers. */
int kineto_write(struct kineto *k, const struct kineto_sink *to, uint32_t *next_process);
/* All buffers, one by one; NULL: there are no more. */
struct buf *kineto_buffer(struct kineto *k, size_t i);

#endif
