/* Numbers of an event's texts. */
#include "cli/import/rows/kineto.h"

/* Words in tokens of the list are looked up once; most words are. */
uint32_t event_word(struct kineto *k, uint32_t *of_tokens, const struct word *w)
{
	uint32_t *known = &of_tokens[w->token];

	if (!w->token)
		return texts_value(&k->texts, &w->v);
	if (!*known)
		*known = texts_value(&k->texts, &w->v);
	return *known;
}

/* Whether the event has no unescaped quotes.  They are counted each time, so texts with them must not be recognized by bytes. */
static bool is_clean(const struct kineto *k)
{
	return k->odd_quotes == k->scan.odd_quotes;
}

uint32_t event_name(struct kineto *k, const struct event *e)
{
	const struct json_value *v = &e->name_value;
	uint32_t text;

	if (e->name || !v->n)
		return e->name;
	text = texts_value(&k->texts, v);
	if (text && !v->escaped && is_clean(k))
		texts_remember(k->texts.names, v->at, kineto_text(k, text), v->n, text);
	return text;
}

uint32_t event_list(struct kineto *k, const struct json_value *v)
{
	uint32_t raw, text = texts_json(&k->texts, v, &raw);

	if (text && is_clean(k))
		texts_remember(k->texts.lists, v->at, kineto_text(k, raw), v->n, text);
	return text;
}

uint32_t event_value(struct kineto *k, const struct event *e, enum arg_place place)
{
	const struct json_value *v = kineto_value(e, place);

	if (e->known & ~e->plain & BIT(place))
		return (uint32_t)e->whole[place];
	return !v ? 0 : v->type == JSON_LIST ? event_list(k, v) : v->type == JSON_TEXT ? texts_value(&k->texts, v) : 0;
}
