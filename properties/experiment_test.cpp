// Comparisons on trial: a small regression that was planted is found, and where there is none, nothing is said.
#include <array>

#include <gmock/gmock.h>

#include "base/random.h"
#include "oracles/quality/quality.h"
#include "results/comparison.h"
#include "results/gate.h"
#include "results/testing.h"
#include "trial/faults/instructions.h"

namespace regduel::properties {
namespace {

// Fatpoint. With the knob Waste it adds stores to slots that are never read: one percent more weighted spill bytes in one program
// of five.
class Wasteful final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "wasteful"; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override {
    static const ir::KnobInfo knob = {.name = "Waste", .type = "bool", .default_value = "0"};
    return {&knob, 1};
  }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    ir::AllocOptions own = options;
    std::erase_if(own.knobs, [](const auto& knob) { return knob.first == "Waste"; });
    auto result = duel::find_allocator("fatpoint")->allocate(program, target, own);
    if (result && own.knobs.size() < options.knobs.size() && program.insts.size() % 5 == 0) {
      waste(oracles::Before(program, target), result->program);
      result->has_claims = false;
    }
    return result;
  }

 private:
  static void waste(const oracles::Before& before, ir::Function& after) {
    const auto bytes = [&](const ir::Function& f) { return oracles::measure(before, f).weighted_spill_bytes.value_or(0); };
    const std::int64_t were = bytes(after), wanted = (were + 99) / 100;
    if (were == 0) return;
    const auto with_stores = [&](std::uint32_t block, std::int64_t count) {
      fuzz::EditProgram p(after);
      const ir::SlotId slot = trial::add_slot(p, ir::MemSpace::Local, 4);
      auto& insts = p.blocks[block].insts;
      const auto end = static_cast<std::size_t>(insts.end() - 1 - insts.begin());
      const ir::Operand r0 = ir::Operand::of_preg(ir::Role::Use, {ir::RegFile::R, 1, 0});
      for (std::int64_t k = 0; k < count; ++k) trial::insert_at(p, block, end, trial::make_spill(r0, slot));
      return p.build();
    };
    // Where one store weighs most, of those that weigh no more than is wanted.
    std::uint32_t best = 0;
    std::int64_t most = 0;
    for (std::uint32_t b = 0; b < after.blocks.size(); ++b) {
      const std::int64_t one = bytes(with_stores(b, 1)) - were;
      if (one <= std::max<std::int64_t>(wanted, 4) && one > most) best = b, most = one;
    }
    if (most > 0) after = with_stores(best, std::min<std::int64_t>((wanted + most - 1) / most, 200));
  }
};

class Experiment : public results::DatabaseTest {
 protected:
  static constexpr std::uint64_t kPrograms = 400;
  // The standard mix, judged by some: a run.
  [[nodiscard]] std::vector<results::ResultRow> results(std::span<const ir::Allocator* const> duelists, const duel::Knobs& knobs,
                                                        std::span<const std::string> judges) const {
    results::ResultFile file(path_, {"test", "experiment", "none"});
    for (std::uint64_t k = 0; k < kPrograms; ++k) {
      duel::Case input = duel::standard_case(21, k, {});
      input.knobs = knobs;
      file.add(results::dueled(input, results::mix_source(21, k), results::Content::MadeAgain, duelists, judges));
    }
    file.finish();
    return results::read_results(path_);
  }
};

TEST_F(Experiment, APlantedPercentIsFound) {
  const Wasteful wasteful;
  const std::array<const ir::Allocator*, 1> duelists = {&wasteful};
  const std::vector<std::string> judges = {"structure", "memcheck", "quality"};
  const std::vector<results::ResultRow> older = results(duelists, {}, judges), newer = results(duelists, {{"Waste", "1"}}, judges);
  ASSERT_EQ(older.size(), kPrograms);
  const auto weighted = static_cast<std::size_t>(results::find_measure("weighted_spill_bytes") - results::measures().data());
  std::size_t regressed = 0;
  for (std::size_t k = 0; k < older.size(); ++k) {
    ASSERT_EQ(older[k].hash, newer[k].hash);
    ASSERT_EQ(older[k].verdict, newer[k].verdict) << newer[k].source;
    if (older[k].figures[weighted] == newer[k].figures[weighted]) continue;
    ++regressed;
    EXPECT_LT(static_cast<double>(*newer[k].figures[weighted]), 1.1 * static_cast<double>(*older[k].figures[weighted]) + 16);
  }
  EXPECT_GE(regressed, kPrograms / 10);
  EXPECT_LE(regressed, kPrograms / 4);

  const std::array gates = {*results::parse_gate("weighted_spill_bytes>0%")};
  const auto is_exceeded = [&](const auto& before, const auto& after) {
    const results::Comparison c = results::compare(before, after, {.across_knobs = true});
    return results::judge(gates, std::span(&c, 1))[0].verdict == results::GateVerdict::Exceeded;
  };
  Random random(4);
  int found = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<results::ResultRow> a, b;
    for (int k = 0; k < 2000; ++k) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(older.size()));
      a.push_back(older[at]);
      b.push_back(newer[at]);
      a.back().hash = b.back().hash += "#" + std::to_string(k);
    }
    found += is_exceeded(a, b) ? 1 : 0;
    if (round % 20 == 0) {
      EXPECT_FALSE(is_exceeded(b, a)) << "an improvement";
    }
  }
  EXPECT_GE(found, 95);
}

// Two allocators that differ much, and which of them is called the newer one is drawn by lot: of halves of the programs, so that
// two comparisons share none.
TEST_F(Experiment, LabelsThatMeanNothingRaiseNoAlarm) {
  const std::vector<std::string> judges = {"quality"};
  const std::vector<results::ResultRow> rows = results(duel::all_duelists(), {}, judges);
  std::vector<const results::ResultRow*> one, other;
  for (const results::ResultRow& r : rows) (r.configuration.allocator == "briggs" ? one : other).push_back(&r);
  ASSERT_EQ(one.size(), other.size());
  Random random(9);
  int alarms = 0;
  for (int split = 0; split < 50; ++split) {
    std::array<std::vector<results::ResultRow>, 2> older, newer;
    for (const results::ResultRow* a : one)
      for (const results::ResultRow* b : other) {
        if (a->hash != b->hash) continue;
        const std::size_t half = random.below(2);
        const bool is_swapped = random.chance(50);
        older[half].push_back(is_swapped ? *b : *a);
        newer[half].push_back(is_swapped ? *a : *b);
        older[half].back().configuration.allocator = newer[half].back().configuration.allocator = "either";
      }
    for (std::size_t half = 0; half < 2; ++half) {
      const results::Comparison c = results::compare(older[half], newer[half]);
      EXPECT_GE(c.passed, kPrograms / 3);
      alarms += std::any_of(c.measures.begin(), c.measures.end(),
                            [](const results::MeasureComparison& m) { return m.adjusted_p < results::kAlpha; });
    }
  }
  // Were each an alarm with a probability of kAlpha, as it may be, more than ten would be one case in 90.
  EXPECT_LE(alarms, 10) << "of 100";
}

}  // namespace
}  // namespace regduel::properties
