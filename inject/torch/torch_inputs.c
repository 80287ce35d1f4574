#include "inject/torch/torch_inputs.h"

#include <stdbool.h>
#include <string.h>

#include "inject/core/intern.h"
#include "inject/core/text.h"
#include "inject/core/scratch.h"
#include "inject/torch/id_cache.h"
#include "inject/unwind/peek.h"

#define MAX_INPUTS  64u                 /* most inputs of a record, and tensors of a list */
#define MAX_DIMS    16u
#define SCALARS     30u                 /* longest list that gets a type, as in torch/csrc/profiler/util.cpp */
#define TEXT        4000u
#define TRIES       8u

/*
 * Tags of c10::IValue.  The tag of a list is 14 from PyTorch 2.9 on, 13 or 12 before, which have no unsigned numbers; that of a bool is
 * four below it.  If the library does not tell its version, the tag is learned from the first convolution, whose types of inputs are known.
 */
#define TAG_LIST    14u
#define HAS_UNSIGNED(version) (((version) >> 48 & 0xff) >= 9)
#define TAG_BOOL(list) ((list) - 4)

/* c10::TensorImpl: sizes (count, then up to 5 in place, else their address), and the type's number 0x68 after them in all versions. */
#define IN_PLACE 5u
#define TO_DTYPE 0x68

/* Kind of an input in the low byte of its word; number of dimensions << 8, type << 32. */
enum { KIND_OTHER, KIND_TENSOR, KIND_SCALAR, KIND_SCALARS, KIND_TENSORS };

static uint32_t sizes_at;               /* offset in a tensor; 0: unknown */
static unsigned tries;

static uint32_t list_tag;               /* 0: unknown */
static uint32_t vector_at;              /* offset in a list; 0: unknown */
static unsigned list_tries;

static struct id_cache cache;

void torch_inputs_begin(void)
{
	sizes_at = tries = list_tag = vector_at = list_tries = 0;
}

/* ---- reading ---- */

static uint64_t load64(uintptr_t at)
{
	return *(const uint64_t *)at;
}

static bool is_undefined(const struct torch *t, uint64_t tensor)
{
	return tensor == (uintptr_t)t->undefined || !tensor;
}

/* Learns from PyTorch's functions where a tensor keeps its sizes: sizes in place follow their count, 8 bytes. */
static bool learn(const struct torch *t, const struct torch_value *v)
{
	static __thread bool asking;    /* a tensor subclass of the program may run operators to answer */
	int64_t n = 0, *sizes = NULL;
	int32_t dtype = 0;
	uintptr_t at;
	bool shows;

	if (sizes_at)
		return true;
	if (asking || tries == TRIES || !t->dim || !t->sizes || !t->dtype)
		return false;
	asking = true;
	shows = t->dim(v, &n) != 0 || (n >= 1 && n <= IN_PLACE);       /* else this tensor cannot show it */
	tries += shows;
	shows = shows && !t->sizes(v, &sizes) && !t->dtype(v, &dtype);
	asking = false;
	if (!shows)
		return false;
	at = (uintptr_t)sizes - 8 - v->payload;
	if (at < 0x20 || at > 0x80 || load64(v->payload + at) != (uint64_t)n ||
	    *(const uint16_t *)(v->payload + at + TO_DTYPE) != (uint16_t)dtype)
		return false;
	sizes_at = (uint32_t)at;
	return true;
}

static void put_word(struct torch_inputs *in, uint64_t word)
{
	if (in->n < TORCH_INPUT_WORDS)
		in->words[in->n++] = word;
}

static void read_tensor(struct torch_inputs *in, const struct torch *t, const struct torch_value *v)
{
	uint64_t n;
	uintptr_t dims;

	if (is_undefined(t, v->payload) || !learn(t, v)) {
		put_word(in, KIND_OTHER);
		return;
	}
	n = load64(v->payload + sizes_at);
	dims = v->payload + sizes_at + 8;
	if (n > IN_PLACE)
		dims = load64(dims);
	if (n > MAX_DIMS || in->n + n + 1 > TORCH_INPUT_WORDS) {
		put_word(in, KIND_OTHER);
		return;
	}
	put_word(in, KIND_TENSOR | n << 8 | (uint64_t)*(const uint16_t *)(v->payload + sizes_at + TO_DTYPE) << 32);
	for (uint64_t i = 0; i < n; i++)
		put_word(in, load64(dims + i * 8));
}

