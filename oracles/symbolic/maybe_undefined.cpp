#include "oracles/symbolic/maybe_undefined.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "oracles/symbolic/plan.h"

namespace regduel::oracles::symbolic {

MaybeUndefinedName::MaybeUndefinedName(Values& values, Meet& meet) : values_(values), meet_(meet) {}

void MaybeUndefinedName::begin(std::span<const HeldPair> held, bool any_in_pieces) {
  for (PairList* list : {&whole_, &in_pieces_, &bytes_, &choices_}) list->clear();
  const auto is_piecewise = [&](const HeldPair& h) { return values_.has_words(h.a) || values_.has_words(h.b); };
  const auto is_choice = [&](const HeldPair& h) { return values_.is_gated(h.a) || values_.is_gated(h.b); };
  for (const HeldPair& h : held | std::views::filter(is_choice)) choices_.add(values_, h.a, h.b);
  for (const HeldPair& h : held) {
    const bool is_in_pieces = is_piecewise(h);
    if (h.is_byte) {
      list_byte(h.a, h.b);
      continue;
    }
    (is_in_pieces ? in_pieces_ : whole_).add(values_, h.a, h.b);
    if (!is_in_pieces && !any_in_pieces) continue;
    const std::array<Value, 4> left = values_.bytes(h.a), right = values_.bytes(h.b);
    for (std::size_t i = 0; i < 4; ++i) list_byte(left[i], right[i]);
  }
}

void MaybeUndefinedName::list_byte(Value x, Value y) {
  bytes_.add(values_, x, y);
  for (std::uint32_t k = 0; k < 8 && (values_.has_packs(x) || values_.has_packs(y)); ++k) {
    const Value x_bit = values_.bit(x, k), y_bit = values_.bit(y, k);
    bytes_.add(values_, x_bit, y_bit);
  }
}

Value MaybeUndefinedName::meet(Value a, Value b, unsigned bytes) {
  if (values_.asks_for_nothing(a) && values_.asks_for_nothing(b)) return kTop;
  const auto tokens = meet_.tokens();
  const auto asked_by = std::ranges::find_if(tokens, [&](const Meet::Token& t) { return is_choice_by(t, a, b); });
  if (asked_by == tokens.end()) return bytes == kOneByte ? meet_byte(a, b) : meet_word(a, b, bytes);
  const auto meet_where = [&](bool holds) {
    outcomes_.push_back({*asked_by, holds});
    const Value x = values_.where(a, asked_by->left, holds), y = values_.where(b, asked_by->right, holds);
    const Value part = meet(x, y, bytes);
    outcomes_.pop_back();
    return part;
  };
  const Value if_true = meet_where(true);
  return values_.gate(asked_by->number, if_true, meet_where(false));
}

bool MaybeUndefinedName::is_choice_by(const Meet::Token& token, Value a, Value b) {
  const auto is_known = [&](const Outcome& o) { return o.token.number == token.number; };
  if (outcomes_.size() == kMostTokens || std::ranges::any_of(outcomes_, is_known)) return false;
  bool is = meet_.goes_by(token, a, b);
  choices_.each(values_, a, b, true, false, [&](Value x, Value y) { is = is || meet_.goes_by(token, x, y); });
  return is;
}

Value MaybeUndefinedName::meet_byte(Value a, Value b) {
  find(bytes_, a, b, 0xF, false);
  find_constants(a, b, 0xF);
  return one_of_found();
}

Value MaybeUndefinedName::meet_word(Value a, Value b, unsigned bytes) {
  find(whole_, a, b, bytes, true);
  find(in_pieces_, a, b, bytes, true);
  find_constants(a, b, bytes);
  const bool is_in_pieces = values_.has_words(a) || values_.has_words(b);
  if (!is_in_pieces && !in_pieces_.has_any(values_, a, b)) return one_of_found();
  // A location may hold some bytes of the name; if the name is undefined in part, only its defined bytes are asked for.
  const std::vector<Value> whole = std::exchange(found_, {});
  std::array<Value, 4> word{kTop, kTop, kTop, kTop};
  const std::array<Value, 4> wants_a = values_.bytes(a), wants_b = values_.bytes(b);
  for (std::uint32_t i = 0; i < 4; ++i) {
    if ((bytes >> i & 1) == 0) continue;
    const Value want_a = wants_a[i], want_b = wants_b[i];
    if (want_a == kTop && want_b == kTop) continue;
    find(bytes_, want_a, want_b, 0xF, false);
    find_constants(want_a, want_b, 0xF);
    for (const Value w : whole) found_.push_back(values_.byte(w, i));
    word[i] = one_of_found();
  }
  if (!whole.empty()) {
    const Value all = values_.one_of(whole);
    bool is_all = true;
    for (std::uint32_t i = 0; i < 4; ++i) is_all = is_all && ((bytes >> i & 1) == 0 || word[i] == values_.byte(all, i));
    if (is_all) return all;
  }
  return values_.word(word);
}

bool MaybeUndefinedName::satisfy(Value have_a, Value have_b, Value want_a, Value want_b, unsigned bytes) {
  if (values_.satisfies_bytes(have_b, want_b, bytes) && values_.satisfies_bytes(have_a, want_a, bytes)) return true;
  is_unsure_ = is_unsure_ || values_.is_unsure();
  return false;
}

void MaybeUndefinedName::find(const PairList& in, Value a, Value b, unsigned bytes, bool are_words) {
  // Only a part of a location that holds a choice is asked for.
  const bool is_within = outcomes_.empty() && &in != &in_pieces_;
  in.each(values_, a, b, bytes != 0xF || !outcomes_.empty(), is_within, [&](Value x, Value y) {
    restrict_to_outcomes(x, y);
    if (satisfy(x, y, a, b, bytes)) found_.push_back(values_.asked_by(meet_(x, y, Meet::Mode::NumberMaybeUndefined, are_words)));
  });
}

void MaybeUndefinedName::restrict_to_outcomes(Value& x, Value& y) {
  for (const Outcome& o : outcomes_) {
    x = values_.where(x, o.token.left, o.holds);
    y = values_.where(y, o.token.right, o.holds);
  }
}

// Finds the constants that the name asks for on either side, alone, in a set, or under a gate.
void MaybeUndefinedName::find_constants(Value a, Value b, unsigned bytes) {
  for (const Value side : {a, b}) {
    work_.assign(1, side);
    for (int budget = kMostParts; !work_.empty() && budget > 0; --budget) {
      const Value v = work_.back();
      work_.pop_back();
      const Values::Node n = values_[v];  // a copy: the values grow meanwhile
      if (n.kind == ValueKind::Gate) work_.insert(work_.end(), {n.b, n.c});
      else find_constant(v, a, b, bytes);
      const std::span<const Value> children = values_.children(n);
      if (!children.empty()) work_.insert(work_.end(), children.begin(), children.end());
    }
  }
}

void MaybeUndefinedName::find_constant(Value c, Value a, Value b, unsigned bytes) {
  const Values::Node n = values_[c];  // a copy: the values grow meanwhile
  const bool is_byte = n.kind == ValueKind::Byte && values_[n.a].kind == ValueKind::Constant;
  if ((n.kind == ValueKind::Constant || is_byte) && satisfy(c, c, a, b, bytes))
    found_.push_back(meet_(c, c, Meet::Mode::NumberMaybeUndefined, !is_byte));
}

// If the values were too entangled to find all that satisfies the name, later answers about the name are undecided.
Value MaybeUndefinedName::one_of_found() {
  if (std::exchange(is_unsure_, false)) found_.push_back(values_.unknown_member());
  return found_.empty() ? kUnsatisfiable : values_.one_of(std::exchange(found_, {}));
}

}  // namespace regduel::oracles::symbolic
