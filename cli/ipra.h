// Inter-procedural allocation (--ipra): a call of a function with a body in the same file destroys what the allocation of that
// function writes, and no more. Functions are allocated callees first; then the clobbers of their calls are narrowed in the
// programs *before* allocation, so that allocators and judges see the same lists.
//
// A list is only ever narrowed, to what the callee's instructions write or clobber in turn, less what it saves and restores, and to
// what the ABI has in both of its lists (the return address). Calls through a register (oracles/calls/calls.h), of functions without
// a body or with one that may be replaced when the program is linked (`.weak`), and within or into recursion keep the list of the
// ABI.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/input.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::cli {

// Indices of the programs, callees before callers; those in or above recursion last, in order of the file. Cost: O(size).
struct BottomUp {
  std::vector<std::size_t> order;
  std::vector<bool> is_known;  // by index: its clobbers may be used, since all of its callees come before it
};
[[nodiscard]] BottomUp bottom_up(std::span<const Program> programs);

class CalleeClobbers {
 public:
  // What calls of this function destroy from here on: what any allocation of it that was added writes. Requires: `before` is what was
  // allocated, `after` is over pregs.
  void add(const ir::Function& before, const ir::Function& after, const ir::Target& target);
  // Narrows the clobbers of the calls of functions that were added.
  [[nodiscard]] ir::Function applied_to(const ir::Function& f) const;

 private:
  using Units = ir::PerFile<std::bitset<ir::kMaxUnits>>;
  std::map<std::string, Units, std::less<>> known_;
};

}  // namespace regduel::cli
