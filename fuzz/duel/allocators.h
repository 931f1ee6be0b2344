// The duelists by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"

namespace regduel::fuzz {

// "fatpoint", "briggs", or one that was entered; or a pass before one of these, "copyprop+fatpoint" (passes/pass_allocator.h). Null
// for any other name. The allocators live as long as the program and may be used by several threads at once: allocate() is const
// and keeps no state.
[[nodiscard]] const ir::Allocator* find_allocator(std::string_view name);
[[nodiscard]] std::vector<std::string> allocator_names();  // in the order of the tables
// The same, each pass before each allocator among them: for help and messages.
[[nodiscard]] std::string duelist_names();
// All of them, in the same order, without passes. The span holds until one is entered or leaves.
[[nodiscard]] std::span<const ir::Allocator* const> all_duelists();

// Enters an allocator of another project, or of a test: it can be found by its name while this lives, and so take part in duels,
// campaigns and reductions. Not for use while other threads look for allocators. Requires: no other has its name.
class Entered {
 public:
  explicit Entered(const ir::Allocator& allocator);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const ir::Allocator& allocator_;
};

}  // namespace regduel::fuzz
