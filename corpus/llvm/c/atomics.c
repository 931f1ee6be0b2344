// Atomic operations: loops of compare-and-swap, fetch-and-op of all sizes.
int cas_loop(_Atomic int* p, int k) { int o = *p; while (!__c11_atomic_compare_exchange_weak(p, &o, o * k + 1, 5, 5)) {} return o; }
long fetch(_Atomic long* p, long a) { return __c11_atomic_fetch_add(p, a, 5) + __c11_atomic_fetch_xor(p, a * 3, 2) - __c11_atomic_exchange(p, a, 4); }
unsigned char narrow(_Atomic unsigned char* p, unsigned char a) { return __c11_atomic_fetch_or(p, a, 5) & __c11_atomic_fetch_sub(p, a, 0); }
short narrow16(_Atomic short* p, short a, short b) { short e = a; return __c11_atomic_compare_exchange_strong(p, &e, b, 5, 0) ? e : b; }
int locked(_Atomic int* lock, int* shared, int n) {
  while (__c11_atomic_exchange(lock, 1, 2)) {}
  int s = *shared += n;
  __c11_atomic_store(lock, 0, 3);
  return s;
}
