// SPDX-License-Identifier: Apache-2.0 -- LU with partial pivoting of one 8x8 matrix a thread, all in registers: row swaps become webs of selects under computed predicates.
// Element (r, c) of matrix i is at (r * 8 + c) * n + i. Pivots are rows, 4 bits each; a singular matrix sets status.
constexpr int N = 8;

extern "C" __global__ void lu_batched(int n, float* __restrict__ a, float* __restrict__ rhs,
                                      unsigned* __restrict__ pivots, int* __restrict__ status) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[N][N], b[N];
#pragma unroll
    for (int r = 0; r < N; ++r) {
        b[r] = rhs[(size_t)r * n + i];
#pragma unroll
        for (int c = 0; c < N; ++c) m[r][c] = a[(size_t)(r * N + c) * n + i];
    }
    unsigned perm = 0;
    int bad = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) {
        int p = k;
        float best = fabsf(m[k][k]);
#pragma unroll
        for (int r = k + 1; r < N; ++r) {
            const float v = fabsf(m[r][k]);
            p = v > best ? r : p;
            best = v > best ? v : best;
        }
        perm |= (unsigned)p << (4 * k);
        if (best == 0.0f) bad = k + 1;
#pragma unroll
        for (int r = k + 1; r < N; ++r) {
            const bool swap = r == p;
#pragma unroll
            for (int c = 0; c < N; ++c) {
                const float t = m[k][c];
                m[k][c] = swap ? m[r][c] : t;
                m[r][c] = swap ? t : m[r][c];
            }
            const float t = b[k];
            b[k] = swap ? b[r] : t;
            b[r] = swap ? t : b[r];
        }
        const float inv = 1.0f / m[k][k];
#pragma unroll
        for (int r = k + 1; r < N; ++r) {
            const float f = m[r][k] * inv;
            m[r][k] = f;
#pragma unroll
            for (int c = k + 1; c < N; ++c) m[r][c] = fmaf(-f, m[k][c], m[r][c]);
            b[r] = fmaf(-f, b[k], b[r]);
        }
    }
#pragma unroll
    for (int r = N - 1; r >= 0; --r) {
#pragma unroll
        for (int c = r + 1; c < N; ++c) b[r] = fmaf(-m[r][c], b[c], b[r]);
        b[r] /= m[r][r];
    }
#pragma unroll
    for (int r = 0; r < N; ++r) {
        rhs[(size_t)r * n + i] = b[r];
#pragma unroll
        for (int c = 0; c < N; ++c) a[(size_t)(r * N + c) * n + i] = m[r][c];
    }
    pivots[i] = perm;
    status[i] = bad;
}
