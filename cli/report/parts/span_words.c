#include "cli/report/parts/span_words.h"

#include "cli/model/spans.h"
#include "cli/model/steps/steps.h"
#include "cli/report/parts/stats.h"
#include "cli/ui/json_out.h"

#include <stdio.h>

uint32_t selected_steps(struct model *m, uint32_t process)
{
	const struct steps *s = model_steps(m);
	uint32_t n = 0;

	for (size_t i = 0; s && i < s->n; i++)
		n += s->list[i].selected && (!process || s->list[i].process == process) && step_was_kept(s, &s->list[i]);
	return n;
}

const char *span_words(struct model *m, int64_t length, uint32_t windows, uint32_t process, char text[SPAN_WORDS])
{
	uint32_t steps = model_steps_selected(m) ? selected_steps(m, process) : 0;
	char time[32];

	text_time(time, length);
	if (model_steps_selected(m))
		snprintf(text, SPAN_WORDS, "%s of %u selected step%s", time, steps, steps == 1 ? "" : "s");
	else if (windows)
		snprintf(text, SPAN_WORDS, "%s in %u recorded window%s", time, windows, windows == 1 ? "" : "s");
	else
		snprintf(text, SPAN_WORDS, "the %s from the first to the last GPU row", time);
	return text;
}

const char *span_words_of(struct model *m, uint32_t process, const struct spans *span, char text[SPAN_WORDS])
{
	size_t n;
	const struct window *windows = model_windows(m, &n);
	uint32_t of = 0;

	for (size_t i = 0; windows && i < n; i++)
		of += windows[i].process == process && windows[i].selected;
	return span_words(m, spans_length(span), of, process, text);
}
