// See origins.h.
#include "trial/faults/origins.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace regduel::trial {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

constexpr std::uint32_t kProbe = 1u << 31;
constexpr int kByteBits = 6;  // of a step: the byte of the refilled register, below the instruction
constexpr std::uint32_t kLocal = 16, kShared = 17, kVRegs = 32;  // spaces; those below are register files
constexpr std::size_t kMostSteps = 60000;
constexpr int kManyGuards = 2, kDeepest = 4, kUnclear = Expected::kUnclear;

int rank(int code) {
  constexpr int kRank[] = {11, 5, 6, 3, 4, 7, 8, 0, 1, 2, 9};
  return kRank[code];
}
void propose(int& best, int code) {
  if (rank(code) < rank(best)) best = code;
}
std::size_t count_writes(std::span<const Operand> ops) {
  return static_cast<std::size_t>(std::count_if(ops.begin(), ops.end(), [](const Operand& op) { return op.writes(); }));
}

struct Bytes {
  std::uint32_t space = 0, begin = 0, end = 0;
  [[nodiscard]] bool holds(Location l) const { return space == l.space && begin <= l.byte && l.byte < end; }
};

}  // namespace

class Origins {
 public:
  Origins(const ir::Function& f, Expected& expected) : f_(f), cfg_(f), expected_(expected), block_of_(f.insts.size()) {
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (std::uint32_t i = 0; i < f.blocks[b].num_insts; ++i) block_of_[f.blocks[b].first_inst + i] = b;
    first_touched_.reserve(f.insts.size() + 1);
    for (const ir::Inst& inst : f.insts) {
      first_touched_.push_back(static_cast<std::uint32_t>(touched_.size()));
      if (!inst.is_deleted()) touch(inst);
    }
    first_touched_.push_back(static_cast<std::uint32_t>(touched_.size()));
  }
  [[nodiscard]] const ir::Cfg& cfg() const { return cfg_; }
  [[nodiscard]] bool is_reachable(const ir::Inst& inst) const {
    return cfg_.is_reachable(ir::BlockId(block_of_[static_cast<std::size_t>(&inst - f_.insts.data())]));
  }

  [[nodiscard]] Bytes bytes_of(const Operand& op, std::uint32_t slot_bytes = 0) const {
    if (op.is_slot()) {
      const ir::Slot& s = f_.slots[op.slot().index()];
      return {s.space == ir::MemSpace::Local ? kLocal : kShared, s.offset + op.slot_offset(),
              s.offset + op.slot_offset() + slot_bytes};
    }
    if (op.is_preg()) {
      const ir::FileBytes b = ir::Function::file_bytes(op);
      return {static_cast<std::uint32_t>(b.file), b.begin, b.end};
    }
    if (!op.is_vreg()) return {};
    const ir::Storage s = f_.storage(op);
    const ir::VReg& root = f_.vreg(s.root);
    if (!root.is_architectural()) return {kVRegs + s.root.value, s.offset, std::uint32_t{s.offset} + s.size};
    const std::uint32_t home = ir::Function::file_bytes(Operand::of_preg(Role::Use, root.fixed)).begin + s.offset;
    return {static_cast<std::uint32_t>(root.file()), home, home + s.size};
  }

  // In front of instruction `inst`.
  [[nodiscard]] OriginSet at(std::uint32_t inst, Location l) {
    Walk walk;
    if (!back(walk, block_of_[inst], inst, {l, {}})) return std::nullopt;
    while (!walk.work.empty()) {
      const auto [block, state] = std::move(walk.work.back());
      walk.work.pop_back();
      if (!back(walk, block, f_.blocks[block].first_inst + f_.blocks[block].num_insts, state)) return std::nullopt;
    }
    return std::move(walk.found);
  }

