// Values of the symbolic judge: what a location holds, and what a name (four bytes of a root vreg) asks for, as numbers.
//
// Equal numbers mean equal contents in every execution that gets there. Numbers exist at three widths, which never mix: words of
// four bytes, bytes (a predicate is a byte), bits of a predicate pack.
//
//   Junk                 a location that holds nothing known                     satisfies nothing but Any
//   Any                  a name that is undefined on every path so far           satisfied by everything
//   Nowhere              what no location ever holds                        a name that nothing satisfies
//   Def, Constant, Saved, Merged, Opaque      leaves: told apart, and nothing more
//   Byte(w, i)           byte i of word w               Word(b0 ... b3)          a word put together
//   Bit(b, k)            bit k of byte b                Packed(c0 ... c7)        a byte of a pack, put together
//   Gate(t, x, y)        x where the predicate value t is true, else y
//   OneOf{...}           a name that any of these satisfies (after a join where it is undefined on one side); Any where Any is one
//   Seen(v, leaf)        v as one place held it at one time: what v does not say, since it is Junk on some path, is one thing now
//
// Names may contain Any and OneOf ("loose" values), locations may contain Junk. Structure is reduced when it is built, so that
// moving things apart and together again gives back the number that it was:
//   Word(Byte(w,0) ... Byte(w,3)) = w    Byte(Word(b...), i) = b_i    Gate(t, x, x) = x    Gate(t, Gate(t,a,b), y) = Gate(t, a, y)
// Gates are ordered by their tokens, and stand inside a Word, never around it.
//
// Cost: a constant number of table look-ups for each operation. Of gates that nest deeper than kMaxDepth the innermost ones, which
// are the oldest, are no longer looked into, only told apart ("cut"). Tested by values_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace regduel::oracles {

using Value = std::uint32_t;
inline constexpr Value kJunk = 0;
inline constexpr Value kAny = 1;
inline constexpr Value kNowhere = 2;

enum class ValueKind : std::uint8_t {
  Junk,
  Any,
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
    ValueKind kind = ValueKind::Junk;
    std::uint8_t vague = 0;  // bytes that are Junk on some path, a bit each; of a byte or a bit, all or none
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
  // Leaves for `size` bytes. The bytes of the last one that are beyond are vague.
  Value add_leaves_of_bytes(ValueKind kind, std::uint32_t a, std::uint32_t size);
  // It is as vague, and as much cut, as the two together.
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
  // A member that nothing is seen to satisfy: of a set whose other members could not all be found. It is cut.
  [[nodiscard]] Value unknown_member();
  // Some gate in it goes by the token: so what it is where the token is true is not what it is where it is false. Not of bits of
  // packs.
  [[nodiscard]] bool goes_by(Value v, Value token) {
    int budget = kBudget;
    return goes_by(v, token, budget);
  }
  // What `v` is where `token` is true, or false.
  [[nodiscard]] Value where(Value v, Value token, bool holds);

  // The byte of a predicate as it is seen now, also under gates: no longer vague. Junk is `leaf` itself.
  [[nodiscard]] Value seen(Value held, Value leaf);
  // The word of a pack likewise: its bits that are vague, each with its own bit of the leaf. Bits that hold Junk stay so.
  [[nodiscard]] Value seen_pack(Value word, Value leaf);
  [[nodiscard]] bool is_vague_pack(Value word) const { return is_vague(word) && has_packs(word); }
  // What a name asks for that such a location satisfies: nothing where it holds Junk.
  [[nodiscard]] Value asked_by(Value held);

  // True if a location that holds `have` holds what the name asks for. May be false where it is true but too entangled to see.
  [[nodiscard]] bool satisfies(Value have, Value want);
  // The same of the bytes i of a word for which bit i of `bytes` is set.
  [[nodiscard]] bool satisfies_bytes(Value have, Value want, unsigned bytes);
  // False for most pairs of which satisfies() is, and surely, not: each leaf of `have` is reached under some outcome of the gates,
  // and there the name has to ask for it; and each leaf that the name asks for and nothing else is reached under some outcome, and
  // there the location has to hold it.
  [[nodiscard]] bool may_satisfy(Value have, Value want) const {
    const Leaves &held = leaves_[have], &wanted = leaves_[want];
    return ((held.in & ~wanted.in) | (wanted.asked & ~held.in)) == 0 || is_cut(have) || is_cut(want);
  }
  // A bit for each leaf in it, shared with others; all where Any is one.
  [[nodiscard]] std::uint64_t leaves(Value v) const { return leaves_[v].in; }
  // Of these, bits of leaves that are in whatever satisfies it, unless that is cut.
  [[nodiscard]] std::uint64_t asked_leaves(Value v) const { return leaves_[v].asked; }
  // Everything satisfies it, Junk too: it asks for nothing.
  [[nodiscard]] bool asks_for_nothing(Value want) { return want == kAny || (is_loose(want) && satisfies(kJunk, want)); }
  // Whether the last answer was no only because the values were too entangled to be looked into.
  [[nodiscard]] bool is_unsure() const { return is_unsure_; }

