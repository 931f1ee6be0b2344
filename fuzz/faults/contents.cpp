// See contents.h.
#include "fuzz/faults/contents.h"

#include <algorithm>

#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

constexpr std::size_t kMostElements = 32;
constexpr std::size_t kLongestRoute = 6;

bool is_move(Op op) { return op == Op::Copy || op == Op::Spill || op == Op::Refill; }

}  // namespace

Contents::Contents(const ir::Function& f, const BeforeFacts* before) : f_(f), in_(f.blocks.size()) {
  sets_.resize(2);  // kNever, kUnknown
  number_cells();
  if (before != nullptr) note_narrow_defs(*before);
  const ir::Cfg cfg(f);
  State entry(num_cells_, single({}));
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    const ir::VReg& vreg = f.vregs[v];
    if ((vreg.flags & ir::kVRegArchitectural) == 0) continue;
    const ir::FileBytes home = ir::Function::file_bytes(Operand::of_preg(Role::Use, vreg.fixed));
    for (std::size_t b = home.begin; b < home.end; ++b) {
      const Set held = single({Held::entry(home.file, b)});
      if (f.phase == ir::Phase::Virtual) entry[root_begin_[f.root(ir::VRegId(v)).index()] + (b - home.begin)] = held;
      else if (b < file_bytes_[ir::index(home.file)]) entry[file_begin_[ir::index(home.file)] + b] = held;
    }
  }
  in_[0] = std::move(entry);
  std::vector<bool> pending(f.blocks.size(), false);
  pending[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::BlockId b : cfg.reverse_postorder()) {
      if (!pending[b.index()]) continue;
      pending[b.index()] = false;
      State out = in_[b.index()];
      for (const ir::Inst& i : f.insts_of(b)) step(i, out);
      for (const ir::BlockId to : cfg.successors(b)) {
        State arriving = along(b, to, out);
        State& known = in_[to.index()];
        bool grew = known.empty();
        if (grew) known = std::move(arriving);
        else
          for (std::size_t c = 0; c < num_cells_; ++c) {
            const Set both = merge(known[c], arriving[c]);
            grew = grew || both != known[c];
            known[c] = both;
          }
        if (!grew) continue;
        pending[to.index()] = true;
        changed = true;
      }
    }
  }
}

void Contents::number_cells() {
  if (f_.phase == ir::Phase::Virtual) {
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      root_begin_.push_back(num_cells_);
      if (!f_.vregs[v].alias.is_valid()) num_cells_ += static_cast<std::size_t>(f_.vregs[v].bytes());
    }
    return;
  }
  for (const ir::Slot& s : f_.slots) slot_bytes_.push_back(s.size);
  for (const ir::Inst& i : f_.insts) {
    const auto ops = f_.operands_of(i);
    for (const Operand& op : ops) {
      if (op.is_preg() && op.role != Role::Clobber) {
        auto& bytes = file_bytes_[ir::index(op.preg().file)];
        bytes = std::max<std::size_t>(bytes, static_cast<std::size_t>(op.preg().end() * ir::unit_bytes(op.preg().file)));
      }
      if (op.is_slot() && op.slot().index() < slot_bytes_.size())
        slot_bytes_[op.slot().index()] = std::max<std::size_t>(slot_bytes_[op.slot().index()], op.extra + static_cast<std::size_t>(f_.operand_bytes(ops[0])));
    }
  }
  for (std::size_t k = 0; k < file_bytes_.size(); ++k) {
    file_begin_[k] = num_cells_;
    num_cells_ += file_bytes_[k];
  }
  for (const std::size_t bytes : slot_bytes_) {
    slot_begin_.push_back(num_cells_);
    num_cells_ += bytes;
  }
}

void Contents::note_narrow_defs(const BeforeFacts& facts) {
  defined_bytes_.assign(f_.operands.size(), 0);
  for (const ir::Inst& i : f_.insts) {
    const ir::Inst* old = facts.find(i.op == Op::Remat ? i.ref : i.id);
    if (old == nullptr || old->num_operands != i.num_operands || (i.is_inserted() && i.op != Op::Remat)) continue;
    const auto want = facts.before.operands_of(*old), have = f_.operands_of(i);
    for (std::size_t k = 0; k < have.size(); ++k) {
      if (!have[k].writes() || !have[k].is_preg() || !want[k].is_vreg()) continue;
      const int bytes = facts.before.operand_bytes(want[k]);
      if (bytes < f_.operand_bytes(have[k])) defined_bytes_[i.first_operand + k] = static_cast<std::uint8_t>(bytes);
    }
  }
}