  [[nodiscard]] bool is_valid_remat(std::uint32_t index, bool& clear) {
    const ir::Inst& remat = f_.insts[index];
    const ir::Inst* old = expected_.find(remat.ref);
    if (old == nullptr || old->num_operands != remat.num_operands || !old->has(ir::kRematerialisable) ||
        !expected_.origins_->is_reachable(*old))
      return false;
    const auto ops = f_.operands_of(remat), old_ops = expected_.before_.operands_of(*old);
    if (depth_ >= kDeepest) return clear = false, true;
    ++depth_;
    const auto extra_defs = std::exchange(extra_defs_, {});  // of the operand that the remat is found for
    const bool has_above = has_above_;
    bool valid = true;
    for (std::size_t k = 0; k < ops.size() && valid; ++k) {
      if (!ops[k].is_register()) {
        const bool symbols = ops[k].kind == ir::OperandKind::Symbol && old_ops[k].kind == ir::OperandKind::Symbol;
        valid = symbols ? f_.symbols[ops[k].symbol()] == expected_.before_.symbols[old_ops[k].symbol()] : ops[k] == old_ops[k];
      } else if (ops[k].reads()) {
        const int code = code_of(index, *old, k);
        if (code == kUnclear) clear = false;
        valid = code <= 0;
      }
    }
    --depth_;
    extra_defs_ = extra_defs;
    has_above_ = has_above;
    return valid;
  }

  // The code that operand `k` of instruction `index` has to show, which is `old` in the program before; kUnclear.
  [[nodiscard]] int code_of(std::uint32_t index, const ir::Inst& old, std::size_t k) {
    const Operand &was = expected_.before_.operands_of(old)[k], &now = f_.operands_of(f_.insts[index])[k];
    if (!was.is_vreg() || !now.is_preg() || !was.reads() || was.role != now.role) return 0;
    const Bytes bytes = bytes_of(now);
    const auto size = std::min(bytes.end - bytes.begin, static_cast<std::uint32_t>(expected_.before_.operand_bytes(was)));
    int best = 0;
    extra_defs_.clear();
    std::vector<std::pair<const OriginSet*, OriginSet>> asked;
    // Odd bytes only where an even one differs: they may take precedence.
    for (std::uint32_t n = 0; n < size && (best != 0 || 2 * n < size); ++n) {
      const std::uint32_t b = 2 * n < size ? 2 * n : 2 * (n - (size + 1) / 2) + 1;
      const OriginSet& want = expected_.want(old, was, b);
      const Location l{bytes.space, bytes.begin + b, -1};
      const OriginSet have = is_destroyed(index, old, now, l) ? std::vector<Origin>(1) : at(index, l);
      const int code = want && have ? compare(*want, *have) : kUnclear;
      if (code == kUnclear) return kUnclear;
      propose(best, code);
      asked.emplace_back(&want, have);
    }
    if (best != 5) return best;
    // Once more: the narrow def above which a byte is undefined may have shown itself in a byte that was asked later.
    best = 0;
    has_above_ = false;
    for (const auto& [want, have] : asked) {
      const int code = compare(**want, *have);
      if (code == kUnclear) return kUnclear;
      propose(best, code);
    }
    // In bytes that may be undefined before, any definition is allowed, so that the narrow def is no addition there: code 5. A
    // judge that compares whole operands takes it for one: code 6.
    const bool is_half_defined = std::any_of(asked.begin(), asked.end(), [](const auto& a) { return has_undefined(**a.first); });
    return best == 5 && has_above_ && is_half_defined ? kUnclear : best;
  }
  // The same of a callee-saved unit at a ret.
  [[nodiscard]] int code_of_saved(std::uint32_t ret, ir::PReg unit) {
    int best = 0;
    const Bytes bytes = bytes_of(Operand::of_preg(Role::Use, unit));
    for (std::uint32_t b = bytes.begin; b < bytes.end; ++b) {
      const Location l{bytes.space, b, -1};
      const OriginSet have = at(ret, l);
      Origin entry;
      entry.what = Origin::entry(l);
      const int code = have ? compare({entry}, *have) : kUnclear;
      if (code == kUnclear) return kUnclear;
      propose(best, code);
    }
    return best;
  }

 private:
  struct State {
    Location at;
    Origin so_far;
  };
  struct Walk {
    std::vector<Origin> found;
    std::vector<std::pair<std::uint32_t, State>> work;  // blocks, from their ends
    std::set<std::tuple<std::uint32_t, Location, int, Origin::Route>> seen;
    std::size_t steps = 0;
  };

  static void end(Walk& walk, const State& s, std::uint64_t what) {
    walk.found.push_back(s.so_far);
    walk.found.back().what = what;
  }

