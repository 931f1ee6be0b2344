// SPDX-License-Identifier: Apache-2.0 -- bounds-checked sgemm, 4x4 outputs a thread: 16 accumulators live across a loop with guarded loads.
// C[m][n] = alpha * A[m][k] * B[k][n] + beta * C. Block: 16x16 threads, grid: (ceil(n/64), ceil(m/64)).
constexpr int TILE = 64;
constexpr int DEPTH = 16;

extern "C" __global__ void gemm_4x4(int m, int n, int k, float alpha, const float* __restrict__ A,
                                    const float* __restrict__ B, float beta, float* __restrict__ C) {
    __shared__ float As[DEPTH][TILE + 4];
    __shared__ float Bs[DEPTH][TILE + 4];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int tid = ty * 16 + tx;
    const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

    float acc[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int e = tid + i * 256;
            const int ar = e / DEPTH, ak = e % DEPTH;
            const bool aIn = row0 + ar < m && k0 + ak < k;
            As[ak][ar] = aIn ? A[(size_t)(row0 + ar) * k + k0 + ak] : 0.0f;
            const int bk = e / TILE, bc = e % TILE;
            const bool bIn = col0 + bc < n && k0 + bk < k;
            Bs[bk][bc] = bIn ? B[(size_t)(k0 + bk) * n + col0 + bc] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < DEPTH; ++kk) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                a[i] = As[kk][ty * 4 + i];
                b[i] = Bs[kk][tx * 4 + i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int r = row0 + ty * 4 + i, c = col0 + tx * 4 + j;
            if (r < m && c < n) {
                float* p = C + (size_t)r * n + c;
                *p = beta == 0.0f ? alpha * acc[i][j] : fmaf(beta, *p, alpha * acc[i][j]);
            }
        }
}
