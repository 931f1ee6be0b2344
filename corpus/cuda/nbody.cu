// SPDX-License-Identifier: Apache-2.0 -- all-pairs n-body step, 4 bodies a thread: many accumulators and rsqrt chains in an unrolled loop with long latencies to hide.
// n a multiple of 512. Block: 128 threads, grid: n/512.
constexpr int THREADS = 128;
constexpr int BODIES = 4;

extern "C" __global__ void nbody(int n, float dt, float softening, const float4* __restrict__ posIn,
                                 float4* __restrict__ posOut, float4* __restrict__ vel) {
    __shared__ float4 tile[THREADS];
    const int tid = threadIdx.x;
    const int first = blockIdx.x * THREADS * BODIES + tid;

    float px[BODIES], py[BODIES], pz[BODIES], mass[BODIES];
    float ax[BODIES] = {}, ay[BODIES] = {}, az[BODIES] = {};
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const float4 p = posIn[first + b * THREADS];
        px[b] = p.x, py[b] = p.y, pz[b] = p.z, mass[b] = p.w;
    }
    for (int t = 0; t < n; t += THREADS) {
        tile[tid] = posIn[t + tid];
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < THREADS; ++i) {
            const float4 o = tile[i];
#pragma unroll
            for (int b = 0; b < BODIES; ++b) {
                const float dx = o.x - px[b], dy = o.y - py[b], dz = o.z - pz[b];
                const float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
                const float inv = rsqrtf(r2);
                const float f = o.w * inv * inv * inv;
                ax[b] = fmaf(dx, f, ax[b]);
                ay[b] = fmaf(dy, f, ay[b]);
                az[b] = fmaf(dz, f, az[b]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int b = 0; b < BODIES; ++b) {
        const int i = first + b * THREADS;
        float4 v = vel[i];
        v.x = fmaf(ax[b], dt, v.x);
        v.y = fmaf(ay[b], dt, v.y);
        v.z = fmaf(az[b], dt, v.z);
        vel[i] = v;
        posOut[i] = make_float4(fmaf(v.x, dt, px[b]), fmaf(v.y, dt, py[b]), fmaf(v.z, dt, pz[b]), mass[b]);
    }
}
