#include "cli/ptxas_lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/register_limit.h"

namespace regduel::cli {
namespace {

constexpr int kNamedBarriers = 16;

// Of named barriers, by their numbers; a number in a register may be any of them.
int barriers_used(const ir::Function& f) {
  int used = 0;
  for (const ir::Inst& i : f.insts) {
    const std::string_view name = i.mnemonic.is_valid() ? f.symbols[i.mnemonic] : std::string_view();
    if (!name.starts_with("bar.") && !name.starts_with("barrier.")) continue;
    if (name.starts_with("bar.warp") || name.starts_with("barrier.cluster")) continue;
    const auto uses = ir::uses_of(f.operands_of(i));
    if (uses.empty()) continue;
    used = uses[0].kind != ir::OperandKind::Imm
               ? kNamedBarriers
               : std::max(used, static_cast<int>(std::clamp<std::int64_t>(uses[0].imm(), 0, kNamedBarriers - 1)) + 1);
  }
  return used;
}

}  // namespace

// The stack is the frame; with the program's own variables in it, as ptxas has it, a multiple of 8.
std::string PtxasLines::of_function(std::size_t k, const ir::Target& target, const oracles::Measures& m,
                                    const oracles::SpillStatistics& spills, int limit, std::string_view reason) {
  const Program& p = programs_[k];
  registers_[k] = registers_at_entry(p.function, m, limit);
  stacks_[k] = p.function.local_frame == 0 ? m.local_frame_bytes : (m.local_frame_bytes + 7) / 8 * 8;
  std::string text;
  if (limit != 0 && p.function.kind == ir::FunctionKind::Kernel)
    text = fmt::format("regduel info    : Overriding maximum register limit {} for '{}' with  {} of {}\n",
                       target.max_registers_per_thread + 1, p.function.name, limit, reason);
  return text + fmt::format("regduel info    : {}\n", oracles::function_properties(p.function.name, spills, stacks_[k]));
}

std::string PtxasLines::of_kernel(std::size_t k) const {
  if (programs_[k].function.kind != ir::FunctionKind::Kernel) return "";
  std::vector<std::optional<std::int64_t>> known(programs_.size());
  const std::int64_t stack = cumulative_stack(k, known);
  return fmt::format("regduel info    : Used {} registers, used {} barriers{}\n", registers_[k],
                     barriers_used(programs_[k].function),
                     stack == 0 ? "" : fmt::format(", {} bytes cumulative stack size", stack));
}

// Of the deepest chain of calls; a recursion counts once.
std::int64_t PtxasLines::cumulative_stack(std::size_t k, std::vector<std::optional<std::int64_t>>& known) const {
  if (known[k]) return *known[k];
  known[k] = 0;  // while it is open
  std::int64_t deepest = 0;
  const ir::Function& f = programs_[k].function;
  for (const ir::Inst& i : f.insts) {
    if (i.op != ir::Op::Call) continue;
    for (const ir::Operand& op : ir::uses_of(f.operands_of(i)))
      for (std::size_t m = 0; m < programs_.size() && op.kind == ir::OperandKind::Symbol; ++m)
        if (programs_[m].function.name == f.symbols[op.symbol()]) deepest = std::max(deepest, cumulative_stack(m, known));
  }
  known[k] = stacks_[k] + deepest;
  return *known[k];
}

int registers_at_entry(const ir::Function& f, const oracles::Measures& m, int limit) {
  return limit != 0 && ir::changes_register_limit(f) ? limit : m.registers[ir::index(ir::RegFile::R)];
}

std::vector<std::string> notes_of_launch(const ir::LaunchBounds& declared, const ir::Target& target, const oracles::Measures& m,
                                         int registers, const ir::LaunchLimit* bounds) {
  std::vector<std::string> notes;
  if (std::string why = ir::why_not_launched(declared, target, registers); !why.empty()) notes.push_back(std::move(why));
  if (bounds == nullptr) return notes;
  notes.insert(notes.end(), bounds->notes.begin(), bounds->notes.end());
  const int max_live = m.max_live[ir::index(ir::RegFile::R)];
  const std::int64_t bytes = m.spill_store_bytes + m.spill_load_bytes;
  if (bounds->registers != 0 && bounds->registers < max_live && bytes > 0)
    notes.push_back(ir::cost_of_bounds(*bounds, max_live, bytes));
  return notes;
}

}  // namespace regduel::cli