static bool is_scalar(uint32_t tag)
{
	return tag == TORCH_DOUBLE || tag == TORCH_COMPLEX || tag == TORCH_INT ||
	       (list_tag && tag > TORCH_INT + (list_tag == TAG_LIST) && tag <= TAG_BOOL(list_tag));
}

/* aten::convolution(Tensor, Tensor, Tensor?, int[], int[], int[], bool, int[], int) */
static void learn_tags(const struct torch *t, const void *record, const struct torch_value *v, uint64_t n)
{
	uint32_t tag = n == 9 ? v[3].tag : 0;

	if (t->version)
		list_tag = TAG_LIST - !HAS_UNSIGNED(t->version());
	else if (tag >= TAG_LIST - 2 && tag <= TAG_LIST && v[0].tag == TORCH_TENSOR && v[1].tag == TORCH_TENSOR && v[4].tag == tag &&
		 v[5].tag == tag && v[6].tag == TAG_BOOL(tag) && v[7].tag == tag && v[8].tag == TORCH_INT &&
		 strcmp(t->name(record), "aten::convolution") == 0)
		list_tag = tag;
}

/* A std::vector of values: begin, end, end of its capacity.  Returns the number of values; UINT64_MAX: not a valid vector. */
static uint64_t vector_count(const uint64_t *vector)
{
	uint64_t bytes = vector[1] - vector[0];

	if (vector[0] & 7 || vector[1] < vector[0] || vector[2] < vector[1] || bytes % sizeof(struct torch_value) || (bytes && !vector[0]))
		return UINT64_MAX;
	return bytes / sizeof(struct torch_value);
}

/*
 * c10::detail::ListImpl: two counters of 4 or 8 bytes each, a vector of values, the address of the elements' type, which has its kind at
 * 8.  The vector's offset is the same in all lists, and is learned from the first one.
 */
static bool learn_list(uintptr_t list)
{
	uint64_t words[7];
	uint32_t at, kind;

	if (vector_at)
		return true;
	if (list_tries == TRIES || !peek_plausible(list) || !peek(words, list, sizeof words))
		return false;
	at = words[2] - 1 < 4096 ? 3 : 2;
	list_tries++;
	if (vector_count(words + at) > 1u << 20 || !peek_plausible(words[at + 3]) || !peek(&kind, words[at + 3] + 8, sizeof kind) ||
	    kind > 64)
		return false;
	vector_at = at * 8;
	return true;
}

/* 3 is c10::TypeKind::TensorType. */
static bool is_of_tensors(uintptr_t type)
{
	return type && *(const uint32_t *)(type + 8) == 3;
}

static void read_list(struct torch_inputs *in, const struct torch *t, uintptr_t list)
{
	const struct torch_value *values;
	const uint64_t *vector;
	uint64_t n;

	if (!list || is_undefined(t, list) || !learn_list(list)) {
		put_word(in, KIND_OTHER);
		torch_values_none(&in->values);
		return;
	}
	vector = (const uint64_t *)(list + vector_at);
	n = vector_count(vector);
	values = (const struct torch_value *)vector[0];
	if (n != UINT64_MAX && is_of_tensors(vector[3])) {
		n = n < MAX_INPUTS ? n : MAX_INPUTS;
		put_word(in, KIND_TENSORS | n << 8);
		for (uint64_t i = 0; i < n; i++) {
			if (values[i].tag == TORCH_TENSOR)
				read_tensor(in, t, &values[i]);
			else
				put_word(in, KIND_OTHER);
		}
		torch_values_none(&in->values);
	} else if (n == 0 || (n <= SCALARS && is_scalar(values[0].tag))) {
		put_word(in, KIND_SCALARS);
		torch_values_list(&in->values, values, n, TAG_BOOL(list_tag));
	} else {
		put_word(in, KIND_OTHER);
		torch_values_none(&in->values);
	}
}

static void read_input(struct torch_inputs *in, const struct torch *t, const struct torch_value *v)
{
	if (list_tag && v->tag == list_tag) {
		read_list(in, t, v->payload);
		return;
	}
	if (v->tag == TORCH_TENSOR)
		read_tensor(in, t, v);
	else
		put_word(in, is_scalar(v->tag) ? KIND_SCALAR : KIND_OTHER);
	torch_values_number(&in->values, v, list_tag ? TAG_BOOL(list_tag) : UINT32_MAX);
}

