// The rules of the structure judge about registers: file, size, alignment, limit, reserved and architectural registers, fixed, tied
// and early-clobber operands. structure.cpp lists the categories. Tested by register_rules_test.cpp and structure_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/target.h"
#include "oracles/collector.h"
#include "oracles/judge.h"
#include "oracles/limit_by_point.h"

namespace regduel::oracles {

// Adds its findings to a collector. Each check takes an instruction `a` of the program after.
class RegisterRules {
 public:
  // Requires: the case and the collector outlive this.
  RegisterRules(const Case& c, Collector& out);

  // The register `have` of operand `at`, which was the vreg `want` in the program before.
  void check_placement(const ir::Inst& a, int at, const ir::Operand& want, const ir::Operand& have);
  // Tied operands, early-clobber defs, overlapping defs: `want` has the attributes, `have` the registers.
  void check_constraints(const ir::Inst& a, std::span<const ir::Operand> want, std::span<const ir::Operand> have);
  void check_defs_apart(const ir::Inst& a, std::span<const ir::Operand> have);
  // A register of an inserted instruction. It may read an architectural register, above the limit too, but not write it.
  void check_inserted(const ir::Inst& i, int at, const ir::Operand& op);
  // A spilled or refilled tuple has as many units as a vreg can have, and is aligned as the least aligned vreg of so many units.
  void check_tuple(const ir::Inst& i, int at, ir::PReg r);

 private:
  void fault(std::string_view category, const ir::Inst& i, int operand, std::string message);
  void allocatable(const ir::Inst& a, int at, ir::PReg r);
  // The architectural vreg, other than `own`, that has some units of the register; invalid = none.
  [[nodiscard]] ir::VRegId architectural_in(ir::PReg r, ir::VRegId own = {}) const;
  void not_of_architectural(const ir::Inst& a, int at, ir::PReg r, ir::VRegId owner);

  // A byte of a register file, with the operand that was entered there last. A new stamp clears all marks.
  struct Mark {
    std::uint32_t stamp = 0;
    std::uint32_t operand = 0;
  };
  template <class Visit>
  void for_each_byte(const ir::Operand& op, Visit visit);
  void mark(const ir::Operand& op, std::size_t k);
  [[nodiscard]] int marked_by(const ir::Operand& op);  // -1 = no operand

  const ir::Function& before_;
  const ir::Function& after_;
  const ir::Target& target_;
  const ir::Limits& limits_;
  const LimitByPoint points_;  // of R
  Collector& out_;
  std::vector<ir::VRegId> architectural_;
  static constexpr int kMostUnits = 8;                  // of a vreg
  std::array<int, kMostUnits + 1> least_align_log2_{};  // by units
  static constexpr std::size_t kFileBytes = static_cast<std::size_t>(ir::kMaxUnits) * 4;
  ir::PerFile<std::vector<Mark>> marks_;  // of each file, as far as operands reach
  std::uint32_t stamp_ = 0;
};

}  // namespace regduel::oracles
