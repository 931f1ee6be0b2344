// The metamorphic judge beside a duel: each duelist is asked again about variants of the program. Dear (nine allocations more), so
// it is asked for and not part of every duel.
#pragma once

#include <span>

#include "duel/duel.h"

namespace regduel::fuzz {

// What it says goes to d.metamorphic, its findings also to the bouts of `d`, a duel of these duelists on this case, where they make
// the verdict fail.
//   Requires  as duel().   Never throws for what an allocator does.
void add_metamorphic(Duel& d, const oracles::Before& before, const ir::Limits& limits,
                     std::span<const ir::Allocator* const> duelists, const Knobs& knobs = {});

// Where one duelist failed, as completeness proved rightly, and another succeeded to the satisfaction of all judges, those judges
// and completeness contradict each other: the finding "disagreement/completeness-vs-success" at the bout that succeeded.
//   Cost  nothing where the duelists agree.
void add_completeness_disagreement(Duel& d, const oracles::Before& before, const ir::Limits& limits);

}  // namespace regduel::fuzz
