// The fast check of source 000 "Post-Allocation Verification", for a whole function at once. Internal to the judge.
//
//   deep check of what the fast check suspects  =  deep check of everything
//
// Under MemcheckScope::Errors it suspects fewer instructions. Let E be the expected and F the found set of a byte. An operand is no
// error if each of its bytes has
//
//   E = F,  or  E contains an undefined element and F all defined ones of E
//
// In either scope a difference is no mismatch if the sets under one assumption at a time agree (is_same_under_guards).
//
// Tested by fast_check_test.cpp (this equation) and suspects_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "oracles/judge.h"
#include "oracles/memcheck/mismatch.h"
#include "oracles/memcheck/prepared.h"

namespace regduel::oracles {

// True if `repeat`, a remat in the program after, has the form of an instruction of the program before that may be executed again.
// The values of its operands are not compared.
[[nodiscard]] bool has_form_of(const ir::Function& before, const ir::Inst& old, const ir::Function& after, const ir::Inst& repeat);

// True where `repeat` has the form of the instruction that it repeats, and is_same(x, y) holds for each use x of that and the use y
// of `repeat` (indices into operands).
template <class IsSame>
[[nodiscard]] bool is_right_remat(const Case& c, const ValueGraph& before, const ir::Inst& repeat, const IsSame& is_same) {
  const std::uint32_t source = c.prepared.ids().find(repeat.ref);
  if (source == kNone || !before.is_reachable(source)) return false;
  const ir::Inst& old = c.before.insts[source];
  if (!has_form_of(c.before, old, c.after, repeat)) return false;
  const auto ops = c.before.operands_of(old);
  for (std::size_t k = 0; k < ops.size(); ++k)
    if (ops[k].is_register() && ops[k].role == ir::Role::Use && !is_same(old.first_operand + k, repeat.first_operand + k))
      return false;
  return true;
}

struct FastAnswer {
  // Original instructions that the deep check must look at, sorted, each once: not all definitions that reach their operands after
  // are those from before (or those that no error follows from), or a callee-saved register does not come back to them. The others
  // have no mismatch of any kind, not even on old code. nullopt = any instruction: some remat is not what it repeats, and so a
  // definition of its own.
  std::optional<std::vector<ir::InstId>> suspects;
  // Original instructions whose guard may be undefined before, sorted.
  std::vector<ir::InstId> doubtful;

  [[nodiscard]] bool is_same() const { return suspects && suspects->empty(); }
  friend bool operator==(const FastAnswer&, const FastAnswer&) = default;
};
// Cost: near-linear in the size of both programs, and a small part of the deep check's.
[[nodiscard]] FastAnswer fast_check(const Case& c, MemcheckScope scope = MemcheckScope::Everything);

}  // namespace regduel::oracles
