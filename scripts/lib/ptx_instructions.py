"""Instructions of PTX as patterns, for scripts/ptx-sweep: opcodes, types, modifiers and operand forms of the PTX ISA 9.0.

A pattern is a line of PTX with choices: {a|b} takes one of the two, {t:u16|s32} also gives the choice a name, and {t} repeats it.
A register is %TYPE_N, where TYPE may be a choice: %{t}_0. `expand` makes all combinations. A source that is written ?TYPE_N is a register in
each of them; in the first one it is also, in turn, each of the other forms of SOURCES. An address that is written @N is [%u64_N]; in the first
combination it is also each form of ADDRESSES.

Combinations that the assembler does not know are no harm: it says so, and they count as refused.
"""

import itertools
import random
import re

MOST = 20000  # combinations of a pattern
CHOICE = re.compile(r"\{(?:(\w+):)?([^{}]*)\}")

SOURCES = ("7", "-7", "0x7F", "017", "0b101", "7U", "(3+4)*2-1", "1<<4", "~0", "!0", "7>3?1:2", "WARP_SZ", "-(3)", "+3", "(5)", "6 % 4", "1|2&3^4",
           "1==1", "3&&2||0", "0x10U+1", "(.s64)7", "(.u64)7+1", "- 5")
FLOATS = ("0f3F800000", "0d3FF0000000000000", "1.5", "-1.5", "0.5e3", "1.0e-3", "0F00000000", "0D0000000000000000", "1.", "-0f3F800000", "0f3f800000",
          "2.5E+3", "-0d3FF0000000000000", "1e3", "1.5+2.5", "(1.5)")
ADDRESSES = ("[%u64_0]", "[%u64_0+4]", "[%u64_0+-4]", "[%u64_0-4]", "[%u64_0 + 0x10]", "[g]", "[g+4]", "[g+(4*2)]", "[g-4]", "[64]", "[0x40]", "[g+4+4]",
             "[%u64_0+4*4]", "[%u64_0+WARP_SZ]", "[%u64_0+(1<<3)]", "[g+8-4]", "[%s64_0]", "[%b64_0]", "[g][0]", "g", "[64+8]", "[%u64_0+4U]",
             "[4+%u64_0]", "[-8]", "[g+4*4]", "g[4]", "g[%u32_0]", "[array+4]", "array[2]", "[(g+4)]", "[(64)]", "[%u64_0+0]")

INT = "u16|u32|u64|s16|s32|s64"
FROUND = "|.rn|.rz|.rm|.rp"
ORDER = "|.weak|.relaxed.cta|.relaxed.cluster|.relaxed.gpu|.relaxed.sys|.acquire.gpu|.release.gpu|.volatile|.mmio.relaxed.sys"
HINTS = "|.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate"
LDST = "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f16|f16x2|bf16|f32|f64"

