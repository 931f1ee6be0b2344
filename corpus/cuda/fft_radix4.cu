// SPDX-License-Identifier: Apache-2.0 -- 4096-point complex FFT, 16 points a thread as two radix-4 steps: 32 floats in butterflies, all values live through each stage.
// Block: 256 threads, one block a transform.
constexpr int POINTS = 4096;
constexpr int THREADS = POINTS / 16;

__device__ __forceinline__ float2 mul(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

__device__ __forceinline__ void radix4(float2& a, float2& b, float2& c, float2& d) {
    const float2 s0 = plus(a, c), s1 = minus(a, c), s2 = plus(b, d), t = minus(b, d);
    const float2 s3 = make_float2(t.y, -t.x);
    a = plus(s0, s2);
    b = plus(s1, s3);
    c = minus(s0, s2);
    d = minus(s1, s3);
}

// In natural order in, in natural order out.
__device__ __forceinline__ void radix16(float2 (&v)[16]) {
    constexpr float C1 = 0.923879532511286756f, S1 = 0.382683432365089772f, H = 0.707106781186547524f;
#pragma unroll
    for (int i = 0; i < 4; ++i) radix4(v[i], v[i + 4], v[i + 8], v[i + 12]);
    v[5] = mul(v[5], make_float2(C1, -S1));
    v[6] = mul(v[6], make_float2(H, -H));
    v[7] = mul(v[7], make_float2(S1, -C1));
    v[9] = mul(v[9], make_float2(H, -H));
    v[10] = make_float2(v[10].y, -v[10].x);
    v[11] = mul(v[11], make_float2(-H, -H));
    v[13] = mul(v[13], make_float2(S1, -C1));
    v[14] = mul(v[14], make_float2(-H, -H));
    v[15] = mul(v[15], make_float2(-C1, S1));
#pragma unroll
    for (int i = 0; i < 4; ++i) radix4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    float2 o[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) o[i] = v[(i % 4) * 4 + i / 4];
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = o[i];
}

__device__ __forceinline__ void twiddle(float2 (&v)[16], int j, int span) {
    float s, c;
    sincospif(-2.0f * (float)j / (float)(span * 16), &s, &c);
    const float2 w = make_float2(c, s);
    float2 p = w;
#pragma unroll
    for (int r = 1; r < 16; ++r) {
        v[r] = mul(v[r], p);
        p = mul(p, w);
    }
}

__device__ __forceinline__ void exchange(float2 (&v)[16], float* plane, int to, int step, int from) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 16; ++r) plane[to + r * step] = v[r].x;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r].x = plane[from + r * THREADS];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 16; ++r) plane[to + r * step] = v[r].y;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r].y = plane[from + r * THREADS];
}

extern "C" __global__ void fft_radix4(const float2* __restrict__ in, float2* __restrict__ out) {
    __shared__ float plane[POINTS];
    const int j = threadIdx.x;
    const float2* src = in + (size_t)blockIdx.x * POINTS;
    float2* dst = out + (size_t)blockIdx.x * POINTS;

    float2 v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) v[r] = src[j + r * THREADS];
    radix16(v);
    exchange(v, plane, j * 16, 1, j);
    twiddle(v, j % 16, 16);
    radix16(v);
    exchange(v, plane, (j / 16) * 256 + j % 16, 16, j);
    twiddle(v, j, 256);
    radix16(v);
#pragma unroll
    for (int r = 0; r < 16; ++r) dst[j + r * 256] = v[r];
}
