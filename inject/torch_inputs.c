#include "inject/torch_inputs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "inject/intern.h"

#define MAX_INPUTS  64u                 /* of a record, and tensors of a list */
#define MAX_DIMS    16u
#define SCALARS     30u                 /* a longer list has no type: torch/csrc/profiler/util.cpp */
#define MEMO        2048u               /* a power of two */
#define TEXT        4000u

#define BEING_WRITTEN 2u                /* no key: those are odd */

/* From PyTorch 2.9 on; before it they have other numbers, and such inputs are left empty. */
enum { TAG_LIST = 14, TAG_SYMBOLS = 7, TAG_BOOL = 10 };

/* c10::TensorImpl: sizes (count, then up to 5 in place, else their address), the type's number 0x68 behind them in all versions. */
#define IN_PLACE 5u
#define TO_DTYPE 0x68

/* Kind of an input, in the low byte of its word; dims << 8, type << 32. */
enum { KIND_OTHER, KIND_TENSOR, KIND_SCALAR, KIND_SCALARS, KIND_TENSORS };

static uint32_t sizes_at;               /* in a tensor; 0: not known yet */
static unsigned tries;

/* Of one process: a key that is not of this epoch is not there. */
static struct {
	uint64_t key;
	uint32_t dims, types;
} memo[MEMO];
static uint32_t memo_epoch;

/* ---- reading ---- */

static uint64_t load64(uintptr_t at)
{
	return *(const uint64_t *)at;
}

static bool is_undefined(const struct torch *t, uint64_t tensor)
{
	return tensor == (uintptr_t)t->undefined || !tensor;
}

/* PyTorch is asked where a tensor keeps its sizes: their address is that of the count + 8, if they are in place. */
static bool learn(const struct torch *t, const struct torch_value *v)
{
	static __thread bool asking;    /* a tensor of the program's own class may run operators to answer */
	int64_t n = 0, *sizes = NULL;
	int32_t dtype = 0;
	uintptr_t at;
	bool told;

	if (sizes_at)
		return true;
	if (asking || tries == 8 || !t->dim || !t->sizes || !t->dtype)
		return false;
	asking = true;
	told = t->dim(v, &n) != 0 || (n >= 1 && n <= IN_PLACE);        /* else this one cannot tell */
	tries += told;
	told = told && !t->sizes(v, &sizes) && !t->dtype(v, &dtype);
	asking = false;
	if (!told)
		return false;
	at = (uintptr_t)sizes - 8 - v->payload;
	if (at < 0x20 || at > 0x80 || load64(v->payload + at) != (uint64_t)n ||
	    *(const uint16_t *)(v->payload + at + TO_DTYPE) != (uint16_t)dtype)
		return false;
	sizes_at = (uint32_t)at;
	return true;
}

static void put(struct torch_inputs *in, uint64_t word)
{
	if (in->n < TORCH_INPUT_WORDS)
		in->words[in->n++] = word;
}

static void read_tensor(struct torch_inputs *in, const struct torch *t, const struct torch_value *v)
{
	uint64_t n;
	uintptr_t dims;

	if (is_undefined(t, v->payload) || !learn(t, v)) {
		put(in, KIND_OTHER);
		return;
	}
	n = load64(v->payload + sizes_at);
	dims = v->payload + sizes_at + 8;
	if (n > IN_PLACE)
		dims = load64(dims);
	if (n > MAX_DIMS || in->n + n + 1 > TORCH_INPUT_WORDS) {
		put(in, KIND_OTHER);
		return;
	}
	put(in, KIND_TENSOR | n << 8 | (uint64_t)*(const uint16_t *)(v->payload + sizes_at + TO_DTYPE) << 32);
	for (uint64_t i = 0; i < n; i++)
		put(in, load64(dims + i * 8));
}

static bool is_scalar(uint32_t tag)
{
	return tag == TORCH_DOUBLE || tag == TORCH_COMPLEX || tag == TORCH_INT || (tag >= TAG_SYMBOLS && tag <= TAG_BOOL);
}

/*
 * c10::detail::ListImpl: its counters, of 4 bytes each or of 8, a vector of values, the address of its elements' type, which has its kind at 8:
 * 3 is a tensor.
 */
static void read_list(struct torch_inputs *in, const struct torch *t, uintptr_t list)
{
	uintptr_t vector = list + (load64(list + 16) - 1 < 4096 ? 24 : 16);
	const struct torch_value *values = (const struct torch_value *)load64(vector);
	uint64_t n = (load64(vector + 8) - load64(vector)) / sizeof *values;
	uintptr_t type = load64(vector + 24);

	if (type && *(const uint32_t *)(type + 8) == 3) {
		n = n < MAX_INPUTS ? n : MAX_INPUTS;
		put(in, KIND_TENSORS | n << 8);
		for (uint64_t i = 0; i < n; i++) {
			if (values[i].tag == TORCH_TENSOR)
				read_tensor(in, t, &values[i]);
			else
				put(in, KIND_OTHER);
		}
	} else if (n == 0 || (n <= SCALARS && is_scalar(values[0].tag))) {
		put(in, KIND_SCALARS);
	} else {
		put(in, KIND_OTHER);
	}
}

