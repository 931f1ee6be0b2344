// See briggs.h.

#include "reference/briggs.h"

#include "ir/cfg.h"
#include "reference/knobs.h"
#include "reference/program/loops.h"
#include "reference/program/problem.h"
#include "reference/rounds.h"

namespace regduel::reference {
namespace {

class Briggs final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "briggs"; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override { return briggs_knobs(); }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    const auto knobs = parse_briggs_knobs(options.knobs);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, block_frequencies(program, cfg, knobs->loop_base), options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    return allocate_in_rounds(problem, *knobs, options);
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_briggs() { return std::make_unique<Briggs>(); }

}  // namespace regduel::reference
