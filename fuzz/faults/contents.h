// What each register and slot may hold at each point: the definitions that arrive there, by forward dataflow over bytes. Operators
// use it to see that a fault is the one that they are named after, before they inject it. Written apart from the judges, and much
// simpler: sets are enumerated, guards are may-defs, of which no two are related, predicate packs are unknown.
//
// It is a may-analysis of bytes: whatever arrives, of whatever execution of a def. That a place surely holds the value of the
// latest one, which the patterns need, is for Holdings (pattern_analysis.h) to say.
//
// Copies, spills, refills and phis move contents; a remat of #id has the contents of #id; a clobbered byte holds nothing, nor do
// those above a narrow value that was copied from a part. Tested by contents_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "fuzz/edit/edit.h"
#include "ir/program.h"

namespace regduel::fuzz {

// One thing that a byte may hold.
struct Held {
  std::uint64_t what = 0;   // 0 = nothing defined; else a definition: see definition()
  std::uint32_t route = 0;  // the refills that it came through, see Contents::route(); 0 = none
  // Guarded writes that it was written by or survived: 0, 1, or 2 for more. Of two guards one may exclude the other, so that it
  // never arrives; of one, both sides can come to pass. Of several ways the one with the fewest counts: a set has no two elements
  // that differ in this alone.
  std::uint32_t guards = 0;

  [[nodiscard]] bool is_undefined() const { return what == 0; }
  // Byte `byte` of what operand `operand` of original instruction `inst` writes.
  static std::uint64_t definition(ir::InstId inst, std::size_t operand, std::size_t byte) {
    return 1ull << 63 | static_cast<std::uint64_t>(inst.value) << 32 | static_cast<std::uint64_t>(operand) << 8 | (byte & 0xFF);
  }
  // Whose definition it is; invalid where it is none.
  [[nodiscard]] ir::InstId instruction() const {
    return what >> 63 != 0 ? ir::InstId(static_cast<std::uint32_t>(what >> 32) & 0x7FFFFFFFu) : ir::InstId();
  }
  static std::uint64_t entry(ir::RegFile file, std::size_t byte) {
    return 1ull << 62 | static_cast<std::uint64_t>(file) << 32 | byte;
  }
  friend constexpr auto operator<=>(const Held&, const Held&) = default;
};

struct BeforeFacts;

class Contents {
 public:
  using Set = std::uint32_t;          // of Held
  using State = std::vector<Set>;     // one a cell
  static constexpr Set kNever = 0;    // not reached
  static constexpr Set kUnknown = 1;  // too many, or beyond this analysis

  // Which cells a state says something of: all, or those that may still be read, where the others are left at whatever they are.
  enum class Scope { ReadLater, Everything };

  // Cost: O(passes x bytes that instructions write), plus blocks x cells of time and memory. `f` must outlive this.
  // Of an allocated program, `before` tells how wide its defs are: a narrow value leaves the rest of its unit undefined.
  explicit Contents(const ir::Function& f, const BeforeFacts* before = nullptr, Scope scope = Scope::ReadLater);

  // Sorted; none of kNever and kUnknown. Equal numbers are equal sets; sets of one element may be equal under two numbers.
  [[nodiscard]] std::span<const Held> elements(Set s) const {
    if (s < first_united_) return {pool_.data() + s, s <= kUnknown ? 0u : 1u};
    const Range r = united_[s - first_united_];
    return {pool_.data() + r.begin, r.size};
  }
  // Numbers of the refills on a route, sorted.
  [[nodiscard]] std::span<const std::uint32_t> route(std::uint32_t number) const { return routes_[number]; }
  // The bytes of a register or slot operand as cells [first, second). A slot operand needs the width: `bytes`.
  [[nodiscard]] std::pair<std::size_t, std::size_t> cells(const ir::Operand& op, int bytes = 0) const;
  [[nodiscard]] bool is_reachable(ir::BlockId b) const { return !in_[b.index()].empty(); }
  // Calls see(instruction index, state before it) for each instruction of a reachable block, in order.
  template <class See>
  void walk(ir::BlockId b, See see) {
    State state = in_[b.index()];
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      see(i, static_cast<const State&>(state));
      run(first_step_[i], first_step_[i + 1], state);
    }
  }

 private:
  struct Range {
    std::uint32_t begin = 0, size = 0;
  };
  // What an instruction does to cells [to, to + size).
  enum class StepKind : std::uint8_t {
    Fill,    // each holds the set `from`
    Number,  // the k-th holds the set `from` + k
    Move,    // what cells [from, from + size) hold, all of them read before this or the Moves of the same instruction write
  };
  [[nodiscard]] bool is_live(const std::vector<std::uint64_t>& bits, std::size_t cell) const {
    return (bits[cell / 64] >> (cell % 64) & 1) != 0;
  }
  struct Step {
    StepKind kind = StepKind::Fill;
    bool guarded = false;
    bool moves_more = false;  // another Move of the same instruction follows
    std::uint32_t to = 0, from = 0, size = 0;
    ir::InstId refill;  // Move: through this refill, where valid
  };

