// See contents.h.
#include "fuzz/faults/contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>

#include "base/random.h"
#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

constexpr std::size_t kMostElements = 32;
constexpr std::size_t kLongestRoute = 6;
constexpr Contents::Set kUndefined = 2;  // the set of what was never defined
constexpr std::uint32_t kNoRoute = 0xFFFFFFFFu;
constexpr std::uint32_t kManyGuards = 2;

bool is_move(Op op) { return op == Op::Copy || op == Op::Spill || op == Op::Refill; }

}  // namespace

Contents::Contents(const ir::Function& f, const BeforeFacts* before, Scope scope) : f_(f), in_(f.blocks.size()) {
  number_cells();
  if (before != nullptr) note_narrow_defs(*before);
  pool_.resize(3);  // kNever, kUnknown, kUndefined
  in_[0].assign(num_cells_, kUndefined);
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    const ir::VReg& vreg = f.vregs[v];
    if ((vreg.flags & ir::kVRegArchitectural) == 0) continue;
    const ir::FileBytes home = ir::Function::file_bytes(Operand::of_preg(Role::Use, vreg.fixed));
    for (std::size_t b = home.begin; b < home.end; ++b) {
      const auto held = static_cast<Set>(pool_.size());
      pool_.push_back({Held::entry(home.file, b)});
      if (f.phase == ir::Phase::Virtual) in_[0][root_begin_[f.root(ir::VRegId(v)).index()] + (b - home.begin)] = held;
      else if (b < file_bytes_[ir::index(home.file)]) in_[0][file_begin_[ir::index(home.file)] + b] = held;
    }
  }
  first_step_.reserve(f.insts.size() + 1);
  steps_.reserve(f.insts.size() * 2);
  for (std::uint32_t i = 0; i < f.insts.size(); ++i) {
    first_step_.push_back(static_cast<std::uint32_t>(steps_.size()));
    compile(i);
  }
  first_step_.push_back(static_cast<std::uint32_t>(steps_.size()));
  first_united_ = static_cast<Set>(pool_.size());
  interned_.assign(64, kNever);
  if (scope == Scope::ReadLater) find_live();
  else live_in_.assign(f.blocks.size(), std::vector<std::uint64_t>((num_cells_ + 63) / 64, ~std::uint64_t{0}));
  solve();
}

void Contents::live_before(std::uint32_t inst, std::vector<std::uint64_t>& live) {
  const auto set = [&](std::size_t cell) { live[cell / 64] |= std::uint64_t{1} << (cell % 64); };
  const auto clear = [&](std::size_t cell) { live[cell / 64] &= ~(std::uint64_t{1} << (cell % 64)); };
  const ir::Inst& i = f_.insts[inst];
  if (i.is_deleted() || i.is_phi()) return;
  read_.clear();
  for (std::uint32_t k = first_step_[inst]; k < first_step_[inst + 1]; ++k) {
    const Step& s = steps_[k];
    for (std::uint32_t c = 0; c < s.size && s.kind == StepKind::Move; ++c)
      if (s.refill.is_valid() || is_live(live, s.to + c)) read_.push_back(s.from + c);
  }
  for (std::uint32_t k = first_step_[inst]; k < first_step_[inst + 1]; ++k)
    for (std::uint32_t c = 0; c < steps_[k].size && !steps_[k].guarded; ++c) clear(steps_[k].to + c);
  for (const std::uint32_t c : read_) set(c);
  for (const Operand& op : f_.operands_of(i)) {
    if (!op.reads() || !op.is_register() || (is_move(i.op) && op.role != Role::Guard)) continue;
    const auto [begin, end] = cells(op);
    for (std::size_t c = begin; c < end; ++c) set(c);
  }
}

