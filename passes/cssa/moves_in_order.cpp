#include "passes/cssa/moves_in_order.h"

#include <algorithm>
#include <queue>

#include "base/planted.h"

namespace regduel::passes::conventional {

using ir::Operand;
using ir::VRegId;

std::vector<Move> moves_in_order(const ir::Function& f, std::span<const Move> parallel,
                                 const std::function<VRegId(VRegId root)>& new_vreg) {
  if (REGDUEL_PLANTED("cssa-swap-one-by-one")) return {parallel.begin(), parallel.end()};
  // Roots that are written, sorted: others need not be looked after.
  std::vector<VRegId> roots;
  for (const Move& m : parallel) roots.push_back(f.root(m.def.vreg()));
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  constexpr std::size_t kNone = ~std::size_t{0};
  const auto number_of = [&](VRegId root) {
    const auto at = std::lower_bound(roots.begin(), roots.end(), root);
    return at == roots.end() || *at != root ? kNone : static_cast<std::size_t>(at - roots.begin());
  };
  struct Root {
    std::vector<std::size_t> readers, writers;  // moves
    std::size_t waiting = 0;                    // readers that have not gone out
  };
  std::vector<Root> of(roots.size());
  std::vector<Move> moves(parallel.begin(), parallel.end());
  std::vector<std::size_t> reads(moves.size(), kNone), writes(moves.size(), kNone);
  for (std::size_t m = 0; m < moves.size(); ++m) {
    writes[m] = number_of(f.root(moves[m].def.vreg()));
    reads[m] = number_of(f.root(moves[m].use.vreg()));
    of[writes[m]].writers.push_back(m);
    if (reads[m] == kNone) continue;
    of[reads[m]].readers.push_back(m);
    ++of[reads[m]].waiting;
  }

  std::vector<Move> order;
  std::vector<char> is_out(moves.size(), 0);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  const auto one_less = [&](std::size_t root, std::size_t readers) {
    of[root].waiting -= readers;
    if (of[root].waiting != 0) return;
    for (const std::size_t m : of[root].writers) ready.push(m);
  };
  for (std::size_t m = 0; m < moves.size(); ++m)
    if (of[writes[m]].waiting == 0) ready.push(m);
  std::size_t first = 0;  // all moves before it are out
  while (order.size() < moves.size() || !ready.empty()) {
    while (first < moves.size() && is_out[first] != 0) ++first;
    if (first == moves.size()) break;
    if (ready.empty()) {
      // Every one left waits for a reader: what the first of them writes is saved, and read there.
      const std::size_t saved = writes[first];
      const VRegId spare = new_vreg(roots[saved]);
      order.push_back({Operand::of_vreg(ir::Role::Def, spare), Operand::of_vreg(ir::Role::Use, roots[saved])});
      std::size_t changed = 0;
      for (const std::size_t m : of[saved].readers) {
        if (is_out[m] != 0) continue;
        moves[m].use = f.moved_to(moves[m].use, spare);
        reads[m] = kNone;
        ++changed;
      }
      one_less(saved, changed);
      continue;
    }
    const std::size_t m = ready.top();
    ready.pop();
    is_out[m] = 1;
    order.push_back(moves[m]);
    if (reads[m] != kNone) one_less(reads[m], 1);
  }
  return order;
}

}  // namespace regduel::passes::conventional
