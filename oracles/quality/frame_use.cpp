// See frame_use.h. Two dataflows over the bytes of the frame: which may hold something (forward, a store makes it so), and which of
// them are refilled (backward, a store without a guard ends that). Tested by frame_use_test.cpp.

#include "oracles/quality/frame_use.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace regduel::oracles {
namespace {

using ir::BlockId;
using Bits = std::vector<std::uint64_t>;

struct Access {
  std::size_t begin = 0, end = 0;  // bytes of the frame
  bool stores = false, is_guarded = false;
};

class FrameUse {
 public:
  FrameUse(const ir::Function& f, const ir::Cfg& cfg, ir::MemSpace space) : f_(f), cfg_(cfg), space_(space) {
    for (const ir::Slot& s : f.slots)
      if (s.space == space) bytes_ = std::max(bytes_, std::size_t{s.offset} + s.size);
  }

  std::int64_t most() {
    if (bytes_ == 0) return 0;
    find_stored();
    find_needed();
    std::int64_t most = 0;
    for (const BlockId b : cfg_.reverse_postorder()) most = std::max(most, most_in(b));
    return most;
  }

 private:
  [[nodiscard]] std::optional<Access> access(const ir::Inst& inst) const {
    if (!ir::is_slot_move(inst.op) || inst.is_deleted()) return std::nullopt;
    const auto ops = f_.operands_of(inst);
    for (const ir::Operand& op : ops) {
      if (!op.is_slot() || f_.slots[op.slot().index()].space != space_) continue;
      const std::size_t begin = f_.slots[op.slot().index()].offset + op.slot_offset();
      return Access{begin, begin + static_cast<std::size_t>(f_.operand_bytes(ops[0])), inst.op == ir::Op::Spill,
                    ir::is_guarded(ops)};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<Access> accesses(BlockId b) const {
    std::vector<Access> list;
    for (const ir::Inst& inst : f_.insts_of(b))
      if (const auto a = access(inst)) list.push_back(*a);
    return list;
  }
  [[nodiscard]] Bits none() const { return Bits((bytes_ + 63) / 64, 0); }
  static void set(Bits& bits, const Access& a, bool to) {
    for (std::size_t k = a.begin; k < a.end; ++k) {
      if (to) bits[k / 64] |= std::uint64_t{1} << (k % 64);
      else bits[k / 64] &= ~(std::uint64_t{1} << (k % 64));
    }
  }
  static void unite(Bits& into, const Bits& with) {
    for (std::size_t w = 0; w < into.size(); ++w) into[w] |= with[w];
  }

  // The stored bytes at the head of each block.
  void find_stored() {
    stored_.assign(f_.blocks.size(), none());
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        Bits now = stored_[b.index()];
        for (const Access& a : accesses(b))
          if (a.stores) set(now, a, true);
        for (const BlockId s : cfg_.successors(b)) {
          const Bits old = stored_[s.index()];
          unite(stored_[s.index()], now);
          is_changed = is_changed || stored_[s.index()] != old;
        }
      }
    }
  }
  // The bytes that are refilled behind the end of each block.
  void find_needed() {
    needed_.assign(f_.blocks.size(), none());
    std::vector<Bits> at_head(f_.blocks.size(), none());
    const auto order = cfg_.reverse_postorder();
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::size_t k = order.size(); k-- > 0;) {
        const BlockId b = order[k];
        for (const BlockId s : cfg_.successors(b)) unite(needed_[b.index()], at_head[s.index()]);
        Bits now = needed_[b.index()];
        const std::vector<Access> list = accesses(b);
        for (std::size_t a = list.size(); a-- > 0;)
          if (!list[a].stores || !list[a].is_guarded) set(now, list[a], !list[a].stores);
        is_changed = is_changed || now != at_head[b.index()];
        at_head[b.index()] = std::move(now);
      }
    }
  }
  // Between any two accesses of a block, and at its ends.
  [[nodiscard]] std::int64_t most_in(BlockId b) const {
    const std::vector<Access> list = accesses(b);
    std::vector<Bits> stored = {stored_[b.index()]};  // before each access, and at the end
    for (const Access& a : list) {
      stored.push_back(stored.back());
      if (a.stores) set(stored.back(), a, true);
    }
    Bits needed = needed_[b.index()];
    std::int64_t most = count(stored.back(), needed);
    for (std::size_t a = list.size(); a-- > 0;) {
      if (!list[a].stores || !list[a].is_guarded) set(needed, list[a], !list[a].stores);
      most = std::max(most, count(stored[a], needed));
    }
    return most;
  }
  static std::int64_t count(const Bits& stored, const Bits& needed) {
    std::int64_t sum = 0;
    for (std::size_t w = 0; w < stored.size(); ++w) sum += std::popcount(stored[w] & needed[w]);
    return sum;
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  ir::MemSpace space_;
  std::size_t bytes_ = 0;
  std::vector<Bits> stored_, needed_;  // by block
};

}  // namespace

std::int64_t most_bytes_in_use(const ir::Function& f, const ir::Cfg& cfg, ir::MemSpace space) {
  return FrameUse(f, cfg, space).most();
}

}  // namespace regduel::oracles
