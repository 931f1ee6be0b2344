// The graph of values and its sets against the plainest dataflow there is: for each byte of each place (each bit, where predicates
// are packed) the set of definitions, forwards over all blocks until nothing changes. Random programs, before and after allocation,
// over few registers and every shape of control flow.

#include "oracles/memcheck/value_graph.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/memcheck/dominators.h"
#include "oracles/memcheck/reaching_sets.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

// A definition's byte: the instruction, its operand, the byte. Operand -1: the instruction destroys. Instruction -1: the entry.
using Element = std::tuple<std::int64_t, int, int>;
using Elements = std::set<Element>;
const Element kEntry{-1, -1, 0};

// A byte of storage, as its eight bits; a predicate has one "bit".
using Content = std::array<Elements, 8>;
using Where = std::tuple<char, std::uint32_t>;  // space, byte
using Machine = std::map<Where, Content>;

Elements all_of(const Content& c) {
  Elements all;
  for (const Elements& bit : c) all.insert(bit.begin(), bit.end());
  return all;
}

// Predicates and everything else lie in spaces of their own; a vreg's bytes in a space for each.
std::vector<Where> places_of(const ir::Function& f, const ir::Operand& op) {
  std::vector<Where> list;
  if (op.is_preg()) {
    const ir::FileBytes bytes = ir::Function::file_bytes(op);
    for (std::uint32_t b = bytes.begin; b < bytes.end; ++b) list.emplace_back(static_cast<char>('a' + ir::index(bytes.file)), b);
  } else if (op.is_vreg()) {
    const ir::Storage s = f.storage(op);
    for (std::uint32_t b = 0; b < s.size; ++b) list.emplace_back('v', s.root.value * 64 + s.offset + b);
  }
  return list;
}
std::vector<Where> places_of(const ir::Function& f, const ir::Operand& slot, std::size_t size) {
  std::vector<Where> list;
  const ir::Slot& s = f.slots[slot.slot().index()];
  for (std::uint32_t b = 0; b < size; ++b)
    list.emplace_back(s.space == ir::MemSpace::Local ? 'L' : 'S', s.offset + slot.slot_offset() + b);
  return list;
}

