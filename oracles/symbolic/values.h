// Values of the symbolic judge: what a location holds, and what a name (four bytes of a root vreg) asks for, as numbers.
//
// Equal numbers mean equal contents in every execution that gets there. Numbers exist at three widths, which never mix: words of
// four bytes, bytes (a predicate is a byte), bits of a predicate pack.
//
// Lattice words:
//
//   Bottom               of a location: nothing known                            satisfies no name but Top
//   Top                  of a name: undefined on every path so far               each location satisfies it
//   Unsatisfiable        of a name: no location satisfies it
//
// Leaves, which are told apart and nothing more: Def, Constant, Saved, Merged, Opaque. Expressions:
//
//   Byte(w, i)           byte i of word w               Word(b0 ... b3)          a word put together
//   Bit(b, k)            bit k of byte b                Packed(c0 ... c7)        a byte of a pack, put together
//   Gate(t, x, y)        x if the predicate value t is true, else y
//   OneOf{...}           a name that any member satisfies (after a join, if it is undefined on one side); Top if a member is Top
//   Seen(v, leaf)        v as one place held it at one time: the pieces of v that are Bottom on some path are pieces of the leaf
//
// A name that may be undefined contains Top or OneOf; a location may contain Bottom. Expressions are reduced when they are built, so
// that taking a value apart and putting it together gives its old number:
//
//   Word(Byte(w,0) ... Byte(w,3)) = w    Byte(Word(b...), i) = b_i    Gate(t, x, x) = x    Gate(t, Gate(t,a,b), y) = Gate(t, a, y)
//
// Gates are ordered by their tokens, and stand inside a Word, never around it.
//
// Cost: a constant number of table look-ups for each operation. If gates nest deeper than kMaxDepth, the innermost ones, which are
// the oldest, become leaves ("cut"). Tested by values_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel::oracles {

using Value = std::uint32_t;
inline constexpr Value kBottom = 0;
inline constexpr Value kTop = 1;
inline constexpr Value kUnsatisfiable = 2;

enum class ValueKind : std::uint8_t {
  Bottom,
  Top,
  Def,
  Constant,
  Saved,
  Merged,
  Opaque,
  Byte,
  Bit,
  Word,
  Packed,
  Gate,
  CutGate,
  OneOf,
  Seen
};

class Values {
 public:
  static constexpr int kMaxDepth = 254;

  struct Node {
    ValueKind kind = ValueKind::Bottom;
    std::uint8_t vague = 0;  // bytes that are Bottom on some path, a bit each; of a byte or a bit, all or none
    std::uint8_t flags = 0;
    std::uint8_t depth = 0;  // gates on top of one another
    std::uint32_t a = 0;     // Def, Constant: instruction. Merged: block. Saved: location. Byte, Bit: source. Gate: token.
                             // Word, Packed, OneOf: first child. Seen: what satisfies, and is never a gate
    std::uint32_t b = 0;     // Byte, Bit: position. Gate: value if true. OneOf: how many. Seen: leaf
    std::uint32_t c = 0;     // Gate: value if false
  };

  Values();

  [[nodiscard]] const Node& operator[](Value v) const { return nodes_[v]; }
  [[nodiscard]] std::span<const Value> children(const Node& n) const;  // of Word, Packed, OneOf
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  // `count` leaves with consecutive numbers.
  Value add_leaves(ValueKind kind, std::uint32_t a, std::uint32_t count = 1, bool is_undefined = false);
  // Leaves for `size` bytes. The bytes of the last leaf beyond `size` are vague.
  Value add_leaves_of_bytes(ValueKind kind, std::uint32_t a, std::uint32_t size);
  // The leaf is as vague, and as much cut, as the two values together.
  Value add_leaf(ValueKind kind, std::uint32_t a, bool is_undefined, Value one, Value other) {
    const Node &x = nodes_[one], &y = nodes_[other];
    const auto flags = static_cast<std::uint8_t>((is_undefined ? kUndefined : 0) | ((x.flags | y.flags) & kCut));
    return push({kind, vague_in(x, y), flags, 0, a, 0, 0}, Leaves::of_leaf(nodes_.size()));
  }

