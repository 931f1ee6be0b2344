#include "passes/llvm/coalescer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/loops.h"
#include "passes/llvm/joiner.h"
#include "passes/llvm/live_intervals.h"
#include "passes/llvm/rewrite.h"

namespace regduel::passes::llvm {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

constexpr std::size_t kFarTerminals = 64;  // other copies of one source that the terminal rule looks at

enum class Kind : std::uint8_t { Pair, PhiUse, Tie };

struct Copy {
  Kind kind;
  std::uint32_t inst, k;  // pair of a copy; use of a phi; def of a tie
  VRegId def, use;        // roots
  BlockId block;          // where it is executed: of a phi's use, the predecessor
  // The versions of the two sides when the copy was last tried.
  std::uint32_t def_version = kNone, use_version = kNone;
};

constexpr int kDeepest = 9;  // loops nested deeper count as one; 10^9 is the most that a block weighs

class Coalescer {
 public:
  Coalescer(const Function& f, const Settings& settings, ir::Fuel* fuel, ir::Trace* trace)
      : f_(f), settings_(settings), fuel_(fuel), trace_(trace), cfg_(f), depth_(loop_depths(f, cfg_, kDeepest)),
        intervals_(f, cfg_), joiner_(f, intervals_), visits_(f.vregs.size(), 0), affinity_(f.vregs.size(), 0),
        is_late_(f.vregs.size(), 0), repeated_(f.insts.size(), kNone) {}

  Function run() {
    if (settings_.join_liveintervals) join_all();
    return rewrite(f_, joiner_, repeated_);
  }

 private:
  using List = std::vector<Copy>;

  [[nodiscard]] bool is_split_edge(BlockId b) const {
    const auto insts = f_.insts_of(b);
    return cfg_.predecessors(b).size() == 1 && cfg_.successors(b).size() == 1 &&
           std::all_of(insts.begin(), insts.end(), [](const Inst& i) { return i.is_copy() || i.op == ir::Op::Bra; });
  }

  // --- the copies of the program
  [[nodiscard]] bool is_free_whole(const Operand& op) const {
    if (!op.is_vreg()) return false;
    const ir::Storage s = f_.storage(op);
    return s.size == f_.vreg(s.root).bytes() && !f_.vreg(s.root).is_architectural();
  }
  void list_copies() {
    by_block_.resize(f_.blocks.size());
    const auto add = [&](Kind kind, std::uint32_t n, std::size_t k, const Operand& def, const Operand& use, BlockId b) {
      if (!is_free_whole(def) || !is_free_whole(use)) return;
      const Copy copy{kind, n, static_cast<std::uint32_t>(k), f_.root(def.vreg()), f_.root(use.vreg()), b};
      ++affinity_[copy.def.index()];
      ++affinity_[copy.use.index()];
      by_block_[b.index()].push_back(copy);
    };
    for (std::size_t at = 0; at < f_.blocks.size(); ++at) {
      const ir::Block& b = f_.blocks[at];
      for (std::uint32_t n = b.first_inst; n < b.first_inst + b.num_insts; ++n) {
        const Inst& i = f_.insts[n];
        const auto ops = f_.operands_of(i);
        if (i.is_copy() && !joiner_.is_pinned(n))
          for (std::size_t k = 0; k < ir::copy_pairs(ops).size(); ++k) {
            const auto pair = ir::copy_pairs(ops)[k];
            add(Kind::Pair, n, k, pair.def, pair.use, BlockId(at));
          }
        if (i.is_phi() && !joiner_.is_pinned(n))
          for (std::size_t k = 0; k < f_.targets_of(i).size(); ++k)
            add(Kind::PhiUse, n, k, ops[0], ops[k + 1], f_.targets_of(i)[k]);
        for (std::size_t k = 0; k < ir::defs_of(ops).size(); ++k)
          if (ops[k].is_tied()) add(Kind::Tie, n, k, ops[k], ops[ops[k].tied], BlockId(at));
      }
    }
  }
  [[nodiscard]] bool is_on_split_edge(const Copy& c) const {
    if (c.kind == Kind::PhiUse) return cfg_.is_critical(c.block, intervals_.block_at(intervals_.base(c.inst)));
    return c.kind == Kind::Pair && is_split_edge(c.block);
  }
  [[nodiscard]] bool is_local(const Copy& c) {
    return c.kind != Kind::PhiUse && (intervals_.is_in_one_block(intervals_.of(joiner_.find(c.def))) ||
                                      intervals_.is_in_one_block(intervals_.of(joiner_.find(c.use))));
  }

