#include "passes/nvptx/merged.h"

#include <algorithm>
#include <utility>

namespace regduel::passes::nvptx {

using ir::VRegId;

Merged::Merged(const ir::Function& f, Intervals& intervals, std::span<const std::int64_t> frequency)
    : intervals_(intervals), classes_(f.vregs.size()), counts_(f.vregs.size()) {
  for (std::size_t v = 0; v < classes_.size(); ++v) classes_[v].parent = classes_[v].lowest = VRegId(v);
  std::vector<std::uint32_t> last(f.vregs.size(), ~0u);  // instruction in which it was counted
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& i : f.insts_of(ir::BlockId(b)))
      for (const ir::Operand& op : f.operands_of(i)) {
        if (!op.is_vreg()) continue;
        const std::size_t root = f.root(op.vreg()).index();
        const auto inst = static_cast<std::uint32_t>(&i - f.insts.data());
        if (std::exchange(last[root], inst) != inst) ++counts_[root].instructions;
        if (op.reads()) ++counts_[root].uses;
        counts_[root].spill_weight += frequency[b];
      }
}

VRegId Merged::find(VRegId root) const {
  while (classes_[root.index()].parent != root) {
    VRegId& up = classes_[root.index()].parent;
    up = classes_[up.index()].parent;
    root = up;
  }
  return root;
}

std::int64_t Merged::weight(VRegId root) {
  Class& c = classes_[root.index()];
  if (!c.is_weighed) {
    const Counts& n = counts_[root.index()];
    c.weight = n.instructions + n.spill_weight + n.uses;
    c.is_weighed = true;
  }
  return c.weight;
}

std::size_t Merged::size(VRegId root) const {
  std::size_t n = 0;
  for (int k = 0; k < pieces(root); ++k) n += interval(root, k).segments.size() + interval(root, k).definitions.size();
  return n;
}

void Merged::merge(VRegId a, VRegId b) {
  if (size(a) < size(b)) std::swap(a, b);
  for (int k = 0; k < pieces(a); ++k) {
    LiveInterval &into = interval(a, k), &from = interval(b, k);
    into.segments.add(from.segments);
    from.segments.clear();
    while (!from.definitions.empty()) {
      Definition& d = *from.definitions.begin();
      from.definitions.erase(from.definitions.begin());
      into.definitions.insert(d);
    }
  }
  Class &x = classes_[a.index()], &y = classes_[b.index()];
  if (x.is_weighed || y.is_weighed) {
    const std::int64_t sum = weight(a) + weight(b);
    x.weight = sum;
  }
  counts_[a.index()].instructions += counts_[b.index()].instructions;
  counts_[a.index()].uses += counts_[b.index()].uses;
  counts_[a.index()].spill_weight += counts_[b.index()].spill_weight;
  x.lowest = std::min(x.lowest, y.lowest);
  ++x.version;
  y.parent = a;
}

}  // namespace regduel::passes::nvptx
