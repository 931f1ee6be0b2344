#include "properties/merges.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/cfg.h"

namespace regduel::properties {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;
using ir::VRegId;

// Of one member: a bit for each byte.
struct Bytes {
  std::uint32_t defined = 0, stale = 0;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};
using State = std::vector<Bytes>;  // by member

std::uint32_t bits_of(const Storage& s) { return (s.size >= 32 ? ~0u : (1u << s.size) - 1) << s.offset; }

// What each byte of each root holds within a block: equal numbers, equal values.
class Numbers {
 public:
  std::vector<std::uint32_t> of(const Storage& s) {
    std::vector<std::uint32_t> numbers;
    for (int k = 0; k < s.size; ++k) {
      std::uint32_t& n = held_[key(s, k)];
      if (n == 0) n = ++last_;
      numbers.push_back(n);
    }
    return numbers;
  }
  void set(const Storage& s, std::span<const std::uint32_t> numbers) {
    for (int k = 0; k < s.size; ++k) held_[key(s, k)] = numbers[static_cast<std::size_t>(k)];
  }
  void set_new(const Storage& s) {
    for (int k = 0; k < s.size; ++k) held_[key(s, k)] = ++last_;
  }

 private:
  static std::uint64_t key(const Storage& s, int k) {
    return std::uint64_t{s.root.value} << 8 | static_cast<unsigned>(s.offset + k);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> held_;  // looked up only
  std::uint32_t last_ = 0;
};

class Check {
 public:
  Check(const Function& before, const Function& after, MergeRules rules) : f_(before), after_(after), rules_(rules) {}

