// See pack_bits.h.
#include "fuzz/faults/pack_bits.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::RegFile;
using ir::Role;

// What the eight bits of a byte may be. A predicate is all bits of its byte.
struct Bits {
  std::uint8_t right = 0, wrong = 0;
  std::uint8_t destroyer = 0;              // wrong, and written over the right bit of this base
  std::array<std::uint8_t, 4> shown = {};  // wrong, and came out of a pack as code kCodes[k]

  friend bool operator==(const Bits&, const Bits&) = default;
  Bits& operator|=(const Bits& o) {
    right |= o.right;
    wrong |= o.wrong;
    destroyer |= o.destroyer;
    for (std::size_t k = 0; k < shown.size(); ++k) shown[k] |= o.shown[k];
    return *this;
  }
};
constexpr std::array<int, 4> kCodes = {8, 9, 3, 4};  // by precedence
constexpr Bits kRight = {.right = 0xFF}, kWrong = {.wrong = 0xFF};

// Calls to(plane of `target`, the same plane of `source`) for each.
template <class To>
void each_plane(Bits& target, const Bits& source, To to) {
  to(target.right, source.right);
  to(target.wrong, source.wrong);
  to(target.destroyer, source.destroyer);
  for (std::size_t k = 0; k < target.shown.size(); ++k) to(target.shown[k], source.shown[k]);
}
// Bit `bit` of a pack's byte as a predicate, and a predicate as this bit.
Bits predicate_of(const Bits& byte, unsigned bit) {
  Bits predicate;
  each_plane(predicate, byte, [&](std::uint8_t& to, std::uint8_t from) { to = (from >> bit & 1) != 0 ? 0xFF : 0; });
  return predicate;
}
void put_bit(Bits& byte, unsigned bit, const Bits& predicate) {
  const auto mask = static_cast<std::uint8_t>(1u << bit);
  each_plane(byte, predicate,
             [&](std::uint8_t& to, std::uint8_t from) { to = static_cast<std::uint8_t>((to & ~mask) | (from & mask)); });
}

class PackBits {
 public:
  using State = std::vector<Bits>;  // one a byte

  PackBits(const ir::Function& f, std::set<std::uint64_t> right) : f_(f), right_(std::move(right)), in_(f.blocks.size()) {
    for (const Operand& op : f.operands)
      if (op.is_preg()) {
        const ir::FileBytes b = ir::Function::file_bytes(op);
        file_bytes_[ir::index(b.file)] = std::max<std::size_t>(file_bytes_[ir::index(b.file)], b.end);
      }
    for (std::size_t k = 0; k < file_bytes_.size(); ++k) {
      file_begin_[k] = num_bytes_;
      num_bytes_ += file_bytes_[k];
    }
    // Where slots overlap, or end outside the frame, they share its bytes.
    std::array<std::size_t, 2> frame = {f.local_frame, f.shared_frame};
    for (const ir::Slot& s : f.slots) frame[space_of(s)] = std::max<std::size_t>(frame[space_of(s)], s.offset + s.size);
    for (std::size_t k = 0; k < frame.size(); ++k) {
      frame_begin_[k] = num_bytes_;
      num_bytes_ += frame[k];
      frame_end_[k] = num_bytes_;
    }
    solve();
  }