  [[nodiscard]] Value byte(Value word, std::uint32_t i);
  [[nodiscard]] std::array<Value, 4> bytes(Value word);
  [[nodiscard]] Value bit(Value byte, std::uint32_t k);
  [[nodiscard]] Value word(const std::array<Value, 4>& bytes);
  [[nodiscard]] Value packed(const std::array<Value, 8>& bits);
  [[nodiscard]] Value gate(Value token, Value if_true, Value if_false);
  [[nodiscard]] Value one_of(std::vector<Value> members);  // at least one
  [[nodiscard]] Value one_of(std::span<Value> members);    // the same; the order of members changes
  // The leaf for what an operand finds in a cell by chance: the same leaf each time.
  [[nodiscard]] Value opaque(std::uint32_t operand, std::uint32_t cell) {
    return intern({ValueKind::Opaque, 0, 0, 0, operand, cell, 0}, {});
  }
  // A cut member that no location is seen to satisfy. It stands in a set whose members could not all be found.
  [[nodiscard]] Value unknown_member();
  // Some gate in `v` goes by the token, so that `v` differs between the two outcomes of the token. Bits of packs do not count.
  [[nodiscard]] bool goes_by(Value v, Value token) {
    int budget = kBudget;
    return goes_by(v, token, budget);
  }
  // `v` under the outcome that `token` is true, or false.
  [[nodiscard]] Value where(Value v, Value token, bool holds);

  // The byte of a predicate as it is seen now, also under gates: no longer vague. Bottom is `leaf` itself.
  [[nodiscard]] Value seen(Value held, Value leaf);
  // The same for the word of a pack: each vague bit becomes its own bit of the leaf; a bit that holds Bottom stays Bottom.
  [[nodiscard]] Value seen_pack(Value word, Value leaf);
  [[nodiscard]] bool is_vague_pack(Value word) const { return is_vague(word) && has_packs(word); }
  // The name that such a location satisfies: it asks for nothing under outcomes in which the location holds Bottom.
  [[nodiscard]] Value asked_by(Value held);

  // True if a location that holds `have` satisfies the name. The answer may be false although the location does, if the values are
  // too entangled.
  [[nodiscard]] bool satisfies(Value have, Value want);
  // The same of the bytes i of a word for which bit i of `bytes` is set.
  [[nodiscard]] bool satisfies_bytes(Value have, Value want, unsigned bytes);
  // A quick test: false only if satisfies() is false. Each leaf of `have` is reached under some outcome of the gates, and the name
  // must ask for it there; each leaf that the name asks for alone is reached under some outcome, and the location must hold it
  // there.
  [[nodiscard]] bool may_satisfy(Value have, Value want) const {
    const Leaves &held = leaves_[have], &wanted = leaves_[want];
    return ((held.in & ~wanted.in) | (wanted.asked & ~held.in)) == 0 || is_cut(have) || is_cut(want);
  }
  // A bit for each leaf in `v`, shared with other leaves; all bits if Top is a leaf of `v`.
  [[nodiscard]] std::uint64_t leaves(Value v) const { return leaves_[v].in; }
  // The subset of leaves() that each location which satisfies the name contains, unless it is cut.
  [[nodiscard]] std::uint64_t asked_leaves(Value v) const { return leaves_[v].asked; }
  // The name asks for nothing: every location satisfies it, also one that holds Bottom.
  [[nodiscard]] bool asks_for_nothing(Value want) { return want == kTop || (may_be_undefined(want) && satisfies(kBottom, want)); }
  // True if the last answer was no only because the values were too entangled.
  [[nodiscard]] bool is_unsure() const { return is_unsure_; }

