// The join of two states; join.h has the formula.
//
// With values as numbers a state is a partition of places: two are together where they hold the same. Two places are together after
// the join where they were on both sides, so the pair of their numbers is their new number (Kildall, "A Unified Approach to Global
// Program Optimization", 1973; Alpern, Wegman, Zadeck, "Detecting Equality of Variables in Programs", 1988). Pairs are numbered in
// the order of the live names, and keep the numbers that they have, so a change shows by comparison. Old numbers never outlive a
// join, and every cycle passes one: so a number that an instruction gives is always that of its last visit.

#include "oracles/symbolic/join.h"

#include <utility>

namespace regduel::oracles::symbolic {

bool Joiner::flow_into(Entry& entry, std::uint32_t block, const State& state) {
  next_.is_reached = true;
  next_.names.clear();
  next_.names.reserve(plan_.live_names[block].size());
  next_.locations.clear();
  next_.locations.reserve(plan_.live_locations[block].size());
  const std::uint32_t num_ways = plan_.num_preds[block] + (plan_.order.front() == block ? 1 : 0);
  if (num_ways == 1) copy(block, state);
  else join(entry, block, state);
  if (next_ == entry) return false;
  std::swap(entry, next_);
  return true;
}

void Joiner::copy(std::uint32_t block, const State& state) {
  for (const std::uint32_t n : plan_.live_names[block]) next_.names.push_back(state.names[n]);
  for (const std::uint32_t l : plan_.live_locations[block])
    if (state.locations[l] != kJunk) next_.locations.push_back({l, state.locations[l]});
}

void Joiner::join(const Entry& entry, std::uint32_t block, const State& state) {
  const auto names = plan_.live_names[block];
  const auto both_sides = [&](std::size_t k) {
    const Value b = state.names[names[k]];
    return std::pair(entry.is_reached ? entry.names[k] : b, b);
  };
  meet_.begin(block, !entry.is_reached);
  loose_names_.clear();
  bool any_in_pieces = false;  // a loose name asks for bytes of words
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto [a, b] = both_sides(k);
    if (!values_.is_loose(a) && !values_.is_loose(b)) {
      next_.names.push_back(meet_(a, b, Meet::Mode::Number, plan_.bytes_of_name[names[k]] != kOneByte));
      continue;
    }
    next_.names.push_back(kAny);
    if (a == kAny && b == kAny) continue;
    loose_names_.push_back(static_cast<std::uint32_t>(k));
    any_in_pieces = any_in_pieces || values_.has_words(a) || values_.has_words(b);
  }
  find_candidates(entry, block, state, !loose_names_.empty());
  if (!loose_names_.empty()) loose_.begin(candidates_, any_in_pieces);
  for (const std::uint32_t k : loose_names_) {
    const auto [a, b] = both_sides(k);
    next_.names[k] = loose_.meet(a, b, plan_.bytes_of_name[names[k]]);
  }
  for (const HeldPair& held : candidates_)
    if (const Value v = meet_(held.a, held.b, Meet::Mode::Find, !held.is_byte); v != kJunk)
      next_.locations.push_back({held.location, v});
}

void Joiner::find_candidates(const Entry& entry, std::uint32_t block, const State& state, bool any_loose) {
  candidates_.clear();
  auto held = entry.locations.begin();  // ascending, as the live locations are
  for (const std::uint32_t l : plan_.live_locations[block]) {
    const bool is_held = held != entry.locations.end() && held->location == l;
    const Value b = state.locations[l], a = !entry.is_reached ? b : is_held ? held->value : kJunk;
    if (is_held) ++held;
    if (a != kJunk || (any_loose && b != kJunk)) candidates_.push_back({l, plan_.is_byte_location[l] != 0, a, b});
  }
}

void Joiner::load(const Entry& entry, std::uint32_t block, State& state) const {
  const auto names = plan_.live_names[block];
  for (std::size_t k = 0; k < names.size(); ++k)
    if (entry.names[k] != kAny) state.names.set(names[k], entry.names[k]);
  for (const auto& [l, v] : entry.locations) state.locations.set(l, v);
}

}  // namespace regduel::oracles::symbolic
