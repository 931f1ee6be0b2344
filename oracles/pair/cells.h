// The cells of one program: places of up to four bytes that hold values, numbered densely. See value_graph.h for what a cell is.
// Frame cells are numbered only where a spill or a refill touches them, so a huge frame costs nothing.
// Tested by match_test.cpp, value_graph_test.cpp and memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.h"

namespace regduel::oracles {

// Bytes [offset, offset + size) from the begin of cell `cell` on; the cells of one place are consecutive.
struct Place {
  std::uint32_t cell = 0;
  std::uint32_t size = 0;    // 0 = no place (an operand that is no register)
  std::uint32_t offset = 0;  // in [0, 3]
  std::uint32_t step = 4;    // bytes a cell: 4, for predicates 1

  [[nodiscard]] std::uint32_t cells() const { return (offset + size + step - 1) >> (step == 4 ? 2 : 0); }
  // Where byte k of the place is: its cell, and which byte it is there.
  [[nodiscard]] std::uint32_t cell_of(std::uint32_t k) const { return cell + (offset + k) / step; }
  [[nodiscard]] std::uint32_t byte_of(std::uint32_t k) const { return (offset + k) % step; }
};

class Cells {
 public:
  explicit Cells(const ir::Function& f);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  // Bytes that the cell has: 4, fewer at the end of a narrow vreg, 1 for a predicate.
  [[nodiscard]] std::uint32_t bytes(std::uint32_t cell) const {
    if (cell < first_unit_) return bytes_[cell];
    if (cell >= first_frame_) return 4;
    return static_cast<std::uint32_t>(ir::unit_bytes(ir::kAllFiles[(cell - first_unit_) / ir::kMaxUnits]));
  }
  [[nodiscard]] Place of_operand(const ir::Operand& op) const {
    if (op.is_preg()) {
      const ir::PReg r = op.preg();
      if (!r.is_valid() || static_cast<int>(r.file) >= ir::kNumFiles || r.end() > ir::kMaxUnits) return {};
      const auto step = static_cast<std::uint32_t>(ir::unit_bytes(r.file));
      return op.part.is_whole() ? Place{of_unit(r.file, r.first), r.count * step, 0, step} : of_part(op);
    }
    if (!op.is_vreg() || op.vreg().index() >= of_vreg_.size()) return {};
    return op.part.is_whole() ? of_vreg_[op.vreg().index()] : of_part(op);
  }
  // Requires: inside the file.
  [[nodiscard]] Place of_bytes(const ir::FileBytes& bytes) const;
  // Bytes that a spill or a refill moves; 0 where it names no register.
  [[nodiscard]] std::uint32_t moved_by(std::span<const ir::Operand> ops) const;
  // `size` bytes at the address of a slot operand.
  [[nodiscard]] Place of_slot(const ir::Operand& slot, std::uint32_t size) const;
  [[nodiscard]] std::uint32_t of_unit(ir::RegFile file, int unit) const {
    return first_unit_ + static_cast<std::uint32_t>(ir::index(file)) * ir::kMaxUnits + static_cast<std::uint32_t>(unit);
  }
  [[nodiscard]] bool is_in_file(std::uint32_t cell, ir::RegFile file) const {
    return cell >= of_unit(file, 0) && cell < of_unit(file, 0) + ir::kMaxUnits;
  }

 private:
  [[nodiscard]] Place of_part(const ir::Operand& op) const;
  [[nodiscard]] Place of_storage(const ir::Storage& s) const;
  void sort_frame();  // each word once
  [[nodiscard]] std::uint64_t address(const ir::Operand& slot) const;

  const ir::Function& f_;
  std::vector<Place> of_vreg_;        // each as a whole; of a virtual program
  std::vector<std::uint8_t> bytes_;   // of vreg cells
  std::vector<std::uint64_t> frame_;  // touched words of the frames, sorted: space << 40 | word
  std::uint32_t first_unit_ = 0, first_frame_ = 0, size_ = 0;
};

}  // namespace regduel::oracles
