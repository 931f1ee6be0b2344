// Which operands differ. Why they do is in explain.cpp. See memcheck.h for the rule and its source.

#include "oracles/memcheck/deep_check.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "oracles/memcheck/prepared.h"

namespace regduel::oracles {

DeepCheck::DeepCheck(const Case& c, Definitions& defs, FastAnswer known, MemcheckScope scope, const Objections* upheld)
    : c_(c), defs_(defs), known_(std::move(known)), scope_(scope), upheld_(upheld), after_cfg_(c.after),
      before_graph_(
          c.before, c.prepared.cfg(), defs,
          {.doubtful = known_.doubtful,
           .undefined = known_.doubtful.empty() ? std::span<const ir::InstId>() : c.prepared.part<MemcheckPart>().undefined(),
           .asked = asked()}),
      after_graph_(c.after, after_cfg_, defs,
                   {.callee_saved = c.prepared.preserved(), .doubtful = known_.doubtful, .asked = asked()}),
      before_(before_graph_, defs, sets_), after_(after_graph_, defs, sets_), before_walk_(before_), after_walk_(after_) {}

bool DeepCheck::is_suspect(ir::InstId id) const {
  return !known_.suspects || std::binary_search(known_.suspects->begin(), known_.suspects->end(), id);
}

MemcheckDetails DeepCheck::run() {
  if (!known_.suspects) validate_remats();
  std::size_t next_ret = 0;
  const auto rets = after_graph_.ret_reads();
  std::vector<RetRead> in_order(rets.begin(), rets.end());
  std::sort(in_order.begin(), in_order.end(),
            [](const RetRead& a, const RetRead& b) { return std::tuple(a.inst, a.unit) < std::tuple(b.inst, b.unit); });
  for (std::uint32_t i = 0; i < c_.after.insts.size(); ++i) {
    const ir::Inst& inst = c_.after.insts[i];
    const std::size_t known = details_.mismatches.size();
    const int known_old = details_.mismatch_on_old;
    if (!is_suspect(inst.id)) continue;
    if (!inst.is_inserted() && !inst.is_deleted() && after_graph_.is_reachable(i)) {
      const std::uint32_t source = defs_.index_of(inst.id);
      if (source != kNone && before_graph_.is_reachable(source)) check_instruction(source, i);
    }
    while (next_ret < in_order.size() && in_order[next_ret].inst < i) ++next_ret;
    for (; next_ret < in_order.size() && in_order[next_ret].inst == i; ++next_ret)
      check_saved(in_order[next_ret], c_.after.operands.size() + next_ret);
    if (details_.mismatches.size() == known) continue;
    ++details_.total_mismatch;
    const bool all_old = std::all_of(details_.mismatches.begin() + static_cast<std::ptrdiff_t>(known), details_.mismatches.end(),
                                     [](const OperandMismatch& m) { return m.code == MemcheckCode::None; });
    details_.mismatch_on_old = known_old + (all_old ? 1 : 0);
  }
  details_.walked = static_cast<std::int64_t>(before_walk_.num_visits() + after_walk_.num_visits());
  return std::move(details_);
}

// A wrong remat becomes a definition of its own; then other remats, whose operands it feeds, may be wrong too.
void DeepCheck::validate_remats() {
  std::vector<std::uint32_t> trusted;
  for (std::uint32_t i = 0; i < c_.after.insts.size(); ++i)
    if (c_.after.insts[i].op == ir::Op::Remat && after_graph_.is_reachable(i)) trusted.push_back(i);
  for (bool changed = true; changed;) {
    std::vector<std::uint32_t> wrong;
    const auto is_same = [&](std::size_t x, std::size_t y) { return check_operand(x, y, {}, {}) != Outcome::Differs; };
    std::erase_if(trusted, [&](std::uint32_t i) {
      if (is_right_remat(c_, before_graph_, c_.after.insts[i], is_same)) return false;
      wrong.push_back(i);
      return true;
    });
    changed = !wrong.empty();
    for (const std::uint32_t i : wrong) {
      after_.distrust(i, defs_.add({.kind = LeafKind::Foreign, .inst = c_.after.insts[i].id}));
      after_walk_.forget();
    }
  }
}

void DeepCheck::check_instruction(std::uint32_t before_index, std::uint32_t after_index) {
  const ir::Inst &old = c_.before.insts[before_index], &now = c_.after.insts[after_index];
  const auto old_guard = guard_operand(c_.before, old), new_guard = guard_operand(c_.after, now);
  const bool is_doubtful = std::binary_search(known_.doubtful.begin(), known_.doubtful.end(), old.id);
  const auto one = [&](std::size_t before_operand, std::size_t after_operand, bool is_guard) {
    if (!before_graph_.is_read(before_operand) || !after_graph_.is_read(after_operand)) return;
    Assumption before_assumed, after_assumed;
    if (!is_guard && old_guard && new_guard && !is_doubtful) {
      before_assumed = before_walk_.assumption_of(*old_guard);
      after_assumed = after_walk_.assumption_of(*new_guard);
    }
    const Outcome outcome = check_operand(before_operand, after_operand, before_assumed, after_assumed);
    if (outcome == Outcome::Same || (outcome == Outcome::OnOld && scope_ == MemcheckScope::Errors)) return;
    OperandMismatch m;
    if (outcome == Outcome::Differs) m = explain();
    m.inst = now.id;
    m.operand = static_cast<int>(after_operand - now.first_operand);
    std::vector<ByteRef> from_before, from_after;
    for (int i = 0; i < before_graph_.read_bytes(before_operand); ++i)
      from_before.push_back(before_graph_.read_byte(before_operand, i));
    for (int i = 0; i < after_graph_.read_bytes(after_operand); ++i)
      if (i < before_graph_.read_bytes(before_operand)) from_after.push_back(after_graph_.read_byte(after_operand, i));
    list_producers(m, from_before, from_after);
    details_.mismatches.push_back(std::move(m));
  };
  const auto old_ops = c_.before.operands_of(old), new_ops = c_.after.operands_of(now);
  if (!old.is_copy() && !old.is_phi() && !c_.prepared.part<MemcheckPart>().asks_for_nothing(old.id)) {
    for (std::size_t k = 0; k < std::min(old_ops.size(), new_ops.size()); ++k)
      if (old_ops[k].role == new_ops[k].role && old_ops[k].role != ir::Role::Guard && old_ops[k].is_register() &&
          new_ops[k].is_register())
        one(old.first_operand + k, now.first_operand + k, false);
  }
  if (old_guard && new_guard && !is_idle_copy(c_.prepared, before_index, c_.after, now)) one(*old_guard, *new_guard, true);
}

DeepCheck::Outcome DeepCheck::check_operand(std::size_t before_operand, std::size_t after_operand, Assumption before_assumed,
                                            Assumption after_assumed) {
  differences_.clear();
  if (!before_graph_.is_read(before_operand) || !after_graph_.is_read(after_operand)) return Outcome::Differs;
  const int bytes = std::min(before_graph_.read_bytes(before_operand), after_graph_.read_bytes(after_operand));
  Outcome worst = Outcome::Same;
  for (int i = 0; i < bytes; ++i) {
    const ByteRef from = before_graph_.read_byte(before_operand, i);
    const Outcome outcome = compare_byte({after_operand, i}, before_.set_of(from), from, after_graph_.read_byte(after_operand, i),
                                         before_assumed, after_assumed);
    if (outcome == Outcome::Differs || worst == Outcome::Same) worst = outcome;
  }
  return worst;
}

// Additions and removals of one byte, and which of them count.
DeepCheck::Outcome DeepCheck::compare_byte(ReadByte at, SetId expected, std::optional<ByteRef> before, ByteRef after,
                                           Assumption before_assumed, Assumption after_assumed) {
  const SetId found = after_.set_of(after);
  if (found == expected) return Outcome::Same;
  if (is_excused(expected, found, before, after, before_assumed, after_assumed)) return Outcome::Same;
  const auto is_undefined = [&](std::uint32_t e) { return defs_.is_undefined(leaf_of(e)); };
  const auto is_defined = [&](std::uint32_t e) { return !is_undefined(e); };
  const bool undefined_before = sets_.any_of(expected, has_undefined_, is_undefined);
  if (undefined_before && !sets_.any_of(expected, has_defined_, is_defined))
    return sets_.any_of(found, has_defined_, is_defined) ? Outcome::OnOld : Outcome::Same;
  const auto old = sets_.elements(expected), now = sets_.elements(found);
  Difference d{after, expected, after_assumed, {}, {}};
  if (!undefined_before) std::set_difference(now.begin(), now.end(), old.begin(), old.end(), std::back_inserter(d.additions));
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(), std::back_inserter(d.removals));
  std::erase_if(d.removals, is_undefined);
  if (!d.additions.empty() && after_graph_.has_gates()) keep_seen(d.additions, after_walk_, after, after_assumed);
  if (!d.removals.empty() && before_graph_.has_gates() && before) keep_seen(d.removals, before_walk_, *before, before_assumed);
  keep_upheld(d.additions, at, true);
  keep_upheld(d.removals, at, false);
  if (d.additions.empty() && d.removals.empty()) return Outcome::Same;
  differences_.push_back(std::move(d));
  return Outcome::Differs;
}

