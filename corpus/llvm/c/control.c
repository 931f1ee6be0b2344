// Large switches, computed goto, setjmp, dynamic stack, irreducible loops, long chains of conditions.
#include <setjmp.h>
int big_switch(int op, int a, int b) {
  switch (op) {
    case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return b ? a / b : 0; case 4: return a & b; case 5: return a | b;
    case 6: return a ^ b; case 7: return a << (b & 31); case 8: return a >> (b & 31); case 9: return a < b; case 10: return a == b;
    case 17: return a + 3 * b; case 18: return b - a; case 40: return ~a; case 41: return -b; case 1000: return a * a; default: return a * 7 - b;
  }
}
int interpret(const unsigned char* code, int* stack) {
  static void* const labels[] = {&&push, &&add, &&mul, &&swap, &&jump, &&stop};
  int* sp = stack;
  goto *labels[*code % 6];
push: *sp++ = code[1]; code += 2; goto *labels[*code % 6];
add: --sp; sp[-1] += sp[0]; ++code; goto *labels[*code % 6];
mul: --sp; sp[-1] *= sp[0]; ++code; goto *labels[*code % 6];
swap: { int t = sp[-1]; sp[-1] = sp[-2]; sp[-2] = t; } ++code; goto *labels[*code % 6];
jump: if (*--sp) code += code[1]; else code += 2; goto *labels[*code % 6];
stop: return sp[-1];
}
static jmp_buf place;
int may_fail(int);
int guarded(int a, int b) {
  volatile int state = a;
  if (setjmp(place)) return state + b;
  state = may_fail(a) + b;
  return may_fail(state) * a;
}
void sink(char*, int);
int dynamic(int n, int k) {
  char* a = __builtin_alloca(n);
  int v[k];
  for (int i = 0; i < k; ++i) v[i] = i * n;
  sink(a, n);
  sink((char*)v, k);
  return a[n - 1] + v[k - 1] + n * k;
}
int irreducible(int a, int b, int n) {
  int s = 0;
  if (a > b) goto middle;
  while (n > 0) {
    s += a * n;
  middle:
    s ^= b + n;
    n -= (s & 3) + 1;
    if (s % 7 == 3) a += b; else b -= a;
  }
  return s + a - b;
}
int chain(int a, int b, int c, int d) {
  if (a > b && b > c) { if (c > d || a + d < b) return a * b; else if (a == d) return c; }
  else if (a < c && (b == d || c < 10)) return (a > 3 ? b : c) - d;
  return a ? b ? c ? d : 1 : 2 : 3;
}
