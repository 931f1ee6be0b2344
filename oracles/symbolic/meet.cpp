#include "oracles/symbolic/meet.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/random.h"

namespace regduel::oracles::symbolic {

void Meet::begin(std::uint32_t block, bool is_first, bool keeps_same) {
  ++epoch_;
  (void)left(static_cast<Value>(values_.size() - 1));  // room for all values so far
  join_ = {.block = block, .is_first = is_first, .keeps_same = keeps_same};
  predicates_.clear();
  tokens_.clear();
  left_choices_.clear();
  right_choices_.clear();
}

void Meet::note_choice(Value v, std::vector<Value>& choices, int& budget) {
  if (!values_.is_gated(v) || --budget < 0) return;
  const Values::Node& n = values_[v];
  if (n.kind == ValueKind::Gate) {
    choices.push_back(n.a);
    note_choice(n.b, choices, budget);
    note_choice(n.c, choices, budget);
  }
  for (const Value child : values_.children(n)) note_choice(child, choices, budget);
}

void Meet::note_choice(Value a, Value b) {
  int left_budget = kMostGatesOfChoice, right_budget = kMostGatesOfChoice;
  note_choice(a, left_choices_, left_budget);
  note_choice(b, right_choices_, right_budget);
}

void Meet::note_predicate(Value a, Value b) { predicates_.push_back({a, b}); }

void Meet::note_predicates_in(Value a, Value b) {
  if (!values_.has_words(a) && !values_.has_words(b)) return;
  const auto is_predicate = [&](Value v) {
    return v != kBottom && values_[v].kind != ValueKind::Byte && values_[v].kind != ValueKind::Bit;
  };
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Value x = values_.byte(a, i), y = values_.byte(b, i);
    const bool are_packs = values_.has_packs(x) || values_.has_packs(y);
    for (std::uint32_t k = 0; k < (are_packs ? 8 : 1); ++k) {
      const Value left = are_packs ? values_.bit(x, k) : x, right = are_packs ? values_.bit(y, k) : y;
      if (is_predicate(left) && is_predicate(right)) note_predicate(left, right);
    }
  }
}

void Meet::choose_tokens(std::span<const Value> kept, int most) {
  std::ranges::sort(left_choices_);
  std::ranges::sort(right_choices_);
  const auto is_left_choice = [&](const Predicate& p) { return std::ranges::binary_search(left_choices_, p.left); };
  const auto is_right_choice = [&](const Predicate& p) { return std::ranges::binary_search(right_choices_, p.right); };
  // Predicates that are choices themselves meet by the tokens of the others, the innermost first. The first pair of a value on the
  // left keeps its number: if two predicates were one, this is the pair by which the values of both sides are choices, or the
  // unchanged one.
  const auto rank = [&](const Predicate& p) {
    const bool is_gated = values_.is_gated(p.left) || values_.is_gated(p.right);
    const int change = is_left_choice(p) && is_right_choice(p) ? 0 : p.left == p.right ? 1 : 2;
    return std::tuple(is_gated, is_gated ? p.left : kBottom, change);
  };
  std::ranges::stable_sort(predicates_, {}, rank);
  for (const Predicate& p : predicates_) {
    // A predicate that was defined on all paths so far keeps its number, also if it is not defined on all paths any more.
    if (values_.is_atom(p.left) && known(p.left, p.right) == kBottom && may_keep(p.left, p.right, left(p.left)))
      set_number({p.left, p.right, p.left});
    const Value number = (*this)(p.left, p.right, mode_of_part(p.left, p.right, Mode::NumberMaybeUndefined), false);
    const auto is_this = [&](const Token& t) { return t.left == p.left && t.right == p.right; };
    // Two places with one vague number may hold different values.
    if (values_.is_vague(number) || (!is_left_choice(p) && !is_right_choice(p)) || std::ranges::any_of(tokens_, is_this)) continue;
    const bool is_kept = number == p.left && std::ranges::find(kept, p.left) != kept.end();
    if (is_kept || most-- > 0) tokens_.push_back({p.left, p.right, number});
  }
}

void Meet::set_number(const Token& t) {
  remember(t.left, t.right, t.number);
  if (t.number == t.left) left(t.left).kept_in = epoch_;
}

