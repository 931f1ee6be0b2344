// The meet of the symbolic judge; see symbolic.h for the formula.
//
// A location holds a name after the join if it does on both sides. With values as numbers that is a partition of places, met with
// another: two places are together where they were on both sides, so the pair of their numbers is their new number (Kildall, "A Unified
// Approach to Global Program Optimization", 1973; Alpern, Wegman, Zadeck, "Detecting Equality of Variables in Programs", 1988). Pairs are
// numbered in the order of the live names, and keep the numbers that they have, so a change shows by comparison. A name
// that is undefined on one side is in no one class: it becomes the set of the pairs that satisfy it on both sides.
// Old numbers never outlive a join, and every cycle passes one: so a number that an instruction gives is always that of its last visit.
// Tested by symbolic_test.cpp.

#include "oracles/symbolic_join.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "ir/random.h"

namespace regduel::oracles::symbolic {

Joiner::Joiner(Plan& plan) : plan_(plan), values_(plan.values), slots_(256) {
  is_candidate_.assign(plan.num_locations, 0);
  nowhere_ = values_.add_leaves(ValueKind::Opaque, 0, 0);
}

Joiner::Slot& Joiner::slot(std::uint64_t key) {
  std::size_t i = mix64(key) & (slots_.size() - 1);
  while (slots_[i].epoch == epoch_ && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}

void Joiner::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.epoch == epoch_) slot(s.key) = s;
}

// The number of a pair that has none yet. It keeps that of its class before, as far as no other pair has taken it: so where a class falls
// apart the others keep theirs, and what comes after this block need not be looked at again for the sake of new names.
Value Joiner::number(Value a, Mode mode) {
  const bool is_loose = mode == Mode::NumberLoose;
  if (taken_.size() < values_.size()) taken_.resize(values_.size() + values_.size() / 2, 0);
  const Values::Node n = values_[a];
  if (!is_first_ && n.kind == ValueKind::Merged && n.a == block_ && taken_[a] != epoch_ && values_.is_undefined(a) == is_loose) {
    taken_[a] = epoch_;
    return a;
  }
  return values_.add_leaves(ValueKind::Merged, block_, 0, 1, is_loose);
}

void Joiner::remember(Value a, Value b, Value v) {
  if (++num_slots_used_ * 2 > slots_.size()) grow();
  slot(key_of(a, b)) = {key_of(a, b), epoch_, v};
}

Value Joiner::meet_leaf(Value a, Value b, Mode mode) {
  const Slot& s = slot(key_of(a, b));
  if (s.epoch == epoch_) return s.value;
  if (mode == Mode::Find) return kJunk;
  // A constant is the same on every path.
  const Value v = a == b && values_[a].kind == ValueKind::Constant ? a : number(a, mode);
  remember(a, b, v);
  return v;
}

Value Joiner::meet(Value a, Value b, Mode mode, bool is_word) {
  const Values::Node x = values_[a], y = values_[b];
  if (a == b && (x.kind == ValueKind::Saved || a == kJunk)) return a;
  // The same byte of two words is that byte of their pair. Each byte of Junk is Junk.
  for (const ValueKind kind : {ValueKind::Byte, ValueKind::Bit}) {
    if ((x.kind != kind && a != kJunk) || (y.kind != kind && b != kJunk) || (a != kJunk && b != kJunk && x.b != y.b)) continue;
    const std::uint32_t at = a == kJunk ? y.b : x.b;
    const Value whole = meet(a == kJunk ? kJunk : x.a, b == kJunk ? kJunk : y.a, mode, kind == ValueKind::Byte);
    return whole == kJunk ? kJunk : kind == ValueKind::Byte ? values_.byte(whole, at) : values_.bit(whole, at);
  }
  if (x.kind == ValueKind::Word || y.kind == ValueKind::Word || (is_word && (x.kind == ValueKind::Gate || y.kind == ValueKind::Gate)))
    return meet_words(a, b, mode);
  if (x.kind == ValueKind::Packed || y.kind == ValueKind::Packed) {
    std::array<Value, 8> bits{};
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Value left = values_.bit(a, k), right = values_.bit(b, k);
      bits[k] = meet(left, right, mode, false);
    }
    return values_.packed(bits);
  }
  return meet_leaf(a, b, mode);
}

