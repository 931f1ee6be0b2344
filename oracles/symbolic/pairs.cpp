// Chains of pairs by value; see pairs.h. Tested by pairs_test.cpp.

#include "oracles/symbolic/pairs.h"

#include <algorithm>

namespace regduel::oracles::symbolic {

void PairList::clear() {
  pairs_.clear();
  left_.next.clear();
  right_.next.clear();
  ++epoch_;
}

void PairList::add(const Values& values, Value a, Value b) {
  pairs_.emplace_back(a, b);
  put(values, left_, a);
  put(values, right_, b);
}

void PairList::put(const Values& values, Side& side, Value v) const {
  const Value under = values.is_plain(v) ? v : kJunk;
  side.next.push_back(v == kJunk ? kNone : first(side, under));
  if (v == kJunk) return;
  if (side.heads.size() <= under) side.heads.resize(under + under / 2 + 1);
  side.heads[under] = {epoch_, static_cast<std::uint32_t>(side.next.size() - 1)};
}

std::uint32_t PairList::first(const Side& side, Value under) const {
  return under < side.heads.size() && side.heads[under].epoch == epoch_ ? side.heads[under].pair : kNone;
}

bool PairList::is_listed(const Values& values, Value want, bool in_part) {
  const auto is_one = [&](Value v) { return values.is_plain(v) || (!in_part && v != kJunk && values.is_settled(v)); };
  const Values::Node& n = values[want];
  const auto members = values.children(n);
  return n.kind == ValueKind::OneOf ? std::all_of(members.begin(), members.end(), is_one) : is_one(want);
}

}  // namespace regduel::oracles::symbolic
