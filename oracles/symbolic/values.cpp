// Hash-consed values with their reductions; see values.h. Tested by values_test.cpp.

#include "oracles/symbolic/values.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace regduel::oracles {

Values::Values() : table_(1024, kBottom) {
  push({ValueKind::Bottom, kAllBytes, kUndefined, 0, 0, 0, 0}, {leaf_bit(kBottom), 0});
  push({ValueKind::Top, 0, kMaybeUndefined, 0, 0, 0, 0}, {~std::uint64_t{0}, 0});
  push({ValueKind::Opaque, 0, 0, 0, 0, 0, 0}, Leaves::of_leaf(kUnsatisfiable));
}

Value Values::push(const Node& n, Leaves leaves) {
  nodes_.push_back(n);
  leaves_.push_back(leaves);
  return static_cast<Value>(nodes_.size() - 1);
}

std::span<const Value> Values::children(const Node& n) const {
  const std::uint32_t count = n.kind == ValueKind::Word     ? 4
                              : n.kind == ValueKind::Packed ? 8
                              : n.kind == ValueKind::OneOf  ? n.b
                                                            : 0;
  return {kids_.data() + (count == 0 ? 0 : n.a), count};
}

Value Values::add_leaves(ValueKind kind, std::uint32_t a, std::uint32_t count, bool undefined) {
  const auto first = static_cast<Value>(nodes_.size());
  const Node leaf = {kind, 0, undefined ? kUndefined : std::uint8_t{0}, 0, a, 0, 0};
  for (std::uint32_t k = 0; k < count; ++k) push(leaf, Leaves::of_leaf(nodes_.size()));
  return first;
}

Value Values::add_leaves_of_bytes(ValueKind kind, std::uint32_t a, std::uint32_t size) {
  const Value first = add_leaves(kind, a, (size + 3) / 4);
  if (size % 4 != 0) nodes_.back().vague = static_cast<std::uint8_t>(kAllBytes << size % 4 & kAllBytes);
  return first;
}

bool Values::is_same(const Node& x, const Node& n, std::span<const Value> kids) const {
  if (x.kind != n.kind || x.b != n.b || x.c != n.c) return false;
  if (kids.empty()) return x.a == n.a;
  const auto own = children(x);
  return std::equal(own.begin(), own.end(), kids.begin(), kids.end());
}

// One multiplication for each number spreads it upwards; the high bits are folded down at the end.
std::uint64_t Values::hash_of(const Node& n, std::span<const Value> kids) {
  const auto add = [](std::uint64_t hash, std::uint64_t number) { return (hash ^ number) * 0x9E3779B97F4A7C15u; };
  const auto fold = [add](std::uint64_t hash, std::uint64_t number) { return add(hash ^ hash >> 32, number); };
  const std::uint64_t first = add(static_cast<std::uint64_t>(n.kind) + 1, static_cast<std::uint64_t>(n.b) << 32 | n.c);
  const std::uint64_t hash = kids.empty() ? fold(first, n.a) : std::accumulate(kids.begin(), kids.end(), first, fold);
  return hash ^ hash >> 32;
}

Value Values::intern(Node n, std::span<const Value> kids) {
  std::size_t i = hash_of(n, kids) & (table_.size() - 1);
  for (; table_[i] != kBottom; i = (i + 1) & (table_.size() - 1))
    if (is_same(nodes_[table_[i]], n, kids)) return table_[i];
  if (!kids.empty()) {
    n.a = static_cast<std::uint32_t>(kids_.size());
    kids_.insert(kids_.end(), kids.begin(), kids.end());
  }
  const Value id = push(n, leaves_of(n, static_cast<Value>(nodes_.size())));
  table_[i] = id;
  if (++interned_ * 2 > table_.size()) grow();
  return id;
}

