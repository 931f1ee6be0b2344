// Floating point of all sizes, constants from memory, conversions, vectors of odd sizes.
typedef float f3 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));
typedef short s16 __attribute__((vector_size(32)));
typedef unsigned char u32b __attribute__((vector_size(32)));
double poly(double x) { return ((((((1.5 * x + 2.25) * x - 3.125) * x + 0.1) * x - 7.7) * x + 1e-3) * x - 9e9) * x + 0.3; }
float mixed(float a, double b, int c, long d) { return (float)(a * b + c) - (float)d * a + (float)(int)b; }
double many(const double* p) {
  double a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6], h = p[7], i = p[8], j = p[9], k = p[10], l = p[11], m = p[12], n = p[13],
         o = p[14], q = p[15], r = p[16], s = p[17];
  return (a + b * c - d) * (e - f * g + h) / (i + j - k * l) + (m * n - o) * (q + r * s) + a * s - b * r + c * q - d * o + e * n - f * m + g * l - h * k + i * j;
}
double sqrt(double);
double norms(const double* p, int n) {
  double s = 0, t = 1;
  for (int k = 0; k < n; ++k) s += sqrt(p[k] * p[k] + t), t = t * 0.5 + s;
  return s * t;
}
f3 vectors(f3 a, f3 b, f3 c) { return a * b - c / (a + b) + a * c; }
d4 wide(d4 a, d4 b, int n) { for (int k = 0; k < n; ++k) a = a * b + (d4){1, 2, 3, 4}, b -= a; return a; }
s16 shorts(s16 a, s16 b) { return (a + b) * (a - b) ^ (a & b); }
void saxpy(float* y, const float* x, float a, int n) { for (int k = 0; k < n; ++k) y[k] += a * x[k]; }
void blur(const unsigned char* in, unsigned char* out, int w, int h) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      int s = 0;
      for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) s += in[(y + dy) * w + x + dx];
      out[y * w + x] = (unsigned char)(s / 9);
    }
}
float select_f(float a, float b, float c) { return a < b ? (b < c ? a * c : b) : (a != a ? c : a - b); }
