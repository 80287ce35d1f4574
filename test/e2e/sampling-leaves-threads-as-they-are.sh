#!/bin/sh
# -s cpu interposes pthread_create() and chains to libc's handler of signal 33.  Other users of both still work, and are sampled.
# also on the pipe
. "$(dirname "$0")/lib.sh"

common='
	need cc
	cat >burn.h <<-C
		#include <stdint.h>
		#include <time.h>
		static double cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + (double)t.tv_nsec / 1e9; }
		#define BURN(name) __attribute__((noinline)) void name(double s); void name(double s) { \
			volatile uint64_t y = 1; for (double end = cpu() + s; cpu() < end;) for (int i = 0; i < 100000; i++) y = y * 6364136223846793005ull + 1; }
	C
	# seen FUNCTION: samples in which it stands.
	seen() { gprof-trace report -r cpu_sum -f csv t.gtrace | awk -F, -v f="$1" "\$1 == f { n += \$5 } END { print n + 0 }"; }
	run() { gprof-run -q -f -s cpu -o t "$@" >out 2>err || fail "exit status $?: $(cat out err)"; }
	some() { [ "$(seen "$1")" -ge 5 ] || fail "$(seen "$1") samples of $1: $(gprof-trace report -r cpu_sum,health t.gtrace)"; }
'

it 'threads of C11 are sampled, and return what they return' "$common"'
	cat >c11.c <<-C
		#include <threads.h>
		#include "burn.h"
		BURN(in_c11)
		static int body(void *a) { in_c11(.2); return *(int *)a + 1; }
		int main(void)
		{
			int n = 41, got = 0;
			thrd_t t;
			if (thrd_create(&t, body, &n) != thrd_success || thrd_join(t, &got) != thrd_success)
				return 1;
			return got != 42;
		}
	C
	cc -O1 -g -o c11 c11.c -lpthread 2>why || skip "no threads.h"
	run -- ./c11
	some in_c11
'