Values::Leaves Values::leaves_of(const Node& n, Value id) const {
  const auto both = [&](Leaves x, Leaves y) { return Leaves{x.in | y.in, x.asked | y.asked}; };
  if (n.kind == ValueKind::Gate) return both(leaves_[n.b], leaves_[n.c]);
  if (n.kind == ValueKind::Byte || n.kind == ValueKind::Bit) return leaves_[n.a];
  if (n.kind == ValueKind::Seen) return {leaves_[n.a].in, 0};
  const auto parts = children(n);
  if (parts.empty()) return Leaves::of_leaf(id);
  Leaves all;
  for (const Value v : parts) all = both(all, leaves_[v]);
  if (n.kind != ValueKind::OneOf || parts.size() == 1) return all;
  // Each byte and each guard outcome may be satisfied by a different member. If only one member has gates or words, its
  // requirements hold for the whole set.
  const auto has_cases = [&](Value v) { return (nodes_[v].flags & (kGated | kWords)) != 0; };
  all.asked = std::ranges::count_if(parts, has_cases) > 1 ? 0 : ~std::uint64_t{0};
  for (const Value v : parts) all.asked &= leaves_[v].asked;
  return all;
}

void Values::grow() {
  std::vector<Value> old(table_.size() * 2, kBottom);
  old.swap(table_);
  for (const Value v : old) {
    if (v == kBottom) continue;
    std::size_t i = hash_of(nodes_[v], children(nodes_[v])) & (table_.size() - 1);
    while (table_[i] != kBottom) i = (i + 1) & (table_.size() - 1);
    table_[i] = v;
  }
}

Value Values::byte(Value w, std::uint32_t i) {
  if (w == kBottom || w == kTop) return w;
  if (nodes_[w].kind == ValueKind::Word) return kids_[nodes_[w].a + i];
  const std::uint32_t first = first_byte(w);
  return has_bytes_apart(w) ? kids_[first + i] : first + i;
}

std::array<Value, 4> Values::bytes(Value w) {
  if (w == kBottom || w == kTop) return {w, w, w, w};
  const bool is_word = nodes_[w].kind == ValueKind::Word;
  const std::uint32_t first = is_word ? nodes_[w].a : first_byte(w);
  if (is_word || has_bytes_apart(w)) return {kids_[first], kids_[first + 1], kids_[first + 2], kids_[first + 3]};
  return {first, first + 1, first + 2, first + 3};
}

// All four bytes are made at once.
std::uint32_t Values::first_byte(Value w) {
  if (bytes_of_.size() <= w) bytes_of_.resize(nodes_.size() + nodes_.size() / 2, kNoBytes);
  if (bytes_of_[w] != kNoBytes) return bytes_of_[w];
  const Node n = nodes_[w];
  std::uint32_t first = 0;
  if (has_bytes_apart(w)) {
    std::array<Value, 4> bytes{};
    for (std::uint32_t i = 0; i < 4; ++i) bytes[i] = n.kind == ValueKind::Gate ? byte_of_gate(n, i) : byte_of_set(n, i);
    first = static_cast<std::uint32_t>(kids_.size());
    kids_.insert(kids_.end(), bytes.begin(), bytes.end());
  } else {
    first = static_cast<std::uint32_t>(nodes_.size());
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint8_t vague = (n.vague >> k & 1) != 0 ? kAllBytes : 0;
      push({ValueKind::Byte, vague, n.flags, n.depth, w, k, 0}, leaves_[w]);
    }
  }
  return bytes_of_[w] = first;
}

Value Values::byte_of_gate(const Node& n, std::uint32_t i) {
  const Value x = byte(n.b, i), y = byte(n.c, i);
  return gate(n.a, x, y);
}

Value Values::byte_of_set(const Node& n, std::uint32_t i) {
  if (n.b == 1) {
    std::array<Value, 1> member = {byte(kids_[n.a], i)};
    return one_of(std::span(member));
  }
  std::vector<Value> members;
  for (std::uint32_t k = 0; k < n.b; ++k) members.push_back(byte(kids_[n.a + k], i));
  return one_of(std::span(members));
}