void Contents::find_live() {
  const ir::Cfg cfg(f_);
  const std::size_t words = (num_cells_ + 63) / 64;
  live_in_.assign(f_.blocks.size(), std::vector<std::uint64_t>(words, 0));
  const auto order = cfg.reverse_postorder();
  std::vector<std::uint64_t> live(words);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = order.rbegin(); b != order.rend(); ++b) {
      std::fill(live.begin(), live.end(), 0);
      for (const ir::BlockId to : cfg.successors(*b)) {
        for (std::size_t w = 0; w < words; ++w) live[w] |= live_in_[to.index()][w];
        for (const ir::Inst& i : f_.insts_of(to)) {
          if (!i.is_phi()) break;
          const auto ops = f_.operands_of(i);
          for (std::size_t k = 1; k < ops.size() && !i.is_deleted(); ++k) {
            const auto [begin, end] = cells(ops[k]);
            for (std::size_t c = begin; c < end; ++c) live[c / 64] |= std::uint64_t{1} << (c % 64);
          }
        }
      }
      const ir::Block& block = f_.block(*b);
      for (std::uint32_t i = block.first_inst + block.num_insts; i-- > block.first_inst;) live_before(i, live);
      if (live == live_in_[b->index()]) continue;
      live_in_[b->index()] = live;
      changed = true;
    }
  }
}

