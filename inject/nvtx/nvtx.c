#include "inject/nvtx/nvtx.h"

#include <string.h>

#include "inject/capture/watch.h"
#include "inject/capture/windows.h"
#include "inject/core/intern.h"
#include "inject/core/scratch.h"
#include "inject/nvtx/nvtx_chain.h"
#include "inject/nvtx/nvtx_hooks.h"
#include "inject/nvtx/nvtx_payload.h"
#include "inject/ranges/names.h"
#include "inject/ranges/ranges.h"

#define NOT_TRACKED (-2)        /* NVTX_NO_PUSH_POP_TRACKING */

uint32_t nvtx_message(struct stream *s, int32_t type, union nvtx_text message)
{
	switch (type) {
	case NVTX_TEXT:
		return intern_text(s, message.text);
	case NVTX_WIDE:
		return intern_wide(s, message.wide);
	case NVTX_REGISTERED:
		return names_string_id(s, message.registered);
	default:
		return 0;
	}
}

#define WIDE_MAX 4096u          /* longest wide string in bytes of UTF-8; longer ones are cut */

/* Returns the WATCHED_ bits of a name: capture range, steps, stack wanted.  0 for most names; no look-up when none is watched. */
static uint32_t watched(uint32_t id, const void *domain, int32_t type, union nvtx_text message)
{
	const char *text;
	uint32_t tag;
	char *narrow;
	size_t n;

	if (likely(!(gate_now() & GATE_WATCH)) || !id)
		return 0;
	switch (type) {
	case NVTX_TEXT:
		return watch_name(id, message.text, strnlen(message.text, INTERN_MAX), domain);
	case NVTX_WIDE:
		narrow = scratch_push(WIDE_MAX);
		tag = narrow ? watch_name(id, narrow, utf8_of(narrow, WIDE_MAX, message.wide), domain) : 0;
		scratch_pop(narrow);
		return tag;
	case NVTX_REGISTERED:
		text = names_string_text(message.registered, &n);
		return watch_name(id, text, n, domain);
	default:
		return 0;
	}
}

/*
 * stream_enter() for a call in this domain.  NULL when the domain is not recorded: with -t cublas and the like but without -t nvtx, only
 * the domains of those libraries are.  Leave with stream_leave().
 */
static inline struct stream *enter(const void *domain)
{
	struct stream *s = stream_enter();

	if (s && unlikely(!guest->config.trace_nvtx) && !names_domain_of_library(domain)) {
		stream_leave(s);
		return NULL;
	}
	return s;
}

/* Skips the look-up for the default domain, which most calls use. */
static inline uint32_t domain_of(struct stream *s, const void *domain)
{
	return likely(!domain) ? 0 : names_domain_id(s, domain);
}

/* True if the event has payloads of the payload extension: an array of `reserved` payloads at address `payload`. */
static inline bool is_extended(const struct nvtx_attributes *a)
{
	return a && unlikely(a->payload_type == NVTX_PAYLOAD_EXTENDED) && a->size >= sizeof *a && a->reserved > 0 &&
	       a->payload;
}

static const struct nvtx_payload *payloads_of(const struct nvtx_attributes *a)
{
	return (const struct nvtx_payload *)(uintptr_t)a->payload;
}

static struct nvtx_attributes attributes_of(const struct nvtx_payload *data, size_t n)
{
	return (struct nvtx_attributes){ .size = sizeof(struct nvtx_attributes), .payload_type = NVTX_PAYLOAD_EXTENDED,
					 .reserved = (int32_t)n, .payload = (uint64_t)(uintptr_t)data };
}

static struct range_what what_of(struct stream *s, const void *domain, const struct nvtx_attributes *a)
{
	struct range_what w = { .domain = domain_of(s, domain) };

	if (!a || a->size < sizeof *a)
		return w;
	w.name = nvtx_message(s, a->message_type, a->message);
	w.watched = watched(w.name, domain, a->message_type, a->message);
	w.category = a->category;
	w.color = a->color_type == NVTX_IS_ARGB ? a->color : 0;
	if (a->payload_type > 0 && a->payload_type <= NVTX_PAYLOAD_FLOAT) {
		w.payload_type = (uint32_t)a->payload_type;
		w.payload = a->payload;
	} else if (is_extended(a) && !w.name) {
		w.name = payload_name(s, domain, payloads_of(a), (size_t)a->reserved);
	}
	return w;
}

/* ---- push and pop ---- */

