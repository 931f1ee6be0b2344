// See explain.h.

#include "allocator/explain/explain.h"

#include <algorithm>

#include "allocator/driver.h"
#include "allocator/explain/observer.h"
#include "allocator/knobs.h"
#include "allocator/program/names.h"

namespace regduel::allocator {

std::expected<Explanation, ir::AllocFailure> explain(const Function& program, const ir::Target& target,
                                                     const ir::AllocOptions& options, ir::VRegId vreg) {
  const auto knobs = Knobs::parse(options.knobs);
  if (!knobs) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::BadKnob, knobs.error()});
  Observer observer(program, vreg);
  const auto allocation = run_driver(program, {target, options.limits, *knobs, Instruments::from(options, &observer)});
  if (!allocation) return std::unexpected(allocation.error());
  Explanation e = observer.take();
  // Original instructions keep their order, and their operands keep their positions; inserted instructions have other ids.
  const Function& after = allocation->program;
  std::size_t k = 0;
  for (const Inst& inst : program.insts) {
    while (k < after.insts.size() && after.insts[k].id != inst.id) ++k;
    if (k == after.insts.size()) break;
    const auto ops = program.operands_of(inst), placed = after.operands_of(after.insts[k]);
    for (std::size_t o = 0; o < std::min(ops.size(), placed.size()); ++o) {
      if (!ops[o].is_vreg() || program.root(ops[o].vreg()) != e.root || !placed[o].is_preg()) continue;
      Place place{inst.id.value, ir::to_string(after, placed[o].preg())};
      if (e.places.empty() || e.places.back().inst != place.inst || e.places.back().where != place.where)
        e.places.push_back(std::move(place));
    }
  }
  return e;
}

}  // namespace regduel::allocator
