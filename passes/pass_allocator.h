// A pass followed by an allocator, as one allocator: "copyprop+fatpoint". Judges see the program before the pass and the final one
// (take_back.h). Tested by take_back_test.cpp and properties/passes_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/allocator.h"
#include "passes/pass.h"

namespace regduel::passes {

class PassAllocator final : public ir::Allocator {
 public:
  // Both live as long as this.
  PassAllocator(const Pass& pass, const ir::Allocator& allocator);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return knobs_; }
  // The pass gets the knobs that it knows, the allocator all others. An ill-formed result of the allocator is returned as it is.
  // The pass spends fuel before the allocator does.
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override;

 private:
  const Pass& pass_;
  const ir::Allocator& allocator_;
  std::string name_;
  std::vector<ir::KnobInfo> knobs_;  // of the pass, then of the allocator
};

}  // namespace regduel::passes
