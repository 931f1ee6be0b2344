// Operands of one instruction that contradict one another, so that no allocation exists at any limit. check() asks for them in
// programs over vregs. Tested by check_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace regduel::ir {

struct OperandConflict {
  int operand = -1;
  std::string message;
};

// Requires of each instruction that is asked for that its operands are well-formed one by one.
class OperandConflicts {
 public:
  explicit OperandConflicts(const Function& f) : f_(f) {}

  void add_architectural(VRegId v) { architectural_.push_back(v); }

  // Two operands of the instruction that write one register, or that are fixed to one register at once.
  [[nodiscard]] std::optional<OperandConflict> among(const Inst& i);
  // Another root that is fixed or tied to the units of an architectural vreg, or a clobber of them.
  [[nodiscard]] std::optional<OperandConflict> with_architectural(const Inst& i) const;

 private:
  // Of operands of one root, the first of them written.
  [[nodiscard]] std::optional<OperandConflict> of_one_root(std::span<const Operand> ops, std::size_t k, std::size_t m) const;
  // Fills homes_: the registers that the operands are fixed to, themselves or through their ties.
  void find_homes(std::span<const Operand> ops);

  const Function& f_;
  std::vector<VRegId> architectural_;
  std::vector<std::pair<std::uint32_t, std::size_t>> by_root_;  // of one instruction: root, operand
  std::vector<std::size_t> fixed_;                              // of one instruction: operands with a fixed home
  std::vector<PReg> homes_;                                     // of one instruction: of each operand, its fixed home
};

}  // namespace regduel::ir
