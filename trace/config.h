/* Settings that cross processes.  A plain struct: it goes to guests as it is, and to a file as "name=value" lines. */
#ifndef TRACE_CONFIG_H
#define TRACE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#define CONFIG_TEXT 1024

/* The setting `transport`: what a user asks for. */
enum transport { TRANSPORT_AUTO, TRANSPORT_SHM, TRANSPORT_PIPE };

struct config {
#define CONFIG_FIELD_u64(name) uint64_t name;
#define CONFIG_FIELD_text(name) char name[CONFIG_TEXT];
#define SETTING(type, name, value, doc) CONFIG_FIELD_##type(name)
#include "trace/config.def"
#undef SETTING
#undef CONFIG_FIELD_u64
#undef CONFIG_FIELD_text
};

/* The program's own profiler and we want the one CUPTI of a process. */
enum cupti_mode { CUPTI_YIELD, CUPTI_SHARE, CUPTI_KEEP };

/* All defaults. */
void config_init(struct config *c);

/* Writes "name=value\n" lines of all settings; newlines and backslashes in texts become \n and \\.  Returns the length that the
 * whole text has; it is complete when that is below size. */
size_t config_format(const struct config *c, char *text, size_t size);

/* Reads such lines over what *c holds.  Unknown names are skipped (a newer gprof-run).  0, or -1: a line that cannot be read. */
int config_parse(struct config *c, const char *text, size_t length);

#endif