class Plain {
 public:
  explicit Plain(const ir::Function& f)
      : f_(f), heads_(f.blocks.size()), tails_(f.blocks.size()), is_reached_(f.blocks.size(), false),
        is_left_(f.blocks.size(), false) {
    is_reached_[0] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 0; b < f.blocks.size(); ++b) {
        if (!is_reached_[b]) continue;
        Machine m = heads_[b];
        for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) step(m, i);
        changed = changed || !is_left_[b] || tails_[b] != m;
        tails_[b] = m;
        is_left_[b] = true;
        for (const ir::BlockId to : f.successors(ir::BlockId(b))) {
          changed = changed || !is_reached_[to.index()];
          // What a path has not written is what was there at the entry.
          Machine into = is_reached_[to.index()] ? heads_[to.index()] : to.value == 0 ? Machine() : m;
          for (auto& [where, content] : m) into.try_emplace(where, initial());
          for (auto& [where, content] : into) {
            const Content from = m.contains(where) ? m.at(where) : initial();
            for (std::size_t bit = 0; bit < 8; ++bit) content[bit].insert(from[bit].begin(), from[bit].end());
          }
          is_reached_[to.index()] = true;
          changed = changed || heads_[to.index()] != into;
          heads_[to.index()] = into;
        }
      }
    }
    reads_.clear();
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      Machine m = heads_[b];
      if (is_reached_[b])
        for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) step(m, i);
    }
  }

  // By operand: of each byte the definitions.
  [[nodiscard]] const std::map<std::size_t, std::vector<Elements>>& reads() const { return reads_; }

 private:
  static Content initial() {
    Content c;
    c.fill({kEntry});
    return c;
  }
  [[nodiscard]] std::vector<Where> places(const ir::Operand& op) const { return places_of(f_, op); }
  [[nodiscard]] std::vector<Where> places(const ir::Operand& slot, std::size_t size) const { return places_of(f_, slot, size); }
  static Content get(const Machine& m, Where w) {
    const auto found = m.find(w);
    return found == m.end() ? initial() : found->second;
  }
  void step(Machine& m, const ir::Inst& i) {
    if (i.is_deleted()) return;
    const auto ops = f_.operands_of(i);
    const std::int64_t id = i.id.value;
    const Machine at = m;
    const auto own = [&](std::size_t k, std::size_t byte) {
      Content c;
      c.fill({Element(id, static_cast<int>(k), static_cast<int>(byte))});
      return c;
    };
    std::vector<std::pair<Where, Content>> writes;
    const auto write = [&](const std::vector<Where>& to, std::size_t byte, const Content& c) { writes.emplace_back(to[byte], c); };
    const bool is_move = i.op == ir::Op::Copy || i.op == ir::Op::Phi || ir::is_allocator_only(i.op);
    std::vector<std::size_t> uses;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register()) continue;
      if (ops[k].role == ir::Role::Use) uses.push_back(k);
      if (!ops[k].reads() || (is_move && ops[k].role != ir::Role::Guard)) continue;
      std::vector<Elements>& bytes = reads_[i.first_operand + k];
      bytes.clear();
      for (const Where& w : places(ops[k])) bytes.push_back(all_of(get(at, w)));
    }
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const ir::Operand& op = ops[k];
      if (!op.is_register() && i.op != ir::Op::Spill) continue;
      if (op.role == ir::Role::Clobber) {
        for (const Where& w : places(op)) {
          Content c;
          c.fill({Element(id, -1, 0)});
          m[w] = c;
        }
      }
      if (i.op == ir::Op::Spill && op.is_slot()) {
        const auto from = places(ops[uses.at(0)]), to = places(op, from.size());
        for (std::size_t b = 0; b < to.size(); ++b) write(to, b, get(at, from[b]));
      }
      if (!op.writes()) continue;
      const auto to = places(op);
      for (std::size_t b = 0; b < to.size(); ++b) {
        Content c = own(k, b);
        if (i.op == ir::Op::Copy) {
          c = get(at, places(ops[uses.at(k)])[b]);
        } else if (i.op == ir::Op::Refill) {
          for (const ir::Operand& slot : ops)
            if (slot.is_slot()) c = get(at, places(slot, to.size())[b]);
        } else if (i.op == ir::Op::Phi) {
          c = {};
          for (std::size_t u = 0; u < uses.size(); ++u) {
            const ir::BlockId from = f_.targets_of(i)[u];
            if (!is_left_[from.index()]) continue;
            const Content one = get(tails_[from.index()], places(ops[uses[u]])[b]);
            for (std::size_t bit = 0; bit < 8; ++bit) c[bit].insert(one[bit].begin(), one[bit].end());
          }
        } else if (i.op == ir::Op::P2R || i.op == ir::Op::BitSpill) {
          c = get(at, to[b]);
          for (const std::size_t u : uses) {
            const std::size_t bit = i.op == ir::Op::P2R ? ops[u].preg().first : static_cast<std::size_t>(ops[2].imm());
            if (bit / 8 == b) c[bit % 8] = all_of(get(at, places(ops[u])[0]));
          }
        } else if (i.op == ir::Op::R2P || i.op == ir::Op::BitRefill) {
          const std::size_t bit = i.op == ir::Op::R2P ? op.preg().first : static_cast<std::size_t>(ops[2].imm());
          c.fill(get(at, places(ops[uses.at(0)])[bit / 8])[bit % 8]);
        }
        write(to, b, c);
      }
    }
    // Of two defs in one place either may be left.
    std::set<Where> written;
    for (const auto& [where, content] : writes) {
      Content old = get(at, where);
      Content& now = m[where];
      if (!written.insert(where).second) old = now;
      else if (guard_of(ops) == nullptr) old = {};
      for (std::size_t bit = 0; bit < 8; ++bit) {
        now[bit] = content[bit];
        now[bit].insert(old[bit].begin(), old[bit].end());
      }
    }
  }
  static const ir::Operand* guard_of(std::span<const ir::Operand> ops) {
    for (const ir::Operand& op : ops)
      if (op.role == ir::Role::Guard) return &op;
    return nullptr;
  }

  const ir::Function& f_;
  std::vector<Machine> heads_, tails_;
  std::vector<bool> is_reached_, is_left_;
  std::map<std::size_t, std::vector<Elements>> reads_;
};

Elements in_words_of_the_test(const std::vector<std::uint32_t>& set, const Definitions& defs) {
  Elements result;
  for (const std::uint32_t e : set) {
    const Leaf& leaf = defs[leaf_of(e)];
    if (leaf_of(e) == kUninitialised) {
      result.insert(kEntry);
    } else if (leaf.kind == LeafKind::Destroyed) {
      result.emplace(leaf.inst.value, -1, 0);
    } else {
      const std::uint32_t index = defs.index_of(leaf.inst);
      const std::size_t operand =
          index == kNone ? 0 : defs.before().insts[index].first_operand + static_cast<std::size_t>(leaf.operand);
      const LeafId first = index == kNone ? leaf_of(e) : defs.defined_by(operand).first;
      result.emplace(leaf.inst.value, leaf.operand, static_cast<int>(e - first * 4));
    }
  }
  return result;
}

