// See targets.h.
#include "targets/targets.h"

#include <algorithm>
#include <array>

namespace regduel::targets {

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array kTargets = std::to_array<FuzzTarget>({
      {"briggs", "the reference alone, twice: its result is right, and the same both times", true, try_briggs},
      {"classic", "fat-point allocation to the letter, twice: its result is right, and the same both times", true, try_classic},
      {"coalesce", "the reference with every way of coalescing: each result is right", true, try_coalesce},
      {"duel", "both allocators, all judges", true, try_duel},
      {"fatpoint", "the production allocator alone, twice: its result is right, and the same both times", true, try_fatpoint},
      {"judges", "an allocation damaged, or made in ignorance of a rule: a judge that does not execute objects, and none crashes",
       true, try_judges},
      {"ptx", "PTX text: what is read is well-formed, and prints and reads as itself", false, try_ptx},
      {"rir_binary", "RIR bytes: rejected, or well-formed and encoded as what they decode to", false, try_rir_binary},
      {"rir_text", "RIR text: rejected at a place in it, or well-formed, and printed as what it parses to", false, try_rir_text},
      {"spill", "both allocators with as few registers as the program can be allocated in", true, try_spill},
  });
  return kTargets;
}

const FuzzTarget* find_fuzz_target(std::string_view name) {
  const auto all = fuzz_targets();
  const auto at = std::find_if(all.begin(), all.end(), [&](const FuzzTarget& t) { return t.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace regduel::targets