PATTERNS = {
    "integer arithmetic": r"""
        {o:add|sub|min|max|rem|div|mul.lo|mul.hi}.{t:u16|u32|u64|s16|s32|s64|u16x2|s16x2} %{t}_0, ?{t}_1, ?{t}_2
        {add|sub}.sat.s32 %s32_0, ?s32_1, ?s32_2
        {add|sub}{.sat|}.{t:u8x4|s8x4} %b32_0, %b32_1, %b32_2
        {min|max}{.relu|}.{t:s16x2|s32} %{t}_0, %{t}_1, %{t}_2
        {add|sub|addc|subc}.cc.{t:u32|s32|u64|s64|b32|b64} %{t}_0, ?{t}_1, ?{t}_2
        {addc|subc}.{t:u32|s32|u64|s64} %{t}_0, ?{t}_1, ?{t}_2
        mul.wide.u16 %u32_0, %u16_1, ?u16_2
        mul.wide.s16 %s32_0, %s16_1, ?s16_2
        mul.wide.u32 %u64_0, %u32_1, ?u32_2
        mul.wide.s32 %s64_0, %s32_1, ?s32_2
        mul24.{lo|hi}.{t:u32|s32} %{t}_0, %{t}_1, ?{t}_2
        mad.{lo|hi}.{t:u16|u32|u64|s16|s32|s64} %{t}_0, ?{t}_1, ?{t}_2, ?{t}_3
        mad.hi.sat.s32 %s32_0, %s32_1, %s32_2, %s32_3
        mad.wide.u16 %u32_0, %u16_1, ?u16_2, ?u32_3
        mad.wide.s16 %s32_0, %s16_1, ?s16_2, ?s32_3
        mad.wide.u32 %u64_0, %u32_1, ?u32_2, ?u64_3
        mad.wide.s32 %s64_0, %s32_1, ?s32_2, ?s64_3
        mad24.{lo|hi}.{t:u32|s32} %{t}_0, %{t}_1, %{t}_2, %{t}_3
        mad24.hi.sat.s32 %s32_0, %s32_1, %s32_2, %s32_3
        {mad|madc}.{lo|hi}{.cc|}.{t:u32|s32|u64|s64} %{t}_0, %{t}_1, ?{t}_2, ?{t}_3
        sad.{t:u16|u32|u64|s16|s32|s64} %{t}_0, ?{t}_1, ?{t}_2, ?{t}_3
        {abs|neg}.{t:s16|s32|s64} %{t}_0, ?{t}_1
        {popc|clz}.{t:b32|b64} %u32_0, ?{t}_1
        bfind{.shiftamt|}.{t:u32|u64|s32|s64} %u32_0, ?{t}_1
        brev.{t:b32|b64} %{t}_0, ?{t}_1
        fns.b32 %b32_0, ?b32_1, ?b32_2, ?s32_3
        bfe.{t:u32|u64|s32|s64} %{t}_0, ?{t}_1, ?u32_2, ?u32_3
        bfi.{t:b32|b64} %{t}_0, ?{t}_1, ?{t}_2, ?u32_3, ?u32_4
        szext.{wrap|clamp}.{t:u32|s32} %{t}_0, ?{t}_1, ?u32_2
        bmsk.{wrap|clamp}.b32 %b32_0, ?b32_1, ?b32_2
        dp4a.{a:u32|s32}.{b:u32|s32} %s32_0, %{a}_1, %{b}_2, ?s32_3
        dp4a.u32.u32 %u32_0, %u32_1, ?u32_2, ?u32_3
        dp2a.{lo|hi}.{a:u32|s32}.{b:u32|s32} %s32_0, %{a}_1, %{b}_2, ?s32_3
        dp2a.{lo|hi}.u32.u32 %u32_0, %u32_1, ?u32_2, ?u32_3
    """,
    "floating point": r"""
        testp.{finite|infinite|number|notanumber|normal|subnormal}.{t:f32|f64} %pred_0, ?{t}_1
        copysign.{t:f32|f64} %{t}_0, ?{t}_1, ?{t}_2
        {add|sub|mul}{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32 %f32_0, ?f32_1, ?f32_2
        {add|sub|mul}{.rn|.rz|.rm|.rp|}.f64 %f64_0, ?f64_1, ?f64_2
        {add|sub|mul}{.rn|.rz|.rm|.rp|}{.ftz|}.f32x2 %b64_0, %b64_1, %b64_2
        {add|sub|mul}{.rn|}{.ftz|}{.sat|}.{t:f16|f16x2} %{t}_0, %{t}_1, %{t}_2
        {add|sub|mul}{.rn|}.{t:bf16|bf16x2} %{t}_0, %{t}_1, %{t}_2
        {add|sub}{.rn|.rz|.rm|.rp|}{.sat|}.f32.{t:f16|bf16} %f32_0, %{t}_1, %f32_2
        fma{.rn|.rz|.rm|.rp}{.sat|}.f32.{t:f16|bf16} %f32_0, %{t}_1, %{t}_2, %f32_3
        fma{.rn|.rz|.rm|.rp}{.ftz|}{.sat|}.f32 %f32_0, ?f32_1, ?f32_2, ?f32_3
        fma{.rn|.rz|.rm|.rp}{.ftz|}.f32x2 %b64_0, %b64_1, %b64_2, %b64_3
        {fma|mad}{.rn|.rz|.rm|.rp}.f64 %f64_0, ?f64_1, ?f64_2, ?f64_3
        mad{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32 %f32_0, ?f32_1, ?f32_2, ?f32_3
        fma.rn{.ftz|}{.sat|.relu|}.{t:f16|f16x2} %{t}_0, %{t}_1, %{t}_2, %{t}_3
        fma.rn{.relu|}.{t:bf16|bf16x2} %{t}_0, %{t}_1, %{t}_2, %{t}_3
        fma.rn.oob{.relu|}.{t:f16|f16x2|bf16|bf16x2} %{t}_0, %{t}_1, %{t}_2, %{t}_3
        div{.approx|.full|.rn|.rz|.rm|.rp}{.ftz|}.f32 %f32_0, ?f32_1, ?f32_2
        div{.rn|.rz|.rm|.rp}.f64 %f64_0, ?f64_1, ?f64_2
        {abs|neg}{.ftz|}.{t:f32|f16|f16x2} %{t}_0, ?{t}_1
        {abs|neg}.{t:f64|bf16|bf16x2} %{t}_0, ?{t}_1
        {min|max}{.ftz|}{.NaN|}{.xorsign.abs|}.{t:f32|f16|f16x2} %{t}_0, ?{t}_1, ?{t}_2
        {min|max}{.NaN|}{.xorsign.abs|}.{t:bf16|bf16x2} %{t}_0, %{t}_1, %{t}_2
        {min|max}{.ftz|}{.NaN|}{.abs|}.f32 %f32_0, %f32_1, ?f32_2, ?f32_3
        {min|max}.f64 %f64_0, ?f64_1, ?f64_2
        {rcp|sqrt}{.approx|.rn|.rz|.rm|.rp}{.ftz|}.f32 %f32_0, ?f32_1
        {rcp|sqrt}{.rn|.rz|.rm|.rp}.f64 %f64_0, ?f64_1
        {rcp|rsqrt}.approx.ftz.f64 %f64_0, ?f64_1
        rsqrt.approx{.ftz|}.{t:f32|f64} %{t}_0, ?{t}_1
        {sin|cos|lg2|ex2}.approx{.ftz|}.f32 %f32_0, ?f32_1
        tanh.approx.{t:f32|f16|f16x2|bf16|bf16x2} %{t}_0, %{t}_1
        ex2.approx{.ftz|}.{t:f16|f16x2|bf16|bf16x2} %{t}_0, %{t}_1
    """,
    "comparison": r"""
        set.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|num|nan}{.ftz|}.{d:u32|s32|f32}.{t:b16|u16|s32|u64|f32|f64} %{d}_0, ?{t}_1, ?{t}_2
        set.{lt|ne}.{and|or|xor}.{d:u32|s32|f32}.{t:s32|f32} %{d}_0, %{t}_1, %{t}_2, {%pred_1|!%pred_1}
        set.{lt|ne|geu}{.ftz|}.{d:u16|s16|u32|f16|f16x2|bf16|bf16x2}.{t:f16|f16x2|bf16|bf16x2} %{d}_0, %{t}_1, %{t}_2
        setp.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan}.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64} %pred_0, ?{t}_1, ?{t}_2
        setp.{lt|nan}{.ftz|}.{t:f16|f16x2|bf16|bf16x2} %pred_0|%pred_1, %{t}_1, %{t}_2
        setp.lt{.and|.or|.xor}.s32 {%pred_0|%pred_0\|%pred_1|_\|%pred_1|%pred_0\|_}, %s32_1, ?s32_2, {%pred_2|!%pred_2}
        setp.lt.s32 {%pred_0\|%pred_1|_\|%pred_1|%pred_0\|_}, %s32_1, ?s32_2
        selp.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64} %{t}_0, ?{t}_1, ?{t}_2, {%pred_0|!%pred_0}
        slct{.ftz|}.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64}.{s:s32|f32} %{t}_0, ?{t}_1, ?{t}_2, ?{s}_3
    """,
    "logic and shift": r"""
        {and|or|xor}.{t:b16|b32|b64} %{t}_0, ?{t}_1, ?{t}_2
        {and|or|xor}.pred %pred_0, {%pred_1|!%pred_1}, {%pred_2|!%pred_2|1|0}
        {not|cnot}.{t:b16|b32|b64} %{t}_0, ?{t}_1
        not.pred %pred_0, {%pred_1|!%pred_1}
        lop3.b32 %b32_0, ?b32_1, ?b32_2, ?b32_3, 0xE8
        lop3.{or|and}.b32 {%b32_0|_}|%pred_0, %b32_1, %b32_2, %b32_3, {0xE8|3+4}, {%pred_1|!%pred_1}
        shf.{l|r}.{clamp|wrap}.b32 %b32_0, ?b32_1, ?b32_2, ?u32_3
        shl.{t:b16|b32|b64} %{t}_0, ?{t}_1, ?u32_2
        shr.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64} %{t}_0, ?{t}_1, ?u32_2
        prmt.b32 %b32_0, ?b32_1, ?b32_2, ?b32_3
        prmt.b32.{f4e|b4e|rc8|ecl|ecr|rc16} %b32_0, %b32_1, %b32_2, ?b32_3
        bmsk.clamp.b32 %b32_0, 3, 4
        clz.b32 %r0, 5
    """,
    "moves": r"""
        mov.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64} %{t}_0, ?{t}_1
        mov.b128 %b128_0, %b128_1
        mov.pred %pred_0, {%pred_1|!%pred_1|1|0}
        mov.b32 %b32_0, {\{%b16_0,%b16_1\}|\{%b8_0,%b8_1,%b8_2,%b8_3\}|\{%b16_0,5\}|\{1,2\}|%f16x2_0|\{%f16_0,%f16_1\}}
        mov.b64 %b64_0, {\{%b32_0,%b32_1\}|\{%f32_0,%f32_1\}|\{%b16_0,%b16_1,%b16_2,%b16_3\}|\{%b32_0,7\}|\{0f00000000,0f3F800000\}}
        mov.b16 %b16_0, {\{%b8_0,%b8_1\}}
        mov.b128 %b128_0, \{%b64_0,%b64_1\}
        mov.b32 {\{%b16_0,%b16_1\}|\{%b8_0,%b8_1,%b8_2,%b8_3\}|\{_,%b16_1\}|\{%b16_0,_\}}, ?b32_1
        mov.b64 {\{%b32_0,%b32_1\}|\{%f32_0,%f32_1\}|\{%b16_0,%b16_1,%b16_2,%b16_3\}|\{_,%b32_1\}|\{%b32_0,_\}}, ?b64_1
        mov.b16 \{%b8_0,%b8_1\}, %b16_0
        mov.b128 \{%b64_0,%b64_1\}, %b128_0
        mov.{v2|v4}.{t:b16|b32|f32|u64|b8} {\{%{t}_0,%{t}_1\}|\{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}}, {\{%{t}_2,%{t}_3\}|\{%{t}_3,%{t}_2,%{t}_1,%{t}_0\}|\{1,2\}}
        mov.v2.f32 %vec2_0, %vec2_1
        mov.v4.f32 %vec4_0, %vec4_1
        mov.v2.f32 %vec2_0, \{%f32_0,%f32_1\}
        mov.v2.f32 \{%f32_0,%f32_1\}, %vec2_0
        mov.f32 %f32_0, {%vec4_0.x|%vec4_0.y|%vec4_0.z|%vec4_0.w|%vec4_0.r|%vec4_0.a|%vec2_0.g}
        mov.f32 {%vec4_0.x|%vec2_0.y}, %f32_0
        mov.u32 %u32_0, %{tid|ntid|ctaid|nctaid|clusterid|nclusterid|cluster_ctaid|cluster_nctaid}{.x|.y|.z|.w|}
        mov.u16 %u16_0, %{tid|ntid|ctaid|nctaid}{.x|.y|.z}
        mov.v4.u32 \{%u32_0,%u32_1,%u32_2,%u32_3\}, %{tid|ntid|ctaid|nctaid|clusterid}
        mov.u32 %u32_0, %{laneid|warpid|nwarpid|smid|nsmid|gridid|cluster_ctarank|cluster_nctarank|lanemask_eq|lanemask_le|lanemask_lt|lanemask_ge|lanemask_gt|clock|clock_hi|globaltimer_lo|globaltimer_hi|total_smem_size|aggr_smem_size|dynamic_smem_size|envreg0|envreg31|pm0|pm7|reserved_smem_offset_begin|reserved_smem_offset_end|reserved_smem_offset_cap|reserved_smem_offset_0|reserved_smem_offset_1|nonexistent}
        mov.u64 %u64_0, %{clock64|globaltimer|pm0_64|gridid|current_graph_exec|pm7_64}
        mov.pred %pred_0, %is_explicit_cluster
        mov.b32 %b32_0, {g|g+4|s|s+8|l|c+4|f1|generic(g)|generic(g)+4|mask(g)|p0|array|array+4|array[1]|sizeof(g)|"s"|%tid.x|%laneid}
        mov.u64 %u64_0, {g|g+4|s|s+8|l|c+4|f1|k|generic(g)|generic(g)+4|p0|p0+4|array|g-4|g+(2*4)|(g)|(g+4)|ptr|tex0|samp0|surf0|array[1]|g+4*4|L0}
        add.{u64|s64|u32} %u64_0, %u64_1, {g|s|g+4|f1}
        {cvta|cvta.to}.{global|shared|local|const|param|param::entry|shared::cta|shared::cluster}.{t:u32|u64} %{t}_0, {%{t}_1|g|g+4|s|l|c|p0|p0+4|5}
        isspacep.{global|shared|local|const|param|param::entry|shared::cta|shared::cluster} %pred_0, {%u64_1|%u32_1|g|5}
        mapa{.shared::cluster|}.{t:u32|u64} %{t}_0, {%{t}_1|s|s+4}, {%u32_2|1}
        getctarank{.shared::cluster|}.{t:u32|u64} %u32_0, {%{t}_1|s}
        createpolicy.fractional.L2::evict_{last|normal|first|unchanged}{.L2::evict_unchanged|.L2::evict_first|}.b64 %b64_0{, 1.0|, 0.5|, %f32_1|}
        createpolicy.range{.global|}.L2::evict_{last|first}{.L2::evict_unchanged|}.b64 %b64_0, [%u64_1], 4096, {8192|%u32_1}
        createpolicy.cvt.L2.b64 %b64_0, 0x1
        alloca.{u32|u64} %u64_0, {%u64_1|16}{, 8|}
        {stacksave|stackrestore}.{u32|u64} %u64_0
        add.s32 %s32_0, -%s32_1, 3
    """,
    "conversions": r"""
        cvt.{d:u8|u16|u32|u64|s8|s16|s32|s64}{.sat|}.{t:u8|u16|u32|u64|s8|s16|s32|s64} %{d}_0, ?{t}_1
        cvt.{d:u8|u16|u32|u64|s8|s16|s32|s64}.{t:u8|u16|u32|s8|s32} %u64_0, %u64_1
        cvt.{rni|rzi|rmi|rpi}{.ftz|}{.sat|}.{d:u16|u32|s32|s64|u8}.{t:f16|f32|f64|bf16} %{d}_0, %{t}_1
        cvt.{rni|rzi|rmi|rpi|rn|rz}{.ftz|}{.sat|}.{t:f32|f64|f16} %{t}_0, %{t}_1
        cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.{d:f16|f32|f64|bf16}.{t:u16|u32|s32|u64|s8} %{d}_0, ?{t}_1
        cvt.{rn|rz|rm|rp|rna|rs|}{.ftz|}{.sat|.relu|}.{d:f16|bf16|f32|f64|tf32}.{t:f16|bf16|f32|f64} %{d}_0, %{t}_1
        cvt.{rn|rz}{.relu|}{.satfinite|}.{d:f16|bf16|f16x2|bf16x2|tf32}.f32 %{d}_0, %f32_1{, %f32_2|}
        cvt.rna{.satfinite|}.tf32.f32 %b32_0, %f32_1
        cvt.rs{.relu|}{.satfinite|}.{f16x2|bf16x2}.f32 %b32_0, %f32_1, %f32_2, {%b32_3|5}
        cvt.rn.satfinite{.relu|}.{e4m3x2|e5m2x2}.f32 %b16_0, %f32_1, %f32_2
        cvt.rn.satfinite{.relu|}.{e4m3x2|e5m2x2}.f16x2 %b16_0, %b32_1
        cvt.rn{.relu|}.f16x2.{e4m3x2|e5m2x2} %b32_0, %b16_1
        cvt.rn{.relu|}.bf16x2.ue8m0x2 %b32_0, %b16_1
        cvt.rn.satfinite{.relu|}.{e2m3x2|e3m2x2}.f32 %b16_0, %f32_1, %f32_2
        cvt.rn{.relu|}.f16x2.{e2m3x2|e3m2x2} %b32_0, %b16_1
        cvt.rn.satfinite{.relu|}.e2m1x2.f32 %b8_0, %f32_1, %f32_2
        cvt.rn{.relu|}.f16x2.e2m1x2 %b32_0, %b8_1
        cvt.{rz|rp}{.satfinite|}.ue8m0x2.{f32|bf16x2} %b16_0, %f32_1, %f32_2
        cvt.{rz|rp}{.satfinite|}.ue8m0x2.bf16x2 %b16_0, %b32_1
        cvt.rs{.relu|}.satfinite.{e4m3x4|e5m2x4|e2m3x4|e3m2x4}.f32 %b32_0, \{%f32_0,%f32_1,%f32_2,%f32_3\}, %b32_1
        cvt.rs{.relu|}.satfinite.e2m1x4.f32 %b16_0, \{%f32_0,%f32_1,%f32_2,%f32_3\}, %b32_1
        cvt.pack.sat.{u16|s16}.s32 %b32_0, ?s32_1, ?s32_2
        cvt.pack.sat.{u8|s8|u4|s4|u2|s2}.s32.b32 %b32_0, ?s32_1, ?s32_2, ?b32_3
    """,
    "memory": r"""
        ld{.global|.shared|.local|.const|.param|.param::entry|.param::func|.shared::cta|.shared::cluster|}.{t:b8|u32|f64} %{t}_0, @0
        ld{""" + ORDER + r"""}{.global|.shared|}.{t:u8|b32|b64|b128} %{t}_0, [%u64_0]
        ld{.global|}.{t:""" + LDST + r"""} %{t}_0, [%u64_0]
        ld.global.{t:u8|s8|b8|u16|s16} {%u16_0|%u32_0|%s32_0|%u64_0|%b32_0|%f32_0|%f16_0}, [%u64_0]
        ld.{global|shared|param|const|local}.v2.{t:""" + LDST + r"""} \{%{t}_0,%{t}_1\}, @0
        ld.{global|shared|const}.v4.{t:""" + LDST + r"""} \{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}, [%u64_0]
        ld.global.v2.{t:u8|b16} {\{%u32_0,%u32_1\}|\{%u16_0,%u32_1\}}, [%u64_0]
        ld.global{.nc|}.v4.f32 {\{_,%f32_1,%f32_2,%f32_3\}|\{%f32_0,_,_,%f32_3\}|%vec4_0|\{%f32_0,_,_,_\}}, @0
        ld.global{.nc|}.v2.f32 {%vec2_0|\{%f32_0,_\}|\{%vec2_0.x,%vec2_0.y\}}, [%u64_0]
        ld.global{.nc|}{.L2::evict_last|}.v8.{t:b32|f32|u32|s32} \{%{t}_0,%{t}_1,%{t}_2,%{t}_3,%{t}_4,%{t}_5,%{t}_6,%{t}_7\}, [%u64_0]
        ld.global{.nc|}{.L2::evict_last|}.v4.{t:b64|f64|u64|s64} \{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}, [%u64_0]
        ld.global{.nc|}{.ca|.cg|.cs|.lu|.cv|}""" + "{" + HINTS + "}" + r"""{.L2::cache_hint|}{.L2::64B|.L2::128B|.L2::256B|}.{v2.f32 \{%f32_0,%f32_1\}|f32 %f32_0}, [%u64_0]{, %b64_1|}
        ld.global.nc.{t:""" + LDST + r"""} %{t}_0, @0
        ld.global.b32 %b32_0, [%u64_0].unified
        ld.global.b32.unified %b32_0, [%u64_0]
        ldu.global.{t:""" + LDST + r"""} %{t}_0, @0
        ldu.global.v{2.f32 \{%f32_0,%f32_1\}|4.u32 \{%u32_0,%u32_1,%u32_2,%u32_3\}}, [%u64_0]
        ldu.u32 %u32_0, [%u64_0]
        st{.global|.shared|.local|.param|.param::func|.shared::cta|.shared::cluster|}.{t:b8|u32|f64} @0, ?{t}_1
        st{""" + ORDER + r"""}{.global|.shared|}.{t:u8|b32|b64|b128} [%u64_0], %{t}_0
        st{.global|}.{t:""" + LDST + r"""} [%u64_0], %{t}_0
        st.global.{t:u8|s8|b8|u16|s16} [%u64_0], {%u16_0|%u32_0|%s32_0|%u64_0|%b32_0|%f32_0|%f16_0}
        st.{global|shared|local}.v2.{t:""" + LDST + r"""} @0, {\{%{t}_0,%{t}_1\}|\{%{t}_0,1\}|\{1,2\}}
        st.{global|shared}.v4.{t:""" + LDST + r"""} [%u64_0], \{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}
        st.global.v4.f32 [%u64_0], {%vec4_0|\{%f32_0,0f00000000,%f32_2,1.5\}|\{0f00000000,0f00000000,0f00000000,0f00000000\}|\{%vec4_0.x,%vec4_0.y,%vec2_0.x,%f32_0\}|\{_,%f32_1,_,%f32_2\}}
        st.global{.L2::evict_last|}.v8.{t:b32|f32} [%u64_0], \{%{t}_0,%{t}_1,%{t}_2,%{t}_3,%{t}_4,%{t}_5,%{t}_6,%{t}_7\}
        st.global{.L2::evict_last|}.v4.{t:b64|f64} [%u64_0], \{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}
        st.global{.wb|.cg|.cs|.wt|}""" + "{" + HINTS + "}" + r"""{.L2::cache_hint|}.{v2.f32 [%u64_0], \{%f32_0,%f32_1\}|f32 [%u64_0], %f32_0}{, %b64_1|}
        st.async{.weak|}{.shared::cluster|}.mbarrier::complete_tx::bytes{.shared::cluster|}.{b32 [%u32_0], %b32_0|v2.b32 [%u32_0], \{%b32_0,%b32_1\}|v4.f32 [%u32_0], \{%f32_0,%f32_1,%f32_2,%f32_3\}|u64 [%u32_0], %u64_0}, [%u32_1]
        st.async.mmio.release.{gpu|sys}.global.b32 [%u64_0], %b32_0
        st.bulk{.weak|}{.shared::cta|} [%u64_0], {%u64_1|512}, 0
        prefetch{.global|.local|}.{L1|L2|L2::evict_last|L2::evict_normal} @0
        prefetch{.const|.param|}.tensormap [%u64_0]
        prefetchu.L1 [%u64_0]
        {applypriority{.global|}.L2::evict_normal|discard{.global|}.L2} [%u64_0], 128
    """,
    "atomics": r"""
        atom{.global|.shared|.shared::cluster|}.{and|or|xor|exch}.{t:b32|b64|b128} %{t}_0, @0, ?{t}_1
        atom{.relaxed|.acquire|.release|.acq_rel|}{.cta|.cluster|.gpu|.sys|}{.global|.shared|}.{add|min|max}.{t:u32|s32|u64|s64} %{t}_0, [%u64_0], ?{t}_1
        atom{.global|}.{inc|dec}.u32 %u32_0, @0, ?u32_1
        atom{.global|.shared|}{.sys|}.cas.{t:b16|b32|b64|b128|u32} %{t}_0, @0, ?{t}_1, ?{t}_2
        atom{.global|}.add.{t:f32|f64} %{t}_0, [%u64_0], ?{t}_1
        atom{.global|}.add.noftz.{t:f16|f16x2|bf16|bf16x2} {%{t}_0|_}, [%u64_0], %{t}_1
        atom.global.{add|min|max}{.noftz|}.v{2.f32 \{%f32_0,%f32_1\}, [%u64_0], \{%f32_2,%f32_3\}|4.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}, [%u64_0], \{%f32_4,%f32_5,%f32_6,%f32_7\}|2.f16 \{%f16_0,%f16_1\}, [%u64_0], \{%f16_2,%f16_3\}|2.bf16x2 \{%b32_0,%b32_1\}, [%u64_0], \{%b32_2,%b32_3\}}
        atom.global{.L2::cache_hint|}.add.u32 {%u32_0|_}, [%u64_0], %u32_1{, %b64_1|}
        red{.global|.shared|.shared::cluster|}.{and|or|xor}.{t:b32|b64} @0, ?{t}_1
        red{.relaxed|.release|}{.cta|.cluster|.gpu|.sys|}{.global|.shared|}.{add|min|max}.{t:u32|s32|u64|s64} [%u64_0], ?{t}_1
        red{.global|}.{inc|dec}.u32 @0, ?u32_1
        red{.global|}.add.{t:f32|f64} [%u64_0], ?{t}_1
        red{.global|}.add.noftz.{t:f16|f16x2|bf16|bf16x2} [%u64_0], %{t}_1
        red.global.{add|min|max}{.noftz|}.v{2.f32 [%u64_0], \{%f32_2,%f32_3\}|4.f32 [%u64_0], \{%f32_4,%f32_5,%f32_6,%f32_7\}|2.f16 [%u64_0], \{%f16_2,%f16_3\}|4.bf16x2 [%u64_0], \{%b32_0,%b32_1,%b32_2,%b32_3\}}
        red.async{.relaxed.cluster|}{.shared::cluster|}.mbarrier::complete_tx::bytes{.shared::cluster|}.{add.u32|min.s32|inc.u32|and.b32|add.u64} [%u32_0], {%u32_1|%s32_1|%b32_1|%u64_1}, [%u32_2]
        red.async.mmio.release.sys.global.add.u32 [%u64_0], %u32_0
    """,
    "copies": r"""
        cp.async.{ca|cg}.shared{::cta|}.global{.L2::cache_hint|}{.L2::64B|.L2::128B|} [%u32_0], [%u64_0], {4|8|16}{, %u32_1|, 8|, %pred_0|}{, %b64_1|}
        cp.async.commit_group
        cp.async.wait_group {0|3}
        cp.async.wait_all
        cp.async.bulk.shared::{cluster|cta}.global.mbarrier::complete_tx::bytes{.multicast::cluster|}{.L2::cache_hint|} [%u32_0], [%u64_0], {%u32_1|256}, [%u32_2]{, %u16_0|}{, %b64_1|}
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%u32_0], [%u32_1], %u32_2, [%u32_3]
        cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint|}{.cp_mask|} [%u64_0], [%u32_0], {%u32_1|16}{, %b64_1|}{, %u16_1|}
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{and.b32|add.u32|inc.u32|max.s32|add.u64} [%u32_0], [%u32_1], %u32_2, [%u32_3]
        cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint|}.{or.b32|add.u64|add.f32|add.noftz.f16|min.bf16|add.f64} [%u64_0], [%u32_1], %u32_2{, %b64_0|}
        cp.async.bulk.prefetch.L2.global{.L2::cache_hint|} [%u64_0], {%u32_1|64}{, %b64_0|}
        cp.async.bulk.{commit_group|wait_group 0|wait_group.read 2}
        cp.async.bulk.tensor.{1d|2d|3d|4d|5d}.shared::{cluster|cta}.global{.tile|.im2col|.tile::gather4|}.mbarrier::complete_tx::bytes{.multicast::cluster|}{.cta_group::2|}{.L2::cache_hint|} [%u32_0], [%u64_0, \{{%s32_0|%s32_0,%s32_1|%s32_0,%s32_1,%s32_2|%s32_0,%s32_1,%s32_2,%s32_3|%s32_0,%s32_1,%s32_2,%s32_3,%s32_4}\}], [%u32_1]{, \{%u16_0\}|, \{%u16_0,%u16_1\}|, \{%u16_0,%u16_1,%u16_2\}|}{, %u16_4|}{, %b64_1|}
        cp.async.bulk.tensor.{1d|2d|3d|5d}.global.shared::cta{.tile|.im2col_no_offs|.tile::scatter4|}.bulk_group{.L2::cache_hint|} [%u64_0, \{{%s32_0|%s32_0,%s32_1|0, %s32_1, 4|%s32_0,%s32_1,%s32_2,%s32_3,%s32_4}\}], [%u32_1]{, %b64_1|}
        cp.reduce.async.bulk.tensor.{1d|3d}.global.shared::cta.{add|min|max|inc|dec|and|or|xor}{.tile|}.bulk_group{.L2::cache_hint|} [%u64_0, \{{%s32_0|%s32_0,%s32_1,%s32_2}\}], [%u32_1]{, %b64_1|}
        cp.async.bulk.prefetch.tensor.{1d|3d}.L2.global{.tile|.im2col|}{.L2::cache_hint|} [%u64_0, \{{%s32_0|%s32_0,%s32_1,%s32_2}\}]{, \{%u16_0\}|}{, %b64_1|}
        multimem.ld_reduce{.weak|.relaxed.gpu|.acquire.sys|}{.global|}.{add|min|max|and}.{u32 %u32_0|b64 %b64_0|f32 %f32_0|f64 %f64_0|v4.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}|acc::f32.v4.f16x2 \{%b32_0,%b32_1,%b32_2,%b32_3\}|v2.bf16x2 \{%b32_0,%b32_1\}|f16x2 %b32_0}, [%u64_0]
        multimem.st{.weak|.relaxed.gpu|.release.sys|}{.global|}.{b32 [%u64_0], %b32_0|v4.f32 [%u64_0], \{%f32_0,%f32_1,%f32_2,%f32_3\}|f64 [%u64_0], %f64_0|v2.f16x2 [%u64_0], \{%b32_0,%b32_1\}}
        multimem.red{.relaxed.gpu|.release.sys|}{.global|}.{add.u32 [%u64_0], %u32_0|and.b64 [%u64_0], %b64_0|add.f32 [%u64_0], %f32_0|add.v4.f32 [%u64_0], \{%f32_0,%f32_1,%f32_2,%f32_3\}|add.f16x2 [%u64_0], %b32_0}
        multimem.cp.async.bulk.global.shared::cta.bulk_group [%u64_0], [%u32_0], %u32_1
        multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%u64_0], [%u32_0], %u32_1
        tensormap.replace.tile.global_address.{global|shared::cta}.b1024.b64 [%u64_0], {%b64_0|5}
        tensormap.replace.tile.{rank|box_dim|global_dim|element_stride}.{global|shared::cta}.b1024.b32 [%u64_0], {0, %b32_0|%b32_0|1, 64|2}
        tensormap.replace.tile.global_stride.global.b1024.b64 [%u64_0], 1, %b64_0
        tensormap.replace.tile.{elemtype|interleave_layout|swizzle_mode|fill_mode|swizzle_atomicity}.global.b1024.b32 [%u64_0], {2|%b32_0}
        tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%u64_0], [%u32_0], 128
    """,
    "textures": r"""
        tex.{1d|2d|3d|a1d|a2d|cube|acube|2dms}.v4.{d:u32|s32|f32|f16}.{c:s32|f32} \{%{d}_0,%{d}_1,%{d}_2,%{d}_3\}, [{tex0|%u64_0|tex0, samp0|%u64_0, %u64_1}, \{{%{c}_0|%{c}_0,%{c}_1|%{c}_0,%{c}_1,%{c}_2,%{c}_3|%s32_4,%{c}_0,%{c}_1,%{c}_2|%s32_4,%{c}_0}\}]
        tex.{level|grad|base}.2d.v4.f32.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}, [tex0, samp0, \{%f32_4,%f32_5\}]{, %f32_6|, \{%f32_4,%f32_5\}, \{%f32_6,%f32_7\}|}
        tex.2d.v4.f32.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}|%pred_0, [%u64_0, \{%f32_4,%f32_5\}]{, \{%s32_0,%s32_1\}|}{, %f32_7|}
        tex.1d.v4.s32.s32 %ivec4_0, [tex0, \{%s32_0\}]
        tex.{1d|2d}.v2.{f16x2|f32}.f32 \{%b32_0,%b32_1\}, [tex0, \{%f32_0,%f32_1\}]
        tex.1d.{f32|v4.f32}.s32 {%f32_0|\{_,_,%f32_0,_\}}, [tex0, %s32_0]
        tld4.{r|g|b|a}.{2d|a2d|cube}.v4.{t:u32|s32|f32}.f32 \{%{t}_0,%{t}_1,%{t}_2,%{t}_3\}, [tex0, samp0, \{%f32_0,%f32_1\}]
        txq{.level|}.{width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples}.b32 %u32_0, [{tex0|%u64_0}]{, %u32_1|}
        txq.{filter_mode|addr_mode_0|addr_mode_1|addr_mode_2|force_unnormalized_coords}.b32 %u32_0, [samp0]
        istypep.{texref|samplerref|surfref} %pred_0, {%u64_0|tex0|samp0|surf0}
        suld.b.{1d|2d|3d|a1d|a2d}{.ca|.cg|.cs|.cv|}{.b8|.b16|.b32|.b64|.v2.b32|.v4.b32|.v2.b64}{.trap|.clamp|.zero} {%b32_0|%b64_0|%b16_0|\{%b32_0,%b32_1\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, [surf0, \{{%s32_0|%s32_0,%s32_1|%s32_0,%s32_1,%s32_2,%s32_3}\}]
        sust.{b|p}.{1d|2d|3d|a1d|a2d}{.wb|.cg|}{.b8|.b16|.b32|.b64|.v2.b32|.v4.b32}{.trap|.clamp|.zero} [{surf0|%u64_0}, \{{%s32_0|%s32_0,%s32_1|%s32_0,%s32_1,%s32_2,%s32_3}\}], {%b32_0|%b64_0|%b16_0|\{%b32_0,%b32_1\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}
        sured.{b|p}.{add|min|max|and|or}.{1d|2d|3d}.{u32|s32|b32|u64|b64}.{trap|clamp|zero} [surf0, \{{%s32_0|%s32_0,%s32_1|%s32_0,%s32_1,%s32_2,%s32_3}\}], {%u32_0|%u64_0}
        suq.{width|height|depth|channel_data_type|channel_order|array_size|memory_layout}.b32 %u32_0, [{surf0|%u64_0}]
    """,
    "threads": r"""
        {bar|barrier}{.cta|}.sync{.aligned|} {0|5|%u32_0}{, 64|, %u32_1|}
        {bar|barrier}{.cta|}.arrive{.aligned|} {0|5|%u32_0}, {64|%u32_1}
        {bar|barrier}{.cta|}.red.popc{.aligned|}.u32 %u32_0, {1|%u32_1}{, 64|, %u32_2|}, {%pred_0|!%pred_0}
        {bar|barrier}{.cta|}.red.{and|or}{.aligned|}.pred %pred_1, {1|%u32_1}{, 64|}, {%pred_0|!%pred_0}
        bar.warp.sync {0xffffffff|%b32_0|-1}
        barrier.cluster.{arrive{.release|.relaxed|}|wait{.acquire|}}{.aligned|}
        membar.{cta|gl|sys|gpu}
        fence{.sc|.acq_rel|.acquire|.release|}{.cta|.cluster|.gpu|.sys}
        fence.proxy.{alias|async|async.global|async.shared::cta|async.shared::cluster}
        fence.mbarrier_init.release.cluster
        fence.{acquire|release}.sync_restrict::shared::{cta|cluster}.cluster
        fence.proxy.async::generic.{acquire|release}.sync_restrict::shared::{cluster|cta}.cluster
        fence.proxy.tensormap::generic.{release.{cta|gpu}|acquire.{gpu|sys} [%u64_0], 128}
        vote{.sync|}.{all|any|uni}.pred {%pred_0}, {%pred_1|!%pred_1}{, 0xffffffff|, %b32_0|}
        vote{.sync|}.ballot.b32 %b32_0, {%pred_1|!%pred_1}{, 0xffffffff|, %b32_1|}
        match.any.sync.{b32 %b32_0, ?b32_1|b64 %b32_0, ?b64_1}, {0xffffffff|%b32_2}
        match.all.sync.{b32 %b32_0\|%pred_0, %b32_1|b64 %b32_0, %b64_1|b32 _\|%pred_0, %b32_1}, %b32_2
        activemask.b32 %b32_0
        redux.sync.{add|min|max}.{t:u32|s32} %{t}_0, %{t}_1, {%b32_2|0xff}
        redux.sync.{and|or|xor}.b32 %b32_0, ?b32_1, %b32_2
        redux.sync.{min|max}{.abs|}{.NaN|}.f32 %f32_0, %f32_1, %b32_2
        shfl{.sync|}.{up|down|bfly|idx}.b32 {%b32_0|%b32_0\|%pred_0|_\|%pred_0|%b32_0\|_}, {%b32_1|%f32_1|5}, {%b32_2|1}, {%b32_3|31}{, -1|, %b32_4|, 0xffffffff|}
        elect.sync {%b32_0|_}|%pred_0, {%b32_1|0xffffffff}
        griddepcontrol.{wait|launch_dependents}
        setmaxnreg.{inc|dec}.sync.aligned.u32 {24|232}
        nanosleep.u32 {100|%u32_0}
        {trap|brkpt|exit|ret}
        {ret|bra|call}.uni
        pmevent{ 3|.mask 5}
        bra{.uni|} {L0|L1}
        call{.uni|} {f0|f1, (%u32_0)|(%u32_1), f2, (%u32_0)|(%u32_1), f2, (7)|(%u32_1), f2, (pa)|(%u32_1), %u64_0, (%u32_0), proto|(%u32_1), %u64_0, (%u32_0), targets|%u64_0, proto0|(_), f2, (%u32_0)|f0, ()|(pr), f2, (pa)}
        brx.idx{.uni|} %u32_0, table
    """,
    "mbarrier": r"""
        mbarrier.init{.shared|.shared::cta|}.b64 @0, {4|%u32_0}
        mbarrier.inval{.shared|.shared::cta|}.b64 [%u64_0]
        mbarrier.{expect_tx|complete_tx}{.relaxed.cta|.relaxed.cluster|}{.shared::cta|.shared::cluster|.shared|}.b64 [%u64_0], {%u32_0|16}
        mbarrier.arrive{.release.cta|.relaxed.cluster|.release.cluster|}{.shared::cta|.shared::cluster|.shared|}.b64 {%b64_0|_}, [%u64_0]{, 3|, %u32_0|}
        mbarrier.{arrive|arrive_drop}.noComplete{.release.cta|}{.shared|}.b64 %b64_0, [%u64_0], {%u32_0|3}
        mbarrier.{arrive|arrive_drop}.expect_tx{.release.cta|.release.cluster|.relaxed.cta|}{.shared::cta|.shared::cluster|}.b64 {%b64_0|_}, [%u64_0], {%u32_0|3}
        mbarrier.arrive_drop{.shared|}.b64 {%b64_0|_}, [%u64_0]{, 3|}
        mbarrier.{test_wait|try_wait}{.acquire.cta|.acquire.cluster|.relaxed.cta|}{.shared::cta|.shared|}.b64 %pred_0, [%u64_0], %b64_0{, %u32_0|, 100|}
        mbarrier.{test_wait|try_wait}.parity{.acquire.cta|}{.shared::cta|}.b64 %pred_0, [%u64_0], {%u32_0|1}{, %u32_1|}
        mbarrier.pending_count.b64 %u32_0, %b64_0
        cp.async.mbarrier.arrive{.noinc|}{.shared|.shared::cta|}.b64 [%u64_0]
        clusterlaunchcontrol.try_cancel.async{.shared::cta|}.mbarrier::complete_tx::bytes{.multicast::cluster::all|}.b128 [%u32_0], [%u32_1]
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %pred_0, %b128_0
        clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 \{%u32_0,%u32_1,%u32_2,_\}, %b128_0
        clusterlaunchcontrol.query_cancel.get_first_ctaid::{x|y|z}.b32.b128 %b32_0, %b128_0
    """,
    "matrices": r"""
        mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f16.f16.f16.f16 \{%b32_0,%b32_1,%b32_2,%b32_3\}, \{%b32_4,%b32_5\}, \{%b32_6,%b32_7\}, \{%b32_0,%b32_1,%b32_2,%b32_3\}
        mma.sync.aligned.m16n8k8.row.col.{f16 \{%b32_0,%b32_1\}|f32}.f16.f16.f16 \{%b32_0,%b32_1\}, \{%b32_4,%b32_5\}, \{%b32_6\}, \{%b32_2,%b32_3\}
        mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 \{%b32_0,%b32_1\}, \{%b32_4,%b32_5\}, \{%b32_6\}, \{%b32_2,%b32_3\}
        mma.sync.aligned.m16n8k{8|16}.row.col.f32.{f16|bf16|tf32}.{f16|bf16|tf32}.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}, {\{%b32_4,%b32_5\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, {\{%b32_6\}|\{%b32_6,%b32_7\}}, \{%f32_0,%f32_1,%f32_2,%f32_3\}
        mma.sync.aligned.m16n8k{4|8}.row.col.f32.tf32.tf32.f32 \{%f32_0,%f32_1,%f32_2,%f32_3\}, {\{%b32_4,%b32_5\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, {\{%b32_6\}|\{%b32_6,%b32_7\}}, \{%f32_0,%f32_1,%f32_2,%f32_3\}
        mma.sync.aligned.m8n8k{4|16}.row.col.f64.f64.f64.f64 \{%f64_0,%f64_1\}, \{%f64_2\}, \{%f64_3\}, \{%f64_0,%f64_1\}
        mma.sync.aligned.m16n8k{4|8|16}{.rn|}.row.col.f64.f64.f64.f64 \{%f64_0,%f64_1,%f64_2,%f64_3\}, {\{%f64_0,%f64_1\}|\{%f64_0,%f64_1,%f64_2,%f64_3\}}, {\{%f64_6\}|\{%f64_6,%f64_7\}}, \{%f64_0,%f64_1,%f64_2,%f64_3\}
        mma.sync.aligned.m{8n8k16|8n8k32}.row.col{.satfinite|}.s32.{u8|s8|u4|s4}.{u8|s8|u4|s4}.s32 \{%s32_0,%s32_1\}, \{%b32_4\}, \{%b32_5\}, \{%s32_0,%s32_1\}
        mma.sync.aligned.m16n8k{16|32|64}.row.col{.satfinite|}.s32.{u8|s8|u4}.{u8|s8|u4}.s32 \{%s32_0,%s32_1,%s32_2,%s32_3\}, {\{%b32_4,%b32_5\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, {\{%b32_6\}|\{%b32_6,%b32_7\}}, \{%s32_0,%s32_1,%s32_2,%s32_3\}
        mma.sync.aligned.m{8n8k128|16n8k128|16n8k256}.row.col.s32.b1.b1.s32.{xor|and}.popc \{{%s32_0,%s32_1|%s32_0,%s32_1,%s32_2,%s32_3}\}, {\{%b32_4\}|\{%b32_4,%b32_5\}|\{%b32_4,%b32_5,%b32_6,%b32_7\}}, {\{%b32_6\}|\{%b32_6,%b32_7\}}, \{{%s32_0,%s32_1|%s32_0,%s32_1,%s32_2,%s32_3}\}
        mma.sync.aligned.m16n8k{16|32}.row.col{.kind::f8f6f4|}.{f32|f16}.{e4m3|e5m2|e3m2|e2m3|e2m1}.{e4m3|e5m2|e2m1}.{f32|f16} {\{%f32_0,%f32_1,%f32_2,%f32_3\}|\{%b32_0,%b32_1\}}, \{%b32_4,%b32_5,%b32_6,%b32_7\}, \{%b32_2,%b32_3\}, {\{%f32_0,%f32_1,%f32_2,%f32_3\}|\{%b32_0,%b32_1\}}
        mma.sync.aligned.m16n8k64.row.col.kind::mxf4{nvf4.block_scale.scale_vec::4X|.block_scale{.scale_vec::2X|}|nvf4.block_scale}.f32.e2m1.e2m1.f32.{ue8m0|ue4m3} \{%f32_0,%f32_1,%f32_2,%f32_3\}, \{%b32_4,%b32_5,%b32_6,%b32_7\}, \{%b32_2,%b32_3\}, \{%f32_0,%f32_1,%f32_2,%f32_3\}, {%b32_0|\{%b32_0\}}, \{{%u16_0|0},{%u16_1|1}\}, {%b32_1|\{%b32_1\}}, \{%u16_2,%u16_3\}
        mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0 \{%f32_0,%f32_1,%f32_2,%f32_3\}, \{%b32_4,%b32_5,%b32_6,%b32_7\}, \{%b32_2,%b32_3\}, \{%f32_0,%f32_1,%f32_2,%f32_3\}, %b32_0, \{%u16_0,%u16_1\}, %b32_1, \{%u16_2,%u16_3\}
        mma.sp{::ordered_metadata|}.sync.aligned.m16n8k{16|32|64}.row.col.f{16|32}.{f16|bf16}.{f16|bf16}.f{16|32} {\{%f32_0,%f32_1,%f32_2,%f32_3\}|\{%b32_0,%b32_1\}}, {\{%b32_4,%b32_5\}|\{%b32_4,%b32_5,%b32_6,%b32_7\}}, {\{%b32_2,%b32_3\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, {\{%f32_0,%f32_1,%f32_2,%f32_3\}|\{%b32_0,%b32_1\}}, %b32_7, {0x0|0|1}
        mma.sp{::ordered_metadata|}.sync.aligned.m16n8k{32|64}.row.col{.satfinite|}.s32.{s8|u8}.{s8|u8}.s32 \{%s32_0,%s32_1,%s32_2,%s32_3\}, {\{%b32_4,%b32_5\}|\{%b32_4,%b32_5,%b32_6,%b32_7\}}, {\{%b32_2,%b32_3\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, \{%s32_0,%s32_1,%s32_2,%s32_3\}, %b32_7, 0x0
        ldmatrix.sync.aligned.m8n8.{x1|x2|x4}{.trans|}{.shared|.shared::cta|}.b16 \{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}, @0
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 %b32_0, [%u32_0]
        ldmatrix.sync.aligned.{m16n16.{x1|x2}.trans|m8n16.{x1|x2|x4}}{.shared|}.{b8|b8x16.b6x16_p32|b8x16.b4x16_p64} \{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}, [%u32_0]
        stmatrix.sync.aligned.m8n8.{x1|x2|x4}{.trans|}{.shared|}.b16 @0, \{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}
        stmatrix.sync.aligned.m16n8.{x1|x2|x4}.trans.shared.b8 [%u32_0], \{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}
        movmatrix.sync.aligned.m8n8.trans.b16 %b32_0, %b32_1
        wmma.load.{a|b}.sync.aligned.{row|col}.m{16n16k16|8n32k16|32n8k16}{.global|.shared|}.f16 \{%b32_0,%b32_1,%b32_2,%b32_3,%b32_4,%b32_5,%b32_6,%b32_7\}, [%u64_0]{, %u32_0|, 16|}
        wmma.load.{a|b}.sync.aligned.{row|col}.m16n16k16{.global|}.{u8|s8|bf16} {\{%b32_0,%b32_1\}|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, [%u64_0]{, %u32_0|}
        wmma.load.{a|b}.sync.aligned.{row|col}.{m16n16k8.tf32 \{%b32_0,%b32_1,%b32_2,%b32_3\}|m8n8k4.f64 \{%f64_0\}|m8n8k32.s4 \{%b32_0\}|m8n8k128.b1 \{%b32_0\}}, [%u64_0]
        wmma.load.c.sync.aligned.{row|col}.m16n16k16{.global|}.{f16 \{%b32_0,%b32_1,%b32_2,%b32_3\}|f32 \{%f32_0,%f32_1,%f32_2,%f32_3,%f32_4,%f32_5,%f32_6,%f32_7\}|s32 \{%s32_0,%s32_1,%s32_2,%s32_3,%s32_4,%s32_5,%s32_6,%s32_7\}}, [%u64_0]{, %u32_0|}
        wmma.store.d.sync.aligned.{row|col}.m16n16k16{.global|}.{f16 [%u64_0], \{%b32_0,%b32_1,%b32_2,%b32_3\}|f32 [%u64_0], \{%f32_0,%f32_1,%f32_2,%f32_3,%f32_4,%f32_5,%f32_6,%f32_7\}|s32 [%u64_0+16], \{%s32_0,%s32_1,%s32_2,%s32_3,%s32_4,%s32_5,%s32_6,%s32_7\}}{, %u32_0|, 16|}
        wmma.mma.sync.aligned.{row|col}.{row|col}.m16n16k16.f32.f32 \{%f32_0,%f32_1,%f32_2,%f32_3,%f32_4,%f32_5,%f32_6,%f32_7\}, \{%b32_0,%b32_1,%b32_2,%b32_3,%b32_4,%b32_5,%b32_6,%b32_7\}, \{%b32_0,%b32_1,%b32_2,%b32_3,%b32_4,%b32_5,%b32_6,%b32_7\}, \{%f32_0,%f32_1,%f32_2,%f32_3,%f32_4,%f32_5,%f32_6,%f32_7\}
        wmma.mma.{and|xor}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 \{%s32_0,%s32_1\}, \{%b32_0\}, \{%b32_1\}, \{%s32_0,%s32_1\}
        wmma.mma.sync.aligned.row.col.m8n8k4{.rn|}.f64.f64.f64.f64 \{%f64_0,%f64_1\}, \{%f64_2\}, \{%f64_3\}, \{%f64_0,%f64_1\}
        wgmma.mma_async.sync.aligned.m64n8k16.f32.{f16|bf16}.{f16|bf16} \{%f32_0,%f32_1,%f32_2,%f32_3\}, {%b64_0|\{%b32_0,%b32_1,%b32_2,%b32_3\}}, %b64_1, {%pred_0|1|0}, 1, {-1|1}{, 0|}{, 1|}
        wgmma.mma_async.sync.aligned.m64n8k{8.f32.tf32.tf32|32.f32.e4m3.e5m2} \{%f32_0,%f32_1,%f32_2,%f32_3\}, %b64_0, %b64_1, %pred_0, 1, 1
        wgmma.mma_async.sync.aligned.m64n8k{16.f16.f16.f16|32.f16.e4m3.e4m3} \{%b32_0,%b32_1\}, %b64_0, %b64_1, %pred_0, 1, 1{, 0, 0|}
        wgmma.mma_async.sync.aligned.m64n8k{32.s32.s8.u8|256.s32.b1.b1.and.popc} \{%s32_0,%s32_1,%s32_2,%s32_3\}, %b64_0, %b64_1, %pred_0
        wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 \{%f32_0,%f32_1,%f32_2,%f32_3\}, %b64_0, %b64_1, %b32_0, 0, %pred_0, 1, 1, 0, 0
        wgmma.{fence|commit_group|wait_group}.sync.aligned{ 0| 3|}
    """,
    "tcgen05": r"""
        tcgen05.alloc.cta_group::{1|2}.sync.aligned{.shared::cta|}.b32 [%b32_0], {%b32_1|64}
        tcgen05.dealloc.cta_group::{1|2}.sync.aligned.b32 %b32_0, {%b32_1|64}
        tcgen05.relinquish_alloc_permit.cta_group::{1|2}.sync.aligned
        tcgen05.ld.sync.aligned.{16x64b|16x128b|16x256b|32x32b}.{x1|x2|x4}{.pack::16b|}.b32 {%b32_0|\{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}}, [%b32_0]
        tcgen05.ld.sync.aligned.16x32bx2.{x1|x2|x4}{.pack::16b|}.b32 \{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}, [%b32_0], 16
        tcgen05.ld.red.sync.aligned.32x32b.x2.{min|max}.{u32|f32} \{%b32_0,%b32_1\}, %b32_2, [%b32_3]
        tcgen05.st.sync.aligned.{16x64b|16x128b|32x32b}.{x1|x2|x4}{.unpack::16b|}.b32 [%b32_0], {%b32_0|\{{%b32_0|%b32_0,%b32_1|%b32_0,%b32_1,%b32_2,%b32_3}\}}
        tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%b32_0], 16, \{%b32_0,%b32_1\}
        tcgen05.wait::{ld|st}.sync.aligned
        tcgen05.cp.cta_group::{1|2}.{128x256b|4x256b|128x128b|64x128b.warpx2::02_13|64x128b.warpx2::01_23|32x128b.warpx4}{.b8x16.b6x16_p32|.b8x16.b4x16_p64|} [%b32_0], %b64_0
        tcgen05.shift.cta_group::{1|2}.down [%b32_0]
        tcgen05.commit.cta_group::{1|2}.mbarrier::arrive::one{.shared::cluster|}{.multicast::cluster|}.b64 {[%b32_0]|[%u64_0]}{, %u16_0|}
        tcgen05.fence::{before|after}_thread_sync
        tcgen05.mma.cta_group::{1|2}.kind::{f16|tf32|f8f6f4|i8} [%b32_0], {%b64_0|[%b32_1]}, %b64_1, %b32_2{, \{%b32_0,%b32_1,%b32_2,%b32_3\}|}, {%pred_0|!%pred_0|1}{, 2|}
        tcgen05.mma.cta_group::1.kind::{mxf8f6f4|mxf4|mxf4nvf4}.block_scale{.scale_vec::1X|.scale_vec::2X|.scale_vec::4X|.block16|.block32|} [%b32_0], {%b64_0|[%b32_1]}, %b64_1, %b32_2, [%b32_3], [%b32_4], %pred_0
        tcgen05.mma.sp.cta_group::1.kind::{f16|i8} [%b32_0], {%b64_0|[%b32_1]}, %b64_1, [%b32_5], %b32_2, %pred_0
        tcgen05.mma{.ws|.ws.sp}.cta_group::1.kind::{f16|tf32}{.collector::b0::fill|.collector::b1::use|} [%b32_0], {%b64_0|[%b32_1]}, %b64_1{, [%b32_5]|}, %b32_2, %pred_0{, %b64_2|}
        tcgen05.mma.cta_group::1.kind::f16.collector::a::{fill|use|lastuse|discard} [%b32_0], [%b32_1], %b64_1, %b32_2, %pred_0
    """,
    "video": r"""
        {vadd|vsub|vabsdiff|vmin|vmax}.{d:u32|s32}.{a:u32|s32}.{b:u32|s32}{.sat|} %{d}_0, %{a}_1{.b0|.b3|.h1|}, {%{b}_2{.b1|.h0|}|7}
        {vadd|vmin}.{d:u32|s32}.s32.s32{.sat|}.{add|min|max} %{d}_0, %s32_1, %s32_2.b1, %{d}_3
        {vadd|vsub}.s32.s32.s32{.sat|} %s32_0.{b0|b1|h0|h1}, %s32_1, %s32_2, %s32_3
        {vshl|vshr}.{d:u32|s32}.{a:u32|s32}.u32{.sat|}.{clamp|wrap}{.add|} %{d}_0, %{a}_1{.b0|.h1|}, {%u32_2|%u32_2.b1|3}{, %{d}_3|}
        vmad.{d:u32|s32}.{a:u32|s32}.{b:u32|s32}{.sat|}{.shr7|.shr15|} %{d}_0, {%{a}_1|-%{a}_1|%{a}_1.b0}, {%{b}_2|%{b}_2.h1}, {%{d}_3|-%{d}_3}
        vmad.s32.u32.u32.po %s32_0, %u32_1, %u32_2, %s32_3
        vset.{a:u32|s32}.{b:u32|s32}.{eq|lt|ge}{.add|.min|} %u32_0, %{a}_1{.b0|}, %{b}_2{, %u32_3|}
        vset.u32.u32.ne %u32_0.{b0|h1}, %u32_1, %u32_2, %u32_3
        {vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2}.{s32|u32}.{s32|u32}.{s32|u32}{.sat|.add|} %u32_0{.h0|.h1|.h10|}, %u32_1{.h32|.h10|}, %u32_2, %u32_3
        {vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4}.{s32|u32}.{s32|u32}.{s32|u32}{.sat|.add|} %u32_0{.b0|.b10|.b3210|}, %u32_1{.b7654|}, %u32_2, %u32_3
        {vset2|vset4}.{s32|u32}.{s32|u32}.{eq|lt}{.add|} %u32_0, %u32_1, %u32_2, %u32_3
    """,
    "guards": r"""
        @%pred_0 add.s32 %s32_0, %s32_1, %s32_2
        @!%pred_0 {mov.u32 %u32_0, 1|st.global.u32 [%u64_0], %u32_0|ld.global.v2.f32 \{%f32_0,%f32_1\}, [%u64_0]|bra L0|ret|exit|trap|call f0|bar.sync 0|brx.idx %u32_0, table}
        @! %pred_0 mov.u32 %u32_0, 1
        @ %pred_0 mov.u32 %u32_0, 1
        @%pred_0 ld.global.v4.u8 \{%u32_0,%u32_1,%u32_2,%u32_3\}, [%u64_0]
        @%pred_0 mov.b64 \{%b32_0,%b32_1\}, %b64_0
        @%pred_0 call (%u32_1), f2, (%u32_0)
    """,
}