  // An early-clobber def is written when nothing but the guard has been read.
  [[nodiscard]] bool is_destroyed(std::uint32_t index, const ir::Inst& old, const Operand& use, Location l) const {
    const auto ops = f_.operands_of(f_.insts[index]), old_ops = expected_.before_.operands_of(old);
    for (std::size_t d = 0; d < std::min(ops.size(), old_ops.size()) && use.role != Role::Guard; ++d)
      if (old_ops[d].is_early_clobber() && ops[d].role == Role::Def && bytes_of(ops[d]).holds(l)) return true;
    return false;
  }

  // Keeps every place that the instruction may write.
  void touch(const ir::Inst& inst) {
    const auto ops = f_.operands_of(inst);
    const bool packs = inst.op == Op::P2R || inst.op == Op::R2P || inst.op == Op::BitSpill || inst.op == Op::BitRefill;
    const Bytes reg = ops.empty() ? Bytes() : bytes_of(ops[0]);
    for (const Operand& op : ops)
      if (packs || op.writes() || op.role == Role::Clobber || op.is_slot()) touched_.push_back(bytes_of(op, reg.end - reg.begin));
  }
  [[nodiscard]] bool may_write(std::uint32_t inst, Location l) const {
    for (std::uint32_t k = first_touched_[inst]; k < first_touched_[inst + 1]; ++k)
      if (touched_[k].holds(l)) return true;
    return false;
  }

  // Of the program before: nobody knows whether an instruction happens whose guard is undefined on each path to it, so what it would
  // change is undefined. A guard counts as undefined until something defined is found to reach it, so that one which depends on
  // itself alone is undefined. What was found out before that is found out again.
  [[nodiscard]] bool has_undefined_guard(std::uint32_t inst, const Operand& guard) {
    if (!guard.is_vreg() || defined_guards_.contains(inst)) return false;
    if (undefined_guards_.contains(inst)) return true;
    const Bytes bytes = bytes_of(guard);
    const auto is_undefined = [&] {
      undefined_guards_.insert(inst);
      const OriginSet origins = at(inst, {bytes.space, bytes.begin, -1});
      const bool all = origins && std::ranges::all_of(*origins, [](const Origin& o) { return o.what == Origin::kUndefined; });
      if (!all) defined_guards_.insert(inst);
      return all;
    };
    if (asks_for_guard_) return is_undefined();
    for (const std::set<std::uint32_t> known = undefined_guards_;;) {
      const std::size_t refuted = defined_guards_.size();
      asks_for_guard_ = true;
      const bool all = is_undefined();
      asks_for_guard_ = false;
      if (all && defined_guards_.size() == refuted) return true;
      undefined_guards_ = known;
      if (!all) return false;
    }
  }
  // Up from instruction `from` to the begin of the block. False where it is too long.
  bool back(Walk& walk, std::uint32_t block, std::uint32_t from, State s) {
    const std::uint32_t first = f_.blocks[block].first_inst;
    for (std::uint32_t i = from; i-- > first;) {
      if (++walk.steps > kMostSteps) return false;
      if (!may_write(i, s.at)) continue;
      const ir::Inst& inst = f_.insts[i];
      if (inst.is_phi()) {
        if (f_.phase == ir::Phase::Virtual && through_phi(walk, inst, s)) return true;
        continue;
      }
      const auto ops = f_.operands_of(inst);
      State written = s;
      const Effect effect = write(i, ops, written);
      if (effect == Effect::None) continue;
      if (effect == Effect::Unclear || written.so_far.route.is_too_long()) return false;
      const bool guarded = ir::is_guarded(ops), is_kept = inst.is_copy() && written.at == s.at;
      if (guarded && !is_kept && has_undefined_guard(i, *ir::guard_of(ops))) {
        end(walk, written, Origin::kUndefined);
        return true;
      }
      if (guarded) written.so_far.guards = s.so_far.guards = std::min(kManyGuards, s.so_far.guards + 1);
      if (effect == Effect::Ends) end(walk, written, written.so_far.what);
      if (effect == Effect::Moves && guarded) {
        if (!back(walk, block, i, std::move(written))) return false;
      } else if (effect == Effect::Moves) {
        s = std::move(written);
      } else if (!guarded) {
        return true;
      }
    }
    if (block == 0) {
      const auto& units = expected_.entry_;
      const bool enters =
          std::any_of(units.begin(), units.end(), [&](ir::PReg r) { return bytes_of(Operand::of_preg(Role::Use, r)).holds(s.at); });
      end(walk, s, enters ? Origin::entry(s.at) : Origin::kUndefined);
    }
    for (const ir::BlockId p : cfg_.predecessors(ir::BlockId(block)))
      if (cfg_.is_reachable(p) && walk.seen.emplace(p.value, s.at, s.so_far.guards, s.so_far.route).second)
        walk.work.emplace_back(p.value, s);
    return true;
  }

