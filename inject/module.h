/* A part of the injected object: a struct of verbs, started in order and stopped in reverse (entry.c has the table). */
#ifndef INJECT_MODULE_H
#define INJECT_MODULE_H

struct module {
	void (*init)(void);             /* at load, in every process: nothing but cheap set-up; may be NULL */
	void (*stop)(void);             /* the process is about to end: deliver what is held back; may be NULL, may be called twice */
	void (*forked)(void);           /* in a forked child: forget the parent's state, call nothing; may be NULL */
};

extern const struct module session_module, stream_module, stacks_module, nvtx_libraries_module, cupti_module, sample_module,
	torch_module;

/* All parts in order; idempotent, from whichever door is used first. */
void modules_init(void);
void modules_stop(void);
void modules_forked(void);

#endif