def expanded(text):
    """All lines of a pattern, the innermost choices first."""
    match = CHOICE.search(text)
    if not match:
        yield text
        return
    name, body = match[1], match[2]
    if name is None and re.fullmatch(r"\w+", body):  # a repeated name without its choice
        yield text
        return
    for choice in re.split(r"(?<!\\)\|", body) if "|" in body else [body]:
        rest = text[:match.start()] + choice + text[match.end():]
        if name is not None:
            rest = rest.replace("{" + name + "}", choice)
        yield from expanded(rest)


def forms(lines):
    """The lines with registers for ?TYPE_N and @N, and, of the first one, with each other form."""
    for k, line in enumerate(lines):
        plain = re.sub(r"\?(\w+?_\d)", r"%\1", re.sub(r"@(\d)(?!\w)", r"[%u64_\1]", line))
        yield plain
        for match in re.finditer(r"\?(\w+?)_\d|@\d(?!\w)", line) if k == 0 else []:
            others = ADDRESSES if match[0][0] == "@" else FLOATS if match[1][0] == "f" else SOURCES
            for other in others:
                changed = line[:match.start()] + other + line[match.end():]
                yield re.sub(r"\?(\w+?_\d)", r"%\1", re.sub(r"@(\d)(?!\w)", r"[%u64_\1]", changed))


def instructions(names=None, most=None):
    """(chapter, line) of every instruction, each once, in order; of a pattern with more than `most` combinations a sample, which is always
    the same."""
    seen = set()
    for chapter, text in PATTERNS.items():
        if names and chapter not in names:
            continue
        for pattern in filter(None, (line.strip() for line in text.splitlines())):
            hidden = pattern.replace(r"\{", "\1").replace(r"\}", "\2").replace(r"\|", "\3")
            lines = list(itertools.islice(expanded(hidden), MOST))
            if most and len(lines) > most:
                lines = lines[:1] + random.Random(pattern).sample(lines[1:], most - 1)
            for line in forms(lines):
                line = line.replace("\1", "{").replace("\2", "}").replace("\3", "|")
                if line not in seen:
                    seen.add(line)
                    yield chapter, line
