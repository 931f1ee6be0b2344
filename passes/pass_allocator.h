// A pass and an allocator as one allocator, "copyprop+fatpoint": a duelist like any other. What the judges see is the program that
// came in and the final one (take_back.h). Tested by take_back_test.cpp and properties/passes_test.cpp.
#pragma once

#include <string>

#include "ir/allocator.h"
#include "passes/pass.h"

namespace regduel::passes {

class PassAllocator final : public ir::Allocator {
 public:
  // Both live as long as this.
  PassAllocator(const Pass& pass, const ir::Allocator& allocator);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::vector<ir::KnobInfo> knobs() const override;
  // Each of the two gets the knobs that it knows, the allocator those that neither knows. An ill-formed result of the allocator is
  // handed on as it is. The pass spends of the fuel first.
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override;

 private:
  const Pass& pass_;
  const ir::Allocator& allocator_;
  std::string name_;
};

}  // namespace regduel::passes
