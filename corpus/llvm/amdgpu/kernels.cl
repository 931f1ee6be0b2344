// Kernels: divergence, barriers, tuples, scalar and vector pressure, loops with uniform and with divergent bounds.
__kernel void saxpy(__global float* y, __global const float* x, float a) { size_t k = get_global_id(0); y[k] += a * x[k]; }

__kernel void reduce(__global const float* in, __global float* out, __local float* t) {
  int k = get_local_id(0);
  t[k] = in[get_global_id(0)];
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < s) t[k] += t[k + s];
  }
  if (k == 0) out[get_group_id(0)] = t[0];
}

__kernel void tile(__global const float* a, __global const float* b, __global float* c, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float s[4][4] = {{0}};
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) s[i][j] += a[(4 * y + i) * n + k] * b[k * n + 4 * x + j];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(4 * y + i) * n + 4 * x + j] = s[i][j];
}

__kernel void collatz(__global const uint* in, __global uint* out) {
  uint v = in[get_global_id(0)], n = 0;
  while (v != 1 && n < 1000) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++n;
    if (v == 77) break;
  }
  out[get_global_id(0)] = n;
}

__kernel void vectors(__global float4* p, __global const float8* q, int n) {
  float4 s = p[get_global_id(0)];
  for (int k = 0; k < n; ++k) { float8 v = q[k]; s = s * v.lo + v.hi.wzyx; if (s.x > s.y) s.zw -= v.s01; }
  p[get_global_id(0)] = s;
}

__kernel void longs(__global long* p, __global const long* q, long a, int n) {
  long s = a;
  for (int k = 0; k < n; ++k) { long v = q[k + get_global_id(0)]; s = s * v + (v >> (k & 63)); if (s < a) s ^= p[k]; }
  p[get_global_id(0)] = s;
}

__kernel void doubles(__global double* p, double a, double b) {
  size_t k = get_global_id(0);
  double x = p[k];
  p[k] = sqrt(x * a + b) / (x - b) + x * x * a;
}

__kernel void chars(__global const uchar4* in, __global uchar4* out, __constant ushort* w) {
  size_t k = get_global_id(0);
  uchar4 a = in[k], b = in[k + 1], c = in[k + 2];
  ushort4 s = convert_ushort4(a) * w[0] + convert_ushort4(b) * w[1] + convert_ushort4(c) * w[2];
  out[k] = convert_uchar4_sat(s >> 8);
}

__kernel void switches(__global int* p, int op) {
  size_t k = get_global_id(0);
  int v = p[k];
  switch ((op + v) & 7) { case 0: v += op; break; case 1: v *= 3; break; case 2: v = v ^ op; break; case 3: v = p[k + 1]; break; case 5: v = -v; break; default: v -= 1; }
  p[k] = v;
}

__kernel void atomics(__global int* p, __local int* l) {
  int k = get_local_id(0);
  l[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&l[p[k] & 15], 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (atomic_cmpxchg(&p[k], 3, l[k & 15]) == 3) atomic_max(&p[0], k);
}

__kernel void pressure(__global const float* in, __global float* out, int n) {
  float v[48];
  size_t g = get_global_id(0);
  for (int k = 0; k < 48; ++k) v[k] = in[g * 48 + k];
  for (int r = 0; r < n; ++r)
    for (int k = 0; k < 48; ++k) v[k] = v[k] * v[(k + 7) % 48] + in[r];
  for (int k = 0; k < 48; ++k) out[g * 48 + k] = v[k];
}

float opaque(float);
__attribute__((noinline)) float callee(float a, float b, int n) { for (int k = 0; k < n; ++k) a = a * b + n; return a; }
__kernel void calls(__global float* p, int n) { size_t k = get_global_id(0); float x = p[k], y = callee(x, 2.0f, n); p[k] = callee(y, x, n + 1) + x * y; }
