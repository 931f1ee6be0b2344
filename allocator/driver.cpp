// See driver.h.

#include "allocator/driver.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "allocator/assign/assign.h"
#include "allocator/assign/best_result.h"
#include "allocator/assign/instruction_walk.h"
#include "allocator/assign/preallocation.h"
#include "allocator/assign/retry.h"
#include "allocator/emit.h"
#include "allocator/explain/observer.h"
#include "allocator/program/dead_copies.h"
#include "allocator/program/frequency.h"
#include "allocator/program/out_of_ssa.h"
#include "allocator/program/precoloured.h"
#include "allocator/spill/budget_model.h"
#include "allocator/spill/cost.h"
#include "allocator/spill/guidance.h"
#include "allocator/spill/shared_memory.h"
#include "base/check_macro.h"
#include "base/planted.h"
#include "ir/text/text.h"

namespace regduel::allocator {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::RegFile;
using ir::VRegId;

// Seed 000 "Per-Class Iteration": classes 1 to 6; those of one file go together, so that the conflicts between them, class 0 of the
// source, are ordinary ones. Then the barriers (9), by a mechanism of their own: one attempt, first fit by start of the range, no
// weights.
constexpr RegFile kFileOrder[] = {RegFile::R, RegFile::UR, RegFile::P, RegFile::UP, RegFile::Acc, RegFile::B, RegFile::UB};

// A lowered program with everything that attempts need.
struct Prepared {
  Lowered lowered;
  ir::Cfg cfg;
  Liveness live;
  RoundIndex index;
  ConstraintLists constraints;
  std::vector<std::int64_t> cost;
  Round round;
  SpillGuidance guidance;

