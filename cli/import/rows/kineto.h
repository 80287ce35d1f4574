/* Private to cli/import: the state of one import, from a Kineto file (kineto_*.c) or an nsys export (nsys*.c) to rows. */
#ifndef CLI_IMPORT_ROWS_KINETO_H
#define CLI_IMPORT_ROWS_KINETO_H

#include "cli/import/json/json_scan.h"
#include "cli/import/rows/token_cache.h"
#include "cli/import/rows/import_file.h"
#include "cli/import/rows/texts.h"
#include "cli/model/map.h"
#include "trace/buf.h"
#include "trace/error.h"
#include "trace/records.h"

/* Reasons why a part of a file was not imported, or was imported with a change. */
enum import_count {
	COUNT_CUT,                      /* the file is truncated */
	COUNT_BROKEN,                   /* invalid JSON, or JSON that is not an event */
	COUNT_CATEGORY,                 /* events of an unknown category ("cat") */
	COUNT_PHASE,                    /* events with an unknown phase ("ph") or without one, and ends without a begin */
	COUNT_TIME,                     /* events without a time, or with a time that is not a number */
	COUNT_NEGATIVE,                 /* durations below 0 */
	COUNT_CROSSING,                 /* host rows that overlap a row of their thread without nesting */
	COUNT_VALUE,                    /* values of an unexpected type or range */
	COUNT_QUOTES,                   /* unescaped quotes inside texts */
	COUNT_TABLE,                    /* rows in tables that are not read */
	N_IMPORT_COUNTS
};

/* The class of an event, from its category; host classes come before CLASS_KERNEL. */
enum event_class {
	CLASS_UNKNOWN,                  /* not looked up yet */
	CLASS_OP, CLASS_ANNOTATION, CLASS_PYTHON, CLASS_NVTX, CLASS_OTHER_HOST,
	CLASS_RUNTIME, CLASS_DRIVER,
	CLASS_KERNEL, CLASS_MEMCPY, CLASS_MEMSET, CLASS_SYNC, CLASS_OVERHEAD, CLASS_GPU_RANGE,
	CLASS_SPAN,                     /* the profiler's own span: when it recorded */
};

/* Arguments that have a fixed slot in struct event (kineto_args.def). */
enum arg_place {
	ARG_OTHER,                      /* no slot */
#define ARG(key, place, doc) place,
#define SAME(key, place)
#include "cli/import/rows/kineto_args.def"
#undef ARG
#undef SAME
	N_ARG_PLACES
};

struct source;
struct trace;
struct writer;

/* Where rows go: a file, or a trace in memory; the other is NULL. */
struct kineto_sink {
	struct writer *writer;
	struct trace *memory;
};

#define BIT(place) (1ull << (place))     /* of enum arg_place */
#define OTHER_ARGS 64u                  /* arguments of one event without a slot; more are only counted */

/* A pid, tid, id, or the value of an argument without a slot. */
struct event_number {
	struct json_value value;        /* of a number read by the fast path, only the type is set */
	bool is_whole, is_double, is_text;      /* what `whole` holds */
	int64_t whole;                  /* the integer; the bits of the double; or the text number of a list */
};

/* A category or key in a token; token: the token's number, 0 if it is not in the list. */
struct word {
	struct json_value v;
	uint16_t token;
};

struct other_arg {
	struct word key;
	struct event_number number;     /* the value, of any type */
};

/* A token that is not in the list; its category and key may be longer than TOKEN_BYTES. */
struct odd_token {
	struct token token;
	struct json_value category, key;
};

/* What follows a token (token_cache.h). */
enum token_what {
	GO_ON,                          /* the next token */
	TO_NOTHING,                     /* a value that is skipped */
	TO_ARG, TO_THREE, TO_OTHER_ARG, TO_NAME, TO_PID, TO_TID, TO_ID, TO_TS, TO_DUR,  /* TO_THREE: a grid or block */
	BEHIND_EVENT,                   /* the end of the event */
};

enum event_item {
	ITEM_EVENT,
	ITEM_CHANGE,                    /* a row of a memory timeline */
	ITEM_BROKEN, ITEM_NO_EVENT,     /* an event that is not valid JSON; a JSON value that is not an event */
	ITEM_END,                       /* end of the list */
	ITEM_CUT,                       /* the file ends inside the list */
};

