// The walk over the blocks that have sources. See sources.h.

#include "oracles/uniform/sources.h"

#include <algorithm>

#include "oracles/uniform/copied_out.h"

namespace regduel::oracles::uniform {
namespace {

// Looks at what the sources of escapes read from uniform registers.
class Sources final : public symbolic::Observer {
 public:
  Sources(symbolic::Plan& plan, SharedValues& shared, std::span<const std::uint32_t> sources)
      : plan_(plan), shared_(shared), sources_(sources) {}

  void at_head(std::uint32_t block, symbolic::State&) override { shared_.move_to(block); }
  void before_step(std::uint32_t step, symbolic::State& state) override {
    const symbolic::Step& s = plan_.steps[step];
    const bool is_of_names = s.kind == symbolic::StepKind::Rename || s.kind == symbolic::StepKind::Snapshot;
    if (is_of_names || !std::ranges::binary_search(sources_, s.inst)) return;
    for (const symbolic::StepOperand& op : plan_.operands_of(s))
      for (std::uint32_t k = 0; k < op.loc.cells(); ++k)
        if (is_uniform_location(plan_, op.loc.cell + k) && !is_shared(op.loc.cell + k, symbolic::bytes_at(op.loc, k), state))
          all_shared = false;
    if (s.inst != last_) ++num_seen;
    last_ = s.inst;
  }
  void after_step(std::uint32_t, symbolic::State&) override {}
  void on_edge(std::uint32_t, symbolic::State&) override {}

  bool all_shared = true;
  std::size_t num_seen = 0;

 private:
  [[nodiscard]] bool is_shared(std::uint32_t location, unsigned read, const symbolic::State& state) {
    const Value held = state.locations[location];
    if (plan_.is_byte_location[location] != 0) return shared_.is_shared(held);
    const auto bytes = plan_.values.bytes(held);
    for (unsigned k = 0; k < 4; ++k)
      if ((read >> k & 1) != 0 && !shared_.is_shared(bytes[k])) return false;
    return true;
  }

  symbolic::Plan& plan_;
  SharedValues& shared_;
  std::span<const std::uint32_t> sources_;
  std::uint32_t last_ = symbolic::kNoIndex;
};

}  // namespace

bool read_shared(symbolic::Plan& plan, symbolic::FixedPoint& analysis, SharedValues& shared,
                 std::span<const std::uint32_t> sources) {
  Sources seen(plan, shared, sources);
  for (const std::uint32_t b : plan.order) {
    const symbolic::Range steps = plan.blocks[b];
    if (steps.begin == steps.end) continue;
    const auto next = std::ranges::lower_bound(sources, plan.steps[steps.begin].inst);
    if (next != sources.end() && *next <= plan.steps[steps.end - 1].inst) analysis.walk(b, nullptr, &seen);
    if (!seen.all_shared) return false;
  }
  return seen.num_seen == sources.size();
}

}  // namespace regduel::oracles::uniform
