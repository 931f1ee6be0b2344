// The duelists by name.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"
#include "ir/prover.h"

namespace regduel::duel {

class ExecAllocator;  // duel/exec/exec_allocator.h
struct ExecOptions;

// "fatpoint", "briggs", "exact", "ptxas" where it is installed, or one that was entered; or a pass before one of these, "copyprop+fatpoint"
// (passes/pass_allocator.h). Null for any other name: a name in a file starts no program. The allocators live as long as the
// program and may be used by several threads at once: allocate() is const and keeps no state.
[[nodiscard]] const ir::Allocator* find_allocator(std::string_view name);
[[nodiscard]] std::vector<std::string> allocator_names();  // in the order of the tables
// Those that take part only where they are asked for: "exact", which proves what it can and takes its time.
[[nodiscard]] std::vector<std::string> names_on_request();
// All of these, each pass before each allocator among them: for help and messages.
[[nodiscard]] std::string duelist_names();
// All of them, in the same order, without passes. The span holds until one is entered or leaves.
[[nodiscard]] std::span<const ir::Allocator* const> all_duelists();

// Starts the program in a name, "exec:COMMAND" or "copyprop+exec:COMMAND", and enters it: from here on it is found by that name. It
// takes part where it is asked for, and is not among all_duelists(). What was entered before stays as it is. The error is one line.
// Not for use while other threads look for allocators.
[[nodiscard]] std::expected<void, std::string> enter_external(std::string_view name, const ExecOptions& options);
// Enters an allocator that has to be asked for, likewise. One of that name that was entered before stays.
void enter(std::unique_ptr<const ir::Allocator> allocator);
// The program in such a name, where it was entered; else null.
[[nodiscard]] const ExecAllocator* find_external(std::string_view name);
// The allocators that prove bounds of that kind, of the tables and of those that were entered.
[[nodiscard]] std::vector<const ir::Allocator*> provers(ir::Bound::Kind kind);
// What tables and messages call it: the name that the program says in its hello (that of its command, with the files protocol)
// instead of "exec:COMMAND", numbered where several say the same; all others by their name.
[[nodiscard]] std::string shown_name(std::string_view name);
// Those of whom knobs are drawn: all duelists, the programs, and the others that were entered, in that order.
[[nodiscard]] std::vector<const ir::Allocator*> knob_owners();

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

}  // namespace regduel::duel
