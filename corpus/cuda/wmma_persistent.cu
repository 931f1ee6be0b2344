// SPDX-License-Identifier: Apache-2.0 -- a persistent wmma gemm: blocks walk over tiles, sums begin from C in shared memory, copies of A and B by the lanes between two barriers.
// D = alpha * A * B + beta * C, A row-major, B column-major, C and D row-major; all sizes multiples of 128. Block: 256 threads, eight warps of 2x4 fragments.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int TILE = 128;          // rows and columns of a block's tile
constexpr int CHUNK = 64;          // of k
constexpr int LD = CHUNK + 16;
constexpr int WARP_ROWS = 2, WARP_COLS = 4;

extern "C" __global__ void wmma_persistent(int m, int n, int k, const half* __restrict__ A, const half* __restrict__ B,
                                           const float* __restrict__ C, float* __restrict__ D, float alpha, float beta) {
    extern __shared__ __align__(32) half chunks[];  // rows of A, then columns of B; at either end of a tile the sums
    float* const sums = (float*)chunks;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float* const warpSums = sums + (warp / 2) * 32 * TILE + (warp % 2) * 64;
    float* const warpStream = sums + warp * 16 * TILE;
    beta /= alpha;
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        const int tileRow = tile * TILE / n * TILE, tileCol = tile * TILE % n;
        if (tileRow >= m) break;
        const size_t at = (size_t)(tileRow + warp * 16) * n + tileCol;
#pragma unroll
        for (int i = 0; i < 16; ++i) *((int4*)(warpStream + TILE * i) + lane) = *((const int4*)(C + at + (size_t)n * i) + lane);
        __syncthreads();

        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[WARP_ROWS][WARP_COLS];
#pragma unroll
        for (int i = 0; i < WARP_ROWS; ++i)
#pragma unroll
            for (int j = 0; j < WARP_COLS; ++j) {
                wmma::load_matrix_sync(c[i][j], warpSums + i * 16 * TILE + j * 16, TILE, wmma::mem_row_major);
#pragma unroll
                for (int e = 0; e < c[i][j].num_elements; ++e) c[i][j].x[e] *= beta;
            }
        __syncthreads();

        const half* const from = warp < 4 ? A + (size_t)(tileRow + warp * 32) * k : B + (size_t)(tileCol + (warp - 4) * 32) * k;
        for (int k0 = 0; k0 < k; k0 += CHUNK) {
            int to = (warp < 4 ? warp * 32 : TILE + (warp - 4) * 32) + lane / 8;
            const int4* lanePtr = (const int4*)(from + k0 + (size_t)(lane / 8) * k) + lane % 8;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                *((int4*)&chunks[to * LD] + lane % 8) = *lanePtr;
                lanePtr = (const int4*)((const half*)lanePtr + (size_t)4 * k);
                to += 4;
            }
            __syncthreads();
#pragma unroll
            for (int step = 0; step < CHUNK / 16; ++step) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[WARP_ROWS];
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b[WARP_COLS];
#pragma unroll
                for (int i = 0; i < WARP_ROWS; ++i) {
                    wmma::load_matrix_sync(a[i], &chunks[((warp / 2) * 32 + i * 16) * LD + step * 16], LD);
#pragma unroll
                    for (int j = 0; j < WARP_COLS; ++j) {
                        if (i == 0) wmma::load_matrix_sync(b[j], &chunks[(TILE + (warp % 2) * 64 + j * 16) * LD + step * 16], LD);
                        wmma::mma_sync(c[i][j], a[i], b[j], c[i][j]);
                    }
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < WARP_ROWS; ++i)
#pragma unroll
            for (int j = 0; j < WARP_COLS; ++j) {
#pragma unroll
                for (int e = 0; e < c[i][j].num_elements; ++e) c[i][j].x[e] *= alpha;
                wmma::store_matrix_sync(warpSums + i * 16 * TILE + j * 16, c[i][j], TILE, wmma::mem_row_major);
            }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) *((int4*)(D + at + (size_t)n * i) + lane) = *((const int4*)(warpStream + TILE * i) + lane);
        __syncthreads();
    }
}
