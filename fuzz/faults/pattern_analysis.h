// What the patterns and their faults know of an allocated program: which register units are live, which definition a register or a
// slot holds, and a workshop in which a correct allocation is rewritten (spare registers, new slots, inserted instructions).
//
// All of it is conservative: a unit may be called live that is not, and a place may be said to hold nothing known. It shares
// nothing with the judges, which are judged by what is made here. Tested through patterns_test.cpp and pattern_faults_test.cpp.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuzz/edit.h"
#include "fuzz/faults/patterns.h"
#include "ir/random.h"

namespace regduel::fuzz {

// --- units ---------------------------------------------------------------------------------------------------------

using UnitSet = std::bitset<static_cast<std::size_t>(ir::kNumFiles) * ir::kMaxUnits>;
[[nodiscard]] inline std::size_t unit_number(ir::RegFile file, int unit) {
  return ir::index(file) * ir::kMaxUnits + static_cast<std::size_t>(unit);
}
// Units of a tuple, or those that a register operand touches; of the latter, those of which it covers every byte.
[[nodiscard]] UnitSet units_of(ir::PReg r);
[[nodiscard]] UnitSet touched_units(const ir::Operand& op);
[[nodiscard]] UnitSet covered_units(const ir::Operand& op);
// Units that the instruction reads, writes or destroys.
[[nodiscard]] UnitSet mentioned_units(const EditInst& inst);
[[nodiscard]] UnitSet written_units(const EditInst& inst);        // also by clobbers, also under a guard
[[nodiscard]] UnitSet read_units(const EditInst& inst);           // also by the guard
[[nodiscard]] const ir::Operand* guard_of(const EditInst& inst);  // null where there is none

// --- places --------------------------------------------------------------------------------------------------------

struct Spot {
  std::size_t block = 0;
  std::size_t inst = 0;

  friend auto operator<=>(const Spot&, const Spot&) = default;
};
[[nodiscard]] inline EditInst& at(EditProgram& p, Spot s) { return p.blocks[s.block].insts[s.inst]; }
[[nodiscard]] inline const EditInst& at(const EditProgram& p, Spot s) { return p.blocks[s.block].insts[s.inst]; }

// Changes at places of a program as it stands, made all at once.
class Changes {
 public:
  void before(Spot s, EditInst inst) { list_.push_back({s, 0, list_.size(), std::move(inst)}); }
  void after(Spot s, EditInst inst) { list_.push_back({s, 2, list_.size(), std::move(inst)}); }
  void remove(Spot s) { list_.push_back({s, 1, list_.size(), {}}); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  // At one place in the order in which they were entered.
  void apply(EditProgram& p);

 private:
  struct Change {
    Spot spot;
    int kind;  // before, remove, after
    std::size_t order;
    EditInst inst;
  };
  std::vector<Change> list_;
};

// Callee-saved registers that the function owes its caller.
[[nodiscard]] UnitSet preserved_units_of(const Subject& s);

// --- analyses ------------------------------------------------------------------------------------------------------

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

// Analyses of a subject's allocation as it is, each made when it is first asked for: operators ask for the same ones one after another.
class AfterFacts {
 public:
  explicit AfterFacts(const Subject& subject) : before_(subject.before), program_(subject.after), preserved_(preserved_units_of(subject)) {}
  const UnitLiveness& liveness() {
    if (!liveness_) liveness_.emplace(program_, preserved_);
    return *liveness_;
  }
  const Holdings& holdings() {
    if (!holdings_) holdings_.emplace(before_, program_);
    return *holdings_;
  }

 private:
  const ir::Function& before_;
  const EditProgram program_;
  UnitSet preserved_;
  std::optional<UnitLiveness> liveness_;
  std::optional<Holdings> holdings_;
};
// What the subject brings along, or is computed here.
class AfterFactsOf {
 public:
  explicit AfterFactsOf(const Subject& s)
      : own_(s.after_facts == nullptr ? std::make_unique<AfterFacts>(s) : nullptr), facts_(s.after_facts == nullptr ? own_.get() : s.after_facts) {}
  AfterFacts* operator->() const { return facts_; }

