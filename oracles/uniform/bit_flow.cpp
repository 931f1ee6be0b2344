// States as lists of cells, and moves by byte. See bit_flow.h.

#include "oracles/uniform/bit_flow.h"

namespace regduel::oracles::uniform {
namespace {

void each_cell(const Place& p, const auto& action) {
  for (std::uint32_t k = 0; k < p.cells(); ++k) {
    const std::uint32_t begin = k == 0 ? p.offset : 0, end = std::min(p.offset + p.size - k * p.step, p.step);
    action(p.cell + k, static_cast<std::uint32_t>((std::uint64_t{1} << 8 * end) - (std::uint64_t{1} << 8 * begin)));
  }
}

}  // namespace

bool Bits::any_of(const Place& p) const {
  bool any = false;
  each_cell(p, [&](std::uint32_t cell, std::uint32_t bits) { any = any || (bits_[cell] & bits) != 0; });
  return any;
}

void Bits::add(std::uint32_t cell, std::uint32_t bits) {
  if (bits == 0) return;
  bits_[cell] |= bits;
  if (std::exchange(is_listed_[cell], 1) == 0) listed_.push_back(cell);
}

void Bits::add(const Place& p) {
  each_cell(p, [&](std::uint32_t cell, std::uint32_t bits) { add(cell, bits); });
}

void Bits::remove(const Place& p) {
  each_cell(p, [&](std::uint32_t cell, std::uint32_t bits) { remove(cell, bits); });
}

void Bits::clear() {
  for (const std::uint32_t cell : listed_) bits_[cell] = 0, is_listed_[cell] = 0;
  listed_.clear();
}

void move_bits(Bits& state, std::span<const BitMove> moves, bool is_guarded) {
  const auto brings_some = [&](const BitMove& m) {
    return m.source == BitMove::Source::Ones || (m.source == BitMove::Source::Cells && state.any_of(m.from));
  };
  std::vector<std::uint8_t> bytes;  // of all moves that bring some: what is read, before anything is written
  std::vector<char> brings(moves.size(), 0);
  for (std::size_t k = 0; k < moves.size(); ++k) {
    const BitMove& m = moves[k];
    if (!brings_some(m)) continue;
    brings[k] = 1;
    for (std::uint32_t b = 0; b < m.to.size; ++b) {
      if (m.source == BitMove::Source::Ones || b >= m.from.size) {
        bytes.push_back(0xFF);
        continue;
      }
      bytes.push_back(static_cast<std::uint8_t>(state.of(m.from.cell_of(b)) >> 8 * m.from.byte_of(b)));
    }
  }
  std::size_t at = 0;
  for (std::size_t k = 0; k < moves.size(); ++k) {
    const BitMove& m = moves[k];
    if (!is_guarded && !m.adds) state.remove(m.to);
    if (brings[k] == 0) continue;
    for (std::uint32_t b = 0; b < m.to.size; ++b) state.add(m.to.cell_of(b), std::uint32_t{bytes[at++]} << 8 * m.to.byte_of(b));
  }
}

std::vector<ir::BlockId> BitFlow::blocks_in_order() const {
  std::vector<ir::BlockId> order(cfg_.reverse_postorder().begin(), cfg_.reverse_postorder().end());
  if (direction_ == Direction::Backward) std::ranges::reverse(order);
  return order;
}

bool BitFlow::flow_into(Cellwise& at) {
  bool grew = false;
  const std::size_t num_known = at.size();
  for (const std::uint32_t cell : state_.listed()) {
    const std::uint32_t bits = state_.of(cell);
    if (bits == 0) continue;
    const auto end = at.begin() + static_cast<std::ptrdiff_t>(num_known);
    const auto known = std::lower_bound(at.begin(), end, cell, [](const auto& a, std::uint32_t c) { return a.first < c; });
    if (known == end || known->first != cell) {
      at.emplace_back(cell, bits);
      grew = true;
    } else {
      grew = grew || (bits & ~known->second) != 0;
      known->second |= bits;
    }
  }
  if (at.size() != num_known) std::ranges::sort(at);
  return grew;
}

}  // namespace regduel::oracles::uniform