void torch_inputs_read(struct torch_inputs *in, const struct torch *t, const void *record)
{
	const char *base = (const char *)record + t->sequence;
	const struct torch_value *v;
	uint64_t n;

	memcpy(&v, base + TORCH_INPUTS, sizeof v);
	memcpy(&n, base + TORCH_INPUT_COUNT, sizeof n);
	in->n = 0;
	for (uint64_t i = 0; v && i < n && i < MAX_INPUTS; i++) {
		if (v[i].tag == TORCH_TENSOR)
			read_tensor(in, t, &v[i]);
		else if (v[i].tag == TORCH_DOUBLE || v[i].tag == TORCH_COMPLEX || v[i].tag == TORCH_INT || (t->version && is_scalar(v[i].tag)))
			put(in, KIND_SCALAR);
		else if (t->version && v[i].tag == TAG_LIST && v[i].payload)
			read_list(in, t, v[i].payload);
		else
			put(in, KIND_OTHER);
	}
}

/* ---- text ---- */

struct text {
	char *out;
	size_t size, n;
};

static void say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->out + t->n, t->size - t->n, fmt, args);
	va_end(args);
	t->n = t->n + (size_t)n < t->size ? t->n + (size_t)n : t->size - 1;
}

/* One input from word i on; where the next begins. */
static uint32_t say_dims(struct text *t, const struct torch_inputs *in, uint32_t i)
{
	uint64_t word = in->words[i++], n = word >> 8 & 0xffffff;

	say(t, "[");
	for (uint64_t k = 0; k < n && i < in->n; k++) {
		say(t, k ? ", " : "");
		if ((word & 0xff) == KIND_TENSORS)
			i = say_dims(t, in, i);
		else
			say(t, "%lld", (long long)in->words[i++]);
	}
	say(t, "]");
	return i;
}

void torch_inputs_dims(const struct torch_inputs *in, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };

	say(&t, "[");
	for (uint32_t i = 0; i < in->n;) {
		say(&t, i ? ", " : "");
		i = say_dims(&t, in, i);
	}
	say(&t, "]");
}

/* Names that PyTorch's profiler gives to types, by their number (c10/core/ScalarType.h). */
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

	say(&t, "[");
	for (uint32_t i = 0; i < in->n;) {
		uint64_t word = in->words[i], n = word >> 8 & 0xffffff;
		const char *name = (word & 0xff) == KIND_TENSOR  ? type_name(word >> 32) :
				   (word & 0xff) == KIND_SCALAR  ? "Scalar" :
				   (word & 0xff) == KIND_SCALARS ? "ScalarList" :
				   (word & 0xff) == KIND_TENSORS ? "TensorList" : "";

		say(&t, "%s\"%s\"", i ? ", " : "", name);
		i++;
		if ((word & 0xff) == KIND_TENSOR)
			i += (uint32_t)n;
		for (uint64_t k = 0; (word & 0xff) == KIND_TENSORS && k < n && i < in->n; k++)
			i += 1 + (uint32_t)(in->words[i] >> 8 & 0xffffff);
	}
	say(&t, "]");
}

/* ---- ids ---- */

static uint64_t key_of(const struct torch_inputs *in)
{
	uint64_t key = in->n;

	for (uint32_t i = 0; i < in->n; i++) {
		key = (key ^ in->words[i]) * 0x9e3779b97f4a7c15ull;
		key ^= key >> 29;
	}
	return key | 1;
}

void torch_inputs_intern(struct stream *s, const struct torch_inputs *in, uint32_t *dims, uint32_t *types)
{
	uint64_t key = key_of(in), old;
	size_t i = key >> 17 & (MEMO - 1);
	char text[TEXT];

	*dims = *types = 0;
	if (!in->n)
		return;
	if (unlikely(memo_epoch != guest->epoch)) {
		memset(memo, 0, sizeof memo);
		memo_epoch = guest->epoch;
	}
	if (__atomic_load_n(&memo[i].key, __ATOMIC_ACQUIRE) == key) {
		*dims = memo[i].dims;
		*types = memo[i].types;
		if (likely(__atomic_load_n(&memo[i].key, __ATOMIC_ACQUIRE) == key))
			return;
	}
	torch_inputs_dims(in, text, sizeof text);
	*dims = intern_text(s, text);
	torch_inputs_types(in, text, sizeof text);
	*types = intern_text(s, text);
	/* One at a time; who reads meanwhile finds another key before or after. */
	old = __atomic_load_n(&memo[i].key, __ATOMIC_RELAXED);
	if (old == BEING_WRITTEN || !__atomic_compare_exchange_n(&memo[i].key, &old, BEING_WRITTEN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	memo[i].dims = *dims;
	memo[i].types = *types;
	__atomic_store_n(&memo[i].key, key, __ATOMIC_RELEASE);
}