// The common case: two leaves meet, and the left one meets no other value.
Value Meet::of_new(Value a, Value b, Mode mode, bool are_words) {
  if (!values_.is_atom(a) || !values_.is_atom(b) || a == kUnsatisfiable || b == kUnsatisfiable)
    return of_any(a, b, mode, are_words);
  Left& l = left(a);
  if (l.epoch == epoch_ || l.split_in == epoch_) return of_any(a, b, mode, are_words);
  if (mode == Mode::Find) return kBottom;
  l.epoch = epoch_;
  l.right = b;
  return l.number = may_keep(a, b, l, mode) ? keep(a, l) : new_leaf(a, b, mode);
}

Value Meet::of_any(Value a, Value b, Mode mode, bool are_words) {
  if (values_.is_unsatisfiable(a)) return a;
  if (values_.is_unsatisfiable(b)) return b;
  if (const Value v = known(a, b); v != kBottom) return v;
  const bool is_by_bits = meets_by_bits(a, b);
  const Token* const chosen = is_by_bits ? nullptr : chosen_token(a, b);
  const Value token = is_by_bits || chosen != nullptr ? kBottom : token_of_gates(a, b, mode);
  const Value v = chosen != nullptr  ? by_outcome(*chosen, a, b, mode, are_words)
                  : token != kBottom ? of_gates(token, a, b, mode, are_words)
                  : are_words        ? of_words(a, b, mode)
                                     : of_bytes(a, b, mode);
  if (v != kBottom) remember(a, b, v);
  return v;
}

bool Meet::is_of_bits(Value v, int depth) const {
  const Values::Node& n = values_[v];
  switch (n.kind) {
    case ValueKind::Packed:
    case ValueKind::Bottom:
    case ValueKind::Top:
    case ValueKind::Opaque: return true;
    case ValueKind::Byte: return n.a == kBottom || values_[n.a].kind == ValueKind::Opaque;
    case ValueKind::Gate: return depth > 0 && is_of_bits(n.b, depth - 1) && is_of_bits(n.c, depth - 1);
    case ValueKind::Word:
      return depth > 0 && std::ranges::all_of(values_.children(n), [&](Value part) { return is_of_bits(part, depth - 1); });
    default: return false;
  }
}

void Meet::number_tokens(Value a, Value b, Mode mode) {
  const Values::Node m = values_[a], n = values_[b];  // copies: the values grow meanwhile
  if (!values_.is_gated(a) || !values_.is_gated(b) || is_same(a, b)) return;
  if (m.kind == ValueKind::Word) {
    for (std::uint32_t i = 0; i < 4; ++i) number_tokens(values_.byte(a, i), values_.byte(b, i), mode);
    return;
  }
  if (meets_by_bits(a, b)) {
    for (std::uint32_t k = 0; k < 8; ++k) number_tokens(values_.bit(a, k), values_.bit(b, k), mode);
    return;
  }
  if (m.kind != ValueKind::Gate || n.kind != ValueKind::Gate) return;
  if (numbered_.empty()) numbered_.resize(kNumberedPairs);
  NumberedPair& numbered = numbered_[mix64(key_of(a, b)) % kNumberedPairs];
  if (numbered.epoch == epoch_ && numbered.key == key_of(a, b)) return;
  if (!may_enter_gates()) return;
  const auto number_below = [&] {
    number_tokens(m.b, n.b, mode);
    number_tokens(m.c, n.c, mode);
  };
  const bool is_new = may_rename(m.a);
  if (is_new) number_below();
  // Tokens of gates may be gates.
  number_tokens(m.a, n.a, mode);
  const Value token = (*this)(m.a, n.a, mode_of_part(m.a, n.a, mode), false);
  if (!is_new && token == m.a) number_below();
  numbered = {key_of(a, b), epoch_};
}

// A pair that is defined on all paths gets a number that is.
Meet::Mode Meet::mode_of_part(Value x, Value y, Mode mode) const {
  return mode == Mode::NumberMaybeUndefined && !values_.is_undefined(x) && !values_.is_undefined(y) ? Mode::Number : mode;
}

// The token of a gate at the head of the block keeps its number, or the gate ends. So the order of tokens stays, and each visit
// takes values apart or makes them less.
Value Meet::token_of_gates(Value a, Value b, Mode mode) {
  const Values::Node m = values_[a], n = values_[b];  // copies: the values grow meanwhile
  if (m.kind != ValueKind::Gate || n.kind != ValueKind::Gate || !may_enter_gates()) return kBottom;
  const Value token = (*this)(m.a, n.a, mode_of_part(m.a, n.a, mode), false);
  return may_rename(m.a) || token == m.a ? token : kBottom;
}

