// SPDX-License-Identifier: Apache-2.0 -- sum, min, max and arg-max in one pass: mixed 32/64-bit accumulators through warp shuffles, 64-bit halves split and rejoined.
#include <math_constants.h>

struct Stats {
    double sum;
    long long isum;
    float lo, hi;
    unsigned long long at;
};

__device__ __forceinline__ void combine(Stats& a, const Stats& b) {
    a.sum += b.sum;
    a.isum += b.isum;
    a.lo = fminf(a.lo, b.lo);
    const bool take = b.hi > a.hi || (b.hi == a.hi && b.at < a.at);
    a.hi = take ? b.hi : a.hi;
    a.at = take ? b.at : a.at;
}

__device__ __forceinline__ void reduceWarp(Stats& s) {
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
        Stats o;
        o.sum = __shfl_down_sync(0xffffffffu, s.sum, d);
        o.isum = __shfl_down_sync(0xffffffffu, s.isum, d);
        o.lo = __shfl_down_sync(0xffffffffu, s.lo, d);
        o.hi = __shfl_down_sync(0xffffffffu, s.hi, d);
        o.at = __shfl_down_sync(0xffffffffu, s.at, d);
        combine(s, o);
    }
}

// One Stats a block; block: a multiple of 32 threads.
extern "C" __global__ void block_reduce(unsigned long long n, const float* __restrict__ x,
                                        const int* __restrict__ weight, double* __restrict__ sums,
                                        long long* __restrict__ isums, float2* __restrict__ bounds,
                                        unsigned long long* __restrict__ where) {
    __shared__ Stats partial[32];
    Stats s = {0.0, 0, CUDART_INF_F, -CUDART_INF_F, ~0ull};
    const unsigned long long stride = (unsigned long long)blockDim.x * gridDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float v = x[i];
        Stats one = {(double)v * weight[i], weight[i], v, v, i};
        combine(s, one);
    }
    reduceWarp(s);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) partial[warp] = s;
    __syncthreads();
    if (warp == 0) {
        const int warps = (blockDim.x + 31) / 32;
        if (lane < warps)
            s = partial[lane];
        else
            s = {0.0, 0, CUDART_INF_F, -CUDART_INF_F, ~0ull};
        reduceWarp(s);
        if (lane == 0) {
            sums[blockIdx.x] = s.sum;
            isums[blockIdx.x] = s.isum;
            bounds[blockIdx.x] = make_float2(s.lo, s.hi);
            where[blockIdx.x] = s.at;
        }
    }
}

extern "C" __global__ void block_vote(int n, const int* __restrict__ x, unsigned* __restrict__ masks,
                                      int* __restrict__ counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int v = i < n ? x[i] : 0;
    const unsigned odd = __ballot_sync(0xffffffffu, v & 1);
    const bool allPositive = __all_sync(0xffffffffu, v > 0);
    const bool anyBig = __any_sync(0xffffffffu, v > 1000);
    const int total = __reduce_add_sync(0xffffffffu, v);
    const int matches = __popc(__match_any_sync(0xffffffffu, v));
    const int odds = __syncthreads_count(v & 1);
    if (i < n) {
        masks[i] = odd ^ (allPositive ? 0x80000000u : 0u) ^ (anyBig ? 1u : 0u);
        counts[i] = total + matches * odds;
    }
}
