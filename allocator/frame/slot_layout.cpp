// See slot_layout.h.

#include "allocator/frame/slot_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "allocator/program/names.h"
#include "base/planted.h"

namespace regduel::allocator {
namespace {

// Rows of bits, each as long as there are slots in a turn.
class BitRows {
 public:
  BitRows(std::size_t rows, std::size_t bits) : words_((bits + 63) / 64), data_(rows * words_, 0) {}

  [[nodiscard]] std::span<std::uint64_t> operator[](std::size_t row) { return {data_.data() + row * words_, words_}; }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> data_;
};
bool has(std::span<const std::uint64_t> bits, std::size_t k) { return (bits[k / 64] >> k % 64 & 1) != 0; }
void add(std::span<std::uint64_t> bits, std::size_t k) { bits[k / 64] |= std::uint64_t{1} << k % 64; }
void remove(std::span<std::uint64_t> bits, std::size_t k) { bits[k / 64] &= ~(std::uint64_t{1} << k % 64); }
template <class Visit>
void each(std::span<const std::uint64_t> bits, const Visit& visit) {
  for (std::size_t w = 0; w < bits.size(); ++w)
    for (std::uint64_t left = bits[w]; left != 0; left &= left - 1)
      visit(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
}

class SlotLayouter {
 public:
  SlotLayouter(const ir::Function& f, const ir::Cfg& cfg, const SlotGroups& groups, std::int64_t shared_bytes, ir::Fuel* fuel)
      : f_(f), cfg_(cfg), groups_(groups), shared_bytes_(shared_bytes), fuel_(fuel), begins_(f.slots.size(), 0),
        is_kept_(f.slots.size(), 0), space_(f.slots.size()) {
    layout_.dead_store.assign(f.insts.size(), 0);
    for (std::size_t s = 0; s < f.slots.size(); ++s) space_[s] = f.slots[s].space;
  }

  SlotLayout run() {
    for (first_ = 0; first_ < f_.slots.size(); first_ += count_) {
      count_ = std::min(kSlotsAtOnce, f_.slots.size() - first_);
      turn();
    }
    join_slots();
    move_behind_variables();
    return std::move(layout_);
  }

 private:
  // A spill or a refill of a slot of this turn.
  struct Access {
    std::size_t slot = 0;  // within the turn
    bool is_store = false, is_whole = false;
  };

  // The accesses of a block, the last first.
  template <class Visit>
  void each_access_backwards(BlockId b, const Visit& visit) const {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t k = block.num_insts; k-- > 0;) {
      const std::size_t index = block.first_inst + k;
      const Inst& i = f_.insts[index];
      if (i.op != Op::Spill && i.op != Op::Refill) continue;
      const auto ops = f_.operands_of(i);
      if (ops.size() < 2 || !ops[1].is_slot()) continue;
      const std::size_t slot = ops[1].slot().index();
      if (slot < first_ || slot >= first_ + count_) continue;
      const bool is_whole = !ir::is_guarded(ops) && static_cast<std::uint32_t>(f_.operand_bytes(ops[0])) == f_.slots[slot].size;
      visit(index, Access{slot - first_, i.op == Op::Spill, is_whole});
    }
  }

  void turn() {
    BitRows live_in(f_.blocks.size(), count_), conflicts(count_, count_);
    find_live(live_in);
    find_conflicts(live_in, conflicts);
    place(conflicts);
  }

  void find_live(BitRows& live_in) const {
    BitRows read(f_.blocks.size(), count_), written(f_.blocks.size(), count_);
    const auto order = cfg_.reverse_postorder();
    for (const BlockId b : order)
      each_access_backwards(b, [&](std::size_t, const Access& a) {
        if (!a.is_store) add(read[b.index()], a.slot);
        else if (a.is_whole) remove(read[b.index()], a.slot), add(written[b.index()], a.slot);
      });
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = order.size(); k-- > 0;) {
        const std::size_t b = order[k].index();
        const auto in = live_in[b], gen = read[b], kill = written[b];
        for (std::size_t w = 0; w < in.size(); ++w) {
          std::uint64_t out = 0;
          for (const BlockId to : cfg_.successors(order[k])) out |= live_in[to.index()][w];
          const std::uint64_t now = gen[w] | (out & ~kill[w]);
          changed = changed || now != in[w];
          in[w] = now;
        }
      }
    }
  }

