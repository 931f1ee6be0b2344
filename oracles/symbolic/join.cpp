// The meet of the symbolic judge; see symbolic.h for the formula.
//
// A location holds a name after the join if it does on both sides. With values as numbers that is a partition of places, met with
// another: two places are together where they were on both sides, so the pair of their numbers is their new number (Kildall, "A
// Unified Approach to Global Program Optimization", 1973; Alpern, Wegman, Zadeck, "Detecting Equality of Variables in Programs",
// 1988). Pairs are numbered in the order of the live names, and keep the numbers that they have, so a change shows by comparison. A
// name that is undefined on one side is in no one class: it becomes the set of the pairs that satisfy it on both sides. Old numbers
// never outlive a join, and every cycle passes one: so a number that an instruction gives is always that of its last visit. Tested
// by symbolic_join_test.cpp.

#include "oracles/symbolic/join.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"

namespace regduel::oracles::symbolic {

Joiner::Joiner(Plan& plan) : plan_(plan), values_(plan.values), slots_(16) { nowhere_ = values_.add_leaves(ValueKind::Opaque, 0); }

Joiner::Slot& Joiner::slot(std::uint64_t key) {
  std::size_t i = mix64(key) & (slots_.size() - 1);
  while (slots_[i].epoch == now_.epoch && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}

void Joiner::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.epoch == now_.epoch) slot(s.key) = s;
}

std::uint32_t& Joiner::by_value(std::vector<std::uint32_t>& v, Value at) {
  if (v.size() <= at) v.resize(values_.size() + values_.size() / 2, 0);
  return v[at];
}

// The number of a pair that has none yet. It keeps that of its class before, as far as no other pair has taken it: so where a class
// falls apart the others keep theirs, and what comes after this block need not be looked at again for the sake of new names.
Value Joiner::number(Value a, Mode mode) {
  const bool is_loose = mode == Mode::NumberLoose;
  const Values::Node n = values_[a];
  if (!now_.is_first && n.kind == ValueKind::Merged && n.a == now_.block && by_value(taken_, a) != now_.epoch &&
      values_.is_undefined(a) == is_loose) {
    taken_[a] = now_.epoch;
    return a;
  }
  return values_.add_leaves(ValueKind::Merged, now_.block, 1, is_loose);
}

void Joiner::remember(Value a, Value b, Value v) {
  if (++now_.pairs * 2 > slots_.size()) grow();
  slot(key_of(a, b)) = {key_of(a, b), now_.epoch, v};
}

Value Joiner::known(Value a, Value b) {
  const Slot& s = slot(key_of(a, b));
  return s.epoch == now_.epoch ? s.value : kJunk;
}

Value Joiner::meet(Value a, Value b, Mode mode, bool is_word) {
  if (a == b && values_.is_fixed(a)) return a;
  if (const Value v = known(a, b); v != kJunk) return v;
  const Value v = is_word ? meet_words(a, b, mode) : meet_byte(a, b, mode);
  if (v != kJunk) remember(a, b, v);
  return v;
}

// A pair of words is one number as long as nothing has asked for one of its bytes by itself; then its bytes are remembered too,
// where they could be met by themselves. Else each byte has its own.
Value Joiner::meet_words(Value a, Value b, Mode mode) {
  if (values_.is_leaf(a) && values_.is_leaf(b) && !is_split(a)) return mode == Mode::Find ? kJunk : number(a, mode);
  std::array<Value, 4> left{}, right{}, bytes{};
  bool is_new = mode == Mode::Number && (now_.is_first || values_.is_leaf(a));  // a loose name may ask for less than the word
  for (std::uint32_t i = 0; i < 4; ++i) {
    left[i] = values_.byte(a, i);
    right[i] = values_.byte(b, i);
    const bool is_nothing = left[i] == kJunk && right[i] == kJunk;
    bool is_free = is_nothing || is_unknown_byte(left[i], right[i]);
    for (std::uint32_t k = 0; k < i && !is_nothing; ++k) is_free = is_free && (left[i] != left[k] || right[i] != right[k]);
    is_new = is_new && is_free;
  }
  const Value w = is_new ? number(a, mode) : kJunk;
  for (std::uint32_t i = 0; i < 4; ++i) {
    bytes[i] = is_new ? values_.byte(w, i) : meet(left[i], right[i], mode, false);
    if (is_new) remember_split(left[i], right[i], bytes[i]);
  }
  return values_.word(bytes);
}

