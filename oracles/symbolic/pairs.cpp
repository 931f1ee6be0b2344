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
  const auto pair = static_cast<std::uint32_t>(side.next.size());
  side.next.push_back(kNone);
  if (v == kJunk) return;
  if (side.heads.size() < 2 * side.next.size()) make_room(side);
  const Value under = values.is_plain(v) ? v : kJunk;
  Side::Head& head = side.heads[head_of(side, under)];
  if (head.epoch == epoch_) side.next[pair] = head.pair;
  head = {under, epoch_, pair};
}

std::uint32_t PairList::first(const Side& side, Value under) const {
  if (side.heads.empty()) return kNone;
  const Side::Head& head = side.heads[head_of(side, under)];
  return head.epoch == epoch_ ? head.pair : kNone;
}

// The head of the value, or the free one where it belongs.
std::size_t PairList::head_of(const Side& side, Value under) const {
  const std::size_t last = side.heads.size() - 1;
  std::size_t i = (under * std::uint64_t{0x9E3779B97F4A7C15} >> 32) & last;
  while (side.heads[i].epoch == epoch_ && side.heads[i].value != under) i = (i + 1) & last;
  return i;
}

void PairList::make_room(Side& side) const {
  std::vector<Side::Head> old(std::max<std::size_t>(64, 2 * side.heads.size()));
  old.swap(side.heads);
  for (const Side::Head& head : old)
    if (head.epoch == epoch_) side.heads[head_of(side, head.value)] = head;
}

bool PairList::is_listed(const Values& values, Value want, bool in_part) {
  const auto is_one = [&](Value v) { return values.is_plain(v) || (!in_part && v != kJunk && values.is_settled(v)); };
  const Values::Node& n = values[want];
  const auto members = values.children(n);
  return n.kind == ValueKind::OneOf ? std::all_of(members.begin(), members.end(), is_one) : is_one(want);
}

}  // namespace regduel::oracles::symbolic