// Byte by byte, for elsewhere the same bytes may stand by themselves. Where nobody has asked for any of them, they become one new word.
Value Joiner::meet_words(Value a, Value b, Mode mode) {
  std::array<Value, 4> left{}, right{};
  bool is_new = mode != Mode::Find;
  for (std::uint32_t i = 0; i < 4; ++i) {
    left[i] = values_.byte(a, i);
    right[i] = values_.byte(b, i);
    const ValueKind x = values_[left[i]].kind, y = values_[right[i]].kind;
    is_new = is_new && (x == ValueKind::Gate || y == ValueKind::Gate) && x != ValueKind::Packed && y != ValueKind::Packed &&
             slot(key_of(left[i], right[i])).epoch != epoch_;
  }
  for (std::size_t i = 1; i < 4; ++i)
    for (std::size_t k = 0; k < i; ++k) is_new = is_new && (left[i] != left[k] || right[i] != right[k]);
  std::array<Value, 4> bytes{};
  const Value w = is_new ? number(a, mode) : kJunk;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (!is_new) {
      bytes[i] = meet(left[i], right[i], mode, false);
      continue;
    }
    bytes[i] = values_.byte(w, i);
    remember(left[i], right[i], bytes[i]);
  }
  return values_.word(bytes);
}

// ---------------------------------------------------------------------------------------------------------------
// One edge into the block: nothing to meet

std::uint32_t& Joiner::mark(Value v) {
  if (marks_.size() < values_.size()) marks_.resize(values_.size() + values_.size() / 2, 0);
  return marks_[v];
}

void Joiner::ask_for(Value v) {
  if (mark(v) == 2 * epoch_) return;
  mark(v) = 2 * epoch_;
  const Values::Node n = values_[v];
  switch (n.kind) {
    case ValueKind::Byte:
    case ValueKind::Bit: return ask_for(n.a);
    case ValueKind::Gate:
      ask_for(n.a);
      ask_for(n.b);
      return ask_for(n.c);
    case ValueKind::Word:
    case ValueKind::Packed:
    case ValueKind::OneOf:
      for (const Value k : values_.children(n)) ask_for(k);
      return;
    default: return;
  }
}

bool Joiner::is_asked_for(Value v) {
  if (mark(v) == 2 * epoch_) return true;
  if (v == kJunk || mark(v) == 2 * epoch_ + 1) return false;
  const Values::Node n = values_[v];
  bool is_asked = false;
  switch (n.kind) {
    case ValueKind::Saved: is_asked = true; break;
    case ValueKind::Byte:
    case ValueKind::Bit: is_asked = is_asked_for(n.a); break;
    case ValueKind::Gate: is_asked = is_asked_for(n.b) || is_asked_for(n.c); break;
    case ValueKind::Word:
    case ValueKind::Packed:
      for (const Value k : values_.children(n)) is_asked = is_asked || is_asked_for(k);
      break;
    default: break;
  }
  mark(v) = 2 * epoch_ + (is_asked ? 0 : 1);
  return is_asked;
}

bool Joiner::pass(Entry& entry, std::uint32_t block, const State& state) {
  next_.is_reached = true;
  next_.names.clear();
  next_.locations.clear();
  for (const std::uint32_t name : plan_.live_in(block)) {
    next_.names.push_back(state.names[name]);
    ask_for(state.names[name]);
  }
  for (const std::uint32_t l : state.locations.touched()) {
    const Value v = state.locations[l];
    if (is_asked_for(v)) next_.locations.emplace_back(l, v);
  }
  if (next_ == entry) return false;
  std::swap(entry, next_);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Several

// ---------------------------------------------------------------------------------------------------------------
// Names that are undefined on one side

void Joiner::PairIndex::add(Value x, Value y) { by_x.push_back({x, y, static_cast<std::uint32_t>(by_x.size())}); }

void Joiner::PairIndex::sort() {
  const auto less = [](const Pair& p, const Pair& q) { return std::tuple(p.key, p.other, p.order) < std::tuple(q.key, q.other, q.order); };
  std::sort(by_x.begin(), by_x.end(), less);
  by_x.erase(std::unique(by_x.begin(), by_x.end(), [](const Pair& p, const Pair& q) { return p.key == q.key && p.other == q.other; }), by_x.end());
  by_y.clear();
  for (const Pair& p : by_x) by_y.push_back({p.other, p.key, p.order});
  std::sort(by_y.begin(), by_y.end(), less);
}

// What is in the locations on both sides: words as wholes; bytes that stand by themselves (predicates, pieces of words), and bits of packs.
void Joiner::index_candidates() {
  words_.by_x.clear();
  bytes_.by_x.clear();
  has_pieces_ = false;
  const auto add_byte = [&](Value x, Value y) {
    bytes_.add(x, y);
    if (values_[x].kind != ValueKind::Packed && values_[y].kind != ValueKind::Packed) return;
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Value left = values_.bit(x, k), right = values_.bit(y, k);
      bytes_.add(left, right);
    }
  };
  for (const auto& [l, pair] : candidates_) {
    const auto [x, y] = pair;
    if (plan_.is_byte_location[l] != 0) {
      add_byte(x, y);
      continue;
    }
    words_.add(x, y);
    if (values_[x].kind != ValueKind::Word && values_[y].kind != ValueKind::Word) continue;
    has_pieces_ = true;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Value left = values_.byte(x, i), right = values_.byte(y, i);
      add_byte(left, right);
    }
  }
  words_.sort();
  bytes_.sort();
}

