// An allocator as somebody else might bring it: linear scan without spilling. It knows kernels without phis, ties, fixed registers
// and calls, and gives up where there is anything else, or no register left.
//
// The live interval of a vreg is all that lies between its first and its last mention, in the order of the instructions; an edge
// that leads back stretches each interval that it overlaps over the whole loop. Intervals that touch share no register. Source:
// Poletto, Sarkar, "Linear Scan Register Allocation" (1999).
#pragma once

#include <expected>
#include <string_view>

#include <ir/allocator.h>

namespace example {

class LinearScan : public regduel::ir::Allocator {
 public:
  enum class Loops { Stretch, Forget };  // Forget is a bug, planted

  explicit LinearScan(Loops loops) : loops_(loops) {}
  [[nodiscard]] std::string_view name() const override { return "linear-scan"; }
  [[nodiscard]] std::expected<regduel::ir::Allocation, regduel::ir::AllocFailure> allocate(
      const regduel::ir::Function& program, const regduel::ir::Target& target,
      const regduel::ir::AllocOptions& options) const override;

 private:
  Loops loops_;
};

}  // namespace example
