// SPDX-License-Identifier: Apache-2.0 -- 256-bin byte histogram, one copy a warp in shared memory: byte extraction from vectors, atomics with and without results.
// Block: 256 threads; bins zeroed by the caller.
constexpr int WARPS = 8;
constexpr int BINS = 256;

__device__ __forceinline__ void count4(unsigned* bins, unsigned word) {
    atomicAdd(&bins[word & 0xffu], 1u);
    atomicAdd(&bins[(word >> 8) & 0xffu], 1u);
    atomicAdd(&bins[(word >> 16) & 0xffu], 1u);
    atomicAdd(&bins[word >> 24], 1u);
}

extern "C" __global__ void histogram(size_t bytes, const unsigned char* __restrict__ data,
                                     unsigned* __restrict__ bins, unsigned* __restrict__ peak) {
    __shared__ unsigned local[WARPS][BINS];
    const int tid = threadIdx.x;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) local[w][tid] = 0;
    __syncthreads();

    unsigned* mine = local[tid / 32];
    const size_t vecs = bytes / 16;
    const size_t first = (size_t)blockIdx.x * blockDim.x + tid;
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    const uint4* src = reinterpret_cast<const uint4*>(data);
    for (size_t i = first; i < vecs; i += stride) {
        const uint4 v = src[i];
        count4(mine, v.x);
        count4(mine, v.y);
        count4(mine, v.z);
        count4(mine, v.w);
    }
    for (size_t i = vecs * 16 + first; i < bytes; i += stride) atomicAdd(&mine[data[i]], 1u);
    __syncthreads();

    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += local[w][tid];
    if (sum != 0) {
        const unsigned before = atomicAdd(&bins[tid], sum);
        atomicMax(peak, before + sum);
    }
}

// Float values into bins of unequal width, found by bisection; a compare-and-swap loop keeps the largest value of each bin.
extern "C" __global__ void histogram_edges(int n, const float* __restrict__ x, int edgesCount,
                                           const float* __restrict__ edges,
                                           unsigned long long* __restrict__ counts, float* __restrict__ largest) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float v = x[i];
        int lo = 0, hi = edgesCount;
        while (lo < hi) {
            const int mid = (lo + hi) >> 1;
            if (edges[mid] <= v)
                lo = mid + 1;
            else
                hi = mid;
        }
        atomicAdd(&counts[lo], 1ull);
        int* slot = reinterpret_cast<int*>(&largest[lo]);
        int seen = *reinterpret_cast<volatile int*>(slot);
        while (__int_as_float(seen) < v) {
            const int prior = atomicCAS(slot, seen, __float_as_int(v));
            if (prior == seen) break;
            seen = prior;
        }
    }
}
