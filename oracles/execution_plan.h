// What the execution judge runs: a program before and after, decoded side by side into flat steps over one array of byte
// cells. Decoding is also where a pair that cannot be run in lockstep is turned away, with the reason.
// Tested through execution_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "oracles/report.h"

namespace regduel::oracles {

// Cells [begin, begin + size). The storage of the roots before comes first, then the files after, then the frame bytes
// that any spill or refill touches.
struct Place {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

enum class StepKind : std::uint8_t {
  Both,       // an original instruction, executed and compared on both sides
  Compute,    // an operation of one side alone: a deleted original before, a remat after
  Move,       // copies, spills, refills of one side, in parallel: places in pairs, written and read
  P2R, R2P, BitSpill, BitRefill,
};

struct StepOperand {
  ir::Role role = ir::Role::Use;
  bool is_register = false;
  bool is_early = false;
  bool is_negated_before = false, is_negated_after = false;
  std::uint8_t bit = 0;        // of the pack, for the predicates of a pack operation
  std::uint16_t number = 0;    // operand number in the program after, for reports
  std::uint64_t constant = 0;  // hash of what is no register
  Place before, after;         // one of them is empty where a step belongs to one side
};

struct Step {
  StepKind kind = StepKind::Both;
  ir::InstId inst;
  ir::Op op = ir::Op::Named;
  std::uint16_t flags = 0;     // of the original instruction
  std::uint64_t op_hash = 0;   // of opcode and mnemonic
  std::uint32_t first_operand = 0, num_operands = 0;
  bool has_guard = false, is_guard_negated = false;
  Place guard;                 // of a step of one side alone
};

struct Edge {
  ir::BlockId to;
  bool is_followed = true;     // false: the program after leads elsewhere
  std::uint32_t first_path = 0, num_path = 0;      // edge blocks, in path
  std::uint32_t before_move = 0, after_move = 0;   // the phis, as one Move step each side
};

struct Plan {
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  std::vector<Step> steps;
  std::vector<StepOperand> operands;
  std::vector<Range> blocks;             // steps of each block of the program after
  std::vector<Range> edges_of;           // of each original block, in the order of its terminator's targets
  std::vector<Edge> edges;
  std::vector<ir::BlockId> path;
  std::vector<Place> callee_saved;       // of a device function
  std::vector<std::pair<Place, Place>> architectural;  // before and after: fixed architectural vregs, which hold something at entry
  std::size_t num_cells = 0;
};

// The error says in one line why the two cannot be run side by side (structure then has findings).
// Cost: O(size of both), expected, + O(n log n) in the number of spills and refills.
[[nodiscard]] std::expected<Plan, std::string> make_plan(const Case& c);

}  // namespace regduel::oracles