/* An element of the list of events; the fields after `end` are set for ITEM_EVENT, `change` for ITEM_CHANGE. */
struct event {
	enum event_item item;
	uint64_t index;
	const uint8_t *at, *end;        /* its {; the byte after its } */
	struct json_value name_value;
	struct word category_word;
	char phase;
	bool has_ts, has_dur, negative, fraction;
	bool bad_time;                  /* ts or dur is present but not a number */
	int64_t ts, dur;                /* ns, relative to kineto.base; dur: 0 if it is negative */
	int64_t negative_dur;
	uint32_t name, category;        /* texts, set by event_rows(); event_read() sets a name that it recognizes */
	struct event_number pid, tid, id;
	/* Sets of arguments, as BIT(place). */
	uint64_t has;                   /* present */
	uint64_t is_whole;              /* integers: value also in whole[] */
	uint64_t plain;                 /* integers of digits only: value in whole[] alone, args[] is not set */
	uint64_t known;                 /* lists with a known text: its number is in whole[] */
	uint64_t threes;                /* lists of three numbers: also in three[] */
	uint32_t three[2][3];           /* grid, block */
	struct json_value args[N_ARG_PLACES];
	int64_t whole[N_ARG_PLACES];
	struct other_arg others[OTHER_ARGS];
	unsigned n_others, n_lost;      /* n_lost: arguments beyond OTHER_ARGS */
	struct memory_change_row change;
};

/*
 * A process of the file with its host rows.  Before kineto_write(), times are relative to kineto.base and threads are
 * indexes of kineto.threads.
 */
struct host {
	int64_t pid;
	uint32_t name;                  /* text */
	uint32_t threads;               /* number of its threads: the last ordinal used */
	struct buf range, op, api, alloc, step, mark, graph_node;
};

struct host_thread {
	uint32_t host, tid, ordinal;
	uint32_t name;                  /* text */
	uint32_t open;                  /* index + 1 of the range of the last B event without its E; 0: none */
	int64_t first;                  /* earliest start of its rows; INT64_MAX: it has none */
};

#define NO_HOST 0xffffffffu             /* no process is known: a GPU row goes to the process that used the GPU */
#define GPU_KINDS 6u                    /* kinds of GPU rows: kernel, memcpy, memset, sync, overhead, gpu_range */

struct kineto {
	struct import_file *file;
	struct scan scan;
	struct source *source;
	uint64_t index;                 /* of the next event */
	const uint8_t *since, *broken;  /* end of the previous event; where resync() starts after an invalid event, or NULL */
	const uint8_t *needed;          /* bytes before it may be released; NULL: bytes before scan.p */
	bool at_end;                    /* the end of the bytes was reached */
	bool gave_up;                   /* an element exceeds MOST_AT_ONCE: the file is read as if it ended there */

	struct texts texts;
	uint64_t odd_quotes;            /* scan.odd_quotes after the previous event */
	uint32_t category_of[MOST_TOKENS], key_of[MOST_TOKENS]; /* texts, by the token's number; 0: not looked up yet */

	struct host *hosts;
	size_t n_hosts, cap_hosts;
	struct host_thread *threads;
	size_t n_threads, cap_threads;
	struct map labels;              /* kineto_labels.c: text -> index of hosts */
	struct map thread_of;           /* pid << 32 ^ tid, as kineto_number() gives them -> index of threads */
	int64_t last_pid, last_tid;
	uint32_t last_thread;

	struct buf kernel, memcpy, memset, sync, overhead, gpu_range;  /* rows of the GPUs */
	bool owned;                     /* several processes called CUDA: owners is set */
	struct buf owners[GPU_KINDS];   /* u32 of each row of kernel .. gpu_range: its process, as in imported_host */
	struct buf imported, imported_host;     /* imported_host: u32 of each row of imported, an index of hosts or NO_HOST */
	struct buf args;
	struct early {
		bool wanted;            /* encode early, because rows go into a file */
		struct packer *packer;
		struct buf bodies, list;        /* kineto_pack.c: encoded columns, struct packed of each chunk */
	} early;
	struct buf memory_change;       /* of a memory timeline */
	struct buf graph, memory, unified, category, sample, image, symbol;     /* nsys only; sample.thread is an index of threads */
	struct buf stack, frames;       /* frames: struct stack_frame, of all stacks one after another */
	struct buf config, device, context, stream, domain;
	struct map configs, contexts, streams, domains;
	struct map pairs;               /* kineto_pairs.c */
	uint32_t last_category, last_domain;
	uint64_t last_stream;           /* context << 32 | stream, of the last kineto_stream() */
	uint32_t python_domain;         /* 0: none yet */

