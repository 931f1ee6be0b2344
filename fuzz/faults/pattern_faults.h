// What the two files of pattern_faults() share.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fuzz/faults/contents.h"
#include "fuzz/faults/pattern_analysis.h"

namespace regduel::fuzz {

[[nodiscard]] std::vector<FaultOperator> pack_faults();  // pattern_faults_packs.cpp

template <class T>
[[nodiscard]] std::optional<T> pick(const std::vector<T>& list, Random& random) {
  if (list.empty()) return std::nullopt;
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}

// What the subject brings along, or is computed here.
class FactsOf {
 public:
  explicit FactsOf(const Subject& s)
      : own_(s.facts == nullptr ? std::make_unique<BeforeFacts>(s.before) : nullptr), facts_(s.facts == nullptr ? own_.get() : s.facts) {}
  const BeforeFacts& operator*() const { return *facts_; }

 private:
  std::unique_ptr<BeforeFacts> own_;
  const BeforeFacts* facts_;
};

// An operator that takes a place only where the fault should show as one of `kCodes`, of those that expected_codes() knows.
template <bool (*kApply)(EditProgram&, const Subject&, Random&), int... kCodes>
bool shown_as(EditProgram& p, const Subject& s, Random& random) {
  constexpr int kTries = 4;
  constexpr std::uint32_t kWanted = (... | (1u << kCodes));
  const FactsOf facts(s);
  for (int k = 0; k < kTries; ++k) {
    EditProgram trial = p;
    if (!kApply(trial, s, random)) return false;
    if ((expected_codes(*facts, trial.build(), kWanted) & kWanted) == 0) continue;
    p = std::move(trial);
    return true;
  }
  return false;
}

// The program before, by number.
class BeforeIndex {
 public:
  explicit BeforeIndex(const ir::Function& before);
  // Null for an inserted or a deleted one.
  [[nodiscard]] const ir::Inst* find(const EditInst& i) const;
  // A plain def of a whole root: not fixed, tied, early-clobber, architectural.
  [[nodiscard]] bool is_free_def(const ir::Inst& i, std::size_t operand) const;
  [[nodiscard]] bool is_repeatable(const ir::Inst& i) const;  // may have remats
  [[nodiscard]] bool is_full(const EditInst& i) const;        // its first def fills its register: no undefined upper bytes

 private:
  const ir::Function& before_;
  std::unordered_map<std::uint32_t, const ir::Inst*> by_id_;
};

// The original instruction, no move and under no guard, whose def is what `reg` holds in front of `s`: found backwards in the block
// and in single predecessors, through inserted copies. Nothing where it is not as simple as that.
[[nodiscard]] std::optional<Spot> plain_writer(const EditProgram& p, Spot s, ir::PReg reg);

// True where an original operation of the block reads, behind `s`, what `reg` holds there: itself or through copies, not through
// memory or a pack; and before allocation all that it reads there was defined, whatever way led there. So the fault of the value shows at
// that operation, and under no other name than its own.
[[nodiscard]] bool has_plain_reader(const BeforeFacts& facts, const EditProgram& p, Spot s, ir::PReg reg);

// A register of the same file and size that the program mentions, allocatable, and not overlapping `r`.
[[nodiscard]] std::optional<ir::PReg> another_register(const EditProgram& p, const Subject& s, ir::PReg r, Random& random);

}  // namespace regduel::fuzz
