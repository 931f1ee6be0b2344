// Which code of memcheck a damaged allocation has to show: asked at single reads, by a walk backwards over all paths from the read
// to the definitions that arrive there. Written apart from the judges, and much simpler: no sets that are solved for all points,
// nothing that is kept from one question to the next.
//
//   origins(read) = definitions, undefined contents, entry values, wrong remats; each with the way that it came
//   copy, phi, spill, refill         looked through
//   pack, unpack                     looked through, byte by byte
//   p2r, bit_spill, r2p, bit_refill  looked through, bit by bit
//   remat of #id                     #id where that can be reached and each source has the origins that it has there, else a wrong
//                                    remat
//   a def under a guard              may happen: the walk goes both through it and past it; what one would change whose guard is
//                                    undefined on each path to it, before, is undefined
//
// The code follows from have = origins(read after), want = origins(read before), in the precedence of DECISIONS "memcheck":
//
//   7      have contains a wrong remat
//   8, 9   an addition (have - want) came out of a pack (by r2p; by bit_refill) whose register held one of want until it was
//          overwritten
//   3, 4   an addition came out of a pack
//   1, 2   an addition came through a refill that delivers none of want; that delivers some of want as well
//   5, 6   an addition is undefined; is a definition, or stands undefined above one that is narrow
//   10     have is a proper subset of want
//
// Undecided: where want has something undefined (anything may be there after), also in another byte of an operand that shows
// nothing but what a narrow def leaves undefined; where two guards take part, of which one may exclude the other; reads of guarded
// instructions but for the guard itself. Tested by origins_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"

namespace regduel::trial {

// A byte of a register file, of a frame, or of a vreg's storage; or one bit of it, where a predicate may be packed.
struct Location {
  std::uint32_t space = 0;
  std::uint32_t byte = 0;
  std::int8_t bit = -1;  // within the byte; -1 = all of it

  friend auto operator<=>(const Location&, const Location&) = default;
};

struct Origin {
  static constexpr std::uint64_t kUndefined = 0, kWrongRemat = 1;
  static std::uint64_t definition(ir::InstId inst, std::size_t operand, std::size_t byte) {
    return 1ull << 63 | std::uint64_t{inst.value} << 32 | std::uint64_t{operand} << 8 | (byte & 0xFF);
  }
  static std::uint64_t entry(Location l) { return 1ull << 62 | std::uint64_t{l.space} << 32 | l.byte; }

  // Refills by instruction and byte, extractions by instruction, newest last; with kProbe, numbers of probes. Each once. A walk
  // ends where there are too many.
  class Route {
   public:
    static constexpr std::size_t kMost = 6;
    void add(std::uint32_t step) {
      if (std::find(begin(), end(), step) != end()) return;
      if (size_ < kMost) steps_[size_] = step;
      ++size_;
    }
    [[nodiscard]] bool is_too_long() const { return size_ > kMost; }
    [[nodiscard]] bool has(std::uint32_t step) const { return std::find(begin(), end(), step) != end(); }
    [[nodiscard]] const std::uint32_t* begin() const { return steps_.data(); }
    [[nodiscard]] const std::uint32_t* end() const { return steps_.data() + std::min<std::size_t>(size_, kMost); }
    friend auto operator<=>(const Route&, const Route&) = default;

   private:
    std::array<std::uint32_t, kMost> steps_ = {};
    std::uint32_t size_ = 0;
  };

  std::uint64_t what = kUndefined;
  int guards = 0;  // may-defs that it is of or that it survived: 0, 1, or 2 for more
  Route route;
  std::uint64_t above = 0;  // of an undefined byte above a narrow def: that definition
};

class Origins;
using OriginSet = std::optional<std::vector<Origin>>;  // nothing where the walk was too long

// The program before, with the origins of its reads.
class Expected {
 public:
  // `preserved`: units whose entry values each ret reads.
  Expected(const ir::Function& before, std::span<const ir::PReg> preserved);
  ~Expected();

  // The code that `after` has to show at one of the reads of the given blocks or of those behind them: the first one of `wanted` (a
  // mask of 1 << code), nearest first, else the first. 0 where all these reads show none; kUnclear where some are undecided, or
  // there are more than `most_reads`. Cost: O(reads x length of a walk).
  static constexpr int kUnclear = -1;
  [[nodiscard]] int code_in(const ir::Function& after, std::span<const std::uint32_t> blocks, std::uint32_t wanted,
                            std::size_t most_reads = 160);

  // Whether a read that was looked at is undefined on one path and defined on another. Of such a one nothing is said: what arrives
  // may be right on each path, or wrong where it is defined.
  [[nodiscard]] bool has_met_half_defined() const { return half_defined_; }

  [[nodiscard]] const ir::Function& before() const { return before_; }
  [[nodiscard]] const ir::Inst* find(ir::InstId id) const {
    const auto it = index_of_.find(id.value);
    return it == index_of_.end() ? nullptr : &before_.insts[it->second];
  }

 private:
  friend class Origins;
  [[nodiscard]] const OriginSet& want(const ir::Inst& inst, const ir::Operand& operand, std::uint32_t byte);

  const ir::Function& before_;
  bool half_defined_ = false;
  std::vector<ir::PReg> preserved_, entry_;  // entry_: these, and the architectural registers
  std::unordered_map<std::uint32_t, std::uint32_t> index_of_;
  std::unordered_map<std::uint64_t, OriginSet> known_;  // by operand and byte
  std::unique_ptr<Origins> origins_;
};

}  // namespace regduel::trial
