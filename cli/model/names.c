#include "cli/model/names.h"

#include "cli/model/inside.h"
#include "cli/symbols/demangle.h"
#include "trace/health.h"

/* ---- parts of C++ names ---- */

/* Length of an operator's name at p, e.g. "operator()" or "operator<<", whose brackets do not enclose anything. */
static size_t operator_length(const char *p)
{
	return 8 + (p[8] == '(' && p[9] == ')' ? 2 : strspn(p + 8, "<>="));
}

/* End of the qualified name: begin of its parameter list, or the end of the text.  Skips bracketed parts. */
static const char *name_end(const char *name)
{
	int depth = 0;

	for (const char *p = name; *p; p++) {
		if (strncmp(p, "(anonymous namespace)", 21) == 0)
			p += 20;
		else if (strncmp(p, "operator", 8) == 0)
			p += operator_length(p) - 1;
		else if (*p == '(' && depth == 0)
			return p;
		else if (*p == '<' || *p == '{' || *p == '[' || *p == '(')
			depth++;
		else if (*p == '>' || *p == '}' || *p == ']' || *p == ')')
			depth -= depth > 0;
	}
	return name + strlen(name);
}

static void copy_part(const char *from, const char *end, char *out, size_t size)
{
	size_t n = (size_t)(end - from) < size ? (size_t)(end - from) : size - 1;

	memcpy(out, from, n);
	out[n] = '\0';
}

/* Parts of a qualified name. */
struct parts {
	const char *name;               /* begin, behind the return type */
	const char *last;               /* its last component */
	const char *arguments;          /* template arguments of the last component, or the end */
	const char *end;                /* of the qualified name */
};

static struct parts take_apart(const char *demangled)
{
	struct parts s = { demangled, demangled, NULL, name_end(demangled) };
	int depth = 0;

	for (const char *p = demangled; p < s.end; p++) {
		if (strncmp(p, "(anonymous namespace)", 21) == 0)
			p += 20;
		else if (strncmp(p, "operator", 8) == 0)
			p += operator_length(p) - 1;
		else if (*p == '<' && depth++ == 0)
			s.arguments = p;
		else if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '>' || *p == '}' || *p == ']')
			depth -= depth > 0;
		else if (depth == 0 && (*p == ' ' || *p == ':') && p + 1 < s.end) {
			s.last = p + 1;
			s.arguments = NULL;
			if (*p == ' ')
				s.name = p + 1;
		}
	}
	if (!s.arguments)
		s.arguments = s.end;
	return s;
}

void name_base(const char *demangled, char *out, size_t size)
{
	struct parts s = take_apart(demangled);

	copy_part(s.last, s.arguments, out, size);
}

void name_plain(const char *demangled, char *out, size_t size)
{
	struct parts s = take_apart(demangled);

	copy_part(s.name, s.end, out, size);
}

bool names_can_demangle(void)
{
	return demangle_knows_cpp();
}

/* ---- API names ---- */

/* Length of an API name without its version. */
static size_t api_length(const char *name, bool any)
{
	size_t n = strlen(name), digits = 0;

	while (digits < n && name[n - digits - 1] >= '0' && name[n - digits - 1] <= '9')
		digits++;
	if (digits < 4 || (digits > 4 && !any) || n - digits < 3 || name[n - digits - 1] != 'v' ||
	    name[n - digits - 2] != '_')
		return n;
	return n - digits - 2;
}

static uint32_t make_name(struct model *m, uint32_t id, enum name_style style)
{
	const char *text = model_string(m, id);
	char *full = NULL, base[2048];
	uint32_t made = id;

	switch (style) {
	case NAME_DEMANGLED:
		full = demangle(text);
		made = full ? model_intern(m, full) : id;
		break;
	case NAME_BASE:
	case NAME_PLAIN:
		full = demangle(text);
		(style == NAME_BASE ? name_base : name_plain)(full ? full : text, base, sizeof base);
		made = model_intern(m, base);
		break;
	case NAME_API_NSYS:
	case NAME_API_PLAIN:
		text = strings_keep(m, text, api_length(text, style == NAME_API_PLAIN));
		made = text ? model_intern(m, text) : MAP_NONE;
		break;
	default:
		break;
	}
	free(full);
	return made == MAP_NONE ? id : made;
}

