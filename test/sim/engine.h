/*
 * The simulated GPU.  Lives in libcuda.so.1; libcudart.so.13 and libcupti.so.13 reach it through sim_driver().
 *
 * A stream is a timeline on CLOCK_REALTIME.  An operation gets its start and end when it is submitted; a thread that synchronizes sleeps
 * until that end.  No thread simulates the GPU.
 */
#ifndef TEST_SIM_ENGINE_H
#define TEST_SIM_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DRIVER_VERSION 13000
#define SIM_KERNEL_SLOTS 32             /* kernels that run at the same time on one device */
#define SIM_MAX_DEVICES 16
#define SIM_DEVICE_NAME "Simulated GPU (gprof-run test double)"

/* Values of CUpti_CallbackDomain; files of the driver need no CUPTI header for them. */
enum { SIM_DRIVER_API = 1, SIM_RUNTIME_API = 2 };

struct stream {
	uint64_t tail;                  /* end of the last operation submitted */
	uint32_t id;                    /* unique in its context, as in records */
	uint32_t flags;                 /* CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING */
	int priority;
	bool dead;
	struct context *ctx;
	struct stream *next;
	struct graph *capture;          /* not NULL: operations become nodes */
	struct node *capture_last;
	bool capture_origin;
};

struct device {
	int ordinal;
	uint8_t uuid[16];
	uint64_t slot[SIM_KERNEL_SLOTS];        /* time at which each slot becomes free */
	uint64_t engine[2];             /* time at which each copy engine becomes free: to the device, from the device */
	uint64_t used;                  /* bytes allocated */
	uint64_t pool_used;             /* bytes allocated from the default memory pool */
	bool pool_made;
	struct context *primary;
	int primary_refs;
	bool runtime_holds;             /* primary_refs includes one of the CUDA runtime */
};

struct context {
	uint32_t id;
	struct device *dev;
	bool primary, dead;
	struct context *parent;         /* not NULL: a green context */
	uint32_t next_stream;
	struct stream null;             /* the legacy default stream */
	struct stream *streams;         /* all other streams; destroyed ones stay listed, so that their handles can be checked */
	struct context *next;
};

struct module {
	uint32_t id;
	const void *image;
	size_t size;
	struct function *functions;
	struct context *loaded_in;      /* the first launch of a kernel loads the module (lazy loading) */
	struct module *next;
};

struct function {
	char *name;                     /* as in the object file: mangled for C++ */
	struct module *module;
	bool takes_ns;                  /* its first argument is its duration in ns */
	bool launched;
	uint32_t registers, static_shared;
	struct function *next;
};

struct event {
	uint64_t time;                  /* 0: never recorded */
	uint32_t id;
	uint32_t stream;
	struct graph *capture;          /* not NULL: recorded during capture into this graph */
	struct node *capture_node;
};

enum op_type { OP_KERNEL, OP_MEMCPY, OP_MEMSET, OP_SYNC, OP_OVERHEAD, OP_MEMORY, OP_GRAPH, OP_POOL, OP_JIT, OP_UNIFIED };

/* One operation of the device or the driver.  A record and a line of the truth file are written from it. */
struct op {
	enum op_type type;
	uint64_t seq;                   /* counts operations with device times in this process, from 1 */
	uint64_t start, end;
	uint64_t ns;                    /* a kernel's duration */
	uint32_t corr;
	uint32_t device, context, stream;
	const char *name;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_shared, dynamic_shared;
	uint64_t bytes, address;        /* OP_UNIFIED: bytes: counter; device, peer_device, copy_kind: source, target, flags */
	uint64_t pool, pool_size, pool_used;    /* memory operations; pool 0: not from a pool */
	uint8_t copy_kind, src_kind, dst_kind, async;   /* numbers of CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind */
	uint32_t peer_device, peer_context;     /* copy_kind PtoP: the destination */
	uint32_t value;                 /* memset: the value; sync: CUpti_ActivitySynchronizationType; overhead: its kind */
	uint32_t event, result;
	uint32_t graph;                 /* 0: not from a graph */
	uint64_t node;
	bool cooperative;
	bool zeroed;                    /* SIM_ZERO_TIMESTAMPS: the record is delivered with start = end = 0 */
	uint64_t done;                  /* true end; `end` may be shifted by SIM_CLOCK_* */
	bool backward;                  /* SIM_NEGATIVE: its end is before its start */
};