  bool through_phi(Walk& walk, const ir::Inst& phi, const State& s) {
    const auto ops = f_.operands_of(phi);
    const Bytes def = bytes_of(ops[0]);
    if (!def.holds(s.at)) return false;
    const auto targets = f_.targets_of(phi);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      State in = s;
      const Bytes from = bytes_of(ops[k + 1]);
      in.at = {from.space, from.begin + (s.at.byte - def.begin), -1};
      if (cfg_.is_reachable(targets[k]) && walk.seen.emplace(targets[k].value, in.at, in.so_far.guards, in.so_far.route).second)
        walk.work.emplace_back(targets[k].value, std::move(in));
    }
    return true;
  }

  enum class Effect { None, Moves, Ends, Unclear };
  // The effect of the instruction on the location: the location becomes the place from which its content comes, or gets its origin.
  Effect write(std::uint32_t index, std::span<const Operand> ops, State& s) {
    const ir::Inst& inst = f_.insts[index];
    const auto moves = [&](const Bytes& to, const Bytes& from) {
      if (!to.holds(s.at)) return Effect::None;
      const std::uint32_t byte = from.begin + (s.at.byte - to.begin);
      if (s.at.bit >= 0) probe(index, s);
      if (byte >= from.end) return Effect::Ends;
      s.at = {from.space, byte, s.at.bit};
      return Effect::Moves;
    };
    // The content is undecided where two defs are in one place.
    const auto writes_here = [&](const Operand& op) { return op.is_preg() && op.writes() && bytes_of(op).holds(s.at); };
    if (std::count_if(ops.begin(), ops.end(), writes_here) > 1) return Effect::Unclear;
    Effect effect = Effect::None;
    switch (inst.op) {
      case Op::Copy: {
        const std::size_t n = count_writes(ops);
        for (std::size_t k = 0; k < n && effect == Effect::None; ++k) effect = moves(bytes_of(ops[k]), bytes_of(ops[n + k]));
        break;
      }
      case Op::Spill: {
        const Bytes reg = bytes_of(ops[0]);
        effect = moves(bytes_of(ops[1], reg.end - reg.begin), reg);
        break;
      }
      case Op::Refill: {
        const Bytes reg = bytes_of(ops[0]);
        const std::uint32_t byte = s.at.byte - reg.begin;
        effect = moves(reg, bytes_of(ops[1], reg.end - reg.begin));
        if (effect == Effect::Moves) s.so_far.route.add(index << kByteBits | byte);
        break;
      }
      case Op::Pack:
      case Op::Unpack: effect = through_pieces(inst, ops, s); break;
      case Op::P2R:
      case Op::BitSpill: return put_into_pack(inst, ops, s);
      case Op::R2P:
      case Op::BitRefill: return take_out_of_pack(index, ops, s);
      default: break;
    }
    if (effect != Effect::None) return effect;
    const bool is_move = inst.is_copy() || ir::is_slot_move(inst.op) || ir::moves_pieces(inst.op);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if ((is_move || !ops[k].writes()) && ops[k].role != Role::Clobber) continue;
      const Bytes to = bytes_of(ops[k]);
      if (!to.holds(s.at)) continue;
      if (s.at.bit >= 0) probe(index, s);
      if (ops[k].role == Role::Clobber) {
        s.so_far.what = Origin::kUndefined;
        effect = Effect::Ends;  // a def of the same register comes later
        continue;
      }
      return define(index, k, s.at.byte - to.begin, s);
    }
    return effect;
  }

  // pack, unpack: the byte of the uses, one behind the other, that stands where the def's byte does. How wide each is says the
  // program before; what lies above a narrow def is undefined.
  Effect through_pieces(const ir::Inst& inst, std::span<const Operand> ops, State& s) const {
    const ir::Inst* old = expected_.find(inst.id);
    if (old == nullptr || old->num_operands != ops.size()) return Effect::Unclear;
    const auto was = expected_.before_.operands_of(*old);
    const auto width = [&](std::size_t k) { return static_cast<std::uint32_t>(expected_.before_.operand_bytes(was[k])); };
    const std::size_t defs = count_writes(ops);
    std::uint32_t begin = 0;
    for (std::size_t k = 0; k < defs; begin += width(k), ++k) {
      const Bytes to = bytes_of(ops[k]);
      if (!to.holds(s.at)) continue;
      if (s.at.bit >= 0) return Effect::Unclear;
      const std::uint32_t byte = s.at.byte - to.begin;
      s.so_far.what = Origin::kUndefined;
      if (byte >= width(k)) return Effect::Ends;
      std::uint32_t before = 0;
      for (std::size_t u = defs; u < ops.size() && ops[u].role == Role::Use; before += width(u), ++u) {
        if (begin + byte >= before + width(u)) continue;
        const Bytes from = bytes_of(ops[u]);
        s.at = {from.space, from.begin + (begin + byte - before), -1};
        return Effect::Moves;
      }
      return Effect::Ends;
    }
    return Effect::None;
  }

  Effect define(std::uint32_t index, std::size_t operand, std::uint32_t byte, State& s) {
    const ir::Inst& inst = f_.insts[index];
    s.so_far.what = Origin::definition(inst.op == Op::Remat ? inst.ref : inst.id, operand, byte);
    if (f_.phase == ir::Phase::Virtual) return Effect::Ends;
    const ir::Inst* old = expected_.find(inst.op == Op::Remat ? inst.ref : inst.id);
    if (old != nullptr && operand < old->num_operands) {
      const Operand& was = expected_.before_.operands_of(*old)[operand];
      if (was.is_register() && byte >= static_cast<std::uint32_t>(expected_.before_.operand_bytes(was)))
        s.so_far = {Origin::kUndefined, s.so_far.guards, s.so_far.route, s.so_far.what};  // above a narrow value
    }
    if (inst.op != Op::Remat) return Effect::Ends;
    bool clear = true;
    if (!is_valid_remat(index, clear)) s.so_far.what = Origin::kWrongRemat;
    return clear ? Effect::Ends : Effect::Unclear;
  }

  static bool is_packed(const Operand& op) { return op.is_preg() && ir::is_predicate(op.preg().file) && op.role != Role::Guard; }
  // The bit of the pack that stands for a predicate operand: its register's number, or the immediate.
  static std::int64_t bit_of(std::span<const Operand> ops, const Operand& predicate) {
    for (const Operand& op : ops)
      if (op.kind == ir::OperandKind::Imm) return op.imm();
    return predicate.preg().first;
  }
  static const Operand& pack_of(std::span<const Operand> ops) {
    return *std::find_if(ops.begin(), ops.end(),
                         [](const Operand& op) { return op.is_preg() && !is_packed(op) && op.role != Role::Guard; });
  }
  Effect put_into_pack(const ir::Inst&, std::span<const Operand> ops, State& s) const {
    const Bytes pack = bytes_of(pack_of(ops));
    if (!pack.holds(s.at)) return Effect::None;
    if (s.at.bit < 0) return Effect::Unclear;
    for (const Operand& op : ops) {
      if (!is_packed(op) || bit_of(ops, op) != std::int64_t{s.at.byte - pack.begin} * 8 + s.at.bit) continue;
      s.at = {static_cast<std::uint32_t>(op.preg().file), bytes_of(op).begin, -1};
      return Effect::Moves;
    }
    return Effect::None;
  }
  Effect take_out_of_pack(std::uint32_t index, std::span<const Operand> ops, State& s) {
    for (const Operand& op : ops) {
      if (!is_packed(op) || !bytes_of(op).holds(s.at)) continue;
      const auto bit = static_cast<std::uint32_t>(bit_of(ops, op));
      const Bytes pack = bytes_of(pack_of(ops));
      if (pack.begin + bit / 8 >= pack.end) return Effect::Unclear;
      s.at = {pack.space, pack.begin + bit / 8, static_cast<std::int8_t>(bit % 8)};
      s.so_far.route.add(index << kByteBits);
      return Effect::Moves;
    }
    return Effect::None;
  }

  // The pack's register is overwritten here, and its content before decides whether its base was destroyed. Packs that were moved
  // into memory or into other files are no bases.
  void probe(std::uint32_t index, State& s) {
    if (s.at.space != ir::index(ir::RegFile::R) && s.at.space != ir::index(ir::RegFile::UR)) return;
    const std::pair<std::uint32_t, Location> p{index, s.at};
    const auto it = std::find(probes_.begin(), probes_.end(), p);
    const auto number = static_cast<std::uint32_t>(it - probes_.begin());
    if (it == probes_.end()) probes_.push_back(p);
    s.so_far.route.add(kProbe | number);
  }

  // The code of one byte: where everything arrives that may, and where nothing does that guards might exclude. Unclear where the
  // two differ.
  static bool has_undefined(const std::vector<Origin>& set) {
    return std::any_of(set.begin(), set.end(), [](const Origin& o) { return o.what == Origin::kUndefined; });
  }
  int compare(const std::vector<Origin>& want, const std::vector<Origin>& have) {
    const auto is_in = [](const std::vector<Origin>& set, std::uint64_t what, int most_guards) {
      return std::any_of(set.begin(), set.end(), [&](const Origin& o) { return o.what == what && o.guards <= most_guards; });
    };
    const auto is_wanted = [&](std::uint64_t what, int most_guards = kManyGuards) {
      return what > Origin::kWrongRemat && is_in(want, what, most_guards);
    };
    const auto is_within = [&](const std::vector<Origin>& part, const std::vector<Origin>& whole) {
      return std::all_of(part.begin(), part.end(), [&](const Origin& o) { return is_in(whole, o.what, kManyGuards); });
    };
    const auto is_defined = [](const Origin& o) { return o.what != Origin::kUndefined; };
    if (has_undefined(want)) expected_.half_defined_ |= std::ranges::any_of(want, is_defined);
    if (want.empty() || has_undefined(want) || (is_within(want, have) && is_within(have, want))) return 0;
    int possible = 0, sure = 0;
    const auto is_new = [&](const Origin& h) { return !is_in(want, h.what, kManyGuards - 1); };
    for (const Origin& h : have)
      if (is_new(h) && h.what >> 63 != 0) extra_defs_.push_back(h.what >> 8);
    for (const Origin& h : have) {
      if (!is_new(h)) continue;
      const bool is_sure = h.guards < kManyGuards && !is_wanted(h.what);
      const auto both = [&](int code) {
        propose(possible, code);
        if (is_sure) propose(sure, code);
      };
      const bool is_extra =
          h.what >> 63 != 0 || std::find(extra_defs_.begin(), extra_defs_.end(), h.above >> 8) != extra_defs_.end();
      both(h.what == Origin::kWrongRemat ? 7 : is_extra ? 6 : 5);
      has_above_ = has_above_ || (!is_extra && h.above != 0);
      bool perhaps_destroyed = false, surely_destroyed = false, behind_pack = false;
      for (const std::uint32_t* step = h.route.end(); step-- != h.route.begin();) {
        if ((*step & kProbe) != 0) {
          const auto [writer, l] = probes_[*step & ~kProbe];
          const OriginSet held = at(writer, l);
          if (!held) return kUnclear;
          for (const Origin& o : *held) {
            perhaps_destroyed |= is_wanted(o.what);
            surely_destroyed |= o.guards < kManyGuards && is_wanted(o.what, kManyGuards - 1);
          }
          continue;
        }
        const Op op = f_.insts[*step >> kByteBits].op;
        if (op == Op::Refill) {
          const auto delivers = [&](int most_guards) {
            return std::any_of(have.begin(), have.end(), [&](const Origin& o) {
              return is_wanted(o.what, most_guards) && o.guards <= most_guards && o.route.has(*step);
            });
          };
          // 1 precedes 2: possible is the earliest code that it may be, sure the latest.
          propose(possible, delivers(kManyGuards - 1) ? 2 : 1);
          if (is_sure) propose(sure, delivers(kManyGuards) ? 2 : 1);
          continue;
        }
        if (behind_pack) return kUnclear;  // a pack in a pack: undecided, whose base was destroyed
        behind_pack = true;
        // 8 and 9 precede 3 and 4.
        propose(possible, op == Op::R2P ? (perhaps_destroyed ? 8 : 3) : (perhaps_destroyed ? 9 : 4));
        if (is_sure) propose(sure, op == Op::R2P ? (surely_destroyed ? 8 : 3) : (surely_destroyed ? 9 : 4));
      }
    }
    for (const Origin& w : want) {
      if (!is_in(have, w.what, kManyGuards - 1)) propose(possible, 10);
      if (w.guards < kManyGuards && !is_in(have, w.what, kManyGuards)) propose(sure, 10);
    }
    return possible == sure ? sure : kUnclear;
  }

  const ir::Function& f_;
  ir::Cfg cfg_;
  Expected& expected_;
  std::vector<std::uint32_t> block_of_;
  std::set<std::uint32_t> undefined_guards_, defined_guards_;  // instructions that were asked for
  bool asks_for_guard_ = false;
  std::vector<Bytes> touched_;  // that instruction i may write: from first_touched_[i] on
  std::vector<std::uint32_t> first_touched_;
  std::vector<std::pair<std::uint32_t, Location>> probes_;
  std::vector<std::uint64_t> extra_defs_;  // of the operand at hand, without the number of the byte
  bool has_above_ = false;                 // it has bytes that only a narrow def leaves undefined, which is no extra def
  int depth_ = 0;                          // of remats of remats
};

