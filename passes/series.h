// Other passes one after the other, in an order that is a knob, so that a campaign draws the order of the coalescers with each
// program, and a finding keeps it.
//
//   series-order   names of passes with + between them, each any number of times: "llvm+cssa", or none
//
// The knobs of the other passes are knobs of the series too. The series keeps the contract of passes (pass.h), as each step does.
// Tested by series_test.cpp, and against the judges by properties/passes_test.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace regduel::passes {

inline constexpr std::string_view kSeries = "series", kSeriesOrder = "series-order";

class Series final : public Pass {
 public:
  //   single   the passes that it may run; they and the list outlive it
  explicit Series(std::span<const Pass* const> single);

  [[nodiscard]] std::string_view name() const override { return kSeries; }
  [[nodiscard]] std::string_view what_it_does() const override {
    return "other passes one after the other, in the order of a knob";
  }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return knobs_; }
  [[nodiscard]] std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target& target,
                                                             const PassOptions& options) const override;

 private:
  [[nodiscard]] std::expected<std::vector<const Pass*>, std::string> parse(std::string_view order) const;

  std::span<const Pass* const> single_;
  std::vector<ir::KnobInfo> knobs_;
};

}  // namespace regduel::passes