void Contents::solve() {
  const ir::Cfg cfg(f_);
  std::vector<bool> pending(f_.blocks.size(), false);
  pending[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::BlockId b : cfg.reverse_postorder()) {
      if (!pending[b.index()]) continue;
      pending[b.index()] = false;
      out_ = in_[b.index()];
      const ir::Block& block = f_.block(b);
      run(first_step_[block.first_inst], first_step_[block.first_inst + block.num_insts], out_);
      for (const ir::BlockId to : cfg.successors(b)) {
        const State& arriving = along(b, to, out_);
        State& known = in_[to.index()];
        bool grew = known.empty();
        if (grew) known.assign(num_cells_, kNever);
        for (std::size_t w = 0; w < live_in_[to.index()].size(); ++w)
          for (std::uint64_t bits = live_in_[to.index()][w]; bits != 0; bits &= bits - 1) {
            const std::size_t c = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            if (c >= num_cells_) break;
            if (known[c] == arriving[c]) continue;
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
  // Slots that overlap share their bytes.
  std::array<std::size_t, 2> frame_bytes = {};
  const auto frame_of = [&](std::size_t slot) -> std::size_t& {
    return frame_bytes[f_.slots[slot].space == ir::MemSpace::Shared ? 1 : 0];
  };
  for (std::size_t k = 0; k < f_.slots.size(); ++k)
    frame_of(k) = std::max<std::size_t>(frame_of(k), f_.slots[k].offset + f_.slots[k].size);
  for (const ir::Inst& i : f_.insts) {
    const auto ops = f_.operands_of(i);
    for (const Operand& op : ops) {
      if (op.is_preg() && op.role != Role::Clobber) {
        auto& bytes = file_bytes_[ir::index(op.preg().file)];
        bytes = std::max<std::size_t>(bytes, static_cast<std::size_t>(op.preg().end() * ir::unit_bytes(op.preg().file)));
      }
      if (op.is_slot() && op.slot().index() < f_.slots.size()) {
        std::size_t& bytes = frame_of(op.slot().index());
        bytes = std::max<std::size_t>(
            bytes, f_.slots[op.slot().index()].offset + op.extra + static_cast<std::size_t>(f_.operand_bytes(ops[0])));
      }
    }
  }
  for (std::size_t k = 0; k < file_bytes_.size(); ++k) {
    file_begin_[k] = num_cells_;
    num_cells_ += file_bytes_[k];
  }
  for (const ir::Slot& s : f_.slots)
    slot_begin_.push_back(num_cells_ + (s.space == ir::MemSpace::Shared ? frame_bytes[0] : 0) + s.offset);
  num_cells_ += frame_bytes[0] + frame_bytes[1];
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

void Contents::compile(std::uint32_t inst) {
  const ir::Inst& i = f_.insts[inst];
  if (i.is_deleted() || i.is_phi()) return;
  const auto ops = f_.operands_of(i);
  const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
  const auto add = [&](StepKind kind, std::size_t to, std::size_t from, std::size_t size) {
    if (size == 0) return;
    Step& s = steps_.emplace_back();
    s.kind = kind;
    s.guarded = guarded;
    s.to = static_cast<std::uint32_t>(to);
    s.from = static_cast<std::uint32_t>(from);
    s.size = static_cast<std::uint32_t>(size);
  };
  if (is_move(i.op)) {
    const std::size_t first = steps_.size();
    std::vector<std::pair<std::size_t, std::size_t>>
        above;  // a narrow value, taken from a part of one register and alone in another
    const auto pair = [&](const Operand& to, const Operand& from, int bytes) {
      const auto [t, t_end] = cells(to, bytes);
      const auto [s, s_end] = cells(from, bytes);
      const std::size_t size = std::min(t_end - t, s_end - s);
      add(StepKind::Move, t, s, size);
      above.emplace_back(t + size, t_end - t - size);
    };
    std::size_t defs = 0;
    while (defs < ops.size() && ops[defs].writes()) ++defs;
    if (i.op == Op::Copy)
      for (std::size_t k = 0; k < defs; ++k) pair(ops[k], ops[defs + k], 0);
    else if (i.op == Op::Spill) pair(ops[1], ops[0], f_.operand_bytes(ops[0]));
    else pair(ops[0], ops[1], f_.operand_bytes(ops[0]));
    for (std::size_t k = first; k < steps_.size(); ++k) {
      steps_[k].moves_more = k + 1 < steps_.size();
      if (i.op == Op::Refill) steps_[k].refill = i.id;
    }
    for (const auto& [begin, size] : above) add(StepKind::Fill, begin, kUndefined, size);
    return;
  }
  for (const Operand& op : ops)
    if (op.role == Role::Clobber && op.is_preg() && f_.phase == ir::Phase::Allocated) {
      const auto [begin, end] = cells(op);
      add(StepKind::Fill, begin, kUndefined, end - begin);
    }
  const bool is_pack = i.op >= Op::P2R && i.op <= Op::BitRefill;
  const ir::InstId id = i.op == Op::Remat ? i.ref : i.id;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (!ops[k].writes() || !ops[k].is_register()) continue;
    const auto [begin, end] = cells(ops[k]);
    if (is_pack) {
      add(StepKind::Fill, begin, kUnknown, end - begin);
      continue;
    }
    const std::size_t narrow = defined_bytes_.empty() ? 0 : defined_bytes_[i.first_operand + k];
    const std::size_t defined = narrow == 0 ? end - begin : std::min(narrow, end - begin);
    add(StepKind::Number, begin, pool_.size(), defined);
    for (std::size_t byte = 0; byte < defined; ++byte) pool_.push_back({Held::definition(id, k, byte)});
    add(StepKind::Fill, begin + defined, kUndefined, end - begin - defined);
  }
}

void Contents::run(std::uint32_t begin, std::uint32_t end, State& state) {
  for (std::uint32_t k = begin; k < end; ++k) {
    const Step& s = steps_[k];
    Set* const to = state.data() + s.to;
    switch (s.kind) {
      case StepKind::Fill:
        for (std::uint32_t c = 0; c < s.size; ++c) to[c] = s.guarded ? either(to[c], s.from) : s.from;
        break;
      case StepKind::Number:
        for (std::uint32_t c = 0; c < s.size; ++c) to[c] = s.guarded ? either(to[c], s.from + c) : s.from + c;
        break;
      case StepKind::Move: {
        std::uint32_t last = k;
        while (steps_[last].moves_more) ++last;
        read_.clear();
        for (std::uint32_t m = k; m <= last; ++m)
          for (std::uint32_t c = 0; c < steps_[m].size; ++c) {
            const Set held = state[steps_[m].from + c];
            read_.push_back(steps_[m].refill.is_valid() ? through(held, steps_[m].refill) : held);
          }
        const Set* next = read_.data();
        for (std::uint32_t m = k; m <= last; ++m)
          for (std::uint32_t c = 0; c < steps_[m].size; ++c, ++next) {
            Set& cell = state[steps_[m].to + c];
            cell = s.guarded ? either(cell, *next) : *next;
          }
        k = last;
        break;
      }
    }
  }
}

const Contents::State& Contents::along(ir::BlockId from, ir::BlockId to, const State& out) {
  if (!f_.insts_of(to).front().is_phi()) return out;
  arriving_ = out;
  for (const ir::Inst& i : f_.insts_of(to)) {
    if (!i.is_phi()) break;
    if (i.is_deleted()) continue;
    const auto targets = f_.targets_of(i);
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < targets.size() && k + 1 < ops.size(); ++k) {
      if (targets[k] != from) continue;
      const auto [t, t_end] = cells(ops[0]);
      const auto [s, s_end] = cells(ops[k + 1]);
      for (std::size_t c = 0; c < std::min(t_end - t, s_end - s); ++c) arriving_[t + c] = out[s + c];
    }
  }
  return arriving_;
}

Contents::Set Contents::unite(Set a, Set b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  std::uint32_t& known = merged_.at(static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b), kNever);
  if (known != kNever) return known;
  const auto x = elements(a), y = elements(b);
  list_.clear();
  std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(list_));
  keep_fewest_guards();
  return known = list_.size() > kMostElements ? kUnknown : intern(list_);
}

