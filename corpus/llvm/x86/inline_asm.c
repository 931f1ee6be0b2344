// Inline assembly: ties, early clobbers, fixed registers, clobbers, memory or register.
unsigned long rotate(unsigned long a, unsigned char n) { asm("rolq %%cl, %0" : "+r"(a) : "c"(n) : "cc"); return a; }
long multiply(long a, long b, long* high) { long lo, hi; asm("imulq %3" : "=a"(lo), "=d"(hi) : "a"(a), "r"(b) : "cc"); *high = hi; return lo; }
int early(int a, int b, int c) { int x, y; asm("movl %2, %0; addl %3, %0; movl %4, %1" : "=&r"(x), "=&r"(y) : "r"(a), "r"(b), "r"(c) : "cc"); return x * y + a * b * c; }
int either(int a, int b, int c, int d) { int s = a; asm("addl %1, %0" : "+r"(s) : "rm"(b) : "cc"); asm volatile("nop" ::: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"); return s * b + c * d; }
void cpu(unsigned leaf, unsigned* out) { unsigned a, b, c, d; asm("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(0)); out[0] = a, out[1] = b, out[2] = c, out[3] = d; }
int flags(int a, int b) { int r; asm("cmpl %2, %1" : "=@ccl"(r) : "r"(a), "r"(b)); return r ? a : b; }
double vector_asm(double a, double b, double c) { asm("addsd %1, %0; mulsd %2, %0" : "+x"(a) : "x"(b), "xm"(c)); return a - b; }
unsigned high_byte(unsigned x) { unsigned r; asm("movzbl %h1, %0" : "=r"(r) : "Q"(x)); return r + x; }
