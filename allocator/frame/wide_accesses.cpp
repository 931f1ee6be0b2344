// See wide_accesses.h.

#include "allocator/frame/wide_accesses.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

using ir::Slot;

constexpr std::uint32_t kWidest = 16;  // bytes of an access

std::uint32_t bytes_of(PReg r) { return static_cast<std::uint32_t>(r.count * ir::unit_bytes(r.file)); }

// True if both together are a tuple that a vreg could have.
bool are_halves(PReg low, PReg high) {
  return low.file == high.file && low.count == high.count && low.end() == high.begin() && low.first % (2 * low.count) == 0;
}

// Spills and refills of whole registers that stand alone in their instruction.
bool can_widen(const ir::Function& f, const Inst& i) {
  if (!ir::is_slot_move(i.op) || !i.is_inserted() || i.is_deleted()) return false;
  const auto ops = f.operands_of(i);
  if (ops.size() != 2 || !ops[0].is_vreg() || !ops[0].part.is_whole() || !ops[1].is_slot()) return false;
  const ir::VReg& v = f.vreg(ops[0].vreg());
  return (v.file() == RegFile::R || v.file() == RegFile::UR) && v.bytes() >= ir::unit_bytes(v.file());
}

class SlotGrouper {
 public:
  SlotGrouper(const ir::Function& f, const std::vector<int>& homes, std::span<const std::int64_t> frequency,
              std::size_t slots_at_once, ir::Fuel* fuel)
      : f_(f), homes_(homes), frequency_(frequency), slots_at_once_(slots_at_once), fuel_(fuel),
        groups_(SlotGroups::alone(f.slots)) {}

  SlotGroups run() {
    find_runs();
    for (std::uint32_t bytes = 4; bytes < kWidest; bytes *= 2) join_halves(bytes);
    return std::move(groups_);
  }

 private:
  // Registers that are moved to or from a whole group at once.
  struct Piece {
    PReg registers;
    std::uint32_t group = 0;
  };
  struct Run {
    std::int64_t frequency = 1;
    std::vector<Piece> pieces;
  };
  struct Candidate {
    std::uint32_t low = 0, high = 0;  // groups
    std::int64_t weight = 0;
  };

  void find_runs() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      const ir::Block& block = f_.blocks[b];
      const std::size_t end = block.first_inst + block.num_insts;
      for (std::size_t k = block.first_inst; k < end;) {
        const std::size_t length = length_of_run(f_, k, end);
        if (length > 1) add_run(k, length, frequency_[b]);
        k += std::max<std::size_t>(length, 1);
      }
    }
  }
  void add_run(std::size_t begin, std::size_t length, std::int64_t frequency) {
    Run run{frequency, {}};
    for (std::size_t k = begin; k < begin + length; ++k) {
      const auto ops = f_.operands_of(f_.insts[k]);
      const ir::VReg& v = f_.vreg(ops[0].vreg());
      const PReg registers{v.file(), static_cast<std::uint8_t>(v.units()),
                           static_cast<std::uint16_t>(homes_[ops[0].vreg().index()])};
      const std::uint32_t slot = ops[1].slot().value;
      if (ops[1].slot_offset() == 0 && f_.slots[slot].size == bytes_of(registers)) run.pieces.push_back({registers, slot});
    }
    std::sort(run.pieces.begin(), run.pieces.end(), [](const Piece& a, const Piece& b) { return a.registers < b.registers; });
    if (run.pieces.size() > 1) runs_.push_back(std::move(run));
  }

  // By registers, so that halves are neighbours.
  static bool less(const Piece& a, const Piece& b) {
    return a.registers.file != b.registers.file ? a.registers.file < b.registers.file : a.registers.first < b.registers.first;
  }
  template <class Visit>
  void for_each_halves(Run& run, std::uint32_t bytes, const Visit& visit) {
    for (std::size_t k = 0; k + 1 < run.pieces.size(); ++k) {
      const Piece &low = run.pieces[k], &high = run.pieces[k + 1];
      if (bytes_of(low.registers) == bytes && are_halves(low.registers, high.registers)) visit(k);
    }
  }
  [[nodiscard]] std::size_t turn_of(std::uint32_t group) const { return groups_.members[group][0].slot / slots_at_once_; }

  void join_halves(std::uint32_t bytes) {
    std::vector<Candidate> all;
    for (Run& run : runs_) {
      std::sort(run.pieces.begin(), run.pieces.end(), less);
      for_each_halves(run, bytes, [&](std::size_t k) {
        const std::uint32_t low = run.pieces[k].group, high = run.pieces[k + 1].group;
        if (low != high && groups_.whole[low].space == groups_.whole[high].space && turn_of(low) == turn_of(high))
          all.push_back({low, high, run.frequency});
      });
    }
    const auto pair_of = [](const Candidate& c) { return std::pair(c.low, c.high); };
    std::sort(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) { return pair_of(a) < pair_of(b); });
    std::vector<Candidate> candidates;
    for (const Candidate& c : all)
      if (candidates.empty() || pair_of(candidates.back()) != pair_of(c)) candidates.push_back(c);
      else candidates.back().weight += c.weight;
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });

    const std::size_t before = groups_.members.size();
    std::vector<std::uint32_t> joined(before);
    std::iota(joined.begin(), joined.end(), 0u);
    std::vector<char> is_low(before, 0);
    for (const Candidate& c : candidates) {
      if (joined[c.low] != c.low || joined[c.high] != c.high || !ir::may(fuel_, "group-slots")) continue;
      joined[c.low] = joined[c.high] = join(c.low, c.high);
      is_low[c.low] = 1;
    }
    for (Run& run : runs_) {
      for_each_halves(run, bytes, [&](std::size_t k) {
        Piece &low = run.pieces[k], &high = run.pieces[k + 1];
        if (joined[low.group] == low.group || joined[low.group] != joined[high.group] || is_low[low.group] == 0) return;
        low.group = joined[low.group];
        low.registers.count = static_cast<std::uint8_t>(2 * low.registers.count);
        high.registers.count = 0;
      });
      std::erase_if(run.pieces, [](const Piece& p) { return !p.registers.is_valid(); });
    }
  }
  std::uint32_t join(std::uint32_t low, std::uint32_t high) {
    const auto id = static_cast<std::uint32_t>(groups_.members.size());
    std::vector<SlotGroups::Member> members = std::move(groups_.members[low]);
    for (const SlotGroups::Member& m : groups_.members[high]) members.push_back({m.slot, m.offset + groups_.whole[low].size});
    groups_.members[low].clear();
    groups_.members[high].clear();
    for (const SlotGroups::Member& m : members) groups_.group_of[m.slot] = id;
    Slot whole = groups_.whole[low];
    whole.size += groups_.whole[high].size;
    whole.align = std::max({whole.align, groups_.whole[high].align, whole.size});
    groups_.members.push_back(std::move(members));
    groups_.whole.push_back(whole);
    return id;
  }

  const ir::Function& f_;
  const std::vector<int>& homes_;
  std::span<const std::int64_t> frequency_;
  std::size_t slots_at_once_;
  ir::Fuel* fuel_;
  SlotGroups groups_;
  std::vector<Run> runs_;
};