// The route with one more refill; 0 where that is too long.
std::uint32_t Contents::extended(std::uint32_t route, std::uint32_t refill) {
  std::uint32_t& known = extended_.at(static_cast<std::uint64_t>(route) << 32 | refill, kNoRoute);
  if (known != kNoRoute) return known;
  // In a loop a value may come through the same refill again.
  std::vector<std::uint32_t> longer = routes_[route];
  const auto at = std::lower_bound(longer.begin(), longer.end(), refill);
  if (at == longer.end() || *at != refill) longer.insert(at, refill);
  if (longer.size() > kLongestRoute) return known = 0;
  const auto [it, is_new] = route_numbers_.emplace(std::move(longer), static_cast<std::uint32_t>(routes_.size()));
  if (is_new) routes_.push_back(it->first);
  return known = it->second;
}

Contents::Set Contents::through(Set s, ir::InstId refill) {
  if (s == kUnknown || s == kNever) return s;
  std::uint32_t& known = through_.at(static_cast<std::uint64_t>(s) << 32 | refill.value, kNever);
  if (known != kNever) return known;
  const auto held = elements(s);
  list_.assign(held.begin(), held.end());
  for (Held& h : list_) {
    h.route = extended(h.route, refill.value);
    if (h.route == 0) return known = kUnknown;
  }
  std::sort(list_.begin(), list_.end());
  keep_fewest_guards();
  return known = intern(list_);
}

Contents::Set Contents::guarded(Set s) {
  if (s == kUnknown || s == kNever) return s;
  std::uint32_t& known = guarded_.at(s, kNever);
  if (known != kNever) return known;
  const auto held = elements(s);
  list_.assign(held.begin(), held.end());
  for (Held& h : list_) h.guards = std::min(h.guards + 1, kManyGuards);
  return known = intern(list_);
}

void Contents::keep_fewest_guards() {
  const auto same = [](const Held& a, const Held& b) { return a.what == b.what && a.route == b.route; };
  list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
}

Contents::Set Contents::intern(const std::vector<Held>& list) {
  const auto slot_of = [&](std::span<const Held> elements) {
    std::uint64_t hash = elements.size();
    for (const Held& h : elements)
      hash = hash_combine(hash, h.what ^ static_cast<std::uint64_t>(h.route) << 40 ^ static_cast<std::uint64_t>(h.guards) << 60);
    return hash & (interned_.size() - 1);
  };
  std::size_t at = slot_of(list);
  for (; interned_[at] != kNever; at = (at + 1) & (interned_.size() - 1)) {
    const auto known = elements(interned_[at]);
    if (std::equal(known.begin(), known.end(), list.begin(), list.end())) return interned_[at];
  }
  const auto made = first_united_ + static_cast<Set>(united_.size());
  interned_[at] = made;
  united_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(list.size())});
  pool_.insert(pool_.end(), list.begin(), list.end());
  if (united_.size() * 2 > interned_.size()) {
    interned_.assign(interned_.size() * 2, kNever);
    for (Set s = first_united_; s <= made; ++s) {
      std::size_t to = slot_of(elements(s));
      while (interned_[to] != kNever) to = (to + 1) & (interned_.size() - 1);
      interned_[to] = s;
    }
  }
  return made;
}

