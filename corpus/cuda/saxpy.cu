// SPDX-License-Identifier: Apache-2.0 -- saxpy, grid-stride loop: the low-pressure baseline, address arithmetic only.
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}
