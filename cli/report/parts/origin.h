/* Where an imported trace comes from. */
#ifndef CLI_REPORT_PARTS_ORIGIN_H
#define CLI_REPORT_PARTS_ORIGIN_H

struct model;

/* Source of an imported trace, for people; NULL: recorded by gprof-run. */
const char *imported_from(struct model *m);

#endif
