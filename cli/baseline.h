// What is accepted of each kernel: its registers and spill bytes at each limit, in a file that people read and commit.
//
//   {
//     "regduel_baseline": 1,
//     "kernels": [
//       {"file": "kernels/a.ptx", "function": "k", "target": "sm_90", "allocator": "fatpoint", "limit": 32, "registers": 32, ...},
//       ...
//     ]
//   }
//
// A row a kernel, allocator and limit, each on a line of its own, in this order; files are named from the folder of the baseline. Tested by
// check_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace regduel::cli {

// What is held against the baseline; less is better in each. registers and bytes as of results/measure.h.
inline constexpr std::array<std::string_view, 4> kBaselineFigures = {"registers", "spill_store_bytes", "spill_load_bytes",
                                                                     "weighted_spill_bytes"};

struct BaselineKey {
  std::string file, function, target, allocator;
  int limit = 0;
  friend auto operator<=>(const BaselineKey&, const BaselineKey&) = default;
};
// In the order of kBaselineFigures; nothing = beyond counting.
using BaselineFigures = std::array<std::optional<std::int64_t>, kBaselineFigures.size()>;
using Baseline = std::map<BaselineKey, BaselineFigures>;

// Throws BadInput: no such file, not a baseline, another version; with file:line:column where the text is no JSON.
[[nodiscard]] Baseline read_baseline(const std::string& path);
[[nodiscard]] std::string text_of(const Baseline& baseline);

}  // namespace regduel::cli