  // What the first byte of the register operand may be in front of the instruction; nothing where that is not reached.
  [[nodiscard]] Bits in_front_of(std::uint32_t inst, const Operand& reg) const {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      const ir::Block& block = f_.blocks[b];
      if (inst < block.first_inst || inst >= block.first_inst + block.num_insts || in_[b].empty()) continue;
      State state = in_[b];
      for (std::uint32_t i = block.first_inst; i < inst; ++i) step(state, f_.insts[i]);
      return state[bytes_of(reg).first];
    }
    return {};
  }

 private:
  static std::size_t space_of(const ir::Slot& s) { return s.space == ir::MemSpace::Shared ? 1 : 0; }

  [[nodiscard]] std::pair<std::size_t, std::size_t> bytes_of(const Operand& reg) const {
    const ir::FileBytes b = ir::Function::file_bytes(reg);
    return {file_begin_[ir::index(b.file)] + b.begin, file_begin_[ir::index(b.file)] + b.end};
  }
  [[nodiscard]] std::pair<std::size_t, std::size_t> bytes_of(const Operand& slot, std::size_t size) const {
    const ir::Slot& s = f_.slots[slot.slot().index()];
    const std::size_t begin = frame_begin_[space_of(s)] + s.offset + slot.extra, end = frame_end_[space_of(s)];
    return {std::min(begin, end), std::min(begin + size, end)};
  }
  // A pack is in one of these.
  [[nodiscard]] bool is_base(std::size_t byte) const {
    const auto in = [&](RegFile file) { return byte - file_begin_[ir::index(file)] < file_bytes_[ir::index(file)]; };
    return in(RegFile::R) || in(RegFile::UR);
  }

  void put(State& state, std::size_t byte, Bits bits, bool guarded) const {
    if (is_base(byte)) bits.destroyer |= static_cast<std::uint8_t>(state[byte].right & bits.wrong);
    if (guarded) bits |= state[byte];
    state[byte] = bits;
  }

  void move(State& state, const ir::Inst& i, bool guarded) const {
    const auto ops = f_.operands_of(i);
    std::vector<std::pair<std::size_t, Bits>> writes;
    const auto pair = [&](std::pair<std::size_t, std::size_t> to, std::pair<std::size_t, std::size_t> from) {
      for (; to.first < to.second; ++to.first, ++from.first)
        writes.emplace_back(to.first, from.first < from.second ? state[from.first] : kWrong);
    };
    if (i.op == Op::Copy) {
      const auto defs =
          static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const Operand& op) { return op.writes(); }));
      for (std::size_t k = 0; k < defs; ++k) pair(bytes_of(ops[k]), bytes_of(ops[defs + k]));
    } else {
      const auto reg = bytes_of(ops[0]), slot = bytes_of(ops[1], reg.second - reg.first);
      if (i.op == Op::Spill) pair(slot, reg);
      else pair(reg, slot);
    }
    for (const auto& [byte, bits] : writes) put(state, byte, bits, guarded);
  }

  // p2r and bit_spill; r2p and bit_refill.
  void pack(State& state, const ir::Inst& i, bool guarded) const {
    const auto ops = f_.operands_of(i);
    const bool is_p2r = i.op == Op::P2R || i.op == Op::R2P;
    std::pair<std::size_t, std::size_t> base;
    unsigned named = 0;
    for (const Operand& op : ops) {
      if (op.is_preg() && !ir::is_predicate(op.preg().file)) base = bytes_of(op);
      if (op.kind == ir::OperandKind::Imm) named = static_cast<unsigned>(op.imm());
    }
    for (const Operand& op : ops) {
      if (!op.is_preg() || !ir::is_predicate(op.preg().file) || op.role == Role::Guard) continue;
      const unsigned bit = is_p2r ? op.preg().first : named;
      const std::size_t byte = base.first + bit / 8, predicate = bytes_of(op).first;
      if (byte >= base.second) continue;
      if (op.reads()) {
        Bits now = state[byte];
        put_bit(now, bit % 8, state[predicate]);
        if (guarded) now |= state[byte];
        state[byte] = now;
      } else {
        Bits out = predicate_of(state[byte], bit % 8);
        out.shown[is_p2r ? 2 : 3] |= out.wrong;
        out.shown[is_p2r ? 0 : 1] |= out.destroyer;
        out.destroyer = 0;
        put(state, predicate, out, guarded);
      }
    }
  }

  void step(State& state, const ir::Inst& i) const {
    if (i.is_deleted() || i.is_phi()) return;
    const auto ops = f_.operands_of(i);
    const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
    if (i.op == Op::Copy || i.op == Op::Spill || i.op == Op::Refill) return move(state, i, guarded);
    if (i.op >= Op::P2R && i.op <= Op::BitRefill) return pack(state, i, guarded);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_preg() || (!ops[k].writes() && ops[k].role != Role::Clobber)) continue;
      const bool is_right = ops[k].writes() && right_.contains(Held::definition(i.op == Op::Remat ? i.ref : i.id, k, 0));
      const auto [begin, end] = bytes_of(ops[k]);
      for (std::size_t byte = begin; byte < end; ++byte) put(state, byte, is_right ? kRight : kWrong, guarded);
    }
  }

  void solve() {
    const ir::Cfg cfg(f_);
    std::vector<bool> pending(f_.blocks.size(), false);
    in_[0].assign(num_bytes_, kWrong);
    pending[0] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const ir::BlockId b : cfg.reverse_postorder()) {
        if (!pending[b.index()]) continue;
        pending[b.index()] = false;
        State out = in_[b.index()];
        for (const ir::Inst& i : f_.insts_of(b)) step(out, i);
        for (const ir::BlockId to : cfg.successors(b)) {
          State& known = in_[to.index()];
          bool grew = known.empty();
          known.resize(num_bytes_);
          for (std::size_t k = 0; k < num_bytes_; ++k) {
            Bits both = known[k];
            both |= out[k];
            grew = grew || both != known[k];
            known[k] = both;
          }
          if (!grew) continue;
          pending[to.index()] = true;
          changed = true;
        }
      }
    }
  }

  const ir::Function& f_;
  std::set<std::uint64_t> right_;  // Held::definition()
  std::size_t num_bytes_ = 0;
  ir::PerFile<std::size_t> file_begin_ = {}, file_bytes_ = {};
  std::array<std::size_t, 2> frame_begin_ = {}, frame_end_ = {};
  std::vector<State> in_;  // of each block; empty = not reached
};

