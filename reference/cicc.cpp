// See cicc.h.

#include "reference/cicc.h"

#include "ir/cfg.h"
#include "reference/knobs.h"
#include "reference/program/loops.h"
#include "reference/program/problem.h"
#include "reference/rounds.h"

namespace regduel::reference {
namespace {

class Cicc final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "cicc"; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override { return cicc_knobs(); }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    const auto knobs = parse_cicc_knobs(options.knobs);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, block_frequencies(program, cfg, knobs->loop_base), options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    Rules rules = *knobs;
    if (rules.pressure_limit.value == 0) rules.pressure_limit.value = target.sm < 90 ? 70 : 80;
    return allocate_in_rounds(problem, rules, options);
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_cicc() { return std::make_unique<Cicc>(); }

}  // namespace regduel::reference
