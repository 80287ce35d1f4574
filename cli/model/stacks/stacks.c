#include "cli/model/stacks/stacks_inside.h"

#include "cli/model/process.h"
#include "trace/rules/pythonlib.h"

#include <stdio.h>

/* ---- making ---- */

static int take_stack(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n)
{
	const struct stack_row *r = row;
	struct stacks_derived *s = m->stacks;
	struct call_stack stack = { .process = part->process, .id = r->id, .flags = r->flags,
				    .first = (uint32_t)(s->raw.len / sizeof(struct stack_frame)),
				    .n = (uint32_t)(n / sizeof(struct stack_frame)) };

	if (!map_set(&s->stack_of, (uint64_t)part->process << 32 | r->id, (uint32_t)(s->list.len / sizeof stack)))
		return -1;
	buf_put(&s->list, &stack, sizeof stack);
	buf_put(&s->raw, tail, stack.n * sizeof(struct stack_frame));
	return s->list.oom || s->raw.oom ? -1 : 0;
}

static int resolve_all(struct model *m, struct stacks_derived *s)
{
	struct call_stack *list = (struct call_stack *)s->list.data;

	for (size_t i = 0, n = s->list.len / sizeof *list; i < n; i++) {
		uint32_t first = list[i].first, frames = list[i].n;

		list[i].first = (uint32_t)(s->frames.len / sizeof(uint32_t));
		for (uint32_t f = 0; f < frames; f++) {
			struct stack_frame frame;

			memcpy(&frame, s->raw.data + (size_t)(first + f) * sizeof frame, sizeof frame);
			if (stacks_resolve(m, s, list[i].process, &frame) < 0)
				return -1;
		}
		list[i].n = (uint32_t)(s->frames.len / sizeof(uint32_t)) - list[i].first;
	}
	buf_free(&s->raw);
	return 0;
}

static void stacks_free(struct stacks_derived *s)
{
	struct text_of *sources;

	if (!s)
		return;
	sources = (struct text_of *)s->sources.data;
	for (size_t i = 0, n = s->sources.len / sizeof *sources; i < n; i++)
		free(sources[i].lines);
	buf_free(&s->functions);
	buf_free(&s->places);
	buf_free(&s->frames);
	buf_free(&s->list);
	buf_free(&s->raw);
	buf_free(&s->images);
	buf_free(&s->codes);
	buf_free(&s->symbols);
	buf_free(&s->sources);
	map_release(&s->function_of.pairs);
	map_release(&s->function_of.all);
	map_release(&s->place_of.pairs);
	map_release(&s->place_of.all);
	map_release(&s->stack_of);
	map_release(&s->code_of);
	map_release(&s->image_of);
	map_release(&s->symbol_image);
	map_release(&s->symbol_of);
	map_release(&s->source_of);
	free(s);
}

static void stacks_release(struct model *m, bool rows_only)
{
	if (rows_only)
		return;
	stacks_free(m->stacks);
	m->stacks = NULL;
}

const struct stacks *model_stacks(struct model *m)
{
	struct stacks_derived *s = m->stacks;

	if (s)
		return &s->public;
	m->stacks = s = calloc(1, sizeof *s);
	if (!s || stacks_load_defs(m) < 0 || stacks_each_row(m, ROW_stack, take_stack) < 0 || resolve_all(m, s) < 0) {
		stacks_free(s);
		m->stacks = NULL;
		return NULL;
	}
	m->release[FROM_STACKS] = stacks_release;
	s->public = (struct stacks){
		.functions = (const struct function *)s->functions.data, .places = (const struct place *)s->places.data,
		.frames = (const uint32_t *)s->frames.data, .list = (const struct call_stack *)s->list.data,
		.n_functions = s->functions.len / sizeof(struct function),
		.n_places = s->places.len / sizeof(struct place), .n = s->list.len / sizeof(struct call_stack),
	};
	return &s->public;
}

uint32_t model_stack(const struct model *m, uint32_t process, uint32_t id)
{
	uint32_t at = id ? map_get(&m->stacks->stack_of, (uint64_t)process << 32 | id) : MAP_NONE;

	return at == MAP_NONE ? NO_STACK : at;
}

/* ---- views ---- */

bool file_is_users(const char *path)
{
	return *path && *path != '<' && !pythonlib_has(path, strlen(path));
}

