// SPDX-License-Identifier: Apache-2.0 -- row softmax, one warp a row: a whole row cached in registers between three passes, one guard a value.
// Rows of at most 1024 values. Block: (32, rows a block), grid: ceil(rows / blockDim.y).
#include <math_constants.h>
constexpr int PER_LANE = 32;

extern "C" __global__ void softmax(int rows, int cols, const float* __restrict__ in, float* __restrict__ out) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const int lane = threadIdx.x;
    if (row >= rows) return;
    const float* src = in + (size_t)row * cols;
    float* dst = out + (size_t)row * cols;

    float v[PER_LANE];
    float top = -CUDART_INF_F;
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i) {
        const int c = lane + i * 32;
        v[i] = c < cols ? src[c] : -CUDART_INF_F;
        top = fmaxf(top, v[i]);
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i) {
        v[i] = __expf(v[i] - top);
        sum += v[i];
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);

    const float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < PER_LANE; ++i) {
        const int c = lane + i * 32;
        if (c < cols) dst[c] = v[i] * scale;
    }
}