enum op_fate { OP_NOT_ENABLED, OP_RECORDED, OP_DROPPED, OP_LOST };

/* One API call; lives on the stack of the API function. */
struct sim_call {
	uint32_t domain, cbid;
	const char *name;               /* of the function, without version */
	const void *params;
	const char *symbol;             /* of the kernel, for launches */
	void *ret;                      /* CUresult or cudaError_t */
	struct context *ctx;
	uint64_t begin, end;
	uint64_t data;                  /* *correlationData */
	uint32_t corr;
	int told;                       /* bit i: subscriber i got the ENTER callback and must get EXIT */
	struct sim_call *outer;
};

/* Filled by libcupti when it attaches. */
struct sim_tools {
	void (*api)(struct sim_call *call, bool exit);
	bool (*resource)(uint32_t cbid, struct context *ctx, struct stream *stream, void *descriptor); /* true: a subscriber was called */
	void (*synchronized)(uint32_t cbid, struct context *ctx, struct stream *stream);
	enum op_fate (*op)(const struct op *op);
	void (*device_made)(const struct device *dev);
	uint32_t (*context_made)(const struct context *ctx);    /* returns the id of its null stream, as in the record */
	void (*context_gone)(const struct context *ctx);
	void (*event_recorded)(const struct event *e, const struct stream *stream);
	void (*stream_made)(const struct stream *stream);
	void (*names_go)(void);         /* a module is being unloaded: the memory of its kernels' names will be reused */
	void (*ended)(void);            /* the driver's atexit handler ran */
};

/* Filled by libcuda. */
struct sim_driver {
	uint32_t abi;                   /* SIM_ABI: the three objects must come from one build */
	void (*attach)(const struct sim_tools *tools);
	int (*usable)(void);            /* 0, or the CUresult that every call returns now */
	bool (*starting)(void);         /* another thread is inside cuInit */
	void (*enter)(struct sim_call *call);
	void (*leave)(struct sim_call *call);
	struct context *(*current)(void);
	struct context *(*primary_current)(void);       /* the current context; creates the primary context if none is current */
	int (*runtime_device)(int set);         /* set < 0: only returns the device */
	struct stream *(*stream)(struct context *ctx, void *handle);
	struct function *(*function)(struct module *module, const char *name);
	struct module *(*module)(const void *image, size_t size);
	bool (*is_device_memory)(const void *p);
	void (*serialize_kernels)(bool on);
	void (*each_device)(void (*see)(const struct device *));
	void (*each_context)(void (*see)(const struct context *));
	void (*each_stream)(void (*see)(const struct stream *));
	uint32_t (*graph_id)(const void *graph, bool exec);
	uint64_t (*node_id)(const void *node);
	void (*note)(const char *what); /* writes an event to the truth file */
	uint32_t (*correlation)(void);  /* id of the thread's current API call */
};

#define SIM_ABI 2

const struct sim_driver *sim_driver(void);
int sim_is_simulated(void);

/* ---- inside libcuda.so.1 ---- */

extern pthread_mutex_t engine_lock;     /* protects the structs above; never held during a callback to tools */

uint64_t sim_now(void);
uint64_t sim_env(const char *name, uint64_t otherwise);

/* calls.c: API calls, the attached tools, initialization and exit. */
const struct sim_tools *tools(void);
int driver_usable(void);
int driver_init(void);
bool driver_at_exit(void);
void call_enter(struct sim_call *call);
void call_leave(struct sim_call *call);
void call_attach(const struct sim_tools *t);
uint32_t call_correlation(void);        /* of the outermost call of this thread */

/* engine.c: devices, contexts, streams, time. */
int engine_start(void);                 /* creates the devices; returns their number */
struct device *device_get(int ordinal);
int device_count(void);
int device_attribute(int what);         /* CUdevice_attribute */
struct context *context_new(struct device *dev, bool primary, struct context *parent);
struct context *context_numbered(struct device *dev, uint32_t id);      /* creates a primary context with this id */
void context_destroy(struct context *ctx);
struct context *context_current(void);
struct context *context_primary(struct device *dev);
struct context *context_primary_current(void);
struct context **context_slot(void);    /* this thread's current context */
int runtime_device(int set);
struct stream *stream_new(struct context *ctx, uint32_t flags, int priority);
void stream_destroy(struct stream *s);
struct stream *stream_get(struct context *ctx, void *handle);
uint64_t context_tail(struct context *ctx);
void engine_serialize_kernels(bool on);
void engine_each_device(void (*see)(const struct device *));
void engine_each_context(void (*see)(const struct context *));
void engine_each_stream(void (*see)(const struct stream *));

