// See observer.h.

#include "allocator/explain/observer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "allocator/program/names.h"
#include "ir/text/text.h"

namespace regduel::allocator {

std::string_view name(UnitReason r) {
  static constexpr std::string_view kNames[kNumUnitReasons] = {
      "outside_file", "above_limit",   "misaligned",   "reserved",           "clobbered",       "restored",
      "taken",        "kept_free",     "chosen",       "callee_saved_first", "heavier_primary", "heavier_secondary",
      "higher_slot",  "bank_conflict", "not_looked_at"};
  return kNames[static_cast<std::size_t>(r)];
}
std::string_view name(Counted c) {
  static constexpr std::string_view kNames[] = {"yes", "in_chain", "no_weights", "partner_has_no_home"};
  return kNames[static_cast<std::size_t>(c)];
}
std::string_view name(StepKind k) {
  static constexpr std::string_view kNames[] = {"precoloured", "joins_precoloured", "keeps_home", "chain",
                                                "alone",       "above_limit",       "makes_room", "displaced",
                                                "to_memory",   "gives_up",          "moves_apart"};
  return kNames[static_cast<std::size_t>(k)];
}
std::string_view name(Spiller s) {
  static constexpr std::string_view kNames[] = {"nobody", "guidance", "eviction", "walk", "fallback", "fuel", "unread", "split"};
  return kNames[static_cast<std::size_t>(s)];
}

namespace {

constexpr const char* kPackName = "pack of predicates";

std::string id_text(const Inst& inst) { return fmt::format("#{}", inst.id.value); }

std::string declaration(const Function& f, VRegId v) {
  const ir::VReg& r = f.vreg(v);
  std::string text = fmt::format("%{} {} {}", v.value, ir::name(r.cls), ir::print_type(r));
  if (r.align_log2 != ir::natural_align_log2(r.width)) text += fmt::format(" align {}", r.alignment());
  if (r.fixed.is_valid()) text += fmt::format(" fixed {}", ir::to_string(f, r.fixed));
  if (r.hint.is_valid()) text += fmt::format(" hint %{}", r.hint.value);
  if ((r.flags & ir::kVRegUniform) != 0) text += " uniform";
  if (r.is_architectural()) text += " architectural";
  if (r.name.is_valid()) text += fmt::format(" name \"{}\"", f.symbols[r.name]);
  return text;
}

}  // namespace

Observer::Observer(const Function& program, VRegId vreg) : program_(program), vreg_(program.root(vreg)) {
  e_.asked = vreg;
  e_.root = vreg_;
  e_.root_text = declaration(program, vreg_);
  e_.file = program.vreg(vreg_).file();
  e_.is_architectural = program.vreg(vreg_).is_architectural();
}

bool Observer::is_about(std::span<const VRegId> members) const {
  return std::find(members.begin(), members.end(), vreg_) != members.end();
}

void Observer::follow(std::span<const VRegId> stands_for) {
  if (stands_for.empty() || stands_for[vreg_.index()] == vreg_) return;
  vreg_ = stands_for[vreg_.index()];
  e_.one_with = vreg_;
}

void Observer::begin_run(const Function& without_phis, std::span<const VRegId> first_of, bool lives) {
  first_of_ = first_of;
  e_.lives = lives;
  without_phis_ = &without_phis;
  if (first_of.empty()) ++run_;
  e_.spill = {};
  e_.is_walked = walk_spills_ = false;
  e_.moves.clear();
}

void Observer::begin_attempt(const FileAllocator& allocator, const AttemptOptions& options, std::int64_t round,
                             std::int64_t number) {
  round_ = &allocator.round();
  SeenAttempt a;
  a.run = run_;
  a.round = round;
  a.number = number;
  a.order = options.order;
  a.may_spill = options.may_spill();
  a.coalesces = options.coalesces() && allocator.round().coalesces;
  a.weights = options.has_weights();
  a.limit = allocator.limit();
  e_.attempts.push_back(std::move(a));
}

void Observer::spilled(const VictimRank& rank, std::int64_t round, std::int64_t cost) {
  const bool is_guided = rank.cost >= 0;
  e_.spill.by = is_guided ? Spiller::Guidance : walk_spills_ ? Spiller::Walk : Spiller::Eviction;
  e_.spill.round = round;
  e_.spill.cost = is_guided ? rank.cost : cost;
  e_.spill.relief = rank.relief;
  e_.spill.place = is_guided ? static_cast<int>(rank.place) : -1;
  if (!rank.next.is_valid()) return;
  // A spilled vreg that is not of the program is a pack.
  e_.spill.next = rank.next.index() < without_phis_->vregs.size() ? vreg_name(rank.next) : kPackName;
  e_.spill.next_cost = rank.next_cost;
  e_.spill.next_relief = rank.next_relief;
}

void Observer::end_attempt(const Attempt& result) {
  SeenAttempt& a = e_.attempts.back();
  a.home = result.home[vreg_.index()];
  a.is_in_memory = a.home < 0 && round_->live.range(vreg_.index()).empty();
  a.is_spilled = std::binary_search(result.to_spill.begin(), result.to_spill.end(), vreg_);
  a.fits = result.fits;
  a.used = result.used;
  a.is_given_up = !a.fits && a.used == 0 && result.to_spill.empty() && result.to_pin.empty();
}

void Observer::walked(const FileAllocator& allocator, const Walk& walk) {
  round_ = &allocator.round();
  for (SeenAttempt& a : e_.attempts) a.is_emitted = false;
  walk_spills_ = std::ranges::binary_search(walk.to_spill, vreg_);
  e_.is_walked = walk.fits;
  e_.moves.clear();
  if (!walk.fits) return;
  for (const HomeMove& m : walk.moves)
    if (m.vreg == vreg_) e_.moves.push_back({"before " + at(round_->live.number_of(m.inst)), m.from, m.to});
  for (const EdgeMove& m : walk.edge_moves)
    if (m.vreg == vreg_) e_.moves.push_back({fmt::format("from b{} to b{}", m.from_block.value, m.to_block.value), m.from, m.to});
}

void Observer::emitted(std::int64_t round, std::int64_t number) {
  for (SeenAttempt& a : e_.attempts) a.is_emitted = false;
  const auto it = std::find_if(e_.attempts.rbegin(), e_.attempts.rend(),
                               [&](const SeenAttempt& a) { return a.run == run_ && a.round == round && a.number == number; });
  if (it != e_.attempts.rend()) it->is_emitted = true;
}

void Observer::finish(const SpillCode& lowered, const std::vector<int>& homes, const Plan& plan, bool is_fallback) {
  const std::size_t v = vreg_.index();
  e_.home = homes[v];
  const auto pieces = static_cast<int>(std::count(plan.first_of.begin(), plan.first_of.end(), vreg_));
  e_.pieces = pieces > 1 ? pieces : 0;
  const bool is_spilled = plan.is_spilled(vreg_);
  e_.pinned.clear();
  e_.spill.refills = e_.spill.stores = e_.spill.remats = 0;
  if (!is_spilled || e_.pieces > 0) e_.spill = {};
  if (e_.pieces > 0) e_.spill.by = Spiller::Split;
  else if (is_spilled && e_.spill.by == Spiller::None)
    e_.spill.by = is_fallback ? Spiller::Fallback : plan.fuel != nullptr ? Spiller::Fuel : Spiller::Unread;
  e_.spill.is_remat = plan.location[v].is_recomputed();
  e_.spill.is_packed = plan.location[v].is_packed();
  if (is_spilled || e_.pieces > 0) {
    int stores = 0;
    for (const Inst& inst : lowered.f.insts)
      for (const Operand& op : lowered.f.operands_of(inst)) {
        if (!op.is_slot() || op.slot().index() >= lowered.slot_root.size() || lowered.slot_root[op.slot().index()] != vreg_)
          continue;
        if (inst.op == Op::Refill) ++e_.spill.refills;
        else if (inst.op == Op::Spill) ++stores;
      }
    if (e_.spill.refills > 0) e_.spill.stores = stores;  // a store that no refill reads is dropped (frame/emit.h)
    if (e_.spill.is_remat)
      for (const Inst& inst : lowered.f.insts)
        if (inst.op == Op::Remat && inst.ref == without_phis_->insts[plan.location[v].inst()].id) ++e_.spill.remats;
  }
  for (std::size_t k = 0; k < plan.pinned.size(); ++k) {
    const auto ops = without_phis_->operands_of(without_phis_->insts[k]);
    if (!plan.pinned[k].empty() &&
        std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.is_vreg() && op.vreg() == vreg_; }))
      e_.pinned.push_back(without_phis_->insts[k].id.value);
  }
  // The deciding attempt is the emitted one; of a spilled vreg, the last one that spilled it.
  for (std::size_t k = 0; k < e_.attempts.size(); ++k) {
    const SeenAttempt& a = e_.attempts[k];
    if (is_spilled ? a.is_spilled : a.is_emitted) e_.shown = static_cast<int>(k);
  }
}

