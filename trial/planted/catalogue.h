// The planted bugs: each a mistake that real allocators have made, switched on by its name in the zoo build (base/planted.h). And
// planted losses: with them the allocations are right, and worse.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"
#include "passes/pass.h"

namespace regduel::trial {

struct PlantedBug {
  std::string_view name;  // begins with the allocator or the pass that has it
  std::string_view what;  // what goes wrong
  // Of a loss: the gap by which a campaign finds it (fuzz/triage/failure.h); "" = a bug.
  std::string_view gap = {};
};

// Sorted by name.
[[nodiscard]] std::span<const PlantedBug> planted_bugs();
[[nodiscard]] std::span<const PlantedBug> planted_losses();
// Of both. Null where there is no such name.
[[nodiscard]] const PlantedBug* find_planted_bug(std::string_view name);
// The pass that has it; null where it is an allocator.
[[nodiscard]] const passes::Pass* pass_with(std::string_view bug);
// The duelists whose results the bugs can spoil: all duelists where one of the bugs is an allocator's, that allocator where it takes
// part on request only, and each pass with one of the bugs before each duelist.
[[nodiscard]] std::vector<const ir::Allocator*> duelists_against(std::span<const std::string> bugs);
// Whether this build has them.
[[nodiscard]] bool has_planted_bugs();
// Switches on the named ones, comma-separated, and all others off, for the whole process: all off with "". Requires
// has_planted_bugs(), and that no allocation is running. An unknown name switches nothing, so check it with find_planted_bug()
// before.
void plant(std::string_view names);
[[nodiscard]] bool is_planted(std::string_view name);

}  // namespace regduel::trial