Value Values::bit(Value b, std::uint32_t k) {
  const Node n = nodes_[b];
  switch (n.kind) {
    case ValueKind::Bottom:
    case ValueKind::Top: return b;
    case ValueKind::Packed: return kids_[n.a + k];
    case ValueKind::Gate: {
      if (const Value v = known(Question::Bit, b, k, kBottom); v != kUnknown) return v;
      const Value x = bit(n.b, k), y = bit(n.c, k);
      return learn(Question::Bit, b, k, kBottom, gate(n.a, x, y));
    }
    case ValueKind::Bit:
    case ValueKind::OneOf: return kBottom;  // packs are not made of bits of bits
    default: break;
  }
  return intern({ValueKind::Bit, n.vague, n.flags, n.depth, b, k, 0}, {});
}

Value Values::word(const std::array<Value, 4>& bytes) {
  const Node first = nodes_[bytes[0]];
  const auto all = [&](auto&& is) {
    for (std::uint32_t i = 0; i < 4; ++i)
      if (!is(bytes[i], nodes_[bytes[i]], i)) return false;
    return true;
  };
  if ((bytes[0] == kBottom || bytes[0] == kTop) && all([&](Value v, const Node&, std::uint32_t) { return v == bytes[0]; }))
    return bytes[0];
  if (first.kind == ValueKind::Byte &&
      all([&](Value, const Node& n, std::uint32_t i) { return n.kind == ValueKind::Byte && n.a == first.a && n.b == i; }))
    return first.a;
  if (first.kind == ValueKind::Gate &&
      all([&](Value, const Node& n, std::uint32_t) { return n.kind == ValueKind::Gate && n.a == first.a; })) {
    std::array<Value, 4> yes{}, no{};
    for (std::size_t i = 0; i < 4; ++i) {
      yes[i] = nodes_[bytes[i]].b;
      no[i] = nodes_[bytes[i]].c;
    }
    const Value x = word(yes), y = word(no);
    if (nodes_[x].kind != ValueKind::Word && nodes_[y].kind != ValueKind::Word) return gate(first.a, x, y);
  }
  Node n{ValueKind::Word, 0, kWords, 0, 0, 0, 0};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Node& b = nodes_[bytes[i]];
    n.vague |= static_cast<std::uint8_t>(b.vague & 1u << i);
    n.flags |= b.flags;
    n.depth = std::max(n.depth, b.depth);
  }
  return intern(n, bytes);
}

Value Values::packed(const std::array<Value, 8>& given) {
  std::array<Value, 8> bits = given;
  for (Value& b : bits)
    if (has_packs(b) || nodes_[b].kind == ValueKind::Word || nodes_[b].kind == ValueKind::OneOf) b = kBottom;
  if (std::all_of(bits.begin(), bits.end(), [](Value v) { return v == kBottom; })) return kBottom;
  const Node first = nodes_[bits[0]];
  if (first.kind == ValueKind::Bit) {
    bool same = true;
    for (std::uint32_t k = 0; k < 8; ++k) {
      const Node& n = nodes_[bits[k]];
      same = same && n.kind == ValueKind::Bit && n.a == first.a && n.b == k;
    }
    if (same) return first.a;
  }
  Node n{ValueKind::Packed, 0, kPacks, 0, 0, 0, 0};
  for (const Value b : bits) {
    n.vague |= nodes_[b].vague;
    n.flags |= nodes_[b].flags;
    n.depth = std::max(n.depth, nodes_[b].depth);
  }
  return intern(n, bits);
}

// Gates form a decision diagram with the largest token on top (Bryant, "Graph-Based Algorithms for Boolean Function Manipulation",
// 1986): the same choice between the same values has one number, in whatever order the guards came. Tokens of later instructions
// are larger, so a new guard mostly goes on top and no gate is rebuilt.
Value Values::gate(Value token, Value x, Value y) {
  if (x == y) return x;
  // A member of a set may be a gate with the same token.
  if (has_gates_in_sets(x)) x = where(x, token, true);
  if (has_gates_in_sets(y)) y = where(y, token, false);
  if (nodes_[x].kind != ValueKind::Word && nodes_[y].kind != ValueKind::Word) {
    int budget = kBudget;
    return choose(token, x, y, budget);
  }
  std::array<Value, 4> bytes{};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Value left = byte(x, i), right = byte(y, i);
    bytes[i] = gate(token, left, right);
  }
  return word(bytes);
}

