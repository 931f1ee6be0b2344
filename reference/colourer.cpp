// See colourer.h.

#include "reference/colourer.h"

#include "ir/cfg.h"
#include "reference/knobs.h"
#include "reference/program/problem.h"
#include "reference/rounds.h"

namespace regduel::reference {
namespace {

class Colourer final : public ir::Allocator {
 public:
  Colourer(std::string_view name, const ir::KnobTable<Rules>& knobs) : name_(name), knobs_(knobs) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return knobs_.infos(); }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override {
    auto rules = knobs_.parse(options.knobs);
    if (!rules) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, rules.error()});
    if (rules->has_pressure_limit && rules->pressure_limit == 0) rules->pressure_limit = target.sm < 90 ? 70 : 80;
    const ir::Cfg cfg(program);
    const Problem problem(program, cfg, target, options.limits, rules->loop_base, options.fuel);
    if (const auto file = problem.impossible())
      return std::unexpected(
          ir::AllocFailure{.message = ir::failure_message(options.limits.of(*file)), .inst = problem.impossible_inst()});
    return allocate_in_rounds(problem, *rules, options);
  }

 private:
  std::string_view name_;
  const ir::KnobTable<Rules>& knobs_;
};

}  // namespace

std::unique_ptr<ir::Allocator> make_briggs() { return std::make_unique<Colourer>("briggs", briggs_knobs()); }
std::unique_ptr<ir::Allocator> make_cicc() { return std::make_unique<Colourer>("cicc", cicc_knobs()); }

}  // namespace regduel::reference
