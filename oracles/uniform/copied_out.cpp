// Who wrote each bit last, until nothing changes. See copied_out.h.

#include "oracles/uniform/copied_out.h"

#include <algorithm>

namespace regduel::oracles::uniform {

using symbolic::kNoIndex;
using symbolic::Plan;
using symbolic::Step;
using symbolic::StepKind;
using symbolic::StepOperand;

bool is_uniform_location(const Plan& plan, std::uint32_t location) {
  return plan.locations.is_in_file(location, ir::RegFile::UR) || plan.locations.is_in_file(location, ir::RegFile::UP) ||
         plan.locations.is_in_file(location, ir::RegFile::UB);
}

namespace {

// The first bit of byte k of a place.
std::uint32_t first_bit(const Place& p, std::uint32_t k) { return p.cell_of(k) * 32 + p.byte_of(k) * 8; }

}  // namespace

CopiedOut::CopiedOut(const Plan& plan, std::span<const char> meets)
    : plan_(plan), meets_(meets), writers_(std::size_t{plan.num_locations()} * kBitsOfCell, kNone),
      is_listed_(plan.num_locations(), 0), heads_(plan.blocks.size()) {
  heads_[plan.order.front()].is_reached = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t b : plan.order) {
      const symbolic::Range out = plan.edges_of[b];
      for (std::uint32_t e = out.begin; e < out.end; ++e) {
        // An edge without moves finds what the edge before it left.
        if (e == out.begin || plan.edges[e - 1].moves != kNoIndex) {
          move_to(b);
          for (std::uint32_t s = plan.blocks[b].begin; s < plan.blocks[b].end; ++s) step(s);
        }
        if (plan.edges[e].moves != kNoIndex) step(plan.edges[e].moves);
        changed = meet(plan.edges[e].to) || changed;
      }
    }
  }
}

void CopiedOut::move_to(std::uint32_t block) {
  for (const std::uint32_t cell : cells_) {
    std::fill_n(writers_.begin() + cell * std::ptrdiff_t{kBitsOfCell}, kBitsOfCell, kNone);
    is_listed_[cell] = 0;
  }
  cells_.clear();  // each once, as is_listed_ says: for speed alone
  for (const auto& [bit, writer] : heads_[block].writers) set(bit, writer);
}

bool CopiedOut::is_same(std::uint32_t location, std::uint8_t byte) const {
  const auto first = writers_.begin() + location * std::ptrdiff_t{kBitsOfCell} + byte * 8;
  return std::none_of(first, first + 8, [](Writer w) { return w == kNone; });
}

void CopiedOut::set(std::uint32_t bit, Writer writer) {
  const std::uint32_t cell = bit / kBitsOfCell;
  if (writer != kNone && is_listed_[cell] == 0) {
    is_listed_[cell] = 1;
    cells_.push_back(cell);
  }
  writers_[bit] = writer;
}

bool CopiedOut::meet(std::uint32_t to) {
  Head& head = heads_[to];
  if (!head.is_reached) {
    head.is_reached = true;
    for (const std::uint32_t cell : cells_) {
      if (!std::ranges::binary_search(plan_.live_locations[to], cell)) continue;
      for (std::uint32_t bit = cell * kBitsOfCell; bit < (cell + 1) * kBitsOfCell; ++bit)
        if (writers_[bit] != kNone) head.writers.emplace_back(bit, writers_[bit]);
    }
    return true;
  }
  bool changed = false;
  const auto several = static_cast<Writer>(plan_.steps.size()) + to;
  std::erase_if(head.writers, [&](auto& known) {
    const Writer comes = writers_[known.first];
    if (comes == known.second || (known.second == several && comes != kNone)) return false;
    changed = true;
    known.second = several;
    return comes == kNone || meets_[to] != 0;
  });
  return changed;
}

bool CopiedOut::gives_same(std::uint32_t location, std::uint32_t bit) const {
  return is_uniform_location(plan_, location) || writers_[location * kBitsOfCell + bit] != kNone;
}
bool CopiedOut::gives_same_byte(std::uint32_t location, std::uint32_t byte) const {
  return is_uniform_location(plan_, location) || is_same(location, static_cast<std::uint8_t>(byte));
}

void CopiedOut::write(const Place& to, Writer writer) {
  for (std::uint32_t k = 0; k < to.size; ++k)
    for (std::uint32_t i = 0; i < 8; ++i) set(first_bit(to, k) + i, writer);
}

// All are read before one is written.
void CopiedOut::copy(const Step& s, Writer step) {
  fetched_.clear();
  const auto ops = plan_.operands_of(s);
  for (const StepOperand& op : ops)
    for (std::uint32_t k = 0; op.role == ir::Role::Def && k < op.name.size * 8; ++k)
      fetched_.push_back(k / 8 < op.loc.size ? copied(first_bit(op.loc, k / 8) + k % 8, step) : kNone);
  auto next = fetched_.begin();
  for (const StepOperand& op : ops)
    for (std::uint32_t k = 0; op.role == ir::Role::Def && k < op.name.size * 8; ++k)
      set(first_bit(op.name, k / 8) + k % 8, *next++);
}

void CopiedOut::step(std::uint32_t number) {
  const Step& s = plan_.steps[number];
  const auto ops = plan_.operands_of(s);
  const bool has_guard = s.guard != kNoIndex;
  const auto writes = [](const StepOperand& op) { return op.role != ir::Role::Use && op.role != ir::Role::Guard; };
  const auto bit_of = [&](const StepOperand& op) { return first_bit(ops[0].loc, op.number / 8U) + op.number % 8U; };
  switch (s.kind) {
    case StepKind::Move:
      if (!has_guard) return copy(s, number);
      for (const StepOperand& op : ops)
        if (writes(op)) write(op.name, kNone);
      return;
    case StepKind::ToPack:
      for (const StepOperand& op : ops.subspan(1))
        if (op.role == ir::Role::Use) set(bit_of(op), has_guard ? kNone : copied(first_bit(op.loc, 0), number));
      return;
    case StepKind::FromPack:
      for (const StepOperand& op : ops.subspan(1))
        if (op.role == ir::Role::Def) write(op.loc, has_guard ? kNone : copied(bit_of(op), number));
      return;
    case StepKind::Operate:
    case StepKind::Gather:
    case StepKind::Remat:
      for (const StepOperand& op : ops)
        if (writes(op)) write(op.loc, kNone);
      return;
    case StepKind::Rename:
    case StepKind::Snapshot:
    case StepKind::Remember: return;
  }
}

}  // namespace regduel::oracles::uniform