  Prepared(Lowered l, std::size_t num_global, const Function& program, const std::vector<std::int64_t>& frequency,
           const std::vector<std::int64_t>& costs, const Budget& budget, const ir::Target& target, ir::Fuel* fuel,
           const BudgetModel& model, const SlotStrategy& slots, const std::vector<std::uint32_t>& remat_of, const Spilled& spilled,
           const ConstraintOptions& options)
      : lowered(std::move(l)), cfg(lowered.f), live(lowered.f, cfg, num_global), index(lowered.f, live),
        constraints(program, lowered, frequency, live, options), cost(costs),
        round{lowered, live, index, constraints, cost, budget, target, fuel},
        guidance({lowered.f, live, index, cost, budget, model, slots, remat_of, spilled}) {
    cost.resize(lowered.f.vregs.size(), kUnspillable);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

// A round of spilling has no table of attempts. Without spilling, beyond the table and where the result is still above MaxLive, one
// more attempt drops all wishes and only packs: copies cost less than registers, where a duel counts those.
constexpr std::int64_t kAttemptsOfARound = 3;
constexpr int kPackingAttempt = 98;
constexpr int kEvicting = 99;  // the number of the attempt with eviction

class Driver {
 public:
  Driver(const Function& program, const ir::Target& target, const ir::Limits& limits, const Knobs& knobs, ir::Trace* trace,
         ir::Fuel* fuel, Observer* observer)
      : program_(program), target_(target), knobs_(knobs), trace_(trace), fuel_(fuel), observer_(observer),
        budget_(Budget::of(program, target, limits)), model_(target, knobs), slots_(slot_strategy(program, knobs)),
        f_(out_of_ssa(program, fuel, find_dead_copies(program, fuel))), cfg_(f_), live_(f_, cfg_),
        frequency_(block_frequencies(f_, cfg_, knobs[Knob::EstimatedLoopIterations])), modes_(modes_of(program)) {
    drop_dead_copies(f_, live_, fuel);
    plan_.spilled.assign(f_.vregs.size(), 0);
    plan_.never_waits.assign(f_.vregs.size(), 0);
    plan_.keeps_fixed = find_precoloured(f_, live_, budget_);
    plan_.remat_of = knobs[Knob::Rematerialise] != 0 ? find_remats(f_, cfg_) : std::vector<std::uint32_t>(f_.vregs.size(), kNoInst);
    plan_.pinned.resize(f_.insts.size());
    plan_.no_wait.assign(f_.insts.size(), 0);
    plan_.refill_reuse = static_cast<int>(knobs[Knob::RefillReuse]);
    plan_.spills_to_shared = files_spilled_to_shared(program, target, knobs);
    plan_.shared_bytes = shared_bytes_a_thread(program, target);
    plan_.fuel = fuel;
    if (fuel != nullptr) ask_for_fuel();
    if (observer == nullptr) return;
    observer->begin_run(f_, !live_.range(observer->vreg().index()).empty());
    asked_.vreg = observer->vreg();
  }

  std::expected<ir::Allocation, ir::AllocFailure> run() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      if (!cfg_.is_reachable(BlockId(b)))
        if (auto failure = find_impossible(BlockId(b))) return std::unexpected(*failure);

    const bool is_pressed = is_large() && knobs_[Knob::FastAllocation] == 0 && is_over_before_lowering();
    if (!is_pressed) {
      prepare();
      if (attempt_all(false)) return emit_result();
    }
    for (const BlockId b : cfg_.reverse_postorder())
      if (auto failure = find_impossible(b)) return std::unexpected(*failure);

    const std::int64_t rounds = knobs_[Knob::SpillRounds];
    for (round_ = 1; round_ <= rounds; ++round_) {
      if (round_ == 1 && is_pressed) {
        change_plan();
        prepare();
        continue;
      }
      find_victims(prepared_->guidance);
      // The first victims bring temporaries with them, so that it is too early to ask who else has to go.
      if ((round_ > 1 || within_budget()) && attempt_all(true)) return emit_result();
      if (!ir::may(fuel_, "spill-round") || !change_plan()) break;
      prepare();
    }
    if (REGDUEL_PLANTED("fatpoint-fails-instead-of-falling-back")) return std::unexpected(failure(first_misfit_));
    trace("last fallback: everything in memory");
    keep_all_in_memory();
    prepare();
    const bool fits = attempt_all(true);
    if (!fits && has_architectural()) return std::unexpected(failure(first_misfit_));
    REGDUEL_CHECK(fits, fmt::format("@{}: the last fallback does not fit", program_.name));
    return emit_result();
  }

 private:
  void trace(std::string line) const {
    if (trace_ != nullptr) trace_->line(std::move(line));
  }
  [[nodiscard]] ir::AllocFailure failure(RegFile file) const {
    return {ir::AllocFailure::Kind::Impossible, ir::failure_message(budget_.limit[ir::index(file)])};
  }
  // A round costs a large program too much to have many: whoever gives way to others leaves room for the temporaries to come, and
  // from the second round on these serve one instruction each.
  [[nodiscard]] bool is_large() const { return static_cast<std::int64_t>(f_.insts.size()) > knobs_[Knob::LargeProgram]; }
  [[nodiscard]] bool has_architectural() const {
    return std::any_of(f_.vregs.begin(), f_.vregs.end(), [](const ir::VReg& v) { return (v.flags & ir::kVRegArchitectural) != 0; });
  }

  // Whatever is decided for a vreg as a whole: that it has a register, that it keeps its own, that it is computed again.
  void ask_for_fuel() {
    find_costs();
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      if (live_.range(v).empty()) continue;
      const bool is_spillable = costs_[v] < kUnspillable;
      if (is_spillable && !fuel_->spend("keep-in-register")) plan_.spilled[v] = 1;
      if (is_spillable && plan_.keeps_fixed[v] != 0 && !fuel_->spend("keep-precoloured")) plan_.keeps_fixed[v] = 0;
      if (plan_.remat_of[v] != kNoInst && !fuel_->spend("rematerialise")) plan_.remat_of[v] = kNoInst;
    }
    costs_.clear();  // they depend on who is computed again
  }