bool Joiner::is_plain(Value v) const { return !values_.is_loose(v) && !values_.is_gated(v) && values_[v].kind != ValueKind::Word; }

// Only a location that holds this very number satisfies a plain value. False where `v` is not made of such.
bool Joiner::plain_members(Value v, std::vector<Value>& members) const {
  members.clear();
  if (is_plain(v)) members.push_back(v);
  else if (values_[v].kind == ValueKind::OneOf)
    for (const Value k : values_.children(values_[v])) members.push_back(k);
  return !members.empty() && std::all_of(members.begin(), members.end(), [&](Value k) { return is_plain(k); });
}

// Adds each pair of `index` that satisfies a on the one side and b on the other, and perhaps others.
void Joiner::find_pairs(const PairIndex& index, Value a, Value b) {
  const auto at = [&](const std::vector<Pair>& sorted, Value key, bool is_y) {
    for (auto it = std::lower_bound(sorted.begin(), sorted.end(), key, [](const Pair& p, Value k) { return p.key < k; });
         it != sorted.end() && it->key == key; ++it)
      found_.push_back(is_y ? Pair{it->other, key, it->order} : *it);
  };
  if (plain_members(b, keys_)) {
    for (const Value key : keys_) at(index.by_y, key, true);
  } else if (plain_members(a, keys_)) {
    for (const Value key : keys_) at(index.by_x, key, false);
  } else {
    found_.insert(found_.end(), index.by_x.begin(), index.by_x.end());
  }
}

// The numbers of those pairs in found_ that satisfy the name on both sides. They are given in the order of the locations, so that the same
// state gets the same numbers whatever numbers it came from.
void Joiner::number_found(Value a, Value b, unsigned bytes, bool are_words, std::vector<Value>& members) {
  std::sort(found_.begin(), found_.end(), [](const Pair& p, const Pair& q) { return p.order < q.order; });
  for (const Pair& p : found_)
    if (holds(p.key, p.other, a, b, bytes)) members.push_back(meet(p.key, p.other, Mode::NumberLoose, are_words));
  found_.clear();
}

void Joiner::find_bytes(Value a, Value b, bool in_words, std::vector<Value>& members) {
  find_pairs(bytes_, a, b);
  number_found(a, b, 0xF, false, members);
  find_constants(a, b, 0xF, members);
  if (!in_words) return;
  // Bytes of words that are there as wholes.
  const bool by_b = plain_members(b, keys_);
  std::vector<Value> keys;
  if (by_b || plain_members(a, keys_)) keys = keys_;
  std::vector<Pair> words, split;
  const auto take_byte = [&](std::uint32_t i) {
    for (const Pair& p : words) {
      const Value left = values_.byte(p.key, i), right = values_.byte(p.other, i);
      split.push_back({left, right, 4 * p.order + i});
    }
  };
  for (const Value key : keys) {
    const Values::Node n = values_[key];
    if (n.kind != ValueKind::Byte) continue;
    find_pairs(words_, by_b ? kAny : n.a, by_b ? n.a : kAny);
    words.swap(found_);
    found_.clear();
    take_byte(n.b);
  }
  if (keys.empty()) {
    words = words_.by_x;
    for (std::uint32_t i = 0; i < 4; ++i) take_byte(i);
  }
  found_.swap(split);
  number_found(a, b, 0xF, false, members);
}

bool Joiner::holds(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes) {
  return values_.satisfies_bytes(have_b, want_b, bytes) && values_.satisfies_bytes(have_a, want_a, bytes);
}