  // Contains Top or OneOf.
  [[nodiscard]] bool may_be_undefined(Value v) const { return (nodes_[v].flags & kMaybeUndefined) != 0; }
  // Contains Bottom, or a leaf that is undefined on some path.
  [[nodiscard]] bool is_undefined(Value v) const { return (nodes_[v].flags & kUndefined) != 0; }
  [[nodiscard]] bool is_gated(Value v) const { return (nodes_[v].flags & kGated) != 0; }
  // Contains Bottom on some path: two places that hold the value may differ on that path.
  [[nodiscard]] bool is_vague(Value v) const { return nodes_[v].vague != 0; }
  // The vague bytes, a bit each; of a value that is a byte itself, all or none.
  [[nodiscard]] std::uint8_t vague_bytes(Value v) const { return nodes_[v].vague; }
  // Of two values, in what add_leaf() inherits.
  [[nodiscard]] bool inherits(Value v, Value one, Value other) const {
    const Node &x = nodes_[one], &y = nodes_[other];
    return ((nodes_[v].flags ^ (x.flags | y.flags)) & kCut) == 0 && nodes_[v].vague == vague_in(x, y);
  }
  // A part of the value is cut: satisfies() may say no of it although a location satisfies the name.
  [[nodiscard]] bool is_cut(Value v) const { return (nodes_[v].flags & kCut) != 0; }
  // Contains Packed, perhaps under gates: a bit of a pack that was written under a guard makes the byte a gate between two packs.
  [[nodiscard]] bool has_packs(Value v) const { return (nodes_[v].flags & kPacks) != 0; }
  // A word that is not put together, Bottom included: its bytes are its own.
  [[nodiscard]] bool is_leaf(Value v) const { return nodes_[v].kind != ValueKind::Word && nodes_[v].kind != ValueKind::Gate; }
  // As a location, satisfies no plain name but itself and Top; as a name, is satisfied by no other plain location. Not true of
  // Bottom.
  [[nodiscard]] bool is_plain(Value v) const { return v != kBottom && nodes_[v].kind != ValueKind::Word && is_settled(v); }
  // Without gates and sets: of two such values, each satisfies itself alone.
  [[nodiscard]] bool is_settled(Value v) const { return (nodes_[v].flags & (kMaybeUndefined | kGated | kSeen)) == 0; }
  // A leaf, or a piece of one: as a word or byte it satisfies those names alone that are it, that are a set with it, or that are made of
  // pieces, gates or cut values. Not true of Bottom and Top.
  [[nodiscard]] bool is_told_apart(Value v) const {
    const ValueKind kind = nodes_[v].kind;
    return (is_atom(v) || kind == ValueKind::Byte || kind == ValueKind::Bit) && !is_cut(v) && is_settled(v);
  }
  // Unsatisfiable, or a byte of it.
  [[nodiscard]] bool is_unsatisfiable(Value v) const {
    return v == kUnsatisfiable || (nodes_[v].kind == ValueKind::Byte && nodes_[v].a == kUnsatisfiable);
  }
  // The same on every path: Bottom, Constant, Saved, and their bytes.
  [[nodiscard]] bool is_fixed(Value v) const {
    const Node& n = nodes_[v].kind == ValueKind::Byte ? nodes_[nodes_[v].a] : nodes_[v];
    return n.kind == ValueKind::Bottom || n.kind == ValueKind::Constant || n.kind == ValueKind::Saved;
  }
  // A leaf: neither Bottom nor Top, and no piece of another value.
  [[nodiscard]] bool is_atom(Value v) const { return nodes_[v].kind >= ValueKind::Def && nodes_[v].kind <= ValueKind::Opaque; }
  // Is a word that was put together, or has one as a choice.
  [[nodiscard]] bool has_words(Value v) const { return (nodes_[v].flags & kWords) != 0; }
  [[nodiscard]] int depth(Value v) const { return nodes_[v].depth; }
  // Of a gate; Bottom, which is no token, of anything else.
  [[nodiscard]] Value token_of(Value v) const { return nodes_[v].kind == ValueKind::Gate ? nodes_[v].a : kBottom; }

 private:
  static constexpr std::uint8_t kMaybeUndefined = 1, kUndefined = 2, kGated = 4, kPacks = 8, kWords = 16, kCut = 32,
                                kGatesInSets = 64, kSeen = 128;
  static constexpr std::uint8_t kAllBytes = 0xF;
  static constexpr int kBudget = 4096;  // values looked at by one question

