/* HEALTH_nested and so on: why a trace is not complete.  The table is health.def. */
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
