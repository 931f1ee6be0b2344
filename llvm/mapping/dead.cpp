#include "llvm/mapping/dead.h"

#include <algorithm>

namespace regduel::llvm {
namespace {

bool has_no_effect(const Inst& i) {
  for (const char c : {'c', 't', 's', 'u', 'o', 'a', 'B', 'b', 'z', 'y'})
    if (i.has(c)) return false;
  bool defines = false;
  for (const Operand& o : i.ops) {
    if (!o.is_register() || !o.is_def) continue;
    if (o.vreg < 0 && !(o.is_implicit && o.is_dead)) return false;
    defines = defines || o.vreg >= 0;
  }
  return defines;
}

}  // namespace

Dump without_dead(Dump before, const Dump& after, int& deleted) {
  std::set<int> there;
  for (const Block& b : after.blocks)
    for (const Inst& i : b.insts) {
      there.insert(i.num);
      if (const auto it = after.substitutions.find(i.num); it != after.substitutions.end()) there.insert(it->second);
    }
  std::set<int> gone;
  for (const Block& b : before.blocks)
    for (const Inst& i : b.insts)
      if (i.num != 0 && !there.contains(i.num) && has_no_effect(i)) gone.insert(i.num);
  for (bool changes = !gone.empty(); changes;) {
    std::set<int> read;  // vregs, by what stays
    for (const Block& b : before.blocks)
      for (const Inst& i : b.insts)
        for (const Operand& o : i.ops)
          if (o.vreg >= 0 && !gone.contains(i.num) && (!o.is_def || (!o.sub.empty() && !o.is_undef))) read.insert(o.vreg);
    const std::size_t size = gone.size();
    for (const Block& b : before.blocks)
      for (const Inst& i : b.insts)
        if (std::ranges::any_of(i.ops, [&](const Operand& o) { return o.is_def && o.vreg >= 0 && read.contains(o.vreg); }))
          gone.erase(i.num);
    changes = gone.size() != size;
  }
  deleted = static_cast<int>(gone.size());
  for (Block& b : before.blocks) std::erase_if(b.insts, [&](const Inst& i) { return i.num != 0 && gone.contains(i.num); });
  return before;
}

}  // namespace regduel::llvm
