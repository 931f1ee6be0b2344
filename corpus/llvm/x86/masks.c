// AVX-512: mask registers, 512-bit vectors; needs -mavx512f -mavx512bw -mavx512vl.
typedef int v16 __attribute__((vector_size(64)));
typedef long l8 __attribute__((vector_size(64)));
typedef double d8 __attribute__((vector_size(64)));
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) v16 choose(v16 a, v16 b, v16 c) { v16 m = a < b, e = a == c; return (m & b & c) | (~m & ((e & (a * b)) | (~e & (c - a)))); }
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void clamp(int* p, const int* q, int lo, int hi, int n) {
  for (int k = 0; k < n; ++k) { int v = q[k]; if (v > lo && v < hi && (v & 1)) p[k] = v * 3; else if (v == lo || v == hi + 2) p[k] -= v; }
}
void opaque(void);
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) v16 masks_across(v16 a, v16 b, v16 c) {
  v16 m = a < b, o = b < c, q = a == c;
  opaque();
  return (m & a) | (o & b) | (q & c) | (m ^ o);
}
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) d8 doubles(d8 a, d8 b, int n) { for (int k = 0; k < n; ++k) { l8 m = a > b; a = (d8)((m & (l8)(a * b)) | (~m & (l8)(a + b))), b = b - a; } return a; }
