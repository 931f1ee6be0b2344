// SPDX-License-Identifier: Apache-2.0 -- SHA-256 of many messages, all 64 rounds unrolled: 8 rotating state words and a 16-word schedule, integer only.
// Each message is `blocks` padded 64-byte blocks; digests are words in host order.
__device__ __forceinline__ unsigned ror(unsigned x, int n) { return __funnelshift_r(x, x, n); }

extern "C" __global__ void sha256(int messages, int blocks, const uint4* __restrict__ data,
                                  uint4* __restrict__ digests) {
    constexpr unsigned K[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= messages) return;

    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint4* src = data + (size_t)i * blocks * 4;
    for (int block = 0; block < blocks; ++block, src += 4) {
        unsigned w[16];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const uint4 q = src[j];
            w[4 * j] = __byte_perm(q.x, 0, 0x0123);
            w[4 * j + 1] = __byte_perm(q.y, 0, 0x0123);
            w[4 * j + 2] = __byte_perm(q.z, 0, 0x0123);
            w[4 * j + 3] = __byte_perm(q.w, 0, 0x0123);
        }
        unsigned s[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) s[j] = h[j];
#pragma unroll
        for (int r = 0; r < 64; ++r) {
            if (r >= 16) {
                const unsigned x = w[(r + 1) % 16], y = w[(r + 14) % 16];
                const unsigned s0 = ror(x, 7) ^ ror(x, 18) ^ (x >> 3), s1 = ror(y, 17) ^ ror(y, 19) ^ (y >> 10);
                w[r % 16] += s0 + w[(r + 9) % 16] + s1;
            }
            const unsigned e = s[4], a = s[0];
            const unsigned t1 = s[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + K[r] + w[r % 16];
            const unsigned t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
#pragma unroll
            for (int j = 7; j > 0; --j) s[j] = s[j - 1];
            s[4] += t1;
            s[0] = t1 + t2;
        }
#pragma unroll
        for (int j = 0; j < 8; ++j) h[j] += s[j];
    }
    digests[2 * i] = make_uint4(h[0], h[1], h[2], h[3]);
    digests[2 * i + 1] = make_uint4(h[4], h[5], h[6], h[7]);
}
