// See slot_layout.h.

#include "allocator/spill/slot_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/planted.h"

namespace regduel::allocator {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::MemSpace;
using ir::Op;
using ir::Operand;
using ir::SlotId;

std::uint32_t round_up(std::uint32_t bytes, std::uint32_t align) { return (bytes + align - 1) / align * align; }

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
  SlotLayouter(const ir::Function& f, const ir::Cfg& cfg, std::int64_t shared_bytes, ir::Fuel* fuel)
      : f_(f), cfg_(cfg), shared_bytes_(shared_bytes), fuel_(fuel), begins_(f.slots.size(), 0), is_kept_(f.slots.size(), 0),
        space_(f.slots.size()) {
    layout_.dead_store.assign(f.insts.size(), 0);
    for (std::size_t s = 0; s < f.slots.size(); ++s) space_[s] = f.slots[s].space;
  }

  SlotLayout run() {
    for (first_ = 0; first_ < f_.slots.size(); first_ += count_) {
      count_ = std::min(kSlotsAtOnce, f_.slots.size() - first_);
      turn();
    }
    join_slots();
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
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < count_; ++s)
      if (is_kept_[first_ + s] != 0) order.push_back(s);
    const auto rank = [&](std::size_t s) {
      const ir::Slot& slot = f_.slots[first_ + s];
      return std::pair(slot.align, slot.size);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    const std::uint32_t before_local = layout_.local_frame, before_shared = layout_.shared_frame;
    std::vector<char> is_placed(count_, 0);
    for (const std::size_t s : order) {
      const ir::Slot& slot = f_.slots[first_ + s];
      MemSpace& space = space_[first_ + s];
      // The lowest offset in a space where the bytes of those that are in use are not touched.
      const auto offset_in = [&](MemSpace in) {
        const std::uint32_t end_of_frame = frame_of(in);
        taken_.resize(std::max<std::size_t>(taken_.size(), end_of_frame), 0);
        ++serial_;
        each(conflicts[s], [&](std::size_t t) {
          if (is_placed[t] == 0 || space_[first_ + t] != in) return;
          const auto from = taken_.begin() + begins_[first_ + t];
          std::fill(from, from + bytes_to_keep(f_.slots[first_ + t]), serial_);
        });
        const auto is_taken = [&](std::uint32_t begin) {
          const auto from = taken_.begin() + std::min(begin, end_of_frame),
                     to = taken_.begin() + std::min(begin + slot.size, end_of_frame);
          return std::find(from, to, serial_) != to;
        };
        std::uint32_t offset = round_up(in == MemSpace::Shared ? before_shared : before_local, slot.align);
        while (is_taken(offset)) offset += slot.align;
        return offset < end_of_frame && !ir::may(fuel_, "share-slot") ? round_up(end_of_frame, slot.align) : offset;
      };
      std::uint32_t offset = offset_in(space);
      if (space == MemSpace::Shared && std::int64_t{offset} + slot.size > shared_bytes_) {
        space = MemSpace::Local;
        offset = offset_in(space);
      }
      begins_[first_ + s] = offset;
      is_placed[s] = 1;
      frame_of(space) = std::max(frame_of(space), offset + slot.size);
    }
  }
  static std::uint32_t bytes_to_keep(const ir::Slot& s) {
    return REGDUEL_PLANTED("fatpoint-slot-shared-too-early") ? std::min(s.size, 8u) : s.size;
  }
  std::uint32_t& frame_of(MemSpace space) { return space == MemSpace::Shared ? layout_.shared_frame : layout_.local_frame; }

  // Slots whose bytes overlap become one, numbered in the order of their first.
  void join_slots() {
    layout_.place.resize(f_.slots.size());
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < f_.slots.size(); ++s)
      if (is_kept_[s] != 0) order.push_back(s);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(space_[a], begins_[a], a) < std::tuple(space_[b], begins_[b], b);
    });
    struct Group {
      ir::Slot slot;
      std::size_t first = 0;  // slot of the program
    };
    std::vector<Group> groups;
    std::vector<std::size_t> group_of(f_.slots.size(), 0);
    for (const std::size_t s : order) {
      const std::uint32_t begin = begins_[s], end = begin + f_.slots[s].size;
      if (groups.empty() || groups.back().slot.space != space_[s] || groups.back().slot.offset + groups.back().slot.size <= begin) {
        groups.push_back({{space_[s], end - begin, f_.slots[s].align, begin}, s});
      } else {
        Group& g = groups.back();
        g.slot.size = std::max(g.slot.size, end - g.slot.offset);
        g.slot.align = std::max(g.slot.align, f_.slots[s].align);
        g.first = std::min(g.first, s);
      }
      group_of[s] = groups.size() - 1;
    }
    // A member may be more aligned than where its group begins.
    for (Group& g : groups)
      if (g.slot.offset != 0) g.slot.align = std::min(g.slot.align, g.slot.offset & (~g.slot.offset + 1));
    std::vector<std::size_t> by_first(groups.size());
    std::iota(by_first.begin(), by_first.end(), std::size_t{0});
    std::sort(by_first.begin(), by_first.end(), [&](std::size_t a, std::size_t b) { return groups[a].first < groups[b].first; });
    std::vector<SlotId> id(groups.size());
    for (const std::size_t g : by_first) {
      id[g] = SlotId(static_cast<std::uint32_t>(layout_.slots.size()));
      layout_.slots.push_back(groups[g].slot);
    }
    for (const std::size_t s : order) layout_.place[s] = {id[group_of[s]], begins_[s] - groups[group_of[s]].slot.offset};
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::int64_t shared_bytes_;
  ir::Fuel* fuel_;
  std::size_t first_ = 0, count_ = 0;  // slots of this turn
  std::vector<std::uint32_t> begins_;  // by slot: in the frame of its space
  std::vector<char> is_kept_;
  std::vector<MemSpace> space_;
  std::vector<std::uint32_t> taken_;  // by byte of a frame: the serial number of the search for which it is taken
  std::uint32_t serial_ = 0;
  SlotLayout layout_;
};

}  // namespace

SlotLayout lay_out_slots(const ir::Function& f, const ir::Cfg& cfg, std::int64_t shared_bytes, ir::Fuel* fuel) {
  return SlotLayouter(f, cfg, shared_bytes, fuel).run();
}

}  // namespace regduel::allocator
