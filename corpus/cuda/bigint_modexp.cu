// SPDX-License-Identifier: Apache-2.0 -- 256-bit Montgomery exponentiation: carry chains, which hold a flag no allocator may clobber, over 26 live limbs.
constexpr int LIMBS = 8;

extern "C" {
__constant__ unsigned modulus[LIMBS];   // odd
__constant__ unsigned modulusInverse;   // -1 / modulus[0] mod 2^32
__constant__ unsigned montgomeryOne[LIMBS];
}

__device__ __forceinline__ unsigned madLoCC(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm volatile("mad.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ unsigned madcLoCC(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm volatile("madc.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ unsigned madHiCC(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm volatile("mad.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ unsigned madcHiCC(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm volatile("madc.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ unsigned addcCC(unsigned a, unsigned b) {
    unsigned r;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ __forceinline__ unsigned addc(unsigned a, unsigned b) {
    unsigned r;
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ __forceinline__ unsigned subCC(unsigned a, unsigned b) {
    unsigned r;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ __forceinline__ unsigned subcCC(unsigned a, unsigned b) {
    unsigned r;
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__device__ __forceinline__ unsigned subc(unsigned a, unsigned b) {
    unsigned r;
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

// t += a * b, t of LIMBS + 2 limbs.
__device__ __forceinline__ void accumulate(unsigned (&t)[LIMBS + 2], const unsigned (&a)[LIMBS], unsigned b) {
    t[0] = madLoCC(a[0], b, t[0]);
#pragma unroll
    for (int j = 1; j < LIMBS; ++j) t[j] = madcLoCC(a[j], b, t[j]);
    t[LIMBS] = addcCC(t[LIMBS], 0);
    t[LIMBS + 1] = addc(t[LIMBS + 1], 0);
    t[1] = madHiCC(a[0], b, t[1]);
#pragma unroll
    for (int j = 1; j < LIMBS; ++j) t[j + 1] = madcHiCC(a[j], b, t[j + 1]);
    t[LIMBS + 1] = addc(t[LIMBS + 1], 0);
}

__device__ __forceinline__ void multiply(unsigned (&r)[LIMBS], const unsigned (&a)[LIMBS], const unsigned (&b)[LIMBS],
                                         const unsigned (&p)[LIMBS], unsigned inverse) {
    unsigned t[LIMBS + 2] = {};
#pragma unroll
    for (int i = 0; i < LIMBS; ++i) {
        accumulate(t, a, b[i]);
        accumulate(t, p, t[0] * inverse);
#pragma unroll
        for (int j = 0; j <= LIMBS; ++j) t[j] = t[j + 1];
        t[LIMBS + 1] = 0;
    }
    unsigned d[LIMBS];
    d[0] = subCC(t[0], p[0]);
#pragma unroll
    for (int j = 1; j < LIMBS; ++j) d[j] = subcCC(t[j], p[j]);
    const unsigned borrow = subc(t[LIMBS], 0);
#pragma unroll
    for (int j = 0; j < LIMBS; ++j) r[j] = (int)borrow < 0 ? t[j] : d[j];
}

// out = base ^ exponent in Montgomery form; limb j of number i is at j * n + i.
extern "C" __global__ void bigint_modexp(int n, const unsigned* __restrict__ base,
                                         const unsigned long long* __restrict__ exponent, unsigned* __restrict__ out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned p[LIMBS], x[LIMBS], acc[LIMBS];
#pragma unroll
    for (int j = 0; j < LIMBS; ++j) {
        p[j] = modulus[j];
        acc[j] = montgomeryOne[j];
        x[j] = base[(size_t)j * n + i];
    }
    const unsigned inverse = modulusInverse;
    for (unsigned long long e = exponent[i]; e != 0; e >>= 1) {
        if (e & 1) multiply(acc, acc, x, p, inverse);
        multiply(x, x, x, p, inverse);
    }
#pragma unroll
    for (int j = 0; j < LIMBS; ++j) out[(size_t)j * n + i] = acc[j];
}
