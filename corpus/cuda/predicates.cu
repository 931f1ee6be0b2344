// SPDX-License-Identifier: Apache-2.0 -- 8-sample multisample rasteriser: dozens of booleans live across shading code, more than there are predicate registers.
// One thread a pixel, all triangles in order. Triangle: three screen vertices (x, y, depth) and three colours.
struct Vertex {
    float x, y, z, r, g, b;
};
constexpr int SAMPLES = 8;

extern "C" __global__ void predicates(int width, int height, int triangles, const Vertex* __restrict__ v,
                                      int flags, uchar4* __restrict__ image, unsigned char* __restrict__ coverage) {
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    constexpr float SX[SAMPLES] = {0.5625f, 0.4375f, 0.8125f, 0.3125f, 0.1875f, 0.0625f, 0.6875f, 0.9375f};
    constexpr float SY[SAMPLES] = {0.3125f, 0.6875f, 0.5625f, 0.1875f, 0.8125f, 0.4375f, 0.9375f, 0.0625f};

    const bool cull = flags & 1, blend = flags & 2, lessEqual = flags & 4, readOnly = flags & 8,
               flat = flags & 16, gammaOut = flags & 32, scissor = flags & 64, invert = flags & 128;

    float depth[SAMPLES], red[SAMPLES], green[SAMPLES], blue[SAMPLES];
    bool touched[SAMPLES];
#pragma unroll
    for (int s = 0; s < SAMPLES; ++s) {
        depth[s] = 1.0f;
        red[s] = green[s] = blue[s] = 0.0f;
        touched[s] = false;
    }

    for (int t = 0; t < triangles; ++t) {
        const Vertex a = v[3 * t], b = v[3 * t + 1], c = v[3 * t + 2];
        const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        const bool front = area > 0.0f;
        if (area == 0.0f || (cull && !front)) continue;
        const bool topLeft0 = c.y < b.y || (c.y == b.y && c.x > b.x);
        const bool topLeft1 = a.y < c.y || (a.y == c.y && a.x > c.x);
        const bool topLeft2 = b.y < a.y || (b.y == a.y && b.x > a.x);

        bool pass[SAMPLES];
        float z[SAMPLES];
        bool any = false;
        const float inv = 1.0f / area;
#pragma unroll
        for (int s = 0; s < SAMPLES; ++s) {
            const float x = px + SX[s], y = py + SY[s];
            const float e0 = ((c.x - b.x) * (y - b.y) - (c.y - b.y) * (x - b.x)) * inv;
            const float e1 = ((a.x - c.x) * (y - c.y) - (a.y - c.y) * (x - c.x)) * inv;
            const float e2 = 1.0f - e0 - e1;
            z[s] = e0 * a.z + e1 * b.z + e2 * c.z;
            const bool in0 = e0 > 0.0f || (e0 == 0.0f && topLeft0);
            const bool in1 = e1 > 0.0f || (e1 == 0.0f && topLeft1);
            const bool in2 = e2 > 0.0f || (e2 == 0.0f && topLeft2);
            const bool near = lessEqual ? z[s] <= depth[s] : z[s] < depth[s];
            const bool clipped = scissor && (x < 2.0f || y < 2.0f || x > width - 2.0f || y > height - 2.0f);
            pass[s] = in0 && in1 && in2 && near && !clipped;
            any = any || pass[s];
        }
        if (!any) continue;

        // Shade once, at the pixel's centre, with every sample's outcome still to be used.
        const float x = px + 0.5f, y = py + 0.5f;
        const float w0 = flat ? 1.0f : ((c.x - b.x) * (y - b.y) - (c.y - b.y) * (x - b.x)) * inv;
        const float w1 = flat ? 0.0f : ((a.x - c.x) * (y - c.y) - (a.y - c.y) * (x - c.x)) * inv;
        const float w2 = flat ? 0.0f : 1.0f - w0 - w1;
        float r = __saturatef(w0 * a.r + w1 * b.r + w2 * c.r);
        float g = __saturatef(w0 * a.g + w1 * b.g + w2 * c.g);
        float bl = __saturatef(w0 * a.b + w1 * b.b + w2 * c.b);
        const float fog = __expf(-0.25f * (w0 * a.z + w1 * b.z + w2 * c.z));
        const float light = front ? fog : 0.5f * fog;
        r *= light, g *= light, bl *= light;

#pragma unroll
        for (int s = 0; s < SAMPLES; ++s) {
            if (pass[s] && !readOnly) depth[s] = z[s];
            if (pass[s]) {
                red[s] = blend ? 0.5f * (red[s] + r) : r;
                green[s] = blend ? 0.5f * (green[s] + g) : g;
                blue[s] = blend ? 0.5f * (blue[s] + bl) : bl;
            }
            touched[s] = touched[s] || pass[s];
        }
    }

    float r = 0.0f, g = 0.0f, b = 0.0f;
    int mask = 0;
#pragma unroll
    for (int s = 0; s < SAMPLES; ++s) {
        r += red[s], g += green[s], b += blue[s];
        mask |= (touched[s] != invert) << s;
    }
    r *= 1.0f / SAMPLES, g *= 1.0f / SAMPLES, b *= 1.0f / SAMPLES;
    if (gammaOut) r = sqrtf(r), g = sqrtf(g), b = sqrtf(b);
    const int at = py * width + px;
    image[at] = make_uchar4((unsigned char)(r * 255.0f), (unsigned char)(g * 255.0f), (unsigned char)(b * 255.0f),
                            (unsigned char)(__popc(mask) * 255 / SAMPLES));
    coverage[at] = (unsigned char)mask;
}
