// See fatpoint.h.

#include "allocator/fatpoint.h"

#include "allocator/driver.h"
#include "allocator/knobs.h"

namespace regduel::allocator {
namespace {

class FatPoint final : public ir::Allocator {
 public:
  std::string_view name() const override { return "fatpoint"; }
  std::span<const ir::KnobInfo> knobs() const override { return knob_infos(); }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    const auto knobs = Knobs::parse(options.knobs);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    return run_driver(program, {target, options.limits, *knobs, Instruments::from(options)});
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_fatpoint() { return std::make_unique<FatPoint>(); }

}  // namespace regduel::allocator