  // --- impossible instructions
  std::optional<ir::AllocFailure> find_impossible(BlockId b) {
    for (const Inst& inst : f_.insts_of(b)) {
      if (inst.is_deleted() || inst.is_inserted()) continue;
      build_items(f_, inst, items_);
      if (surely_fits(inst)) continue;
      if (const auto homes = pack(f_, inst, items_, budget_); !homes) return failure(homes.error().file);
    }
    return std::nullopt;
  }
  // Without fixed places and clobbers, aligned tuples fit if there is room for each at its worst alignment.
  bool surely_fits(const Inst& inst) const {
    if (inst.op == ir::Op::Ret) return false;
    ir::PerFile<int> reads = {}, writes = {};
    for (const Item& item : items_.items) {
      if (item.fixed.is_valid() || item.keeps) return false;
      const int most = item.units + item.align - 1;
      reads[ir::index(item.file)] += item.at_reads ? most : 0;
      writes[ir::index(item.file)] += item.at_writes ? most : 0;
    }
    for (const RegFile file : ir::kAllFiles) {
      const std::size_t k = ir::index(file);
      const int most = std::max(reads[k], writes[k]);
      for (int u = 0; u < most; ++u)
        if (u >= ir::kMaxUnits || !budget_.allocatable[k].test(static_cast<std::size_t>(u))) return false;
    }
    return true;
  }

  // --- rounds
  void find_costs() {
    if (costs_.empty() || costs_pressure_ != high_pressure_) {
      costs_ = spill_costs(f_, cfg_, live_, frequency_, plan_.remat_of, high_pressure_);
      costs_pressure_ = high_pressure_;
    }
  }
  void prepare() {
    find_costs();
    prepared_.reset();  // before the next one takes as much memory again
    prepared_ = std::make_unique<Prepared>(lower(f_, cfg_, live_, plan_, budget_), f_.vregs.size(), program_, frequency_, costs_,
                                           budget_, target_, fuel_, model_, slots_, plan_.remat_of, Spilled::of(f_, plan_),
                                           ConstraintOptions{&target_, knobs_[Knob::BankAware] != 0, plan_.spilled});
    homes_.assign(prepared_->lowered.f.vregs.size(), -1);
  }

