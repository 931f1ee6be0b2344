// SPDX-License-Identifier: Apache-2.0 -- tensor-core flash attention, head size 128: query, score and output fragments (128 registers) live together, scores repacked in place as operands.
// length a multiple of 64. Block: 128 threads, each warp 16 query rows; grid: (length/64, heads).
#include <cuda_fp16.h>
#include <math_constants.h>
constexpr int D = 128;
constexpr int BC = 64;
constexpr int LD = D + 8;

__device__ __forceinline__ void copyAsync(half* to, const half* from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

__device__ __forceinline__ void copyCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
__device__ __forceinline__ void copyWait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void loadMatrix(unsigned (&r)[4], const half* from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ __forceinline__ void loadMatrixTrans(unsigned (&r)[4], const half* from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pack(float lo, float hi) {
    const half2 h = __floats2half2_rn(lo, hi);
    return *reinterpret_cast<const unsigned*>(&h);
}

__device__ __forceinline__ void fetch(half* to, const half* from, int tid) {
#pragma unroll
    for (int i = 0; i < BC * D / 8 / 128; ++i) {
        const int e = (tid + i * 128) * 8;
        copyAsync(to + (e / D) * LD + e % D, from + e);
    }
    copyCommit();
}

extern "C" __global__ void flash_attention_mma(int length, float scale, const half* __restrict__ Q,
                                               const half* __restrict__ K, const half* __restrict__ V,
                                               half* __restrict__ O) {
    __shared__ __align__(16) half Ks[BC * LD];
    __shared__ __align__(16) half Vs[BC * LD];

    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const size_t head = (size_t)blockIdx.y * length * D;
    const int q0 = blockIdx.x * 64;
    const float scaleLog2 = scale * 1.44269504088896341f;

    unsigned q[D / 16][4];
    fetch(Ks, Q + head + (size_t)q0 * D, tid);
    copyWait<0>();
    __syncthreads();
#pragma unroll
    for (int d = 0; d < D / 16; ++d)
        loadMatrix(q[d], &Ks[(warp * 16 + lane % 16) * LD + d * 16 + (lane / 16) * 8]);
    __syncthreads();

    float o[D / 8][4] = {};
    float top[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {0.0f, 0.0f};

    fetch(Ks, K + head, tid);
    for (int k0 = 0; k0 < length; k0 += BC) {
        fetch(Vs, V + head + (size_t)k0 * D, tid);
        copyWait<1>();
        __syncthreads();

        float s[BC / 8][4] = {};
#pragma unroll
        for (int d = 0; d < D / 16; ++d)
#pragma unroll
            for (int j = 0; j < BC / 16; ++j) {
                unsigned b[4];
                loadMatrix(b, &Ks[(j * 16 + (lane / 16) * 8 + lane % 8) * LD + d * 16 + (lane / 8 % 2) * 8]);
                mma(s[2 * j], q[d], b[0], b[1]);
                mma(s[2 * j + 1], q[d], b[2], b[3]);
            }
        __syncthreads();
        const bool more = k0 + BC < length;
        if (more) fetch(Ks, K + head + (size_t)(k0 + BC) * D, tid);

#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float m = top[h];
#pragma unroll
            for (int j = 0; j < BC / 8; ++j) m = fmaxf(m, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
            const float fade = exp2f((top[h] - m) * scaleLog2);
            top[h] = m;
            const float bias = m * scaleLog2;
            float part = 0.0f;
#pragma unroll
            for (int j = 0; j < BC / 8; ++j) {
                s[j][2 * h] = exp2f(fmaf(s[j][2 * h], scaleLog2, -bias));
                s[j][2 * h + 1] = exp2f(fmaf(s[j][2 * h + 1], scaleLog2, -bias));
                part += s[j][2 * h] + s[j][2 * h + 1];
            }
            sum[h] = fmaf(sum[h], fade, part);
#pragma unroll
            for (int d = 0; d < D / 8; ++d) {
                o[d][2 * h] *= fade;
                o[d][2 * h + 1] *= fade;
            }
        }

        if (more)
            copyWait<1>();
        else
            copyWait<0>();
        __syncthreads();
#pragma unroll
        for (int j = 0; j < BC / 16; ++j) {
            const unsigned p[4] = {pack(s[2 * j][0], s[2 * j][1]), pack(s[2 * j][2], s[2 * j][3]),
                                   pack(s[2 * j + 1][0], s[2 * j + 1][1]), pack(s[2 * j + 1][2], s[2 * j + 1][3])};
#pragma unroll
            for (int d = 0; d < D / 16; ++d) {
                unsigned b[4];
                loadMatrixTrans(b, &Vs[(j * 16 + lane % 16) * LD + d * 16 + (lane / 16) * 8]);
                mma(o[2 * d], p, b[0], b[1]);
                mma(o[2 * d + 1], p, b[2], b[3]);
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int h = 0; h < 2; ++h) {
        sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 1);
        sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 2);
        const float inv = 1.0f / sum[h];
        half* dst = O + head + (size_t)(q0 + warp * 16 + lane / 4 + h * 8) * D + (lane % 4) * 2;
#pragma unroll
        for (int d = 0; d < D / 8; ++d)
            *reinterpret_cast<unsigned*>(dst + d * 8) = pack(o[d][2 * h] * inv, o[d][2 * h + 1] * inv);
    }
}
