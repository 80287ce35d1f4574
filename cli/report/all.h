/* All reports by name. */
#ifndef CLI_REPORT_ALL_H
#define CLI_REPORT_ALL_H

#include "cli/report/parts/report.h"

#define GROUP(heading)
#define REPORT(name) extern const struct report report_##name;
#include "cli/report/reports.def"

#endif
