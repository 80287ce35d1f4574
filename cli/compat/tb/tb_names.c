/* Names and categories as the TensorBoard plugin reads them (trace.py, tensor_core.py, node.py of torch_tb_profiler). */
#include "cli/compat/tb/tb.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_one_of(const char *name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}
#define IS_ONE_OF(name, words) is_one_of((name), (words), sizeof(words) / sizeof *(words))

static const char *const collectives[] = { "broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter" };

/* The plugin's TC_Allowlist: the name contains one of these.  It has no names newer than Ampere's. */
static const char *const tensor_kernels[] = {
	"h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
	"conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm",
	"xmma_gemm", "xmma_sparse_gemm", "c1688",
};

/* The plugin's TC_OP_Allowlist: autocast's list, and the backward nodes of these operators. */
static const char *const eligible[] = {
	"aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::conv_tbc", "aten::conv_transpose1d",
	"aten::conv_transpose2d", "aten::conv_transpose3d", "aten::convolution", "aten::cudnn_convolution",
	"aten::cudnn_convolution_transpose", "aten::prelu", "aten::addmm", "aten::addmv", "aten::addr", "aten::matmul", "aten::mm",
	"aten::mv", "aten::linear", "aten::addbmm", "aten::baddbmm", "aten::bmm", "aten::chain_matmul", "aten::linalg_multi_dot",
	"aten::_thnn_fused_lstm_cell", "aten::_thnn_fused_gru_cell", "aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell",
	"aten::rnn_relu_cell", "CudnnConvolutionBackward", "BmmBackward0", "aten::cudnn_convolution_transpose_backward",
	"CudnnConvolutionTransposeBackward", "MmBackward", "aten::cudnn_convolution_backward_weight", "aten::addmm_",
	"AddmvBackward", "MvBackward", "aten::cudnn_convolution_transpose_backward_weight",
	"aten::cudnn_convolution_transpose_backward_input", "AddmmBackward", "aten::cudnn_convolution_backward_input",
	"AddbmmBackward", "aten::cudnn_convolution_backward",
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), k = strlen(with);

	return n >= k && strcmp(text + n - k, with) == 0;
}

uint32_t tb_flags_of(const char *name)
{
	uint32_t flags = 0;

	if (starts(name, "nccl:") && IS_ONE_OF(name + 5, collectives))
		flags |= TB_NCCL;
	if (starts(name, "gloo:") && IS_ONE_OF(name + 5, collectives))
		flags |= TB_GLOO;
	if ((starts(name, "enumerate(DataLoader)#") && ends(name, ".__next__")) || starts(name, "enumerate(DataPipe)#"))
		flags |= TB_LOADER;
	if (starts(name, "Optimizer.step"))
		flags |= TB_OPTIMIZER;
	if (strcmp(name, "DataParallel.forward") == 0)
		flags |= TB_PARALLEL;
	if (strcmp(name, "DistributedDataParallel.forward") == 0)
		flags |= TB_DISTRIBUTED;
	if (flags & (TB_PARALLEL | TB_DISTRIBUTED | TB_OPTIMIZER | TB_LOADER) || starts(name, "Optimizer."))
		flags |= TB_HIDDEN;
	if (starts(name, "ProfilerStep#") && isdigit((unsigned char)name[13]))
		flags |= TB_PROFILER_STEP;
	if (IS_ONE_OF(name, eligible))
		flags |= TB_ELIGIBLE;
	for (size_t i = 0; i < sizeof tensor_kernels / sizeof *tensor_kernels; i++)
		if (strstr(name, tensor_kernels[i]))
			flags |= TB_TENSOR;
	return flags;
}

/* Without cuda_driver, which the plugin does not read. */
enum tb_type tb_type_of(const char *category)
{
	static const struct { const char *category; enum tb_type type; } all[] = {
		{ "cpu_op", TB_OP }, { "operator", TB_OP }, { "user_annotation", TB_ANNOTATION },
		{ "gpu_user_annotation", TB_GPU_ANNOTATION }, { "python", TB_PYTHON }, { "python_function", TB_MODULE },
		{ "cuda_runtime", TB_CALL }, { "runtime", TB_CALL }, { "hip_runtime", TB_CALL }, { "mtia_runtime", TB_CALL },
		{ "glow_runtime", TB_CALL }, { "xpu_runtime", TB_CALL }, { "privateuse1_runtime", TB_CALL },
		{ "kernel", TB_KERNEL }, { "gpu_memcpy", TB_MEMCPY }, { "memcpy", TB_MEMCPY }, { "gpu_memset", TB_MEMSET },
		{ "memset", TB_MEMSET },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcasecmp(category, all[i].category) == 0)
			return all[i].type;
	return TB_IGNORED;
}

/* WORKER_PATTERN of consts.py; from other names .json and .gz are removed. */
char *tb_worker_of(const char *path)
{
	static const char *const endings[] = { ".gz", ".json", ".pt.trace" };
	const char *slash = strrchr(path, '/');
	char *name = strdup(slash ? slash + 1 : path), *dot;
	bool torch = false;

	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (ends(name, endings[i])) {
			name[strlen(name) - strlen(endings[i])] = 0;
			torch = i == 2;
		}
	dot = torch ? strrchr(name, '.') : NULL;
	if (dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1))
		*dot = 0;
	return name;
}