  // --- the order
  void join_all() {
    list_copies();
    std::vector<BlockId> order;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) order.emplace_back(b);
    const auto rank = [&](BlockId b) {
      const bool is_split = settings_.join_splitedges && is_split_edge(b);
      const auto edges = static_cast<int>(cfg_.predecessors(b).size() + cfg_.successors(b).size());
      return std::tuple(-depth_[b.index()], is_split ? 0 : 1, -edges, b.value);
    };
    std::sort(order.begin(), order.end(), [&](BlockId a, BlockId b) { return rank(a) < rank(b); });
    List work, local;
    int depth = order.empty() ? 0 : depth_[order[0].index()];
    for (const BlockId b : order) {
      if (settings_.join_globalcopies && depth_[b.index()] < depth) {
        retry(local);
        local.clear();
        depth = depth_[b.index()];
      }
      List now = in_order(b, local);
      attempt(now);
      work.insert(work.end(), now.begin(), now.end());
    }
    update_late();
    retry(local);
    work.insert(work.end(), local.begin(), local.end());
    retry(work);
    update_late();
  }
  // The copies of a block that are tried at once. The others, which are local, are added to `local`.
  List in_order(BlockId b, List& local) {
    List all = by_block_[b.index()];
    std::erase_if(all, [&](const Copy& c) {
      return (!settings_.join_splitedges && is_on_split_edge(c)) || (!settings_.join_globalcopies && !is_local(c));
    });
    if (!settings_.join_globalcopies) std::reverse(all.begin(), all.end());
    list_by_root(all);
    List now, now_terminal, local_terminal;
    for (const Copy& c : all) {
      const bool waits = settings_.terminal_rule && is_held_back(c, all);
      const bool is_of_later = settings_.join_globalcopies && is_local(c);
      if (waits && trace_ != nullptr) trace_->line(fmt::format("terminal rule: {}", name(c)));
      (is_of_later ? (waits ? local_terminal : local) : (waits ? now_terminal : now)).push_back(c);
    }
    now.insert(now.end(), now_terminal.begin(), now_terminal.end());
    local.insert(local.end(), local_terminal.begin(), local_terminal.end());
    return now;
  }
  // Of each representative, the copies of the block that mention it and whose other side has more than this one.
  void list_by_root(const List& all) {
    by_root_.clear();
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      const VRegId def = joiner_.find(all[n].def), use = joiner_.find(all[n].use);
      if (affinity_[def.index()] > 1) by_root_.emplace_back(use, n);
      if (affinity_[use.index()] > 1) by_root_.emplace_back(def, n);
    }
    std::sort(by_root_.begin(), by_root_.end());
  }
  [[nodiscard]] bool is_held_back(const Copy& c, const List& all) {
    const VRegId def = joiner_.find(c.def), use = joiner_.find(c.use);
    if (def == use || affinity_[def.index()] > 1) return false;
    auto it = std::lower_bound(by_root_.begin(), by_root_.end(), std::pair(use, 0u));
    for (std::size_t seen = 0; it != by_root_.end() && it->first == use && seen < kFarTerminals; ++it, ++seen) {
      const Copy& other = all[it->second];
      if (other.inst == c.inst && other.k == c.k && other.kind == c.kind) continue;
      const VRegId a = joiner_.find(other.def), b = joiner_.find(other.use), far = a == use ? b : a;
      if (far != use && far != def && overlap(far, def)) return true;
    }
    return false;
  }

  [[nodiscard]] bool overlap(VRegId a, VRegId b) const {
    return live::any_overlap(intervals_.of(a).segments, intervals_.of(b).segments, [](const auto&, const auto&) { return true; });
  }

  // --- one after the other
  // Keeps the copies in the list that may succeed later. Returns whether anything was done.
  bool attempt(List& copies) {
    bool has_done = false;
    std::size_t kept = 0;
    for (Copy c : copies) {
      const Outcome outcome = one(c);
      has_done = has_done || outcome == Outcome::Done;
      if (outcome == Outcome::Again) copies[kept++] = c;
    }
    copies.resize(kept);
    return has_done;
  }
  void retry(List& copies) {
    while (attempt(copies)) {
    }
  }

  enum class Outcome { Done, Again, Never };
  Outcome one(Copy& c) {
    const VRegId def = joiner_.find(c.def), use = joiner_.find(c.use);
    if (c.kind == Kind::Pair && (joiner_.is_erased(c.inst, c.k) || joiner_.is_rematerialised(c.inst))) return Outcome::Never;
    if (c.kind == Kind::PhiUse && joiner_.is_erased(c.inst, 0)) return Outcome::Never;
    if (def == use) {
      if (c.kind == Kind::Pair && (c.def != c.use || ir::may(fuel_, "leave-out-identity-copy"))) joiner_.erase(c.inst, c.k);
      return Outcome::Never;
    }
    if (c.def_version == joiner_.version(def) && c.use_version == joiner_.version(use)) return Outcome::Again;
    c.def_version = joiner_.version(def);
    c.use_version = joiner_.version(use);
    if (c.kind == Kind::Pair && !ir::is_guarded(f_.operands_of(f_.insts[c.inst])) && is_undefined(c)) {
      if (!ir::may(fuel_, "leave-out-undefined-copy")) return Outcome::Never;
      joiner_.erase(c.inst, c.k);
      return Outcome::Done;
    }
    if (!joiner_.may_share(def, use)) return rematerialise(c, use) ? Outcome::Done : Outcome::Never;
    if (is_too_costly(def) || is_too_costly(use)) return rematerialise(c, use) ? Outcome::Done : Outcome::Again;
    const auto erased = joiner_.plan(def, use);
    if (!erased) return rematerialise(c, use) ? Outcome::Done : Outcome::Again;
    if (!ir::may(fuel_, "join-intervals")) return Outcome::Never;
    if (trace_ != nullptr) trace_->line(fmt::format("join {}", name(c)));
    const VRegId into = joiner_.join(def, use, *erased), other = into == def ? use : def;
    affinity_[into.index()] += affinity_[other.index()] - 2;
    if (c.kind == Kind::Pair) joiner_.erase(c.inst, c.k);
    return Outcome::Done;
  }
  [[nodiscard]] bool is_undefined(const Copy& c) {
    return intervals_.of(joiner_.find(c.use)).value_at(intervals_.base(c.inst)) == kNone && cfg_.is_reachable(c.block);
  }
  // Large, and looked at often enough.
  bool is_too_costly(VRegId root) {
    if (intervals_.of(root).values < static_cast<std::uint32_t>(settings_.large_interval_size_threshold)) return false;
    int& visits = visits_[root.index()];
    if (visits < settings_.large_interval_freq_threshold) {
      ++visits;
      return false;
    }
    return true;
  }

  // --- late rematerialisation
  bool rematerialise(const Copy& c, VRegId use) {
    if (c.kind != Kind::Pair) return false;
    const Inst& i = f_.insts[c.inst];
    const auto ops = f_.operands_of(i);
    if (ops.size() != 2 || f_.fixed_of(ops[0]).is_valid() || ops[0].is_tied() || ops[0].is_early_clobber())
      return false;  // one pair, no guard, no clobber
    const ValueId v = intervals_.of(use).value_at(intervals_.base(c.inst));
    if (v == kNone || intervals_.value(v).inst == kNone) return false;
    const std::uint32_t from = intervals_.value(v).inst;
    if (!is_cheap(f_.insts[from]) || !is_unique(from)) return false;
    const ir::VReg &made = f_.vreg(intervals_.value(v).root), &wanted = f_.vreg(c.def);
    if (made.cls != wanted.cls || made.width != wanted.width || made.flags != wanted.flags || wanted.align_log2 < made.align_log2)
      return false;
    if (!ir::may(fuel_, "rematerialise-copy")) return false;
    if (trace_ != nullptr) trace_->line(fmt::format("repeat #{} for {}", f_.insts[from].id.value, name(c)));
    repeated_[c.inst] = from;
    joiner_.rematerialise(c.inst, v);
    if (is_late_[use.index()] != 0) return true;
    if (joiner_.copies_from(use) < settings_.late_remat_update_threshold) {
      joiner_.shrink(use);
    } else {
      is_late_[use.index()] = 1;
      late_.push_back(use);
    }
    return true;
  }
  [[nodiscard]] bool is_cheap(const Inst& i) const {
    const auto ops = f_.operands_of(i);
    if (!i.is_repeatable() || i.has(ir::kMemRead) || f_.fixed_of(ops[0]).is_valid()) return false;
    return std::none_of(ops.begin() + 1, ops.end(), [](const Operand& op) { return op.is_register(); });
  }
  // No other instruction makes the same: so a pass may repeat it (pass.h).
  [[nodiscard]] bool is_unique(std::uint32_t n) {
    const auto key = [&](const Inst& i) {
      std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(i.op), i.mnemonic.value};
      for (const Operand& op : f_.operands_of(i).subspan(1)) {
        words.push_back(static_cast<std::uint64_t>(op.kind));
        words.push_back(std::uint64_t{op.raw().extra} << 32 | op.raw().value);
      }
      return words;
    };
    if (count_of_.empty())
      for (const Inst& i : f_.insts)
        if (i.is_repeatable()) ++count_of_[key(i)];
    return count_of_[key(f_.insts[n])] == 1;
  }
  void update_late() {
    for (const VRegId root : late_)
      if (joiner_.find(root) == root) joiner_.shrink(root);
      else joiner_.shrink(joiner_.find(root));
    for (const VRegId root : late_) is_late_[root.index()] = 0;
    late_.clear();
  }

  [[nodiscard]] std::string name(const Copy& c) const {
    return fmt::format("%{} and %{} at #{}", c.def.value, c.use.value, f_.insts[c.inst].id.value);
  }

  const Function& f_;
  const Settings& settings_;
  ir::Fuel* fuel_;
  ir::Trace* trace_;
  const ir::Cfg cfg_;
  const std::vector<int> depth_;
  LiveIntervals intervals_;
  Joiner joiner_;
  std::vector<List> by_block_;
  std::vector<std::pair<VRegId, std::uint32_t>> by_root_;  // of the block at hand
  std::vector<int> visits_;                                // by representative: how often it was large
  std::vector<int> affinity_;                              // by representative: its copies
  std::map<std::vector<std::uint64_t>, int> count_of_;     // cheap defs by what they do; made when it is asked for
  std::vector<char> is_late_;
  std::vector<VRegId> late_;             // whose intervals are larger than their uses
  std::vector<std::uint32_t> repeated_;  // by copy: the instruction that is repeated in its place
};

}  // namespace

Function coalesce(const Function& f, const Settings& settings, ir::Fuel* fuel, ir::Trace* trace) {
  return Coalescer(f, settings, fuel, trace).run();
}

}  // namespace regduel::passes::llvm
