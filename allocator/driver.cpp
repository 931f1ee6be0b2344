// See driver.h.

#include "allocator/driver.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "allocator/assign.h"
#include "allocator/emit.h"
#include "allocator/frequency.h"
#include "allocator/out_of_ssa.h"
#include "allocator/precoloured.h"
#include "allocator/spill_cost.h"
#include "allocator/spill_guidance.h"
#include "ir/check_macro.h"
#include "ir/planted.h"
#include "ir/text.h"

namespace regduel::allocator {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::RegFile;
using ir::VRegId;

// Seed 000 "Per-Class Iteration": classes 1 to 6, then the barriers. Classes of one file go together.
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

  Prepared(Lowered l, std::size_t num_global, const Function& program, const std::vector<std::int64_t>& frequency, const std::vector<std::int64_t>& costs,
           const Budget& budget, const ir::Target& target, ir::Fuel* fuel)
      : lowered(std::move(l)), cfg(lowered.f), live(lowered.f, cfg, num_global), index(lowered.f, live), constraints(program, lowered, frequency, live), cost(costs),
        round{lowered, live, index, constraints, cost, budget, target, fuel}, guidance({lowered.f, live, index, cost, budget}) {
    cost.resize(lowered.f.vregs.size(), kUnspillable);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

class Driver {
 public:
  Driver(const Function& program, const ir::Target& target, const ir::Limits& limits, const Knobs& knobs, ir::Trace* trace, ir::Fuel* fuel)
      : program_(program), target_(target), knobs_(knobs), trace_(trace), fuel_(fuel), budget_(Budget::of(program, target, limits)),
        f_(out_of_ssa(program, fuel)), cfg_(f_), live_(f_, cfg_),
        frequency_(block_frequencies(f_, cfg_, knobs[Knob::EstimatedLoopIterations])) {
    plan_.spilled.assign(f_.vregs.size(), 0);
    plan_.never_waits.assign(f_.vregs.size(), 0);
    plan_.keeps_fixed = find_precoloured(f_, live_, budget_);
    plan_.remat_of = knobs[Knob::Rematerialise] != 0 ? find_remats(f_, cfg_) : std::vector<std::uint32_t>(f_.vregs.size(), kNoInst);
    plan_.pinned.resize(f_.insts.size());
    plan_.no_wait.assign(f_.insts.size(), 0);
    plan_.refill_reuse = static_cast<int>(knobs[Knob::RefillReuse]);
    plan_.fuel = fuel;
    if (fuel != nullptr) ask_for_fuel();
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
  // A round costs a large program too much to have many: whoever gives way to others leaves room for the temporaries to come, and from
  // the second round on these serve one instruction each.
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
                                           budget_, target_, fuel_);
    homes_.assign(prepared_->lowered.f.vregs.size(), -1);
  }

  // Attempts at all files; without spilling only until one does not fit, since then everything is lowered anew. What fits is improved
  // only once all do.
  bool attempt_all(bool may_spill) {
    struct Fitting {
      FileAllocator allocator;
      RegFile file;
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
      if (!may_spill && knobs_[Knob::FastAllocation] == 0 && prepared_->guidance.is_over(file)) {
        high_pressure_[ir::index(file)] = true;
        first_misfit_ = file;
        return false;
      }
      Fitting f{FileAllocator(prepared_->round, file), file, 0, 3};
      if (!may_spill) f.most = attempts_without_spilling();
      const std::vector<VRegId>& victims = victims_[ir::index(file)];
      if (victims.empty() && kept_[ir::index(file)].empty())
        while (f.attempts < f.most && !result.fits) result = attempt(f.allocator, f.attempts++, f.allocator.limit(), !may_spill);
      if (may_spill && !result.fits) result = evict(f.allocator, file);
      result.fits = result.fits && victims.empty();
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
      Attempt& best = attempts_[ir::index(f.file)];
      while (f.attempts < f.most && best.used > f.allocator.max_live() && ir::may(fuel_, "another-attempt")) {
        Attempt next = attempt(f.allocator, f.attempts++, best.used, !may_spill);
        if (is_better(next, best)) best = std::move(next);
      }
      for (const VRegId v : prepared_->index.vregs[ir::index(f.file)]) homes_[v.index()] = best.home[v.index()];
    }
    return true;
  }
  // Guidance for all files.
  void find_victims(SpillGuidance& guidance) {
    attempts_ = {};
    for (const RegFile file : kFileOrder) {
      std::vector<VRegId>& victims = victims_[ir::index(file)];
      victims = guidance.victims(file);
      if (!victims.empty()) trace(fmt::format("file {}: round {}, guidance spills {}", ir::name(file), round_, victims.size()));
    }
  }
  // Where the program is over budget as it is, there is no need to lower it to know that: the first victims are found then.
  bool is_over_before_lowering() {
    find_costs();
    const RoundIndex index(f_, live_);
    SpillGuidance guidance({f_, live_, index, costs_, budget_});
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

  // The better of two results: registers first, then the copies that remain.
  static bool is_better(const Attempt& a, const Attempt& b) {
    if (a.fits != b.fits) return a.fits;
    return a.used != b.used ? a.used < b.used : a.copy_weight < b.copy_weight;
  }

  // Where the pressure is low.
  std::int64_t attempts_without_spilling() const {
    if (knobs_[Knob::FastAllocation] != 0) return knobs_.is_set(Knob::NoSpillAttempts) ? knobs_[Knob::NoSpillAttempts] : 1;
    return 2;
  }

  // Attempt number n without spilling, given up once it needs more than `enough` units, unless the trace is to say how many.
  Attempt attempt(const FileAllocator& allocator, std::int64_t n, int enough, bool say) const {
    static constexpr Order kOrders[] = {Order::ByStart, Order::WidestFirst, Order::LongestFirst};
    AttemptOptions options{.order = kOrders[n % 3],
                           .chains = true,
                           .first_pass = n == 0,
                           .threshold = static_cast<int>(knobs_[Knob::InterferenceThreshold])};
    if (trace_ == nullptr || !say) options.ceiling = enough;
    Attempt result = allocator.run(options);
    if (say) trace(fmt::format("-CLASS NOSPILL REGALLOC: attemp {}, used {}, target {}", n, result.used, allocator.limit()));
    return result;
  }

  // The attempt that finds out who has to go.
  Attempt evict(const FileAllocator& allocator, RegFile file) {
    const int threshold = static_cast<int>(knobs_[Knob::InterferenceThreshold]);
    std::vector<int>& kept = kept_[ir::index(file)];
    Attempt result = allocator.run({.order = Order::BoundFirst, .may_spill = true, .threshold = threshold, .kept = kept,
                                    .absent = victims_[ir::index(file)], .operands = is_large() ? &prepared_->guidance.operands() : nullptr});
    kept.assign(result.home.begin(), result.home.begin() + static_cast<std::ptrdiff_t>(f_.vregs.size()));
    trace(fmt::format("file {}: round {}, used {}, target {}, spills {}, pins {}", ir::name(file), round_, result.used,
                      allocator.limit(), result.to_spill.size(), result.to_pin.size()));
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
    const std::vector<std::int64_t> costs =
        spill_costs(f_, cfg_, live_, frequency_, plan_.remat_of, {});
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

  [[nodiscard]] ir::Allocation emit_result() const { return emit(program_, f_, prepared_->lowered, homes_, budget_, fuel_); }

  const Function& program_;
  const ir::Target& target_;
  const Knobs& knobs_;
  ir::Trace* trace_;
  ir::Fuel* fuel_;
  Budget budget_;
  Function f_;  // without phis
  ir::Cfg cfg_;
  Liveness live_;
  std::vector<std::int64_t> frequency_;
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

std::expected<ir::Allocation, ir::AllocFailure> run_driver(const Function& program, const ir::Target& target, const ir::Limits& limits,
                                                           const Knobs& knobs, ir::Trace* trace, ir::Fuel* fuel) {
  return Driver(program, target, limits, knobs, trace, fuel).run();
}

}  // namespace regduel::allocator
