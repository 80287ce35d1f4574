/*
 * gprof-run, room by room: what was asked for (run_options.c), the program's environment (run_env.c), the trace's name (run_output.c),
 * what kind of file the program is (run_checks.c), the session with the collector (run_session.c), the program itself (run_launch.c),
 * following it to its end (run_follow.c), what is said afterwards (run_after.c).
 *
 * The one rule: nothing of ours may keep the program from running as it would without us, or change how it ends.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/config.h"

struct cmd;
struct program;

#define EXIT_NOT_EXECUTABLE 126 /* as a shell says it */
#define EXIT_NOT_FOUND      127

/* ---- run_options.c: the command line ---- */

struct request {
	struct config config;           /* what the collector is told */
	const char *name;               /* -o as typed; NULL: none */
	char *variables;                /* -e "A=B,C=D"; NULL: none.  Owned */
	char *exports;                  /* --export, comma separated; NULL: none.  Owned */
	bool inherit;                   /* the program gets our environment */
	bool restore;                   /* its children get our variables, whatever it gives them */
	bool stats, quiet;
	int kill_signal;                /* at the end of the duration, or when the trace was closed early; 0: none */
	int capture_signal;             /* starts recording, or stops it; 0: none */
	int argc;                       /* of the program's command line */
	char **argv;
};

extern const struct program run_program;

/* 0; OPTIONS_FAILED having spoken; OPTIONS_DONE: --help, --version and the like were printed. */
int request_parse(struct request *r, int argc, char **argv);
void request_release(struct request *r);

/* Says what was asked for and is not recorded, or means nothing here: one line each, by one rank alone. */
void request_say_ignored(void);

/* ---- run_env.c: environment of the program ---- */

struct env {
	char **vars;                    /* ends with NULL; strings and array are owned */
	size_t n;
};

int env_copy(struct env *e, char *const *from);         /* from NULL: empty.  0 or -1, as below: out of memory, spoken */
int env_set(struct env *e, const char *name, const char *value);
void env_unset(struct env *e, const char *name);
const char *env_get(const struct env *e, const char *name);     /* borrowed until the next change; NULL: not set */
void env_release(struct env *e);

/* What the user asked for: -n and -e. */
int env_of_request(struct env *e, const struct request *r, char *const *ours);

/*
 * The doors through which our object comes in.  inject NULL: it is missing; preload false: the loader must not see it; nvtx false: NVTX
 * is not recorded, and costs the program nothing.
 */
/* Bit of the CUDA library that a word of -t means; 0: none. */
uint64_t libraries_of_word(const char *word);
/* Their variables, unless the user has set them. */
int env_switch_libraries_on(struct env *e, uint64_t bits);
int env_open_doors(struct env *e, const char *session, const char *inject, bool preload, bool nvtx);

/* ---- run_checks.c: what the command is ---- */

struct target {
	char path[PATH_MAX];            /* what is executed */
	char image[PATH_MAX];           /* the ELF file behind it: an interpreter, for scripts; "" unknown */
	int status;                     /* 0, or EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE: spoken */
	bool preload;                   /* LD_PRELOAD does no harm to it */
};

/* Finds the command as execvp would, in the program's PATH.  0 or -1, see status. */
int target_find(struct target *t, const char *command, const struct env *e);

/* Looks at the file: 32-bit, set-uid, static, foreign libc.  Says in one line what keeps us out; the program runs all the same. */
void target_check(struct target *t, const struct env *e, bool say);

/* ---- run_elf.c ---- */

enum image_kind {
	IMAGE_UNKNOWN,                  /* no ELF file, or one that cannot be read */
	IMAGE_OPEN,                     /* dynamic, glibc, our machine: LD_PRELOAD works */
	IMAGE_32BIT, IMAGE_FOREIGN,     /* another class, another processor */
	IMAGE_STATIC, IMAGE_MUSL,
	IMAGE_SANITIZED,                /* the sanitizer's library must come first */
};

enum image_kind image_kind(const char *path);

/* ---- run_checks.c, the rest ---- */

/* srun, mpirun, ssh, docker, ...: one line with the order that works, where it matters. */
void target_check_order(const struct request *r);

/* The interpreter of a script ("#!/usr/bin/env python3" is python3 in PATH).  0 or -1: no script, or none that can be told. */
int target_interpreter(const char *path, const struct env *e, char *out, size_t size);