// Adds what a remat can put anywhere, so that it need not be anywhere yet.
void Joiner::find_constants(Value a, Value b, unsigned bytes, std::vector<Value>& members) {
  const auto constant = [&](Value c) {
    const Values::Node& n = values_[c];
    const bool is_constant = n.kind == ValueKind::Constant || (n.kind == ValueKind::Byte && values_[n.a].kind == ValueKind::Constant);
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
  find_bytes(a, b, false, members);
  return members.empty() ? nowhere_ : values_.one_of(std::move(members));
}

bool Joiner::has_words(Value v) const {
  const auto own = values_.children(values_[v]);
  return values_[v].kind == ValueKind::Word ||
         (values_[v].kind == ValueKind::OneOf && std::any_of(own.begin(), own.end(), [&](Value k) { return values_[k].kind == ValueKind::Word; }));
}

Value Joiner::meet_loose_word(Value a, Value b, unsigned bytes) {
  std::vector<Value> members;
  find_pairs(words_, a, b);
  number_found(a, b, bytes, true, members);
  find_constants(a, b, bytes, members);
  // A location may hold some bytes of it, and where it is undefined in part, only those are asked for.
  const bool is_in_pieces = has_words(a) || has_words(b);
  if (!is_in_pieces && !has_pieces_) return members.empty() ? nowhere_ : values_.one_of(std::move(members));
  std::array<Value, 4> word{};
  std::array<std::vector<Value>, 4> pieces;
  for (std::uint32_t i = 0; i < 4; ++i) {
    word[i] = kAny;
    if ((bytes >> i & 1) == 0) continue;
    const Value want_a = values_.byte(a, i), want_b = values_.byte(b, i);
    if (want_a == kAny && want_b == kAny) continue;
    find_bytes(want_a, want_b, is_in_pieces, pieces[i]);
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
  ++epoch_;
  num_slots_used_ = 0;
  block_ = block;
  is_first_ = !entry.is_reached;
  const bool is_entry = plan_.order.front() == block;
  if (plan_.num_preds[block] + (is_entry ? 1 : 0) == 1) return pass(entry, block, state);

  const auto live = plan_.live_in(block);
  next_.is_reached = true;
  next_.names.assign(live.size(), kAny);
  next_.locations.clear();
  loose_names_.clear();
  for (std::size_t k = 0; k < live.size(); ++k) {
    const Value b = state.names[live[k]], a = is_first_ ? b : entry.names[k];
    if (values_.is_loose(a) || values_.is_loose(b)) {
      if (a != kAny || b != kAny) loose_names_.push_back(static_cast<std::uint32_t>(k));
      continue;
    }
    next_.names[k] = meet(a, b, Mode::Number, plan_.bytes_of_name[live[k]] != kOneByte);
  }
  candidates_.clear();
  if (!is_first_)
    for (const auto& [l, a] : entry.locations) {
      candidates_.push_back({l, {a, state.locations[l]}});
      is_candidate_[l] = epoch_;
    }
  if (is_first_ || !loose_names_.empty())
    for (const std::uint32_t l : state.locations.touched()) {
      const Value b = state.locations[l];
      if (b != kJunk && is_candidate_[l] != epoch_) candidates_.push_back({l, {is_first_ ? b : kJunk, b}});
    }
  if (!loose_names_.empty()) index_candidates();
  for (const std::uint32_t k : loose_names_) {
    const Value b = state.names[live[k]], a = is_first_ ? b : entry.names[k];
    const unsigned bytes = plan_.bytes_of_name[live[k]];
    next_.names[k] = bytes == kOneByte ? meet_loose_byte(a, b) : meet_loose_word(a, b, bytes);
  }
  for (const auto& [l, pair] : candidates_) {
    const Value v = meet(pair.first, pair.second, Mode::Find, plan_.is_byte_location[l] == 0);
    if (v != kJunk) next_.locations.emplace_back(l, v);
  }
  if (next_ == entry) return false;
  std::swap(entry, next_);
  return true;
}

void Joiner::load(const Entry& entry, std::uint32_t block, State& state) const {
  const auto live = plan_.live_in(block);
  for (std::size_t k = 0; k < live.size(); ++k)
    if (entry.names[k] != kAny) state.names.set(live[k], entry.names[k]);
  for (const auto& [l, v] : entry.locations) state.locations.set(l, v);
}

}  // namespace regduel::oracles::symbolic
