// Liveness (source 003, phase 1), restricted to what a def reaches. The least solution of
//
//   wanted_out(b) = union over successors s of wanted_in(s)
//   wanted_in(b)  = exposed(b) | (wanted_out(b) - killed(b))
//   reach(b)      = union over reachable predecessors p of reach(p) | written(p)
//   live_in(b)    = wanted_in(b) & reach(b),   live_out(b) = wanted_out(b) & (reach(b) | written(b))
//
// for each byte of a value, found value by value, where it is live; a value is live where a byte of it is. A may-def writes but
// does not kill, a def of a part kills that part. So a first guarded def does not stretch a live range to the entry (FORMAT.md
// "Undefined"), and a value whose parts are all defined anew is dead before. Only what some block reads before it kills it is live
// at the ends of blocks; local temps never are, and each of them is one piece. Deviations from the source, which solves plain live
// sets block by block: bytes, the reach mask, and a cost that grows with what is live instead of with blocks times values. Tested
// by liveness_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/grouped.h"
#include "reference/program/code.h"

namespace regduel::reference {

// A set of temps with O(1) insertion, removal and membership, for each file a dense list of its members, and how many units they
// have. A change in one file leaves the others as they are, even in their order.
class LiveSet {
 public:
  explicit LiveSet(const std::vector<Temp>& temps) : temps_(temps), at_(temps.size(), kAbsent), members_(temps.size()) {
    for (const Temp& t : temps) ++end_[ir::index(t.file)];
    std::uint32_t sum = 0;
    for (std::size_t file = 0; file < end_.size(); ++file) {
      begin_[file] = sum;
      sum += std::exchange(end_[file], sum);
    }
  }
  [[nodiscard]] bool contains(TempId t) const { return at_[t] != kAbsent; }
  // In no particular order, but in the same one every time.
  [[nodiscard]] std::span<const TempId> members(std::size_t file) const {
    return {members_.data() + begin_[file], members_.data() + end_[file]};
  }
  template <class See>
  void for_each(See&& see) const {
    for (std::size_t file = 0; file < end_.size(); ++file)
      for (const TempId t : members(file)) see(t);
  }
  [[nodiscard]] const ir::PerFile<int>& units() const { return units_; }
  void insert(TempId t) {
    std::uint32_t& at = at_[t];
    if (at != kAbsent) return;
    const Temp& temp = temps_[t];
    at = end_[ir::index(temp.file)]++;
    members_[at] = t;
    units_[ir::index(temp.file)] += temp.units;
  }
  void erase(TempId t) {
    std::uint32_t& at = at_[t];
    if (at == kAbsent) return;
    const Temp& temp = temps_[t];
    const TempId last = members_[--end_[ir::index(temp.file)]];
    members_[at] = last;
    at_[last] = at;
    at = kAbsent;
    units_[ir::index(temp.file)] -= temp.units;
  }
  void clear() {
    for_each([&](TempId t) { at_[t] = kAbsent; });
    end_ = begin_;
    units_ = {};
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;
  const std::vector<Temp>& temps_;
  std::vector<std::uint32_t> at_;  // by temp, into members_
  std::vector<TempId> members_;    // of each file: [begin_, end_), with room for all its temps
  ir::PerFile<std::uint32_t> begin_ = {}, end_ = {};
  ir::PerFile<int> units_ = {};
};

class Liveness {
 public:
  // Cost O(refs + the sum over blocks of what is live at their ends). Unreachable blocks have nothing live.
  explicit Liveness(const Code& code);

  // Values that are live at the end of a block, ascending.
  [[nodiscard]] std::span<const TempId> live_out(std::uint32_t block) const { return out_[block]; }
  [[nodiscard]] std::span<const TempId> live_in(std::uint32_t block) const { return in_[block]; }
  // Visits the instructions of a block backwards. `visit(index, live)` is called with the LiveSet after the instruction; where it
  // returns false (a dead copy), the instruction is passed over as if it were not there.
  template <class Visit>
  void walk(std::uint32_t block, Visit&& visit);

 private:
  static constexpr std::uint32_t kNever = 0xFFFFFFFFu;
  const Code& code_;
  struct Part {
    TempId value;
    ByteMask bytes;
  };
  struct PartState {
    ByteMask live = 0;     // on the way back through a block
    ByteMask reached = 0;  // on the way through it: what some def reaches
  };
  template <bool kHasParts, class Visit>
  void walk_block(std::uint32_t block, Visit& visit);
  // Of the values with defs of parts, in the block that is walked.
  void begin_parts(std::uint32_t block);
  void pass_parts(std::size_t first, std::size_t last);  // refs of one instruction, into parts_here_
  void end_parts(std::uint32_t block);

  Grouped<TempId> in_, out_;             // by block
  std::vector<std::uint8_t> has_parts_;  // by temp: a value with a def of a part; empty = there are none
  Grouped<Part> parts_in_, parts_out_;   // of these, by block
  std::vector<PartState> bytes_;         // by temp
  std::vector<const Ref*> parts_here_;   // in program order
  std::vector<ByteMask> reached_;        // before the instruction of each of these
  LiveSet live_;
  // Of the block walked last, by temp: index of the first instruction that writes it, and whether it is live at the head.
  std::vector<std::uint32_t> first_write_;
  std::vector<std::uint8_t> is_live_in_;
};

template <class Visit>
void Liveness::walk(std::uint32_t block, Visit&& visit) {
  if (!code_.blocks[block].is_reachable) return;
  if (has_parts_.empty()) return walk_block<false>(block, visit);
  begin_parts(block);
  walk_block<true>(block, visit);
  end_parts(block);
}

template <bool kHasParts, class Visit>
void Liveness::walk_block(std::uint32_t block, Visit& visit) {
  const CodeBlock& b = code_.blocks[block];
  live_.clear();
  for (const TempId t : out_[block]) live_.insert(t);
  for (const TempId t : in_[block]) is_live_in_[t] = 1;
  const std::uint32_t end = b.first_inst + b.num_insts;
  for (std::uint32_t i = end; i-- > b.first_inst;)
    for (const Ref& r : code_.refs_of(code_.insts[i]))
      if (r.flags & kWrites) first_write_[r.temp] = i;
  const auto is_whole = [&](const Ref& r) { return !kHasParts || has_parts_[r.temp] == 0; };
  std::size_t part = parts_here_.size();
  for (std::uint32_t i = end; i-- > b.first_inst;) {
    const auto refs = code_.refs_of(code_.insts[i]);
    const std::size_t last_part = part;
    if constexpr (kHasParts)
      for (const Ref& r : refs) part -= is_whole(r) ? 0 : 1;
    if (!visit(i, std::as_const(live_))) continue;
    if (part < last_part) pass_parts(part, last_part);
    // A first write that does not kill begins a live range where nothing comes from before the block.
    for (const Ref& r : refs)
      if (((r.flags & kKills) || ((r.flags & kWrites) && first_write_[r.temp] == i && !is_live_in_[r.temp])) && is_whole(r))
        live_.erase(r.temp);
    // A temp that no def reaches is not live.
    for (const Ref& r : refs)
      if ((r.flags & kReads) && (is_live_in_[r.temp] || first_write_[r.temp] - b.first_inst < i - b.first_inst) && is_whole(r))
        live_.insert(r.temp);
  }
  for (const TempId t : in_[block]) is_live_in_[t] = 0;
}

}  // namespace regduel::reference