std::string Observer::vreg_name(VRegId v) const {
  if (v.index() < program_.vregs.size()) return fmt::format("%{}", v.value);
  if (v.index() < first_of_.size() && first_of_[v.index()] != v) return fmt::format("piece of %{}", first_of_[v.index()].value);
  if (const std::uint32_t made_for = round_->lowered.temp_of[v.index()]; made_for != kNoInst) {
    const Inst& inst = without_phis_->insts[made_for];
    return inst.is_inserted() ? "temporary of a phi's copy" : "temporary of " + id_text(inst);
  }
  return v.index() < without_phis_->vregs.size() ? "temporary of a phi" : kPackName;
}

// Inserted instructions have no id yet, and are named after the instruction that they serve.
std::string Observer::at(std::uint32_t number) const {
  const SpillCode& lowered = round_->lowered;
  const std::uint32_t k = round_->live.inst_at(number);
  const Inst& inst = lowered.f.insts[k];
  if (!inst.is_inserted()) return id_text(inst);
  const Inst& served = without_phis_->insts[lowered.source[k]];
  if (served.is_inserted()) return fmt::format("{} in b{}", ir::name(inst.op), round_->live.block_at(number).value);
  return fmt::format("{} for {}", ir::name(inst.op), id_text(served));
}

void Observer::step(StepKind kind, const ScanState& state, int unit, const StepDetails& details) {
  Step s;
  s.kind = kind;
  for (const VRegId v : state.members) s.members.push_back(vreg_name(v));
  s.geometry = state.geometry;
  s.unit = unit;
  s.is_precoloured = state.members.size() == 1 && round_->lowered.f.vreg(state.members[0]).fixed.is_valid();
  see_range(s, state);
  see_constraints(s, state);
  see_units(s, state);
  s.own_cost = details.own_cost;
  s.room_cost = details.room_cost;
  if (details.by.is_valid()) s.by = (details.is_for_temporary ? "a temporary of " : "") + vreg_name(details.by);
  for (const VRegId v : details.leave) s.leave.push_back(vreg_name(v));
  e_.attempts.back().steps.push_back(std::move(s));
}

