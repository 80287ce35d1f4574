/* Frees what reports about jobs have kept for the next report. */
#include "cli/compat/hta/hta.h"
#include "cli/compat/tb/tb.h"

void jobs_release(struct jobs *jobs)
{
	for (unsigned i = 0; i < 2; i++) {
		hta_free(jobs->with_last[i]);   /* first: it borrows names and rows of kept[i] */
		hta_free(jobs->kept[i]);
		jobs->kept[i] = jobs->with_last[i] = NULL;
	}
	tb_free(jobs->tb);
	jobs->tb = NULL;
}