// Whether two of them move the same unit, or (stores) write the same byte.
bool has_repetition(const std::vector<MemoryAccess>& run, bool is_store) {
  std::vector<PReg> registers;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> bytes;  // slot, begin, end
  for (const MemoryAccess& a : run) {
    registers.push_back(a.registers);
    bytes.emplace_back(a.slot.value, a.offset, a.offset + bytes_of(a.registers));
  }
  std::sort(registers.begin(), registers.end(),
            [](PReg a, PReg b) { return std::pair(a.file, a.first) < std::pair(b.file, b.first); });
  std::sort(bytes.begin(), bytes.end());
  for (std::size_t k = 0; k + 1 < run.size(); ++k) {
    if (registers[k].overlaps(registers[k + 1])) return true;
    const auto& [slot, begin, end] = bytes[k];
    if (is_store && std::get<0>(bytes[k + 1]) == slot && std::get<1>(bytes[k + 1]) < end) return true;
  }
  return false;
}

}  // namespace

SlotGroups SlotGroups::alone(std::span<const Slot> slots) {
  SlotGroups g;
  g.whole.assign(slots.begin(), slots.end());
  g.group_of.resize(slots.size());
  std::iota(g.group_of.begin(), g.group_of.end(), 0u);
  for (std::uint32_t s = 0; s < slots.size(); ++s) g.members.push_back({{s, 0}});
  return g;
}

SlotGroups group_slots(const ir::Function& f, const std::vector<int>& homes, std::span<const std::int64_t> frequency,
                       std::size_t slots_at_once, ir::Fuel* fuel) {
  return SlotGrouper(f, homes, frequency, slots_at_once, fuel).run();
}

std::size_t length_of_run(const ir::Function& f, std::size_t index, std::size_t end) {
  std::size_t k = index;
  while (k < end && f.insts[k].op == f.insts[index].op && can_widen(f, f.insts[k])) ++k;
  return k - index;
}

std::vector<MemoryAccess> widen(std::vector<MemoryAccess> run, std::span<const Slot> slots, bool is_store) {
  if (run.size() < 2 || has_repetition(run, is_store)) return run;
  std::vector<std::size_t> order(run.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t k) { return std::pair(run[k].registers.file, run[k].registers.first); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (std::uint32_t bytes = 4; bytes < kWidest; bytes *= 2) {
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
      MemoryAccess &low = run[order[k]], &high = run[order[k + 1]];
      if (bytes_of(low.registers) != bytes || !are_halves(low.registers, high.registers)) continue;
      const bool is_in_order = low.offset + bytes == high.offset ||
                               (REGDUEL_PLANTED("fatpoint-wide-access-swaps-halves") && high.offset + bytes == low.offset);
      if (low.slot != high.slot || !is_in_order) continue;
      if ((slots[low.slot.index()].offset + std::min(low.offset, high.offset)) % (2 * bytes) != 0) continue;
      low.offset = std::min(low.offset, high.offset);
      low.registers.count = static_cast<std::uint8_t>(2 * low.registers.count);
      const std::size_t first = std::min(order[k], order[k + 1]), second = std::max(order[k], order[k + 1]);
      run[first] = low;
      run[second].registers.count = 0;
      order[k] = first;
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    }
  }
  std::erase_if(run, [](const MemoryAccess& a) { return !a.registers.is_valid(); });
  return run;
}

}  // namespace regduel::allocator
