/* Readable names: of kernels and API calls, of CUPTI's enum values, of gprof-run's health reasons and places. */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

enum name_style {
	NAME_DEMANGLED,         /* void foo<int>(float*, int) */
	NAME_BASE,              /* foo */
	NAME_PLAIN,             /* ns::foo<int>, without return type and parameters */
	NAME_API_NSYS,          /* an API call as nsys prints it: without _vNNNN of four digits, but with _v11060 */
	NAME_API_PLAIN,         /* an API call without any version */
	NAME_STYLES,
	NAME_AS_IS = NAME_STYLES,
};

/* String id of the name in this style; out of memory: id itself. */
uint32_t model_name(struct model *m, uint32_t id, enum name_style style);

/* Whether C++ names can be demangled: libstdc++.so.6 was found. */
bool names_can_demangle(void);

/* foo of "void ns::foo<int>(float*)".  Writes at most size - 1 bytes. */
void name_base(const char *demangled, char *out, size_t size);

/* ns::foo<int> of "void ns::foo<int>(float*)".  Writes at most size - 1 bytes. */
void name_plain(const char *demangled, char *out, size_t size);

/* Texts for numbers; NULL: unknown number. */
const char *memcpy_words(unsigned kind);        /* "Host-to-Device" */
const char *memcpy_short(unsigned kind);        /* "HtoD" */
const char *unified_words(unsigned kind);       /* "Unified Host-to-Device"; NULL if the kind is not a transfer */
const char *memory_words(unsigned kind);        /* "Pageable" */
const char *sync_words(unsigned type);          /* "Stream Sync" */
const char *overhead_words(unsigned kind);      /* "buffer flush" */
const char *cost_words(unsigned place);         /* "connecting to the collector" */
const char *health_name(unsigned reason);       /* "cupti_missing" */
const char *health_what(unsigned reason);
const char *health_next(unsigned reason);
const char *drop_words(unsigned where);         /* "in the program (arena full)" */
const char *kind_words(unsigned kind);          /* "kernel" -> "kernels" */

#endif
