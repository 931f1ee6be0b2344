// SPDX-License-Identifier: Apache-2.0 -- byte-code interpreter: a hand-written indexed multiway branch (brx.idx) and a compiled switch in a loop, eight machine registers live on every edge.
// Instruction: op in bits 0-7, destination 8-10, sources 12-14 and 16-18, signed immediate 20-31.
constexpr int ALU_OPS = 14;

__device__ __forceinline__ int pick(const int (&r)[8], int at) {
    int v = r[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) v = at == i ? r[i] : v;
    return v;
}

// nvcc makes trees of compares of every switch for this target, so the jump table is spelled out.
__device__ __forceinline__ int alu(unsigned op, int a, int b, int imm) {
    int value;
    asm("{\n\t"
        ".reg .pred nonzero;\n\t"
        ".reg .b32 t, u;\n\t"
        "alu_table: .branchtargets alu_add, alu_sub, alu_mad, alu_div, alu_and, alu_xor, alu_shl, alu_shr, alu_imm, "
        "alu_bits, alu_half, alu_clamp, alu_mulhi, alu_blend, alu_not;\n\t"
        "brx.idx %1, alu_table;\n\t"
        "alu_add: add.s32 %0, %2, %3; bra.uni alu_end;\n\t"
        "alu_sub: sub.s32 %0, %2, %3; bra.uni alu_end;\n\t"
        "alu_mad: mad.lo.s32 %0, %2, %3, %4; bra.uni alu_end;\n\t"
        "alu_div: setp.ne.s32 nonzero, %3, 0; mov.b32 %0, %4; @nonzero div.s32 %0, %2, %3; bra.uni alu_end;\n\t"
        "alu_and: and.b32 %0, %2, %3; bra.uni alu_end;\n\t"
        "alu_xor: add.s32 t, %3, %4; xor.b32 %0, %2, t; bra.uni alu_end;\n\t"
        "alu_shl: and.b32 t, %3, 31; shl.b32 %0, %2, t; bra.uni alu_end;\n\t"
        "alu_shr: and.b32 t, %4, 31; shr.s32 %0, %2, t; bra.uni alu_end;\n\t"
        "alu_imm: mov.b32 %0, %4; bra.uni alu_end;\n\t"
        "alu_bits: popc.b32 t, %2; clz.b32 u, %3; add.s32 %0, t, u; bra.uni alu_end;\n\t"
        "alu_half: cvt.rn.f32.s32 t, %2; mul.f32 t, t, 0f3F000000; mov.b32 %0, t; bra.uni alu_end;\n\t"
        "alu_clamp: min.s32 t, %3, %4; max.s32 %0, %2, t; bra.uni alu_end;\n\t"
        "alu_mulhi: mul.hi.s32 %0, %2, %3; bra.uni alu_end;\n\t"
        "alu_blend: lop3.b32 %0, %2, %3, %4, 0xCA; bra.uni alu_end;\n\t"
        "alu_not: not.b32 %0, %2;\n\t"
        "alu_end:\n\t"
        "}"
        : "=&r"(value)
        : "r"(op), "r"(a), "r"(b), "r"(imm));
    return value;
}

extern "C" __global__ void switch_vm(int n, int length, int maxSteps, const int* __restrict__ program,
                                     int* __restrict__ memory, int memoryMask, int* __restrict__ out) {
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= n) return;
    int r[8] = {tid, 0, 0, 0, 0, 0, 0, 1};
    int pc = 0, steps = 0;
    bool running = true;
    while (running && steps < maxSteps && pc < length) {
        const int word = program[pc];
        const int a = pick(r, (word >> 12) & 7), b = pick(r, (word >> 16) & 7), imm = word >> 20;
        const int dst = (word >> 8) & 7;
        int value = pick(r, dst);
        int next = pc + 1;
        const int op = word & 0xff;
        switch (op) {
        case 0: running = false; break;
        case 1: value = memory[(a + imm) & memoryMask]; break;
        case 2: memory[(a + imm) & memoryMask] = b; break;
        case 3: value = atomicAdd(&memory[(a + imm) & memoryMask], b); break;
        case 4: value = atomicExch(&memory[(a + imm) & memoryMask], b); break;
        case 5: next = a == 0 ? pc + imm : next; break;
        case 6: next = a < b ? pc + imm : next; break;
        case 7: value = pc; next = a + imm; break;
        default: value = alu(min(op - 8, ALU_OPS), a, b, imm); break;
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) r[i] = dst == i ? value : r[i];
        pc = next < 0 ? 0 : next;
        ++steps;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) out[tid * 8 + i] = r[i];
}
