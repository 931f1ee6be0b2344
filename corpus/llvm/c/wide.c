// 128-bit integers, mixed widths, narrow arithmetic, comparisons kept as values.
typedef unsigned char u8;
typedef unsigned short u16;
#ifdef __SIZEOF_INT128__
typedef __int128 i128;
typedef unsigned __int128 u128;
i128 mul_add(i128 a, i128 b, i128 c) { return a * b + c; }
u128 shifts(u128 a, int n, int m) { return (a << n) ^ (a >> m) ^ (a * 0x9E3779B97F4A7C15u); }
long high(long a, long b) { return (long)(((i128)a * b) >> 64); }
u128 divide(u128 a, unsigned long b) { return a / b + a % b; }
void big_sum(u128* out, const u128* a, const u128* b, int n) {
  u128 carry = 0;
  for (int k = 0; k < n; ++k) { u128 s = a[k] + b[k] + carry; carry = s < a[k]; out[k] = s; }
}
#endif
u8 bytes(u8 a, u8 b, u8 c, u8 d) { return (u8)(a * b + c) ^ (u8)(d / (b | 1)) ^ (u8)(a % (c | 1)); }
u16 halves(u16 a, u16 b, u16 c) { return (u16)((a << 3) + (b >> 5)) * c - a; }
int packed(unsigned x) { return (x & 0xFF) + ((x >> 8) & 0xFF) * 3 + ((x >> 16) & 0xFF) * 5 + (x >> 24); }
int compares(int a, int b, unsigned c, unsigned d, long e) {
  int r = (a < b) + 2 * (c < d) + 4 * (a == (int)c) + 8 * (e > a);
  return r ? r * (a <= b) : (e != 0) - (c >= d);
}
long select(long a, long b, long c, long d) { long x = a < b ? c : d, y = b < c ? a : x; return x * (y > d ? a : b) + y; }
void bytes_to_words(const u8* in, unsigned* out, int n) {
  for (int k = 0; k < n; ++k) out[k] = in[4 * k] | in[4 * k + 1] << 8 | in[4 * k + 2] << 16 | (unsigned)in[4 * k + 3] << 24;
}
unsigned crc(const u8* p, int n) {
  unsigned c = ~0u;
  while (n--) { c ^= *p++; for (int k = 0; k < 8; ++k) c = c >> 1 ^ (0xEDB88320u & -(c & 1)); }
  return ~c;
}
int divisions(int a, int b, int c) { return a / b * (c % b) + (unsigned)a / (unsigned)c - b / c % a; }