bool DeepCheck::is_excused(SetId expected, SetId found, std::optional<ByteRef> before, ByteRef after, Assumption before_assumed,
                           Assumption after_assumed) {
  if (!after_graph_.has_gates()) return false;
  const auto is_defined = [&](std::uint32_t e) { return !defs_.is_undefined(leaf_of(e)); };
  const auto is_undefined = [&](std::uint32_t e) { return defs_.is_undefined(leaf_of(e)); };
  if (!sets_.any_of(expected, has_defined_, is_defined)) return false;
  return is_same_under_guards({before_, before, expected, before_assumed}, {after_, after, found, after_assumed},
                              sets_.any_of(expected, has_undefined_, is_undefined));
}

void DeepCheck::keep_upheld(std::vector<std::uint32_t>& elements, ReadByte at, bool are_additions) {
  std::erase_if(elements, [&](std::uint32_t e) {
    const Leaf& leaf = defs_[leaf_of(e)];
    const Objection o{at, are_additions, leaf.kind, leaf.inst.value, leaf.operand, e % 4};
    if (upheld_ != nullptr && !upheld_->contains(o)) return true;
    objections_.insert(o);
    return false;
  });
}

// Keeps the elements that a walk reaches.
void DeepCheck::keep_seen(std::vector<std::uint32_t>& elements, GuardedWalk& walk, ByteRef from, Assumption assumed) {
  const auto [seen, is_whole] = walk.seen_of(set_with(elements), {from.node, byte_aspect(from.byte)}, assumed);
  if (!is_whole) details_.inconclusive = "guarded definitions are entangled beyond the walk's budget";
  std::erase_if(elements, [&](std::uint32_t e) { return !sets_.contains(seen, e); });
}

SetId DeepCheck::set_with(const std::vector<std::uint32_t>& elements) {
  SetId set = kEmptySet;
  for (const std::uint32_t e : elements) set = sets_.unite(set, DefSets::single(e));
  return set;
}

// A callee-saved register at a ret: must hold its entry value.
void DeepCheck::check_saved(const RetRead& r, std::size_t read) {
  differences_.clear();
  bool differs = false;
  std::vector<ByteRef> bytes;
  for (int k = 0; k < ir::unit_bytes(r.unit.file); ++k) {
    bytes.push_back({r.node, k});
    const SetId expected = sets_.single(element_of(r.saved, k));
    differs = compare_byte({read, k}, expected, std::nullopt, bytes.back(), {}, {}) == Outcome::Differs || differs;
  }
  if (!differs) return;
  OperandMismatch m = explain();
  m.inst = c_.after.insts[r.inst].id;
  m.saved = ir::to_string(c_.after, r.unit);
  list_producers(m, {}, bytes);
  m.before.push_back({});
  details_.mismatches.push_back(std::move(m));
}

}  // namespace regduel::oracles