it 'a program and a preloaded library that have a pthread_create() of their own' "$common"'
	cat >own.c <<-C
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdlib.h>
		struct start { void *(*fn)(void *); void *arg; };
		int made_by_NAME;
		static void *first(void *p) { struct start s = *(struct start *)p; free(p); return s.fn(s.arg); }
		int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
		{
			int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = (int (*)(pthread_t *, const pthread_attr_t *,
				void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
			struct start *s = malloc(sizeof *s);
			*s = (struct start){ fn, arg };
			made_by_NAME++;
			return real(t, a, first, s);
		}
	C
	cat >main.c <<-C
		#include <pthread.h>
		#include <stdio.h>
		#include "burn.h"
		BURN(in_thread)
		extern int made_by_program;
		static void *body(void *a) { in_thread(.15); return a; }
		int main(void)
		{
			pthread_t t[2];
			void *got = 0;
			int n = 0;
			for (int i = 0; i < 2; i++)
				if (pthread_create(&t[i], 0, body, &t[i]))
					return 1;
			for (int i = 0; i < 2; i++)
				n += pthread_join(t[i], &got) == 0 && got == &t[i];
			printf("%d %d\n", n, made_by_program);
			return 0;
		}
	C
	sed s/NAME/program/ own.c >program.c
	sed s/NAME/library/ own.c >library.c
	cc -D_GNU_SOURCE -O1 -g -o both main.c program.c -rdynamic -ldl -lpthread
	cc -D_GNU_SOURCE -O1 -g -shared -fPIC -o liblibrary.so library.c -ldl -lpthread
	run -- ./both
	is "2 2" "$(cat out)" "threads that ended well, and those that the program made"
	some in_thread
	LD_PRELOAD=$PWD/liblibrary.so run -- ./both
	is "2 2" "$(cat out)" "the same with a library preloaded"
	some in_thread
	is "" "$(gprof-trace report -r cpu_sum -f csv t.gtrace | grep inject)" "frames of ours"
'

it 'a library that is loaded later makes a thread' "$common"'
	cat >plugin.c <<-C
		#include <pthread.h>
		#include "burn.h"
		BURN(in_plugin)
		static void *body(void *a) { in_plugin(.2); return a; }
		int plugin(void) { pthread_t t; return pthread_create(&t, 0, body, 0) || pthread_join(t, 0); }
	C
	cat >host.c <<-C
		#include <dlfcn.h>
		int main(void)
		{
			void *p = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
			int (*plugin)(void) = p ? (int (*)(void))dlsym(p, "plugin") : 0;
			return plugin ? plugin() : 1;
		}
	C
	cc -O1 -g -shared -fPIC -o plugin.so plugin.c -lpthread
	cc -O1 -o host host.c -ldl
	run -- ./host
	some in_plugin
'

for sanitizer in address thread; do
	it "a program under the $sanitizer sanitizer" "$common"'
		cat >san.c <<-C
			#include <pthread.h>
			#include "burn.h"
			BURN(in_thread)
			static void *body(void *a) { in_thread(.2); return a; }
			int main(void) { pthread_t t; return pthread_create(&t, 0, body, 0) || pthread_join(t, 0); }
		C
		# Linked in: as a library it wants to be the first one, whoever else is preloaded.
		clang -fsanitize='$sanitizer' -O1 -g -o san san.c -lpthread 2>why || skip "clang has no sanitizers here"
		./san >out 2>&1 || skip "it does not run here by itself: $(head -n 1 out)"
		run -- ./san
		some in_thread
	'
done

it 'libc changes the ids of all threads by its signal' "$common"'
	cat >ids.c <<-C
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		#include "burn.h"
		BURN(in_thread)
		static volatile int changed, wrong;
		static void *body(void *a)
		{
			while (!changed)
				in_thread(.02);
			in_thread(.1);
			if (syscall(SYS_geteuid) != geteuid() || syscall(SYS_geteuid) != (long)changed - 1)
				wrong++;
			return a;
		}
		int main(void)
		{
			uid_t to = geteuid() ? geteuid() : 65534;
			pthread_t t[3];
			for (int i = 0; i < 3; i++)
				pthread_create(&t[i], 0, body, 0);
			in_thread(.05);
			for (int i = 0; i < 50; i++)
				if (seteuid(geteuid() == to ? getuid() : to))
					return 2;
			if (seteuid(to))
				return 2;
			changed = (int)to + 1;
			for (int i = 0; i < 3; i++)
				pthread_join(t[i], 0);
			return wrong;
		}
	C
	cc -D_GNU_SOURCE -O1 -g -o ids ids.c -lpthread
	run -- ./ids
	some in_thread
'

it 'threads, forks and programs that come and go while samples are taken' "$common"'
	cat >many.c <<-C
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#include "burn.h"
		BURN(in_thread)
		BURN(in_child)
		static void *body(void *a) { in_thread(.004); return a; }
		static void *leaves(void *a) { in_thread(.004); pthread_exit(a); }
		int main(int c, char **v)
		{
			if (c > 1)
				return in_child(.05), 0;
			for (int i = 0; i < 60; i++) {
				pthread_t t[4];
				int status = 1;
				for (int k = 0; k < 4; k++)
					if (pthread_create(&t[k], 0, k & 1 ? body : leaves, 0))
						return 1;
				if (i % 10 == 0) {
					pid_t p = fork();
					if (p == 0) {
						in_child(.05);
						if (i % 20 == 0)
							execl(v[0], v[0], "again", (char *)0);
						exit(0);
					}
					if (waitpid(p, &status, 0) != p || status)
						return 2;
				}
				for (int k = 0; k < 4; k++)
					pthread_join(t[k], 0);
			}
			return 0;
		}
	C
	cc -O1 -g -o many many.c -lpthread
	run --sampling-frequency 1000 -- ./many
	some in_thread
	some in_child
	is 10 "$(gprof-trace dump -k attribute t.gtrace | grep -c "sampling=")" "processes that were sampled, and images after exec"
'

it 'says when the kernel gives less than was asked for' "$common"'
	gprof-run -q -s cpu --sampling-frequency 8000 -o t -- sh -c "i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done" 2>err
	gprof-trace report -r health t.gtrace >health
	says sample_rate health
	says "instead of 8000" health
'

it 'jumps, changes stacks, loads, unloads and forks under a sample every sixty microseconds' "$common"'
	pester=$GPROF_BUILD/test/programs/libpester.so
	need "$pester" "test programs are not built (make host-programs)"
	[ -r /proc/self/timers ] || skip "the kernel does not list timers"
	cat >jumps.c <<-C
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <ucontext.h>
		#include <unistd.h>
		static ucontext_t here[2], there[2];
		static __thread int me;
		static volatile int sink, done;
		static void burn(int n) { for (volatile int i = 0; i < n; i++) sink += i; }
		static int deep(int n) { char b[64]; memset(b, n, sizeof b); if (n) return deep(n - 1) + b[3]; burn(300); return 0; }
		static void coroutine(void) { for (;;) { deep(5); burn(200); swapcontext(&there[me], &here[me]); } }
		static jmp_buf back[2];
		static void leaps(int n) { if (n) leaps(n - 1); else { burn(200); longjmp(back[me], 1); } }
		static void handler(int s) { (void)s; deep(8); }
		static void once(int k)
		{
			for (int i = 0; i < 5; i++) swapcontext(&here[me], &there[me]);
			if (!setjmp(back[me])) leaps(k % 20);
			deep(k % 100);
			raise(SIGUSR1);
			void *p = dlopen("./plug.so", RTLD_NOW);
			if (p) { int (*f)(int) = (int (*)(int))dlsym(p, "plug"); f(k); dlclose(p); }
			for (int i = 0; i < 20; i++) free(malloc(100 + 1000 * i));
			if (k % 50 == 0) { pid_t c = fork(); if (!c) { deep(50); burn(100000); _exit(0); } int st; if (waitpid(c, &st, 0) != c || st) { fprintf(stderr, "child %x\\n", st); exit(3); } }
		}
		static void *body(void *a)
		{
			stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
			me = (int)(long)a;
			sigaltstack(&alt, 0);
			getcontext(&there[me]);
			there[me].uc_stack.ss_sp = malloc(32768); there[me].uc_stack.ss_size = 32768;
			makecontext(&there[me], coroutine, 0);
			for (int k = 1; !done; k++) once(k);
			return 0;
		}
		int main(int c, char **v)
		{
			struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
			sigaction(SIGUSR1, &sa, 0);
			void *p = dlopen(v[1], RTLD_NOW);
			int (*start)(int) = (int (*)(int))dlsym(p, "pester_start"); long (*sent)(void) = (long (*)(void))dlsym(p, "pester_sent");
			pthread_t t;
			if (start(atoi(v[3]))) return 1;
			pthread_create(&t, 0, body, (void *)1);
			stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
			sigaltstack(&alt, 0);
			getcontext(&there[0]);
			there[0].uc_stack.ss_sp = malloc(32768); there[0].uc_stack.ss_size = 32768;
			makecontext(&there[0], coroutine, 0);
			for (int k = 1; sent() < atoi(v[2]); k++) once(k);
			done = 1;
			pthread_join(t, 0);
			printf("sent %ld\\n", sent());
			return 0;
		}
	C
	cat >plug.c <<-C
		static volatile int x; __attribute__((noinline)) static int inner(int n) { for (int i = 0; i < 500; i++) x += n; return x; } int plug(int n) { return inner(n) + 1; }
	C
	cc -O1 -g -o jumps jumps.c -ldl -lpthread
	cc -O1 -g -shared -fPIC -o plug.so plug.c
	run -- ./jumps "$pester" 3000 60
	some main
	some body
'

it 'says that there is no timer left' "$common"'
	need prlimit
	printf "#include \"burn.h\"\nBURN(in_main)\nint main(void) { in_main(.05); return 0; }\n" >one.c
	cc -O1 -o one one.c
	prlimit --sigpending=0 gprof-run -q -f -s cpu -o t -- ./one 2>err
	is 0 "$(gprof-trace dump -k sample t.gtrace | wc -l)" samples
	gprof-trace report -r health t.gtrace >health
	says "sample_failed      1" health
	says "timer_create" health
'
