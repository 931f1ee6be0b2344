// Values that live across calls, arguments in all places, structures by value, variable arguments, tail calls.
#include <stdarg.h>

struct small { int a, b; };
struct large { long a[9]; };
struct mixed { double d; int i; };

int opaque(int);
double opaque_d(double, int);
struct small opaque_small(struct small);
void opaque_large(struct large);
long many(long, long, long, long, long, long, long, long, long, long);

int across(int a, int b, int c, int d, int e, int f) {
  int x = opaque(a) + b;
  int y = opaque(x + c) * d;
  int z = opaque(y - e) ^ f;
  return a + b + c + d + e + f + x + y + z;
}

double floats_across(double a, double b, double c, int n) {
  double s = opaque_d(a, n) * b;
  s += opaque_d(s, n + 1) * c;
  return s + opaque_d(a * b * c, n + 2) / a + b - c;
}

struct small by_value(struct small s, struct small t) {
  struct small r = opaque_small(s);
  r.a += t.b, r.b -= t.a;
  return opaque_small(r);
}

void by_memory(struct large* p, int n) {
  struct large l = *p;
  for (int k = 0; k < 9; ++k) l.a[k] += n * k;
  opaque_large(l);
  p->a[0] = l.a[8];
}

struct mixed both(struct mixed m, int n) { m.d = opaque_d(m.d, n), m.i = opaque(m.i); return m; }

long ten(long a, long b, long c, long d) { return many(a, b, c, d, a + b, b + c, c + d, d + a, a - c, b - d) + many(d, c, b, a, 1, 2, 3, 4, 5, a); }

int sum_of(int n, ...) {
  va_list list;
  va_start(list, n);
  int s = 0;
  for (int k = 0; k < n; ++k) s += k & 1 ? va_arg(list, int) : (int)va_arg(list, double);
  va_end(list);
  return s;
}
int printf_like(const char*, ...);
int use_varargs(int a, double d, const char* s) { return printf_like("%d %f %s\n", a, d, s) + sum_of(3, d, a, d + 1); }

int tail(int a, int b) { return a > b ? opaque(a - b) : opaque(b - a); }
long factorial(long n, long acc) { return n < 2 ? acc : factorial(n - 1, acc * n); }
int through_pointer(int (*f)(int, int), int a, int b) { return f(a, b) + f(b, a) * f(a + b, a - b); }
