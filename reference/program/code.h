// The lowered program, on which the phases work: no phis, no fixed operands but precoloured temps, no ties but shared temps.
//
// A *value* may live across blocks and may be spilled; each root vreg is one, and each phi has one of its own (problem.h). A
// *temp* is a node of the interference graph: temps [0, num_values) are the values themselves, the others are *local* (they live
// around one instruction, inside one block, and are never spilled). lower.h makes this form, rewrite.h turns it back into a
// program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/grouped.h"
#include "ir/program.h"

namespace regduel::reference {

using TempId = std::uint32_t;
inline constexpr TempId kNoTemp = 0xFFFFFFFFu;
inline constexpr std::uint32_t kNoSource = 0xFFFFFFFFu;

struct Temp {
  ir::RegFile file = ir::RegFile::R;
  std::uint8_t units = 1;
  std::uint8_t align_log2 = 0;
  std::uint16_t bytes = 4;
  ir::PReg fixed;                    // precoloured: local temps, and values that are architectural vregs
  std::uint32_t source = kNoSource;  // local temps: index of the program's instruction that it serves, if any
};

enum class CodeKind : std::uint8_t {
  Original,  // an instruction of the program, its operands on temps
  Deleted,   // an instruction of the program that is no longer executed
  Move,      // refs: dst, src; more pairs: a parallel copy of whole registers
  Refill,    // refs: dst;  from `slot`
  Store,     // refs: src;  to `slot`
  Remat,     // refs: dst;  what instruction `remat_of` computes
};

enum RefFlags : std::uint8_t {
  kReads = 1,  // the value is read: it is live before
  kWrites = 2,
  kKills = 4,        // written as a whole on every execution: what was there before is dead
  kAtReads = 8,      // holds its units while uses are read
  kPartial = 16,     // a def of a part: must not stand in a clobbered unit
  kKillsBytes = 32,  // the bytes that are written are so on every execution; without kWrites: they are undefined from here on
};

// Bit b = byte b of a temp; none has more than 32 bytes.
using ByteMask = std::uint32_t;
[[nodiscard]] constexpr ByteMask byte_mask(std::size_t offset, std::size_t size) {
  return (size >= 32 ? ~ByteMask{0} : (ByteMask{1} << size) - 1) << offset;
}
// The bytes of its temp that a ref reads and writes.
struct RefBytes {
  ByteMask reads = 0, writes = 0;
  friend bool operator==(const RefBytes&, const RefBytes&) = default;
};

struct Ref {
  TempId temp = kNoTemp;
  std::uint8_t flags = 0;
  std::uint16_t part = 0;  // into Code::parts; 0 = all of the temp
};

struct CodeInst {
  CodeKind kind = CodeKind::Original;
  std::uint8_t dst_offset = 0, src_offset = 0;  // Move: bytes into the temps. Refill, Store: dst_offset / src_offset of the temp
  std::uint8_t bytes = 0;                       // Move, Refill, Store: how many
  std::uint16_t num_refs = 0;
  std::uint16_t copy_pairs = 0;  // the first 2n refs are n pairs (dst, src) of an unguarded copy of whole roots
  std::uint32_t first_ref = 0;
  std::uint32_t source = kNoSource;  // index of the program's instruction
  std::uint32_t slot = 0, slot_offset = 0;
  std::uint32_t remat_of = kNoSource;  // index of the program's instruction
};

struct CodeBlock {
  std::uint32_t first_inst = 0, num_insts = 0;
  ir::BlockId edge_from, edge_to;  // an edge block
  bool is_reachable = true;
  std::uint64_t freq = 1;

  [[nodiscard]] bool is_edge_block() const { return edge_from.is_valid(); }
};

// A pair (dst, src) of such a copy whose src is among its pairs already, or is dst. Only dst stands behind the pairs.
struct FurtherPair {
  std::uint32_t source = kNoSource;  // the copy, as an instruction of the program
  TempId dst = kNoTemp, src = kNoTemp;
};

struct Code {
  std::vector<Temp> temps;
  std::uint32_t num_values = 0;
  std::vector<CodeBlock> blocks;                    // those of the program, then edge blocks
  Grouped<std::uint32_t> successors, predecessors;  // by block
  std::vector<CodeInst> insts;
  std::vector<Ref> refs;
  std::vector<FurtherPair> further_pairs;  // by source
  std::vector<RefBytes> parts = {{}};      // what refs read and write that name parts, each once; the first stands for none
  // Temp of each vreg operand of the program (by index into Function::operands), kNoTemp for all others. Without meaning for those
  // of phis and of what is deleted.
  std::vector<TempId> operand_temp;

  [[nodiscard]] std::span<const Ref> refs_of(const CodeInst& i) const { return {refs.data() + i.first_ref, i.num_refs}; }
  // What a copy writes to its ref k, which is a def, comes from there; none if it is no copy of a whole root.
  [[nodiscard]] TempId source_of(const CodeInst& inst, std::size_t k) const {
    if (k < 2u * inst.copy_pairs) return refs[inst.first_ref + k + 1].temp;
    if (inst.kind != CodeKind::Original || further_pairs.empty()) return kNoTemp;
    for (auto p = std::ranges::lower_bound(further_pairs, inst.source, {}, &FurtherPair::source);
         p != further_pairs.end() && p->source == inst.source; ++p)
      if (p->dst == refs[inst.first_ref + k].temp) return p->src;
    return kNoTemp;
  }
  // As far as its flags say that the ref reads and writes.
  [[nodiscard]] RefBytes bytes_of(const Ref& r) const {
    RefBytes bytes = parts[r.part];
    if (r.part == 0) bytes.reads = bytes.writes = byte_mask(0, temps[r.temp].bytes);
    if ((r.flags & kReads) == 0) bytes.reads = 0;
    if ((r.flags & (kWrites | kKillsBytes)) == 0) bytes.writes = 0;
    return bytes;
  }
  [[nodiscard]] std::span<const CodeInst> insts_of(const CodeBlock& b) const { return {insts.data() + b.first_inst, b.num_insts}; }
};

}  // namespace regduel::reference