/* Where PATH leads to.  0, or -1 with errno. */
int path_search(const char *command, const char *path_list, char *out, size_t size);

/* ---- run_cupti.c ---- */

/* The libcupti that the program's Python would load, found without starting Python; "" when there is none. */
void cupti_hint(const struct target *t, const struct request *r, const struct env *e, char *out, size_t size);

/* The newest libcupti.so.N of a folder. */
bool cupti_in_folder(const char *folder, char *out, size_t size);

/* ---- run_output.c ---- */

/* Absolute path of the trace from -o and the program's pid; makes missing folders. */
void output_path(const struct request *r, pid_t program, char *out, size_t size);

/* Makes a folder and those above it; whether that worked shows when something is written there. */
void output_make_folder(const char *path);

/* From the variables of torchrun, MPI and Slurm; -1: not set. */
long output_rank(void);

/* ---- run_session.c: the folder and the collector ---- */

struct session {
	char folder[128];               /* "": none.  A socket in it must fit sun_path */
	char trace[PATH_MAX];           /* where the trace is; "": there is none */
	pid_t collector;                /* 0: none */
	int control;                    /* -1: closed */
	bool finished;                  /* the collector said "closed" */
	bool lost;                      /* it ended without being asked */
};

#define SESSION_INIT { .control = -1 }

/* Makes the folder.  0 or -1, having spoken: the program runs without us. */
int session_make(struct session *s);

/* Writes the settings, starts the collector, waits until it is ready.  The same. */
int session_start(struct session *s, const struct config *c);

/* The program runs as `pid`.  It ended: with this status of waitpid(), and this CPU time in ns (0: not known). */
void session_main(struct session *s, pid_t pid);
void session_ended(struct session *s, pid_t pid, int status, int64_t cpu);

/* Starts recording, or stops it. */
void session_toggle(struct session *s);

/* Reads one answer, which is there.  1: "drained" or "closed"; 0: something else; -1: the collector is gone. */
int session_answer(struct session *s);

/* There will be no session: ends the collector if there is one, removes the folder. */
void session_give_up(struct session *s);

/* Closes our end; removes what a lost collector left behind. */
void session_release(struct session *s);

/* ---- run_launch.c: the program ---- */

struct launch {
	pid_t program;
	int line;                       /* to the held child: a byte releases it, errno comes back when exec failed; -1: closed */
	int signals;                    /* a descriptor to read them from */
	sigset_t mask;                  /* as gprof-run was started with */
	struct sigaction chld;
	int status;                     /* of waitpid, once it ended */
	int64_t cpu;                    /* its CPU time, ns; 0: not known */
	bool ended;
};

/* Takes all signals into our own hands, and the places of closed standard descriptors.  Call first. */
void launch_prepare(struct launch *l);

/* Forks the program and holds it before exec.  0 or -1, having spoken. */
int launch_hold(struct launch *l, const struct target *t, const struct request *r, const struct env *plain, const struct env *ours);

/* Lets it go: with our doors open, or without us. */
void launch_release(struct launch *l, bool with_us);

/* Without fork and without us: this process becomes the program.  Returns only when that failed, spoken. */
void launch_instead(const struct launch *l, const struct target *t, const struct request *r, const struct env *plain);

/* In a child: signals as they were at our start. */
void launch_restore_signals(const struct launch *l);

/* close_range(fd, ~0), also where the kernel has none. */
void launch_close_from(int fd);

/* Ends as the program ended.  Does not return. */
void launch_end_alike(const struct launch *l) __attribute__((noreturn));

/* The program could not be executed after all: says why and makes that its status. */
void launch_check_exec(struct launch *l, const struct target *t);

/* ---- run_follow.c: from exec to the end ---- */

/* Until the program ended and what it left is in the file: passes signals on, stops and goes on with it, keeps the duration. */
void follow(struct launch *l, struct session *s, const struct request *r);

/* ---- run_witness.c: was a signal sent to us alone, or to our whole process group? ---- */

struct witness {
	pid_t pid;                      /* 0: there is none, then every signal was for us alone */
	uint32_t *seen;                 /* by it: how often each signal came; shared memory */
	uint32_t known[65];             /* ... of that already asked about */
};

void witness_start(struct witness *w);
bool witness_saw(struct witness *w, int sig);
void witness_stop(struct witness *w);

/* ---- run_after.c ---- */

/* The page, --stats, --export.  Nothing here changes how we end. */
void after(const struct launch *l, const struct session *s, const struct request *r);

#endif