  void find_conflicts(BitRows& live_in, BitRows& conflicts) {
    BitRows rows(1, count_);
    const auto live = rows[0];
    for (const BlockId b : cfg_.reverse_postorder()) {
      std::fill(live.begin(), live.end(), 0);
      for (const BlockId to : cfg_.successors(b))
        for (std::size_t w = 0; w < live.size(); ++w) live[w] |= live_in[to.index()][w];
      each_access_backwards(b, [&](std::size_t index, const Access& a) {
        if (!a.is_store) {
          add(live, a.slot);
          is_kept_[first_ + a.slot] = 1;
          return;
        }
        if (!has(live, a.slot) && ir::may(fuel_, "drop-dead-store")) {
          layout_.dead_store[index] = 1;
          return;
        }
        is_kept_[first_ + a.slot] = 1;
        if (a.is_whole) remove(live, a.slot);
        const auto row = conflicts[a.slot];
        for (std::size_t w = 0; w < row.size(); ++w) row[w] |= live[w];
      });
    }
    for (std::size_t s = 0; s < count_; ++s) {
      remove(conflicts[s], s);
      each(conflicts[s], [&](std::size_t t) { add(conflicts[t], s); });
    }
  }

  void place(BitRows& conflicts) {
    std::vector<std::uint32_t> order;
    std::vector<char> is_listed(groups_.members.size(), 0);
    for (std::size_t s = first_; s < first_ + count_; ++s) {
      const std::uint32_t g = groups_.group_of[s];
      if (is_kept_[s] != 0 && is_listed[g] == 0) order.push_back(g), is_listed[g] = 1;
    }
    const auto rank = [&](std::uint32_t g) { return std::pair(groups_.whole[g].align, groups_.whole[g].size); };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); });
    before_local_ = layout_.local_frame, before_shared_ = layout_.shared_frame;
    is_placed_.assign(count_, 0);
    for (const std::uint32_t g : order) {
      MemSpace space = groups_.whole[g].space;
      std::uint32_t offset = offset_in(space, g, conflicts);
      if (space == MemSpace::Shared && std::int64_t{offset} + groups_.whole[g].size > shared_bytes_) {
        space = MemSpace::Local;
        offset = offset_in(space, g, conflicts);
      }
      for (const SlotGroups::Member& m : groups_.members[g]) {
        begins_[m.slot] = offset + m.offset;
        space_[m.slot] = space;
        is_placed_[m.slot - first_] = is_kept_[m.slot];
      }
      frame_of(space) = std::max(frame_of(space), offset + groups_.whole[g].size);
    }
  }
  // The lowest offset of a group in a space at which none of its slots overlaps a slot that it interferes with.
  std::uint32_t offset_in(MemSpace space, std::uint32_t g, BitRows& conflicts) {
    const ir::Slot& whole = groups_.whole[g];
    const std::uint32_t end_of_frame = frame_of(space);
    is_bad_.resize(std::max<std::size_t>(is_bad_.size(), end_of_frame), 0);
    ++serial_;
    for (const SlotGroups::Member& m : groups_.members[g]) {
      if (is_kept_[m.slot] == 0) continue;
      each(conflicts[m.slot - first_], [&](std::size_t t) {
        const std::size_t other = first_ + t;
        if (is_placed_[t] == 0 || space_[other] != space) return;
        const std::uint32_t end = begins_[other] + bytes_to_keep(f_.slots[other]), reach = m.offset + f_.slots[m.slot].size - 1;
        const std::uint32_t from = begins_[other] > reach ? begins_[other] - reach : 0, to = end > m.offset ? end - m.offset : 0;
        if (from < to) std::fill(is_bad_.begin() + from, is_bad_.begin() + to, serial_);
      });
    }
    std::uint32_t offset = round_up(space == MemSpace::Shared ? before_shared_ : before_local_, whole.align);
    while (offset < end_of_frame && is_bad_[offset] == serial_) offset += whole.align;
    return offset < end_of_frame && !ir::may(fuel_, "share-slot") ? round_up(end_of_frame, whole.align) : offset;
  }
  static std::uint32_t bytes_to_keep(const ir::Slot& s) {
    return REGDUEL_PLANTED("fatpoint-slot-shared-too-early") ? std::min(s.size, 8u) : s.size;
  }
  std::uint32_t& frame_of(MemSpace space) { return space == MemSpace::Shared ? layout_.shared_frame : layout_.local_frame; }

  // Groups whose bytes overlap become one slot; slots are numbered in the order of their first.
  void join_slots() {
    layout_.place.resize(f_.slots.size());
    struct Span {
      MemSpace space = MemSpace::Local;
      std::uint32_t begin = 0, group = 0, first = 0;  // of the group: its first slot that is kept
    };
    std::vector<Span> order;
    std::vector<char> is_listed(groups_.members.size(), 0);
    for (std::uint32_t s = 0; s < f_.slots.size(); ++s) {
      const std::uint32_t g = groups_.group_of[s];
      if (is_kept_[s] == 0 || is_listed[g] != 0) continue;
      is_listed[g] = 1;
      const auto& members = groups_.members[g];
      const auto m = std::find_if(members.begin(), members.end(), [&](const SlotGroups::Member& x) { return x.slot == s; });
      order.push_back({space_[s], begins_[s] - m->offset, g, s});
    }
    std::sort(order.begin(), order.end(), [](const Span& a, const Span& b) {
      return std::tie(a.space, a.begin, a.first) < std::tie(b.space, b.begin, b.first);
    });
    struct Joined {
      ir::Slot slot;
      std::uint32_t first = 0;  // slot of the program
    };
    std::vector<Joined> joined;
    std::vector<std::size_t> joined_of(groups_.members.size(), 0);
    for (const Span& at : order) {
      const ir::Slot& whole = groups_.whole[at.group];
      if (joined.empty() || joined.back().slot.space != at.space ||
          joined.back().slot.offset + joined.back().slot.size <= at.begin) {
        joined.push_back({{at.space, whole.size, whole.align, at.begin}, at.first});
      } else {
        Joined& j = joined.back();
        j.slot.size = std::max(j.slot.size, at.begin + whole.size - j.slot.offset);
        j.slot.align = std::max(j.slot.align, whole.align);
        j.first = std::min(j.first, at.first);
      }
      joined_of[at.group] = joined.size() - 1;
    }
    // A member may be more aligned than where all of it begins.
    for (Joined& j : joined)
      if (j.slot.offset != 0) j.slot.align = std::min(j.slot.align, j.slot.offset & (~j.slot.offset + 1));
    std::vector<std::size_t> by_first(joined.size());
    std::iota(by_first.begin(), by_first.end(), std::size_t{0});
    std::sort(by_first.begin(), by_first.end(), [&](std::size_t a, std::size_t b) { return joined[a].first < joined[b].first; });
    std::vector<SlotId> id(joined.size());
    for (const std::size_t j : by_first) {
      id[j] = SlotId(static_cast<std::uint32_t>(layout_.slots.size()));
      layout_.slots.push_back(joined[j].slot);
    }
    for (std::size_t s = 0; s < f_.slots.size(); ++s) {
      if (is_kept_[s] == 0) continue;
      const std::size_t j = joined_of[groups_.group_of[s]];
      layout_.place[s] = {id[j], begins_[s] - joined[j].slot.offset};
    }
  }

  // The program's own variables are at the beginning of the local frame.
  void move_behind_variables() {
    std::uint32_t align = 1;
    for (const ir::Slot& s : layout_.slots)
      if (s.space == MemSpace::Local) align = std::max(align, s.align);
    const std::uint32_t base = round_up(f_.local_frame, align);
    for (ir::Slot& s : layout_.slots)
      if (s.space == MemSpace::Local) s.offset += base;
    layout_.local_frame += layout_.local_frame > 0 ? base : f_.local_frame;
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const SlotGroups& groups_;
  std::int64_t shared_bytes_;
  ir::Fuel* fuel_;
  std::size_t first_ = 0, count_ = 0;  // slots of this turn
  std::vector<std::uint32_t> begins_;  // by slot: in the frame of its space
  std::vector<char> is_kept_;
  std::vector<MemSpace> space_;
  std::vector<char> is_placed_;                         // by slot of this turn
  std::uint32_t before_local_ = 0, before_shared_ = 0;  // frames before this turn
  std::vector<std::uint32_t> is_bad_;                   // by offset: the serial number of the search for which it is
  std::uint32_t serial_ = 0;
  SlotLayout layout_;
};

}  // namespace

SlotLayout lay_out_slots(const ir::Function& f, const ir::Cfg& cfg, const SlotGroups& groups, std::int64_t shared_bytes,
                         ir::Fuel* fuel) {
  return SlotLayouter(f, cfg, groups, shared_bytes, fuel).run();
}

}  // namespace regduel::allocator
