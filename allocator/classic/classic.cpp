// See classic.h.

#include "allocator/classic/classic.h"

#include "allocator/classic/classic_driver.h"
#include "allocator/knobs.h"

namespace regduel::allocator {
namespace {

class Classic final : public ir::Allocator {
 public:
  std::string_view name() const override { return "classic"; }
  std::span<const ir::KnobInfo> knobs() const override { return knob_infos(Owner::Classic); }
  std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                           const ir::AllocOptions& options) const override {
    const auto knobs = Knobs::parse(options.knobs, Owner::Classic);
    if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
    return run_classic(program, {target, options.limits, *knobs, Instruments::from(options)});
  }
};

}  // namespace

std::unique_ptr<ir::Allocator> make_classic() { return std::make_unique<Classic>(); }

}  // namespace regduel::allocator