std::pair<std::size_t, std::size_t> Contents::cells(const Operand& op, int bytes) const {
  if (op.is_vreg()) {
    const ir::Storage s = f_.storage(op);
    const std::size_t begin = root_begin_[s.root.index()] + s.offset;
    return {begin, begin + s.size};
  }
  if (op.is_slot()) {
    const std::size_t begin = slot_begin_[op.slot().index()] + op.extra;
    return {begin, begin + static_cast<std::size_t>(bytes)};
  }
  const ir::FileBytes b = ir::Function::file_bytes(op);
  const std::size_t k = ir::index(b.file);
  const std::size_t end = std::min<std::size_t>(b.end, file_bytes_[k]), begin = std::min<std::size_t>(b.begin, end);
  return {file_begin_[k] + begin, file_begin_[k] + end};
}

void Contents::step(const ir::Inst& i, State& state) {
  if (i.is_deleted() || i.is_phi()) return;
  const auto ops = f_.operands_of(i);
  const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
  if (is_move(i.op)) {
    // Pairs of cells, all read before any is written.
    std::size_t defs = 0;
    while (defs < ops.size() && ops[defs].writes()) ++defs;
    std::vector<std::pair<std::size_t, Set>> writes;
    const auto pair = [&](const Operand& to, const Operand& from, int bytes) {
      const auto [t, t_end] = cells(to, bytes);
      const auto [s, s_end] = cells(from, bytes);
      for (std::size_t c = 0; c < std::min(t_end - t, s_end - s); ++c)
        writes.emplace_back(t + c, i.op == Op::Refill ? through(state[s + c], i.id) : state[s + c]);
    };
    if (i.op == Op::Copy)
      for (std::size_t k = 0; k < defs; ++k) pair(ops[k], ops[defs + k], 0);
    else if (i.op == Op::Spill) pair(ops[1], ops[0], f_.operand_bytes(ops[0]));
    else pair(ops[0], ops[1], f_.operand_bytes(ops[0]));
    for (const auto& [cell, value] : writes) write(state, cell, value, guarded);
    return;
  }
  for (const Operand& op : ops)
    if (op.role == Role::Clobber && op.is_preg() && f_.phase == ir::Phase::Allocated) {
      const auto [begin, end] = cells(op);
      for (std::size_t c = begin; c < end; ++c) write(state, c, single({}), guarded);
    }
  const bool is_pack = i.op >= Op::P2R && i.op <= Op::BitRefill;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!ops[k].writes() || !ops[k].is_register()) continue;
    const auto [begin, end] = cells(ops[k]);
    const ir::InstId id = i.op == Op::Remat ? i.ref : i.id;
    const std::size_t defined = defined_bytes_.empty() ? 0 : defined_bytes_[i.first_operand + k];
    for (std::size_t c = begin; c < end; ++c) {
      const bool is_defined = defined == 0 || c - begin < defined;
      write(state, c, is_pack ? kUnknown : single({is_defined ? Held::definition(id, k, c - begin) : 0}), guarded);
    }
  }
}

Contents::State Contents::along(ir::BlockId from, ir::BlockId to, State state) {
  std::vector<std::pair<std::size_t, Set>> writes;
  for (const ir::Inst& i : f_.insts_of(to)) {
    if (!i.is_phi()) break;
    if (i.is_deleted()) continue;
    const auto targets = f_.targets_of(i);
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < targets.size() && k + 1 < ops.size(); ++k) {
      if (targets[k] != from) continue;
      const auto [t, t_end] = cells(ops[0]);
      const auto [s, s_end] = cells(ops[k + 1]);
      for (std::size_t c = 0; c < std::min(t_end - t, s_end - s); ++c) writes.emplace_back(t + c, state[s + c]);
    }
  }
  for (const auto& [cell, value] : writes) state[cell] = value;
  return state;
}

void Contents::write(State& state, std::size_t cell, Set value, bool guarded) {
  state[cell] = guarded ? merge(state[cell], value) : value;
}

Contents::Set Contents::merge(Set a, Set b) {
  if (a == b || b == kNever) return a;
  if (a == kNever) return b;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  const auto key = static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b);
  if (const auto it = merged_.find(key); it != merged_.end()) return it->second;
  std::vector<Held> both;
  const auto x = elements(a), y = elements(b);
  std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
  const Set result = both.size() > kMostElements ? kUnknown : intern(both);
  merged_.emplace(key, result);
  return result;
}

