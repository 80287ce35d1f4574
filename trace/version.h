/* Of all programs and the injected object: they come from one build. */
#ifndef TRACE_VERSION_H
#define TRACE_VERSION_H

#define GPROF_VERSION "0.1.0"

#endif
