/* HEALTH_nested, ...: reasons why a trace can be incomplete, from the table health.def. */
#ifndef TRACE_HEALTH_H
#define TRACE_HEALTH_H

enum health_reason {
	HEALTH_none,
#define REASON(id, name, what, next) HEALTH_##name = id,
#include "trace/health.def"
#undef REASON
	HEALTH_REASONS = 128
};

#endif