Values::Answer& Values::answer(Question q, Value x, Value y, Value z) {
  if (answers_.empty()) answers_.resize(kAnswers);
  const std::uint64_t key = hash_combine(static_cast<std::uint64_t>(q) << 32 | z, static_cast<std::uint64_t>(x) << 32 | y);
  return answers_[key % kAnswers];
}

Value Values::known(Question q, Value x, Value y, Value z) {
  const Answer& a = answer(q, x, y, z);
  return a.question == q && a.x == x && a.y == y && a.z == z ? a.result : kUnknown;
}

Value Values::learn(Question q, Value x, Value y, Value z, Value result) {
  answer(q, x, y, z) = {q, x, y, z, result};
  return result;
}

Value Values::choose(Value token, Value x, Value y, int& budget) {
  if (x == y) return x;
  const Value top = std::max({token, token_of(x), token_of(y)});
  if (top == token) return decide(token, when(x, token, true), when(y, token, false));
  if (const Value v = known(Question::Choose, token, x, y); v != kUnknown) return v;
  if (--budget < 0) return intern(cut(token, x, y), {});
  const Value yes = choose(token, when(x, top, true), when(y, top, true), budget);
  return learn(Question::Choose, token, x, y, decide(top, yes, choose(token, when(x, top, false), when(y, top, false), budget)));
}

std::uint8_t Values::flags_of_gate(Value token, Value x, Value y) const {
  return static_cast<std::uint8_t>(nodes_[x].flags | nodes_[y].flags | (nodes_[token].flags & (kUndefined | kCut)));
}

Values::Node Values::cut(Value token, Value x, Value y) const {
  const auto flags = static_cast<std::uint8_t>((flags_of_gate(token, x, y) & ~(kGated | kPacks | kGatesInSets)) | kCut);
  return {ValueKind::CutGate, vague_of_gate(token, x, y), flags, 0, token, x, y};
}

// The same value with at most `levels` levels of gates: each gate below them becomes a leaf.
Value Values::without_oldest(Value v, int levels, int& budget) {
  const Node n = nodes_[v];
  if (n.depth <= levels) return v;
  if (levels == 0 || n.kind != ValueKind::Gate || --budget < 0) {
    const auto flags = static_cast<std::uint8_t>((n.flags & ~(kGated | kPacks | kWords | kGatesInSets)) | kCut);
    return intern({ValueKind::CutGate, n.vague, flags, 0, v, 0, 0}, {});
  }
  const Value x = without_oldest(n.b, levels - 1, budget);
  return decide(n.a, x, without_oldest(n.c, levels - 1, budget));
}

// Requires: the tokens in x and y are smaller.
Value Values::decide(Value token, Value x, Value y) {
  if (x == y) return x;
  if (std::max(nodes_[x].depth, nodes_[y].depth) == kMaxDepth) {
    int budget = kBudget;
    const Value left = without_oldest(x, kMaxDepth / 2, budget);
    return decide(token, left, without_oldest(y, kMaxDepth / 2, budget));
  }
  const auto depth = static_cast<std::uint8_t>(std::max(nodes_[x].depth, nodes_[y].depth) + 1);
  const auto flags = static_cast<std::uint8_t>(flags_of_gate(token, x, y) | kGated);
  return intern({ValueKind::Gate, vague_of_gate(token, x, y), flags, depth, token, x, y}, {});
}

Value Values::token_of_members(Value v) const {
  if (nodes_[v].kind != ValueKind::OneOf || !has_gates_in_sets(v)) return kBottom;
  Value top = kBottom;
  for (const Value m : children(nodes_[v])) top = std::max(top, token_of(m));
  return top;
}

Value Values::when(Value v, Value token, bool holds) const {
  if (token_of(v) != token) return v;
  return holds ? nodes_[v].b : nodes_[v].c;
}

Value Values::one_of(std::vector<Value> members) { return one_of(std::span(members)); }