  // Attempts at all files; without spilling only until one does not fit, since then everything is lowered anew. What fits is
  // improved only once all do.
  bool attempt_all(bool may_spill) {
    struct Fitting {
      FileAllocator allocator;
      Candidates candidates;
      RegFile file;
      BestResult best;
      std::int64_t attempts;  // made so far
      std::int64_t most;
    };
    std::vector<Fitting> fitting;
    fitting.reserve(ir::kNumFiles);
    bool all_fit = true;
    attempts_ = {};
    for (const RegFile file : kFileOrder) {
      Attempt& result = attempts_[ir::index(file)];
      result.fits = prepared_->index.vregs[ir::index(file)].empty();
      if (result.fits) continue;
      const bool is_pressure_low = may_spill || knobs_[Knob::FastAllocation] != 0 || !prepared_->guidance.is_over(file);
      const std::int64_t most = may_spill ? kAttemptsOfARound : attempts_without_spilling(knobs_, is_pressure_low);
      if (!may_spill && most == 0) {
        high_pressure_[ir::index(file)] = !is_pressure_low;
        first_misfit_ = file;
        return false;
      }
      Fitting f{FileAllocator(prepared_->round, file),
                {},
                file,
                BestResult(may_spill ? ResultOrder::Spill : ResultOrder::NoSpill),
                0,
                is_special_mode(knobs_) ? 0
                : ir::is_barrier(file)  ? std::min<std::int64_t>(most, 1)
                                        : most};
      f.candidates = preallocate(f.allocator, modes_[ir::index(file)], preallocation());
      const std::vector<VRegId>& victims = victims_[ir::index(file)];
      if (victims.empty() && kept_[ir::index(file)].empty())
        while (f.attempts < f.most && !(f.best.has_any() && f.best.best().fits)) {
          const auto n = static_cast<int>(f.attempts++);
          f.best.record(n, f.allocator, attempt(f.allocator, f.candidates, n, f.allocator.limit(), !may_spill));
        }
      if (may_spill && !(f.best.has_any() && f.best.best().fits)) {
        result = evict(f.allocator, f.candidates, file);
        result.fits = result.fits && victims.empty();
        if (result.fits) f.best.record(kEvicting, f.allocator, result);
      } else {
        result.fits = f.best.best().fits;
      }
      high_pressure_[ir::index(file)] = !result.fits;
      if (result.fits) {
        fitting.push_back(std::move(f));
        continue;
      }
      if (all_fit) first_misfit_ = file;
      all_fit = false;
      if (!may_spill) break;
    }
    if (!all_fit) return false;
    for (Fitting& f : fitting) {
      while (f.attempts < f.most && f.best.best().register_count > f.allocator.max_live() && ir::may(fuel_, "another-attempt")) {
        const auto n = static_cast<int>(f.attempts++);
        f.best.record(
            n, f.allocator,
            attempt(f.allocator, f.candidates, n, may_spill ? f.allocator.limit() : f.best.best().register_count, !may_spill));
      }
      if (!may_spill && f.most > 1 && f.best.best().register_count > f.allocator.max_live() && ir::may(fuel_, "another-attempt"))
        f.best.record(kPackingAttempt, f.allocator,
                      attempt(f.allocator, f.candidates, kPackingAttempt, f.best.best().register_count - 1, true));
      if (f.attempts > 1) trace(fmt::format("file {}: {}", ir::name(f.file), describe(f.best.best())));
      if (Observer* const w = observer_of(f.file)) w->emitted(round_, f.best.best().attempt);
      const Attempt best = f.best.restore();
      for (const VRegId v : prepared_->index.vregs[ir::index(f.file)]) homes_[v.index()] = best.home[v.index()];
    }
    return true;
  }
  // Guidance for all files.
  void find_victims(SpillGuidance& guidance) {
    attempts_ = {};
    for (const RegFile file : kFileOrder) {
      std::vector<VRegId>& victims = victims_[ir::index(file)];
      victims = guidance.victims(file, observer_ != nullptr ? &asked_ : nullptr);
      if (!victims.empty()) trace(fmt::format("file {}: round {}, guidance spills {}", ir::name(file), round_, victims.size()));
    }
  }
  // Where the program is over budget as it is, there is no need to lower it to know that: the first victims are found then.
  bool is_over_before_lowering() {
    find_costs();
    const RoundIndex index(f_, live_);
    SpillGuidance guidance({f_, live_, index, costs_, budget_, model_, slots_, plan_.remat_of, Spilled::of(f_, plan_)});
    round_ = 1;
    for (const RegFile file : kFileOrder) {
      if (!guidance.is_over(file)) continue;
      high_pressure_[ir::index(file)] = true;
      first_misfit_ = file;
      find_victims(guidance);
      return !within_budget();
    }
    return false;
  }
  [[nodiscard]] bool within_budget() const {
    return std::all_of(victims_.begin(), victims_.end(), [](const std::vector<VRegId>& v) { return v.empty(); });
  }

  // Attempt number n without spilling, given up once it needs more than `enough` units, unless the trace is to say how many.
  Attempt attempt(const FileAllocator& allocator, const Candidates& candidates, std::int64_t n, int enough, bool say) const {
    static constexpr Order kOrders[] = {Order::ByStart, Order::WidestFirst, Order::LongestFirst};
    const bool packs = n == kPackingAttempt, is_barrier = ir::is_barrier(allocator.file());
    AttemptOptions options{.order = packs ? Order::WidestFirst : kOrders[n % 3],
                           .chains = !packs,
                           .weights = !packs && !is_barrier,
                           .first_pass = n == 0,
                           .threshold = static_cast<int>(knobs_[Knob::InterferenceThreshold]),
                           .relaxation = relaxation(n),
                           .mode = modes_[ir::index(allocator.file())],
                           .candidates = candidates.results().size() > 0 ? &candidates : nullptr};
    if (trace_ == nullptr || !say) options.ceiling = enough;
    options.observer = observer_of(allocator.file());
    Attempt result = run_observed(allocator, options, n);
    if (say) trace(fmt::format("-CLASS NOSPILL REGALLOC: attemp {}, used {}, target {}", n, result.used, allocator.limit()));
    return result;
  }