TEST(ValueGraph, AgreesWithThePlainDataflow) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const testing::ProgramShape shape{.is_after = seed % 2 == 1, .has_guards = seed % 3 == 0, .has_packs = seed % 5 < 2};
    const std::string text = testing::random_program(random, shape);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const ir::Function f = parse_function(text);
    ASSERT_FALSE(f.blocks.empty());
    const Plain plain(f);
    const ir::Cfg cfg(f);
    for (const Detail detail : {Detail::EveryJoin, Detail::Sparse}) {
      Definitions defs(f);
      DefSets sets;
      const ValueGraph graph(f, cfg, defs, {.detail = detail});
      ReachingSets reach(graph, defs, sets);
      for (const auto& [operand, bytes] : plain.reads()) {
        ASSERT_TRUE(graph.is_read(operand));
        ASSERT_EQ(graph.read_bytes(operand), static_cast<int>(bytes.size()));
        for (std::size_t b = 0; b < bytes.size(); ++b) {
          const SetId set = reach.set_of(graph.read_byte(operand, static_cast<int>(b)));
          const Elements found = in_words_of_the_test(sets.elements(set), defs);
          // Of guards the graph knows a little more.
          if (shape.has_guards) {
            ASSERT_TRUE(std::includes(bytes[b].begin(), bytes[b].end(), found.begin(), found.end()))
                << "operand " << operand << " byte " << b;
          } else {
            ASSERT_EQ(found, bytes[b]) << "operand " << operand << " byte " << b;
          }
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 10'000);
}

// One way through a program: of each bit the one definition that is there, and, as predicates and packs of them have it, its value.
class Walk {
 public:
  // What an instruction that was executed found in each byte of an operand, of which bits may have come from several places.
  struct Read {
    std::size_t operand;
    std::optional<std::size_t> guard;  // under which it was executed: an operand, too
    std::vector<Elements> bytes;
  };

  Walk(const ir::Function& f, Random& random, int steps) : f_(f), random_(random) {
    ir::BlockId b(0), from;
    for (; steps > 0; --steps) {
      for (const ir::Inst& i : f.insts_of(b)) step(i, from);
      const auto next = f.successors(b);
      if (next.empty()) break;
      from = b;
      b = next[random.below(static_cast<std::uint32_t>(next.size()))];
    }
  }
  [[nodiscard]] const std::vector<Read>& reads() const { return reads_; }

 private:
  struct Bit {
    Element by = kEntry;
    bool value = false;
  };
  using Byte = std::array<Bit, 8>;

  Byte& at(Where w) {
    const auto [found, is_new] = machine_.try_emplace(w);
    if (is_new) found->second = fresh(kEntry);
    return found->second;
  }
  Byte fresh(const Element& by) {
    Byte byte;
    for (Bit& bit : byte) bit = {by, random_.chance(50)};
    return byte;
  }
  [[nodiscard]] bool holds(const ir::Operand& guard) { return at(places_of(f_, guard)[0])[0].value != guard.is_negated(); }

  void step(const ir::Inst& i, ir::BlockId from) {
    const auto ops = f_.operands_of(i);
    const bool is_move = i.op == ir::Op::Copy || i.op == ir::Op::Phi || ir::is_allocator_only(i.op);
    std::optional<std::size_t> guard;
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].role == ir::Role::Guard) guard = k;
    const bool happens = !guard || holds(ops[*guard]);
    std::vector<std::size_t> uses;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register()) continue;
      if (ops[k].role == ir::Role::Use) uses.push_back(k);
      const bool is_guard = ops[k].role == ir::Role::Guard;
      if (!ops[k].reads() || (!is_guard && (is_move || !happens))) continue;
      Read read{i.first_operand + k, std::nullopt, {}};
      if (guard && !is_guard) read.guard = i.first_operand + *guard;
      for (const Where& w : places_of(f_, ops[k])) {
        Elements& elements = read.bytes.emplace_back();
        for (const Bit& bit : at(w)) elements.insert(bit.by);
      }
      reads_.push_back(std::move(read));
    }
    if (!happens) return;
    std::vector<std::pair<Where, Byte>> writes;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const ir::Operand& op = ops[k];
      if (op.role == ir::Role::Clobber)
        for (const Where& w : places_of(f_, op)) writes.emplace_back(w, fresh({i.id.value, -1, 0}));
      if (i.op == ir::Op::Spill && op.is_slot()) {
        const auto source = places_of(f_, ops[uses.at(0)]), to = places_of(f_, op, source.size());
        for (std::size_t b = 0; b < to.size(); ++b) writes.emplace_back(to[b], at(source[b]));
      }
      if (!op.is_register() || !op.writes()) continue;
      const auto to = places_of(f_, op);
      for (std::size_t b = 0; b < to.size(); ++b) writes.emplace_back(to[b], result(i, from, uses, k, b, to));
    }
    for (const auto& [where, byte] : writes) at(where) = byte;
  }

  // Byte `b` of what operand `k` defines.
  Byte result(const ir::Inst& i, ir::BlockId from, const std::vector<std::size_t>& uses, std::size_t k, std::size_t b,
              const std::vector<Where>& to) {
    const auto ops = f_.operands_of(i);
    switch (i.op) {
      case ir::Op::Copy: return at(places_of(f_, ops[uses.at(k)])[b]);
      case ir::Op::Refill:
        for (const ir::Operand& slot : ops)
          if (slot.is_slot()) return at(places_of(f_, slot, to.size())[b]);
        break;
      case ir::Op::Phi:
        for (std::size_t u = 0; u < uses.size(); ++u)
          if (f_.targets_of(i)[u] == from) return at(places_of(f_, ops[uses[u]])[b]);
        break;
      case ir::Op::P2R:
      case ir::Op::BitSpill: {
        Byte byte = at(to[b]);
        for (const std::size_t u : uses) {
          const std::size_t bit = i.op == ir::Op::P2R ? ops[u].preg().first : static_cast<std::size_t>(ops[2].imm());
          if (bit / 8 == b) byte[bit % 8] = at(places_of(f_, ops[u])[0])[0];
        }
        return byte;
      }
      case ir::Op::R2P:
      case ir::Op::BitRefill: {
        const std::size_t bit = i.op == ir::Op::R2P ? ops[k].preg().first : static_cast<std::size_t>(ops[2].imm());
        Byte byte;
        byte.fill(at(places_of(f_, ops[uses.at(0)])[bit / 8])[bit % 8]);
        return byte;
      }
      default: break;
    }
    return fresh({i.id.value, static_cast<int>(k), static_cast<int>(b)});
  }

  const ir::Function& f_;
  Random& random_;
  std::map<Where, Byte> machine_;
  std::vector<Read> reads_;
};

