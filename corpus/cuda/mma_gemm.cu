// SPDX-License-Identifier: Apache-2.0 -- half-precision tensor-core gemm: a 4x4 grid of m16n8k16 accumulators a warp, fragments in fixed groups of registers, asynchronous copies.
// C = A * B, row-major, half in and float out; m and n multiples of 128, k a multiple of 32. Block: 256 threads, grid: (n/128, m/128).
#include <cuda_fp16.h>
constexpr int BM = 128;
constexpr int BN = 128;
constexpr int BK = 32;
constexpr int LDA = BK + 8;
constexpr int LDB = BN + 8;

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

extern "C" __global__ void mma_gemm(int n, int k, const half* __restrict__ A, const half* __restrict__ B,
                                    float* __restrict__ C) {
    __shared__ __align__(16) half As[2][BM * LDA];
    __shared__ __align__(16) half Bs[2][BK * LDB];

    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int warpRow = (warp / 4) * 64, warpCol = (warp % 4) * 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const half* aSrc = A + (size_t)(row0 + tid / 4) * k + (tid % 4) * 8;
    const half* bSrc = B + (size_t)(tid / 16) * n + col0 + (tid % 16) * 8;
    const int aDst = (tid / 4) * LDA + (tid % 4) * 8;
    const int bDst = (tid / 16) * LDB + (tid % 16) * 8;

    auto fetch = [&](int stage, int k0) {
        copyAsync(&As[stage][aDst], aSrc + k0);
        copyAsync(&As[stage][aDst + 64 * LDA], aSrc + (size_t)64 * k + k0);
        copyAsync(&Bs[stage][bDst], bSrc + (size_t)k0 * n);
        copyAsync(&Bs[stage][bDst + 16 * LDB], bSrc + (size_t)(k0 + 16) * n);
        copyCommit();
    };

    float acc[4][4][4] = {};
    fetch(0, 0);
    int stage = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        if (k0 + BK < k) {
            fetch(stage ^ 1, k0 + BK);
            copyWait<1>();
        } else {
            copyWait<0>();
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                loadMatrix(a[i], &As[stage][(warpRow + i * 16 + lane % 16) * LDA + kk + (lane / 16) * 8]);
#pragma unroll
            for (int j = 0; j < 2; ++j)
                loadMatrixTrans(b[j], &Bs[stage][(kk + lane % 16) * LDB + warpCol + j * 16 + (lane / 16) * 8]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) mma(acc[i][j], a[i], b[j / 2][(j % 2) * 2], b[j / 2][(j % 2) * 2 + 1]);
        }
        __syncthreads();
        stage ^= 1;
    }

#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int r = row0 + warpRow + i * 16 + lane / 4;
            const int c = col0 + warpCol + j * 8 + (lane % 4) * 2;
            *reinterpret_cast<float2*>(C + (size_t)r * n + c) = make_float2(acc[i][j][0], acc[i][j][1]);
            *reinterpret_cast<float2*>(C + (size_t)(r + 8) * n + c) = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}
