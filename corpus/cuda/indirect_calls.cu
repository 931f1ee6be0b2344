// SPDX-License-Identifier: Apache-2.0 -- calls through a table of function pointers: the callee's registers are unknown, so every live value must survive the most demanding one.
typedef float (*Activation)(float, float);

extern "C" __device__ float act_relu(float x, float a) { return x > 0.0f ? x : a * x; }
extern "C" __device__ float act_elu(float x, float a) { return x > 0.0f ? x : a * expm1f(x); }
extern "C" __device__ float act_swish(float x, float a) { return x / (1.0f + expf(-a * x)); }
extern "C" __device__ float act_gelu(float x, float a) {
    return 0.5f * x * (1.0f + tanhf(0.797884560802865f * fmaf(a * x * x, x, x)));
}

extern "C" __device__ Activation activations[4] = {act_relu, act_elu, act_swish, act_gelu};

// A small perceptron: 8 values a thread through `layers` dense 8x8 layers, each with its own activation.
extern "C" __global__ void indirect_calls(int n, int layers, const float* __restrict__ weights,
                                          const unsigned char* __restrict__ kinds, float slope, float* values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = values[i + j * n];
    for (int l = 0; l < layers; ++l) {
        const Activation f = activations[kinds[l] & 3];
        const float* w = weights + l * 72;
        float next[8];
#pragma unroll
        for (int r = 0; r < 8; ++r) {
            float sum = w[64 + r];
#pragma unroll
            for (int c = 0; c < 8; ++c) sum = fmaf(w[r * 8 + c], v[c], sum);
            next[r] = f(sum, slope);
        }
#pragma unroll
        for (int j = 0; j < 8; ++j) v[j] = next[j];
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) values[i + j * n] = v[j];
}