void torch_inputs_read(struct torch_inputs *in, const struct torch *t, const void *record)
{
	const char *base = (const char *)record + t->sequence;
	const struct torch_value *v;
	uint64_t n;

	memcpy(&v, base + TORCH_INPUTS, sizeof v);
	memcpy(&n, base + TORCH_INPUT_COUNT, sizeof n);
	in->n = in->values.n = 0;
	if (!v)
		return;
	if (unlikely(!list_tag))
		learn_tags(t, record, v, n);
	for (uint64_t i = 0; i < n && i < MAX_INPUTS; i++)
		read_input(in, t, &v[i]);
}

/* ---- text ---- */

/* Writes the input at word i; returns the index of the next one. */
static uint32_t append_dims(struct text *t, const struct torch_inputs *in, uint32_t i)
{
	uint64_t word = in->words[i++], n = word >> 8 & 0xffffff;

	text_append(t, "[");
	for (uint64_t k = 0; k < n && i < in->n; k++) {
		text_append(t, k ? ", " : "");
		if ((word & 0xff) == KIND_TENSORS)
			i = append_dims(t, in, i);
		else
			text_append(t, "%lld", (long long)in->words[i++]);
	}
	text_append(t, "]");
	return i;
}

void torch_inputs_dims(const struct torch_inputs *in, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };

	text_append(&t, "[");
	for (uint32_t i = 0; i < in->n;) {
		text_append(&t, i ? ", " : "");
		i = append_dims(&t, in, i);
	}
	text_append(&t, "]");
}

/* Type names of PyTorch's profiler, by number (c10/core/ScalarType.h). */
static const char *type_name(uint64_t dtype)
{
	static const char *const names[] = {
		"unsigned char", "signed char", "short int", "int", "long int", "c10::Half", "float", "double",
		"c10::complex<c10::Half>", "c10::complex<float>", "c10::complex<double>", "bool", "c10::qint8", "c10::quint8",
		"c10::qint32", "c10::BFloat16", "c10::quint4x2", "c10::quint2x4", "c10::bits1x8", "c10::bits2x4", "c10::bits4x2",
		"c10::bits8", "c10::bits16", "c10::Float8_e5m2", "c10::Float8_e4m3fn", "c10::Float8_e5m2fnuz",
		"c10::Float8_e4m3fnuz", "short unsigned int", "unsigned int", "long unsigned int",
	};

	return dtype < sizeof names / sizeof *names ? names[dtype] : "";
}

void torch_inputs_types(const struct torch_inputs *in, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };

	text_append(&t, "[");
	for (uint32_t i = 0; i < in->n;) {
		uint64_t word = in->words[i], n = word >> 8 & 0xffffff;
		const char *name = (word & 0xff) == KIND_TENSOR  ? type_name(word >> 32) :
				   (word & 0xff) == KIND_SCALAR  ? "Scalar" :
				   (word & 0xff) == KIND_SCALARS ? "ScalarList" :
				   (word & 0xff) == KIND_TENSORS ? "TensorList" : "";

		text_append(&t, "%s\"%s\"", i ? ", " : "", name);
		i++;
		if ((word & 0xff) == KIND_TENSOR)
			i += (uint32_t)n;
		for (uint64_t k = 0; (word & 0xff) == KIND_TENSORS && k < n && i < in->n; k++)
			i += 1 + (uint32_t)(in->words[i] >> 8 & 0xffffff);
	}
	text_append(&t, "]");
}

/* ---- ids ---- */

void torch_inputs_intern(struct stream *s, const struct torch_inputs *in, uint32_t *dims, uint32_t *types)
{
	uint64_t key = id_cache_key(in->words, in->n);
	char *text;

	*dims = *types = 0;
	if (!in->n || id_cache_get(&cache, key, dims, types) || !(text = scratch_push(TEXT)))
		return;
	torch_inputs_dims(in, text, TEXT);
	*dims = intern_text(s, text);
	torch_inputs_types(in, text, TEXT);
	*types = intern_text(s, text);
	scratch_pop(text);
	if (*dims && *types)            /* 0: no room for the text */
		id_cache_put(&cache, key, *dims, *types);
}
