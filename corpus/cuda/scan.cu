// SPDX-License-Identifier: Apache-2.0 -- exclusive prefix scan, 8 items a thread, in two kernels: serial dependence through registers and predicated shuffles.
// Block: 256 threads, 2048 items a block.
constexpr int ITEMS = 8;
constexpr int THREADS = 256;

extern "C" __global__ void scan_blocks(int n, const int* __restrict__ in, int* __restrict__ out,
                                       int* __restrict__ blockSums) {
    __shared__ int warpSums[THREADS / 32];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int base = (blockIdx.x * THREADS + tid) * ITEMS;

    int v[ITEMS];
    if (base + ITEMS <= n) {
        const int4 lo = *reinterpret_cast<const int4*>(in + base);
        const int4 hi = *reinterpret_cast<const int4*>(in + base + 4);
        v[0] = lo.x, v[1] = lo.y, v[2] = lo.z, v[3] = lo.w;
        v[4] = hi.x, v[5] = hi.y, v[6] = hi.z, v[7] = hi.w;
    } else {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) v[i] = base + i < n ? in[base + i] : 0;
    }
#pragma unroll
    for (int i = 1; i < ITEMS; ++i) v[i] += v[i - 1];

    int total = v[ITEMS - 1];
    int incl = total;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const int up = __shfl_up_sync(0xffffffffu, incl, d);
        if (lane >= d) incl += up;
    }
    if (lane == 31) warpSums[warp] = incl;
    __syncthreads();
    if (warp == 0) {
        int w = lane < THREADS / 32 ? warpSums[lane] : 0;
#pragma unroll
        for (int d = 1; d < THREADS / 32; d <<= 1) {
            const int up = __shfl_up_sync(0xffffffffu, w, d);
            if (lane >= d) w += up;
        }
        if (lane < THREADS / 32) warpSums[lane] = w;
    }
    __syncthreads();
    const int before = incl - total + (warp > 0 ? warpSums[warp - 1] : 0);
    if (tid == THREADS - 1) blockSums[blockIdx.x] = before + total;

    if (base + ITEMS <= n) {
        *reinterpret_cast<int4*>(out + base) = make_int4(before, before + v[0], before + v[1], before + v[2]);
        *reinterpret_cast<int4*>(out + base + 4) =
            make_int4(before + v[3], before + v[4], before + v[5], before + v[6]);
    } else {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            if (base + i < n) out[base + i] = before + (i > 0 ? v[i - 1] : 0);
    }
}

// Adds to each block's items the sums of the blocks before it, which the caller scanned.
extern "C" __global__ void scan_add(int n, int* __restrict__ out, const int* __restrict__ blockOffsets) {
    const int offset = blockOffsets[blockIdx.x];
    const int base = blockIdx.x * THREADS * ITEMS + threadIdx.x;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int at = base + i * THREADS;
        if (at < n) out[at] += offset;
    }
}