BeforeFacts::BeforeFacts(const ir::Function& program)
    : before(program), contents(program, nullptr, Contents::Scope::Everything), reads(program.insts.size()) {
  for (std::uint32_t i = 0; i < before.insts.size(); ++i) index_of.emplace(before.insts[i].id.value, i);
  for (std::size_t b = 0; b < before.blocks.size(); ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      for (const Operand& op : before.operands_of(before.insts[i])) {
        if (!op.reads() || !op.is_register()) continue;
        const auto [begin, end] = contents.cells(op);
        reads[i].insert(reads[i].end(), state.begin() + static_cast<std::ptrdiff_t>(begin),
                        state.begin() + static_cast<std::ptrdiff_t>(end));
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
    return std::all_of(reads[at].begin() + static_cast<std::ptrdiff_t>(first),
                       reads[at].begin() + static_cast<std::ptrdiff_t>(next), [&](Contents::Set s) {
                         const auto held = contents.elements(s);
                         return !held.empty() &&
                                std::none_of(held.begin(), held.end(), [](const Held& h) { return h.is_undefined(); });
                       });
  }
  return false;
}

namespace {

// Calls see(refill, the sets of its bytes) for each refill of a reachable block.
template <class See>
void each_refill(const ir::Function& after, Contents& contents, See see) {
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    const auto insts = after.insts_of(ir::BlockId(b));
    const auto is_refill = [](const ir::Inst& i) { return i.op == Op::Refill && !i.is_deleted(); };
    if (!contents.is_reachable(ir::BlockId(b)) || std::none_of(insts.begin(), insts.end(), is_refill)) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      if (!is_refill(after.insts[i])) return;
      const auto ops = after.operands_of(after.insts[i]);
      const auto [begin, end] = contents.cells(ops[1], after.operand_bytes(ops[0]));
      see(after.insts[i], std::span(state).subspan(begin, end - begin));
    });
  }
}

// What a byte shows, as memcheck would name it: 0 = nothing wrong, -1 = unknown.
class ByteCode {
 public:
  ByteCode(const Contents& before, Contents& after, const ir::Function& program)
      : before_(before), after_(after), program_(program) {}

  [[nodiscard]] int of(Contents::Set wanted, Contents::Set found) {
    if (wanted <= Contents::kUnknown || found <= Contents::kUnknown) return -1;
    const auto want = before_.elements(wanted), have = after_.elements(found);
    if (want.size() == 1 && have.size() == 1 && want[0].what == have[0].what && wrong_remats_.empty()) return 0;
    constexpr std::uint32_t kNew = 0xFFFFFFFEu;
    std::uint32_t& known = known_.at(static_cast<std::uint64_t>(wanted) << 32 | found, kNew);
    if (known == kNew) known = static_cast<std::uint32_t>(work_out(want, have));
    return static_cast<int>(known);
  }
  // Some remat of this instruction reads something else than it did: whatever has its result shows that first, which is not for
  // this analysis.
  void distrust(ir::InstId repeated) {
    wrong_remats_.push_back(repeated.value);
    known_ = FlatMap();
  }
  [[nodiscard]] bool is_distrusted(ir::InstId repeated) const {
    return std::find(wrong_remats_.begin(), wrong_remats_.end(), repeated.value) != wrong_remats_.end();
  }

 private:
  // What each byte of a refill delivers.
  using Delivered = std::unordered_map<std::uint32_t, std::vector<Contents::Set>>;

  [[nodiscard]] int work_out(std::span<const Held> want, std::span<const Held> have) {
    if (want[0].is_undefined()) return 0;  // it would be the first
    if (std::any_of(have.begin(), have.end(), [&](const Held& h) { return is_distrusted(h.instruction()); })) return -1;
    const auto is_in = [](std::span<const Held> set, std::uint64_t what, std::uint32_t most_guards) {
      return std::any_of(set.begin(), set.end(), [&](const Held& h) { return h.what == what && h.guards <= most_guards; });
    };
    const auto expects = [&](std::uint64_t what) { return is_in(want, what, kManyGuards); };
    const auto all_in = [&](std::span<const Held> part, std::span<const Held> whole) {
      return std::all_of(part.begin(), part.end(), [&](const Held& h) { return is_in(whole, h.what, kManyGuards); });
    };
    if (all_in(want, have) && all_in(have, want)) return 0;
    // The code where everything arrives that may, and where nothing does that guards might exclude.
    int possible = 0, sure = 0;
    const auto propose = [](int& code, int c) {
      if (code == 0 || c < code) code = c;  // 1, 2, 5, 6, 10 take precedence in this order
    };
    const auto excluded = [&](const Held& h) { return h.guards == kManyGuards; };
    for (const Held& h : have) {
      if (is_in(want, h.what, kManyGuards - 1)) continue;
      const auto both = [&](int c) {
        propose(possible, c);
        if (!excluded(h) && !expects(h.what)) propose(sure, c);
      };
      both(h.is_undefined() ? 5 : 6);
      // Each refill on its way: the last may deliver the right value too, an earlier one, of another value, never did.
      for (const std::uint32_t refill : after_.route(h.route)) both(delivers(delivered().at(refill), h.what, expects) ? 2 : 1);
    }
    for (const Held& w : want) {
      if (!is_in(have, w.what, kManyGuards - 1)) propose(possible, 10);
      if (!excluded(w) && !is_in(have, w.what, kManyGuards)) propose(sure, 10);
    }
    return possible == sure ? sure : -1;
  }

