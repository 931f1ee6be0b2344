// Loops with more live values than registers, and values that live across them.
long dot(const long* a, const long* b, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k) s += a[k] * b[k];
  return s;
}

void transpose8(const int* in, int* out, int stride) {
  int r[64];
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) r[8 * y + x] = in[y * stride + x];
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) out[y * stride + x] = r[8 * x + y] ^ r[8 * y + x];
}

unsigned long mix24(const unsigned long* p, int rounds) {
  unsigned long v[24];
  for (int k = 0; k < 24; ++k) v[k] = p[k];
  for (int r = 0; r < rounds; ++r) {
    unsigned long t = v[r % 3];
    for (int k = 0; k < 23; ++k) v[k] = (v[k] << 7 | v[k] >> 57) + v[k + 1];
    v[23] ^= t;
  }
  unsigned long s = 0;
  for (int k = 0; k < 24; ++k) s ^= v[k];
  return s;
}

int nested(int n, int m, int q, const int* a) {
  int best = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < m; ++j) {
      int s = 0;
      for (int k = 0; k < q; ++k) s += a[i + k] * a[j + k] - a[k];
      if (s > best) best = s + i * j;
    }
  return best;
}

int two_exits(const char* s, int want, int* where) {
  int k = 0, seen = 0;
  for (;; ++k) {
    if (s[k] == 0) break;
    if (s[k] == want && ++seen > 3) goto found;
  }
  *where = -1;
  return seen;
found:
  *where = k;
  return seen + k;
}
