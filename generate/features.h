// The features of a profile: chances and weights that the emitters draw from. Each profile is a row of one table; a blend of two
// profiles is their mean.
#pragma once

#include <array>
#include <cstdint>

#include "generate/profile.h"
#include "generate/shape.h"
#include "ir/program.h"

namespace regduel::generate {

// The kinds of instruction (or short sequence) that the emitter knows.
enum class Emit : std::uint8_t {
  Alu,           // named operation, 1 to 3 uses
  Load,          // !read, sometimes !readonly, sometimes !remat
  Store,         // !write
  Const,         // const, sometimes !remat
  Copy,          // one pair within a file
  ParallelCopy,  // two to four pairs, also swaps
  CrossCopy,     // between files
  Pack,
  Unpack,
  PartBuild,    // a wide value defined part by part
  PartDef,      // a def of a part of an old value
  SetP,         // one or two predicates from a comparison
  PredLogic,    // predicates from predicates, some negated
  Select,       // a value and a predicate in, a value out
  Uniform,      // UR arithmetic
  UniformPred,  // UP from UR or from a vote
  Tensor,       // mma on aligned tuples
  Acc,          // tensor memory (file ACC); Tensor where there is none
  BarrierReg,   // B and UB
  Call,         // by the ABI, direct or indirect
  Bar,          // barrier, fence
  InOut,        // def-use
  Tied,         // def tied to a use of another vreg
  Early,        // early-clobber def
  Fixed,        // operands fixed to registers
  Precoloured,  // vregs fixed to registers
  MultiDef,     // two to four defs
  Atomic,       // !read !write
  ManyUses,     // as many operands as fit
  NoOperands,
  Ramp,         // many defs, then their uses: a cliff
  MayDefFirst,  // a first def under a guard, then a full one
  Alias,        // a new name for a part of an old vreg
  PackChain,    // pack and unpack in turn, whose pieces are read again
  GuardedRun,   // up to 200 instructions under one guard, or under a few
};
inline constexpr int kNumEmits = 35;

struct Features {
  std::array<int, kNumEmits> weights = {};
  ShapeOptions shape;                                    // shape.blocks is set by the size
  int block_size = 8;                                    // instructions a block, 0 = all in one block
  std::array<int, 7> widths = {2, 3, 60, 20, 2, 10, 3};  // weights of 8, 16, 32, 64, 96, 128, 256 bits in R
  // Units of long-lived values, lowest and highest, in each file.
  ir::PerFile<int> live_low = {}, live_high = {};
  int low_pressure = 30;       // percent of programs with only a few long-lived values
  int guard = 8;               // percent of instructions
  int redefine = 25;           // percent of defs that go to an old vreg
  int part = 3;                // percent of uses that read a part
  int odd_align = 3;           // percent of new vregs whose alignment is not the natural one
  int ralt = 5;                // percent of new vregs in Ralt, URext
  int hint = 4;                // percent of new vregs
  int phis = 20, merges = 20;  // percent of joins, several times over
  int constrained_moves = 2;   // percent of copies and constants whose operands are tied, fixed or early-clobber
  int early = 1;               // percent of plain defs that are early-clobber, of whatever instruction
  int clobbers = 1;            // percent of instructions that destroy some registers besides, terminators too
  int architectural = 4;       // percent of programs with one to three architectural registers
  int device = 10;             // percent of programs that are device functions
  int immediates = 25;         // percent of instructions with an immediate
  int sequence = 10;           // percent of picks among the oldest values
  bool undefined = false;
  bool plain = false;  // nothing but 32 bits in R, and P
};

[[nodiscard]] Features features_of(Profile p);  // not of Mix
[[nodiscard]] Features blend(const Features& a, const Features& b);

}  // namespace regduel::generate
