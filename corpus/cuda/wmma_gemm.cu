// SPDX-License-Identifier: Apache-2.0 -- wmma gemms: a warp holds 4x4 accumulator fragments through the loop (8x4 in double precision), the next tiles wait in registers.
// C = A * B, row-major; m, n and k multiples of the tile. Block: 128 threads, two by two warps, grid: (n / BN, m / BM).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// A kind of product: elements as they are stored, as the fragments take them, the sums; the shape of a fragment and the tile in k.
template <class Stored_, class Taken_, class Sum_, int M_, int N_, int K_, int ROWS_, int BK_>
struct Product {
    using Stored = Stored_;
    using Taken = Taken_;
    using Sum = Sum_;
    static constexpr int M = M_, N = N_, K = K_, ROWS = ROWS_, COLS = 4, BK = BK_;
    static constexpr int BM = 2 * ROWS * M, BN = 2 * COLS * N;
    static constexpr int VEC = 16 / sizeof(Stored);
    static constexpr int LDA = BK + VEC, LDB = BN + VEC;
    static constexpr int LOADS_A = BM * BK / VEC / 128, LOADS_B = BK * BN / VEC / 128;
};

template <class Fragment>
__device__ __forceinline__ void round(Fragment& f, const float*) {
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
}
template <class Fragment, class Other>
__device__ __forceinline__ void round(Fragment&, const Other*) {}

template <class P>
__device__ __forceinline__ void gemm(int n, int k, const typename P::Stored* __restrict__ A,
                                     const typename P::Stored* __restrict__ B, typename P::Sum* __restrict__ C) {
    using Stored = typename P::Stored;
    __shared__ __align__(16) Stored As[2][P::BM * P::LDA];
    __shared__ __align__(16) Stored Bs[2][P::BK * P::LDB];
    const int tid = threadIdx.x, warp = tid / 32;
    const int warpRow = (warp / 2) * P::ROWS * P::M, warpCol = (warp % 2) * P::COLS * P::N;
    const int row0 = blockIdx.y * P::BM, col0 = blockIdx.x * P::BN;
    int4 nextA[P::LOADS_A], nextB[P::LOADS_B];

    auto fetch = [&](int k0) {
#pragma unroll
        for (int i = 0; i < P::LOADS_A; ++i) {
            const int at = (tid + i * 128) * P::VEC, r = at / P::BK, c = at % P::BK;
            nextA[i] = *(const int4*)&A[(size_t)(row0 + r) * k + k0 + c];
        }
#pragma unroll
        for (int i = 0; i < P::LOADS_B; ++i) {
            const int at = (tid + i * 128) * P::VEC, r = at / P::BN, c = at % P::BN;
            nextB[i] = *(const int4*)&B[(size_t)(k0 + r) * n + col0 + c];
        }
    };
    auto put = [&](int stage) {
#pragma unroll
        for (int i = 0; i < P::LOADS_A; ++i) {
            const int at = (tid + i * 128) * P::VEC;
            *(int4*)&As[stage][at / P::BK * P::LDA + at % P::BK] = nextA[i];
        }
#pragma unroll
        for (int i = 0; i < P::LOADS_B; ++i) {
            const int at = (tid + i * 128) * P::VEC;
            *(int4*)&Bs[stage][at / P::BN * P::LDB + at % P::BN] = nextB[i];
        }
    };

    wmma::fragment<wmma::accumulator, P::M, P::N, P::K, typename P::Sum> sum[P::ROWS][P::COLS];
#pragma unroll
    for (int i = 0; i < P::ROWS; ++i)
#pragma unroll
        for (int j = 0; j < P::COLS; ++j) wmma::fill_fragment(sum[i][j], typename P::Sum(0));

    fetch(0);
    put(0);
    __syncthreads();
    int stage = 0;
    for (int k0 = 0; k0 < k; k0 += P::BK) {
        const bool goesOn = k0 + P::BK < k;
        if (goesOn) fetch(k0 + P::BK);
#pragma unroll
        for (int kk = 0; kk < P::BK; kk += P::K) {
            wmma::fragment<wmma::matrix_a, P::M, P::N, P::K, typename P::Taken, wmma::row_major> a[P::ROWS];
            wmma::fragment<wmma::matrix_b, P::M, P::N, P::K, typename P::Taken, wmma::row_major> b[P::COLS];
#pragma unroll
            for (int i = 0; i < P::ROWS; ++i) {
                wmma::load_matrix_sync(a[i], &As[stage][(warpRow + i * P::M) * P::LDA + kk], P::LDA);
                round(a[i], As[0]);
            }
#pragma unroll
            for (int j = 0; j < P::COLS; ++j) {
                wmma::load_matrix_sync(b[j], &Bs[stage][kk * P::LDB + warpCol + j * P::N], P::LDB);
                round(b[j], Bs[0]);
            }
#pragma unroll
            for (int i = 0; i < P::ROWS; ++i)
#pragma unroll
                for (int j = 0; j < P::COLS; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
        }
        if (goesOn) put(stage ^ 1);
        __syncthreads();
        stage ^= 1;
    }
#pragma unroll
    for (int i = 0; i < P::ROWS; ++i)
#pragma unroll
        for (int j = 0; j < P::COLS; ++j)
            wmma::store_matrix_sync(&C[(size_t)(row0 + warpRow + i * P::M) * n + col0 + warpCol + j * P::N], sum[i][j], n,
                                    wmma::mem_row_major);
}

extern "C" __global__ void wmma_gemm_f16(int n, int k, const half* __restrict__ A, const half* __restrict__ B,
                                         float* __restrict__ C) {
    gemm<Product<half, half, float, 16, 16, 16, 4, 32>>(n, k, A, B, C);
}

extern "C" __global__ void wmma_gemm_bf16(int n, int k, const __nv_bfloat16* __restrict__ A,
                                          const __nv_bfloat16* __restrict__ B, float* __restrict__ C) {
    gemm<Product<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, 4, 32>>(n, k, A, B, C);
}

extern "C" __global__ void wmma_gemm_tf32(int n, int k, const float* __restrict__ A, const float* __restrict__ B,
                                          float* __restrict__ C) {
    gemm<Product<float, wmma::precision::tf32, float, 16, 16, 8, 4, 16>>(n, k, A, B, C);
}

extern "C" __global__ void wmma_gemm_s8(int n, int k, const signed char* __restrict__ A, const signed char* __restrict__ B,
                                        int* __restrict__ C) {
    gemm<Product<signed char, signed char, int, 16, 16, 16, 4, 64>>(n, k, A, B, C);
}

extern "C" __global__ void wmma_gemm_f64(int n, int k, const double* __restrict__ A, const double* __restrict__ B,
                                         double* __restrict__ C) {
    gemm<Product<double, double, double, 8, 8, 4, 8, 8>>(n, k, A, B, C);
}
