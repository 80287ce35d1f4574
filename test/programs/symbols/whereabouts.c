/* Prints its images, and addresses in its functions and in those of a library (argv[1]), as input of whereabouts_trace. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_id(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			const uint8_t *id = at + sizeof *note + ((note->n_namesz + 3) & ~3u);

			if (note->n_type == NT_GNU_BUILD_ID) {
				for (unsigned k = 0; k < note->n_descsz; k++)
					printf("%02x", id[k]);
				return;
			}
			at = id + ((note->n_descsz + 3) & ~3u);
		}
	}
	printf("-");
}

static int print_image(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t low = UINT64_MAX, high = 0;
	char self[4096] = "";
	int *n = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

			low = at < low ? at : low;
			high = at + info->dlpi_phdr[i].p_memsz;
		}
	if (!(*n)++ && readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 0;
	printf("image %lx %lx %lx ", (long)info->dlpi_addr, (long)low, (long)high);
	print_id(info);
	printf(" %s\n", *self ? self : info->dlpi_name);
	return 0;
}

static __attribute__((noinline)) void here(void)
{
	printf("native %lx\n", (long)((uintptr_t)__builtin_return_address(0) - 1));
}

static inline __attribute__((always_inline)) void innermost(void)
{
	here();
}

static inline __attribute__((always_inline)) void between(void)
{
	innermost();
}

static __attribute__((noinline)) void outermost(void)
{
	between();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	uint64_t (*say)(void) = lib ? (uint64_t (*)(void))dlsym(lib, "say_where") : NULL;
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	int n = 0;

	printf("pid %d\n", getpid());
	dl_iterate_phdr(print_image, &n);
	outermost();
	if (say)
		printf("native %lx\n", (long)say());
	if (vdso && dlsym(vdso, "__vdso_clock_gettime"))
		printf("native %lx\n", (long)dlsym(vdso, "__vdso_clock_gettime") + 1);
	return 0;
}