Value Meet::of_gates(Value token, Value a, Value b, Mode mode, bool are_words) {
  const Values::Node m = values_[a], n = values_[b];
  const Value if_true = (*this)(m.b, n.b, mode_of_part(m.b, n.b, mode), are_words);
  return values_.gate(token, if_true, (*this)(m.c, n.c, mode_of_part(m.c, n.c, mode), are_words));
}

bool Meet::is_chosen(Value v) {
  return values_.is_gated(v) && std::ranges::any_of(tokens_, [&](const Token& t) { return t.left != t.right && goes_by(t, v, v); });
}

const Meet::Token* Meet::chosen_token(Value a, Value b) {
  if (tokens_.empty() || (!values_.is_gated(a) && !values_.is_gated(b))) return nullptr;
  auto found =
      std::ranges::find_if(tokens_, [&](const Token& t) { return values_.goes_by(a, t.left) && values_.goes_by(b, t.right); });
  if (found == tokens_.end()) found = std::ranges::find_if(tokens_, [&](const Token& t) { return goes_by(t, a, b); });
  return found != tokens_.end() && may_enter_gates() ? &*found : nullptr;
}

// If both tokens are the same predicate on one side, that side has no outcome in which they differ: there, take the other side's
// value, numbered as it is where the tokens agree.
Value Meet::by_outcome(const Token& token, Value a, Value b, Mode mode, bool are_words) {
  const auto meet_parts = [&](Value x, Value y) { return (*this)(x, y, mode_of_part(x, y, mode), are_words); };
  const Alike alike = alike_to(token, a, b);
  if (alike.count > 1 && (values_[a].kind == ValueKind::Word || values_[b].kind == ValueKind::Word)) return of_words(a, b, mode);
  const auto left_where = [&](unsigned outcome) {
    return alike.is_left ? values_.where(a, token.left, (outcome & 1) != 0) : alike.where(values_, a, &Token::left, outcome);
  };
  const auto right_where = [&](unsigned outcome) {
    return alike.is_left ? alike.where(values_, b, &Token::right, outcome) : values_.where(b, token.right, (outcome & 1) != 0);
  };
  const auto free_side = [&](unsigned outcome) { return alike.is_left ? right_where(outcome) : left_where(outcome); };
  const unsigned all = (1U << alike.count) - 1;
  const Value if_false = meet_parts(left_where(0), right_where(0)), if_true = meet_parts(left_where(all), right_where(all));
  const auto meet_where = [&](unsigned outcome) {
    if (outcome == 0) return if_false;
    if (outcome == all) return if_true;
    const Value v = free_side(outcome);
    const bool is_true = (outcome & 1) != 0;
    for (const bool of : {is_true, !is_true})
      if (const Value known = of ? if_true : if_false; known != kBottom && free_side(of ? all : 0) == v) return known;
    return meet_parts(left_where(outcome), right_where(outcome));
  };
  std::array<Value, 1U << Alike::kMost> parts{};
  for (unsigned outcome = 0; outcome <= all; ++outcome) parts[outcome] = meet_where(outcome);
  for (std::size_t k = alike.count; k-- > 0;)
    for (unsigned outcome = 0; outcome < 1U << k; ++outcome)
      parts[outcome] = values_.gate(alike.tokens[k].number, parts[outcome | 1U << k], parts[outcome]);
  return parts[0];
}

Value Meet::Alike::where(Values& values, Value v, Value Token::* side, unsigned outcome) const {
  for (std::size_t k = 0; k < count; ++k) v = values.where(v, tokens[k].*side, (outcome >> k & 1) != 0);
  return v;
}

Meet::Alike Meet::alike_to(const Token& token, Value a, Value b) {
  Alike alike;
  alike.tokens[alike.count++] = token;
  const bool goes_left = values_.goes_by(a, token.left), goes_right = values_.goes_by(b, token.right);
  const auto is_other = [&](const Token& u) { return u.number != token.number; };
  alike.is_left = goes_left && std::ranges::any_of(tokens_, [&](const Token& u) { return is_other(u) && u.left == token.left; });
  for (const Token& u : tokens_)
    if (is_other(u) && alike.count < Alike::kMost && (alike.is_left ? u.left == token.left : goes_right && u.right == token.right))
      alike.tokens[alike.count++] = u;
  return alike;
}

