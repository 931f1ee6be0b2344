// The part of memcheck in a Before (before.h): the definitions of the program, the sparse graph of its values, the sets that were
// asked for so far, and the guards that may be undefined (doubtful). It serves every allocation of the program under every limit.
//
//   judge(after | prepared once)  =  judge(after | prepared for it alone)
//
// holds because a set of the program before depends on its graph alone, and the leaves that an allocation adds are dropped after
// it. Internal to the judge. Tested by fast_check_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "oracles/before.h"
#include "oracles/memcheck/def_sets.h"
#include "oracles/memcheck/definitions.h"
#include "oracles/memcheck/reaching_sets.h"
#include "oracles/memcheck/value_graph.h"

namespace regduel::oracles {

// The guard of an instruction as an index into the function's operands.
[[nodiscard]] std::optional<std::size_t> guard_operand(const ir::Function& f, const ir::Inst& i);

// True if the guard of the copy does not matter: after allocation it copies registers to themselves, or before allocation each of its
// pairs copies what its def holds anyhow, or has a def that no instruction but such copies reads. What a def holds anyhow is read off
// copies of the same two vregs. Cost: a walk over the reachable blocks before allocation for each copy on the way.
[[nodiscard]] bool is_idle_copy(const Before& before, std::uint32_t old, const ir::Function& after, const ir::Inst& now);

class MemcheckPart {
 public:
  explicit MemcheckPart(const Before& before);

  [[nodiscard]] Definitions& defs() { return defs_; }
  [[nodiscard]] DefSets& sets() { return sets_; }
  // Doubtful guards are unknown values in it.
  [[nodiscard]] const ValueGraph& graph() const { return *graph_; }
  [[nodiscard]] ReachingSets& reaching() { return *reaching_; }
  // Original instructions whose guard may be undefined, sorted.
  [[nodiscard]] const std::vector<ir::InstId>& doubtful() const { return doubtful_; }
  // Those whose guard is undefined on every path to them: they may happen or not, and their operands may be anything. Sorted.
  [[nodiscard]] std::span<const ir::InstId> undefined() const { return undefined_; }
  [[nodiscard]] bool asks_for_nothing(ir::InstId id) const { return std::binary_search(undefined_.begin(), undefined_.end(), id); }
  // Drops the definitions of the program after.
  void forget_after() { defs_.shrink(own_leaves_); }

 private:
  // The graph as far as `doubtful_` and `undefined_` are known.
  void make_graph(const Before& before);
  void find_doubtful();

  Definitions defs_;
  DefSets sets_;
  std::vector<ir::InstId> doubtful_, undefined_;
  std::optional<ValueGraph> graph_;
  std::optional<ReachingSets> reaching_;
  std::size_t own_leaves_ = 0;
};

}  // namespace regduel::oracles
