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
  put(left_, values.is_plain(a) ? a : kJunk);
  put(right_, values.is_plain(b) ? b : kJunk);
}

void PairList::put(Side& side, Value under) const {
  side.next.push_back(first(side, under));
  if (side.heads.size() <= under) side.heads.resize(under + under / 2 + 1);
  side.heads[under] = {epoch_, static_cast<std::uint32_t>(side.next.size() - 1)};
}

std::uint32_t PairList::first(const Side& side, Value under) const {
  return under < side.heads.size() && side.heads[under].epoch == epoch_ ? side.heads[under].pair : kNone;
}

bool PairList::is_listed(const Values& values, Value want) {
  const Values::Node& n = values[want];
  const auto members = values.children(n);
  return values.is_plain(want) ||
         (n.kind == ValueKind::OneOf && std::all_of(members.begin(), members.end(), [&](Value v) { return values.is_plain(v); }));
}

}  // namespace regduel::oracles::symbolic
