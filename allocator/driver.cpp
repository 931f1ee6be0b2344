// See driver.h.

#include "allocator/driver.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "allocator/emit.h"
#include "allocator/phases/impossible.h"
#include "allocator/phases/nospill_phase.h"
#include "allocator/phases/occupancy_phase.h"
#include "allocator/phases/spill_phase.h"
#include "base/check_macro.h"
#include "base/planted.h"
#include "ir/check.h"
#include "ir/loops.h"

namespace regduel::allocator {
namespace {

using ir::BlockId;

// Sums are capped, so that they do not overflow.
constexpr std::int64_t kMostWeighted = std::int64_t{1} << 60;

//   inst   the instruction that cannot be packed; invalid where it is not one alone
ir::AllocFailure failure(const Analysis& a, ir::RegFile file, ir::InstId inst = {}) {
  return {.message = ir::failure_message(a.budget.limit[ir::index(file)]), .inst = inst};
}
ir::AllocFailure failure(const Analysis& a, const Impossible& impossible) { return failure(a, impossible.file, impossible.inst); }

std::optional<Impossible> find_impossible(const Analysis& a, bool is_reachable) {
  for (std::size_t b = 0; b < a.f.blocks.size(); ++b)
    if (a.cfg.is_reachable(BlockId(b)) == is_reachable)
      if (const auto impossible = find_impossible(a.f, BlockId(b), a.budget)) return impossible;
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
  ir::Allocation result = emit(a.original, a.f, a.cfg, code, homes, a.budget, a.frequency,
                               {.frame_align = a.slots.align_bytes, .widens = a.knobs[Knob::WideAccesses] != 0}, a.observers.fuel);
  if (had_to_go_to_local_memory(a, result.program)) result.notes.emplace_back(kSmemRefusal);
  // The check of the result is repeated here only where passes are watched: a duel checks each result itself.
  scope.made(result.program,
             [&](const ir::Function& f) { return a.observers.passes == nullptr || ir::check(f, a.target).empty(); });
  return result;
}

// What spill code costs, times the weights of FORMAT.md, as a judge counts it. Ordered by bytes first. Copies are in it, as room
// for values that are not spilled is made by copies too; pack operations are not: what they spare, a byte a predicate, is worth
// more.
struct SpillCost {
  std::int64_t bytes = 0, instructions = 0;  // bytes stored and refilled; remats and copies

  [[nodiscard]] std::int64_t sum() const { return std::min(kMostWeighted, bytes + instructions); }
  friend auto operator<=>(const SpillCost&, const SpillCost&) = default;
};
// Pairs of a copy whose two registers differ.
std::int64_t num_moves(const ir::Function& f, const ir::Inst& copy) {
  std::int64_t moves = 0;
  for (const auto [def, use] : ir::copy_pairs(f.operands_of(copy))) moves += def.is_preg() && def.names_same(use) ? 0 : 1;
  return moves;
}

SpillCost spill_cost(const ir::Function& f) {
  const std::vector<std::int64_t> weights = ir::block_weights(f, ir::Cfg(f));
  SpillCost cost;
  const auto add = [](std::int64_t& to, std::int64_t more) { to = std::min(kMostWeighted, to + more); };
  for (std::size_t b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& inst : f.insts_of(BlockId(b))) {
      if (inst.op == ir::Op::Spill || inst.op == ir::Op::Refill)
        add(cost.bytes, f.operand_bytes(f.operands_of(inst)[0]) * weights[b]);
      if (inst.op == ir::Op::Remat) add(cost.instructions, weights[b]);
      if (inst.op == ir::Op::Copy) add(cost.instructions, num_moves(f, inst) * weights[b]);
    }
  return cost;
}

bool has_spill_code(const ir::Function& f, ir::RegFile file) {
  return std::any_of(f.insts.begin(), f.insts.end(), [&](const ir::Inst& i) {
    return (i.op == ir::Op::Spill || i.op == ir::Op::Refill || i.op == ir::Op::Remat) && f.operands_of(i)[0].preg().file == file;
  });
}

// How it is decided what leaves its registers.
enum class Way : std::uint8_t {
  Split,  // live ranges are split so that no point is over budget; guidance and eviction spill what does not fit even so
  Whole,  // whole vregs are spilled
};

struct Outcome {
  std::expected<ir::Allocation, ir::AllocFailure> result;
  Way way = Way::Whole;
  SpillCost cost = {};  // of a result with spill code
  bool is_unspilled = false;
  bool has_nothing_split = false;  // spilled though no point was over its budget where a live range could have been split
  int registers = 0;               // the registers of file R that it was given, where they are fewer than the limit; else 0
};
Outcome outcome_of(Progress& progress, const Homes& homes, Way way, bool fell_back = false) {
  ir::Allocation result = emit(progress.analysis, progress, homes, fell_back);
  const SpillCost cost = spill_cost(result.program);
  return {std::move(result), way, cost};
}

// What was decided in a run before, for one that is watched.
struct Course {
  std::optional<Way> way = std::nullopt;
  bool may_unspill = true, may_aim_lower = true;
};

// The program with its live ranges split.
struct SplitRun {
  SplitRun(const Analysis& whole, SplitProgram program)
      : analysis(whole, std::move(program)), progress(analysis), rounds(progress) {}