// What the read is to see; empty where that is not a predicate of an original operation that is in both programs.
std::set<std::uint64_t> wanted(const BeforeFacts& facts, OperandRead read) {
  const ir::Inst* old = facts.find(read.inst);
  if (old == nullptr || read.operand >= old->num_operands) return {};
  const auto ops = facts.before.operands_of(*old);
  const ir::Operand& op = ops[read.operand];
  if (!op.is_vreg() || !ir::is_predicate(facts.before.vreg(op.vreg()).file())) return {};
  std::size_t first = 0;
  for (std::size_t k = 0; k < read.operand; ++k)
    if (ops[k].reads() && ops[k].is_register()) first += static_cast<std::size_t>(facts.before.operand_bytes(ops[k]));
  const auto& sets = facts.reads[static_cast<std::size_t>(old - facts.before.insts.data())];
  std::set<std::uint64_t> right;
  if (first < sets.size())
    for (const Held& h : facts.contents.elements(sets[first])) right.insert(h.what);
  return right;
}

}  // namespace

bool shows_in_pack(const BeforeFacts& facts, const ir::Function& after, std::span<const OperandRead> reads, int code) {
  std::map<std::set<std::uint64_t>, PackBits> known;
  return std::any_of(reads.begin(), reads.end(), [&](OperandRead read) {
    const auto now = std::find_if(after.insts.begin(), after.insts.end(), [&](const ir::Inst& i) { return i.id == read.inst; });
    if (now == after.insts.end() || read.operand >= now->num_operands) return false;
    const Operand& op = after.operands_of(*now)[read.operand];
    const auto right = wanted(facts, read);
    if (right.empty() || !op.is_preg()) return false;
    const PackBits& bits = known.try_emplace(right, after, right).first->second;
    const auto shown = bits.in_front_of(static_cast<std::uint32_t>(now - after.insts.begin()), op).shown;
    const auto first = std::find_if(shown.begin(), shown.end(), [](std::uint8_t plane) { return plane != 0; });
    return first != shown.end() && kCodes[static_cast<std::size_t>(first - shown.begin())] == code;
  });
}

}  // namespace regduel::fuzz
