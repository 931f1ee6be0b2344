// Those that look on while a program is allocated: the trace, the fuel, the observer of one vreg and the record of passes.
//
// Each may be absent, and then costs a comparison with null. None changes what is decided, but for the fuel: without it a decision
// that is optional is not taken.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "allocator/explain/observer.h"
#include "ir/allocator.h"
#include "ir/pass_scope.h"

namespace regduel::allocator {

struct Observers {
  ir::Trace* trace = nullptr;
  ir::Fuel* fuel = nullptr;
  Observer* vreg = nullptr;  // explain.h
  ir::PassLog* passes = nullptr;

  [[nodiscard]] static Observers from(const ir::AllocOptions& options, Observer* vreg = nullptr) {
    return {options.trace, options.fuel, vreg, options.passes};
  }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) const {
    if (trace != nullptr) trace->line(fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool may(std::string_view decision) const { return ir::may(fuel, decision); }
  // The observer of a vreg, where that is of this file.
  [[nodiscard]] Observer* of(ir::RegFile file) const { return vreg != nullptr && vreg->file() == file ? vreg : nullptr; }
};

}  // namespace regduel::allocator
