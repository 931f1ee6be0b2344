// The workshop in which a pattern rewrites a correct allocation: spare registers, new slots, inserted instructions. Tested through
// patterns_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "fuzz/faults/choose.h"
#include "fuzz/faults/pattern_analysis.h"
#include "fuzz/faults/patterns.h"

namespace regduel::fuzz {

class Workshop {
 public:
  Workshop(const Subject& subject, Random& random);

  // `count` units that nothing in either program mentions, mostly the lowest ones above all registers in use; the limit is raised.
  // With `may_save` a callee-saved register of a device function may be taken, and is saved and restored. Changes places.
  [[nodiscard]] std::optional<ir::PReg> take(ir::RegFile file, int count = 1, bool may_save = true);
  // Saves `reg` at the entry and restores it before each ret. Requires can_save().
  void save(ir::PReg reg);
  [[nodiscard]] bool can_save() const;  // device function whose entry has no predecessors
  ir::SlotId new_slot(ir::MemSpace space, std::uint32_t size, std::uint32_t align);
  // Spills up to `count` registers over stretches of one block in which nothing mentions them, and destroys them meanwhile.
  // Only predicates, or only others. False where there is no such stretch. Changes places.
  bool spill_stretches(bool predicates, int count);
  [[nodiscard]] UnitLiveness liveness() const { return UnitLiveness(program, preserved); }
  // The original copy at `s` as a deleted one; what took its place is to be inserted. Inserted: removed.
  void drop(Changes& changes, Spot s);
  [[nodiscard]] bool is_allocatable(ir::RegFile file, int unit) const {
    return ir::is_allocatable(subject.target, limits, file, unit);
  }
  // Numbers all inserted instructions that have no number yet, and puts the program together.
  [[nodiscard]] Patterned finish();

  const Subject& subject;
  Random& random;
  EditProgram program;
  ir::Limits limits;
  UnitSet mentioned;  // by either program, in whatever role
  UnitSet preserved;  // callee-saved, owed to the caller
};

// The patterns by file.
[[nodiscard]] std::vector<Pattern> pack_patterns();   // pattern_packs.cpp
[[nodiscard]] std::vector<Pattern> slot_patterns();   // pattern_slots.cpp
[[nodiscard]] std::vector<Pattern> remat_patterns();  // pattern_remat.cpp
[[nodiscard]] std::vector<Pattern> move_patterns();   // pattern_moves.cpp

}  // namespace regduel::fuzz