static int domain_push_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct stream *s = enter(domain);
	struct range_what w;
	int depth;

	if (!s)
		return NOT_TRACKED;
	w = what_of(s, domain, a);
	depth = ranges_push(s, &w);
	if (is_extended(a) && depth >= 0)
		payload_rows(s, domain, PAYLOAD_BEGIN, stream_range(s), clock_now(), payloads_of(a),
			(size_t)a->reserved);
	stream_leave(s);
	return depth;
}

static int push_ex(const struct nvtx_attributes *a)
{
	return domain_push_ex(NULL, a);
}

/* Fast path: the most frequent call, without attributes. */
static int push_a(const char *text)
{
	struct stream *s = enter(NULL);
	struct range_what w = { 0 };
	int depth;

	if (!s)
		return NOT_TRACKED;
	w.name = intern_text(s, text);
	w.watched = watched(w.name, NULL, NVTX_TEXT, (union nvtx_text){ .text = text });
	depth = ranges_push(s, &w);
	stream_leave(s);
	return depth;
}

static int push_w(const wchar_t *text)
{
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_WIDE, .message.wide = text };

	return domain_push_ex(NULL, &a);
}

static int domain_pop(const void *domain)
{
	struct stream *s = enter(domain);
	int depth;

	if (!s)
		return NOT_TRACKED;
	depth = ranges_pop(s, domain_of(s, domain));
	stream_leave(s);
	return depth;
}

static int pop(void)
{
	return domain_pop(NULL);
}

/* ---- start and end ---- */

static uint64_t domain_start_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct stream *s = enter(domain);
	struct range_what w;
	uint64_t handle;

	if (!s)
		return 0;
	w = what_of(s, domain, a);
	handle = ranges_start(s, &w);
	if (is_extended(a) && handle)
		payload_rows(s, domain, PAYLOAD_BEGIN, ranges_started(handle), clock_now(), payloads_of(a),
			(size_t)a->reserved);
	stream_leave(s);
	return handle;
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *text)
{
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_TEXT, .message.text = text };

	return domain_start_ex(NULL, &a);
}

static uint64_t start_w(const wchar_t *text)
{
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_WIDE, .message.wide = text };

	return domain_start_ex(NULL, &a);
}

static void end(uint64_t handle)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	ranges_end(s, handle);
	stream_leave(s);
}

static void domain_end(const void *domain, uint64_t handle)
{
	(void)domain;           /* the range is found by its handle alone */
	end(handle);
}

/* ---- marks ---- */

static void domain_mark_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct stream *s = enter(domain);
	struct range_what w;
	struct mark_row *row;
	int64_t now;

	if (!s)
		return;
	w = what_of(s, domain, a);
	if (unlikely(w.watched & ~WATCHED_STACK))
		windows_mark(s, w.watched, w.name);
	now = clock_now();
	if (capture_nvtx() && (row = stream_reserve(s, ROW_mark, sizeof *row))) {
		*row = (struct mark_row){
			.start = now,
			.payload = w.payload,
			.range = stream_range(s),
			.thread = s->thread,
			.domain = w.domain,
			.category = w.category,
			.name = w.name,
			.color = w.color,
			.payload_type = w.payload_type,
		};
		stream_publish(s, row);
	}
	if (is_extended(a))
		payload_rows(s, domain, PAYLOAD_MARK, 0, now, payloads_of(a), (size_t)a->reserved);
	stream_leave(s);
}

static void mark_ex(const struct nvtx_attributes *a)
{
	domain_mark_ex(NULL, a);
}

static void mark_a(const char *text)
{
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_TEXT, .message.text = text };

	domain_mark_ex(NULL, &a);
}

static void mark_w(const wchar_t *text)
{
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_WIDE, .message.wide = text };

	domain_mark_ex(NULL, &a);
}

/* ---- names ---- */

static void name_category(const void *domain, uint32_t category, const char *text, const wchar_t *wide)
{
	struct stream *s = stream_enter();
	struct category_row *row;
	uint32_t name, id;

	if (!s)
		return;
	id = domain_of(s, domain);
	name = wide ? intern_wide(s, wide) : intern_text(s, text);
	row = stream_reserve(s, ROW_category, sizeof *row);
	if (row) {
		*row = (struct category_row){ .domain = id, .id = category, .name = name };
		stream_publish(s, row);
	}
	stream_leave(s);
}

static void category_a(uint32_t category, const char *text)
{
	name_category(NULL, category, text, NULL);
}

static void category_w(uint32_t category, const wchar_t *text)
{
	name_category(NULL, category, NULL, text);
}

static void domain_category_a(const void *domain, uint32_t category, const char *text)
{
	name_category(domain, category, text, NULL);
}

