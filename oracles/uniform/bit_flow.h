// Bits that instructions move with the contents of registers: a forward may-analysis by byte and by bit of packs, union where paths
// meet. It is made for few bits that are set: a state is a list of the cells (cells.h) with some. Tested by bit_flow_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/cfg.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles::uniform {

// A state at a point: 32 bits for each cell, eight for each byte of it. A predicate is a byte.
class Bits {
 public:
  explicit Bits(std::uint32_t num_cells) : bits_(num_cells, 0), is_listed_(num_cells, 0) {}

  [[nodiscard]] std::uint32_t of(std::uint32_t cell) const { return bits_[cell]; }
  [[nodiscard]] bool any_of(const Place& p) const;
  void add(std::uint32_t cell, std::uint32_t bits);
  void add(const Place& p);
  void remove(std::uint32_t cell, std::uint32_t bits) { bits_[cell] &= ~bits; }
  void remove(const Place& p);
  void clear();
  // Cells that have, or had, some since clear(); each once.
  [[nodiscard]] std::span<const std::uint32_t> listed() const { return listed_; }

 private:
  std::vector<std::uint32_t> bits_, listed_;
  std::vector<char> is_listed_;
};

// What one def of an instruction gets.
struct BitMove {
  enum class Source : std::uint8_t { Cells, Zeros, Ones };
  Place to, from;  // of one size
  Source source = Source::Cells;
  bool adds = false;  // to what an earlier move of the instruction put there, as the further uses of a phi do
};
// The instructions whose moves BitMoves lists.
[[nodiscard]] constexpr bool has_moves(ir::Op op) {
  return op == ir::Op::Copy || op == ir::Op::Phi || op == ir::Op::Pack || op == ir::Op::Unpack;
}
// The moves of copies, phis, packs and unpacks.
class BitMoves {
 public:
  // Adds those of an instruction: the places of its operands by place(k), where the bits come from by source(k) for a use.
  void add(ir::Op op, std::span<const ir::Operand> ops, const auto& place, const auto& source) {
    defs_.clear();
    uses_.clear();
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_register()) continue;
      if (ops[k].role == ir::Role::Def) defs_.push_back(k);
      if (ops[k].role == ir::Role::Use) uses_.push_back(k);
    }
    if (defs_.empty()) return;
    std::uint32_t begin = 0;  // of the next piece of a pack or unpack
    for (std::size_t k = 0; k < std::max(defs_.size(), uses_.size()); ++k) {
      if ((k >= defs_.size() && defs_.size() != 1) || (k >= uses_.size() && uses_.size() != 1)) return;
      BitMove move{.to = place(defs_[std::min(k, defs_.size() - 1)]), .from = {}, .source = BitMove::Source::Zeros};
      move.adds = op == ir::Op::Phi && k > 0;
      if (!uses_.empty()) {
        const std::size_t use = uses_[std::min(k, uses_.size() - 1)];
        move.from = place(use);
        move.source = source(use);
      }
      if (op == ir::Op::Pack) move.to = part(move.to, begin, move.from.size), begin += move.from.size;
      if (op == ir::Op::Unpack) move.from = part(move.from, begin, move.to.size), begin += move.to.size;
      list.push_back(move);
    }
  }

  std::vector<BitMove> list;

 private:
  static Place part(Place p, std::uint32_t begin, std::uint32_t size) {
    return {p.cell + (p.offset + begin) / p.step, size, (p.offset + begin) % p.step, p.step};
  }

  std::vector<std::size_t> defs_, uses_;  // operands of the instruction at hand
};
// In parallel. Those of a guarded instruction may not happen, so nothing is removed.
void move_bits(Bits& state, std::span<const BitMove> moves, bool is_guarded);

enum class Direction : std::uint8_t { Forward, Backward };

// The states where the blocks begin; backward, where they end.
class BitFlow {
 public:
  using Cellwise = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // cell, bits; by cell

  BitFlow(const ir::Cfg& cfg, std::uint32_t num_cells, Direction direction)
      : cfg_(cfg), direction_(direction), state_(num_cells), at_(cfg.num_blocks()) {}

  // For each block that can be reached, with its state, and again when that has grown: `transfer(block, state)` makes the state on
  // the other side of it. Cost: rounds x (size of the program + cells with bits at blocks).
  //   first   forward: where the function begins
  void settle(const Cellwise& first, const auto& transfer) {
    const bool is_forward = direction_ == Direction::Forward;
    const std::vector<ir::BlockId> order = blocks_in_order();
    if (is_forward) at_[order.front().index()] = first;
    std::vector<char> is_due(cfg_.num_blocks(), 1), is_done(cfg_.num_blocks(), 0);
    for (bool again = true; again;) {
      again = false;
      std::ranges::fill(is_done, 0);
      for (const ir::BlockId b : order) {
        is_done[b.index()] = 1;
        if (std::exchange(is_due[b.index()], 0) == 0) continue;
        state_.clear();
        for (const auto& [cell, bits] : at_[b.index()]) state_.add(cell, bits);
        transfer(b, state_);
        for (const ir::BlockId next : is_forward ? cfg_.successors(b) : cfg_.predecessors(b))
          if (flow_into(at_[next.index()])) is_due[next.index()] = 1, again = again || is_done[next.index()] != 0;
      }
    }
  }

 private:
  [[nodiscard]] std::vector<ir::BlockId> blocks_in_order() const;
  // Whether it grew.
  bool flow_into(Cellwise& at);

  const ir::Cfg& cfg_;
  Direction direction_;
  Bits state_;
  std::vector<Cellwise> at_;  // by block
};

}  // namespace regduel::oracles::uniform