Contents::Set Contents::through(Set s, ir::InstId refill) {
  if (s == kUnknown || s == kNever) return s;
  const auto key = static_cast<std::uint64_t>(s) << 32 | refill.value;
  if (const auto it = through_.find(key); it != through_.end()) return it->second;
  std::vector<Held> list(elements(s).begin(), elements(s).end());
  for (Held& h : list) {
    // In a loop a value may come through the same refill again.
    std::vector<std::uint32_t> route = routes_[h.route];
    const auto at = std::lower_bound(route.begin(), route.end(), refill.value);
    if (at == route.end() || *at != refill.value) route.insert(at, refill.value);
    if (route.size() > kLongestRoute) {
      through_.emplace(key, kUnknown);
      return kUnknown;
    }
    const auto [it, is_new] = route_numbers_.emplace(std::move(route), static_cast<std::uint32_t>(routes_.size()));
    if (is_new) routes_.push_back(it->first);
    h.route = it->second;
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  const Set result = intern(list);
  through_.emplace(key, result);
  return result;
}

Contents::Set Contents::single(Held held) {
  const auto [it, is_new] = singles_.emplace(held, static_cast<Set>(sets_.size()));
  if (is_new) {
    sets_.emplace_back(static_cast<std::uint32_t>(pool_.size()), 1);
    pool_.push_back(held);
  }
  return it->second;
}

Contents::Set Contents::intern(const std::vector<Held>& list) {
  if (list.size() == 1) return single(list[0]);
  const auto [it, is_new] = numbers_.emplace(list, static_cast<Set>(sets_.size()));
  if (is_new) {
    sets_.emplace_back(static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(list.size()));
    pool_.insert(pool_.end(), list.begin(), list.end());
  }
  return it->second;
}

BeforeFacts::BeforeFacts(const ir::Function& program) : before(program), contents(program), reads(program.insts.size()) {
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) index_of.emplace(before.insts[i].id.value, i);
  for (std::size_t b = 0; b < before.blocks.size(); ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      for (const Operand& op : before.operands_of(before.insts[i])) {
        if (!op.reads() || !op.is_register()) continue;
        const auto [begin, end] = contents.cells(op);
        reads[i].insert(reads[i].end(), state.begin() + static_cast<std::ptrdiff_t>(begin), state.begin() + static_cast<std::ptrdiff_t>(end));
      }
    });
  }
}

bool BeforeFacts::is_defined_read(const ir::Inst& inst, std::size_t operand) const {
  const auto at = static_cast<std::size_t>(&inst - before.insts.data());
  const auto ops = before.operands_of(inst);
  std::size_t next = 0;
  for (std::size_t k = 0; k < ops.size() && k <= operand; ++k) {
    if (!ops[k].reads() || !ops[k].is_register()) continue;
    const auto [begin, end] = contents.cells(ops[k]);
    const std::size_t first = next;
    next += end - begin;
    if (k != operand || next > reads[at].size()) continue;
    return std::all_of(reads[at].begin() + static_cast<std::ptrdiff_t>(first), reads[at].begin() + static_cast<std::ptrdiff_t>(next), [&](Contents::Set s) {
      const auto held = contents.elements(s);
      return !held.empty() && std::none_of(held.begin(), held.end(), [](const Held& h) { return h.is_undefined(); });
    });
  }
  return false;
}

namespace {

// What a byte shows, as memcheck would name it: 0 = nothing wrong, -1 = unknown.
class ByteCode {
 public:
  // What each byte of a refill delivers.
  using Delivered = std::unordered_map<std::uint32_t, std::vector<Contents::Set>>;

  ByteCode(const Contents& before, const Contents& after, const Delivered& delivered)
      : before_(before), after_(after), delivered_(delivered) {}

  [[nodiscard]] int of(Contents::Set wanted, Contents::Set found) const {
    if (wanted <= Contents::kUnknown || found <= Contents::kUnknown) return -1;
    std::vector<std::uint64_t> want;
    for (const Held& h : before_.elements(wanted)) {
      if (h.is_undefined()) return 0;
      want.push_back(h.what);
    }
    const auto expects = [&](std::uint64_t what) { return std::find(want.begin(), want.end(), what) != want.end(); };
    int code = 0;
    std::size_t kept = 0;
    std::uint64_t last = 0;
    const auto propose = [&](int c) {
      if (code == 0 || c < code) code = c;  // 1, 2, 5, 6 take precedence in this order
    };
    for (const Held& h : after_.elements(found)) {
      if (expects(h.what)) {
        kept += h.what != last ? 1 : 0;
        last = h.what;
        continue;
      }
      propose(h.is_undefined() ? 5 : 6);
      // Each refill on its way: the last may deliver the right value too, an earlier one, of another value, never did.
      for (const std::uint32_t refill : after_.route(h.route)) propose(delivers(delivered_.at(refill), h.what, expects) ? 2 : 1);
    }
    if (code == 0 && kept < want.size()) code = 10;
    return code;
  }

 private:
  // True where a byte that may hold `what` may hold something expected too.
  template <class Expects>
  [[nodiscard]] bool delivers(const std::vector<Contents::Set>& bytes, std::uint64_t what, Expects expects) const {
    return std::any_of(bytes.begin(), bytes.end(), [&](Contents::Set s) {
      const auto held = after_.elements(s);
      return std::any_of(held.begin(), held.end(), [&](const Held& h) { return h.what == what; }) &&
             std::any_of(held.begin(), held.end(), [&](const Held& h) { return expects(h.what); });
    });
  }