  // Requires: a word that is neither Bottom nor Top nor put together. Its four bytes are the numbers from first_byte() on; of a
  // gate or a set, the children from there on.
  [[nodiscard]] std::uint32_t first_byte(Value w);
  [[nodiscard]] bool has_bytes_apart(Value w) const {
    return nodes_[w].kind == ValueKind::Gate || nodes_[w].kind == ValueKind::OneOf;
  }
  [[nodiscard]] Value byte_of_gate(const Node& n, std::uint32_t i);
  [[nodiscard]] Value byte_of_set(const Node& n, std::uint32_t i);
  struct Leaves {
    std::uint64_t in = 0, asked = 0;

    static Leaves of_leaf(std::size_t leaf) { return {leaf_bit(leaf), leaf_bit(leaf)}; }
  };
  // Requires: in ascending order, none twice, not Top.
  [[nodiscard]] Value set_of(std::span<const Value> members);
  // The next number.
  Value push(const Node& n, Leaves leaves);
  Value intern(Node n, std::span<const Value> kids);
  [[nodiscard]] bool is_same(const Node& x, const Node& n, std::span<const Value> kids) const;
  [[nodiscard]] static std::uint64_t hash_of(const Node& n, std::span<const Value> kids);
  [[nodiscard]] Leaves leaves_of(const Node& n, Value id) const;
  void grow();
  [[nodiscard]] Value choose(Value token, Value x, Value y, int& budget);
  [[nodiscard]] Value decide(Value token, Value x, Value y);
  template <class... Nodes>
  [[nodiscard]] static std::uint8_t vague_in(const Nodes&... nodes) {
    return static_cast<std::uint8_t>((nodes.vague | ...));
  }
  [[nodiscard]] std::uint8_t vague_of_gate(Value token, Value x, Value y) const {
    return nodes_[token].vague != 0 ? kAllBytes : vague_in(nodes_[x], nodes_[y]);
  }
  [[nodiscard]] std::uint8_t flags_of_gate(Value token, Value x, Value y) const;
  [[nodiscard]] Node cut(Value token, Value x, Value y) const;
  [[nodiscard]] Value without_oldest(Value v, int levels, int& budget);
  // Some OneOf in it has gates in it.
  [[nodiscard]] bool has_gates_in_sets(Value v) const { return (nodes_[v].flags & kGatesInSets) != 0; }
  [[nodiscard]] Value token_of_members(Value v) const;  // the largest one of a set's gates; Bottom where there is none
  [[nodiscard]] Value when(Value v, Value token, bool holds) const;
  bool goes_by(Value v, Value token, int& budget);
  Value restrict_to(Value v, Value token, bool holds, int& budget);
  bool satisfies_within(Value have, Value want, int& budget);

  [[nodiscard]] static std::uint64_t leaf_bit(std::size_t leaf) { return 1ull << (leaf * 0x9E3779B97F4A7C15u >> 58); }

  std::vector<Node> nodes_;
  std::vector<Leaves> leaves_;  // by value
  std::vector<Value> kids_;
  std::vector<Value> table_;  // open addressing; kBottom = free
  std::size_t interned_ = 0;
  bool is_unsure_ = false;
  std::vector<Value> singles_;  // by value: the set of it alone; Bottom = not made yet
  static constexpr std::uint32_t kNoBytes = ~0U;
  std::vector<std::uint32_t> bytes_of_;  // by value: first_byte(); kNoBytes = not made yet
  // A cache of recent answers, which stay true since values never change. Without it a walk over shared gates would take each path.
  enum class Question : std::uint8_t { None, Choose, WhereTrue, WhereFalse, Bit, Seen, AskedBy, Satisfies, GoesBy };
  struct Answer {
    Question question = Question::None;
    Value x = kBottom, y = kBottom, z = kBottom, result = kBottom;
  };
  static constexpr std::size_t kAnswers = 4096;
  // The slot of the answer to (x, y, z), which may hold the answer to another question. Valid until the next call.
  [[nodiscard]] Answer& answer(Question q, Value x, Value y, Value z);
  [[nodiscard]] Value known(Question q, Value x, Value y, Value z);  // kUnknown = not in the cache
  Value learn(Question q, Value x, Value y, Value z, Value result);
  static constexpr Value kUnknown = ~Value{0}, kNo = 0, kYes = 1;
  std::vector<Answer> answers_;  // empty until it is needed
};

}  // namespace regduel::oracles