	uint64_t understood;            /* events that made a row */
	bool phased;                    /* an event with a phase was found */
	bool listed;                    /* a list was found in place of an event */
	const char *format;             /* "kineto", "nsys" */
	int64_t base;                   /* ns since the epoch that times are relative to */
	bool has_base, fraction;        /* has_base: the file says it; fraction: some time has decimals or is missing (HTA's rule) */
	int64_t first, last;            /* earliest start and latest end of all events, relative to base */
	int64_t span_start, span_end;   /* of the profiler's own span; 0, 0: none */
	struct counted {
		uint64_t count;
		char first[160];        /* description of the first one */
	} counts[N_IMPORT_COUNTS];
	struct buf attributes;          /* key=value, each terminated by a NUL */
	struct trace_error *err;
	struct token_cache tokens;      /* last, because new_kineto() clears only its root */
};

/* The value of an integer argument; `otherwise` if the event does not have it or it is not an integer. */
static inline int64_t kineto_whole(const struct event *e, enum arg_place place, int64_t otherwise)
{
	return e->is_whole & 1ull << place ? e->whole[place] : otherwise;
}

/* An argument that is not a plain integer; NULL: absent, or in `plain`. */
static inline const struct json_value *kineto_value(const struct event *e, enum arg_place place)
{
	return e->has & ~e->plain & 1ull << place ? &e->args[place] : NULL;
}

/* The text with this number; owned by k->texts. */
static inline const char *kineto_text(const struct kineto *k, uint32_t id)
{
	return k->texts.list[id].at;
}

/* kineto_read.c: reads the file into rows with times relative to base, and fills k->file.  0, or -1 with *k->err set. */
int kineto_read(struct kineto *k, const char *path);