 private:
  std::unique_ptr<AfterFacts> own_;
  AfterFacts* facts_;
};

// --- the workshop --------------------------------------------------------------------------------------------------

// Inserted instructions.
[[nodiscard]] EditInst inserted(ir::Op op, std::vector<ir::Operand> ops);
[[nodiscard]] EditInst make_copy(ir::PReg to, ir::PReg from);
[[nodiscard]] EditInst make_swap(ir::PReg a, ir::PReg b);
[[nodiscard]] EditInst make_spill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
[[nodiscard]] EditInst make_refill(const ir::Operand& reg, ir::SlotId slot, std::uint32_t offset = 0);
[[nodiscard]] bool is_spill_or_refill(const EditInst& inst);
[[nodiscard]] inline bool is_spill(const EditInst& i) { return i.inst.op == ir::Op::Spill && !i.inst.is_deleted(); }
[[nodiscard]] inline bool is_refill(const EditInst& i) { return i.inst.op == ir::Op::Refill && !i.inst.is_deleted(); }

struct SlotUse {
  std::vector<Spot> accesses;  // in program order
  bool is_predicate = true;    // each of them moves one predicate at offset 0
  bool is_words = true;        // each of them moves whole words, of no predicate
  std::size_t spills = 0, refills = 0;
};
// By slot.
[[nodiscard]] std::vector<SlotUse> slot_uses(const EditProgram& p);

class Workshop {
 public:
  Workshop(const Subject& subject, Random& random);

  // `count` units that nothing in either program mentions, mostly the lowest ones above all registers in use; the limit is raised.
  // With `may_save` a callee-saved register of a device function may be taken, and is saved and restored. Changes places.
  [[nodiscard]] std::optional<ir::PReg> take(ir::RegFile file, int count = 1, bool may_save = true);
  // Saves `reg` at the entry and restores it before each ret. Requires can_save().
  void save(ir::PReg reg);
  [[nodiscard]] bool can_save() const;  // device function whose entry has no predecessors
  ir::SlotId new_slot(ir::MemSpace space, std::uint32_t size, std::uint32_t align);
  // Spills up to `count` registers over stretches of one block in which nothing mentions them, and destroys them meanwhile.
  // Only predicates, or only others. False where there is no such stretch. Changes places.
  bool spill_stretches(bool predicates, int count);
  [[nodiscard]] UnitLiveness liveness() const { return UnitLiveness(program, preserved); }
  // The original copy at `s` as a deleted one; what took its place is to be inserted. Inserted: removed.
  void drop(Changes& changes, Spot s);
  [[nodiscard]] bool is_allocatable(ir::RegFile file, int unit) const {
    return ir::is_allocatable(subject.target, limits, file, unit);
  }
  // Numbers all inserted instructions that have no number yet, and puts the program together.
  [[nodiscard]] Patterned finish();

  const Subject& subject;
  Random& random;
  EditProgram program;
  ir::Limits limits;
  UnitSet mentioned;  // by either program, in whatever role
  UnitSet preserved;  // callee-saved, owed to the caller
};

// Gives each inserted instruction without a number the next free one.
void number_inserted(EditProgram& p);

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random.below(static_cast<std::uint32_t>(k))]);
}

// --- the patterns by file ------------------------------------------------------------------------------------------

[[nodiscard]] std::vector<Pattern> pack_patterns();   // pattern_packs.cpp
[[nodiscard]] std::vector<Pattern> slot_patterns();   // pattern_slots.cpp
[[nodiscard]] std::vector<Pattern> remat_patterns();  // pattern_remat.cpp
[[nodiscard]] std::vector<Pattern> move_patterns();   // pattern_moves.cpp

}  // namespace regduel::fuzz