  [[nodiscard]] PreallocationOptions preallocation() const {
    return {knobs_[Knob::PreAllocation] != 0, knobs_[Knob::CoalescingPreAllocation] != 0, knobs_[Knob::UniformPreAllocation] != 0,
            static_cast<int>(knobs_[Knob::PreAllocationPriority])};
  }
  [[nodiscard]] Relaxation relaxation(std::int64_t iteration) const {
    return {iteration, knobs_[Knob::RelaxationStep], knobs_[Knob::RelaxationCeiling], knobs_[Knob::BankAware] != 0};
  }

  [[nodiscard]] Observer* observer_of(RegFile file) const {
    return observer_ != nullptr && program_.vreg(observer_->vreg()).file() == file ? observer_ : nullptr;
  }
  // An attempt that the observed vreg may take part in.
  [[nodiscard]] Attempt run_observed(const FileAllocator& allocator, const AttemptOptions& options, std::int64_t number) const {
    if (options.observer == nullptr) return allocator.run(options);
    options.observer->begin_attempt(allocator, options, round_, number);
    Attempt result = allocator.run(options);
    options.observer->end_attempt(result);
    return result;
  }

  // The attempt that finds out who has to go.
  Attempt evict(const FileAllocator& allocator, const Candidates& candidates, RegFile file) {
    const int threshold = static_cast<int>(knobs_[Knob::InterferenceThreshold]);
    std::vector<int>& kept = kept_[ir::index(file)];
    const std::vector<VRegId>& absent = victims_[ir::index(file)];
    Observer* const observer = observer_of(file);
    Attempt result;
    if (knobs_[Knob::InstructionWalk] != 0) {
      if (observer != nullptr)
        observer->begin_attempt(allocator, {.may_spill = true, .relaxation = relaxation(round_)}, round_, kEvicting, true);
      result = walk_instructions(prepared_->round, allocator, file,
                                 {.kept = kept,
                                  .absent = absent,
                                  .remat_of = plan_.remat_of,
                                  .bank_aware = knobs_[Knob::BankAware] != 0,
                                  .threshold = threshold,
                                  .relaxation = relaxation(round_),
                                  .observer = observer});
      if (observer != nullptr) observer->end_attempt(result);
    } else {
      result = run_observed(allocator,
                            {.order = Order::BoundFirst,
                             .may_spill = true,
                             .threshold = threshold,
                             .relaxation = relaxation(round_),
                             .mode = modes_[ir::index(file)],
                             .candidates = candidates.results().size() > 0 ? &candidates : nullptr,
                             .kept = kept,
                             .absent = absent,
                             .operands = is_large() ? &prepared_->guidance.operands() : nullptr,
                             .observer = observer},
                            kEvicting);
    }
    kept.assign(result.home.begin(), result.home.begin() + static_cast<std::ptrdiff_t>(f_.vregs.size()));
    trace(fmt::format("file {}: round {}, used {}, target {}, spills {}, cost {}, pins {}", ir::name(file), round_, result.used,
                      allocator.limit(), result.to_spill.size(), result.spill_cost, result.to_pin.size()));
    for (const VRegId v : result.to_spill) trace(fmt::format("  spills %{}", v.value));
    for (const std::uint32_t inst : result.to_pin) trace(fmt::format("  no room at {}", ir::print(f_, f_.insts[inst])));
    return result;
  }

