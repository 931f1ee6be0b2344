#include "passes/copyprop.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/grouped.h"
#include "ir/cfg.h"
#include "passes/unread.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Role;
using ir::VRegId;

// A set of available copies.
class Set {
 public:
  explicit Set(std::size_t size = 0, bool full = false) : words_((size + 63) / 64, full ? ~std::uint64_t{0} : 0) {}
  [[nodiscard]] bool contains(std::uint32_t k) const { return (words_[k / 64] >> k % 64 & 1) != 0; }
  void add(std::uint32_t k) { words_[k / 64] |= std::uint64_t{1} << k % 64; }
  // Whether it was there.
  bool remove(std::uint32_t k) {
    const bool was_there = contains(k);
    words_[k / 64] &= ~(std::uint64_t{1} << k % 64);
    return was_there;
  }
  void intersect(const Set& o) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= o.words_[w];
  }
  friend bool operator==(const Set&, const Set&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

class Propagation {
 public:
  Propagation(const Function& f, ir::Fuel* fuel) : f_(f), fuel_(fuel), cfg_(f), out_(f) {}

  Function run() {
    list_copies();
    if (!copies_.empty()) {
      solve();
      for (const BlockId b : cfg_.reverse_postorder()) rewrite(b);
    }
    return without_dead_moves();
  }

 private:
  // The fact that `def` holds the value of `source`, whichever instruction made it so.
  struct Copy {
    VRegId def, source;
    friend auto operator<=>(const Copy&, const Copy&) = default;
  };

  // --- which copies there are
  [[nodiscard]] bool may_stand_for(VRegId source, VRegId def) const {
    const auto is_free = [](const ir::VReg& v) { return !v.fixed.is_valid() && !v.is_architectural(); };
    const ir::VReg &s = f_.vreg(source), &d = f_.vreg(def);
    return source != def && is_free(s) && is_free(d) && s.cls == d.cls && s.width == d.width && s.align_log2 == d.align_log2;
  }
  [[nodiscard]] bool is_whole_root(const Operand& op) const {
    return op.is_vreg() && op.part.is_whole() && !f_.vreg(op.vreg()).alias.is_valid();
  }
  void list_copies() {
    std::vector<std::pair<Copy, std::uint32_t>> made;  // and by which instruction
    for (const BlockId b : cfg_.reverse_postorder())
      for (const Inst& i : f_.insts_of(b)) {
        const auto ops = f_.operands_of(i);
        const auto at = static_cast<std::uint32_t>(&i - f_.insts.data());
        const auto candidate = [&](const Operand& def, const Operand& use) {
          if (is_whole_root(def) && is_whole_root(use) && may_stand_for(use.vreg(), def.vreg()))
            made.push_back({{def.vreg(), use.vreg()}, at});
        };
        if (i.is_copy() && !ir::is_guarded(ops))
          for (const auto [def, use] : ir::copy_pairs(ops)) candidate(def, use);
        if (i.is_phi() && std::all_of(ops.begin() + 2, ops.end(), [&](const Operand& op) { return op.names_same(ops[1]); }))
          candidate(ops[0], ops[1]);
      }
    std::sort(made.begin(), made.end());
    for (const auto& [copy, at] : made)
      if (copies_.empty() || copies_.back() != copy) copies_.push_back(copy);
    of_root_.build(f_.vregs.size(), [&](auto add) {
      for (std::uint32_t k = 0; k < copies_.size(); ++k) add(copies_[k].def.index(), k), add(copies_[k].source.index(), k);
    });
    of_def_.build(f_.vregs.size(), [&](auto add) {
      for (std::uint32_t k = 0; k < copies_.size(); ++k) add(copies_[k].def.index(), k);
    });
    shortcuts_.assign(f_.vregs.size(), {});
    recent_.assign(f_.vregs.size(), {});
    of_inst_.build(f_.insts.size(), [&](auto add) {
      std::uint32_t k = 0;
      for (const auto& [copy, at] : made) {
        while (copies_[k] != copy) ++k;
        add(at, k);
      }
    });
  }

  // --- where they are available
  void write(const Inst& i, Set& available) {
    for (const Operand& op : ir::defs_of(f_.operands_of(i))) {
      const VRegId root = f_.root(op.vreg());
      Recent& recent = recent_of(root);
      const auto remove = [&](std::span<const std::uint32_t> copies) {
        for (const std::uint32_t k : copies)
          if (available.remove(k)) forget_shortcuts();
      };
      if (std::exchange(recent.is_all, true)) remove(recent.copies);
      else remove(of_root_[root.index()]);
      recent.copies.clear();
    }
  }
  // All pairs of a copy, and all phis of a block, write at once, so a source that one of them writes holds another value
  // afterwards.
  void generate(std::span<const Inst> at_once, Set& available) {
    for (const Inst& i : at_once) write(i, available);
    const auto is_written = [&](VRegId source) {
      return std::any_of(at_once.begin(), at_once.end(), [&](const Inst& i) {
        const auto defs = ir::defs_of(f_.operands_of(i));
        return std::any_of(defs.begin(), defs.end(), [&](const Operand& op) { return f_.root(op.vreg()) == source; });
      });
    };
    for (const Inst& i : at_once)
      for (const std::uint32_t k : of_inst_[static_cast<std::size_t>(&i - f_.insts.data())])
        if (!is_written(copies_[k].source)) {
          available.add(k);
          for (const VRegId root : {copies_[k].def, copies_[k].source}) recent_of(root).copies.push_back(k);
        }
  }
  // Calls visit(i, available before i) for each instruction but phis, which are done at once.
  template <class Visit>
  void walk(BlockId b, Set& available, Visit&& visit) {
    const auto insts = f_.insts_of(b), phis = f_.phis_of(b);
    ++walk_;
    generate(phis, available);
    for (std::size_t n = phis.size(); n < insts.size(); ++n) {
      visit(insts[n], available);
      generate(insts.subspan(n, 1), available);
    }
  }
  [[nodiscard]] Set at_head(BlockId b) const {
    if (b.value == 0) return Set(copies_.size());
    Set in(copies_.size(), true);
    for (const BlockId p : cfg_.predecessors(b))
      if (cfg_.is_reachable(p)) in.intersect(at_end_[p.index()]);
    return in;
  }
  void solve() {
    at_end_.assign(f_.blocks.size(), Set(copies_.size(), true));
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : cfg_.reverse_postorder()) {
        Set s = at_head(b);
        walk(b, s, [](const Inst&, const Set&) {});
        if (s == at_end_[b.index()]) continue;
        at_end_[b.index()] = std::move(s);
        changed = true;
      }
    }
  }

  // --- what becomes of the uses
  // The vreg that holds the same, as far back as copies lead. Copies that come to be available only make the way longer, so that what
  // was found of it holds until one no longer is.
  [[nodiscard]] VRegId origin(VRegId v, const Set& available) {
    VRegId end = v;
    for (VRegId next = v; next.is_valid();) {
      end = next;
      next = next_on_the_way(end, available);
    }
    for (VRegId w = v; w != end;) {
      const VRegId next = next_on_the_way(w, available);
      shortcuts_[w.index()] = {end, epoch_};
      w = next;
    }
    return end;
  }
  // Invalid at the end of the way.
  [[nodiscard]] VRegId next_on_the_way(VRegId v, const Set& available) const {
    if (shortcuts_[v.index()].epoch == epoch_) return shortcuts_[v.index()].to;
    for (const std::uint32_t k : of_def_[v.index()])
      if (available.contains(k)) return copies_[k].source;
    return {};
  }
  void forget_shortcuts() { ++epoch_; }
  // All reads of a root change, or none, because otherwise the instruction would read two roots where it read one.
  [[nodiscard]] bool may_rewrite(const Inst& i, VRegId v, VRegId origin) const {
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const Operand& op = ops[k];
      if (!op.is_vreg()) continue;
      const VRegId root = f_.root(op.vreg());
      if (root == origin && op.is_early_clobber()) return false;
      if (root != v) continue;
      const bool is_tied = std::any_of(ops.begin(), ops.end(), [&](const Operand& def) { return def.is_tied() && def.tied == k; });
      if (op.writes() || op.vreg() != v || op.fixed().is_valid() || is_tied) return false;
    }
    return true;
  }
  void rewrite(BlockId b) {
    Set available = at_head(b);
    forget_shortcuts();
    walk(b, available, [&](const Inst& i, const Set& now) {
      std::vector<std::pair<VRegId, VRegId>> changes;
      for (const Operand& op : f_.operands_of(i)) {
        if (!op.is_vreg() || !op.reads()) continue;
        const VRegId v = f_.root(op.vreg()), o = origin(v, now);
        if (o == v || std::any_of(changes.begin(), changes.end(), [&](const auto& c) { return c.first == v; })) continue;
        if (may_rewrite(i, v, o) && ir::may(fuel_, "propagate-copy")) changes.emplace_back(v, o);
      }
      for (Operand& op : out_.operands_of(i))
        for (const auto& [from, to] : changes)
          if (op.is_vreg() && op.vreg() == from) {
            op.set_vreg(to);
            break;
          }
    });
    for (const BlockId s : cfg_.successors(b))
      for (const Inst& i : f_.phis_of(s)) {
        Operand& op = out_.operands_of(i)[f_.phi_use_from(i, b)];
        if (!is_whole_root(op)) continue;
        const VRegId o = origin(op.vreg(), available);
        if (o != op.vreg() && ir::may(fuel_, "propagate-copy")) op.set_vreg(o);
      }
  }

  // --- what is left out: copies and phis that write only what no kept instruction reads
  Function without_dead_moves() {
    const auto is_candidate = [&](const Inst& i) {
      const auto ops = out_.operands_of(i);
      return (i.is_copy() || i.is_phi()) && std::all_of(ops.begin(), ops.end(), [&](const Operand& op) {
               return op.is_vreg() && (!op.writes() || !out_.vreg(out_.root(op.vreg())).is_architectural());
             });
    };
    std::vector<char> stays(out_.insts.size(), 0);
    for (std::size_t n = 0; n < out_.insts.size(); ++n) stays[n] = is_candidate(out_.insts[n]) ? 0 : 1;
    return without_unread(out_, stays, fuel_, "leave-out-dead-copy");
  }

  const Function& f_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  Function out_;  // the program with other uses: instructions and operands stand where they stand in f_
  std::vector<Copy> copies_;
  Grouped<std::uint32_t> of_root_;  // copies by the roots that they read and write
  Grouped<std::uint32_t> of_def_, of_inst_;
  std::vector<Set> at_end_;  // by block
  // Copies of a root that came to be available in the block at hand since the root was written last. Those before are looked for once.
  struct Recent {
    std::vector<std::uint32_t> copies;
    bool is_all = false;  // no other copy of the root is available
    std::uint32_t walk = 0;
  };
  Recent& recent_of(VRegId root) {
    Recent& r = recent_[root.index()];
    if (std::exchange(r.walk, walk_) != walk_) {
      r.copies.clear();
      r.is_all = false;
    }
    return r;
  }
  std::vector<Recent> recent_;  // by root
  std::uint32_t walk_ = 0;      // of a block
  // From a vreg along the way to its origin; of use where the epoch is that of now.
  struct Shortcut {
    VRegId to;
    std::uint64_t epoch = 0;
  };
  std::vector<Shortcut> shortcuts_;
  std::uint64_t epoch_ = 1;
};

class CopyProp final : public Pass {
 public:
  std::string_view name() const override { return "copyprop"; }
  std::string_view what_it_does() const override {
    return "uses of copies become uses of what was copied; dead copies and phis go";
  }
  std::expected<Function, std::string> run(const Function& program, const ir::Target&, const PassOptions& options) const override {
    if (!options.knobs.empty()) return std::unexpected(ir::unknown_knob(name(), options.knobs.front().first));
    return Propagation(program, options.fuel).run();
  }
};

}  // namespace

const Pass& copyprop() {
  static const CopyProp pass;
  return pass;
}

}  // namespace regduel::passes
