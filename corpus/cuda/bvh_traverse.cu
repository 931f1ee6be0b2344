// SPDX-License-Identifier: Apache-2.0 -- ray and triangle intersection through a tree: divergent loops around a stack in local memory, beside whatever the allocator spills there.
// A node is two float4: (low, left child or first triangle) and (high, triangle count; 0 for an inner node, whose right child follows the left).
#include <math_constants.h>
constexpr int DEPTH = 32;

__device__ __forceinline__ float3 sub(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ __forceinline__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ __forceinline__ float enter(float4 lo, float4 hi, float3 origin, float3 inv, float limit) {
    const float x0 = (lo.x - origin.x) * inv.x, x1 = (hi.x - origin.x) * inv.x;
    const float y0 = (lo.y - origin.y) * inv.y, y1 = (hi.y - origin.y) * inv.y;
    const float z0 = (lo.z - origin.z) * inv.z, z1 = (hi.z - origin.z) * inv.z;
    const float near = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    const float far = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), limit));
    return near <= far ? near : CUDART_INF_F;
}

extern "C" __global__ void bvh_traverse(int rays, const float3* __restrict__ origins,
                                        const float3* __restrict__ directions, const float4* __restrict__ nodes,
                                        const float3* __restrict__ vertices, const int* __restrict__ order,
                                        float4* __restrict__ hits, int* __restrict__ visited) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rays) return;
    const float3 o = origins[i], d = directions[i];
    const float3 inv = make_float3(1.0f / d.x, 1.0f / d.y, 1.0f / d.z);

    int stack[DEPTH];
    float when[DEPTH];
    int top = 0, node = 0, count = 0, found = -1;
    float t = CUDART_INF_F, u = 0.0f, v = 0.0f;
    for (;;) {
        ++count;
        const float4 lo = nodes[2 * node], hi = nodes[2 * node + 1];
        const int link = __float_as_int(lo.w), triangles = __float_as_int(hi.w);
        if (triangles == 0) {
            float first = enter(nodes[2 * link], nodes[2 * link + 1], o, inv, t);
            float second = enter(nodes[2 * link + 2], nodes[2 * link + 3], o, inv, t);
            int nearChild = link, farChild = link + 1;
            if (second < first) {
                const float s = first;
                first = second;
                second = s;
                nearChild = link + 1;
                farChild = link;
            }
            if (second < CUDART_INF_F && top < DEPTH) {
                stack[top] = farChild;
                when[top++] = second;
            }
            if (first < CUDART_INF_F) {
                node = nearChild;
                continue;
            }
        } else {
            for (int k = link; k < link + triangles; ++k) {
                const int tri = order[k];
                const float3 a = vertices[3 * tri];
                const float3 e1 = sub(vertices[3 * tri + 1], a), e2 = sub(vertices[3 * tri + 2], a);
                const float3 p = cross(d, e2);
                const float det = dot(e1, p);
                if (fabsf(det) < 1e-12f) continue;
                const float f = 1.0f / det;
                const float3 s = sub(o, a);
                const float tu = f * dot(s, p);
                if (tu < 0.0f || tu > 1.0f) continue;
                const float3 q = cross(s, e1);
                const float tv = f * dot(d, q);
                if (tv < 0.0f || tu + tv > 1.0f) continue;
                const float tt = f * dot(e2, q);
                if (tt > 1e-5f && tt < t) {
                    t = tt;
                    u = tu;
                    v = tv;
                    found = tri;
                }
            }
        }
        bool done = true;
        while (top > 0) {
            --top;
            if (when[top] < t) {
                node = stack[top];
                done = false;
                break;
            }
        }
        if (done) break;
    }
    hits[i] = make_float4(t, u, v, __int_as_float(found));
    visited[i] = count;
}
