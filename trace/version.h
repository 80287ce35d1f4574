/* Version of all programs and of the injected object, which come from one build. */
#ifndef TRACE_VERSION_H
#define TRACE_VERSION_H

#define GPROF_VERSION "0.1.0"

#endif