Value Meet::of_words(Value a, Value b, Mode mode) {
  if (values_.is_leaf(a) && values_.is_leaf(b) && !is_split(a)) return mode == Mode::Find ? kBottom : new_number(a, b, mode);
  const std::array<Value, 4> on_left = values_.bytes(a), on_right = values_.bytes(b);
  std::array<Value, 4> bytes{};
  // One number for the whole word, if each pair of bytes occurs once and has no number. A maybe-undefined name may ask for less
  // than the word.
  bool is_new = mode == Mode::Number && (join_.is_first || values_[a].kind != ValueKind::Word);
  for (std::uint32_t i = 0; i < 4 && is_new; ++i) {
    const bool is_nothing = on_left[i] == kBottom && on_right[i] == kBottom;
    bool is_free = is_nothing || is_unknown_byte(on_left[i], on_right[i]);
    for (std::uint32_t k = 0; k < i && !is_nothing; ++k)
      is_free = is_free && (on_left[i] != on_left[k] || on_right[i] != on_right[k]);
    is_new = is_new && is_free;
  }
  const Value w = is_new ? new_number(a, b, mode) : kBottom;
  for (std::uint32_t i = 0; i < 4; ++i) {
    bytes[i] = is_new ? values_.byte(w, i) : (*this)(on_left[i], on_right[i], mode, false);
    if (is_new) remember_byte_of_word(on_left[i], on_right[i], bytes[i]);
  }
  return values_.word(bytes);
}

Value Meet::of_bytes(Value a, Value b, Mode mode) {
  if (has_packs(a, b)) {
    std::array<Value, 8> bits{};
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Value on_left = values_.bit(a, k), on_right = values_.bit(b, k);
      bits[k] = (*this)(on_left, on_right, mode, false);
    }
    return values_.packed(bits);
  }
  if (const Pieces p = pieces_of(a, b, ValueKind::Bit); p.are_one) {
    const Value whole = (*this)(p.a, p.b, mode, false);
    return whole == kBottom ? kBottom : values_.bit(whole, p.at);
  }
  if (const Pieces p = pieces_of(a, b, ValueKind::Byte); p.are_one) {
    const Value whole = is_split(p.a) ? known(p.a, p.b) : (*this)(p.a, p.b, mode, true);
    if (whole != kBottom) return values_.byte(whole, p.at);
  }
  return mode == Mode::Find ? kBottom : new_number(a, b, mode);
}

Value Meet::known(Value a, Value b) {
  const Left& l = left(a);
  if (l.epoch != epoch_) return kBottom;
  if (l.right == b) return l.number;
  const Slot& s = slot(key_of(a, b));
  return s.epoch == epoch_ ? s.number : kBottom;
}

void Meet::remember(Value a, Value b, Value number) {
  Left& l = left(a);
  if (l.epoch != epoch_ || l.right == b) {
    l.epoch = epoch_;
    l.right = b;
    l.number = number;
    return;
  }
  if (++join_.num_slots_used * 2 > slots_.size()) grow();
  slot(key_of(a, b)) = {key_of(a, b), epoch_, number};
}

// Each piece of Bottom is Bottom.
Meet::Pieces Meet::pieces_of(Value a, Value b, ValueKind kind) const {
  const Values::Node &x = values_[a], &y = values_[b];
  if ((x.kind != kind && a != kBottom) || (y.kind != kind && b != kBottom) || (a != kBottom && b != kBottom && x.b != y.b))
    return {};
  return {true, a == kBottom ? kBottom : x.a, b == kBottom ? kBottom : y.a, a == kBottom ? y.b : x.b};
}

bool Meet::is_unknown_byte(Value a, Value b) {
  const Pieces p = pieces_of(a, b, ValueKind::Byte);
  return !meets_by_bits(a, b) && chosen_token(a, b) == nullptr && token_of_gates(a, b, Mode::Number) == kBottom &&
         !has_packs(a, b) && !is_same(a, b) && known(a, b) == kBottom && (!p.are_one || known(p.a, p.b) == kBottom);
}

// Numbering this byte splits its word on the left.
void Meet::remember_byte_of_word(Value a, Value b, Value number) {
  remember(a, b, number);
  if (a == kBottom || values_[a].kind == ValueKind::Byte) left(a == kBottom ? kBottom : values_[a].a).split_in = epoch_;
}

Meet::Slot& Meet::slot(std::uint64_t key) {
  std::size_t i = mix64(key) & (slots_.size() - 1);
  while (slots_[i].epoch == epoch_ && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}

void Meet::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.epoch == epoch_) slot(s.key) = s;
}

}  // namespace regduel::oracles::symbolic