// On no path is there anything else. With all joins that does not hold: two guards may count as one that are not.
TEST(ValueGraph, TheSetUnderAGuardOfASparseGraphHasWhatAnyPathBrings) {
  int compared = 0, narrowed = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const testing::ProgramShape shape{.is_after = seed % 2 == 1, .has_guards = true, .has_packs = seed % 5 < 2};
    const std::string text = testing::random_program(random, shape);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const ir::Function f = parse_function(text);
    const ir::Cfg cfg(f);
    Definitions defs(f);
    DefSets sets;
    const ValueGraph graph(f, cfg, defs, {.detail = Detail::Sparse});
    ReachingSets reach(graph, defs, sets);
    for (int way = 0; way < 10; ++way) {
      const Walk walk(f, random, 40);
      for (const Walk::Read& read : walk.reads()) {
        Assumption assumed;
        if (read.guard) {
          const NodeId guard = graph.read_word(*read.guard, 0);
          assumed = {reach.predicate_of(guard), !f.operands[*read.guard].is_negated(), guard};
        }
        for (std::size_t b = 0; b < read.bytes.size(); ++b) {
          const ByteRef byte = graph.read_byte(read.operand, static_cast<int>(b));
          const Elements all = in_words_of_the_test(sets.elements(reach.set_of(byte)), defs),
                         left = in_words_of_the_test(sets.elements(reach.set_under(byte, assumed)), defs);
          ASSERT_TRUE(std::includes(left.begin(), left.end(), read.bytes[b].begin(), read.bytes[b].end()))
              << "operand " << read.operand << " byte " << b;
          ASSERT_TRUE(std::includes(all.begin(), all.end(), left.begin(), left.end()));
          narrowed += left.size() < all.size() ? 1 : 0;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 100'000);
  EXPECT_GT(narrowed, 1000);
}

// Both have the definition #0 alone.
TEST(ValueGraph, TwoBitsOfOneWordAreNotAssumedToBeOnePredicate) {
  const ir::Function f = parse_function(R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
    #0 R0 = a
    #1 R1 = b
    +4 P1, P0 = r2p R0
    #2 @P0 R1 = c
    #3 @P1 use R1
    #5 exit
)");
  const ir::Cfg cfg(f);
  Definitions defs(f);
  DefSets sets;
  const ValueGraph graph(f, cfg, defs, {.detail = Detail::Sparse});
  ReachingSets reach(graph, defs, sets);
  const std::size_t use = f.insts[4].first_operand, guard = use + 1;
  ASSERT_EQ(f.operands[guard].role, ir::Role::Guard);
  const NodeId node = graph.read_word(guard, 0);
  const Assumption assumed{reach.predicate_of(node), true, node};
  EXPECT_EQ(in_words_of_the_test(sets.elements(reach.set_under(graph.read_byte(use, 0), assumed)), defs),
            (Elements{{1, 0, 0}, {2, 0, 0}}));
}

// The predicate is refilled twice from a byte within a word: two nodes, one guard. What R1 held before is stored on no path.
TEST(ValueGraph, AStoreUnderTheGuardOfItsDefStoresThatAlone) {
  const ir::Function f = parse_function(R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 16 shared 0
  slot 0 local size 1 align 1 offset 5
  slot 1 local size 4 align 4 offset 8
  block b0
    #0 P0 = p
    +20 spill P0, slot 0
    #1 R0 = a
    +21 spill R0, slot 1
    #2 R1 = b
    #3 bra -> b1
  block b1
    +22 P1 = refill slot 0
    #4 @P1 R1 = c
    +23 P2 = refill slot 0
    +24 @P2 spill R1, slot 1
    +25 R2 = refill slot 1
    #5 use R2
    #6 exit
)");
  const ir::Cfg cfg(f);
  for (const Detail detail : {Detail::EveryJoin, Detail::Sparse}) {
    Definitions defs(f);
    DefSets sets;
    const ValueGraph graph(f, cfg, defs, {.detail = detail});
    ReachingSets reach(graph, defs, sets);
    const std::size_t use = f.insts[f.insts.size() - 2].first_operand;
    EXPECT_EQ(in_words_of_the_test(sets.elements(reach.set_of(graph.read_byte(use, 0))), defs), (Elements{{1, 0, 0}, {4, 0, 0}}));
  }
}

TEST(ValueGraph, AWordPutTogetherIsOneElement) {
  const ir::Function f = parse_function(R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
    #0 R0 = a
    #1 R1 = b
    #2 cbra P0 -> b1, b2
  block b1
    #3 R0 = c
    #4 bra -> b2
  block b2
    +7 R0.h1 = copy R1.h1
    #5 use R0
    #6 exit
)");
  const ir::Cfg cfg(f);
  Definitions defs(f);
  DefSets sets;
  const ValueGraph graph(f, cfg, defs);
  ReachingSets reach(graph, defs, sets);
  const std::size_t use = f.insts[6].first_operand;
  ASSERT_TRUE(graph.is_read(use) && graph.read_is_aligned(use));
  EXPECT_EQ(sets.elements(reach.set_of(State{graph.read_word(use, 0)})).size(), 1u);
  EXPECT_EQ(sets.elements(reach.set_of(graph.read_byte(use, 1))).size(), 2u);
}

// A chain of moves, each of them read. Gone through from each anew, it would take a minute.
TEST(ValueGraph, ChainsOfMovesAreGoneThroughOnce) {
  constexpr int kMoves = 300'000;
  std::string text = R"(
func @f kernel target sm_90 threads 32 allocated
  frame local 0 shared 0
  block b0
    #0 R0 = a
)";
  for (int k = 1; k <= kMoves; ++k)
    fmt::format_to(std::back_inserter(text), "    +{} R{} = copy R{}\n    #{} use R{}\n", k + kMoves + 1, k % 2, 1 - k % 2, k,
                   k % 2);
  const ir::Function f = parse_function(text + fmt::format("    #{} exit\n", kMoves + 1));
  ASSERT_EQ(f.insts.size(), 2u * kMoves + 2);
  const ir::Cfg cfg(f);
  Definitions defs(f);
  DefSets sets;
  const ValueGraph graph(f, cfg, defs);
  ReachingSets reach(graph, defs, sets);
  for (std::size_t k = 2; k <= 2u * kMoves; k += 2)
    ASSERT_EQ(in_words_of_the_test(sets.elements(reach.set_of(graph.read_byte(f.insts[k].first_operand, 3))), defs),
              (Elements{{0, 0, 3}}));
}

}  // namespace
}  // namespace regduel::oracles