Expected::Expected(const ir::Function& before, std::span<const ir::PReg> preserved)
    : before_(before), preserved_(preserved.begin(), preserved.end()), entry_(preserved_),
      origins_(std::make_unique<Origins>(before, *this)) {
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) index_of_.emplace(before.insts[i].id.value, i);
  for (const ir::VReg& v : before.vregs)
    if (v.is_architectural() && v.fixed.is_valid()) entry_.push_back(v.fixed);
}
Expected::~Expected() = default;

const OriginSet& Expected::want(const ir::Inst& inst, const Operand& operand, std::uint32_t byte) {
  const auto number = static_cast<std::uint64_t>(&operand - before_.operands.data());
  const auto [it, is_new] = known_.try_emplace(number << 8 | byte);
  if (is_new) {
    const Bytes b = origins_->bytes_of(operand);
    it->second = origins_->at(static_cast<std::uint32_t>(&inst - before_.insts.data()), {b.space, b.begin + byte, -1});
  }
  return it->second;
}

int Expected::code_in(const ir::Function& after, std::span<const std::uint32_t> blocks, std::uint32_t wanted,
                      std::size_t most_reads) {
  Origins origins(after, *this);
  std::vector<bool> queued(after.blocks.size());
  std::vector<std::uint32_t> queue;
  const auto enqueue = [&](std::uint32_t b) {
    if (!queued[b] && origins.cfg().is_reachable(ir::BlockId(b))) queue.push_back(b);
    queued[b] = true;
  };
  for (const std::uint32_t b : blocks) enqueue(b);
  bool clear = true;
  int found = 0;  // the first code, or the first one that is wanted
  std::size_t reads = 0;
  const auto is_wanted = [&](int code) { return code > 0 && (wanted >> code & 1) != 0; };
  // True where the search is over.
  const auto see = [&](int code, bool is_certain) {
    clear = clear && code != kUnclear && (is_certain || code == 0);
    if (is_certain && code > 0 && (found == 0 || is_wanted(code))) found = code;
    return is_wanted(found) || ++reads > most_reads;
  };
  const auto answer = [&] { return found != 0 ? found : clear && reads <= most_reads ? 0 : kUnclear; };
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const ir::Block& block = after.blocks[queue[next]];
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = after.insts[i];
      const ir::Inst* old = inst.is_inserted() || inst.is_deleted() || inst.is_phi() ? nullptr : find(inst.id);
      if (old == nullptr || old->num_operands != inst.num_operands || (old->op != inst.op && !old->is_copy())) continue;
      const auto ops = after.operands_of(inst);
      const bool guarded = ir::is_guarded(ops);
      for (std::size_t k = 0; k < ops.size(); ++k) {
        const bool is_guard = ops[k].role == Role::Guard;
        // The uses of a copy are looked through. Its guard counts only where what it copies is read, which is not looked at here:
        // so it is uncertain, as every read of a guarded instruction is but that of its guard.
        if (!ops[k].is_preg() || !ops[k].reads() || (old->is_copy() && !is_guard)) continue;
        if (see(origins.code_of(i, *old, k), !old->is_copy() && (is_guard || !guarded))) return answer();
      }
      for (const ir::PReg unit : inst.op == Op::Ret ? std::span<const ir::PReg>(preserved_) : std::span<const ir::PReg>())
        if (see(origins.code_of_saved(i, unit), true)) return answer();
    }
    for (const ir::BlockId to : origins.cfg().successors(ir::BlockId(queue[next]))) enqueue(to.value);
  }
  return answer();
}

}  // namespace regduel::trial