Value Values::one_of(std::span<Value> members) {
  std::sort(members.begin(), members.end());
  members = members.first(static_cast<std::size_t>(std::unique(members.begin(), members.end()) - members.begin()));
  if (members[0] == kTop || (members.size() > 1 && members[1] == kTop)) return kTop;
  if (members.size() > 1) return set_of(members);
  if (singles_.size() <= members[0]) singles_.resize(nodes_.size() + nodes_.size() / 2, kBottom);
  const Value single = singles_[members[0]] != kBottom ? singles_[members[0]] : set_of(members);
  return singles_[members[0]] = single;
}

Value Values::set_of(std::span<const Value> members) {
  Node n{ValueKind::OneOf, 0, kMaybeUndefined, 0, 0, static_cast<std::uint32_t>(members.size()), 0};
  for (const Value m : members) {
    n.vague |= nodes_[m].vague;
    n.flags |= nodes_[m].flags;
    n.depth = std::max(n.depth, nodes_[m].depth);
  }
  if ((n.flags & kGated) != 0) n.flags |= kGatesInSets;
  return intern(n, members);
}

Value Values::unknown_member() { return intern({ValueKind::CutGate, 0, kCut, 0, kUnsatisfiable, 0, 0}, {}); }

Value Values::seen(Value held, Value leaf) {
  const Node n = nodes_[held];
  if (held == kBottom) return leaf;
  if (!is_vague(held)) return held;
  if (n.kind == ValueKind::Gate) {
    if (const Value v = known(Question::Seen, held, leaf, kBottom); v != kUnknown) return v;
    const Value x = seen(n.b, leaf), y = seen(n.c, leaf);
    return learn(Question::Seen, held, leaf, kBottom, gate(n.a, x, y));
  }
  return intern({ValueKind::Seen, 0, static_cast<std::uint8_t>(n.flags | kSeen), n.depth, held, leaf, 0}, {});
}

Value Values::seen_pack(Value held, Value leaf) {
  std::array<Value, 4> apart = bytes(held);
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (nodes_[apart[i]].kind != ValueKind::Packed) continue;
    std::array<Value, 8> bits{};
    for (std::uint32_t k = 0; k < 8; ++k) {
      bits[k] = bit(apart[i], k);
      if (bits[k] != kBottom) bits[k] = seen(bits[k], bit(byte(leaf, i), k));
    }
    apart[i] = packed(bits);
  }
  return word(apart);
}

Value Values::asked_by(Value held) {
  const Node n = nodes_[held];
  if (held == kBottom) return kTop;
  if (!is_vague(held)) return held;
  if (n.kind == ValueKind::Gate) {
    if (const Value v = known(Question::AskedBy, held, kBottom, kBottom); v != kUnknown) return v;
    const Value x = asked_by(n.b), y = asked_by(n.c);
    return learn(Question::AskedBy, held, kBottom, kBottom, gate(n.a, x, y));
  }
  if (n.kind != ValueKind::Word) return held;
  std::array<Value, 4> bytes{};
  for (std::uint32_t i = 0; i < 4; ++i) bytes[i] = asked_by(kids_[n.a + i]);
  return word(bytes);
}

bool Values::goes_by(Value v, Value token, int& budget) {
  const Node n = nodes_[v];
  if ((n.flags & kGated) == 0 || --budget < 0) return false;
  if (n.kind == ValueKind::Gate) {
    if (n.a == token) return true;
    if (n.a < token && !has_gates_in_sets(v)) return false;
    if (const Value known_v = known(Question::GoesBy, v, token, kBottom); known_v != kUnknown) return known_v == kYes;
    const bool does = goes_by(n.b, token, budget) || goes_by(n.c, token, budget);
    if (budget >= 0) learn(Question::GoesBy, v, token, kBottom, does ? kYes : kNo);
    return does;
  }
  // The bits of a pack are looked at one by one.
  return n.kind != ValueKind::Packed &&
         std::ranges::any_of(children(n), [&](Value child) { return goes_by(child, token, budget); });
}

Value Values::where(Value v, Value token, bool holds) {
  int budget = kBudget;
  const Value restricted = restrict_to(v, token, holds, budget);
  return budget >= 0 ? restricted : push({ValueKind::Opaque, 0, kCut, 0, 0, 0, 0}, Leaves::of_leaf(nodes_.size()));
}

