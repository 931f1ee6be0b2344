// The join of two states; join.h has the formula.
//
// With values as numbers a state is a partition of places: places with one number hold the same. Two places have one number after
// the join if they had one on both sides, so the pair of their numbers is their new number (Kildall, "A Unified Approach to Global
// Program Optimization", 1973; Alpern, Wegman, Zadeck, "Detecting Equality of Variables in Programs", 1988). Pairs are numbered in
// the order of the live names, and a pair keeps the number that it has, so a comparison of states shows a change. Old numbers do
// not outlive the head of a loop, and every cycle has one, so the number that an instruction gives is that of its last visit. At
// all other joins a value that is the same on all sides keeps its number, which is the common case.

#include "oracles/symbolic/join.h"

#include <algorithm>
#include <utility>

namespace regduel::oracles::symbolic {

bool Joiner::flow_into(Entry& entry, std::uint32_t block, const State& state) {
  next_.is_reached = true;
  next_.names.clear();
  next_.names.reserve(plan_.live_names[block].size());
  next_.locations.clear();
  const std::uint32_t num_ways = plan_.num_preds[block] + (plan_.order.front() == block ? 1 : 0);
  if (num_ways == 1 || (!entry.is_reached && plan_.is_loop_head[block] == 0)) copy(block, state);
  else join(entry, block, state);
  if (next_.holds_the_same(entry)) return false;
  next_.num_changes = entry.num_changes + 1;
  std::swap(entry, next_);
  return true;
}

void Joiner::copy(std::uint32_t block, const State& state) {
  next_.tokens.clear();
  next_.num_tokens = 0;
  for (const std::uint32_t name : plan_.live_names[block]) next_.names.push_back(state.names[name]);
  for (const std::uint32_t l : plan_.live_locations[block])
    if (state.locations[l] != kBottom) next_.locations.push_back({l, state.locations[l]});
}

void Joiner::join(const Entry& entry, std::uint32_t block, const State& state) {
  const auto names = plan_.live_names[block];
  const Value* const old = entry.is_reached ? entry.names.data() : nullptr;
  const auto both_sides = [&](std::size_t k) {
    const Value b = state.names[names[k]];
    return std::pair(old != nullptr ? old[k] : b, b);
  };
  meet_.begin(block, !entry.is_reached, plan_.is_loop_head[block] == 0);
  if (most_tokens_ > 0) choose_tokens(entry, block, state);
  each_candidate(entry, block, state, false,
                 [&](const HeldPair& held) { meet_.number_tokens(held.a, held.b, Meet::Mode::NumberMaybeUndefined); });
  maybe_undefined_names_.clear();
  bool any_in_pieces = false;  // a maybe-undefined name asks for bytes of words
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto [a, b] = both_sides(k);
    if (!values_.may_be_undefined(a) && !values_.may_be_undefined(b)) {
      next_.names.push_back(meet_(a, b, Meet::Mode::Number, plan_.bytes_of_name[names[k]] != kOneByte));
      continue;
    }
    next_.names.push_back(kTop);
    if (values_.asks_for_nothing(a) && values_.asks_for_nothing(b)) continue;
    maybe_undefined_names_.push_back(static_cast<std::uint32_t>(k));
    any_in_pieces = any_in_pieces || values_.has_words(a) || values_.has_words(b);
  }
  const auto join_location = [&](const HeldPair& held) {
    if (const Value v = meet_(held.a, held.b, Meet::Mode::Find, !held.is_byte); v != kBottom)
      next_.locations.push_back({held.location, v});
  };
  if (maybe_undefined_names_.empty()) return each_candidate(entry, block, state, false, join_location);
  candidates_.clear();
  each_candidate(entry, block, state, true, [&](const HeldPair& held) { candidates_.push_back(held); });
  maybe_undefined_.begin(candidates_, any_in_pieces);
  for (const std::uint32_t k : maybe_undefined_names_) {
    const auto [a, b] = both_sides(k);
    next_.names[k] = maybe_undefined_.meet(a, b, plan_.bytes_of_name[names[k]]);
    if (entry.num_changes >= kMostChanges && next_.names[k] != a) next_.names[k] = values_.one_of({values_.unknown_member()});
  }
  for (const HeldPair& held : candidates_) join_location(held);
}

// If a value is a choice on one side, its token is looked for on the other side. At a new block the two sides are one, and only
// names that are undefined on some path are asked for by outcome. Predicates get numbers even if no name asks for them, because a
// value may become a choice by them.
void Joiner::choose_tokens(const Entry& entry, std::uint32_t block, const State& state) {
  const auto names = plan_.live_names[block];
  next_.tokens.clear();
  next_.num_tokens = entry.num_tokens;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Value b = state.names[names[k]], a = entry.is_reached ? entry.names[k] : b;
    if (entry.is_reached || values_.may_be_undefined(b)) meet_.note_choice(a, b);
  }
  each_candidate(entry, block, state, true, [&](const HeldPair& held) {
    if (entry.is_reached) meet_.note_choice(held.a, held.b);
    if (held.is_byte) meet_.note_predicate(held.a, held.b);
    else meet_.note_predicates_in(held.a, held.b);
  });
  meet_.choose_tokens(entry.tokens, most_tokens_ - entry.num_tokens);
  for (const Meet::Token& t : meet_.tokens()) {
    next_.tokens.push_back(t.number);
    if (std::ranges::find(entry.tokens, t.number) == entry.tokens.end()) ++next_.num_tokens;
  }
}

template <class Visit>
void Joiner::each_candidate(const Entry& entry, std::uint32_t block, const State& state, bool any_maybe_undefined,
                            const Visit& visit) const {
  if (entry.is_reached && !any_maybe_undefined) {
    for (const Entry::Held& h : entry.locations)
      visit({h.location, plan_.is_byte_location[h.location] != 0, h.value, state.locations[h.location]});
    return;
  }
  auto held = entry.locations.begin();  // ascending, as the live locations are
  for (const std::uint32_t l : plan_.live_locations[block]) {
    const Value b = state.locations[l];
    Value a = b;
    if (entry.is_reached) {
      const bool is_held = held != entry.locations.end() && held->location == l;
      a = is_held ? (held++)->value : kBottom;
    }
    if (a == kBottom && (!any_maybe_undefined || b == kBottom)) continue;
    visit({l, plan_.is_byte_location[l] != 0, a, b});
  }
}

void Joiner::load(const Entry& entry, std::uint32_t block, State& state) const {
  const auto names = plan_.live_names[block];
  const auto& held = entry.locations;
  state.names.load(names.size(), [&](std::size_t k) { return names[k]; }, [&](std::size_t k) { return entry.names[k]; });
  state.locations.load(held.size(), [&](std::size_t k) { return held[k].location; }, [&](std::size_t k) { return held[k].value; });
}

}  // namespace regduel::oracles::symbolic
