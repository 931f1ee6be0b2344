// SPDX-License-Identifier: Apache-2.0 -- dgemm, 8x8 double outputs a thread: 64 register pairs live across the loop, all needing even alignment.
// C = alpha * A * B + beta * C, row-major; m and n multiples of 64, k a multiple of 8. Block: 64 threads, grid: (n/64, m/64).
constexpr int TILE = 64;
constexpr int DEPTH = 8;

extern "C" __global__ void dgemm_8x8(int m, int n, int k, double alpha, const double* __restrict__ A,
                                     const double* __restrict__ B, double beta, double* __restrict__ C) {
    __shared__ __align__(16) double As[DEPTH][TILE + 2];
    __shared__ __align__(16) double Bs[DEPTH][TILE + 2];

    const int tid = threadIdx.x;
    const int tx = tid % 8, ty = tid / 8;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

    double acc[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        const double* aPtr = A + (size_t)(row0 + tid) * k + k0;
        const double* bPtr = B + (size_t)k0 * n + col0 + tid;
#pragma unroll
        for (int i = 0; i < DEPTH; i += 2) {
            const double2 v = *reinterpret_cast<const double2*>(aPtr + i);
            As[i][tid] = v.x;
            As[i + 1][tid] = v.y;
        }
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) Bs[i][tid] = bPtr[(size_t)i * n];
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < DEPTH; ++kk) {
            double a[8], b[8];
#pragma unroll
            for (int i = 0; i < 8; i += 2) {
                *reinterpret_cast<double2*>(a + i) = *reinterpret_cast<const double2*>(&As[kk][ty * 8 + i]);
                *reinterpret_cast<double2*>(b + i) = *reinterpret_cast<const double2*>(&Bs[kk][tx * 8 + i]);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] = fma(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        double* row = C + (size_t)(row0 + ty * 8 + i) * n + col0 + tx * 8;
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            const double2 old = *reinterpret_cast<const double2*>(row + j);
            double2 v;
            v.x = fma(beta, old.x, alpha * acc[i][j]);
            v.y = fma(beta, old.y, alpha * acc[i][j + 1]);
            *reinterpret_cast<double2*>(row + j) = v;
        }
    }
}
