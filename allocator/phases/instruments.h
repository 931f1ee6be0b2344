// The instruments of a run: trace, fuel, the listener of one vreg, and the record of passes.
//
// Each may be absent, and then costs a comparison with null. Only the fuel changes what is decided: once it is used up, optional
// decisions are not taken.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "allocator/phases/run_listener.h"
#include "ir/allocator.h"
#include "ir/pass_scope.h"

namespace regduel::allocator {

struct Instruments {
  ir::Trace* trace = nullptr;
  ir::Fuel* fuel = nullptr;
  RunListener* listener = nullptr;
  ir::PassLog* passes = nullptr;

  [[nodiscard]] static Instruments from(const ir::AllocOptions& options, RunListener* listener = nullptr) {
    return {options.trace, options.fuel, listener, options.passes};
  }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) const {
    if (trace != nullptr) trace->line(fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool are_absent() const { return trace == nullptr && fuel == nullptr && listener == nullptr && passes == nullptr; }
  [[nodiscard]] bool may(std::string_view decision) const { return ir::may(fuel, decision); }
  // The listener, if its vreg is of this file.
  [[nodiscard]] RunListener* of(ir::RegFile file) const {
    return listener != nullptr && listener->file() == file ? listener : nullptr;
  }
};

}  // namespace regduel::allocator
