// SPDX-License-Identifier: Apache-2.0 -- bitonic sort of 256 key-value pairs a warp, 8 a lane: long chains of compares, selects and shuffles that swap registers.
// Block: a multiple of 32 threads; each warp sorts its own 256 pairs.
constexpr int ITEMS = 8;

__device__ __forceinline__ void exchange(unsigned& ka, unsigned& va, unsigned& kb, unsigned& vb, bool up) {
    const bool swap = (ka > kb) == up;
    const unsigned k = swap ? kb : ka, v = swap ? vb : va;
    kb = swap ? ka : kb;
    vb = swap ? va : vb;
    ka = k;
    va = v;
}

extern "C" __global__ void bitonic_sort(unsigned* __restrict__ keys, unsigned* __restrict__ values) {
    const int lane = threadIdx.x % 32;
    const size_t base = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    unsigned k[ITEMS], v[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        const uint4 a = *reinterpret_cast<const uint4*>(keys + base + i);
        const uint4 b = *reinterpret_cast<const uint4*>(values + base + i);
        k[i] = a.x, k[i + 1] = a.y, k[i + 2] = a.z, k[i + 3] = a.w;
        v[i] = b.x, v[i + 1] = b.y, v[i + 2] = b.z, v[i + 3] = b.w;
    }
#pragma unroll
    for (int size = 2; size <= 32 * ITEMS; size *= 2) {
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2) {
            if (stride >= ITEMS) {
                const int hop = stride / ITEMS;
                const bool up = ((lane * ITEMS) & size) == 0;
                const bool keepLow = ((lane & hop) == 0) == up;
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
                    const unsigned ok = __shfl_xor_sync(0xffffffffu, k[i], hop);
                    const unsigned ov = __shfl_xor_sync(0xffffffffu, v[i], hop);
                    const bool take = keepLow ? ok < k[i] : ok > k[i];
                    k[i] = take ? ok : k[i];
                    v[i] = take ? ov : v[i];
                }
            } else {
#pragma unroll
                for (int i = 0; i < ITEMS; ++i)
                    if ((i & stride) == 0)
                        exchange(k[i], v[i], k[i | stride], v[i | stride], ((lane * ITEMS + i) & size) == 0);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i += 4) {
        *reinterpret_cast<uint4*>(keys + base + i) = make_uint4(k[i], k[i + 1], k[i + 2], k[i + 3]);
        *reinterpret_cast<uint4*>(values + base + i) = make_uint4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    }
}