  void number_cells();
  void note_narrow_defs(const BeforeFacts& facts);
  void compile(std::uint32_t inst);
  // A cell is live where its content may come to be read, by an operation or a refill: a store or a copy reads for its target
  // alone.
  void find_live();
  void live_before(std::uint32_t inst, std::vector<std::uint64_t>& live);
  void solve();
  void run(std::uint32_t begin, std::uint32_t end, State& state);
  // What arrives at `to` from `from`, where `out` is at the end of it.
  [[nodiscard]] const State& along(ir::BlockId from, ir::BlockId to, const State& out);
  [[nodiscard]] Set merge(Set a, Set b) { return a == b || b == kNever ? a : a == kNever ? b : unite(a, b); }
  [[nodiscard]] Set unite(Set a, Set b);
  [[nodiscard]] Set through(Set s, ir::InstId refill);
  // What is left of `old`, and of what is written over it, under a guard.
  [[nodiscard]] Set either(Set old, Set written) { return old == written ? old : merge(guarded(old), guarded(written)); }
  [[nodiscard]] Set guarded(Set s);
  void keep_fewest_guards();  // of list_
  [[nodiscard]] std::uint32_t extended(std::uint32_t route, std::uint32_t refill);
  [[nodiscard]] Set intern(const std::vector<Held>& elements);

  const ir::Function& f_;
  std::vector<std::uint8_t> defined_bytes_;  // by operand: how many bytes a narrow def defines; 0 = all. Empty where unknown
  std::size_t num_cells_ = 0;
  ir::PerFile<std::size_t> file_begin_ = {}, file_bytes_ = {};  // allocated programs
  std::vector<std::size_t> root_begin_, slot_begin_;
  std::vector<State> in_;  // of each block; empty = unreachable
  std::vector<Step> steps_;
  std::vector<std::uint32_t> first_step_;            // by instruction, and one more
  std::vector<std::vector<std::uint64_t>> live_in_;  // of each block, by cell; a superset
  // Sets below first_united_ are the one element of the pool with their number; the others were made by meets and refills, and are
  // interned.
  std::vector<Held> pool_;
  Set first_united_ = 0;
  std::vector<Range> united_;
  std::vector<Set> interned_;  // open addressing, a power of two; kNever = free
  FlatMap merged_, through_, extended_, guarded_;
  std::vector<std::vector<std::uint32_t>> routes_{1};
  std::map<std::vector<std::uint32_t>, std::uint32_t> route_numbers_;
  State out_, arriving_;             // of solve() and along()
  std::vector<std::uint32_t> read_;  // of run(): sets; of live_before(): cells
  std::vector<Held> list_;           // of unite() and through()
};

// The program before, and its instructions by number.
struct BeforeFacts {
  explicit BeforeFacts(const ir::Function& before);

  const ir::Function& before;
  Contents contents;
  std::vector<std::vector<Contents::Set>> reads;              // by instruction, the cells of its register reads one after another
  std::unordered_map<std::uint32_t, std::uint32_t> index_of;  // number -> index

  [[nodiscard]] const ir::Inst* find(ir::InstId id) const {
    const auto it = index_of.find(id.value);
    return it == index_of.end() ? nullptr : &before.insts[it->second];
  }
  // The instruction that `i` of an allocated program is; null for an inserted or a deleted one.
  [[nodiscard]] const ir::Inst* original(const EditInst& i) const {
    return i.inst.is_inserted() || i.inst.is_deleted() ? nullptr : find(i.inst.id);
  }
  // True where an operation reads operand `operand`, and on all paths each byte of it is defined. Elsewhere a fault shows under
  // another name, or not at all: what was undefined may be anything.
  [[nodiscard]] bool is_defined_read(const ir::Inst& inst, std::size_t operand) const;
};

// The codes of memcheck that `after` should show, as a mask of bits 1 << code, among 1, 2, 5, 6 and 10: at the reads of original
// instructions (of a copy, its guard) that were fully defined before. Bit 0, kUndecidedReads: something shows at a read that
// depends on a guard, that sees the result of an instruction whose remat has wrong sources (7, which goes before all of these), or
// that this analysis does not know. Stops where `wanted` (a mask) is seen.
inline constexpr std::uint32_t kUndecidedReads = 1;
[[nodiscard]] std::uint32_t expected_codes(const BeforeFacts& facts, const ir::Function& after, std::uint32_t wanted);

// What each refill of an allocated program may deliver, byte by byte, by the refill's number.
using Refilled = std::map<std::uint32_t, std::vector<std::vector<std::uint64_t>>>;
[[nodiscard]] Refilled refilled(const BeforeFacts& facts, const ir::Function& after);
// True where, at the end of block `b`, each byte of the register holds a definition whatever way led there, and none came through a
// refill.
[[nodiscard]] bool holds_definitions(const BeforeFacts& facts, const ir::Function& after, ir::BlockId b, ir::PReg reg);
// True where, in front of instruction `inst` (an index) of an allocated program, some byte of the two registers, of one size, holds
// nothing that the other may hold too. False where that is not known.
[[nodiscard]] bool hold_different(const BeforeFacts& facts, const ir::Function& after, std::uint32_t inst, const ir::Operand& a,
                                  const ir::Operand& b);
// True where each byte of each refill of `damaged` still may deliver something that it delivered in `correct`.
[[nodiscard]] bool keeps_some(const Refilled& correct, const Refilled& damaged);

}  // namespace regduel::fuzz
