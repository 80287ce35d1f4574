/*
 * Shared by programs that use only the driver API: loads libcuda.so.1 at run time; has a kernel.  Define before including: PROGRAM, the
 * name of the program, and NEEDS(X), the functions that it calls.  Call them as p_cuInit(0), or as DO(cuInit, 0), which exits on an error.
 */
#ifndef TEST_PROGRAMS_DRIVER_H
#define TEST_PROGRAMS_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define X(fn) static __typeof__(fn) *p_##fn;
NEEDS(X)
#undef X

/* Spins for as many ns as its first argument says, at most 2^24 reads of the clock. */
static const char ptx[] __attribute__((unused)) =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".visible .entry spin_ptx(.param .u64 spin_ns)\n"
	"{\n"
	"	.reg .u64 %t<5>;\n	.reg .u32 %n;\n	.reg .pred %p<3>;\n"
	"	ld.param.u64 %t0, [spin_ns];\n"
	"	mov.u64 %t1, %globaltimer;\n"
	"	mov.u32 %n, 0;\n"
	"again:\n"
	"	mov.u64 %t2, %globaltimer;\n"
	"	sub.u64 %t3, %t2, %t1;\n"
	"	add.u32 %n, %n, 1;\n"
	"	setp.lt.u64 %p0, %t3, %t0;\n"
	"	setp.lt.u32 %p1, %n, 16777216;\n"
	"	and.pred %p2, %p0, %p1;\n"
	"	@%p2 bra again;\n"
	"	ret;\n"
	"}\n";

static void must(CUresult rc, const char *what)
{
	if (rc) {
		fprintf(stderr, PROGRAM ": %s: CUDA error %d\n", what, rc);
		exit(1);
	}
}

#define DO(fn, ...) must(p_##fn(__VA_ARGS__), #fn)

static void *bind(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, PROGRAM ": %s\n", dlerror());
		exit(1);
	}
#define X(fn) *(void **)&p_##fn = dlsym(lib, #fn);
	NEEDS(X)
#undef X
	return lib;
}

#endif