static void domain_category_w(const void *domain, uint32_t category, const wchar_t *text)
{
	name_category(domain, category, NULL, text);
}

static void thread_a(uint32_t tid, const char *text)
{
	struct stream *s = stream_enter();

	if (!s)
		return;
	if (text)
		stream_name_thread(s, tid, text, strnlen(text, 256));
	stream_leave(s);
}

static void thread_w(uint32_t tid, const wchar_t *text)
{
	struct stream *s = stream_enter();
	char *narrow;

	if (!s)
		return;
	narrow = scratch_push(256);
	if (narrow)
		stream_name_thread(s, tid, narrow, text ? utf8_of(narrow, 256, text) : 0);
	scratch_pop(narrow);
	stream_leave(s);
}

/* Returns the handle of a domain or a registered string.  Equal strings share one handle, also across domains. */
static const void *new_handle(const void *(*make)(struct stream *, const char *, size_t), const char *text, size_t n)
{
	struct stream *s = stream_enter();
	const void *handle;

	if (!s)
		return NULL;
	handle = make(s, text, n);
	stream_leave(s);
	return handle;
}

static const void *new_wide_handle(const void *(*make)(struct stream *, const char *, size_t), const wchar_t *text)
{
	struct stream *s = stream_enter();
	const void *handle;
	char *narrow;

	if (!s)
		return NULL;
	narrow = scratch_push(WIDE_MAX);
	handle = narrow ? make(s, narrow, utf8_of(narrow, WIDE_MAX, text)) : NULL;
	scratch_pop(narrow);
	stream_leave(s);
	return handle;
}

static const void *register_a(const void *domain, const char *text)
{
	(void)domain;
	return text ? new_handle(names_string, text, strnlen(text, INTERN_MAX)) : NULL;
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	(void)domain;
	return text ? new_wide_handle(names_string, text) : NULL;
}

static const void *create_a(const char *text)
{
	return text ? new_handle(names_domain, text, strnlen(text, INTERN_MAX)) : NULL;
}

static const void *create_w(const wchar_t *text)
{
	return text ? new_wide_handle(names_domain, text) : NULL;
}

static void destroy(const void *domain)
{
	(void)domain;           /* its ranges may still be open, and another module may use the same domain */
}

/* ---- payload extension ---- */

static uint64_t schema_register(const void *domain, const struct nvtx_schema *schema)
{
	struct stream *s = schema ? stream_enter() : NULL;
	uint64_t id;

	if (!s)
		return 0;
	id = payload_schema(s, domain, schema);
	stream_leave(s);
	return id;
}

static uint64_t enum_register(const void *domain, const struct nvtx_enum *e)
{
	struct stream *s = e ? stream_enter() : NULL;
	uint64_t id;

	if (!s)
		return 0;
	id = payload_enum(s, domain, e);
	stream_leave(s);
	return id;
}

static void mark_payload(const void *domain, const struct nvtx_payload *data, size_t n)
{
	struct nvtx_attributes a = attributes_of(data, n);

	domain_mark_ex(domain, &a);
}

static int push_payload(const void *domain, const struct nvtx_payload *data, size_t n)
{
	struct nvtx_attributes a = attributes_of(data, n);

	return domain_push_ex(domain, &a);
}

static int pop_payload(const void *domain, const struct nvtx_payload *data, size_t n)
{
	struct stream *s = enter(domain);
	uint32_t id;
	uint64_t range;
	int depth;

	if (!s)
		return NOT_TRACKED;
	id = domain_of(s, domain);
	range = ranges_innermost(s, id);
	if (range && data)
		payload_rows(s, domain, PAYLOAD_END, range, clock_now(), data, n);
	depth = ranges_pop(s, id);
	stream_leave(s);
	return depth;
}

static uint64_t start_payload(const void *domain, const struct nvtx_payload *data, size_t n)
{
	struct nvtx_attributes a = attributes_of(data, n);

	return domain_start_ex(domain, &a);
}

static void end_payload(const void *domain, uint64_t handle, const struct nvtx_payload *data, size_t n)
{
	struct stream *s = stream_enter();
	uint64_t range;

	if (!s)
		return;
	range = ranges_started(handle);
	if (range && data)
		payload_rows(s, domain, PAYLOAD_END, range, clock_now(), data, n);
	ranges_end(s, handle);
	stream_leave(s);
}

static uint8_t is_enabled(const void *domain)
{
	(void)domain;
	return 1;
}

/* ---- tables ---- */

