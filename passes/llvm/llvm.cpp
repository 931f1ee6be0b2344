#include "passes/llvm/llvm.h"

#include <utility>
#include <vector>

#include "passes/llvm/coalescer.h"
#include "passes/llvm/settings.h"
#include "passes/llvm/two_address.h"
#include "passes/llvm/verify.h"

namespace regduel::passes {
namespace {

class LlvmCoalescer final : public Pass {
 public:
  std::string_view name() const override { return "llvm"; }
  std::string_view what_it_does() const override { return "joins live intervals of copies, phis and ties by the values in them"; }
  std::span<const ir::KnobInfo> knobs() const override { return llvm::knobs().infos(); }
  std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target& target,
                                               const PassOptions& options) const override {
    const auto settings = llvm::knobs().parse(options.knobs);
    if (!settings) return std::unexpected(settings.error());
    const ir::Function two_address = llvm::make_two_address(program, settings->twoaddr_reschedule, options.fuel, options.trace);
    if (settings->verify_coalescing) llvm::verify(two_address, target, "Before register coalescing", options.trace);
    ir::Function joined = llvm::coalesce(two_address, *settings, options.fuel, options.trace);
    if (settings->verify_coalescing) llvm::verify(joined, target, "After register coalescing", options.trace);
    return joined;
  }
};

}  // namespace

const Pass& llvm_coalescer() {
  static const LlvmCoalescer pass;
  return pass;
}

}  // namespace regduel::passes
