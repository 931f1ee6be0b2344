// asm goto with outputs: what a label's block reads has to be stored before the asm jumps there, not behind it.
int out_to_label(int a) {
  int x;
  asm goto("testl %1, %1; movl $5, %0; jne %l[taken]" : "=r"(x) : "r"(a) : "cc" : taken);
  return x + 1;
taken:
  return x - a;
}
int two_outputs(int a, int b) {
  int x, y;
  asm goto("movl %2, %0; movl %3, %1; cmpl %2, %3; je %l[same]" : "=&r"(x), "=&r"(y) : "r"(a), "r"(b) : "cc" : same);
  x += y;
same:
  return x * y + a;
}
int in_a_loop(int a, int n) {
  int s = 0, x = a;
  for (int k = 0; k < n; ++k) {
    asm goto("addl $3, %0; js %l[out]" : "+r"(x) : : "cc" : out);
    s += x;
  }
  return s;
out:
  return s - x;
}
int no_output(int a, int b) {
  asm goto("cmpl %0, %1; je %l[equal]; jl %l[less]" : : "r"(a), "r"(b) : "cc" : equal, less);
  return a + b;
equal:
  return a * 3;
less:
  return b - a;
}
// The result goes to memory on both ways, and its address is in a slot.
void through_a_pointer(int* counter) {
  asm goto("addl $7, %0; jc %l[wrapped]" : "+r"(*counter) : : "cc" : wrapped);
wrapped:
  return;
}
int pointer_and_value(int* p, int n) {
  asm goto("subl %1, %0; js %l[negative]" : "+r"(*p) : "r"(n) : "cc" : negative);
  return n;
negative:
  return *p + n;
}
// Three results that are early clobbers, and two labels that read different ones.
long three_outputs(long a, long b) {
  long x, y, z;
  asm goto("movq %3, %0; movq %4, %1; leaq (%3,%4), %2; testq %3, %3; jnz %l[set]; js %l[negative]"
           : "=&r"(x), "=&r"(y), "=&r"(z)
           : "r"(a), "r"(b)
           : "cc"
           : set, negative);
  return x;
set:
  return y + a;
negative:
  return z;
}
