// See merge_copies.h.

#include "allocator/program/merge_copies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "allocator/program/def_lists.h"
#include "allocator/program/names.h"

namespace regduel::allocator {
namespace {

// No two groups with more pairs of members than this are compared member by member.
constexpr std::size_t kMaxPairs = 1024;

class Merger {
 public:
  Merger(Function& f, const Liveness& live, ir::Fuel* fuel) : f_(f), live_(live), fuel_(fuel) {}

  std::vector<VRegId> run() {
    find_pairs();
    if (pairs_.empty()) return {};
    defs_.emplace(f_, live_, is_paired_);
    group_.resize(f_.vregs.size());
    for (const auto& [a, b] : pairs_) join(a, b);
    if (stands_for_.empty()) return {};
    rename();
    return std::move(stands_for_);
  }

 private:
  [[nodiscard]] bool can_merge(VRegId v) const { return !f_.vreg(v).fixed.is_valid() && !f_.vreg(v).is_architectural(); }

  void find_pairs() {
    for (std::uint32_t n = 0; n < live_.num_numbered(); ++n) {
      const Inst& inst = f_.insts[live_.inst_at(n)];
      if (!inst.is_copy()) continue;
      const auto ops = f_.operands_of(inst);
      if (ir::is_guarded(ops)) continue;
      for (const auto [def, use] : ir::copy_pairs(ops)) {
        const VRegId d = def.vreg(), s = use.vreg();
        if (d == s || !def.part.is_whole() || !use.part.is_whole() || !can_merge(d) || !can_merge(s)) continue;
        const ir::VReg &a = f_.vreg(d), &b = f_.vreg(s);
        if (a.cls != b.cls || a.width != b.width || a.align_log2 != b.align_log2) continue;
        // The source is live behind the copy.
        if (!contains(live_.range(s.index()), write_point(n))) continue;
        if (is_paired_.empty()) is_paired_.assign(f_.vregs.size(), 0);
        is_paired_[d.index()] = is_paired_[s.index()] = 1;
        pairs_.emplace_back(d, s);
      }
    }
  }

  [[nodiscard]] VRegId root(VRegId v) const { return stands_for_.empty() ? v : stands_for_[v.index()]; }
  // The vregs that a vreg stands for.
  [[nodiscard]] std::span<const VRegId> group(const VRegId& v) const {
    return group_[v.index()].empty() ? std::span(&v, 1) : std::span<const VRegId>(group_[v.index()]);
  }
  [[nodiscard]] bool can_share(VRegId a, VRegId b) const {
    if (group(a).size() * group(b).size() > kMaxPairs) return false;
    const auto is_one_with = [&](VRegId other) { return [&, other](VRegId v) { return root(v) == other; }; };
    for (const VRegId& x : group(a))
      for (const VRegId& y : group(b))
        if (!defs_->spares(x, y, live_.range(y.index()), is_one_with(b)) ||
            !defs_->spares(y, x, live_.range(x.index()), is_one_with(a)))
          return false;
    return true;
  }
  void join(VRegId d, VRegId s) {
    const VRegId a = std::min(root(d), root(s)), b = std::max(root(d), root(s));
    if (a == b || !can_share(a, b) || !ir::may(fuel_, "merge-copy")) return;
    if (stands_for_.empty()) {
      stands_for_.resize(f_.vregs.size());
      for (std::size_t v = 0; v < stands_for_.size(); ++v) stands_for_[v] = VRegId(v);
    }
    std::vector<VRegId> members(group(a).begin(), group(a).end());
    members.insert(members.end(), group(b).begin(), group(b).end());
    for (const VRegId v : members) stands_for_[v.index()] = a;
    group_[a.index()] = std::move(members);
  }

  void rename() {
    for (ir::Operand& op : f_.operands)
      if (op.is_vreg() && stands_for_[op.vreg().index()] != op.vreg()) op.set_vreg(stands_for_[op.vreg().index()]);
    for (Inst& inst : f_.insts)
      if (inst.is_copy()) drop_pairs(inst);
  }
  void drop_pairs(Inst& inst) {
    const auto ops = f_.operands_of(inst);
    if (ops.empty() || !std::all_of(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.is_vreg(); })) return;
    if (ir::is_guarded(ops)) return;
    std::vector<ir::Operand> defs, uses;
    for (const auto [def, use] : ir::copy_pairs(ops)) {
      if (def.names_same(use)) continue;
      defs.push_back(def);
      uses.push_back(use);
    }
    if (2 * defs.size() == ops.size() || (!defs.empty() && !inst.is_inserted())) return;
    if (defs.empty() && !inst.is_inserted()) inst.flags |= ir::kDeleted;
    std::copy(uses.begin(), uses.end(), std::copy(defs.begin(), defs.end(), ops.begin()));
    inst.num_operands = static_cast<std::uint16_t>(2 * defs.size());
  }

  Function& f_;
  const Liveness& live_;
  ir::Fuel* fuel_;
  std::vector<std::pair<VRegId, VRegId>> pairs_;
  std::vector<char> is_paired_;             // by vreg; empty where no pair is
  std::optional<DefLists> defs_;            // of those
  std::vector<VRegId> stands_for_;          // by vreg; empty as long as nothing was merged
  std::vector<std::vector<VRegId>> group_;  // by vreg: the vregs that it stands for; empty = itself alone
};

}  // namespace

std::vector<VRegId> merge_copies(Function& f, const Liveness& live, ir::Fuel* fuel) { return Merger(f, live, fuel).run(); }

}  // namespace regduel::allocator
