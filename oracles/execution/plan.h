// A program before and after allocation, decoded side by side into flat steps over one array of byte cells, for the execution
// judge. A pair that cannot be run in lockstep is turned away with the reason. Tested by plan_test.cpp, execution_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "oracles/judge.h"

namespace regduel::oracles {

// Cells [begin, begin + size). The storage of the roots before comes first, then the files after, then the frame bytes
// that any spill or refill touches.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

enum class StepKind : std::uint8_t {
  Both,     // an original instruction, executed and compared on both sides
  Compute,  // an operation of one side alone: a deleted original before, a remat after
  Move,     // of one side, a copy, spill or refill: places in pairs, written and read, in parallel
  P2R,
  R2P,
  BitSpill,
  BitRefill,
};

// Both, Compute: `before` and `after` are the cells of the operand on each side; a step of one side alone has `before` only.
// Moves: `before` is the place written and `after` the place read.
// Pack operations: operand 0 is the pack, the others the predicates; all in `before`.
struct StepOperand {
  std::uint32_t before = 0, after = 0;            // first cells
  std::uint16_t before_size = 0, after_size = 0;  // in cells
  std::uint16_t number = 0;                       // operand number in the program after, for reports
  std::uint8_t bit = 0;                           // of the pack, for the predicates of a pack operation; the column (guards.h) of a
                                                  // predicate that is computed
  bool is_early : 1 = false;
  bool is_predicate : 1 = false;  // a predicate that is computed
  bool is_negated_before : 1 = false, is_negated_after : 1 = false;
};
static_assert(sizeof(StepOperand) == 16);

// Operands stand as register uses (def-uses too), clobbers, defs (def-uses again); the guard stands apart. Operands that are no
// registers are part of the hash.
struct Step {
  std::uint64_t hash = 0;  // of opcode, mnemonic, immediates and symbols, operand sizes
  ir::InstId inst;
  std::uint32_t first_operand = 0;
  std::uint32_t num_defs = 0;      // pairs of a move; of a pack operation, the pack and the predicates. A move's early-clobber defs
                                   // stand among its clobbers as well
  std::uint32_t guard_before = 0;  // the guard's cell, also of a step of one side alone
  std::uint32_t guard_after = 0;
  std::uint16_t num_uses = 0, num_clobbers = 0;
  std::uint16_t guard_number = 0;  // operand number, for reports
  StepKind kind = StepKind::Both;
  bool has_guard : 1 = false;
  bool is_guard_negated_before : 1 = false, is_guard_negated_after : 1 = false;
  bool has_early : 1 = false;
  bool moves_bytes : 1 = false;  // pack, unpack
  bool reads_memory : 1 = false, writes_memory : 1 = false;
  bool is_ret : 1 = false;
  bool may_be_repeated : 1 = false;  // by a remat, whose undefined operands may be others
  bool is_after : 1 = false;         // of the side after alone: it goes by what its guard's register holds, whatever that is
};
static_assert(sizeof(Step) == 40);

inline constexpr std::uint32_t kNoStep = 0xFFFFFFFF;

struct Edge {
  ir::BlockId to;
  bool is_followed = true;                                    // false: the program after leads elsewhere
  std::uint32_t first_path = 0, num_path = 0;                 // edge blocks, in path
  std::uint32_t before_move = kNoStep, after_move = kNoStep;  // the phis, as one Move step each side, where there are any
};

struct Plan {
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  std::vector<Step> steps;
  std::vector<StepOperand> operands;
  std::vector<Range> blocks;    // steps of each block of the program after
  std::vector<Range> edges_of;  // of each original block, in the order of its terminator's targets
  std::vector<Edge> edges;
  std::vector<ir::BlockId> path;
  std::vector<ByteRange> callee_saved;  // of a device function
  std::vector<std::pair<ByteRange, ByteRange>>
      architectural;  // before and after: fixed architectural vregs, which hold something at entry
  std::size_t num_cells = 0;
  std::vector<ByteRange> in_use;     // all cells but those that nothing touches, and clobbers that were left out
  std::size_t largest_operands = 0;  // cells of all operands of one step that moves bytes together, at most
  bool has_guards = false;           // on some step: else no value decides what happens
};

// The error says in one line why the two cannot be run side by side (structure then has findings).
// Cost: O(size of both), expected, + O(n log n) in the number of different places that spills and refills touch.
[[nodiscard]] std::expected<Plan, std::string> make_plan(const Case& c);

}  // namespace regduel::oracles