  Analysis analysis;
  Progress progress;
  SpillPhase rounds;
  std::optional<Outcome> outcome;
};

// A way is given up whose rounds move so many times what the other one came to: refills that serve several uses and accesses of
// several registers save less than that.
std::int64_t most_moved_beside(const Outcome* other) {
  constexpr std::int64_t kHopeless = 2;
  return other != nullptr ? kHopeless * other->cost.sum() : std::numeric_limits<std::int64_t>::max();
}

// Both: nothing where no round fits, or where it is given up beside the outcome of the other way; null = it has none.
std::unique_ptr<SplitRun> run_split(const Analysis& a, SplitProgram program, const Outcome* whole) {
  auto split = std::make_unique<SplitRun>(a, std::move(program));
  if (Observer* const observer = a.observers.vreg)
    observer->begin_run(split->analysis.f, split->analysis.first_of, !split->analysis.live.range(observer->vreg().index()).empty());
  split->progress.insert_spill_code();
  const auto homes = split->rounds.run_rounds(most_moved_beside(whole));
  if (!homes) return nullptr;
  split->outcome = outcome_of(split->progress, *homes, Way::Split);
  return split;
}
std::optional<Outcome> run_whole(Progress& progress, SpillPhase& rounds, const Outcome* split) {
  const auto homes = rounds.run_rounds(most_moved_beside(split));
  if (!homes) return std::nullopt;
  return outcome_of(progress, *homes, Way::Whole);
}

// Knob 638: of spilling, the first result counts. 0.3 of the time of kernels at 24, 32 and 40 for 1.01 of their weighted bytes.
bool is_first_enough(const Analysis& a) { return a.knobs[Knob::FastAllocation] != 0; }

Outcome unspilled(Progress& progress, SpillPhase& rounds, Outcome found, const Course& course) {
  const Analysis& a = progress.analysis;
  if (a.knobs[Knob::Unspill] == 0 || is_first_enough(a) || a.is_large() || !course.may_unspill) return found;
  const auto homes = rounds.unspill();
  if (!homes) return found;
  Outcome other = outcome_of(progress, *homes, found.way);
  a.observers.line("unspilled: weighted cost {}, {} before", other.cost.sum(), found.cost.sum());
  if (other.cost.sum() >= found.cost.sum()) return found;
  other.is_unspilled = true;
  return other;
}

Outcome run(const ir::Function& program, const RunOptions& options, const Course& course);

// For more occupancy, with fewer registers than an allocation that needs no spills: again, if that is worth trying.
Outcome with_fewer_registers(const ir::Function& program, const RunOptions& options, Progress& progress, Outcome plain) {
  const Analysis& a = progress.analysis;
  const auto goal = find_occupancy_goal(progress, plain.result->program);
  if (!goal || !a.observers.may("occupancy-step")) return plain;
  ir::Limits soft = options.limits;
  soft.units[ir::index(ir::RegFile::R)] = goal->step.registers;
  Outcome fewer = run(program, {options.target, soft, options.knobs, options.observers}, {});
  const bool stays = fewer.result && is_worth(*goal, a.knobs, plain.result->program, fewer.result->program);
  a.observers.line("occupancy: {} registers {}", goal->step.registers, stays ? "pay" : "do not pay");
  if (!stays) return plain;
  if (fewer.registers == 0) fewer.registers = goal->step.registers;
  return fewer;
}

// How many lower limits are tried. One at least where no live range was split since no point was over its budget: there, some is.
std::int64_t num_lower_limits(const Analysis& a, const Outcome& found) {
  const std::int64_t asked = a.knobs[Knob::LowerLimits];
  if (asked != 0 || !found.has_nothing_split || is_first_enough(a) || a.is_large()) return asked;
  return 1;
}

// What is placed first decides what still fits, so that now and then fewer registers make for less spill code: the next lower
// limits as well, and what moves the fewest weighted bytes stays.
Outcome with_lower_limits(const ir::Function& program, const RunOptions& options, const Analysis& a, Outcome best) {
  const int limit = a.budget.limit[ir::index(ir::RegFile::R)];
  const std::int64_t most_below = num_lower_limits(a, best);
  for (int below = 1; below <= most_below && below < limit && has_spill_code(best.result->program, ir::RegFile::R); ++below) {
    if (!a.observers.may("lower-limit")) break;
    ir::Limits lower = options.limits;
    lower.units[ir::index(ir::RegFile::R)] = limit - below;
    Outcome other = run(program, {options.target, lower, options.knobs, options.observers}, {.may_aim_lower = false});
    if (!other.result) break;
    a.observers.line("limit {}: weighted bytes moved {}, {} before", limit - below, other.cost.bytes, best.cost.bytes);
    if (other.cost >= best.cost) continue;
    other.registers = limit - below;
    best = std::move(other);
  }
  return best;
}

Outcome run_fallback(Progress& progress, SpillPhase& phase) {
  const Analysis& a = progress.analysis;
  if (REGDUEL_PLANTED("fatpoint-fails-instead-of-falling-back")) return {std::unexpected(failure(a, progress.first_misfit))};
  if (const auto homes = phase.run_fallback()) return outcome_of(progress, *homes, Way::Whole, true);
  const bool has_architectural =
      std::any_of(a.f.vregs.begin(), a.f.vregs.end(), [](const ir::VReg& v) { return v.is_architectural(); });
  REGDUEL_CHECK(has_architectural, fmt::format("@{}: the last fallback does not fit", a.f.name));
  return {std::unexpected(failure(a, progress.first_misfit))};
}

// Weighted bytes that the two ways move before anything is assigned: split live ranges, and the first victims as whole ones.
struct FirstSight {
  std::int64_t split = 0, whole = 0;

