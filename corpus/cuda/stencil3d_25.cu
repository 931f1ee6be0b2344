// SPDX-License-Identifier: Apache-2.0 -- 25-point wave-equation stencil marching in z: a 9-deep register queue shifted each step (chains of loop-carried copies).
// Radius 4. Block: 32x16 threads; nx and ny include a halo of 4 at each side, nz too.
constexpr int R = 4;
constexpr int BX = 32;
constexpr int BY = 16;

extern "C" __global__ void stencil3d_25(int nx, int ny, int nz, const float* __restrict__ coef,
                                        const float* __restrict__ now, const float* __restrict__ velocity,
                                        float* __restrict__ next) {
    __shared__ float tile[BY + 2 * R][BX + 2 * R];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * BX + tx + R, y = blockIdx.y * BY + ty + R;
    const bool inside = x < nx - R && y < ny - R;
    const size_t plane = (size_t)nx * ny;
    const int cx = min(x, nx - 1), cy = min(y, ny - 1);

    const float c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3], c4 = coef[4];
    size_t at = (size_t)cy * nx + cx;

    float q[2 * R + 1];
#pragma unroll
    for (int i = 1; i < 2 * R + 1; ++i) q[i] = now[at + (i - 1) * plane];
    at += (R - 1) * plane;

    for (int z = R; z < nz - R; ++z) {
        at += plane;
#pragma unroll
        for (int i = 0; i < 2 * R; ++i) q[i] = q[i + 1];
        q[2 * R] = now[at + R * plane];

        __syncthreads();
        tile[ty + R][tx + R] = q[R];
        if (tx < R) {
            tile[ty + R][tx] = now[at - R];
            tile[ty + R][tx + BX + R] = x + BX < nx ? now[at + BX] : 0.0f;
        }
        if (ty < R) {
            tile[ty][tx + R] = now[at - (size_t)R * nx];
            tile[ty + BY + R][tx + R] = y + BY < ny ? now[at + (size_t)BY * nx] : 0.0f;
        }
        __syncthreads();

        const float c[R + 1] = {c0, c1, c2, c3, c4};
        float lap = 3.0f * c0 * q[R];
#pragma unroll
        for (int d = 1; d <= R; ++d) {
            const float ring = q[R - d] + q[R + d] + tile[ty + R][tx + R - d] + tile[ty + R][tx + R + d] +
                               tile[ty + R - d][tx + R] + tile[ty + R + d][tx + R];
            lap = fmaf(c[d], ring, lap);
        }
        if (inside) next[at] = 2.0f * q[R] - next[at] + velocity[at] * lap;
    }
}