static bool has_line(const struct place *p)
{
	return p->file != STRING_NONE && p->line;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/*
 * Whether a function belongs to CUDA or NVTX and not to the caller: by its file, or by its name if it was compiled into the program (inline
 * functions of CUDA's and NVTX's headers, the static CUDA runtime, nvcc's launch stubs).
 */
static bool is_called(const char *image, const char *name)
{
	static const char *const files[] = { "libcuda.so", "libcudart.so", "libnvToolsExt.so" };
	static const char *const names[] = { "cuda", "__cuda", "__device_stub__", "nvtx" };
	const char *slash = strrchr(image, '/'), *file = slash ? slash + 1 : image;

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (begins(file, files[i]))
			return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (begins(name, names[i]))
			return true;
	return begins(name, "cu") && name[2] >= 'A' && name[2] <= 'Z';
}

uint32_t stack_site(struct model *m, uint32_t stack)
{
	const struct stacks *s = &m->stacks->public;
	uint32_t python = NO_PLACE, native = NO_PLACE, outside = NO_PLACE;

	if (stack == NO_STACK)
		return NO_PLACE;
	for (uint32_t i = 0; i < s->list[stack].n; i++) {
		uint32_t at = s->frames[s->list[stack].first + i];
		const struct place *p = &s->places[at];
		bool is_python = s->functions[p->function].python;

		if (is_python && file_is_users(model_string(m, p->file)))
			return at;
		if (is_python && python == NO_PLACE)
			python = at;
		if (is_python || is_called(model_string(m, s->functions[p->function].image), model_string(m, s->functions[p->function].name)))
			continue;
		if (native == NO_PLACE && has_line(p))
			native = at;
		if (outside == NO_PLACE)
			outside = at;
	}
	return python != NO_PLACE ? python : native != NO_PLACE ? native : outside;
}

size_t stack_frames(struct model *m, uint32_t stack, enum stack_view view, size_t most, uint32_t *out)
{
	const struct stacks *s = &m->stacks->public;
	size_t n = 0;

	if (stack == NO_STACK)
		return 0;
	if (view == VIEW_LINE) {
		out[0] = stack_site(m, stack);
		return out[0] != NO_PLACE;
	}
	for (uint32_t i = 0; i < s->list[stack].n && n < most; i++) {
		uint32_t at = s->frames[s->list[stack].first + i];

		if (view == VIEW_MIXED || s->functions[s->places[at].function].python == (view == VIEW_PYTHON))
			out[n++] = at;
	}
	return n;
}

size_t stacks_deepest(const struct stacks *s)
{
	size_t deepest = 1;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].n > deepest)
			deepest = s->list[i].n;
	return deepest;
}

/* ---- words ---- */

static const char *without_prefix(const char *path, const char *cwd)
{
	static const char *const roots[] = { "/site-packages/", "/dist-packages/" };
	size_t n = cwd ? strlen(cwd) : 0;

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		const char *at = strstr(path, roots[i]);

		if (at)
			return at + strlen(roots[i]);
	}
	if (n > 1 && strncmp(path, cwd, n) == 0 && path[n] == '/' && path[n + 1])
		return path + n + 1;
	return path;
}

const char *file_short(struct model *m, uint32_t file)
{
	return without_prefix(model_string(m, file), model_attribute(m, "cwd"));
}

void place_text(struct model *m, const struct place *p, char *text, size_t size)
{
	const struct function *f = &m->stacks->public.functions[p->function];
	const char *name = model_string(m, f->name), *image, *slash;

	if (p->file != STRING_NONE && p->line)
		snprintf(text, size, "%s (%s:%u)", name, file_short(m, p->file), p->line);
	else if (p->file != STRING_NONE)
		snprintf(text, size, "%s (%s)", name, file_short(m, p->file));
	else if (f->named && f->image != STRING_NONE) {
		image = model_string(m, f->image);
		slash = strrchr(image, '/');
		snprintf(text, size, "%s (%s)", name, slash ? slash + 1 : image);
	} else
		snprintf(text, size, "%s", name);
}

/* ---- sources ---- */

static int take_source(struct model *m, const struct part *part, const void *row, const uint8_t *tail, size_t n)
{
	const struct source_row *r = row;
	struct stacks_derived *s = m->stacks;
	struct text_of source = { .text = strings_keep(m, tail ? (const char *)tail : "", n), .n = n };

	if (!source.text || !map_set(&s->source_of, string_id(m, part->process, r->name),
				     (uint32_t)(s->sources.len / sizeof source)))
		return -1;
	buf_put(&s->sources, &source, sizeof source);
	return s->sources.oom ? -1 : 0;
}

static int find_lines(struct text_of *t)
{
	size_t n = 1;

	if (t->n > UINT32_MAX)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		n += t->text[i] == '\n';
	t->lines = malloc(n * sizeof *t->lines);
	if (!t->lines)
		return -1;
	t->lines[t->n_lines++] = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->text[i] == '\n')
			t->lines[t->n_lines++] = (uint32_t)i + 1;
	return 0;
}

const char *model_source_line(struct model *m, uint32_t file, uint32_t line, size_t *n)
{
	struct stacks_derived *s = model_stacks(m) ? m->stacks : NULL;
	struct text_of *t;
	uint32_t at;

	if (s && !s->sources_read) {
		s->sources_read = true;
		if (stacks_each_row(m, ROW_source, take_source) < 0)
			return NULL;
	}
	at = s ? map_get(&s->source_of, file) : MAP_NONE;
	if (at == MAP_NONE || !line)
		return NULL;
	t = (struct text_of *)s->sources.data + at;
	if (!t->lines && find_lines(t) < 0)
		return NULL;
	if (line > t->n_lines)
		return NULL;
	*n = (line < t->n_lines ? t->lines[line] - 1 : t->n) - t->lines[line - 1];
	return t->text + t->lines[line - 1];
}
