/* Settings shared by several processes.  A plain struct: sent to guests byte by byte, and written to a file as "name=value" lines. */
#ifndef TRACE_CONFIG_H
#define TRACE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#define CONFIG_TEXT 1024

/* Values of the setting `transport`. */
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

/* Values of the setting `cupti_mode`: what happens when the program's own profiler uses CUPTI too (a process has one CUPTI). */
enum cupti_mode { CUPTI_YIELD, CUPTI_SHARE, CUPTI_KEEP };

/* Sets all settings to their defaults. */
void config_init(struct config *c);

/*
 * Writes all settings as "name=value\n" lines; newlines and backslashes in texts become \n and \\.  Returns the length of the whole text,
 * as snprintf() does: the text was cut if that is not below size.
 */
size_t config_format(const struct config *c, char *text, size_t size);

/*
 * Reads lines of config_format() into *c; settings without a line keep their values.  Unknown names (a newer gprof-run) are skipped.
 * Returns 0, or -1: a line cannot be parsed.
 */
int config_parse(struct config *c, const char *text, size_t length);

#endif
