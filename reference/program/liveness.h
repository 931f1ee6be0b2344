// Liveness: backward dataflow over blocks with a worklist and bitsets (seed 003, phase 1), restricted to what a def reaches.
//
//   reach_in(b)  = union over reachable predecessors p of reach_in(p) | written(p)
//   live_out(b)  = union over successors s of live_in(s), and reach_in(b) | written(b)
//   live_in(b)   = (exposed(b) | (live_out(b) - killed(b))) & reach_in(b)
//
// A may-def and a def of a part write but do not kill. So a first guarded def does not stretch a live range to the entry
// (FORMAT.md "Undefined"). Only values that some block reads before it kills them have a bit; local temps never cross a block.
// Deviation from the seed, which lists plain live sets: the reach mask. Tested by liveness_test.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/program/code.h"

namespace regduel::reference {

// A set of temps with O(1) insertion, removal and membership, a dense list of its members, and how many units they have.
class LiveSet {
 public:
  explicit LiveSet(const std::vector<Temp>& temps) : temps_(temps), at_(temps.size(), kAbsent), members_(temps.size()) {}
  [[nodiscard]] bool contains(TempId t) const { return at_[t] != kAbsent; }
  // In no particular order, but in the same one every time.
  [[nodiscard]] std::span<const TempId> members() const { return {members_.data(), size_}; }
  [[nodiscard]] const ir::PerFile<int>& units() const { return units_; }
  void insert(TempId t) {
    std::uint32_t& at = at_[t];
    if (at != kAbsent) return;
    at = size_;
    members_[size_++] = t;
    const Temp& temp = temps_[t];
    units_[ir::index(temp.file)] += temp.units;
  }
  void erase(TempId t) {
    std::uint32_t& at = at_[t];
    if (at == kAbsent) return;
    const TempId last = members_[--size_];
    members_[at] = last;
    at_[last] = at;
    at = kAbsent;
    const Temp& temp = temps_[t];
    units_[ir::index(temp.file)] -= temp.units;
  }
  void clear() {
    for (const TempId t : members()) at_[t] = kAbsent;
    size_ = 0;
    units_ = {};
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;
  const std::vector<Temp>& temps_;
  std::vector<std::uint32_t> at_;
  std::vector<TempId> members_;  // [0, size_)
  std::uint32_t size_ = 0;
  ir::PerFile<int> units_ = {};
};

class Liveness {
 public:
  // Cost O(blocks x global values / 64 x passes + refs). Unreachable blocks have nothing live.
  explicit Liveness(const Code& code);

  // Values that are live at the end of a block, ascending.
  [[nodiscard]] std::vector<TempId> live_out(std::uint32_t block) const { return list(out_, block); }
  [[nodiscard]] std::vector<TempId> live_in(std::uint32_t block) const { return list(in_, block); }
  // Whether a def of the value reaches the head of the block.
  [[nodiscard]] bool reaches_in(std::uint32_t block, TempId t) const {
    return is_global(t) && get(reach_, block, static_cast<std::size_t>(bit_of_[t]));
  }
  // Visits the instructions of a block backwards. `visit(index, live)` is called with the LiveSet after the instruction; where it
  // returns false (a dead copy), the instruction is passed over as if it were not there.
  template <class Visit>
  void walk(std::uint32_t block, Visit&& visit);

 private:
  using Bits = std::vector<std::uint64_t>;
  [[nodiscard]] bool get(const Bits& bits, std::size_t block, std::size_t bit) const {
    return (bits[block * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }
  template <class See>
  void for_each(const Bits& bits, std::size_t block, See&& see) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t word = bits[block * words_ + w]; word != 0; word &= word - 1)
        see(global_[w * 64 + static_cast<std::size_t>(std::countr_zero(word))]);
  }
  [[nodiscard]] std::vector<TempId> list(const Bits& bits, std::size_t block) const;
  // What a block does with a value.
  struct Touch {
    TempId value;
    bool is_exposed = false, is_written = false, is_killed = false;  // exposed: read before any kill
  };
  void find_touches();
  void solve_reach(const std::vector<std::uint32_t>& order);
  void solve_live(const std::vector<std::uint32_t>& order);
  [[nodiscard]] bool is_global(TempId t) const { return t < bit_of_.size() && bit_of_[t] >= 0; }
  // Whether a value may be read by instruction i: of what lives inside single blocks a def always comes before a use.
  [[nodiscard]] bool is_defined_before(const CodeBlock& b, std::uint32_t block, std::uint32_t i, TempId t) const {
    return !is_global(t) || get(reach_, block, static_cast<std::size_t>(bit_of_[t])) ||
           first_write_[t] - b.first_inst < i - b.first_inst;
  }

  static constexpr std::uint32_t kNever = 0xFFFFFFFFu;
  const Code& code_;
  std::vector<std::int32_t> bit_of_;  // by value; -1 = lives inside single blocks only
  std::vector<TempId> global_;
  std::size_t words_ = 0;
  std::vector<Touch> touches_;              // by block, of each value one; freed once solved
  std::vector<std::uint32_t> first_touch_;  // by block; one more at the end
  Bits reach_, in_, out_, written_;
  LiveSet live_;
  std::vector<std::uint32_t> first_write_;  // by temp: index of the first instruction that writes it in the block walked last
};

template <class Visit>
void Liveness::walk(std::uint32_t block, Visit&& visit) {
  const CodeBlock& b = code_.blocks[block];
  if (!b.is_reachable) return;
  live_.clear();
  for_each(out_, block, [&](TempId t) { live_.insert(t); });
  const std::uint32_t end = b.first_inst + b.num_insts;
  for (std::uint32_t i = end; i-- > b.first_inst;)
    for (const Ref& r : code_.refs_of(code_.insts[i]))
      if (r.flags & kWrites) first_write_[r.temp] = i;
  for (std::uint32_t i = end; i-- > b.first_inst;) {
    const auto refs = code_.refs_of(code_.insts[i]);
    if (!visit(i, std::as_const(live_))) continue;
    for (const Ref& r : refs)
      if ((r.flags & kKills) || ((r.flags & kWrites) && first_write_[r.temp] == i && !reaches_in(block, r.temp)))
        live_.erase(r.temp);
    for (const Ref& r : refs)
      if ((r.flags & kReads) && is_defined_before(b, block, i, r.temp)) live_.insert(r.temp);
  }
}

}  // namespace regduel::reference
