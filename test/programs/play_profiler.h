/* The program's own profiler, called by play.c; only play_profiled has it. */
#ifndef TEST_PROGRAMS_PLAY_PROFILER_H
#define TEST_PROGRAMS_PLAY_PROFILER_H

void profiler_begin(void) __attribute__((weak));
void profiler_end(const char *path) __attribute__((weak));

#endif