  // Splitting comes first unless it moves clearly more, and the other way where the first came to more than it may come to: whole
  // live ranges to less than their first sight, since a refill may serve several uses; split ones to no less than theirs.
  [[nodiscard]] bool begins_whole() const { return whole > 0 && 10 * split > 12 * whole; }
  [[nodiscard]] bool is_worth_whole(const Outcome& of_split) const { return of_split.cost.sum() >= whole / 10 * 6; }
  [[nodiscard]] bool is_worth_split(const Outcome& of_whole) const { return of_whole.cost.bytes > split; }
  // Where both come to the same.
  [[nodiscard]] bool prefers_whole() const { return 10 * split >= 8 * whole; }
};

// The cheaper one of the two ways, unless one is decided, or the last fallback; and then unspilled.
Outcome run_spilling(Progress& progress, SpillPhase& rounds, const Course& course) {
  const Analysis& a = progress.analysis;
  rounds.find_first_victims();
  const bool may_split = course.way != Way::Whole && a.knobs[Knob::SplitLiveRanges] != 0 && a.observers.may("split-live-ranges");
  auto program = may_split ? split_program(a, progress.plan, rounds.scarce_files()) : std::nullopt;
  const FirstSight sight{program ? program->moves : 0, rounds.moves_of_victims()};
  if (program)
    a.observers.line("live ranges: weighted bytes moved at first sight {} if split, {} if not", sight.split, sight.whole);

  std::unique_ptr<SplitRun> split;
  std::optional<Outcome> whole;
  const bool begins_whole = !course.way && sight.begins_whole(), is_decided = course.way || is_first_enough(a);
  if (program && !begins_whole) split = run_split(a, std::move(*program), nullptr);
  if (!split || (!is_decided && sight.is_worth_whole(*split->outcome)))
    whole = run_whole(progress, rounds, split ? &*split->outcome : nullptr);
  if (program && begins_whole && (!whole || (!is_decided && sight.is_worth_split(*whole))))
    split = run_split(a, std::move(*program), whole ? &*whole : nullptr);

  if (split && whole) {
    const std::int64_t split_cost = split->outcome->cost.sum(), whole_cost = whole->cost.sum();
    a.observers.line("live ranges: weighted cost {} if split, {} if not", split_cost, whole_cost);
    if (whole_cost < split_cost || (whole_cost == split_cost && sight.prefers_whole())) split.reset();
  }
  if (split) return unspilled(split->progress, split->rounds, std::move(*split->outcome), course);
  if (!whole) whole = run_fallback(progress, rounds);
  Outcome result = whole->result ? unspilled(progress, rounds, std::move(*whole), course) : std::move(*whole);
  result.has_nothing_split = may_split && !program;
  return result;
}

Outcome run(const ir::Function& program, const RunOptions& options, const Course& course) {
  const auto failed = [](const Analysis& a, const auto& where) { return Outcome{std::unexpected(failure(a, where))}; };
  const Analysis a(program, options);
  show_spill_setup(a);
  Progress progress(a);
  if (Observer* const observer = a.observers.vreg) {
    observer->follow(a.stands_for);
    observer->begin_run(a.f, {}, !a.live.range(observer->vreg().index()).empty());
  }
  if (const auto impossible = find_impossible(a, false)) return failed(a, *impossible);

  SpillPhase spill(progress);
  const bool is_pressed = a.is_large() && a.knobs[Knob::FastAllocation] == 0 && spill.is_over_before_spill_code();
  if (!is_pressed) {
    progress.insert_spill_code();
    if (const auto homes = run_nospill_phase(progress)) {
      Outcome plain{emit(a, progress, *homes, false)};
      return course.may_aim_lower ? with_fewer_registers(program, options, progress, std::move(plain)) : plain;
    }
  }
  if (const auto impossible = find_impossible(a, true)) return failed(a, *impossible);
  Outcome spilled = run_spilling(progress, spill, course);
  return course.may_aim_lower && spilled.result ? with_lower_limits(program, options, a, std::move(spilled)) : std::move(spilled);
}

// An observer is shown one run: that which decides.
std::expected<ir::Allocation, ir::AllocFailure> run(const ir::Function& program, const RunOptions& options) {
  if (options.observers.vreg == nullptr) return run(program, options, Course()).result;
  const Outcome decided = run(program, {options.target, options.limits, options.knobs}, Course());
  ir::Limits limits = options.limits;
  if (decided.registers != 0) limits.units[ir::index(ir::RegFile::R)] = decided.registers;
  return run(program, {options.target, limits, options.knobs, options.observers}, {decided.way, decided.is_unspilled, false})
      .result;
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
