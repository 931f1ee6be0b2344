// The candidates for coalescing: one for each move of a copy or a phi whose two ends may become one vreg.
//
// Source: source 004, "Coalesce Candidate Record", "Sub-Register Handling", phases 1 and 2. The source numbers six kinds and names
// the first three; here they are
//   1 copy       whole to whole
//   2 subreg     a part to the same part of another vreg
//   3 extract    a part to a whole, where something of the shape of the whole was inserted there before (origins.h)
//   4 insert     a whole to a part, where it was extracted from the same part of something else before
//   5 parameter  whole to whole, one of the two fixed as an operand of a call, a ret or abi.entry
//   6 phi        one use of a phi to its def
// Of a vreg wider than 64 bits the first piece is the candidate, and the further pieces inherit: they are merged with the pieces of
// the other vreg together with the first, or none is. Tested by candidates_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "ir/program.h"
#include "passes/nvptx/origins.h"
#include "passes/nvptx/type_classes.h"

namespace regduel::passes::nvptx {

enum class Kind : std::uint8_t { Copy = 1, Subreg, Extract, Insert, Parameter, Phi };
[[nodiscard]] std::string_view name(Kind k);

struct SubOperand {
  std::uint16_t family = 0;
  std::uint8_t piece = 0;
  bool inherits = false;  // from the first piece
};

struct Candidate {
  Kind kind = Kind::Copy;
  std::uint16_t family = 0;  // of the first sub-operand
  ir::VRegId def, source;    // roots
  ir::BlockId block;         // where the move happens: for a phi, the end of the predecessor
  std::uint32_t inst = 0;    // index of the copy or phi in Function::insts
  std::uint16_t pair = 0;    // of the copy; of a phi, the number of its use
  boost::container::static_vector<SubOperand, kMaxPieces> sub_operands;  // one for each piece of the two roots
};

// By root, whether it takes part. Three kinds do not: architectural roots; roots of which a phi names a part by an alias, because a
// phi has only vregs as operands, and another root has none for that part; and roots that two phis of one block write.
[[nodiscard]] std::vector<char> participants(const ir::Function& f);

struct CandidateOptions {
  std::int64_t copy_limit = -1;  // instructions considered, in the order of program; -1 = all
  bool parameters = true, phis = true, wide = true;
  // Also copies under a guard. Where the def holds nothing before, it holds what the copy moves or nothing, and so the two may be
  // one; but the symbolic judge cannot tell that from a mistake once the source is computed again behind the copy.
  bool guarded = false;
};
// In the order of program. A move within one root is none. Cost: O(operands).
[[nodiscard]] std::vector<Candidate> collect_candidates(const ir::Function& f, std::span<const char> participants,
                                                        const Origins& origins, const CandidateOptions& options);

}  // namespace regduel::passes::nvptx
