// See classic_driver.h.

#include "allocator/classic/classic_driver.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "allocator/classic/nospill.h"
#include "allocator/classic/spill_rounds.h"
#include "allocator/phases/impossible.h"
#include "allocator/phases/result.h"
#include "allocator/program/names.h"
#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

Result run_phases(const ProgramFacts& facts, const ir::Limits& limits, const Instruments& instruments) {
  const Run run(facts, limits, instruments);
  show_spill_setup(run);
  if (const auto impossible = find_impossible(run, false)) return impossible_result(run, impossible->file, impossible->inst);

  Progress progress(run);
  SpillRounds rounds(progress);
  // A file that is over its budget makes no attempts without spilling, so that a program with one needs no spill code before SPILL.
  if (!rounds.is_pressure_high()) {
    progress.insert_spill_code();
    if (auto homes = place_without_spilling(progress)) return emit_result(progress, Placed{std::move(*homes)});
  }
  if (const auto impossible = find_impossible(run, true)) return impossible_result(run, impossible->file, impossible->inst);

  std::optional<Homes> homes = rounds.run();
  if (!homes) homes = rounds.run_alternate();
  const bool is_fallback = !homes;
  if (REGDUEL_PLANTED("classic-fails-instead-of-falling-back") && is_fallback) return impossible_result(run, progress.first_misfit);
  if (!homes) homes = rounds.run_fallback();
  if (homes) return emit_result(progress, Placed{std::move(*homes)}, is_fallback);
  const bool has_architectural = std::ranges::any_of(facts.f.vregs, [](const ir::VReg& v) { return v.is_architectural(); });
  REGDUEL_CHECK(has_architectural, fmt::format("@{}: the last fallback does not fit", facts.f.name));
  return impossible_result(run, progress.first_misfit);
}

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> run_classic(const ir::Function& program, const RunOptions& options) {
  const ProgramFacts facts(program, options.target, options.knobs, options.instruments);
  const int limit = options.limits.of(RegFile::R);
  const auto level = static_cast<int>(options.knobs[Knob::RegisterUsageLevel]);
  if (const int registers = level_target(limit, level); registers != limit) {
    Result result = run_phases(facts, with_registers(options.limits, registers), options.instruments);
    if (result.allocation) return std::move(result.allocation);
    options.instruments.line("level {}: impossible with {} registers, the limit holds", level, registers);
  }
  return run_phases(facts, options.limits, options.instruments).allocation;
}

}  // namespace regduel::allocator
