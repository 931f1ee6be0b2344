// See unread.h.
#include "passes/unread.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/grouped.h"

namespace regduel::passes {

ir::Function without_unread(const ir::Function& f, std::span<const char> stays, ir::Fuel* fuel, const char* step) {
  const Grouped<std::uint32_t> writers(f.vregs.size(), [&](auto add) {
    for (std::uint32_t n = 0; n < f.insts.size(); ++n)
      for (const ir::Operand& op : ir::defs_of(f.operands_of(f.insts[n]))) add(f.root(op.vreg()).index(), n);
  });
  std::vector<char> is_kept(f.insts.size(), 0), is_read(f.vregs.size(), 0);
  std::vector<std::uint32_t> work;
  const auto keep = [&](std::uint32_t n) {
    if (std::exchange(is_kept[n], char{1}) == 0) work.push_back(n);
  };
  const auto spread = [&] {
    while (!work.empty()) {
      const ir::Inst& i = f.insts[work.back()];
      work.pop_back();
      for (const ir::Operand& op : f.operands_of(i)) {
        if (!op.is_vreg() || !op.reads()) continue;
        const std::size_t root = f.root(op.vreg()).index();
        if (std::exchange(is_read[root], char{1}) != 0) continue;
        for (const std::uint32_t w : writers[root]) keep(w);
      }
    }
  };
  for (std::uint32_t n = 0; n < f.insts.size(); ++n)
    if (stays[n] != 0) keep(n);
  spread();
  for (std::uint32_t n = 0; n < f.insts.size() && fuel != nullptr; ++n)
    if (is_kept[n] == 0 && !ir::may(fuel, step)) {
      keep(n);
      spread();
    }
  ir::Function result = f.clone_header();
  for (const ir::Block& b : f.blocks) {
    result.begin_block(b);
    for (const ir::Inst& i : f.insts_of(b))
      if (is_kept[static_cast<std::size_t>(&i - f.insts.data())] != 0) result.append(i, f.operands_of(i), f.targets_of(i));
  }
  return result;
}

}  // namespace regduel::passes
