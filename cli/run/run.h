/*
 * The parts of gprof-run: the command line (run_options.c), the program's environment (run_env.c), the trace's name
 * (run_output.c), what kind of file the program is (run_checks.c), the session and its collector (run_session.c), the
 * program's process (run_launch.c), from its start to its end (run_follow.c), the output afterwards (run_after.c).
 *
 * Invariant: whatever fails in gprof-run, the program runs and ends as it would without gprof-run.
 */
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/config.h"
#include "trace/image.h"

struct cmd;
struct program;

#define EXIT_NOT_EXECUTABLE 126 /* as in a shell */
#define EXIT_NOT_FOUND      127

/* ---- run_options.c: the command line ---- */

struct request {
	struct config config;           /* the settings of the collector */
	const char *name;               /* -o as typed; NULL: none */
	char *variables;                /* -e "A=B,C=D"; NULL: none.  Owned */
	char *exports;                  /* --export, comma separated; NULL: none.  Owned */
	bool inherit;                   /* the program gets gprof-run's environment */
	bool restore;                   /* put gprof-run's variables back when the program starts a child without them */
	bool stats, quiet;
	int kill_signal;                /* sent to the program when recording ends; 0: none */
	int capture_signal;             /* starts and stops recording when gprof-run receives it; 0: none */
	int argc;                       /* of the program's command line */
	char **argv;                    /* points into main()'s argv */
};

extern const struct program run_program;

/* Parses the command line.  0; OPTIONS_FAILED after an error message; OPTIONS_DONE: --help, --version or the like was printed. */
int request_parse(struct request *r, int argc, char **argv);
void request_release(struct request *r);

/* Prints a line for each option that has no effect.  The caller calls it in one rank only. */
void request_say_ignored(void);

/* ---- run_record.c: the command line in the trace ---- */

/* Fills command and options of c, without secrets; with c->no_argv, only the program's name. */
void record_command(struct config *c, char *const *options, int n_options, char *const *command, int n_command);

/* ---- run_env.c: environment of the program ---- */

struct env {
	char **vars;                    /* ends with NULL; strings and array are owned */
	size_t n, cap;
};

/* from NULL: empty.  This and the functions below that return int: 0, or -1 after an error message (out of memory). */
int env_copy(struct env *e, char *const *from);
int env_set(struct env *e, const char *name, const char *value);
void env_unset(struct env *e, const char *name);
const char *env_get(const struct env *e, const char *name);     /* valid until the next change; NULL: not set */
void env_release(struct env *e);

/* The environment that the user asked for with -n and -e; ours: gprof-run's environment. */
int env_of_request(struct env *e, const struct request *r, char *const *ours);

/* run_libraries.c: bit of the CUDA library that a word of -t names; 0: none. */
uint64_t libraries_of_word(const char *word);
/* run_libraries.c: sets the variables that make these libraries annotate their calls; a variable that is set stays. */
int env_switch_libraries_on(struct env *e, uint64_t bits);
struct target;
/*
 * Sets the variables that load the injected object: LD_PRELOAD (unless t->preload is false), CUDA_INJECTION64_PATH and, with
 * nvtx, NVTX_INJECTION64_PATH.  session: the session's folder.  inject: path of the object; NULL: it is missing.
 */
int env_open_doors(struct env *e, const char *session, const char *inject, const struct target *t, bool nvtx);

/* ---- run_checks.c: what the command is ---- */

struct target {
	char path[PATH_MAX];            /* the file to execute */
	char image[PATH_MAX];           /* the ELF file: for a script its interpreter; set by target_check() */
	int status;                     /* 0, or EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE after an error message */
	bool preload;                   /* LD_PRELOAD is harmless for it */
	char first[IMAGE_NAME];         /* library that must come first in LD_PRELOAD; "": none */
};

/* Finds the command as execvp() does, in the PATH of e.  0, or -1 after an error message, with t->status set. */
int target_find(struct target *t, const char *command, const struct env *e);

/*
 * Finds out what kind of program t is: 32-bit, static, set-uid, another libc.  say: print a line if it cannot be recorded.
 * It runs in any case.
 */
void target_check(struct target *t, const struct env *e, bool say);

/* ---- run_checks.c, the rest ---- */

/* Prints the right order if the command is srun, mpirun, ssh, docker or the like, whose children may not be recorded. */
void target_check_order(const struct request *r);

/* The interpreter of a script (for "#!/usr/bin/env python3", python3 in PATH).  0, or -1: not a script, or not found. */
int target_interpreter(const char *path, const struct env *e, char *out, size_t size);

/* Finds a command in a PATH list.  0, or -1 with errno. */
int path_search(const char *command, const char *path_list, char *out, size_t size);

/* ---- run_cupti.c ---- */

/* Writes the path of the libcupti that the program's Python would load, found without starting Python; "": none. */
void cupti_hint(const struct target *t, const struct request *r, const struct env *e, char *out, size_t size);

/* Finds the newest libcupti.so.N in a folder.  False: none. */
bool cupti_in_folder(const char *folder, char *out, size_t size);

/* ---- run_output.c ---- */

