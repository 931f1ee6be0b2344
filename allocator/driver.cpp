// See driver.h.

#include "allocator/driver.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "allocator/emit.h"
#include "allocator/phases/impossible.h"
#include "allocator/phases/nospill_phase.h"
#include "allocator/phases/spill_phase.h"
#include "base/check_macro.h"
#include "base/planted.h"
#include "ir/check.h"

namespace regduel::allocator {
namespace {

using ir::BlockId;

ir::AllocFailure failure(const Analysis& a, ir::RegFile file) {
  return {ir::AllocFailure::Kind::Impossible, ir::failure_message(a.budget.limit[ir::index(file)])};
}

std::optional<ir::RegFile> find_impossible(const Analysis& a, bool is_reachable) {
  for (std::size_t b = 0; b < a.f.blocks.size(); ++b)
    if (a.cfg.is_reachable(BlockId(b)) == is_reachable)
      if (const auto file = find_impossible(a.f, BlockId(b), a.budget)) return file;
  return std::nullopt;
}

void show_spill_setup(const Analysis& a) {
  if (a.spilling.files == 0 || a.observers.trace == nullptr) return;
  if (a.spilling.is_refused) return a.observers.line("{}", kSmemRefusal);
  std::string files;
  for (const ir::RegFile file : ir::kAllFiles)
    if (a.spilling.concerns(file)) files += fmt::format("{}{}", files.empty() ? "" : " and ", ir::name(file));
  a.observers.line("Smem spilling: {}, {} bytes a thread", files, a.spilling.shared_bytes);
}

// Whether something that would be in shared memory but for the ABI is in local memory.
bool had_to_go_to_local_memory(const Analysis& a, const ir::Function& result) {
  return a.spilling.is_refused && std::any_of(result.insts.begin(), result.insts.end(), [&](const ir::Inst& i) {
           return ir::is_slot_move(i.op) && a.spilling.concerns(result.operands_of(i)[0].preg().file);
         });
}

ir::Allocation emit(const Analysis& a, Progress& progress, const Homes& homes, bool fell_back) {
  const SpillCode& code = progress.program().code();
  if (a.observers.vreg != nullptr) a.observers.vreg->finish(code, homes, progress.plan, fell_back);
  ir::PassScope scope(a.observers.passes, "emit", &code.f);
  ir::Allocation result = emit(a.original, a.f, a.cfg, code, homes, a.budget, a.slots.align_bytes, a.observers.fuel);
  if (had_to_go_to_local_memory(a, result.program)) result.notes.emplace_back(kSmemRefusal);
  // The check of the result is repeated here only where passes are watched: a duel checks each result itself.
  scope.made(result.program,
             [&](const ir::Function& f) { return a.observers.passes == nullptr || ir::check(f, a.target).empty(); });
  return result;
}

std::expected<ir::Allocation, ir::AllocFailure> run(const ir::Function& program, const RunOptions& options) {
  const Analysis a(program, options);
  show_spill_setup(a);
  Progress progress(a);
  if (Observer* const observer = a.observers.vreg) observer->begin_run(a.f, !a.live.range(observer->vreg().index()).empty());
  if (const auto file = find_impossible(a, false)) return std::unexpected(failure(a, *file));

  SpillPhase spill(progress);
  const bool is_pressed = a.is_large() && a.knobs[Knob::FastAllocation] == 0 && spill.is_over_before_spill_code();
  if (!is_pressed) {
    progress.insert_spill_code();
    if (const auto homes = run_nospill_phase(progress)) return emit(a, progress, *homes, false);
  }
  if (const auto file = find_impossible(a, true)) return std::unexpected(failure(a, *file));

  if (const auto homes = spill.run_rounds()) return emit(a, progress, *homes, false);
  if (REGDUEL_PLANTED("fatpoint-fails-instead-of-falling-back")) return std::unexpected(failure(a, progress.first_misfit));
  if (const auto homes = spill.run_fallback()) return emit(a, progress, *homes, true);
  const bool has_architectural =
      std::any_of(a.f.vregs.begin(), a.f.vregs.end(), [](const ir::VReg& v) { return v.is_architectural(); });
  REGDUEL_CHECK(has_architectural, fmt::format("@{}: the last fallback does not fit", program.name));
  return std::unexpected(failure(a, progress.first_misfit));
}

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> run_driver(const ir::Function& program, const RunOptions& options) {
  const std::int64_t level = options.knobs[Knob::RegisterUsageLevel];
  ir::Limits aimed_at = options.limits;
  int& registers = aimed_at.units[ir::index(ir::RegFile::R)];
  registers = level_target(registers, static_cast<int>(level));
  if (registers != options.limits.of(ir::RegFile::R)) {
    if (auto result = run(program, {options.target, aimed_at, options.knobs, options.observers})) return result;
    options.observers.line("level {}: impossible with {} registers, the limit holds", level, registers);
  }
  return run(program, options);
}

}  // namespace regduel::allocator