void Observer::see_range(Step& s, const ScanState& state) const {
  static constexpr char kMoments[] = {'R', 'C', 'W', 'W'};
  for (const Interval& i : state.range)
    s.range.push_back({i.begin.value, i.end.value, at(i.begin.inst()), at(i.last().inst()), kMoments[i.begin.moment()],
                       kMoments[i.last().moment()]});
}

void Observer::see_constraints(Step& s, const ScanState& state) const {
  const auto home_of = [&](VRegId v) {
    const ir::PReg fixed = round_->lowered.f.vreg(v).fixed;
    return fixed.is_valid() ? fixed.begin() : state.home[v.index()];
  };
  for (const VRegId v : state.members)
    for (const Constraint& c : round_->constraints.of(v)) {
      SeenConstraint seen{c.type,       vreg_name(v), c.partner.is_valid() ? vreg_name(c.partner) : "", c.weight, c.is_soft,
                          Counted::Yes, std::nullopt};
      const bool is_range = c.type == ConstraintType::Range;
      if (is_range) {
        if (const int home = home_of(c.partner); home >= 0) seen.target = home + c.unit;
      } else {
        seen.target = state.target_of(c);
        s.primary_weight += c.weight;
      }
      if (!state.weights) seen.counted = Counted::NoWeights;
      else if (c.partner.is_valid() && std::find(state.members.begin(), state.members.end(), c.partner) != state.members.end())
        seen.counted = Counted::InClass;
      else if (!seen.target) seen.counted = Counted::PartnerHasNoHome;
      s.constraints.push_back(std::move(seen));
    }
}

