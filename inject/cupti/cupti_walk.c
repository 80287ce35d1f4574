#include "inject/cupti/cupti_walk.h"

/*
 * Binary search for the end of the last record.  The library answers "no more" if the valid part is said to end at the record's end or
 * earlier, and something else if it is said to end later.
 */
uint8_t *cupti_walk_record_end(const struct cupti_walk *w, uint8_t *record)
{
	uint8_t *low = record, *high = w->end;

	if (w->result == RESULT_MAX_LIMIT || w->result == WALK_STRAYED)
		return w->end;
	while (high - low > 1) {
		uint8_t *middle = low + (high - low) / 2, *next = record;

		if (tracer.fn.ActivityGetNextRecord(w->buffer, (size_t)(middle - w->buffer), &next) == RESULT_MAX_LIMIT)
			low = middle;
		else
			high = middle;
	}
	return low > record ? low : w->end;
}

bool cupti_walk_lost(const struct cupti_walk *w)
{
	if (w->result == WALK_STRAYED)
		return true;
	if (w->result == RESULT_OK || w->result == RESULT_MAX_LIMIT || w->end - w->rest < 8)
		return false;
	if (w->rest == w->buffer)
		return true;
	for (const uint8_t *p = w->rest; p < w->end; p++)
		if (*p)
			return true;
	return false;
}