Value Joiner::meet_byte(Value a, Value b, Mode mode) {
  if (values_.has_packs(a) || values_.has_packs(b)) {
    std::array<Value, 8> bits{};
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Value left = values_.bit(a, k), right = values_.bit(b, k);
      bits[k] = meet(left, right, mode, false);
    }
    return values_.packed(bits);
  }
  if (const Pieces p = pieces_of(a, b, ValueKind::Bit); p.are_one) {
    const Value whole = meet(p.a, p.b, mode, false);
    return whole == kJunk ? kJunk : values_.bit(whole, p.at);
  }
  if (const Pieces p = pieces_of(a, b, ValueKind::Byte); p.are_one) {
    const Value whole = is_split(p.a) ? known(p.a, p.b) : meet(p.a, p.b, mode, true);
    if (whole != kJunk) return values_.byte(whole, p.at);
  }
  return mode == Mode::Find ? kJunk : number(a, mode);
}

// Whether two are the same byte of two words, or the same bit of two bytes. Each piece of Junk is Junk.
Joiner::Pieces Joiner::pieces_of(Value a, Value b, ValueKind kind) const {
  const Values::Node &x = values_[a], &y = values_[b];
  if ((x.kind != kind && a != kJunk) || (y.kind != kind && b != kJunk) || (a != kJunk && b != kJunk && x.b != y.b)) return {};
  return {true, a == kJunk ? kJunk : x.a, b == kJunk ? kJunk : y.a, a == kJunk ? y.b : x.b};
}

bool Joiner::is_unknown_byte(Value a, Value b) {
  const Pieces p = pieces_of(a, b, ValueKind::Byte);
  return !values_.has_packs(a) && !values_.has_packs(b) && (a != b || !values_.is_fixed(a)) && known(a, b) == kJunk &&
         (!p.are_one || known(p.a, p.b) == kJunk);
}

// A byte that has a number of its own: the word that it is part of on the left can no longer be numbered as a whole unseen.
void Joiner::remember_split(Value a, Value b, Value v) {
  remember(a, b, v);
  if (a == kJunk || values_[a].kind == ValueKind::Byte) split(a == kJunk ? kJunk : values_[a].a) = now_.epoch;
}

// ---------------------------------------------------------------------------------------------------------------
// Names that are undefined on one side

void Joiner::list_byte(Value x, Value y) {
  bytes_.add(values_, x, y);
  for (std::uint32_t k = 0; k < 8 && (values_.has_packs(x) || values_.has_packs(y)); ++k) {
    const Value left = values_.bit(x, k), right = values_.bit(y, k);
    bytes_.add(values_, left, right);
  }
}

void Joiner::list_pairs(bool with_bytes_of_words) {
  for (PairList* list : {&words_, &bytes_, &bytes_of_words_}) list->clear();
  for (const auto& [l, x, y] : candidates_) {
    if (plan_.is_byte_location[l] != 0) {
      list_byte(x, y);
      continue;
    }
    words_.add(values_, x, y);
    const bool is_in_pieces = values_.has_words(x) || values_.has_words(y);
    for (std::uint32_t i = 0; i < 4 && (is_in_pieces || with_bytes_of_words); ++i) {
      const Value left = values_.byte(x, i), right = values_.byte(y, i);
      if (is_in_pieces) list_byte(left, right);
      else bytes_of_words_.add(values_, left, right);
    }
  }
}

// Adds the numbers of the pairs that satisfy the name on both sides.
void Joiner::find(const PairList& in, Value a, Value b, unsigned bytes, bool are_words, std::vector<Value>& members) {
  in.each(values_, a, b, [&](Value x, Value y) {
    if (holds(x, y, a, b, bytes)) members.push_back(meet(x, y, Mode::NumberLoose, are_words));
  });
}

bool Joiner::holds(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes) {
  return values_.satisfies_bytes(have_b, want_b, bytes) && values_.satisfies_bytes(have_a, want_a, bytes);
}

// Adds what a remat can put anywhere, so that it need not be anywhere yet.
void Joiner::find_constants(Value a, Value b, unsigned bytes, std::vector<Value>& members) {
  const auto constant = [&](Value c) {
    const Values::Node n = values_[c];  // a copy: the values grow meanwhile
    const bool is_constant =
        n.kind == ValueKind::Constant || (n.kind == ValueKind::Byte && values_[n.a].kind == ValueKind::Constant);
    if (is_constant && holds(c, c, a, b, bytes)) members.push_back(meet(c, c, Mode::NumberLoose, n.kind != ValueKind::Byte));
  };
  for (const Value side : {a, b}) {
    constant(side);
    const Values::Node n = values_[side];
    for (std::size_t k = 0; k < values_.children(n).size(); ++k) constant(values_.children(n)[k]);
  }
}

Value Joiner::meet_loose_byte(Value a, Value b) {
  std::vector<Value> members;
  find(bytes_, a, b, 0xF, false, members);
  find_constants(a, b, 0xF, members);
  return members.empty() ? nowhere_ : values_.one_of(std::move(members));
}