static const struct nvtx_hook core[] = {
	NVTX_HOOK(CORE, MarkEx, mark_ex), NVTX_HOOK(CORE, MarkA, mark_a), NVTX_HOOK(CORE, MarkW, mark_w),
	NVTX_HOOK(CORE, RangeStartEx, start_ex), NVTX_HOOK(CORE, RangeStartA, start_a),
	NVTX_HOOK(CORE, RangeStartW, start_w), NVTX_HOOK(CORE, RangeEnd, end),
	NVTX_HOOK(CORE, RangePushEx, push_ex), NVTX_HOOK(CORE, RangePushA, push_a),
	NVTX_HOOK(CORE, RangePushW, push_w), NVTX_HOOK(CORE, RangePop, pop),
	NVTX_HOOK(CORE, NameCategoryA, category_a), NVTX_HOOK(CORE, NameCategoryW, category_w),
	NVTX_HOOK(CORE, NameOsThreadA, thread_a), NVTX_HOOK(CORE, NameOsThreadW, thread_w),
	{ .fn = NULL },
};

static const struct nvtx_hook core2[] = {
	NVTX_HOOK(CORE2, DomainMarkEx, domain_mark_ex), NVTX_HOOK(CORE2, DomainRangeStartEx, domain_start_ex),
	NVTX_HOOK(CORE2, DomainRangeEnd, domain_end),
	NVTX_HOOK(CORE2, DomainRangePushEx, domain_push_ex), NVTX_HOOK(CORE2, DomainRangePop, domain_pop),
	NVTX_HOOK(CORE2, DomainNameCategoryA, domain_category_a),
	NVTX_HOOK(CORE2, DomainNameCategoryW, domain_category_w),
	NVTX_HOOK(CORE2, DomainRegisterStringA, register_a), NVTX_HOOK(CORE2, DomainRegisterStringW, register_w),
	NVTX_HOOK(CORE2, DomainCreateA, create_a), NVTX_HOOK(CORE2, DomainCreateW, create_w),
	NVTX_HOOK(CORE2, DomainDestroy, destroy),
	{ .fn = NULL },
};

#define SLOT(id, fn) { 0, NVTX_##id, (nvtx_function)(fn) }
const struct nvtx_hook nvtx_payload_hooks[] = {
	SLOT(PayloadSchemaRegister, schema_register), SLOT(PayloadEnumRegister, enum_register),
	SLOT(MarkPayload, mark_payload), SLOT(RangePushPayload, push_payload), SLOT(RangePopPayload, pop_payload),
	SLOT(RangeStartPayload, start_payload), SLOT(RangeEndPayload, end_payload), SLOT(DomainIsEnabled, is_enabled),
	{ .fn = NULL },
};

const struct nvtx_hook *const nvtx_hook_lists[] = { core, core2, nvtx_resource_hooks, NULL };

static void fill(const struct nvtx_callbacks *callbacks, const struct nvtx_hook *hooks)
{
	nvtx_function **table = NULL;
	uint32_t module = 0;
	unsigned size = 0;

	for (size_t i = 0; hooks[i].fn; i++) {
		if (hooks[i].module != module) {
			module = hooks[i].module;
			if (!callbacks->module_table(module, &table, &size))
				table = NULL;
		}
		if (table && hooks[i].id < size && table[hooks[i].id])
			*table[hooks[i].id] = hooks[i].fn;
	}
}

int nvtx_install(const void *(*get_export_table)(uint32_t id))
{
	const struct nvtx_callbacks *callbacks = get_export_table(NVTX_EXPORT_CALLBACKS);

	/*
	 * Do not connect to the collector here: NVTX makes all other threads wait, and a child forked now would wait for ever.  NVTX's
	 * variables may be set although NVTX is not wanted, e.g. by an older gprof-run.
	 */
	if (!session_wanted() || !callbacks || callbacks->size < sizeof *callbacks || (guest->arena &&
	    !guest->config.trace_nvtx && !guest->config.trace_libraries))
		return 0;
	session_flag(PROCESS_NVTX);
	for (size_t i = 0; nvtx_hook_lists[i]; i++)
		fill(callbacks, nvtx_hook_lists[i]);
	return 1;
}

int nvtx_install_extension(const struct nvtx_ext_module *m)
{
	if (!session_wanted())
		return 0;
	if (m->size < sizeof *m || m->module != NVTX_EXT_PAYLOAD || m->n_segments < 1)
		return 1;
	for (const struct nvtx_hook *h = nvtx_payload_hooks; h->fn; h++)
		if (h->id < m->segments->slots)
			m->segments->functions[h->id] = (intptr_t)h->fn;
	return 1;
}