uint32_t model_name(struct model *m, uint32_t id, enum name_style style)
{
	uint32_t made;

	if (style >= NAME_STYLES)
		return id;
	made = map_get(&m->names[style], id);
	if (made == MAP_NONE) {
		made = make_name(m, id, style);
		map_set(&m->names[style], id, made);
	}
	return made;
}

/* ---- numbers ---- */

#define WORD(table, i) ((i) < sizeof(table) / sizeof *(table) ? (table)[i] : NULL)

const char *memcpy_words(unsigned kind)
{
	static const char *const words[] = {
		[1] = "Host-to-Device", "Device-to-Host",  "Host-to-Array",    "Array-to-Host", "Array-to-Array",
		"Array-to-Device",      "Device-to-Array", "Device-to-Device", "Host-to-Host",  "Peer-to-Peer",
	};

	return WORD(words, kind);
}

const char *memcpy_short(unsigned kind)
{
	static const char *const words[] = {
		[1] = "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP",
	};

	return WORD(words, kind);
}

const char *unified_words(unsigned kind)
{
	static const char *const words[] = {
		[1] = "Unified Host-to-Device", [2] = "Unified Device-to-Host", [8] = "Unified Device-to-Device",
	};

	return WORD(words, kind);
}

const char *memory_words(unsigned kind)
{
	static const char *const words[] = {
		[1] = "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static",
	};

	return WORD(words, kind);
}

const char *sync_words(unsigned type)
{
	static const char *const words[] = { [1] = "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync" };

	return WORD(words, type);
}

const char *overhead_words(unsigned kind)
{
	static const char *const words[] = {
		[1] = "buffer flush",  "instrumentation",         "resource", "module loading", "lazy function loading",
		"command buffer full", "activity buffer request", "UVM init",
	};

	return kind == 1 ? "driver compiler" : kind & 0xffff ? NULL : WORD(words, kind >> 16);
}

const char *cost_words(unsigned place)
{
#define X(name, text) [COST_##name] = text,
	static const char *const words[] = { COST_PLACES(X) };
#undef X
	return WORD(words, place);
}

static const struct reason {
	const char *name, *what, *next;
} reasons[HEALTH_REASONS] = {
#define REASON(id, name, what, next) [id] = { #name, what, next },
#include "trace/health.def"
#undef REASON
};

const char *health_name(unsigned reason)
{
	return reason < HEALTH_REASONS ? reasons[reason].name : NULL;
}

const char *health_what(unsigned reason)
{
	return reason < HEALTH_REASONS ? reasons[reason].what : NULL;
}

const char *health_next(unsigned reason)
{
	return reason < HEALTH_REASONS ? reasons[reason].next : NULL;
}

const char *drop_words(unsigned where)
{
	static const char *const words[] = { "in the program (arena full)", "in the collector (file limit or no space)",
					     "in CUPTI" };

	return WORD(words, where);
}

const char *kind_words(unsigned kind)
{
	switch (kind) {
	case ROW_range:    return "NVTX ranges";
	case ROW_mark:     return "NVTX marks";
	case ROW_api:      return "API calls";
	case ROW_kernel:   return "kernels";
	case ROW_memcpy:   return "copies";
	case ROW_memset:   return "memory sets";
	case ROW_sync:     return "synchronisations";
	case ROW_overhead: return "overhead records";
	case ROW_graph:    return "graph launches";
	case ROW_event_record: return "records of CUDA events";
	case ROW_event_elapsed: return "times between CUDA events";
	case ROW_event_wait: return "waits for CUDA events";
	case ROW_jit:      return "compilations";
	case ROW_module:   return "loads of modules";
	case ROW_memory:   return "allocations and releases";
	case ROW_mempool: return "memory pool records";
	case ROW_unified: return "events of unified memory";
	default:           return record_by_kind(kind) ? record_by_kind(kind)->name : "rows of an unknown kind";
	}
}
