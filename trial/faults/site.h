// A correct allocation to be damaged, and the places in it. A selector lists places: the instructions or operands of which a
// condition holds. Tested through operators_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "fuzz/edit/edit.h"
#include "ir/cfg.h"
#include "ir/target.h"
#include "trial/faults/instructions.h"
#include "trial/faults/origins.h"

namespace regduel::trial {

struct Subject {
  const ir::Function& before;
  const ir::Function& after;
  const ir::Target& target;
  ir::Limits limits;
};

// A subject with the facts that all operators ask for.
class Site {
 public:
  explicit Site(const Subject& subject);

  const Subject subject;
  const EditProgram program;
  const ir::Cfg cfg;
  const std::vector<ir::PReg> preserved;  // callee-saved units that the function owes its caller
  mutable Expected expected;

  // The instruction of the program before that `i` is; null for an inserted or a deleted one.
  [[nodiscard]] const ir::Inst* original(const EditInst& i) const {
    return i.inst.is_inserted() || i.inst.is_deleted() ? nullptr : expected.find(i.inst.id);
  }
  [[nodiscard]] std::span<const ir::Operand> original_ops(const EditInst& i) const {
    return subject.before.operands_of(*original(i));
  }
  [[nodiscard]] const ir::VReg& root_of(const ir::Operand& before) const {
    return subject.before.vreg(subject.before.root(before.vreg()));
  }
  // Executed as itself: original, and no copy, phi, spill or refill.
  [[nodiscard]] bool is_operation(const EditInst& i) const;
  // True where nothing but class and size says where operand k may stand.
  [[nodiscard]] bool is_free(const EditInst& i, std::size_t k) const;
  [[nodiscard]] bool is_preserved(ir::PReg r) const;
  [[nodiscard]] bool is_allocatable(ir::PReg r) const;
  // An allocatable tuple of the same file and size that keeps the alignment of `home` and does not overlap it; with `used_only`, it
  // is one of those that the allocation uses.
  [[nodiscard]] std::optional<ir::PReg> another_home(ir::PReg home, bool used_only, Random& random) const;

 private:
  ir::PerFile<int> used_ = {};
};

struct Place {
  std::uint32_t block = 0, inst = 0;
  std::size_t operand = 0, other = 0;  // of the instruction, or whatever the selector says
};
using Selector = std::function<std::vector<Place>(const Site&)>;

// Instructions of reachable blocks, and operands of them.
using InstTest = std::function<bool(const Site&, const EditInst&)>;
using OperandTest = std::function<bool(const Site&, const EditInst&, std::size_t)>;
[[nodiscard]] Selector insts(InstTest test);
[[nodiscard]] Selector operands(InstTest test, OperandTest of);
// Pairs of operands x, y of one instruction.
using PairTest = std::function<bool(const Site&, const EditInst&, std::size_t, std::size_t)>;
[[nodiscard]] Selector operand_pairs(InstTest test, PairTest of);
// Instructions with a later one of their block, `reach` at most behind it: `other` is its position.
using LaterTest = std::function<bool(const Site&, const EditInst&, const EditInst&)>;
[[nodiscard]] Selector inst_pairs(InstTest first, LaterTest later, std::size_t reach);
[[nodiscard]] Selector edge_blocks(bool filled);
[[nodiscard]] std::vector<Place> slots(const Site& s);       // `operand` is the slot
[[nodiscard]] std::vector<Place> slot_pairs(const Site& s);  // `operand` and `other`, of one space
[[nodiscard]] std::vector<Place> everywhere(const Site& s);  // one place: the program as a whole

// Tests.
[[nodiscard]] bool is_operation(const Site& s, const EditInst& i);
[[nodiscard]] bool is_unchanged(const Site& s, const EditInst& i);  // original, and with the opcode that it had
template <ir::Op... kOps>
[[nodiscard]] bool is(const Site&, const EditInst& i) {
  return !i.inst.is_deleted() && ((i.inst.op == kOps) || ...);
}
template <ir::Op... kOps>
[[nodiscard]] bool is_inserted(const Site& s, const EditInst& i) {
  return i.inst.is_inserted() && is<kOps...>(s, i);
}

}  // namespace regduel::trial