  const Contents& before_;
  const Contents& after_;
  const Delivered& delivered_;
};

}  // namespace

std::uint32_t expected_codes(const BeforeFacts& facts, const ir::Function& after, std::uint32_t wanted) {
  Contents contents(after, &facts);
  ByteCode::Delivered delivered;
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const ir::Inst& inst = after.insts[i];
      if (inst.op != Op::Refill || inst.is_deleted()) return;
      auto& list = delivered[inst.id.value];
      const auto ops = after.operands_of(inst);
      const auto [begin, end] = contents.cells(ops[1], after.operand_bytes(ops[0]));
      list.assign(state.begin() + static_cast<std::ptrdiff_t>(begin), state.begin() + static_cast<std::ptrdiff_t>(end));
    });
  }
  const ByteCode code(facts.contents, contents, delivered);
  std::uint32_t seen = 0;
  for (std::size_t b = 0; b < after.blocks.size() && (seen & wanted) == 0; ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const ir::Inst& inst = after.insts[i];
      if (inst.is_inserted() || inst.is_deleted() || inst.is_copy() || inst.is_phi()) return;
      const ir::Inst* old = facts.find(inst.id);
      if (old == nullptr || old->op != inst.op || old->num_operands != inst.num_operands) return;
      const auto& reads = facts.reads[facts.index_of.at(inst.id.value)];
      const auto ops = after.operands_of(inst), old_ops = facts.before.operands_of(*old);
      const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
      std::size_t next = 0;
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!old_ops[k].reads() || !old_ops[k].is_register()) continue;
        const auto [was, was_end] = facts.contents.cells(old_ops[k]);
        const std::size_t first = next;
        next += was_end - was;
        if (next > reads.size()) return;
        if (!ops[k].is_preg() || !ops[k].reads()) continue;
        const auto [now, now_end] = contents.cells(ops[k]);
        int worst = 0;
        bool is_known = true;
        for (std::size_t c = 0; c < std::min(was_end - was, now_end - now); ++c) {
          const int shown = code.of(reads[first + c], state[now + c]);
          if (shown < 0) is_known = false;
          else if (shown != 0 && (worst == 0 || shown < worst)) worst = shown;
        }
        // An unknown byte may have a code that takes precedence.
        if (!is_known || (worst != 0 && guarded && ops[k].role != Role::Guard)) seen |= kUndecidedReads;
        else if (worst != 0) seen |= 1u << worst;
      }
    });
  }
  return seen;
}

Refilled refilled(const BeforeFacts& facts, const ir::Function& after) {
  Refilled result;
  Contents contents(after, &facts);
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const ir::Inst& inst = after.insts[i];
      if (inst.op != Op::Refill || inst.is_deleted()) return;
      auto& bytes = result[inst.id.value];
      const auto ops = after.operands_of(inst);
      const auto [begin, end] = contents.cells(ops[1], after.operand_bytes(ops[0]));
      for (std::size_t c = begin; c < end; ++c) {
        auto& held = bytes.emplace_back();
        for (const Held& h : contents.elements(state[c])) held.push_back(h.what);
      }
    });
  }
  return result;
}

bool holds_definitions(const BeforeFacts& facts, const ir::Function& after, ir::BlockId b, ir::PReg reg) {
  Contents contents(after, &facts);
  bool result = false;
  if (!contents.is_reachable(b)) return result;
  const std::uint32_t last = after.block(b).first_inst + after.block(b).num_insts - 1;
  contents.walk(b, [&](std::uint32_t i, const Contents::State& state) {
    if (i != last) return;
    const auto [begin, end] = contents.cells(Operand::of_preg(Role::Use, reg));
    result = std::all_of(state.begin() + static_cast<std::ptrdiff_t>(begin), state.begin() + static_cast<std::ptrdiff_t>(end), [&](Contents::Set s) {
      const auto held = contents.elements(s);
      return !held.empty() && std::none_of(held.begin(), held.end(), [](const Held& h) { return h.is_undefined() || h.route != 0; });
    });
  });
  return result;
}

bool keeps_some(const Refilled& correct, const Refilled& damaged) {
  for (const auto& [refill, now] : damaged) {
    const auto it = correct.find(refill);
    if (it == correct.end() || it->second.size() != now.size()) return false;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const auto& was = it->second[k];
      if (was.empty() || now[k].empty()) continue;  // unknown
      if (std::none_of(now[k].begin(), now[k].end(), [&](std::uint64_t w) { return std::find(was.begin(), was.end(), w) != was.end(); })) return false;
    }
  }
  return true;
}

}  // namespace regduel::fuzz
