// What the patterns and their faults know of an allocated program: which register units are live, which definition a register or a
// slot holds, and who uses a slot.
//
// All of it is conservative: a unit may be called live that is not, and a place may be said to hold nothing known. It shares
// nothing with the judges, which are judged by what is made here. Tested through patterns_test.cpp and pattern_faults_test.cpp.
//
// Holdings is not Contents (contents.h), which is the may-analysis: a pattern has to know that a place holds one value on all
// paths, of the *latest* execution of its def, whereas a set of definitions with one element may be the value of an earlier visit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuzz/faults/instructions.h"
#include "fuzz/faults/operators.h"

namespace regduel::fuzz {

// Callee-saved registers that the function owes its caller.
[[nodiscard]] UnitSet preserved_units_of(const Subject& s);

// Units whose content may still be read. `preserved`: read by each ret. Cost: O(blocks x units) a round.
class UnitLiveness {
 public:
  UnitLiveness(const EditProgram& p, const UnitSet& preserved);
  // Of a block with n instructions n + 1 sets: before each instruction, and at the end.
  [[nodiscard]] std::vector<UnitSet> points(std::size_t block) const;
  [[nodiscard]] const UnitSet& live_in(std::size_t block) const { return live_in_[block]; }
  [[nodiscard]] bool is_reachable(std::size_t block) const { return reachable_[block]; }

 private:
  void step_back(const EditInst& inst, UnitSet& live) const;

  const EditProgram& p_;
  UnitSet preserved_;
  std::vector<UnitSet> live_in_;
  std::vector<bool> reachable_;
};

// One word of a def of the program before: 0 where nothing is known.
using Token = std::uint32_t;

// Which register units and slot words hold, on all paths, what the *latest* execution of one definition made.
class Holdings {
 public:
  using State = std::vector<Token>;

  Holdings(const ir::Function& before, const EditProgram& p);

  [[nodiscard]] State at_begin(std::size_t block) const { return in_[block]; }  // empty where no path leads there
  void step(State& state, const EditInst& inst) const;
  [[nodiscard]] Token held(const State& state, ir::RegFile file, int unit) const;
  // Words of a register operand, or of `words` words of a slot; empty where one of them is unknown.
  [[nodiscard]] std::vector<Token> held_by(const State& state, const ir::Operand& reg) const;
  [[nodiscard]] std::vector<Token> held_by_slot(const State& state, const ir::Operand& slot, std::size_t words) const;

  struct Origin {
    std::uint32_t inst = 0;     // index into before.insts
    std::uint32_t operand = 0;  // of that instruction
    std::uint32_t word = 0;
  };
  [[nodiscard]] const Origin& origin(Token t) const { return origins_[t]; }
  // Index into before.insts; nothing for an inserted instruction.
  [[nodiscard]] std::optional<std::uint32_t> index_before(ir::InstId id) const;

 private:
  [[nodiscard]] std::size_t location(ir::RegFile file, int unit) const { return unit_location_[unit_number(file, unit)]; }
  [[nodiscard]] std::vector<std::size_t> words_of(const ir::Operand& op, std::size_t words, bool& whole) const;
  void move(State& state, std::span<const std::pair<const ir::Operand*, const ir::Operand*>> pairs, bool guarded) const;

  const ir::Function& before_;
  const EditProgram& p_;
  std::vector<std::uint32_t> unit_location_, slot_location_;
  std::size_t num_locations_ = 0;
  std::vector<Origin> origins_;                                // by token; the first is none
  std::vector<Token> first_token_;                             // by operand of the program before
  std::vector<std::pair<Token, Token>> tokens_of_;             // by instruction of the program before: half-open
  std::unordered_map<std::uint32_t, std::uint32_t> index_of_;  // by id
  std::vector<State> in_;
};

struct SlotUse {
  std::vector<Spot> accesses;  // in program order
  bool is_predicate = true;    // each of them moves one predicate at offset 0
  bool is_words = true;        // each of them moves whole words, of no predicate
  std::size_t spills = 0, refills = 0;
};
// By slot.
[[nodiscard]] std::vector<SlotUse> slot_uses(const EditProgram& p);

}  // namespace regduel::fuzz
