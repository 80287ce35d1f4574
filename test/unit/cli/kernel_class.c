#include "cli/model/gpu/kernel_class.h"
#include "test/unit/test.h"

#include <stddef.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Names as CUPTI, rocprofiler and torch.profiler write them. */
static const char *const communicating[] = {
	/* NCCL before 2.4, before 2.19, and since */
	"void ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
	"ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
	"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)",
	"ncclSymDevKernel_AllGather_ST(ncclSymDevArgs)",
	/* RCCL, and Microsoft's */
	"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
	"ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)",
	"mscclKernel_Sum_float_LL(ncclDevComm*, mscclAlgo*, mscclWork*)",
	"void rccl_main_kernel(int)",
	/* NVSHMEM */
	"nvshmemi_proxy_quiet_entrypoint()",
	"void nvshmemi_reduce_kernel<float, (rdxn_ops)3>(int, int, int, float*, float const*)",
	"void barrier_on_stream_kernel_nvshmem(int)",
	/* inference engines */
	"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)",
	"void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>(aiter::RankData*)",
	"void quickreduce::twoshot<float>(int)",
	"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(tensorrt_llm::kernels::AllReduceParams)",
	"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)1>(int)",
	"void deep_ep::intranode::dispatch<8, 768>(int4*, float*)",
	"void moe_alltoall_dispatch<4>(int)",
	/* PyTorch's symmetric memory, as c++filt and as nsys print it; Transformer Engine */
	"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long, unsigned int**, unsigned long)",
	"void <unnamed>::multimem_all_reduce_kernel<c10::BFloat16, (int)16>(T1 *, unsigned long)",
	"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float>(float**)",
	"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int, int)",
};

static const char *const computing[] = {
	"", "void ", "void (anonymous namespace)::",
	"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float> > >(at::native::ReduceOp<float>)",
	"void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)",
	"void at::native::vectorized_gather_kernel<16, long>(char*, char*)",
	"void cub::DeviceReduceKernel<int>(int)",
	"void cub::CUB_200200_860::DeviceScanByKeyKernel<float>(float*)",
	/* what stands in arguments, or in names that a compiler made */
	"void at::native::elementwise_kernel<128, 4, at::native::all_reduce_op>(int)",
	"void wait_for(ncclDevComm*, nvshmem_team_config)",
	"triton_red_fused_all_reduce_0",
	"triton_poi_fused_all_gather_into_tensor_mul_3",
	"void hipCounting(int)", "hccl_like", "sm80_xmma_gemm_f16f16", "Cijk_Ailk_Bljk_HHS_BH_MT128x64x64",
	"void (anonymous namespace)::softmax_warp_forward<float, all_reduce>(float*)",
	"nc", "nvshme", "my_ncc",
};

TEST(kernels_of_collectives_are_told_by_their_names)
{
	for (size_t i = 0; i < COUNT(communicating); i++)
		CHECK_STR(kernel_name_communicates(communicating[i]) ? communicating[i] : "computes", communicating[i]);
}

TEST(names_that_only_look_like_collectives_are_of_compute_kernels)
{
	for (size_t i = 0; i < COUNT(computing); i++)
		CHECK_STR(kernel_name_communicates(computing[i]) ? "communicates" : computing[i], computing[i]);
}

TEST(letters_of_names_of_collectives_may_be_in_either_case)
{
	CHECK(kernel_name_communicates("NCCL_all"));
	CHECK(kernel_name_communicates("void myReduceScatter<int>(int)"));
	CHECK(kernel_name_communicates("void my_Reduce_Scatter(int)"));
	CHECK(!kernel_name_communicates("TritonLess"));
}