/* Writes the absolute path of the trace, from -o and the program's pid; creates missing folders. */
void output_path(const struct request *r, pid_t program, char *out, size_t size);

/* Creates a folder and its parents; errors are ignored, the later write into it reports them. */
void output_make_folder(const char *path);

/* The rank, from variables of torchrun, MPI and Slurm; -1: not set. */
long output_rank(void);

/* ---- run_session.c: the folder and the collector ---- */

struct run_session {
	char folder[128];               /* "": none; short, because a socket's path in it must fit sun_path */
	char trace[PATH_MAX];           /* path of the trace; "": there is none */
	pid_t collector;                /* 0: none */
	int control;                    /* socket to the collector; -1: closed */
	bool finished;                  /* the collector sent "closed": the trace is complete */
	bool lost;                      /* the collector ended before "closed" */
};

#define RUN_SESSION_INIT { .control = -1 }

/* Creates the session's folder.  0, or -1 after an error message; then the program runs without being recorded. */
int run_session_make(struct run_session *s);

/* Writes the settings, starts the collector and waits until it is ready.  Returns as run_session_make(). */
int run_session_start(struct run_session *s, const struct config *c);

/* Tell the collector the program's pid; and its end: status of waitpid(), CPU time in ns (0: unknown). */
void run_session_main(struct run_session *s, pid_t pid);
void run_session_ended(struct run_session *s, pid_t pid, int status, int64_t cpu);

/* Tells the collector to start recording, or to stop it. */
void run_session_toggle(struct run_session *s);

/*
 * Reads one message of the collector, without waiting.  1: "drained" (all rows of ended processes are in the trace) or
 * "closed"; 0: another message, or none; -1: the collector has ended.
 */
int run_session_answer(struct run_session *s);

/* Cancels the session: kills the collector, if there is one, and removes the folder. */
void run_session_give_up(struct run_session *s);

/* Closes the control socket; removes the folder of a collector that ended too early. */
void run_session_release(struct run_session *s);

/* ---- run_launch.c: the program's process ---- */

struct program_launch {
	pid_t program;
	int line;                       /* socket to the held child: a byte starts exec, errno comes back on failure; -1: closed */
	int signals;                    /* signalfd for all signals */
	sigset_t mask;                  /* mask, chld: signal mask and SIGCHLD action that gprof-run was started with */
	struct sigaction chld;
	int status;                     /* of waitpid(), after the program ended */
	int64_t cpu;                    /* the program's CPU time in ns; 0: unknown */
	bool ended;
};

/* Blocks all signals, to be read from a signalfd, and opens /dev/null in place of closed standard descriptors.  Call first. */
void launch_prepare(struct program_launch *l);

/*
 * Forks the program and holds it before exec.  plain, ours: its environment without and with the injected object.  0, or -1
 * after an error message.
 */
int launch_hold(struct program_launch *l, const struct target *t, const struct request *r, const struct env *plain, const struct env *ours);

/* Lets the held program exec, with the environment `ours` if with_us, else `plain`. */
void launch_release(struct program_launch *l, bool with_us);

/* Executes the program in this process, unrecorded, when fork failed.  Returns only on failure, after an error message. */
void launch_instead(const struct program_launch *l, const struct target *t, const struct request *r, const struct env *plain);

/* In a child: restores the signal mask and SIGCHLD action of gprof-run's start. */
void launch_restore_signals(const struct program_launch *l);

/* close_range(fd, ~0), also on kernels without it. */
void launch_close_from(int fd);

/* Ends this process as the program ended: same exit status or signal.  Does not return. */
void launch_end_alike(const struct program_launch *l) __attribute__((noreturn));

/* If exec failed: prints why and makes EXIT_NOT_EXECUTABLE the program's status.  Closes l->line. */
void launch_check_exec(struct program_launch *l, const struct target *t);

/* ---- run_follow.c: from exec to the program's end ---- */

/*
 * Returns when the program has ended and its rows are in the trace.  Until then forwards signals, stops and continues with
 * the program, and sends --kill's signal when recording ends.
 */
void follow(struct program_launch *l, struct run_session *s, const struct request *r);

/* ---- run_signal_probe.c: whether a signal was sent to gprof-run alone or to its process group ---- */

struct group_signal_probe {
	pid_t pid;                      /* 0: no probe; then every signal counts as sent to gprof-run alone */
	uint32_t *seen;                 /* shared with the probe: how often it received each signal */
	uint32_t known[65];             /* how often group_signal_probe_saw() has reported each signal */
};

/* Starts the probe, a process.  Without memory or processes there is none (pid 0). */
void group_signal_probe_start(struct group_signal_probe *w);
/* Whether the probe received sig since the last call; waits up to 50 ms. */
bool group_signal_probe_saw(struct group_signal_probe *w, int sig);
/* Ends the probe. */
void group_signal_probe_stop(struct group_signal_probe *w);

/* ---- run_after.c ---- */

/* Prints the page and does --stats and --export.  Failures do not change the exit status. */
void after(const struct program_launch *l, const struct run_session *s, const struct request *r);

#endif
