// The pair of programs that the symbolic judge walks over, decoded side by side into flat steps, with the edges between the blocks
// of the program after, and the live names and locations of each block. A pair that cannot be walked is turned away with the
// reason.
//
// Names are the four-byte words (predicates: bytes) of the root vregs, and the snapshots of remats: for each register use of an
// instruction that some remat repeats, the value of that use at the last execution of the instruction. Locations are the words of
// the register files and of the frames that the program after touches, and a ghost for the result of each repeated instruction.
// Tested by plan_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "oracles/before.h"
#include "oracles/judge.h"
#include "oracles/pair/cells.h"
#include "oracles/symbolic/values.h"

namespace regduel::oracles::symbolic {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFFu;
inline constexpr std::uint8_t kOneByte = 0x1F;

// Bytes of the word k of a place, a bit each; kOneByte for a predicate.
[[nodiscard]] inline std::uint8_t bytes_at(const Place& p, std::uint32_t k) {
  if (p.step == 1) return kOneByte;
  const std::uint32_t begin = k == 0 ? p.offset : 0, end = std::min(p.offset + p.size - 4 * k, 4u);
  return static_cast<std::uint8_t>((1u << end) - (1u << begin));
}
// Whole words, or predicates.
[[nodiscard]] inline bool is_of_cells(const Place& p) { return p.step == 1 || (p.offset == 0 && p.size % 4 == 0); }

enum class StepKind : std::uint8_t {
  // An original instruction that computes; if it was deleted, on the names alone.
  Operate,
  // Pack, unpack: bytes of the uses, in order, become bytes of the defs; deleted as above.
  Gather,
  // An original copy, or the phis of an edge: on the names. Operands: name = written, loc = read (both names).
  Rename,
  // A copy, spill or refill of the program after: on the locations. Operands: name = written, loc = read (both locations);
  // clobbers: name = destroyed.
  Move,
  // p2r, bit_spill. Operand 0: the pack (loc). Others: predicate (loc), bit (number).
  ToPack,
  // r2p, bit_refill. Operands as of ToPack.
  FromPack,
  // Before an instruction that some remat repeats. Operands: name = snapshot, loc = the name copied.
  Snapshot,
  // After that instruction. Operand: loc = the ghost.
  Remember,
  // Uses: loc, name = snapshot. The def: loc; its ghost in `name` (a location).
  Remat,
};

struct StepOperand {
  ir::Role role = ir::Role::Use;
  bool is_early = false;
  bool is_negated_name = false, is_negated_loc = false;
  bool is_contested = false;  // Def: another def of the same instruction is in the same location
  bool is_wordwise = false;   // Def: the name's last word is written whole. Rename, Move: whole words are moved
  std::uint16_t number = 0;   // operand number, for reports; of a predicate of a pack: its bit
  Value leaf = kBottom;       // Def: the first word's new value; the others follow
  Place name, loc;            // size 0: there is none
};

struct Step {
  StepKind kind = StepKind::Operate;
  bool is_ret = false;
  bool has_clobbers = false;           // Operate, Move: some operand is clobbered, perhaps early
  bool is_illegal = false;             // Remat: of what may not be repeated
  std::uint32_t inst = kNoIndex;       // index into the instructions after
  std::uint32_t original = kNoIndex;   // index into the instructions before
  std::uint32_t first = 0, count = 0;  // operands
  std::uint32_t guard = kNoIndex;      // an operand; its name or its loc has size 0 where the step has no such side
  Value opaque = kBottom;              // with a guard: the token that stands for a register of which nothing is known
  // The same for a name, of which it is not known that it is that register.
  [[nodiscard]] Value opaque_name() const { return opaque + 1; }
};

// An edge of the program after, with the phis that are executed on it.
struct FlowEdge {
  std::uint32_t from = 0, to = 0;
  std::uint32_t renames = kNoIndex, moves = kNoIndex;  // steps
};

struct Range {
  std::uint32_t begin = 0, end = 0;
};

struct SavedUnit {
  ir::PReg unit;
  std::uint32_t loc = 0;
  Value value = kBottom;
};

struct Initial {
  Place name, loc;
  Value first = kBottom;
};

struct WrongEdge {
  std::uint32_t inst = 0;  // a branch (index after) that leads elsewhere
  std::uint32_t to = 0;    // the block to which it led before
};

// By block: places that are read later, ascending.
struct LiveSets {
  std::vector<std::uint32_t> begin, places;

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::uint32_t block) const {
    return {places.data() + begin[block], begin[block + 1] - begin[block]};
  }
  [[nodiscard]] LiveSets of_first(std::uint32_t num_blocks) const {
    return {{begin.begin(), begin.begin() + num_blocks + 1}, {places.begin(), places.begin() + begin[num_blocks]}};
  }
};

// The names of a program before, and where they are live: a part of Before, shared by all allocations of the program. The first
// plan fills in `live`.
class NamesBefore {
 public:
  explicit NamesBefore(const Before& before);

  Cells cells;
  std::vector<std::uint8_t> bytes_of_name;  // as in Plan
  std::uint32_t num_blocks = 0;
  LiveSets live;  // at each block of the program before; empty until they are known
};

struct Plan {
  explicit Plan(const Case& c) : Plan(c, c.prepared.part<NamesBefore>()) {}
  Plan(const Case& c, const NamesBefore& before) : names(before.cells), locations(c.after), bytes_of_name(before.bytes_of_name) {}

  Cells names, locations;
  // With snapshots and ghosts.
  [[nodiscard]] std::uint32_t num_names() const { return static_cast<std::uint32_t>(bytes_of_name.size()); }
  [[nodiscard]] std::uint32_t num_locations() const { return static_cast<std::uint32_t>(is_byte_location.size()); }
  Values values;
  std::vector<Step> steps;
  std::vector<StepOperand> operands;
  std::vector<Range> blocks;                   // steps of each block of the program after
  std::vector<FlowEdge> edges;                 // of reachable blocks, ascending by `from`
  std::vector<Range> edges_of;                 // by block
  std::vector<std::uint32_t> order;            // reachable blocks in reverse postorder
  std::vector<std::uint32_t> num_preds;        // edges into each block, from reachable blocks
  std::vector<std::uint8_t> is_loop_head;      // by block: an edge leads back to it in `order`; every cycle has one
  std::vector<std::uint8_t> bytes_of_name;     // bit i: byte i of the name's word counts; kOneByte: the name is a byte
  std::vector<std::uint8_t> is_byte_location;  // predicates, and ghosts of them
  LiveSets live_names, live_locations;         // at the head of each block
  std::vector<SavedUnit> saved;                // callee-saved registers that the program after writes, at each ret
  std::vector<Initial> initial;                // architectural vregs
  std::vector<WrongEdge> wrong_edges;

  [[nodiscard]] std::span<const StepOperand> operands_of(const Step& s) const { return {operands.data() + s.first, s.count}; }
  [[nodiscard]] std::span<const Step> steps_of(std::uint32_t block) const {
    return {steps.data() + blocks[block].begin, blocks[block].end - blocks[block].begin};
  }
};

// The error says in one line why the two cannot be walked side by side (structure then has findings).
// Cost: near-linear in both programs and in the names that are live at the blocks.
[[nodiscard]] std::expected<Plan, std::string> make_plan(const Case& c);

// Fills live_names and live_locations (liveness.cpp): own analyses of the two programs, along the edges of the program
// after. Where those are the edges of the program before, perhaps with edge blocks in them, the live names come from `before`, or
// go there. That gives the same sets.
void find_live(Plan& plan, NamesBefore& before);

}  // namespace regduel::oracles::symbolic