  // True where a byte that may hold `what` may hold something expected too.
  template <class Expects>
  [[nodiscard]] bool delivers(const std::vector<Contents::Set>& bytes, std::uint64_t what, Expects expects) const {
    return std::any_of(bytes.begin(), bytes.end(), [&](Contents::Set s) {
      const auto held = after_.elements(s);
      return std::any_of(held.begin(), held.end(), [&](const Held& h) { return h.what == what; }) &&
             std::any_of(held.begin(), held.end(), [&](const Held& h) { return expects(h.what); });
    });
  }

  // Asked for only where something is wrong, which in most trials is at few places or none.
  [[nodiscard]] const Delivered& delivered() {
    if (!delivered_) {
      delivered_.emplace();
      each_refill(program_, after_, [&](const ir::Inst& refill, std::span<const Contents::Set> bytes) {
        (*delivered_)[refill.id.value].assign(bytes.begin(), bytes.end());
      });
    }
    return *delivered_;
  }

  const Contents& before_;
  Contents& after_;
  const ir::Function& program_;
  std::vector<std::uint32_t> wrong_remats_;
  FlatMap known_;  // wanted, found -> code
  std::optional<Delivered> delivered_;
};

// Distrusts what is repeated with other operands than before allocation, and then what repeats it in turn.
void distrust_wrong_remats(const BeforeFacts& facts, const ir::Function& after, Contents& contents, ByteCode& code) {
  struct Read {
    ir::InstId repeated;
    Contents::Set wanted, found;
  };
  std::vector<Read> reads;
  const auto is_remat = [](const ir::Inst& i) { return i.op == Op::Remat && !i.is_deleted(); };
  for (std::size_t b = 0; b < after.blocks.size(); ++b) {
    const auto insts = after.insts_of(ir::BlockId(b));
    if (!contents.is_reachable(ir::BlockId(b)) || std::none_of(insts.begin(), insts.end(), is_remat)) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const ir::Inst* old = is_remat(after.insts[i]) ? facts.find(after.insts[i].ref) : nullptr;
      if (old == nullptr) return;
      const auto& wanted = facts.reads[static_cast<std::size_t>(old - facts.before.insts.data())];
      std::size_t next = 0;
      for (const Operand& op : after.operands_of(after.insts[i])) {
        if (!op.is_preg() || !op.reads()) continue;
        const auto [begin, end] = contents.cells(op);
        for (std::size_t c = begin; c < end && next < wanted.size(); ++c) reads.push_back({old->id, wanted[next++], state[c]});
      }
    });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Read& r : reads)
      if (!code.is_distrusted(r.repeated) && code.of(r.wanted, r.found) != 0) {
        code.distrust(r.repeated);
        changed = true;
      }
  }
}

}  // namespace

