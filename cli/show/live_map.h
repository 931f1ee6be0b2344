// What is live where, moment by moment, in a program before or after allocation: live ranges, pressure curve, interference.
//
// A *holder* is what a value lies in: before allocation a root vreg, after it one unit of a register file. Each instruction has two
// moments, 2k (its uses are read) and 2k + 1 (its defs are written), k being its position in Function::insts. A holder is live as
// oracles/quality/max_live.h has it: some byte of it may have been defined and may still be used. All of it is for people to look
// at; judges and allocators have liveness of their own. Deleted instructions do nothing. Tested by live_map_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.h"

namespace regduel::cli {

struct Holder {
  ir::RegFile file = ir::RegFile::R;
  std::uint32_t number = 0;  // of the root vreg; of the unit in its file
  int units = 1;
};

// Live from moment `begin` until before moment `end`, with one value: an unguarded def of the whole begins another range.
struct LiveRange {
  std::size_t begin = 0, end = 0;
};

class LiveMap {
 public:
  // Requires: well-formed; no operand of more than 32 bytes. Cost: O(holders x instructions) time and bits.
  explicit LiveMap(const ir::Function& f);

  // Roots in the order of their numbers, or units in that of files and numbers: those that some instruction names.
  [[nodiscard]] std::span<const Holder> holders() const { return holders_; }
  [[nodiscard]] std::size_t moments() const { return moments_; }
  [[nodiscard]] bool is_live(std::size_t holder, std::size_t moment) const { return live_[holder][moment]; }
  // Moments at which both are live: they interfere where there is one. Cost: O(moments / 64).
  [[nodiscard]] std::size_t common_moments(std::size_t a, std::size_t b) const;
  // Those of its file that are live with it at some moment: most moments in common first, of as many the lower number.
  // Cost: O(holders x (moments / 64 + log holders)).
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t holder) const;
  [[nodiscard]] std::vector<LiveRange> ranges(std::size_t holder) const;
  // Units of the file that are live at each instruction, at that of its moments which has more.
  [[nodiscard]] std::vector<int> pressure(ir::RegFile file) const;

 private:
  class Bits {
   public:
    explicit Bits(std::size_t size = 0) : words_((size + 63) / 64) {}
    [[nodiscard]] bool operator[](std::size_t k) const { return (words_[k / 64] >> (k % 64) & 1) != 0; }
    void set(std::size_t k) { words_[k / 64] |= std::uint64_t{1} << (k % 64); }
    void reset(std::size_t k) { words_[k / 64] &= ~(std::uint64_t{1} << (k % 64)); }
    std::vector<std::uint64_t> words_;
  };
  class Solver;

  std::size_t moments_;
  std::vector<Holder> holders_;
  std::vector<Bits> live_;    // by holder: moments
  std::vector<Bits> starts_;  // by holder: instructions that overwrite all of it
};

}  // namespace regduel::cli
