// The least that spilling costs, against all sets of values of small programs: for each set, the program is lowered by value with
// these values in memory, and coloured if that can be done.

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "generate/generator.h"
#include "ir/text/text.h"
#include "reference/colour/coalesce.h"
#include "reference/exact/fewest_units.h"
#include "reference/exact/least_spill.h"
#include "reference/exact/value_graphs.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::properties {
namespace {

using reference::TempId;

constexpr int kMostValues = 9, kPrograms = 3000;

// Kernels alone: nothing is callee-saved there.
class AllSets {
 public:
  explicit AllSets(const reference::Problem& problem) : p_(problem), plan_(problem.all_in_registers()) {
    const reference::Plan memory = p_.all_in_memory();
    const reference::ValueGraphs whole = reference::lower_by_value(p_, plan_);
    plan_.is_left_out.assign(p_.program().insts.size(), 0);
    std::vector<std::uint8_t> is_alone(whole.code.temps.size(), 0);  // a dead move into it would be a store
    for (std::size_t i = 0; i < whole.code.insts.size(); ++i) {
      const reference::CodeInst& inst = whole.code.insts[i];
      if (!whole.is_dead[i]) continue;
      if (inst.source != reference::kNoSource) plan_.is_left_out[inst.source] = 1;
      if (inst.kind == reference::CodeKind::Move) is_alone[whole.code.refs[inst.first_ref].temp] = 1;
    }
    reference::ValueGraphs base = reference::lower_by_value(p_, plan_);
    const reference::Code& code = base.code;
    reference::InterferenceGraphs& graphs = base.value;
    slot_.resize(code.num_values);
    for (TempId v = 0; v < code.num_values; ++v) {
      slot_[v] = v;
      bytes_.push_back(code.temps[v].bytes);
      if (graphs.node_of[v] != reference::kNoNode && !memory.locations[v].is_register()) values_.push_back(v);
    }
    for (const ir::RegFile file : ir::kAllFiles) {
      reference::FileGraph& g = graphs.files[ir::index(file)];
      if (g.size() == 0) continue;
      reference::coalesce(g, {p_.allocatable()[ir::index(file)], {}, false, nullptr});
      for (const TempId v : values_)
        for (const TempId w : values_)
          if (w < slot_[v] && !is_alone[v] && !is_alone[w] && code.temps[v].file == file && code.temps[w].file == file &&
              g.find(graphs.node_of[v]) == g.find(graphs.node_of[w]))
            slot_[v] = w;
    }
  }

  [[nodiscard]] std::size_t values() const { return values_.size(); }

  // Nothing where no set will do.
  [[nodiscard]] std::optional<std::int64_t> least() const {
    std::optional<std::int64_t> best;
    for (std::uint32_t set = 0; set < 1u << values_.size(); ++set) {
      const auto [graphs, cost] = lowered(set);
      if ((!best || cost < *best) && fits(graphs)) best = cost;
    }
    return best;
  }

 private:
  struct Lowered {
    reference::ValueGraphs graphs;
    std::int64_t cost = 0;
  };
  [[nodiscard]] Lowered lowered(std::uint32_t set) const {
    reference::Plan plan = plan_;
    std::vector<std::uint32_t> slot_of(slot_.size(), 0xFFFFFFFFu);
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if ((set >> k & 1) == 0) continue;
      const TempId v = values_[k];
      if (p_.can_remat(v)) {
        plan.locations[v] = reference::Location::nowhere();
        continue;
      }
      std::uint32_t& slot = slot_of[slot_[v]];
      if (slot == 0xFFFFFFFFu) slot = plan.add_slot(bytes_[v]);
      plan.slots[slot].bytes = std::max<std::uint32_t>(plan.slots[slot].bytes, bytes_[v]);
      plan.locations[v] = reference::Location::in_slot(slot);
    }
    Lowered l{reference::lower_by_value(p_, plan), 0};
    for (const reference::CodeBlock& b : l.graphs.code.blocks)
      if (b.is_reachable)
        for (const reference::CodeInst& i : l.graphs.code.insts_of(b))
          if (i.num_refs > 0 && (i.kind == reference::CodeKind::Refill || i.kind == reference::CodeKind::Store))
            l.cost += i.bytes * static_cast<std::int64_t>(std::min<std::uint64_t>(b.freq, 1'000'000'000));
    return l;
  }
  [[nodiscard]] bool fits(const reference::ValueGraphs& graphs) const {
    return std::all_of(ir::kAllFiles.begin(), ir::kAllFiles.end(), [&](ir::RegFile file) {
      const reference::FileGraph& g = graphs.value.files[ir::index(file)];
      return g.size() == 0 || reference::find_colouring(g, p_.allocatable()[ir::index(file)]).answer == reference::Answer::Yes;
    });
  }

  const reference::Problem& p_;
  reference::Plan plan_;
  std::vector<TempId> values_;        // that may be spilled
  std::vector<TempId> slot_;          // by value: the first of those that share its slot
  std::vector<std::uint32_t> bytes_;  // by value
};

TEST(LeastSpill, IsTheLeastOfAllSets) {
  int asked = 0, proved = 0, spilling = 0, impossible = 0, refuted = 0;
  for (std::uint64_t seed = 1; asked < kPrograms; ++seed) {
    Random random(seed);
    generate::GeneratorOptions options;
    options.profile = generate::profiles()[random.below(static_cast<std::uint32_t>(generate::profiles().size()))];
    options.seed = seed;
    options.size = 5 + static_cast<int>(random.below(14));
    const ir::Function f = generate::generate(options);
    if (f.kind != ir::FunctionKind::Kernel) continue;
    const ir::Target& target = ir::default_target();
    const ir::Cfg cfg(f);
    for (int registers = 2; registers <= 12; ++registers) {
      const ir::Limits limits = ir::Limits::of(target, registers);
      const reference::Problem problem(f, cfg, target, limits, 10);
      if (problem.impossible()) continue;
      const AllSets all(problem);
      if (all.values() > kMostValues) break;
      ++asked;
      SCOPED_TRACE(fmt::format("seed {}, {} registers\n{}", seed, registers, ir::print(f)));
      const std::optional<std::int64_t> least = all.least();
      const reference::LeastSpill found = reference::least_spill(problem);
      if (!least) {
        EXPECT_EQ(found.end, reference::LeastSpill::End::Impossible);
        ++impossible;
        break;
      }
      ASSERT_EQ(found.end, reference::LeastSpill::End::Found);
      // What the lower graphs leave open is a range.
      EXPECT_LE(found.at_least, *least);
      EXPECT_GE(found.at_most, *least);
      proved += found.is_proved();
      spilling += *least > 0;
      refuted += found.refutations > 0;
      if (*least == 0) break;
    }
  }
  EXPECT_GT(proved, kPrograms * 95 / 100);
  EXPECT_GT(spilling, kPrograms / 10);
  EXPECT_GT(refuted, kPrograms / 100);
  RecordProperty("impossible", impossible);
  RecordProperty("refuted", refuted);
}

}  // namespace
}  // namespace regduel::properties
