#include "reference/spill/shared_slots.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "reference/spill/worklist.h"

namespace regduel::reference {
namespace {

using Words = std::vector<std::uint64_t>;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;

class Sharing {
 public:
  Sharing(const Code& code, const Plan& plan, const std::vector<std::uint8_t>& is_dead)
      : code_(code), plan_(plan), is_dead_(is_dead), words_((plan.slots.size() + 63) / 64),
        live_in_(code.blocks.size() * words_, 0), reach_out_(live_in_.size(), 0), conflicts_(plan.slots.size()) {}

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order = reverse_postorder(code_);
    find_reach(order);
    std::ranges::reverse(order);
    find_live(order);
    for (const std::uint32_t b : order) find_conflicts(b);
    return first_fit();
  }

 private:
  [[nodiscard]] bool has(const CodeInst& inst, std::uint32_t i, CodeKind kind) const { return inst.kind == kind && !is_dead_[i]; }
  [[nodiscard]] bool fills(const CodeInst& inst) const {
    return inst.slot_offset == 0 && inst.bytes == plan_.slots[inst.slot].bytes;
  }
  static void set(Words& words, std::uint32_t slot) { words[slot / 64] |= std::uint64_t{1} << (slot % 64); }
  static void clear(Words& words, std::uint32_t slot) { words[slot / 64] &= ~(std::uint64_t{1} << (slot % 64)); }
  static bool is_set(const Words& words, std::uint32_t slot) { return (words[slot / 64] >> (slot % 64) & 1) != 0; }
  // f(index, instruction) for the stores and refills of a block, from its end to its head.
  template <class F>
  void backwards(std::uint32_t b, F&& f) const {
    const CodeBlock& block = code_.blocks[b];
    for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst;)
      if (has(code_.insts[i], i, CodeKind::Store) || has(code_.insts[i], i, CodeKind::Refill)) f(code_.insts[i]);
  }

  // Which slots some store has reached at the end of each block.
  void find_reach(const std::vector<std::uint32_t>& order) {
    Words now(words_);
    Worklist work(code_.blocks.size(), order);
    work.run([&](std::uint32_t b) {
      now = reach_in(b);
      backwards(b, [&](const CodeInst& inst) {
        if (inst.kind == CodeKind::Store) set(now, inst.slot);
      });
      std::uint64_t* const out = &reach_out_[b * words_];
      if (std::equal(now.begin(), now.end(), out)) return;
      std::ranges::copy(now, out);
      for (const std::uint32_t s : code_.successors[b]) work.push(s);
    });
  }
  [[nodiscard]] Words reach_in(std::uint32_t b) const {
    Words in(words_, 0);
    for (const std::uint32_t p : code_.predecessors[b])
      for (std::size_t w = 0; w < words_; ++w) in[w] |= reach_out_[p * words_ + w];
    return in;
  }
  // What is live at the end of a block.
  [[nodiscard]] Words live_out(std::uint32_t b) const {
    Words out(words_, 0);
    for (const std::uint32_t s : code_.successors[b])
      for (std::size_t w = 0; w < words_; ++w) out[w] |= live_in_[s * words_ + w] & reach_out_[b * words_ + w];
    return out;
  }
  void find_live(const std::vector<std::uint32_t>& order) {
    Worklist work(code_.blocks.size(), order);
    work.run([&](std::uint32_t b) {
      Words now = live_out(b);
      backwards(b, [&](const CodeInst& inst) {
        if (inst.kind == CodeKind::Refill) set(now, inst.slot);
        else if (fills(inst)) clear(now, inst.slot);
      });
      const Words reach = reach_in(b);
      for (std::size_t w = 0; w < words_; ++w) now[w] &= reach[w];
      std::uint64_t* const in = &live_in_[b * words_];
      if (std::equal(now.begin(), now.end(), in)) return;
      std::ranges::copy(now, in);
      for (const std::uint32_t p : code_.predecessors[b])
        if (code_.blocks[p].is_reachable) work.push(p);
    });
  }
  void find_conflicts(std::uint32_t b) {
    Words now = live_out(b);
    const Words before = reach_in(b);
    // Where the first store of a slot is only a part, it is not live before.
    std::vector<std::uint32_t> stores(plan_.slots.size(), 0);
    backwards(b, [&](const CodeInst& inst) { stores[inst.slot] += inst.kind == CodeKind::Store; });
    backwards(b, [&](const CodeInst& inst) {
      if (inst.kind == CodeKind::Refill) return set(now, inst.slot);
      conflicts_[inst.slot].unite(now);
      const bool is_first = --stores[inst.slot] == 0 && !is_set(before, inst.slot);
      if (fills(inst) || is_first) clear(now, inst.slot);
    });
  }
  std::vector<std::uint32_t> first_fit() {
    const std::size_t slots = plan_.slots.size();
    for (std::uint32_t a = 0; a < slots; ++a)
      conflicts_[a].for_each([&](std::uint32_t b) {
        if (a != b) conflicts_[b].add(a);
      });
    std::vector<std::uint32_t> order(slots), first(slots), class_of(slots, kNone), firsts, taken_by;
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return plan_.slots[a].bytes != plan_.slots[b].bytes ? plan_.slots[a].bytes > plan_.slots[b].bytes : a < b;
    });
    for (const std::uint32_t s : order) {
      conflicts_[s].for_each([&](std::uint32_t o) {
        if (o != s && class_of[o] != kNone) taken_by[class_of[o]] = s;
      });
      const auto free = std::ranges::find_if(taken_by, [&](std::uint32_t by) { return by != s; });
      class_of[s] = static_cast<std::uint32_t>(free - taken_by.begin());
      if (free == taken_by.end()) {
        taken_by.push_back(kNone);
        firsts.push_back(s);
      }
      first[s] = firsts[class_of[s]];
    }
    return first;
  }

  // A set of slots, with the words from its first member to its last.
  class Row {
   public:
    void unite(const Words& more) {
      std::size_t begin = 0, end = more.size();
      while (end > 0 && more[end - 1] == 0) --end;
      if (end == 0) return;
      while (more[begin] == 0) ++begin;
      reach(begin, end);
      for (std::size_t w = begin; w < end; ++w) bits_[w - first_] |= more[w];
    }
    void add(std::uint32_t slot) {
      reach(slot / 64, slot / 64 + 1);
      bits_[slot / 64 - first_] |= std::uint64_t{1} << (slot % 64);
    }
    template <class F>
    void for_each(F&& f) const {
      for (std::size_t w = 0; w < bits_.size(); ++w)
        for (std::uint64_t bits = bits_[w]; bits != 0; bits &= bits - 1)
          f(static_cast<std::uint32_t>((first_ + w) * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }

   private:
    void reach(std::size_t begin, std::size_t end) {
      if (bits_.empty()) first_ = begin;
      if (begin < first_) {
        bits_.insert(bits_.begin(), first_ - begin, 0);
        first_ = begin;
      }
      if (bits_.size() < end - first_) bits_.resize(end - first_, 0);
    }
    std::size_t first_ = 0;
    Words bits_;
  };

  const Code& code_;
  const Plan& plan_;
  const std::vector<std::uint8_t>& is_dead_;
  std::size_t words_;
  Words live_in_, reach_out_;   // by block, words_ each
  std::vector<Row> conflicts_;  // by slot: what is live where it is stored, then also the slots that are stored where it is live
};

}  // namespace

std::vector<std::uint32_t> shared_slots(const Code& code, const Plan& plan, const std::vector<std::uint8_t>& is_dead) {
  return Sharing(code, plan, is_dead).run();
}

}  // namespace regduel::reference
