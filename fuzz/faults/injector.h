// How an operator of general_faults() is made: it lists the places where it might apply, changes one of them, and keeps the change
// if it shows as it should (expected_codes); else it tries another. Tested by operators_test.cpp and faults_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fuzz/faults/choose.h"
#include "fuzz/faults/facts.h"
#include "fuzz/faults/instructions.h"
#include "fuzz/faults/operators.h"
#include "ir/cfg.h"
#include "ir/check.h"

namespace regduel::fuzz {

// An instruction, and one or two operands of it or another instruction, whatever the operator wants to remember.
struct Place {
  std::uint32_t block = 0, inst = 0;
  std::size_t operand = 0, other = 0;
};

class Injector {
 public:
  Injector(EditProgram& program, const Subject& subject, Random& random);

  EditProgram& program;
  const Subject& subject;
  Random& random;

  [[nodiscard]] const BeforeFacts& facts() const { return *facts_; }
  // The instruction of the program before that `i` is; null for an inserted or deleted one.
  [[nodiscard]] const ir::Inst* original(const EditInst& i) const { return facts_->original(i); }
  [[nodiscard]] std::span<const ir::Operand> original_ops(const EditInst& i) const {
    return facts_->before.operands_of(*original(i));
  }
  // True where nothing but class and size says where operand k may stand: not fixed, not tied, not architectural, not
  // early-clobber.
  [[nodiscard]] bool is_free(const EditInst& i, std::size_t k) const;
  // An instruction that is executed as itself: neither copy nor phi nor inserted nor deleted.
  [[nodiscard]] bool is_operation(const EditInst& i) const {
    return original(i) != nullptr && !i.inst.is_copy() && !i.inst.is_phi() && i.inst.op != ir::Op::Spill &&
           i.inst.op != ir::Op::Refill;
  }
  [[nodiscard]] bool is_inserted_copy(const EditInst& i) const { return i.inst.is_inserted() && i.inst.is_copy(); }

  // Every instruction of a reachable block for which `take(block, position, instruction)` adds what it likes.
  template <class Take>
  void each(Take take) const {
    for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
      if (!cfg_.is_reachable(ir::BlockId(b))) continue;
      for (std::uint32_t k = 0; k < program.blocks[b].insts.size(); ++k) take(b, k, program.blocks[b].insts[k]);
    }
  }
  // Those that are wanted.
  template <class Want>
  [[nodiscard]] std::vector<Place> instructions(Want want) const {
    std::vector<Place> places;
    each([&](std::uint32_t b, std::uint32_t k, const EditInst& i) {
      if (want(i)) places.push_back({b, k, 0, 0});
    });
    return places;
  }
  [[nodiscard]] const ir::Cfg& cfg() const { return cfg_; }

  // A tuple of the same file and size, alignment kept, allocatable, not overlapping `home`; mostly among those that the allocation
  // uses.
  [[nodiscard]] std::optional<ir::PReg> another_home(ir::PReg home, bool used_only = true);

  // Tries `edit(program, place)` at one place after another, in random order, at most `tries` of them, until the result is
  // well-formed, differs, and (with a code other than 0) should show that code. `edit` returns false where it finds that it cannot.
  template <class Edit>
  bool at_one_of(std::vector<Place> places, int code, Edit edit, int tries = 8) {
    while (!places.empty() && tries-- > 0) {
      const std::size_t pick = random.below(static_cast<std::uint32_t>(places.size()));
      std::swap(places[pick], places.back());
      const Place place = places.back();
      places.pop_back();
      EditProgram trial = program;
      if (!edit(trial, place) || !shows(trial, code)) continue;
      program = std::move(trial);
      return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool shows(const EditProgram& trial, int code) const;

  FactsOf facts_;
  ir::Cfg cfg_;
  ir::PerFile<int> used_ = {};
};

// Parts of an instruction.
[[nodiscard]] bool writes_any_of(const EditInst& i, ir::PReg r);
[[nodiscard]] bool mentions(const EditInst& i, ir::PReg r);
void set_preg(ir::Operand& op, ir::PReg r);
// The instruction at `place` goes behind the first later one of its block that mentions its first register. False where there is
// none.
[[nodiscard]] bool move_behind_reader(EditProgram& program, const Place& place);
// Edits for at_one_of().
bool erase_at(EditProgram& program, const Place& place);
bool delete_at(EditProgram& program, const Place& place);  // an original instruction

// The parts of general_faults().
[[nodiscard]] std::vector<FaultOperator> value_faults();
[[nodiscard]] std::vector<FaultOperator> copy_faults();
[[nodiscard]] std::vector<FaultOperator> slot_faults();
[[nodiscard]] std::vector<FaultOperator> rule_faults();

}  // namespace regduel::fuzz