std::uint32_t expected_codes(const BeforeFacts& facts, const ir::Function& after, std::uint32_t wanted) {
  Contents contents(after, &facts);
  ByteCode code(facts.contents, contents, after);
  distrust_wrong_remats(facts, after, contents, code);
  std::uint32_t seen = 0;
  for (std::size_t b = 0; b < after.blocks.size() && (seen & wanted) == 0; ++b) {
    if (!contents.is_reachable(ir::BlockId(b))) continue;
    contents.walk(ir::BlockId(b), [&](std::uint32_t i, const Contents::State& state) {
      const ir::Inst& inst = after.insts[i];
      if (inst.is_inserted() || inst.is_deleted() || inst.is_phi()) return;
      const ir::Inst* old = facts.find(inst.id);
      if (old == nullptr || old->num_operands != inst.num_operands || (old->op != inst.op && !old->is_copy())) return;
      const auto& reads = facts.reads[static_cast<std::size_t>(old - facts.before.insts.data())];
      const auto ops = after.operands_of(inst), old_ops = facts.before.operands_of(*old);
      const bool guarded = std::any_of(ops.begin(), ops.end(), [](const Operand& op) { return op.role == Role::Guard; });
      std::size_t next = 0;
      // Early-clobber defs are written when only the guard has been read.
      const auto is_destroyed = [&](const Operand& use, std::size_t cell) {
        for (std::size_t k = 0; k < ops.size() && use.role != Role::Guard; ++k) {
          if (!old_ops[k].is_early_clobber() || !ops[k].is_preg() || ops[k].role != Role::Def) continue;
          const auto [begin, end] = contents.cells(ops[k]);
          if (cell >= begin && cell < end) return true;
        }
        return false;
      };
      for (std::size_t k = 0; k < ops.size(); ++k) {
        if (!old_ops[k].reads() || !old_ops[k].is_register()) continue;
        const auto [was, was_end] = facts.contents.cells(old_ops[k]);
        const std::size_t first = next;
        next += was_end - was;
        if (next > reads.size()) return;
        if (!ops[k].is_preg() || !ops[k].reads()) continue;
        // What a copy moves is looked at where it is used, but its guard decides: that is a use like any other.
        if (old->is_copy() && ops[k].role != Role::Guard) continue;
        const auto [now, now_end] = contents.cells(ops[k]);
        int worst = 0;
        bool is_known = true;
        for (std::size_t c = 0; c < std::min(was_end - was, now_end - now); ++c) {
          const int shown = code.of(reads[first + c], is_destroyed(ops[k], now + c) ? kUndefined : state[now + c]);
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
  each_refill(after, contents, [&](const ir::Inst& refill, std::span<const Contents::Set> sets) {
    auto& bytes = result[refill.id.value];
    for (const Contents::Set s : sets) {
      auto& held = bytes.emplace_back();
      for (const Held& h : contents.elements(s)) held.push_back(h.what);
    }
  });
  return result;
}

bool holds_definitions(const BeforeFacts& facts, const ir::Function& after, ir::BlockId b, ir::PReg reg) {
  Contents contents(after, &facts, Contents::Scope::Everything);
  bool result = false;
  if (!contents.is_reachable(b)) return result;
  const std::uint32_t last = after.block(b).first_inst + after.block(b).num_insts - 1;
  contents.walk(b, [&](std::uint32_t i, const Contents::State& state) {
    if (i != last) return;
    const auto [begin, end] = contents.cells(Operand::of_preg(Role::Use, reg));
    result = std::all_of(
        state.begin() + static_cast<std::ptrdiff_t>(begin), state.begin() + static_cast<std::ptrdiff_t>(end), [&](Contents::Set s) {
          const auto held = contents.elements(s);
          return !held.empty() &&
                 std::none_of(held.begin(), held.end(), [](const Held& h) { return h.is_undefined() || h.route != 0; });
        });
  });
  return result;
}

bool hold_different(const BeforeFacts& facts, const ir::Function& after, std::uint32_t inst, const Operand& a, const Operand& b) {
  Contents contents(after, &facts, Contents::Scope::Everything);
  bool result = false;
  for (std::size_t block = 0; block < after.blocks.size(); ++block) {
    const std::uint32_t first = after.blocks[block].first_inst;
    if (inst < first || inst >= first + after.blocks[block].num_insts || !contents.is_reachable(ir::BlockId(block))) continue;
    contents.walk(ir::BlockId(block), [&](std::uint32_t i, const Contents::State& state) {
      if (i != inst) return;
      const std::size_t x = contents.cells(a).first, y = contents.cells(b).first, bytes = contents.cells(a).second - x;
      for (std::size_t k = 0; k < bytes; ++k) {
        const auto held = contents.elements(state[x + k]), others = contents.elements(state[y + k]);
        const auto is_shared = [&](const Held& h) {
          return std::any_of(others.begin(), others.end(), [&](const Held& o) { return o.what == h.what; });
        };
        result = result || (!held.empty() && !others.empty() && std::none_of(held.begin(), held.end(), is_shared));
      }
    });
  }
  return result;
}

bool keeps_some(const Refilled& correct, const Refilled& damaged) {
  for (const auto& [refill, now] : damaged) {
    const auto it = correct.find(refill);
    if (it == correct.end() || it->second.size() != now.size()) return false;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const auto& was = it->second[k];
      if (was.empty() || now[k].empty()) continue;  // unknown
      if (std::none_of(now[k].begin(), now[k].end(),
                       [&](std::uint64_t w) { return std::find(was.begin(), was.end(), w) != was.end(); }))
        return false;
    }
  }
  return true;
}

}  // namespace regduel::fuzz