Value Values::restrict_to(Value v, Value token, bool holds, int& budget) {
  const Node n = nodes_[v];
  if ((n.flags & kGated) == 0 || --budget < 0) return v;
  const Question q = holds ? Question::WhereTrue : Question::WhereFalse;
  switch (n.kind) {
    case ValueKind::Gate: {
      // The members of a set have an order of their own.
      if (n.a == token) {
        const Value chosen = when(v, token, holds);
        return has_gates_in_sets(chosen) ? restrict_to(chosen, token, holds, budget) : chosen;
      }
      if (n.a < token && !has_gates_in_sets(v)) return v;
      if (const Value known_v = known(q, v, token, kBottom); known_v != kUnknown) return known_v;
      const Value x = restrict_to(n.b, token, holds, budget);
      const Value restricted = decide(n.a, x, restrict_to(n.c, token, holds, budget));
      return budget < 0 ? restricted : learn(q, v, token, kBottom, restricted);
    }
    case ValueKind::Word: {
      std::array<Value, 4> bytes{};
      for (std::uint32_t i = 0; i < 4; ++i) bytes[i] = restrict_to(kids_[n.a + i], token, holds, budget);
      return word(bytes);
    }
    case ValueKind::OneOf: {
      std::vector<Value> members;
      for (std::uint32_t k = 0; k < n.b; ++k) members.push_back(restrict_to(kids_[n.a + k], token, holds, budget));
      return one_of(std::move(members));
    }
    default: break;
  }
  return v;
}

bool Values::satisfies(Value have, Value want) {
  if (have == want || want == kTop) return true;
  is_unsure_ = false;
  if (is_settled(have) && is_settled(want)) {
    is_unsure_ = is_cut(have) || is_cut(want);
    return false;
  }
  int budget = kBudget;
  const bool does = satisfies_within(have, want, budget);
  is_unsure_ = is_unsure_ || budget < 0;
  return does;
}

bool Values::satisfies_within(Value have, Value want, int& budget) {
  while (nodes_[want].kind == ValueKind::OneOf && nodes_[want].b == 1) want = kids_[nodes_[want].a];
  if (have == want || want == kTop) return true;
  if (!may_satisfy(have, want)) return false;
  if (--budget < 0) return false;
  const Node h = nodes_[have], w = nodes_[want];
  if (const Value top = std::max({token_of(have), token_of(want), token_of_members(want)}); top != kBottom) {
    if (const Value v = known(Question::Satisfies, have, want, kBottom); v != kUnknown) return v == kYes;
    bool does = true;
    for (const bool holds : {true, false})
      does = does && satisfies_within(restrict_to(have, top, holds, budget), restrict_to(want, top, holds, budget), budget);
    if (does || (budget >= 0 && !is_unsure_)) learn(Question::Satisfies, have, want, kBottom, does ? kYes : kNo);
    return does;
  }
  if (w.kind == ValueKind::Word || h.kind == ValueKind::Word) {
    for (std::uint32_t i = 0; i < 4; ++i)
      if (!satisfies_within(byte(have, i), byte(want, i), budget)) return false;
    return true;
  }
  if (w.kind != ValueKind::OneOf) {
    if (h.kind == ValueKind::Seen) return satisfies_within(h.a, want, budget);
    if (h.kind == ValueKind::Packed && (h.flags & kSeen) != 0) {
      for (std::uint32_t k = 0; k < 8; ++k)
        if (!satisfies_within(bit(have, k), bit(want, k), budget)) return false;
      return true;
    }
    is_unsure_ = is_unsure_ || is_cut(have) || is_cut(want);
    return false;
  }
  for (std::uint32_t k = 0; k < w.b; ++k)
    if (satisfies_within(have, kids_[w.a + k], budget)) return true;
  return false;
}

bool Values::satisfies_bytes(Value have, Value want, unsigned bytes) {
  if (have == want || want == kTop) return true;
  if (bytes == 0xF) return satisfies(have, want);
  for (std::uint32_t i = 0; i < 4; ++i)
    if ((bytes >> i & 1) != 0 && !satisfies(byte(have, i), byte(want, i))) return false;
  return true;
}

}  // namespace regduel::oracles