void Observer::see_units(Step& s, const ScanState& state) const {
  const int units = round_->target.units[ir::index(state.allocator.file())];
  s.units.resize(static_cast<std::size_t>(std::min(ir::kMaxUnits, std::max({units, state.ceiling, s.unit + 1}))));
  for (std::size_t k = 0; k < s.units.size(); ++k) {
    s.units[k].primary = state.primary_at(static_cast<int>(k));
    s.units[k].secondary = state.arrays.secondary(static_cast<int>(k));
  }
  UnitSet taken = state.occupancy.conflicts(state.range);
  for (int u = 0; u < ir::kMaxUnits; ++u)
    if (state.allocator.not_allocatable().has(u) && (s.kind != StepKind::AboveLimit || u < state.allocator.limit())) taken.set(u);
  say_what_forbids(s, state, taken);
  rank(s, state, taken);
  if (s.unit >= 0) s.units[static_cast<std::size_t>(s.unit)].reason = UnitReason::Chosen;
}

// The reason for each unit whose footprint is not free, by its first conflict.
void Observer::say_what_forbids(Step& s, const ScanState& state, const UnitSet& taken) const {
  const FileAllocator& allocator = state.allocator;
  const Function& f = round_->lowered.f;
  std::vector<VRegId> holder(ir::kMaxUnits);
  for (const VRegId v : allocator.vregs()) {
    const int home = state.home[v.index()];
    if (home < 0 || is_about({&v, 1}) || std::find(state.members.begin(), state.members.end(), v) != state.members.end()) continue;
    if (!overlap(state.range, round_->live.range(v.index()))) continue;
    for (int u = home; u < std::min(home + f.vreg(v).units(), ir::kMaxUnits); ++u)
      if (VRegId& h = holder[static_cast<std::size_t>(u)]; !h.is_valid()) h = v;
  }
  std::vector<std::string> clobber(ir::kMaxUnits), restore(ir::kMaxUnits), above(ir::kMaxUnits);
  for (const std::uint32_t n : round_->index.bound) {
    const Inst& inst = f.insts[round_->live.inst_at(n)];
    if (contains(state.range, clobber_point(n)))
      for (const Operand& op : f.operands_of(inst))
        if (op.role == Role::Clobber && op.preg().file == allocator.file())
          for (int u = op.preg().begin(); u < std::min(op.preg().end(), ir::kMaxUnits); ++u)
            if (std::string& c = clobber[static_cast<std::size_t>(u)]; c.empty()) c = at(n);
    const UnitSet closed = round_->index.limits.closed(allocator.file(), round_->live.inst_at(n));
    if (contains(state.range, read_point(n)) || contains(state.range, write_point(n)))
      for (int u = 0; u < ir::kMaxUnits; ++u)
        if (std::string& c = above[static_cast<std::size_t>(u)]; closed.has(u) && c.empty()) c = at(n);
    if (inst.op == Op::Ret && contains(state.range, read_point(n)))
      for (int u = 0; u < ir::kMaxUnits; ++u)
        if (allocator.callee_saved().has(u) && restore[static_cast<std::size_t>(u)].empty())
          restore[static_cast<std::size_t>(u)] = at(n);
  }
  const int units = round_->target.units[ir::index(allocator.file())];
  for (int unit = 0; unit < static_cast<int>(s.units.size()); ++unit) {
    SeenUnit& seen = s.units[static_cast<std::size_t>(unit)];
    const int end = unit + s.geometry.units;
    const auto first = [&](auto is_it) {
      int u = unit;
      while (u < end && !is_it(static_cast<std::size_t>(u))) ++u;
      return u < end ? u : -1;
    };
    if (unit % s.geometry.step() != 0) {
      seen.reason = UnitReason::Misaligned;
    } else if (end > ir::kMaxUnits || (end > units && end > state.ceiling)) {
      seen.reason = UnitReason::OutsideFile;
    } else if (end > state.ceiling) {
      seen.reason = UnitReason::AboveLimit;
    } else if (!taken.has_any(unit, end)) {
      continue;
    } else if (const int a = first([&](std::size_t u) { return !above[u].empty(); }); a >= 0) {
      seen.reason = UnitReason::AboveLimit;
      seen.at = above[static_cast<std::size_t>(a)];
    } else if (const int c = first([&](std::size_t u) { return !clobber[u].empty(); }); c >= 0) {
      seen.reason = UnitReason::Clobbered;
      seen.at = clobber[static_cast<std::size_t>(c)];
    } else if (const int h = first([&](std::size_t u) { return holder[u].is_valid(); }); h >= 0) {
      seen.reason = UnitReason::Taken;
      seen.by = vreg_name(holder[static_cast<std::size_t>(h)]);
    } else if (first([&](std::size_t u) { return allocator.not_allocatable().has(static_cast<int>(u)); }) >= 0) {
      seen.reason = UnitReason::Reserved;
    } else if (const int r = first([&](std::size_t u) { return !restore[u].empty(); }); r >= 0) {
      seen.reason = UnitReason::Restored;
      seen.at = restore[static_cast<std::size_t>(r)];
    } else {
      seen.reason = UnitReason::KeptFree;
    }
  }
}

