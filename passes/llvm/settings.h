// The knobs of the LLVM-style coalescer, and their values in one run. Source: source 004, the two tables of knobs. Where the seed
// says "subtarget" the default here is what removes most copies. Tested by settings_test.cpp; what each does, by llvm_test.cpp.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/allocator.h"

namespace regduel::passes::llvm {

struct Settings {
  bool join_liveintervals = true;
  bool join_splitedges = true;
  bool join_globalcopies = true;
  bool terminal_rule = true;
  bool verify_coalescing = false;
  bool twoaddr_reschedule = true;
  int late_remat_update_threshold = 100;
  int large_interval_size_threshold = 100;
  int large_interval_freq_threshold = 256;
};

[[nodiscard]] std::vector<ir::KnobInfo> knob_infos();
// Later ones win. The error is one line that names the knob.
[[nodiscard]] std::expected<Settings, std::string> parse_settings(std::span<const std::pair<std::string, std::string>> knobs);

}  // namespace regduel::passes::llvm
