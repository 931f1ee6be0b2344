// SPDX-License-Identifier: Apache-2.0 -- fp32 flash attention, 8x4 score and 8x4 output tiles a thread: two register tiles live at once, rescaled in an outer loop.
// Head size 64; length a multiple of 64. Block: 128 threads, grid: (length/64, heads). causal masks later keys.
#include <math_constants.h>
constexpr int D = 64;
constexpr int BR = 64;
constexpr int BC = 64;

extern "C" __global__ void flash_attention(int length, float scale, int causal, const float* __restrict__ Q,
                                           const float* __restrict__ K, const float* __restrict__ V,
                                           float* __restrict__ O, float* __restrict__ logSum) {
    __shared__ __align__(16) float Qs[BR][D];
    __shared__ __align__(16) float KPs[D][BC];  // keys transposed, then the probabilities
    __shared__ __align__(16) float Vs[BC][D];

    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const size_t head = (size_t)blockIdx.y * length * D;
    const int q0 = blockIdx.x * BR;

    for (int e = tid * 4; e < BR * D; e += 128 * 4) {
        float4 v = *reinterpret_cast<const float4*>(Q + head + (size_t)q0 * D + e);
        v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
        *reinterpret_cast<float4*>(&Qs[e / D][e % D]) = v;
    }

    float o[8][4] = {};
    float top[8], sum[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) top[i] = -CUDART_INF_F, sum[i] = 0.0f;

    const int end = causal ? q0 + BR : length;
    for (int k0 = 0; k0 < end; k0 += BC) {
        __syncthreads();
#pragma unroll 4
        for (int e = tid * 4; e < BC * D; e += 128 * 4) {
            const float4 k = *reinterpret_cast<const float4*>(K + head + (size_t)k0 * D + e);
            const int r = e / D, c = e % D;
            KPs[c + 0][r] = k.x;
            KPs[c + 1][r] = k.y;
            KPs[c + 2][r] = k.z;
            KPs[c + 3][r] = k.w;
            *reinterpret_cast<float4*>(&Vs[r][c]) =
                *reinterpret_cast<const float4*>(V + head + (size_t)k0 * D + e);
        }
        __syncthreads();

        float s[8][4] = {};
#pragma unroll 4
        for (int d = 0; d < D; ++d) {
            const float4 k = *reinterpret_cast<const float4*>(&KPs[d][tx * 4]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float q = Qs[ty * 8 + i][d];
                s[i][0] = fmaf(q, k.x, s[i][0]);
                s[i][1] = fmaf(q, k.y, s[i][1]);
                s[i][2] = fmaf(q, k.z, s[i][2]);
                s[i][3] = fmaf(q, k.w, s[i][3]);
            }
        }
        if (causal && k0 + BC > q0) {
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    if (k0 + tx * 4 + j > q0 + ty * 8 + i) s[i][j] = -CUDART_INF_F;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float m = fmaxf(fmaxf(s[i][0], s[i][1]), fmaxf(s[i][2], s[i][3]));
#pragma unroll
            for (int d = 8; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
            m = fmaxf(m, top[i]);
            const float fade = __expf(top[i] - m);
            top[i] = m;
            float4 p;
            p.x = __expf(s[i][0] - m);
            p.y = __expf(s[i][1] - m);
            p.z = __expf(s[i][2] - m);
            p.w = __expf(s[i][3] - m);
            float part = p.x + p.y + p.z + p.w;
#pragma unroll
            for (int d = 8; d > 0; d >>= 1) part += __shfl_xor_sync(0xffffffffu, part, d);
            sum[i] = fmaf(sum[i], fade, part);
#pragma unroll
            for (int j = 0; j < 4; ++j) o[i][j] *= fade;
            *reinterpret_cast<float4*>(&KPs[ty * 8 + i][tx * 4]) = p;
        }
        __syncthreads();
#pragma unroll 4
        for (int c = 0; c < BC; ++c) {
            const float4 v = *reinterpret_cast<const float4*>(&Vs[c][tx * 4]);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float p = KPs[ty * 8 + i][c];
                o[i][0] = fmaf(p, v.x, o[i][0]);
                o[i][1] = fmaf(p, v.y, o[i][1]);
                o[i][2] = fmaf(p, v.z, o[i][2]);
                o[i][3] = fmaf(p, v.w, o[i][3]);
            }
        }
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = q0 + ty * 8 + i;
        const float inv = 1.0f / sum[i];
        *reinterpret_cast<float4*>(O + head + (size_t)row * D + tx * 4) =
            make_float4(o[i][0] * inv, o[i][1] * inv, o[i][2] * inv, o[i][3] * inv);
        if (tx == 0) logSum[(size_t)blockIdx.y * length + row] = top[i] + __logf(sum[i]);
    }
}
