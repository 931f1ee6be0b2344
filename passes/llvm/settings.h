// The knobs of the LLVM-style coalescer, and their values in one run. Source: source 004, the two tables of knobs. Where the source
// says "subtarget" the default here is what removes most copies. Tested by settings_test.cpp; what each does, by llvm_test.cpp.
#pragma once

#include "ir/knobs.h"

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

[[nodiscard]] const ir::KnobTable<Settings>& knobs();

}  // namespace regduel::passes::llvm