/* kineto_counts.c: adds 1 to a count; the text describes the case and is kept for the first one. */
void kineto_count(struct kineto *k, enum import_count what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds an attribute of the trace, at most 399 bytes long. */
void kineto_fact(struct kineto *k, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* kineto_events.c: reads the list of events; the scanner is after its [.  0, or -1: the file ends in the list, or *k->err is set. */
int kineto_events(struct kineto *k);

/*
 * kineto_event.c: reads one event.  Returns 1; 0: invalid, the scanner stops somewhere inside; -1: the file ends.
 * since: the end of the previous event, or the {, or anything between.  first: the token at `since`; NULL: not known, and the
 * scanner is at the {.
 */
int event_read(struct kineto *k, struct event *e, const uint8_t *since, struct token *first);

/*
 * kineto_token.c: parses the new token at `since` that follows `from`, and adds it to the list.  *to: the token, in the list or,
 * if it cannot be added, in *odd.  Returns as event_read().
 */
int event_token(struct kineto *k, struct event *e, struct token *from, const uint8_t *since, struct odd_token *odd, struct token **to);

/*
 * kineto_words.c: numbers of texts.  A category or key (of_tokens: k->category_of or k->key_of); the event's name; a list or
 * object; an argument that is a list or text, 0 for other types.
 */
uint32_t event_word(struct kineto *k, uint32_t *of_tokens, const struct word *w);
uint32_t event_name(struct kineto *k, const struct event *e);
uint32_t event_list(struct kineto *k, const struct json_value *v);
uint32_t event_value(struct kineto *k, const struct event *e, enum arg_place place);

/* kineto_imported.c: adds the imported row and imported_arg rows of an event.  kind: record id of the event's own row, 0: none. */
void event_imported(struct kineto *k, const struct event *e, enum event_class class, unsigned kind, uint32_t host);

/* kineto_rows.c: adds all rows of one event.  0, or -1: out of memory. */
int event_rows(struct kineto *k, struct event *e);
/* kineto_gpu.c: adds the row of an event of a GPU.  Out of memory: oom of the row's buffer. */
void event_gpu(struct kineto *k, const struct event *e, enum event_class class);
/* Takes over a process or thread name from a metadata event (ph M). */
void event_names(struct kineto *k, const struct event *e);
/* kineto_threads.c.  A number for a pid or tid: "stream 7" is 7; any other text gets a number from 2^31 on. */
int64_t kineto_number(struct kineto *k, const struct event_number *n);
/* Index in k->hosts of a process, which is added if it is new; NO_HOST: out of memory. */
uint32_t kineto_host(struct kineto *k, int64_t pid);
/* Index in k->threads of a thread, which is added if it is new; NO_HOST: out of memory. */
uint32_t kineto_thread_of(struct kineto *k, int64_t pid, int64_t tid);
uint32_t kineto_thread(struct kineto *k, const struct event *e);

/* kineto_labels.c, for pids that are texts: names the host by e's pid and maps the pid's label to it.  0, or -1: out of memory. */
int label_put(struct kineto *k, const struct event *e, uint32_t host);
/* The host with the label of e's pid; NO_HOST: no label, or no host has it so far. */
uint32_t label_host(struct kineto *k, const struct event *e);
/* The class of an event without a category.  torch.autograd.profiler writes none, but two pids that tell host from GPU. */
enum event_class label_class(const struct kineto *k, const struct event *e);

/*
 * kineto_pairs.c: begin and end events (ph B, E, b, e), and marks.  pair_begin() is called after the range of e was added.
 * An end without a begin is counted.  0, or -1: out of memory.
 */
int pair_begin(struct kineto *k, const struct event *e, uint32_t thread);
int pair_end(struct kineto *k, const struct event *e);
int event_mark(struct kineto *k, const struct event *e);

/*
 * kineto_defs.c: definitions that rows refer to by id, each added once.  The functions return the id of a launch
 * configuration (0: the event has none) or a domain; out of memory is k->texts.oom or oom of the buffer.
 */
uint32_t kineto_config_id(struct kineto *k, const struct event *e);
uint32_t kineto_put_config(struct kineto *k, struct config_row row);
void kineto_stream(struct kineto *k, int32_t priority, uint32_t device, uint32_t context, uint32_t stream);
uint32_t kineto_domain(struct kineto *k, const char *name);
/* Reads an element of deviceProperties; the scanner is after its {.  JSON_OBJECT, or on failure JSON_NOTHING or JSON_BAD. */
enum json_type kineto_device(struct kineto *k);

/* kineto_nest.c: sets ids and levels of ranges, and the innermost range of calls, allocations, marks and graph nodes.  0 or -1. */
int kineto_nest(struct kineto *k);
/* kineto_steps.c: sets the first call, the end call and the range id of each step.  0, or -1: out of memory. */
int kineto_bound_steps(struct host *h);

/* kineto_owner.c: sets k->owned and k->owners if several processes called CUDA.  0, or -1: out of memory. */
int kineto_owners(struct kineto *k);

/* kineto_pack.c: encodes imported and imported_arg rows as columns before the rest, PACK_ROWS at a time, to save memory. */
#define PACK_ROWS 32000u                /* about 1 MB */

/* Encodes the rows of each kind that has PACK_ROWS; does nothing unless k->early.wanted. */
void kineto_pack(struct kineto *k);
/* Encodes the last rows if any were encoded before, and frees the encoder. */
void kineto_pack_end(struct kineto *k);
/* Decodes all rows back into their buffers.  0, or -1: out of memory. */
int kineto_unpack(struct kineto *k);
/* Writes the encoded rows of a kind; the caller writes the rows that are not encoded after them.  0 or -1. */
int kineto_put_packed(const struct kineto *k, struct writer *w, uint32_t process, unsigned kind);

/* Calls kineto_pack() when there are enough rows. */
static inline void kineto_pack_full(struct kineto *k)
{
	if (k->imported.len >= PACK_ROWS * sizeof(struct imported_row) ||
	    k->args.len >= PACK_ROWS * sizeof(struct imported_arg_row))
		kineto_pack(k);
}

/*
 * kineto_write.c: writes all rows, process by process; *next_process is the number of the first one and is advanced.
 * A trace in memory takes over the buffers.  0 or -1.
 */
int kineto_write(struct kineto *k, const struct kineto_sink *to, uint32_t *next_process);
/* Buffer i of k, its hosts included; NULL after the last. */
struct buf *kineto_buffer(struct kineto *k, size_t i);

#endif
