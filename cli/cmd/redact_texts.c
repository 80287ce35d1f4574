#include "cli/cmd/redact_texts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/gpu/kernel_class.h"
#include "cli/model/model.h"
#include "cli/symbols/demangle.h"
#include "trace/rules/glob.h"
#include "trace/rules/pythonlib.h"
#include "trace/rules/stepname.h"

#define LENGTH(a) (sizeof (a) / sizeof *(a))

/* Names that CUDA, its libraries and PyTorch define.  They are kept: reports group by them, and they reveal nothing. */
static const char *const known_names[] = {
	"cuda*", "cu[A-Z]*", "__cuda*", "__device_stub__*", "nvtx*", "nccl*", "rccl*", "gloo:*", "mpi:*", "ucc:*", "c10d::*", "hip*",
	"hccl*", "Memcpy*", "Memset*", "dma*", "aten::*", "torch::autograd::*", "autograd::*", "*Backward[0-9]", "ProfilerStep#*",
	"enumerate(*",
	"Optimizer.*", "DistributedDataParallel.*", "FullyShardedDataParallel.*", "DataParallel.*", "FSDP::*", "Torch-Compiled Region*",
	"## *", "PyTorch", "Python", "NCCL", "CCCL", "TensorRT", "runFunction*", "Stream Wait Event*", "*Sync", "detach", "<*>",
	"Iteration*", "record_param_comms",
};

/* Parts of names by which reports classify kernels and calls.  They are appended to the placeholder. */
static const char *const telling[] = {
	"h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
	"conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm",
	"xmma_sparse_gemm", "c1688", "Memcpy", "Memset", "Sync", "dma", "Backward", "autograd::",
};

/* Folders by which reports distinguish the program's own files from packages. */
static const char *const package_folders[] = { "/site-packages/", "/dist-packages/", "/lib64/python3", "/lib/python3" };

/* Common libraries, whose names are kept. */
static const char *const known_files[] = {
	"libc.so*", "libc-*.so", "libm.so*", "libdl.so*", "librt.so*", "libpthread.so*", "ld-linux*", "libstdc++.so*", "libgcc_s.so*",
	"libgomp.so*",
	"libcu*.so*", "libnv*.so*", "libnccl*.so*", "libtorch*.so*", "libc10*.so*", "libpython*.so*", "python", "python[23]*",
	"libgprof_inject.so",
	"[[]*", "linux-vdso.so*",
};

/* Words in operator arguments that are kept as values. */
static const char *const value_words[] = {
	"True", "False", "None", "true", "false", "null", "nan", "inf", "e", "Scalar", "float", "int", "bool",
};

static bool is_one_of(const char *const *globs, size_t n_globs, const char *text, size_t n)
{
	for (size_t i = 0; i < n_globs; i++)
		if (glob_match(globs[i], strlen(globs[i]), text, n))
			return true;
	return false;
}

/* Whether a glob of a comma-separated list matches. */
static bool listed(const char *list, const char *text, size_t n)
{
	for (const char *glob = list; glob && *glob;) {
		size_t length = strcspn(glob, ",");

		if (glob_match(glob, length, text, n))
			return true;
		glob += length + (glob[length] == ',');
	}
	return false;
}

/* Whether the list matches the name as it is, or demangled. */
static bool listed_name(const char *list, const char *text, size_t n)
{
	char *copy, *plain;
	bool yes = listed(list, text, n);

	if (yes || !list || n < 3 || text[0] != '_' || !(copy = strndup(text, n)))
		return yes;
	plain = demangle(copy);
	yes = plain && listed(list, plain, strlen(plain));
	free(plain);
	free(copy);
	return yes;
}

static bool is_known(const char *text, size_t n)
{
	struct stepname step;
	char name[512];

	snprintf(name, sizeof name, "%.*s", n < 500 ? (int)n : 500, text);
	return is_one_of(known_names, LENGTH(known_names), text, n) || stepname_parse(&step, text, n) || kernel_name_communicates(name);
}

static bool to_be_replaced(const struct redact_texts *r, const char *text, size_t n)
{
	return listed_name(r->names, text, n) && !listed_name(r->keep, text, n) && !is_known(text, n);
}

/* ---- placeholders ---- */

