// SPDX-License-Identifier: Apache-2.0 -- Black-Scholes prices and greeks, 4 options a thread: straight-line transcendental code with many common subexpressions.
// quads = options / 4.
__device__ __forceinline__ float density(float d) { return 0.398942280401432678f * expf(-0.5f * d * d); }

// Abramowitz and Stegun 26.2.17.
__device__ __forceinline__ float cumulative(float d, float pdf) {
    const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
    float poly = fmaf(k, 1.330274429f, -1.821255978f);
    poly = fmaf(k, poly, 1.781477937f);
    poly = fmaf(k, poly, -0.356563782f);
    poly = fmaf(k, poly, 0.319381530f);
    const float tail = pdf * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

struct Priced {
    float call, put, delta, gamma, vega, theta, rho;
};

__device__ __forceinline__ Priced price(float s, float x, float t, float r, float v) {
    const float root = sqrtf(t);
    const float spread = v * root;
    const float d1 = (logf(s / x) + fmaf(0.5f * v, v, r) * t) / spread;
    const float d2 = d1 - spread;
    const float pdf = density(d1);
    const float n1 = cumulative(d1, pdf), n2 = cumulative(d2, density(d2));
    const float discounted = x * expf(-r * t);
    Priced p;
    p.call = s * n1 - discounted * n2;
    p.put = discounted * (1.0f - n2) - s * (1.0f - n1);
    p.delta = n1;
    p.gamma = pdf / (s * spread);
    p.vega = s * pdf * root;
    p.theta = -(s * pdf * v) / (2.0f * root) - r * discounted * n2;
    p.rho = t * discounted * n2;
    return p;
}

extern "C" __global__ void black_scholes(int quads, float rate, const float4* __restrict__ spot,
                                         const float4* __restrict__ strike, const float4* __restrict__ years,
                                         const float4* __restrict__ volatility, float4* __restrict__ call,
                                         float4* __restrict__ put, float4* __restrict__ delta,
                                         float4* __restrict__ gamma, float4* __restrict__ vega,
                                         float4* __restrict__ theta, float4* __restrict__ rho) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 s = spot[i], x = strike[i], t = years[i], v = volatility[i];
    const Priced a = price(s.x, x.x, t.x, rate, v.x);
    const Priced b = price(s.y, x.y, t.y, rate, v.y);
    const Priced c = price(s.z, x.z, t.z, rate, v.z);
    const Priced d = price(s.w, x.w, t.w, rate, v.w);
    call[i] = make_float4(a.call, b.call, c.call, d.call);
    put[i] = make_float4(a.put, b.put, c.put, d.put);
    delta[i] = make_float4(a.delta, b.delta, c.delta, d.delta);
    gamma[i] = make_float4(a.gamma, b.gamma, c.gamma, d.gamma);
    vega[i] = make_float4(a.vega, b.vega, c.vega, d.vega);
    theta[i] = make_float4(a.theta, b.theta, c.theta, d.theta);
    rho[i] = make_float4(a.rho, b.rho, c.rho, d.rho);
}