/* submit.c: start and end of operations. */
void op_submit(struct stream *s, struct op *op);        /* runs it, or adds it to the graph that the stream captures */
void op_run(struct stream *s, struct op *op, uint64_t after);   /* after 0: after the stream's work; otherwise from the time `after` on */
uint64_t op_ready(struct stream *s);    /* earliest start of a new operation */
void op_tell(struct op *op);            /* reports an op that has its times to the tools and the truth file */
void wait_until(uint64_t when);
void sync_wait(uint32_t type, struct context *ctx, struct stream *s, struct event *e, uint64_t until);
void sync_polled(uint32_t type, struct context *ctx, struct stream *s, struct event *e, uint32_t result);

/* memory.c: host memory that stands for the device's. */
enum { MEM_PAGEABLE = 1, MEM_PINNED = 2, MEM_DEVICE = 3, MEM_MANAGED = 5, MEM_STATIC = 6 };
void *memory_alloc(struct context *ctx, size_t size, int kind);
bool memory_adopt(void *p, size_t size, int kind, struct device *dev);  /* registered host memory, device variables */
bool memory_free(void *p);
int memory_kind(const void *p);
struct device *memory_device(const void *p);
bool memory_range(const void *p, void **base, size_t *size);
bool memory_is_device(const void *p);
uint64_t memory_total(void);
int op_memcpy(struct stream *s, void *dst, const void *src, size_t n, int kind, bool async);
void op_memset(struct stream *s, void *dst, uint32_t value, size_t width, size_t count, bool async);

/* unified.c: managed memory and its location. */
struct managed_moves;
void managed_add(void *base, size_t size);
void managed_remove(void *base);
void managed_open(const void *p, size_t n, bool open);  /* allows, or forbids again, access by the stand-in's own copies */
struct managed_moves *managed_use(struct device *dev, uint64_t *ns);    /* moves all managed memory to dev; adds the duration to *ns */
void managed_used(struct managed_moves *all, uint64_t start);           /* reports the moves, from `start` on, and frees them */
void managed_prefetch(struct stream *s, const void *p, size_t n, int device);   /* device -1: to the host */

/* module.c: modules, kernels, how long they run. */
struct module *module_new(const void *image, size_t size);
struct module *module_from_image(const void *image);    /* PTX text, or a binary, whose kernel names are not parsed */
struct function *module_function(struct module *m, const char *name);
void module_unload(struct module *m, struct context *ctx);
struct function *module_find(struct module *m, const char *name);
void module_touch(struct function *f, struct context *ctx);     /* lazy loading at the first launch */
uint64_t kernel_ns(const struct function *f, const uint32_t grid[3], const uint32_t block[3], void **args,
		   void **extra);

/* graph.c: recorded operations. */
struct node;
struct graph *graph_new(void);
void graph_free(struct graph *g);
struct graph *graph_clone(struct graph *of);    /* instantiates: returns an executable graph */
bool graph_update(struct graph *exec, const struct graph *like);        /* false: the graphs differ in the number or types of nodes */
void graph_launch(struct graph *exec, struct stream *s);
struct node *graph_add_conditional(struct graph *g);
size_t graph_nodes(const struct graph *g);
void graph_begin_capture(struct stream *s);
struct graph *graph_end_capture(struct stream *s);      /* NULL: the stream captured nothing */
void graph_capture(struct stream *s, const struct op *op);
void graph_capture_event(struct stream *s, struct event *e);
void graph_capture_wait(struct stream *s, struct event *e);
uint32_t graph_id(const void *graph, bool exec);
uint64_t graph_node_id(const void *node);

/* truth.c: the truth file, which lists all operations and calls. */
void truth_op(const struct op *op, enum op_fate fate);
void truth_node(uint64_t node, uint64_t original, uint32_t type, bool told);
void truth_call(const struct sim_call *call);
void truth_device(const struct device *dev);
void truth_event(const char *what);
void truth_line(const char *format, ...) __attribute__((format(printf, 1, 2)));         /* "key":value,... */

#endif
