// SPDX-License-Identifier: Apache-2.0 -- double-buffered sgemm, 8x8 outputs a thread: 64 accumulators, 128-bit vectors of registers, prefetch held across the inner product.
// C = A * B, row-major; m and n multiples of 128, k a multiple of 8. Block: 256 threads, grid: (n/128, m/128).
constexpr int TILE = 128;
constexpr int DEPTH = 8;

extern "C" __global__ void gemm_8x8(int m, int n, int k, const float* __restrict__ A,
                                    const float* __restrict__ B, float* __restrict__ C) {
    __shared__ __align__(16) float As[2][DEPTH][TILE];
    __shared__ __align__(16) float Bs[2][DEPTH][TILE];

    const int tid = threadIdx.x;
    const int tx = tid % 16, ty = tid / 16;
    const int aRow = tid / 2, aCol = (tid % 2) * 4;
    const int bRow = tid / 32, bCol = (tid % 32) * 4;
    const float* aPtr = A + (size_t)(blockIdx.y * TILE + aRow) * k + aCol;
    const float* bPtr = B + (size_t)bRow * n + blockIdx.x * TILE + bCol;

    float4 aNext = *reinterpret_cast<const float4*>(aPtr);
    float4 bNext = *reinterpret_cast<const float4*>(bPtr);
    As[0][aCol + 0][aRow] = aNext.x;
    As[0][aCol + 1][aRow] = aNext.y;
    As[0][aCol + 2][aRow] = aNext.z;
    As[0][aCol + 3][aRow] = aNext.w;
    *reinterpret_cast<float4*>(&Bs[0][bRow][bCol]) = bNext;
    __syncthreads();

    float acc[8][8] = {};
    int cur = 0;
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        const bool more = k0 + DEPTH < k;
        if (more) {
            aPtr += DEPTH;
            bPtr += (size_t)DEPTH * n;
            aNext = *reinterpret_cast<const float4*>(aPtr);
            bNext = *reinterpret_cast<const float4*>(bPtr);
        }
#pragma unroll
        for (int kk = 0; kk < DEPTH; ++kk) {
            float a[8], b[8];
            *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&As[cur][kk][ty * 4]);
            *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(&As[cur][kk][64 + ty * 4]);
            *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(&Bs[cur][kk][tx * 4]);
            *reinterpret_cast<float4*>(b + 4) = *reinterpret_cast<const float4*>(&Bs[cur][kk][64 + tx * 4]);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        if (more) {
            cur ^= 1;
            As[cur][aCol + 0][aRow] = aNext.x;
            As[cur][aCol + 1][aRow] = aNext.y;
            As[cur][aCol + 2][aRow] = aNext.z;
            As[cur][aCol + 3][aRow] = aNext.w;
            *reinterpret_cast<float4*>(&Bs[cur][bRow][bCol]) = bNext;
            __syncthreads();
        }
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int r = blockIdx.y * TILE + (i / 4) * 64 + ty * 4 + i % 4;
        float* row = C + (size_t)r * n + blockIdx.x * TILE + tx * 4;
        *reinterpret_cast<float4*>(row) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        *reinterpret_cast<float4*>(row + 64) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
    }
}
