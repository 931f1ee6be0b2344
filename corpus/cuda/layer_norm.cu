// SPDX-License-Identifier: Apache-2.0 -- layer norm with Welford statistics: float4 register cache, triples of values moved together through shuffles and shared memory.
// cols a multiple of 4, at most 4096. Block: 256 threads, one block a row.
constexpr int THREADS = 256;
constexpr int VECS = 4;

struct Moments {
    float mean, m2, count;
};

__device__ __forceinline__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    const float part = count > 0.0f ? b.count / count : 0.0f;
    const float delta = b.mean - a.mean;
    Moments r;
    r.mean = fmaf(delta, part, a.mean);
    r.m2 = a.m2 + b.m2 + delta * delta * a.count * part;
    r.count = count;
    return r;
}

__device__ __forceinline__ void add(Moments& s, float x) {
    s.count += 1.0f;
    const float delta = x - s.mean;
    s.mean += __fdividef(delta, s.count);
    s.m2 = fmaf(delta, x - s.mean, s.m2);
}

__device__ __forceinline__ Moments shuffled(Moments s, int d) {
    Moments r;
    r.mean = __shfl_xor_sync(0xffffffffu, s.mean, d);
    r.m2 = __shfl_xor_sync(0xffffffffu, s.m2, d);
    r.count = __shfl_xor_sync(0xffffffffu, s.count, d);
    return r;
}

extern "C" __global__ void layer_norm(int cols, float eps, const float4* __restrict__ x,
                                      const float4* __restrict__ gamma, const float4* __restrict__ beta,
                                      float4* __restrict__ y, float* __restrict__ meanOut,
                                      float* __restrict__ rstdOut) {
    __shared__ Moments partial[THREADS / 32];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int vecs = cols / 4;
    const float4* src = x + (size_t)blockIdx.x * vecs;

    float4 v[VECS];
    Moments s = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < VECS; ++i) {
        const int c = tid + i * THREADS;
        if (c < vecs) {
            v[i] = src[c];
            add(s, v[i].x);
            add(s, v[i].y);
            add(s, v[i].z);
            add(s, v[i].w);
        }
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) s = merge(s, shuffled(s, d));
    if (lane == 0) partial[warp] = s;
    __syncthreads();
    s = partial[lane % (THREADS / 32)];
#pragma unroll
    for (int d = THREADS / 64; d > 0; d >>= 1) s = merge(s, shuffled(s, d));

    const float rstd = rsqrtf(s.m2 / s.count + eps);
    if (tid == 0) {
        meanOut[blockIdx.x] = s.mean;
        rstdOut[blockIdx.x] = rstd;
    }
    float4* dst = y + (size_t)blockIdx.x * vecs;
#pragma unroll
    for (int i = 0; i < VECS; ++i) {
        const int c = tid + i * THREADS;
        if (c < vecs) {
            const float4 g = gamma[c], b = beta[c];
            float4 o;
            o.x = fmaf((v[i].x - s.mean) * rstd, g.x, b.x);
            o.y = fmaf((v[i].y - s.mean) * rstd, g.y, b.y);
            o.z = fmaf((v[i].z - s.mean) * rstd, g.z, b.z);
            o.w = fmaf((v[i].w - s.mean) * rstd, g.w, b.w);
            dst[c] = o;
        }
    }
}