// The free units, by the rules of Placement::select and scan.h.
void Observer::rank(Step& s, const ScanState& state, const UnitSet& taken) const {
  const bool is_scan =
      s.kind == StepKind::Class || s.kind == StepKind::Alone || s.kind == StepKind::AboveLimit || s.kind == StepKind::Displaced;
  if (s.unit < 0 || !is_scan) return;
  const auto is_free = [&](const UnitSet& set, int unit) { return !set.has_any(unit, unit + s.geometry.units); };
  const UnitSet unsaved = taken | (state.allocator.callee_saved() - state.used);
  UnitSet set = taken, bank = unsaved;
  bank |= state.by_bank;
  bank.set_range(state.bank_ceiling, ir::kMaxUnits);
  const bool by_bank = s.kind != StepKind::AboveLimit && state.by_bank.any() && is_free(bank, s.unit);
  const bool by_saves = s.kind != StepKind::AboveLimit && is_free(unsaved, s.unit);
  if (by_bank) set = bank;
  else if (by_saves) set = unsaved;
  const auto seen = [&](int unit) -> SeenUnit& { return s.units[static_cast<std::size_t>(unit)]; };
  const auto for_each_free = [&](auto visit) {
    for (int unit = 0; unit + s.geometry.units <= state.ceiling; unit += s.geometry.step())
      if (unit != s.unit && seen(unit).reason == UnitReason::NotLookedAt) visit(unit);
  };
  const bool has_primary = state.arrays.has_primary();
  const SeenUnit& best = seen(s.unit);
  for_each_free([&](int unit) {
    SeenUnit& o = seen(unit);
    if (!is_free(set, unit))
      o.reason = !is_free(unsaved, unit)                                   ? UnitReason::CalleeSavedFirst
                 : by_bank && unit + s.geometry.units > state.bank_ceiling ? UnitReason::HigherUnit
                                                                           : UnitReason::BankConflict;
    else if (has_primary && o.primary > best.primary) o.reason = UnitReason::HeavierPrimary;
    else if (has_primary && o.primary < best.primary)
      o.reason = state.bank_aware ? UnitReason::BankConflict : UnitReason::NotLookedAt;
    else if (o.secondary > best.secondary) o.reason = UnitReason::HeavierSecondary;
    else if (o.secondary == best.secondary && unit > s.unit) o.reason = UnitReason::HigherUnit;
    else if (state.bank_aware) o.reason = UnitReason::BankConflict;
  });
}

}  // namespace regduel::allocator
