// See by_point.h.

#include "oracles/proof/by_point.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/pair/match.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;

class ByPoint {
 public:
  ByPoint(const Before& before, const Function& after)
      : f_(before.program()), g_(after), cfg_(after), partner_(after.insts.size(), kNoPartner), head_(after.blocks.size()) {}

  std::string run() {
    for (const ir::VReg& v : f_.vregs)
      if (v.is_architectural()) because("the program has architectural values");
    check_deleted();
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Inst& inst : g_.insts_of(b)) check_kind(inst);
    if (why_.empty()) check_frame();
    if (why_.empty()) find_writers();
    for (const BlockId b : cfg_.reverse_postorder()) {
      if (!why_.empty()) break;
      Writers now = head_[b.index()];
      for_insts(b, [&](std::uint32_t at) {
        check_reads(at, now);
        step(at, now);
      });
    }
    return std::move(why_);
  }

 private:
  using Writers = std::vector<std::uint32_t>;
  static constexpr std::uint32_t kNoPartner = 0xFFFFFFFFu;
  struct Access {
    std::uint64_t begin = 0, end = 0;  // space << 40 | byte
    ir::RegFile file = ir::RegFile::R;
    friend bool operator==(const Access&, const Access&) = default;
  };

  void because(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  void because(const Inst& inst, std::string_view why) { because(fmt::format("#{}: {}", inst.id.value, why)); }

  static std::uint32_t moved_by(const Operand& op) {
    const ir::FileBytes bytes = Function::file_bytes(op);
    return bytes.end - bytes.begin;
  }

  // --- what there is ----------------------------------------------------------------------------------------------
  void check_deleted() {
    Unreadable unreadable;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      match_block(
          f_, g_, BlockId(b), unreadable,
          [&](std::uint32_t i, std::uint32_t a) {
            const Inst& was = f_.insts[i];
            partner_[a] = i;
            if (g_.insts[a].op == was.op && !g_.insts[a].is_deleted()) return;
            if (!was.is_copy() && !was.is_phi()) return;
            for (const Operand& op : f_.operands_of(was))
              if (op.is_vreg() && !f_.is_whole(op)) because(was, "a copy of a part is deleted, or has become a spill or a refill");
          },
          [](std::uint32_t) {});
    if (unreadable.is_set()) because(unreadable.why());
  }
  void check_kind(const Inst& inst) {
    const auto ops = g_.operands_of(inst);
    const bool is_access = inst.op == Op::Spill || inst.op == Op::Refill;
    if (!inst.is_inserted() && !is_access) return;
    if (inst.op == Op::Bra) return;
    if (ir::is_guarded(ops)) return because(inst, "what is inserted has a guard");
    if (!is_access && !inst.is_copy() && inst.op != Op::Remat)
      return because(inst, "what is inserted is no copy, spill, refill or remat");
    const Operand* first = nullptr;
    for (const Operand& op : ops) {
      if (!op.is_preg()) continue;
      if (inst.op == Op::Remat && op.reads()) return because(inst, "a remat reads a register");
      if (inst.is_copy() && first != nullptr && first->preg().file != op.preg().file)
        return because(inst, "a copy is inserted from one file to another");
      if (first == nullptr) first = &op;
    }
    if (is_access) note_access(ops);
  }
  void note_access(std::span<const Operand> ops) {
    std::uint64_t size = 0;
    Access access;
    for (const Operand& op : ops)
      if (op.is_preg()) {
        size = moved_by(op);
        access.file = op.preg().file;
      }
    for (const Operand& op : ops)
      if (op.is_slot()) {
        const ir::Slot& slot = g_.slots[op.slot().index()];
        access.begin = (static_cast<std::uint64_t>(slot.space) << 40) + slot.offset + op.slot_offset();
        access.end = access.begin + size;
      }
    accesses_.push_back(access);
  }
  // Sorted by their begin, two that overlap stand side by side.
  void check_frame() {
    std::ranges::sort(accesses_, {}, [](const Access& a) { return std::pair(a.begin, a.end); });
    for (std::size_t k = 1; k < accesses_.size(); ++k)
      if (accesses_[k].begin < accesses_[k - 1].end && accesses_[k] != accesses_[k - 1])
        return because("two accesses share some bytes of the frame");
  }

  // --- who has written what ---------------------------------------------------------------------------------------
  // By file and unit: the value that was written there last, the same one on all paths; or one of the two below.
  struct Value {
    ir::PReg home;            // all of it
    std::uint32_t bytes = 0;  // from its begin on
  };
  static constexpr std::uint32_t kNone = 0, kDiffers = 0xFFFFFFFFu;
  static std::uint32_t pack(const Value& v) {
    return static_cast<std::uint32_t>(v.home.first) << 20 | v.home.count << 12 | v.bytes;
  }
  static std::size_t first_of(ir::PReg r) { return ir::index(r.file) * ir::kMaxUnits + r.first; }
  static void set(Writers& now, ir::PReg r, std::uint32_t what) {
    std::fill_n(now.begin() + static_cast<std::ptrdiff_t>(first_of(r)), r.count, what);
  }
  // The value that stands in these registers, no less and no more; 0 bytes where there is none.
  static Value value_in(const Writers& now, ir::PReg r) {
    const Value v{r, now[first_of(r)] & 0xFFF};
    for (std::size_t u = first_of(r); u < first_of(r) + r.count; ++u)
      if (now[u] != pack(v)) return {r, 0};
    return v;
  }
  static void write(Writers& now, const Value& v) {
    // What is written in part is no value any more.
    for (std::size_t u = first_of(v.home); u < first_of(v.home) + v.home.count; ++u)
      if (now[u] != kNone && now[u] != kDiffers)
        set(now, {v.home.file, static_cast<std::uint8_t>(now[u] >> 12 & 0xFF), static_cast<std::uint16_t>(now[u] >> 20)}, kDiffers);
    set(now, v.home, v.bytes == 0 ? kDiffers : pack(v));
  }
  // The bytes of a value that the operand names: of an original instruction, those of its root.
  [[nodiscard]] std::uint32_t bytes_of(std::uint32_t inst, std::size_t k) const {
    const Operand& op = g_.operands_of(g_.insts[inst])[k];
    const std::uint32_t i = partner_[inst];
    if (i == kNoPartner || f_.insts[i].op != g_.insts[inst].op) return moved_by(op);
    const Operand& was = f_.operands_of(f_.insts[i])[k];
    return was.is_vreg() ? static_cast<std::uint32_t>(f_.vreg(f_.root(was.vreg())).bytes()) : 0;
  }
  void step(std::uint32_t at, Writers& now) const {
    const Inst& inst = g_.insts[at];
    const auto ops = g_.operands_of(inst);
    for (const Operand& op : ops)
      if (op.role == ir::Role::Clobber && op.is_preg()) set(now, op.preg(), kDiffers);
    std::vector<Value> written;
    const std::size_t defs = ir::defs_of(ops).size();
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_preg() || !ops[k].writes()) continue;
      // A copy that is inserted moves a value as it is.
      const bool is_move = inst.is_copy() && inst.is_inserted();
      written.push_back({ops[k].preg(), is_move ? value_in(now, ops[k + defs].preg()).bytes : bytes_of(at, k)});
    }
    for (const Value& v : written) write(now, v);
  }
  void find_writers() {
    for (const BlockId b : cfg_.reverse_postorder()) head_[b.index()].assign(ir::kAllFiles.size() * ir::kMaxUnits, kNone);
    std::ranges::fill(head_[0], kDiffers);
    for (bool changes = true; changes;) {
      changes = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        Writers now = head_[b.index()];
        for_insts(b, [&](std::uint32_t at) { step(at, now); });
        for (const BlockId next : cfg_.successors(b)) {
          Writers& head = head_[next.index()];
          for (std::size_t u = 0; u < now.size(); ++u) {
            const bool meet = head[u] == now[u] || head[u] == kNone || now[u] == kNone;
            const std::uint32_t met = meet ? std::max(head[u], now[u]) : kDiffers;
            changes = changes || met != head[u];
            head[u] = met;
          }
        }
      }
    }
  }
  void check_reads(std::uint32_t at, const Writers& now) {
    const Inst& inst = g_.insts[at];
    const auto ops = g_.operands_of(inst);
    const bool is_access = inst.op == Op::Spill || inst.op == Op::Refill;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_preg() || !ops[k].reads()) continue;
      const Value v = value_in(now, ops[k].preg());
      if (v.bytes == 0) return because(inst, "registers are read that no single def has written");
      const bool is_front =
          Function::file_bytes(ops[k]).begin == Function::file_bytes(Operand::of_preg(ir::Role::Use, ops[k].preg())).begin;
      if (is_access && (moved_by(ops[k]) != v.bytes || !is_front)) return because(inst, "a part of a value is spilled");
      if (inst.is_inserted() && inst.is_copy() && (moved_by(ops[k]) < v.bytes || !is_front))
        return because(inst, "a part of a value is copied");
    }
  }
  template <class F>
  void for_insts(BlockId b, F&& f) const {
    const ir::Block& block = g_.block(b);
    for (std::uint32_t a = block.first_inst; a < block.first_inst + block.num_insts; ++a) f(a);
  }

  const Function& f_;
  const Function& g_;
  const ir::Cfg cfg_;
  std::vector<std::uint32_t> partner_;  // by instruction after: that before
  std::vector<Writers> head_;           // by block after
  std::vector<Access> accesses_;
  std::string why_;
};

}  // namespace

std::string why_not_by_point(const Before& before, const ir::Function& after) { return ByPoint(before, after).run(); }

}  // namespace regduel::oracles
