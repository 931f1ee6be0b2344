// Inline assembly with early clobbers, and a multiplication with an addition behind it, of which one lane of the addend has no value (gfx1100).
__kernel void add_behind_asm(__global int* p) {
  int k = get_global_id(0);
  int v = p[k], w = p[k + 1], r, s;
  __asm__ volatile("v_add_nc_u32 %0, %2, %3\n v_sub_nc_u32 %1, %0, %2" : "=&v"(r), "=v"(s) : "v"(v), "v"(w) : "v5", "v6", "s4", "vcc");
  p[k] = r * s + v;
}
__kernel void scalar_asm(__global int* p, int a, int b) {
  int r;
  __asm__ volatile("s_mul_i32 %0, %1, %2" : "=s"(r) : "s"(a), "s"(b));
  p[get_global_id(0)] = r + a * b;
}
