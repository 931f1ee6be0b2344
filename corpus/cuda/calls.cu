// SPDX-License-Identifier: Apache-2.0 -- functions kept out of line, nested and called in loops: values live across calls, 32/64-bit, float, double and struct arguments and results.
struct Best {
    unsigned long long key;
    double score;
    float weight;
    int index;
};

extern "C" __device__ __noinline__ unsigned rotate_mix(unsigned a, unsigned b, int r) {
    a ^= __funnelshift_l(b, b, r & 31);
    a *= 0x85ebca6bu;
    a ^= a >> 13;
    return a + b * 5u + 0xe6546b64u;
}

extern "C" __device__ __noinline__ unsigned long long wide_hash(unsigned long long a, unsigned long long b,
                                                                 unsigned rounds) {
    unsigned hi = (unsigned)(a >> 32) ^ (unsigned)b, lo = (unsigned)a + (unsigned)(b >> 32);
    for (unsigned i = 0; i < rounds; ++i) {
        const unsigned next = rotate_mix(lo, hi, (int)i * 7 + 3);
        lo = rotate_mix(hi, next, (int)i * 11 + 5);
        hi = next;
    }
    return ((unsigned long long)hi << 32) | lo;
}

extern "C" __device__ __noinline__ float falloff(float x, float reach, bool sharp) {
    const float t = fminf(fmaxf(x / reach, 0.0f), 1.0f);
    return sharp ? 1.0f - t * t * t : (1.0f - t) * (1.0f - t);
}

extern "C" __device__ __noinline__ double newton_root(double x, float guess, int steps) {
    double y = guess;
    for (int i = 0; i < steps; ++i) y = 0.5 * (y + x / y);
    return y;
}

extern "C" __device__ __noinline__ double distance(const float* p, const float* q, int dims, float* largest) {
    double sum = 0.0;
    float most = 0.0f;
    for (int i = 0; i < dims; ++i) {
        const float d = p[i] - q[i];
        most = fmaxf(most, fabsf(d));
        sum += (double)d * d;
    }
    *largest = most;
    return sum > 0.0 ? newton_root(sum, most, 6) : 0.0;
}

extern "C" __device__ __noinline__ Best better(Best a, Best b) {
    const bool second = b.score < a.score || (b.score == a.score && b.key < a.key);
    return second ? b : a;
}

extern "C" __device__ __noinline__ short clip16(int v, short low, short high) {
    return (short)max((int)low, min((int)high, v));
}

// Nearest of `candidates` rows to each of n rows of `dims` floats, with hashed ties.
extern "C" __global__ void calls(int n, int dims, int candidates, const float* points, const float* targets,
                                 unsigned long long seed, Best* out, short* level) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* mine = points + (size_t)i * dims;

    Best best = {~0ull, 1e300, 0.0f, -1};
    double total = 0.0;
    float weights = 0.0f;
    unsigned long long chain = seed ^ (unsigned)i;
    for (int c = 0; c < candidates; ++c) {
        float largest;
        const double d = distance(mine, targets + (size_t)c * dims, dims, &largest);
        const float w = falloff((float)d, 4.0f, largest > 1.0f);
        chain = wide_hash(chain, (unsigned long long)c * 0x9e3779b97f4a7c15ull, 3);
        const Best one = {chain, d, w, c};
        best = better(best, one);
        total += d * w;
        weights += w;
    }
    best.weight = weights > 0.0f ? (float)(total / weights) : best.weight;
    best.key = wide_hash(best.key, chain, (unsigned)best.index & 3u);
    out[i] = best;
    level[i] = clip16((int)(best.score * 256.0), -2048, 2047);
}