static void put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void put_number(struct redact_texts *r, const char *word, struct buf *out)
{
	char text[80];
	size_t i = 0;

	while (i + 1 < REDACT_WORDS && r->words[i].word && strcmp(r->words[i].word, word) != 0)
		i++;
	r->words[i].word = word;
	snprintf(text, sizeof text, "%s_%u", word, ++r->words[i].n);
	put_text(out, text);
}

/*
 * Appends the replacement that the text got before, if any.  False: the text is new; the caller makes a replacement and
 * passes *key to remember().  A text has one replacement as a path and one as a name.
 */
static bool made_before(struct redact_texts *r, bool path, const char *text, size_t n, struct buf *out, uint64_t *key)
{
	char *copy = strndup(text, n);
	uint32_t id = copy ? model_intern(r->m, copy) : MAP_NONE, at;

	free(copy);
	r->oom |= id == MAP_NONE;
	*key = (uint64_t)id << 1 | path;
	at = map_get(&r->made, *key);
	if (at != MAP_NONE)
		put_text(out, (const char *)r->texts.data + at);
	return at != MAP_NONE;
}

static void remember(struct redact_texts *r, uint64_t key, const struct buf *out, size_t from)
{
	size_t at = r->texts.len;

	buf_put(&r->texts, out->data + from, out->len - from);
	buf_put(&r->texts, "", 1);
	r->oom |= r->texts.oom || out->oom || !map_set(&r->made, key, (uint32_t)at);
}

static void put_placeholder(struct redact_texts *r, const char *word, const char *text, size_t n, struct buf *out)
{
	size_t from = out->len;
	uint64_t key;

	if (made_before(r, false, text, n, out, &key))
		return;
	put_number(r, word, out);
	for (size_t i = 0; i < LENGTH(telling); i++)
		if (memmem(text, n, telling[i], strlen(telling[i]))) {
			put_text(out, "_");
			put_text(out, telling[i]);
		}
	remember(r, key, out, from);
}

/* ---- paths ---- */

/* The suffix of a file name: ".so.12", ".py"; "" if it has 10 characters or more, which may reveal something. */
static const char *suffix_of(const char *base, size_t n, size_t *length)
{
	const char *dot = memmem(base, n, ".so", 3);

	if (!dot)
		dot = memrchr(base, '.', n);
	*length = dot && dot > base ? (size_t)(base + n - dot) : 0;
	return *length && *length < 10 ? dot : (*length = 0, base);
}

/* The folder that replaces the path of a file of the standard library or of a package. */
static const char *package_folder(const char *text, size_t n)
{
	size_t last = LENGTH(package_folders) - 1;

	for (size_t i = 0; i < last; i++)
		if (memmem(text, n, package_folders[i], strlen(package_folders[i])))
			return package_folders[i];
	return package_folders[last];
}

/* /home/me/net.py becomes /file_1.py, /usr/lib/python3.11/json/decoder.py /lib/python3/file_2.py, /usr/lib/libc.so.6 /file_3/libc.so.6. */
static void put_path(struct redact_texts *r, const char *word, const char *text, size_t n, struct buf *out)
{
	const char *slash = memrchr(text, '/', n), *base = slash ? slash + 1 : text, *suffix;
	size_t from = out->len, length = n - (size_t)(base - text), cut;
	uint64_t key;
	bool known;

	if (n && text[0] == '<') {      /* <frozen os>, <string> */
		buf_put(out, text, n);
		return;
	}
	if (!n || made_before(r, true, text, n, out, &key))
		return;
	if (pythonlib_has(text, n))
		put_text(out, package_folder(text, n));
	if (out->len == from || out->data[out->len - 1] != '/')
		put_text(out, "/");
	known = is_one_of(known_files, LENGTH(known_files), base, length);
	put_number(r, word, out);
	if (known) {
		put_text(out, "/");
		buf_put(out, base, length);
	} else {
		suffix = suffix_of(base, length, &cut);
		buf_put(out, suffix, cut);
	}
	remember(r, key, out, from);
}

/* Length of the absolute path that begins at text[i], with two slashes at least; 0: none. */
static size_t path_at(const char *text, size_t n, size_t i)
{
	size_t end = i, slashes = 0;

	if (text[i] != '/' || (i && !strchr(" '\"=(:,[", text[i - 1])))
		return 0;
	for (; end < n && !strchr(" '\")],;", text[end]); end++)
		slashes += text[end] == '/' && end + 1 < n && text[end + 1] != '/';
	return slashes > 1 && text[i + 1] != '/' ? end - i : 0;
}