  // Contains Any or OneOf.
  [[nodiscard]] bool is_loose(Value v) const { return (nodes_[v].flags & kLoose) != 0; }
  // Contains Junk, or something that is undefined on some path.
  [[nodiscard]] bool is_undefined(Value v) const { return (nodes_[v].flags & kUndefined) != 0; }
  [[nodiscard]] bool is_gated(Value v) const { return (nodes_[v].flags & kGated) != 0; }
  // Contains Junk, on some path: two places that hold it may differ there.
  [[nodiscard]] bool is_vague(Value v) const { return nodes_[v].vague != 0; }
  // Its bytes of which that is so, a bit each; of a value that is a byte itself, all or none.
  [[nodiscard]] std::uint8_t vague_bytes(Value v) const { return nodes_[v].vague; }
  // Of two values, in what add_leaf() inherits.
  [[nodiscard]] bool inherits(Value v, Value one, Value other) const {
    const Node &x = nodes_[one], &y = nodes_[other];
    return ((nodes_[v].flags ^ (x.flags | y.flags)) & kCut) == 0 && nodes_[v].vague == vague_in(x, y);
  }
  // Something in it was too entangled to be looked into, and is only told apart: that it satisfies a name may go unseen.
  [[nodiscard]] bool is_cut(Value v) const { return (nodes_[v].flags & kCut) != 0; }
  // Contains Packed, perhaps under gates: where a bit of a pack was written under a guard, the byte is a gate between two packs.
  [[nodiscard]] bool has_packs(Value v) const { return (nodes_[v].flags & kPacks) != 0; }
  // A word that is not put together, Junk included: its bytes are its own.
  [[nodiscard]] bool is_leaf(Value v) const { return nodes_[v].kind != ValueKind::Word && nodes_[v].kind != ValueKind::Gate; }
  // Satisfies nothing but itself and Any, or, where a name asks for it, is satisfied by nothing else that is plain. Junk is not.
  [[nodiscard]] bool is_plain(Value v) const { return v != kJunk && nodes_[v].kind != ValueKind::Word && is_settled(v); }
  // Has no gates in it and asks for one thing only: of two such values, each satisfies itself alone.
  [[nodiscard]] bool is_settled(Value v) const { return (nodes_[v].flags & (kLoose | kGated | kSeen)) == 0; }
  // Nowhere, or a byte of it.
  [[nodiscard]] bool is_nowhere(Value v) const {
    return v == kNowhere || (nodes_[v].kind == ValueKind::Byte && nodes_[v].a == kNowhere);
  }
  // The same on every path: Junk, Constant, Saved, and their bytes.
  [[nodiscard]] bool is_fixed(Value v) const {
    const Node& n = nodes_[v].kind == ValueKind::Byte ? nodes_[nodes_[v].a] : nodes_[v];
    return n.kind == ValueKind::Junk || n.kind == ValueKind::Constant || n.kind == ValueKind::Saved;
  }
  // A leaf: neither Junk nor Any, and no piece of another value.
  [[nodiscard]] bool is_atom(Value v) const { return nodes_[v].kind >= ValueKind::Def && nodes_[v].kind <= ValueKind::Opaque; }
  // Is, or offers, a word that was put together.
  [[nodiscard]] bool has_words(Value v) const { return (nodes_[v].flags & kWords) != 0; }
  [[nodiscard]] int depth(Value v) const { return nodes_[v].depth; }
  // Of a gate; Junk, which is no token, of anything else.
  [[nodiscard]] Value token_of(Value v) const { return nodes_[v].kind == ValueKind::Gate ? nodes_[v].a : kJunk; }

 private:
  static constexpr std::uint8_t kLoose = 1, kUndefined = 2, kGated = 4, kPacks = 8, kWords = 16, kCut = 32, kGatesInSets = 64,
                                kSeen = 128;
  static constexpr std::uint8_t kAllBytes = 0xF;
  static constexpr int kBudget = 4096;  // values looked at by one question

  // Of a word that is neither Junk nor Any nor put together: its four bytes are numbers from first_byte() on, or, of a gate or a
  // set, children from there on.
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
  // Requires: in ascending order, none twice, not Any.
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
  [[nodiscard]] Value token_of_members(Value v) const;  // the largest one of a set's gates; Junk where there is none
  [[nodiscard]] Value when(Value v, Value token, bool holds) const;
  bool goes_by(Value v, Value token, int& budget);
  Value restrict_to(Value v, Value token, bool holds, int& budget);
  bool satisfies_within(Value have, Value want, int& budget);

  [[nodiscard]] static std::uint64_t leaf_bit(std::size_t leaf) { return 1ull << (leaf * 0x9E3779B97F4A7C15u >> 58); }

  std::vector<Node> nodes_;
  std::vector<Leaves> leaves_;  // by value
  std::vector<Value> kids_;
  std::vector<Value> table_;  // open addressing; kJunk = free
  std::size_t interned_ = 0;
  bool is_unsure_ = false;
  std::vector<Value> singles_;  // by value: the set of it alone; Junk = not made yet
  static constexpr std::uint32_t kNoBytes = ~0U;
  std::vector<std::uint32_t> bytes_of_;  // by value: first_byte(); kNoBytes = not made yet
  // What was asked lately: values never change, so neither do the answers. Without it a walk over shared gates takes each path.
  enum class Question : std::uint8_t { None, Choose, WhereTrue, WhereFalse, Bit, Seen, AskedBy, Satisfies, GoesBy };
  struct Answer {
    Question question = Question::None;
    Value x = kJunk, y = kJunk, z = kJunk, result = kJunk;
  };
  static constexpr std::size_t kAnswers = 4096;
  // Where the answer to (x, y, z) stands, or nothing does that is its own. Valid until the next call.
  [[nodiscard]] Answer& answer(Question q, Value x, Value y, Value z);
  [[nodiscard]] Value known(Question q, Value x, Value y, Value z);  // kUnknown where nobody knows
  Value learn(Question q, Value x, Value y, Value z, Value result);
  static constexpr Value kUnknown = ~Value{0}, kNo = 0, kYes = 1;
  std::vector<Answer> answers_;  // empty until it is needed
};

}  // namespace regduel::oracles
