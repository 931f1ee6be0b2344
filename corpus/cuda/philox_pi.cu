// SPDX-License-Identifier: Apache-2.0 -- Monte Carlo with the Philox 4x32-10 generator: widening multiplies whose 64-bit results are split at once into halves.
__device__ __forceinline__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        const unsigned long long p0 = (unsigned long long)c.x * 0xD2511F53u, p1 = (unsigned long long)c.z * 0xCD9E8D57u;
        c = make_uint4((unsigned)(p1 >> 32) ^ c.y ^ key.x, (unsigned)p1, (unsigned)(p0 >> 32) ^ c.w ^ key.y, (unsigned)p0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

extern "C" __global__ void philox_pi(unsigned long long seed, int samples, unsigned long long* __restrict__ inside,
                                     double* __restrict__ radii) {
    const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const uint2 key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    unsigned long long hits = 0;
    double radius = 0.0;
#pragma unroll 2
    for (int i = 0; i < samples; ++i) {
        const uint4 bits = philox(make_uint4((unsigned)i, 0, (unsigned)thread, (unsigned)(thread >> 32)), key);
        const double x0 = bits.x * 0x1p-32, y0 = bits.y * 0x1p-32, x1 = bits.z * 0x1p-32, y1 = bits.w * 0x1p-32;
        const double r0 = fma(x0, x0, y0 * y0), r1 = fma(x1, x1, y1 * y1);
        hits += (r0 < 1.0) + (r1 < 1.0);
        radius += sqrt(r0) + sqrt(r1);
    }
    inside[thread] = hits;
    radii[thread] = radius;
}
