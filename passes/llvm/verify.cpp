#include "passes/llvm/verify.h"

#include <fmt/format.h>

#include "base/check_macro.h"
#include "ir/check.h"
#include "passes/llvm/live_intervals.h"

namespace regduel::passes::llvm {
namespace {

// The first fault of the intervals; empty if there is none.
std::string fault_in_intervals(const ir::Function& f) {
  const ir::Cfg cfg(f);
  const LiveIntervals intervals(f, cfg);
  const Liveness live(f, cfg);
  const auto is_free = [&](const ir::Operand& op) { return op.is_vreg() && !f.vreg(f.root(op.vreg())).is_architectural(); };
  std::vector<std::uint32_t> written_in(f.vregs.size(), kNone);  // the last block that wrote it
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    const std::uint32_t first = f.blocks[b].first_inst;
    for (std::uint32_t n = first; n < first + f.blocks[b].num_insts; ++n) {
      const ir::Inst& i = f.insts[n];
      const auto ops = f.operands_of(i);
      for (const ir::Operand& op : ops) {
        if (i.is_phi() || !is_free(op) || !op.reads()) continue;
        const ir::VRegId root = f.root(op.vreg());
        const bool is_reached = written_in[root.index()] == b || live.is_live_in(ir::BlockId(b), root);
        if (is_reached && intervals.of(root).value_at(intervals.base(n) + 1) == kNone)
          return fmt::format("#{} reads %{}, which is not live there", i.id.value, root.value);
      }
      for (std::size_t k = 0; k < ir::defs_of(ops).size(); ++k) {
        if (!is_free(ops[k])) continue;
        const ir::VRegId root = f.root(ops[k].vreg());
        const Slot slot = intervals.base(n) + (ops[k].is_early_clobber() ? 1 : 2);
        if (!intervals.of(root).defs.contains(def_key(slot, i.is_phi() ? n - first : k)) ||
            intervals.of(root).value_at(slot) == kNone)
          return fmt::format("#{} writes %{}, which begins nowhere", i.id.value, root.value);
        written_in[root.index()] = b;
      }
    }
    for (const ir::VRegId root : live.live_out(ir::BlockId(b)))
      if (intervals.of(root).value_at(intervals.end_of(ir::BlockId(b)) - 1) == kNone)
        return fmt::format("%{} is not live at the end of b{}", root.value, b);
  }
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    Slot end = 0;
    for (const live::Segment& s : intervals.of(ir::VRegId(v)).segments) {
      if (s.begin < end || s.end <= s.begin) return fmt::format("%{} has segments that overlap", v);
      end = s.end;
    }
  }
  return "";
}

}  // namespace

void verify(const ir::Function& f, const ir::Target& target, std::string_view marker, ir::Trace* trace) {
  if (trace != nullptr) trace->line(std::string(marker));
  const auto diagnostics = ir::check(f, target, 1);
  const std::string fault = diagnostics.empty() ? fault_in_intervals(f) : to_string(f, diagnostics.front());
  REGDUEL_CHECK(fault.empty(), fmt::format("{}: {}", marker, fault));
}

}  // namespace regduel::passes::llvm
