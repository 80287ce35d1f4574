/* A part of the injected object.  entry.c has the table: parts start in its order and stop in reverse. */
#ifndef INJECT_CORE_MODULE_H
#define INJECT_CORE_MODULE_H

struct module {
	void (*init)(void);             /* at load, in every process: cheap set-up only; may be NULL */
	void (*stop)(void);             /* the process is about to end: write out pending rows; may be NULL, may be called twice */
	void (*forked)(void);           /* in a forked child: clear the parent's state, call nothing; may be NULL */
};

extern const struct module session_module, stream_module, stacks_module, nvtx_libraries_module, cupti_module, sample_module,
	torch_module;

/* Call all parts' functions.  modules_init() is idempotent: every entry point calls it. */
void modules_init(void);
void modules_stop(void);
void modules_forked(void);

#endif