Value Joiner::meet_loose_word(Value a, Value b, unsigned bytes) {
  std::vector<Value> members;
  find(words_, a, b, bytes, true, members);
  find_constants(a, b, bytes, members);
  // A location may hold some bytes of it, and where it is undefined in part, only those are asked for.
  const bool is_in_pieces = values_.has_words(a) || values_.has_words(b);
  if (!is_in_pieces && !has_pieces_) return members.empty() ? nowhere_ : values_.one_of(std::move(members));
  std::array<Value, 4> word{kAny, kAny, kAny, kAny};
  std::array<std::vector<Value>, 4> pieces;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if ((bytes >> i & 1) == 0) continue;
    const Value want_a = values_.byte(a, i), want_b = values_.byte(b, i);
    if (want_a == kAny && want_b == kAny) continue;
    find(bytes_, want_a, want_b, 0xF, false, pieces[i]);
    if (is_in_pieces) find(bytes_of_words_, want_a, want_b, 0xF, false, pieces[i]);
    find_constants(want_a, want_b, 0xF, pieces[i]);
    for (const Value m : members) pieces[i].push_back(values_.byte(m, i));
    word[i] = pieces[i].empty() ? nowhere_ : values_.one_of(std::move(pieces[i]));
  }
  if (!members.empty()) {
    const Value whole = values_.one_of(std::move(members));
    bool is_whole = true;
    for (std::uint32_t i = 0; i < 4; ++i) is_whole = is_whole && ((bytes >> i & 1) == 0 || word[i] == values_.byte(whole, i));
    if (is_whole) return whole;
  }
  return values_.word(word);
}

bool Joiner::flow_into(Entry& entry, std::uint32_t block, const State& state) {
  now_ = {.epoch = now_.epoch + 1, .block = block, .is_first = !entry.is_reached};
  next_.is_reached = true;
  next_.names.clear();
  next_.locations.clear();
  const bool is_entry = plan_.order.front() == block;
  if (plan_.num_preds[block] + (is_entry ? 1 : 0) == 1) {
    for (const std::uint32_t n : plan_.live_names[block]) next_.names.push_back(state.names[n]);
    for (const std::uint32_t l : plan_.live_locations[block])
      if (state.locations[l] != kJunk) next_.locations.push_back({l, state.locations[l]});
  } else {
    meet_all(entry, state);
  }
  if (next_ == entry) return false;
  std::swap(entry, next_);
  return true;
}

void Joiner::meet_all(const Entry& entry, const State& state) {
  const auto names = plan_.live_names[now_.block];
  const auto both = [&](std::size_t k) {
    const Value b = state.names[names[k]];
    return std::pair(now_.is_first ? b : entry.names[k], b);
  };
  std::vector<std::uint32_t> loose;  // positions among the names
  bool in_pieces = false;            // some of them ask for bytes of words
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto [a, b] = both(k);
    const bool is_loose = values_.is_loose(a) || values_.is_loose(b);
    if (is_loose && (a != kAny || b != kAny)) {
      loose.push_back(static_cast<std::uint32_t>(k));
      in_pieces = in_pieces || values_.has_words(a) || values_.has_words(b);
    }
    next_.names.push_back(is_loose ? kAny : meet(a, b, Mode::Number, plan_.bytes_of_name[names[k]] != kOneByte));
  }
  find_candidates(entry, state, !loose.empty());
  if (!loose.empty()) list_pairs(in_pieces);
  for (const std::uint32_t k : loose) {
    const auto [a, b] = both(k);
    const unsigned bytes = plan_.bytes_of_name[names[k]];
    next_.names[k] = bytes == kOneByte ? meet_loose_byte(a, b) : meet_loose_word(a, b, bytes);
  }
  for (const auto& [l, a, b] : candidates_)
    if (const Value v = meet(a, b, Mode::Find, plan_.is_byte_location.at(l) == 0); v != kJunk) next_.locations.push_back({l, v});
}

// A location that held nothing before matters only to a name that was undefined before.
void Joiner::find_candidates(const Entry& entry, const State& state, bool any_loose) {
  candidates_.clear();
  auto held = entry.locations.begin();  // ascending, as the live locations are
  for (const std::uint32_t l : plan_.live_locations[now_.block]) {
    const bool is_held = held != entry.locations.end() && held->location == l;
    const Value b = state.locations[l], a = now_.is_first ? b : is_held ? held->value : kJunk;
    if (is_held) ++held;
    if (a != kJunk || (any_loose && b != kJunk)) candidates_.push_back({l, a, b});
  }
  has_pieces_ = std::any_of(candidates_.begin(), candidates_.end(),
                            [&](const Candidate& c) { return values_.has_words(c.a) || values_.has_words(c.b); });
}

void Joiner::load(const Entry& entry, std::uint32_t block, State& state) const {
  const auto names = plan_.live_names[block];
  for (std::size_t k = 0; k < names.size(); ++k)
    if (entry.names[k] != kAny) state.names.set(names[k], entry.names[k]);
  for (const auto& [l, v] : entry.locations) state.locations.set(l, v);
}

}  // namespace regduel::oracles::symbolic