  // What did not fit decides what changes. False where nothing can change any more.
  bool change_plan() {
    bool changed = false;
    for (const std::vector<VRegId>& victims : victims_)
      for (const VRegId v : victims) changed = spill(v) || changed;
    for (const Attempt& a : attempts_)
      for (const VRegId v : a.to_spill) changed = spill(v) || changed;
    // A temporary without a register: first nothing may wait there any more, then its instruction is pinned.
    for (const Attempt& a : attempts_)
      for (const std::uint32_t inst : a.to_pin) {
        const bool waits = plan_.refill_reuse != 0 && plan_.no_wait[inst] == 0;
        plan_.no_wait[inst] = 1;
        changed = waits || pin(inst) || changed;
      }
    return changed;
  }
  bool spill(VRegId v) {
    if (v.index() >= f_.vregs.size() || plan_.spilled[v.index()] != 0) return false;
    plan_.spilled[v.index()] = 1;
    if (observer_ != nullptr && observer_->vreg() == v) observer_->spilled(asked_, round_, costs_[v.index()]);
    if (round_ > 1 && is_large()) plan_.never_waits[v.index()] = 1;
    return true;
  }
  bool pin(std::uint32_t index) {
    const Inst& inst = f_.insts[index];
    bool changed = false;
    if (inst.is_inserted()) {  // edge copies go through memory
      for (const ir::Operand& op : f_.operands_of(inst))
        if (op.is_vreg()) changed = spill(op.vreg()) || changed;
      return changed;
    }
    if (!plan_.pinned[index].empty()) return false;
    build_items(f_, inst, items_);
    if (items_.items.empty()) return false;
    auto homes = pack(f_, inst, items_, budget_);
    REGDUEL_CHECK(homes.has_value(), "an impossible instruction shows up late");
    plan_.pinned[index] = std::move(*homes);
    return true;
  }
  void keep_all_in_memory() {
    is_fallback_ = true;
    const std::vector<std::int64_t> costs = spill_costs(f_, cfg_, live_, frequency_, plan_.remat_of, {});
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) plan_.spilled[v] = costs[v] < kUnspillable ? 1 : 0;
    plan_.refill_reuse = 0;
    victims_ = {};
    kept_ = {};
    for (const BlockId b : cfg_.reverse_postorder()) {
      const ir::Block& block = f_.block(b);
      for (std::uint32_t k = 0; k < block.num_insts; ++k)
        if (const Inst& inst = f_.insts[block.first_inst + k]; !inst.is_deleted() && !inst.is_inserted()) pin(block.first_inst + k);
    }
  }

  [[nodiscard]] ir::Allocation emit_result() const {
    if (observer_ != nullptr) observer_->finish(prepared_->lowered, homes_, plan_, is_fallback_);
    return emit(program_, f_, prepared_->lowered, homes_, budget_, slots_.align_bytes, fuel_);
  }

  const Function& program_;
  const ir::Target& target_;
  const Knobs& knobs_;
  ir::Trace* trace_;
  ir::Fuel* fuel_;
  Observer* observer_;
  VictimRank asked_;  // of the vreg that is observed
  bool is_fallback_ = false;
  Budget budget_;
  BudgetModel model_;
  SlotStrategy slots_;
  Function f_;  // without phis
  ir::Cfg cfg_;
  Liveness live_;
  std::vector<std::int64_t> frequency_;
  ir::PerFile<AllocationMode> modes_;
  Plan plan_;
  std::int64_t round_ = 0;
  std::unique_ptr<Prepared> prepared_;
  std::vector<int> homes_;
  ir::PerFile<Attempt> attempts_;
  ir::PerFile<std::vector<VRegId>> victims_;  // whom guidance spills in this round
  ir::PerFile<std::vector<int>> kept_;        // by vreg of f_: homes in the last attempt with eviction
  ir::PerFile<bool> high_pressure_ = {};
  std::vector<std::int64_t> costs_;  // by vreg of f_, under costs_pressure_
  ir::PerFile<bool> costs_pressure_ = {};
  RegFile first_misfit_ = RegFile::R;
  Items items_;
};

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> run_driver(const Function& program, const ir::Target& target,
                                                           const ir::Limits& limits, const Knobs& knobs, ir::Trace* trace,
                                                           ir::Fuel* fuel, Observer* observer) {
  ir::Limits aimed_at = limits;
  int& registers = aimed_at.units[ir::index(RegFile::R)];
  registers = level_target(registers, static_cast<int>(knobs[Knob::RegisterUsageLevel]));
  if (registers != limits.of(RegFile::R)) {
    auto result = Driver(program, target, aimed_at, knobs, trace, fuel, observer).run();
    if (result) return result;
    if (trace != nullptr)
      trace->line(
          fmt::format("level {}: impossible with {} registers, the limit holds", knobs[Knob::RegisterUsageLevel], registers));
  }
  return Driver(program, target, limits, knobs, trace, fuel, observer).run();
}

}  // namespace regduel::allocator
