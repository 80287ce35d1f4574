/* What reports about jobs have kept for the next one. */
#include "cli/analyze/hta.h"
#include "cli/analyze/tb.h"

void jobs_release(struct jobs *jobs)
{
	hta_free(jobs->kept[0]);
	hta_free(jobs->kept[1]);
	tb_free(jobs->tb);
	jobs->kept[0] = jobs->kept[1] = NULL;
	jobs->tb = NULL;
}
