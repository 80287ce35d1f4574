/*
 * Pids that are texts.
 *
 * Serving frameworks merge the files of several ranks into one and put a label before each pid: "[TP00] 4711" for the host,
 * "[TP00] 0" for the GPU.  The ranks use the same correlation ids, so the label tells which process a GPU row belongs to.
 */
#include <string.h>

#include "cli/import/rows/kineto.h"

/* The label before the number of a pid, with its blank, as a text; 0: none. */
static uint32_t label_of(struct kineto *k, const struct event *e)
{
	const struct json_value *v = &e->pid.value;
	struct json_value label = *v;

	if (e->pid.is_whole || v->type != JSON_TEXT)
		return 0;
	while (label.n && label.at[label.n - 1] >= '0' && label.at[label.n - 1] <= '9')
		label.n--;
	return label.n && label.n < v->n && label.at[label.n - 1] == ' ' ? texts_value(&k->texts, &label) : 0;
}

int label_put(struct kineto *k, const struct event *e, uint32_t host)
{
	uint32_t label = label_of(k, e);
	bool new;

	if (e->pid.value.type == JSON_TEXT && !k->hosts[host].name)
		k->hosts[host].name = texts_value(&k->texts, &e->pid.value);
	return !label || map_put(&k->labels, label, host, &new) ? 0 : -1;
}

uint32_t label_host(struct kineto *k, const struct event *e)
{
	uint32_t label = k->labels.n ? label_of(k, e) : 0, host = label ? map_get(&k->labels, label) : MAP_NONE;

	return host == MAP_NONE ? NO_HOST : host;
}

static bool is_text(const struct json_value *v, const char *word)
{
	return v->type == JSON_TEXT && v->n == strlen(word) && memcmp(v->at, word, v->n) == 0;
}

enum event_class label_class(const struct kineto *k, const struct event *e)
{
	const char *name = e->name ? kineto_text(k, e->name) : "";

	if (e->pid.is_whole || e->phase != 'X')
		return CLASS_OTHER_HOST;
	if (is_text(&e->pid.value, "CUDA functions"))
		return strncmp(name, "Memcpy", 6) == 0 ? CLASS_MEMCPY : strncmp(name, "Memset", 6) == 0 ? CLASS_MEMSET : CLASS_KERNEL;
	return is_text(&e->pid.value, "CPU functions") ? CLASS_OP : CLASS_OTHER_HOST;
}