  MergeReport run() {
    find_images();
    find_classes();
    compare_shapes();
    if (!members_.empty()) follow_values();
    std::sort(report_.faults.begin(), report_.faults.end());
    report_.faults.erase(std::unique(report_.faults.begin(), report_.faults.end()), report_.faults.end());
    return report_;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u, kMany = ~0u - 1;
  struct Move {
    Storage def, use;
  };

  // --- which root of the program after stands for each root of the program before
  void find_images() {
    for (const Inst& i : after_.insts) by_id_.emplace(i.id.value, &i);
    image_.assign(f_.vregs.size(), kNone);
    for (const Inst& i : f_.insts) {
      const auto at = by_id_.find(i.id.value);
      if (at == by_id_.end()) continue;
      const auto old_ops = f_.operands_of(i), new_ops = after_.operands_of(*at->second);
      for (std::size_t k = 0; k < old_ops.size(); ++k) {
        if (!old_ops[k].is_vreg()) continue;
        const Storage was = f_.storage(old_ops[k]), is = after_.storage(new_ops[k]);
        std::uint32_t& image = image_[was.root.index()];
        const bool is_one = (image == kNone || image == is.root.value) && was.offset == is.offset && was.size == is.size;
        image = is_one ? is.root.value : kMany;
      }
    }
    // A root that the pass itself writes, in a phi or copy that is new, stands for itself.
    std::set<std::uint32_t> ids;
    for (const Inst& i : f_.insts) ids.insert(i.id.value);
    for (const Inst& i : after_.insts) {
      if (ids.contains(i.id.value)) continue;
      for (const Operand& def : ir::defs_of(after_.operands_of(i)))
        if (const VRegId root = after_.root(def.vreg()); root.index() < image_.size() && image_[root.index()] == kNone)
          image_[root.index()] = root.value;
    }
    // A root that only copies named that were left out goes where these lead.
    for (bool changed = true; changed;) {
      changed = false;
      each_move([&](const Inst& i, const Move& m) {
        if (by_id_.contains(i.id.value)) return;
        std::uint32_t &d = image_[m.def.root.index()], &s = image_[m.use.root.index()];
        if ((d == kNone) == (s == kNone)) return;
        (d == kNone ? d : s) = d == kNone ? s : d;
        changed = true;
      });
    }
  }
  template <class Visit>
  void each_move(Visit&& visit) const {
    for (const Inst& i : f_.insts) {
      const auto ops = f_.operands_of(i);
      if (i.is_copy())
        for (const auto [def, use] : ir::copy_pairs(ops)) visit(i, Move{f_.storage(def), f_.storage(use)});
      if (i.is_phi())
        for (const Operand& use : ir::uses_of(ops)) visit(i, Move{f_.storage(ops[0]), f_.storage(use)});
    }
  }
  void find_classes() {
    std::map<std::uint32_t, std::vector<VRegId>> classes;
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (image_[v] != kNone && image_[v] != kMany) classes[image_[v]].emplace_back(v);
    std::set<std::uint32_t> open;
    for (std::size_t v = 0; v < f_.vregs.size(); ++v)
      if (image_[v] == kMany) open.insert(kMany);
    std::set<std::uint32_t> known;
    for (const Inst& i : f_.insts) known.insert(i.id.value);
    for (const Inst& i : after_.insts)
      if (!known.contains(i.id.value))
        for (const Operand& def : ir::defs_of(after_.operands_of(i))) open.insert(after_.root(def.vreg()).value);
    each_move([&](const Inst& i, const Move& m) {
      const std::uint32_t d = image_[m.def.root.index()];
      if (!by_id_.contains(i.id.value) && (d != image_[m.use.root.index()] || m.def.offset != m.use.offset)) open.insert(d);
    });
    member_of_.assign(f_.vregs.size(), kNone);
    for (const auto& [image, roots] : classes) {
      if (roots.size() < 2) continue;
      report_.merged += static_cast<int>(roots.size());
      if (open.contains(image)) {
        report_.undecided += static_cast<int>(roots.size());
        continue;
      }
      const auto first = static_cast<std::uint32_t>(members_.size()), end = first + static_cast<std::uint32_t>(roots.size());
      for (const VRegId root : roots) {
        member_of_[root.index()] = static_cast<std::uint32_t>(members_.size());
        members_.push_back({root, first, end});
      }
    }
  }

  // --- shapes
  void compare_shapes() {
    for (const Member& m : members_) {
      const ir::VReg &a = f_.vreg(members_[m.first].root), &b = f_.vreg(m.root);
      const bool is_float_a = a.type == ir::TypeKind::F, is_float_b = b.type == ir::TypeKind::F;
      if (a.cls != b.cls || a.width != b.width || a.align_log2 != b.align_log2 || a.fixed != b.fixed || a.flags != b.flags ||
          a.is_architectural() || (rules_.by_type && is_float_a != is_float_b))
        report_.faults.push_back(fmt::format("%{} and %{} are of two shapes", members_[m.first].root.value, m.root.value));
    }
  }

  // --- values
  [[nodiscard]] std::uint32_t member(const Storage& s) const { return member_of_[s.root.index()]; }
  [[nodiscard]] bool is_within(const Move& m) const {
    const std::uint32_t d = member(m.def), s = member(m.use);
    return d != kNone && s != kNone && members_[d].first == members_[s].first && m.def.offset == m.use.offset;
  }
  void overwrite_others(State& state, std::uint32_t member, std::uint32_t bytes) const {
    for (std::uint32_t k = members_[member].first; k < members_[member].end; ++k)
      if (k != member) state[k].stale |= state[k].defined & bytes;
  }
  void write(State& state, const Storage& s, bool is_guarded) const {
    const std::uint32_t m = member(s);
    if (m == kNone) return;
    overwrite_others(state, m, bits_of(s));
    state[m].defined |= bits_of(s);
    if (!is_guarded) state[m].stale &= ~bits_of(s);
  }
  // Requires is_within(move).
  void follow(State& state, const State& old, const Move& move, bool is_guarded) const {
    const Bytes from = old[member(move.use)];
    Bytes& to = state[member(move.def)];
    const std::uint32_t bytes = bits_of(move.def), kept = is_guarded ? ~0u : ~bytes;
    to.defined = (to.defined & kept) | (from.defined & bytes);
    to.stale = (to.stale & kept) | (from.stale & bytes);
  }
  void read(const State& state, const Inst& i, const Storage& s) {
    if (!by_id_.contains(i.id.value)) return;  // left out: a copy to what nothing reads
    const std::uint32_t m = member(s);
    if (m != kNone && (state[m].stale & bits_of(s)) != 0)
      report_.faults.push_back(fmt::format("#{} reads %{} after the register was given to a merged one", i.id.value, s.root.value));
  }
  // Writes to `def` what a fresh member of its class holds already, so that the register stays as it is: that member, or kNone.
  [[nodiscard]] std::uint32_t twin(const State& state, const Storage& def, const std::vector<std::uint32_t>& written,
                                   Numbers& numbers) const {
    if (member(def) == kNone) return kNone;
    const Member& m = members_[member(def)];
    for (std::uint32_t k = m.first; k < m.end; ++k)
      if ((state[k].stale & bits_of(def)) == 0 && (bits_of(def) & ~state[k].defined) == 0 &&
          numbers.of({members_[k].root, def.offset, def.size}) == written)
        return k;
    return kNone;
  }
  // By def, the numbers of what a copy, a pack or an unpack moves; empty for all other instructions, and under a guard.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> moved(const Inst& i, Numbers& numbers) const {
    const auto ops = f_.operands_of(i);
    std::vector<std::vector<std::uint32_t>> result;
    if (ir::is_guarded(ops) || !(i.is_copy() || ir::moves_pieces(i.op))) return result;
    std::vector<std::uint32_t> all;
    for (const Operand& use : ir::uses_of(ops)) {
      const auto own = numbers.of(f_.storage(use));
      all.insert(all.end(), own.begin(), own.end());
    }
    std::size_t at = 0;
    for (const Operand& def : ir::defs_of(ops)) {
      const std::size_t size = f_.storage(def).size;
      result.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + size));
      at += size;
    }
    return result;
  }
  void instruction(State& state, const Inst& i, bool reports, Numbers& numbers) {
    const auto ops = f_.operands_of(i);
    const bool is_guarded = ir::is_guarded(ops);
    const std::size_t pairs = i.is_copy() ? ir::copy_pairs(ops).size() : 0;
    const auto move = [&](std::size_t k) { return Move{f_.storage(ops[k]), f_.storage(ops[pairs + k])}; };
    for (const Operand& op : ops)
      if (op.is_vreg() && op.is_early_clobber() && member(f_.storage(op)) != kNone)
        if (pairs != 1 || !is_within(move(0))) overwrite_others(state, member(f_.storage(op)), bits_of(f_.storage(op)));
    for (std::size_t k = 0; k < ops.size() && reports; ++k) {
      const bool is_moved = k >= pairs && k < 2 * pairs && is_within(move(k - pairs));
      if (ops[k].is_vreg() && ops[k].reads() && !is_moved) read(state, i, f_.storage(ops[k]));
    }
    const State old = state;
    const auto written = moved(i, numbers);
    std::vector<std::uint32_t> twins;
    for (std::size_t k = 0; k < written.size(); ++k) twins.push_back(twin(old, f_.storage(ops[k]), written[k], numbers));
    for (std::size_t k = 0; k < pairs; ++k)
      if (is_within(move(k))) follow(state, old, move(k), is_guarded);
    for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k) {
      const Storage def = f_.storage(ops[k]);
      if (k < pairs && is_within(move(k))) continue;
      if (k < twins.size() && twins[k] != kNone) follow(state, old, {def, {members_[twins[k]].root, def.offset, def.size}}, false);
      else write(state, def, is_guarded);
    }
    for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k)
      k < written.size() ? numbers.set(f_.storage(ops[k]), written[k]) : numbers.set_new(f_.storage(ops[k]));
  }
  // On the edge from `from` to `to`, all phis at once.
  void edge(State& state, BlockId from, BlockId to, bool reports) {
    const State old = state;
    std::vector<Move> others;
    for (const Inst& i : f_.insts_of(to)) {
      if (!i.is_phi()) break;
      const auto preds = f_.targets_of(i);
      const auto k = static_cast<std::size_t>(std::find(preds.begin(), preds.end(), from) - preds.begin()) + 1;
      const Move m{f_.storage(f_.operands_of(i)[0]), f_.storage(f_.operands_of(i)[k])};
      if (is_within(m)) {
        follow(state, old, m, false);
        continue;
      }
      if (reports) read(old, i, m.use);
      others.push_back(m);
    }
    for (const Move& m : others) write(state, m.def, false);
  }
  void block(BlockId b, State& state, bool reports) {
    Numbers numbers;
    for (const Inst& i : f_.insts_of(b))
      if (!i.is_phi()) instruction(state, i, reports, numbers);
  }
  void follow_values() {
    const ir::Cfg cfg(f_);
    std::vector<State> heads(f_.blocks.size(), State(members_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : cfg.reverse_postorder()) {
        State end = heads[b.index()];
        block(b, end, false);
        for (const BlockId to : cfg.successors(b)) {
          State arriving = end;
          edge(arriving, b, to, false);
          for (std::size_t m = 0; m < members_.size(); ++m) {
            Bytes& at = heads[to.index()][m];
            const Bytes joined{at.defined | arriving[m].defined, at.stale | arriving[m].stale};
            changed = changed || joined != at;
            at = joined;
          }
        }
      }
    }
    for (const BlockId b : cfg.reverse_postorder()) {
      State state = heads[b.index()];
      block(b, state, true);
      for (const BlockId to : cfg.successors(b)) {
        State arriving = state;
        edge(arriving, b, to, true);
      }
    }
  }

  struct Member {
    VRegId root;
    std::uint32_t first, end;  // its class, in members_
  };
  const Function& f_;
  const Function& after_;
  const MergeRules rules_;
  std::unordered_map<std::uint32_t, const Inst*> by_id_;  // of the program after
  std::vector<std::uint32_t> image_;                      // by root of the program before
  std::vector<Member> members_;
  std::vector<std::uint32_t> member_of_;  // by root of the program before
  MergeReport report_;
};

}  // namespace

MergeReport check_merges(const Function& before, const Function& after, MergeRules rules) {
  return Check(before, after, rules).run();
}

}  // namespace regduel::properties
