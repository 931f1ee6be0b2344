// Numbering of cells; see cells.h. Tested by value_graph_test.cpp and memcheck_test.cpp.

#include "oracles/pair/cells.h"

#include <algorithm>
#include <bit>

namespace regduel::oracles {

Cells::Cells(const ir::Function& f) : f_(f) {
  if (f.phase == ir::Phase::Virtual) {
    of_vreg_.resize(f.vregs.size());
    bytes_.reserve(2 * f.vregs.size());
    for (std::size_t k = 0; k < f.vregs.size(); ++k) {
      const ir::VReg& v = f.vregs[k];
      if (v.alias.is_valid()) continue;
      of_vreg_[k] = {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(v.bytes()), 0,
                     ir::is_predicate(v.file()) ? 1u : 4u};
      for (int left = v.bytes(); left > 0; left -= 4) bytes_.push_back(static_cast<std::uint8_t>(std::min(left, 4)));
    }
    for (std::size_t k = 0; k < f.vregs.size(); ++k)
      if (f.vregs[k].alias.is_valid()) of_vreg_[k] = of_storage(f.storage(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(k))));
  }
  first_unit_ = static_cast<std::uint32_t>(bytes_.size());
  first_frame_ = first_unit_ + std::uint32_t{ir::kNumFiles} * ir::kMaxUnits;
  for (const ir::Inst& i : f.insts) {
    if (i.op != ir::Op::Spill && i.op != ir::Op::Refill) continue;
    const auto ops = f.operands_of(i);
    const std::uint32_t size = moved_by(ops);
    for (const ir::Operand& op : ops) {
      if (!op.is_slot() || op.slot().index() >= f.slots.size() || size == 0) continue;
      const std::uint64_t space = static_cast<std::uint64_t>(f.slots[op.slot().index()].space) << 40;
      for (std::uint64_t w = address(op) / 4; w * 4 < address(op) + size; ++w) frame_.push_back(space | w);
    }
  }
  sort_frame();
  size_ = first_frame_ + static_cast<std::uint32_t>(frame_.size());
}

// By a bit for each word between the least and the largest, where that takes no more room than they have.
void Cells::sort_frame() {
  if (frame_.empty()) return;
  const auto [least, largest] = std::minmax_element(frame_.begin(), frame_.end());
  const std::uint64_t first = *least, num_rows = (*largest - first) / 64 + 1;
  if (num_rows > frame_.size()) {
    std::sort(frame_.begin(), frame_.end());
    frame_.erase(std::unique(frame_.begin(), frame_.end()), frame_.end());
    return;
  }
  std::vector<std::uint64_t> rows(num_rows, 0);
  for (const std::uint64_t word : frame_) rows[(word - first) / 64] |= std::uint64_t{1} << (word - first) % 64;
  frame_.clear();
  for (std::uint64_t r = 0; r < num_rows; ++r)
    for (std::uint64_t bits = rows[r]; bits != 0; bits &= bits - 1)
      frame_.push_back(first + 64 * r + static_cast<std::uint64_t>(std::countr_zero(bits)));
}

std::uint64_t Cells::address(const ir::Operand& slot) const {
  return static_cast<std::uint64_t>(f_.slots[slot.slot().index()].offset) + slot.slot_offset();
}

Place Cells::of_part(const ir::Operand& op) const {
  if (op.is_preg()) {
    return of_bytes(ir::Function::file_bytes(op));
  }
  return of_storage(f_.storage(op));
}

Place Cells::of_storage(const ir::Storage& s) const {
  const Place& root = of_vreg_[s.root.index()];
  return {root.cell + s.offset / 4, s.size, s.offset % 4u, root.step};
}

Place Cells::of_bytes(const ir::FileBytes& bytes) const {
  const auto step = static_cast<std::uint32_t>(ir::unit_bytes(bytes.file));
  return {of_unit(bytes.file, 0) + bytes.begin / step, bytes.end - bytes.begin, bytes.begin % step, step};
}

std::uint32_t Cells::moved_by(std::span<const ir::Operand> ops) const {
  for (const ir::Operand& op : ops)
    if (op.is_register() && (op.role == ir::Role::Def || op.role == ir::Role::Use)) return of_operand(op).size;
  return 0;
}

Place Cells::of_slot(const ir::Operand& slot, std::uint32_t size) const {
  if (slot.slot().index() >= f_.slots.size()) return {};
  const std::uint64_t at = address(slot);
  const std::uint64_t word = static_cast<std::uint64_t>(f_.slots[slot.slot().index()].space) << 40 | at / 4;
  // Mostly a frame has no gaps, and there is one only.
  std::size_t index = frame_.empty() ? 0 : word - frame_.front();
  if (index >= frame_.size() || frame_[index] != word)
    index = static_cast<std::size_t>(std::lower_bound(frame_.begin(), frame_.end(), word) - frame_.begin());
  if (index == frame_.size() || frame_[index] != word) return {};
  return {first_frame_ + static_cast<std::uint32_t>(index), size, static_cast<std::uint32_t>(at % 4), 4};
}

}  // namespace regduel::oracles