/* Appends a name that is kept, with the paths in it replaced.  "libspin.so+0x12" is a function without a name: a file. */
static void put_kept(struct redact_texts *r, const char *text, size_t n, struct buf *out)
{
	const char *plus = memmem(text, n, "+0x", 3);

	if (plus && (size_t)(plus - text) > 3 && memmem(text, (size_t)(plus - text), ".so", 3) &&
	    !is_one_of(known_files, LENGTH(known_files), text, (size_t)(plus - text))) {
		put_path(r, "file", text, (size_t)(plus - text), out);
		buf_put(out, plus, n - (size_t)(plus - text));
		return;
	}
	for (size_t i = 0; i < n;) {
		size_t path = path_at(text, n, i);

		if (path)
			put_path(r, "file", text + i, path, out);
		else
			buf_put(out, text + i, 1);
		i += path ? path : 1;
	}
}

/* ---- lists of names, and values ---- */

static bool part_ends(const char *text, size_t n, size_t i, bool paths)
{
	return i == n || text[i] == ' ' || text[i] == '>' || (paths && text[i] == '.');
}

/* Replaces the classes in "Net_0 > Block_1", or (REDACT_MODULE_PATHS) the words in "layers.0.attn". */
static void put_parts(struct redact_texts *r, enum redact_rule rule, const char *word, const char *text, size_t n, struct buf *out)
{
	bool paths = rule == REDACT_MODULE_PATHS;

	for (size_t i = 0, from = 0; i <= n; i++) {
		size_t length = i - from;

		if (!part_ends(text, n, i, paths))
			continue;
		if (!paths)             /* the number is kept */
			while (length && isdigit((unsigned char)text[from + length - 1]))
				length--;
		if (!paths && length && text[from + length - 1] == '_')
			length--;
		if (length && !isdigit((unsigned char)text[from]) && text[from] != '?' && to_be_replaced(r, text + from, length)) {
			put_placeholder(r, word, text + from, length, out);
			from += length;
		}
		buf_put(out, text + from, i - from + (i < n));
		from = i + 1;
	}
}

static void put_values(const char *text, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n;) {
		size_t length = 0;

		while (i + length < n && (isalpha((unsigned char)text[i + length]) || text[i + length] == '_' || text[i + length] & 0x80))
			length++;
		if (!length)
			buf_put(out, &text[i], 1);
		else if (is_one_of(value_words, LENGTH(value_words), &text[i], length))
			buf_put(out, &text[i], length);
		else
			put_text(out, "x");
		i += length ? length : 1;
	}
}

/* Keeps an argument that has only numbers or is a known name, such as a collective's; replaces any other. */
static void put_argument(struct redact_texts *r, const char *word, const char *text, size_t n, struct buf *out)
{
	struct buf values = { 0 };

	put_values(text, n, &values);
	if ((values.len == n && (!n || memcmp(values.data, text, n) == 0)) || is_known(text, n))
		buf_put(out, text, n);
	else
		put_placeholder(r, word, text, n, out);
	r->oom |= values.oom;
	buf_free(&values);
}

void redact_text(struct redact_texts *r, enum redact_rule rule, const char *word, const char *text, size_t n, struct buf *out)
{
	switch (rule) {
	case REDACT_KEEP:
		buf_put(out, text, n);
		break;
	case REDACT_NAME:
		if (to_be_replaced(r, text, n))
			put_placeholder(r, word, text, n, out);
		else
			put_kept(r, text, n, out);
		break;
	case REDACT_MODULES: case REDACT_MODULE_PATHS:
		put_parts(r, rule, word, text, n, out);
		break;
	case REDACT_VALUES:
		put_values(text, n, out);
		break;
	case REDACT_ARGUMENT:
		put_argument(r, word, text, n, out);
		break;
	case REDACT_PATH:
		put_path(r, word, text, n, out);
		break;
	default:
		break;
	}
	r->oom |= out->oom;
}

void redact_texts_release(struct redact_texts *r)
{
	map_release(&r->made);
	buf_free(&r->texts);
}
