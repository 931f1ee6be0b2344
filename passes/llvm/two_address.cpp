#include "passes/llvm/two_address.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "passes/liveness.h"

namespace regduel::passes::llvm {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Role;
using ir::VRegId;

constexpr std::uint32_t kFar = 10;  // LLVM's limit of instructions that are looked at

class TwoAddress {
 public:
  TwoAddress(const Function& f, bool reschedule, ir::Fuel* fuel, ir::Trace* trace)
      : f_(f), reschedule_(reschedule), fuel_(fuel), trace_(trace), live_(f, ir::Cfg(f)), renamed_(f),
        next_(f.next_inst_id().value), is_moved_(f.insts.size(), 0), before_(f.insts.size()), is_live_(f.vregs.size(), 0),
        last_mention_(f.vregs.size(), 0) {}

  Function run() {
    if (std::none_of(f_.operands.begin(), f_.operands.end(), [](const Operand& op) { return op.is_tied(); })) return f_;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    Function out = f_.clone_header();
    for (const ir::Block& b : f_.blocks) {
      out.begin_block(b);
      for (std::uint32_t n = b.first_inst; n < b.first_inst + b.num_insts; ++n) {
        for (const Copy& copy : before_[n]) append_copy(out, copy);
        if (is_moved_[n] == 0) out.append(f_.insts[n], renamed_.operands_of(f_.insts[n]), f_.targets_of(f_.insts[n]));
      }
    }
    return out;
  }

 private:
  struct Copy {
    Operand def, use;
    ir::SymbolId mnemonic;
    ir::SourceLineId line;
  };
  void append_copy(Function& out, const Copy& copy) {
    Inst i;
    i.id = ir::InstId(next_++);
    i.op = ir::Op::Copy;
    i.mnemonic = copy.mnemonic;
    i.line = copy.line;
    const Operand ops[] = {copy.def, copy.use};
    out.append(i, ops);
  }

  [[nodiscard]] bool is_whole_root(const Operand& op) const { return op.is_vreg() && f_.is_whole(op); }
  [[nodiscard]] bool mentions(const Inst& i, VRegId root) const {
    const auto ops = f_.operands_of(i);
    return std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.is_vreg() && f_.root(op.vreg()) == root; });
  }

  // From the end to the head, with what is live behind each instruction.
  void block(BlockId b) {
    std::vector<VRegId> listed;
    const auto set = [&](VRegId root, bool is_live) {
      is_live_[root.index()] = is_live ? 1 : 0;
      if (is_live) listed.push_back(root);
    };
    for (const VRegId root : live_.live_out(b)) set(root, true);
    const std::uint32_t first = f_.block(b).first_inst, end = first + f_.block(b).num_insts;
    for (std::uint32_t n = first; n < end; ++n)
      for (const Operand& op : f_.operands_of(f_.insts[n]))
        if (op.is_vreg()) last_mention_[f_.root(op.vreg()).index()] = n;
    for (std::uint32_t n = end; n-- > first;) {
      const Inst& i = f_.insts[n];
      if (i.is_phi()) break;
      const auto ops = f_.operands_of(i);
      for (std::size_t k = 0; k < ir::defs_of(ops).size(); ++k)
        if (ops[k].is_tied()) tie(b, n, k, end);
      const bool is_guarded = ir::is_guarded(ops);
      for (const Operand& op : ops)
        if (op.is_vreg() && op.writes() && kills(f_, op, is_guarded)) set(f_.root(op.vreg()), false);
      for (const Operand& op : ops)
        if (op.is_vreg() && needs_old_value(f_, op, is_guarded)) set(f_.root(op.vreg()), true);
    }
    for (const VRegId root : listed) is_live_[root.index()] = 0;
  }

  void tie(BlockId b, std::uint32_t n, std::size_t k, std::uint32_t end) {
    const Inst& i = f_.insts[n];
    const auto ops = f_.operands_of(i);
    const std::size_t at = ops[k].tied;
    const VRegId def = f_.root(ops[k].vreg()), use = f_.root(ops[at].vreg());
    if (def == use || is_live_[use.index()] == 0) return;
    const ir::VReg &d = f_.vreg(def), &u = f_.vreg(use);
    if (d.is_architectural() || u.is_architectural() || d.cls != u.cls || d.align_log2 != u.align_log2) return;
    if (f_.fixed_of(ops[k]).is_valid() || f_.fixed_of(ops[at]).is_valid()) return;
    for (std::size_t m = 0; m < ops.size(); ++m) {
      if (!ops[m].is_vreg()) continue;
      const VRegId root = f_.root(ops[m].vreg());
      if ((root == def && m != k) || (root == use && ops[m].writes())) return;
    }
    if (reschedule_)
      if (const auto copies = movable(b, n, def, use, end); copies && ir::may(fuel_, "reschedule-copy")) {
        for (const std::uint32_t c : *copies) {
          const auto pair = ir::copy_pairs(f_.operands_of(f_.insts[c]))[0];
          before_[n].push_back({pair.def, pair.use, f_.insts[c].mnemonic, f_.insts[c].line});
          is_moved_[c] = 1;
          if (trace_ != nullptr) trace_->line(fmt::format("move #{} before #{}", f_.insts[c].id.value, i.id.value));
        }
        is_live_[use.index()] = 0;
        return;
      }
    if (!ir::may(fuel_, "two-address-copy")) return;
    before_[n].push_back({Operand::of_vreg(Role::Def, def), Operand::of_vreg(Role::Use, use), {}, i.line});
    if (trace_ != nullptr) trace_->line(fmt::format("copy %{} to %{} before #{}", use.value, def.value, i.id.value));
    const auto out = renamed_.operands_of(i);
    for (std::size_t m = 0; m < ops.size(); ++m) {
      if (!out[m].is_vreg() || f_.root(out[m].vreg()) != use || f_.fixed_of(ops[m]).is_valid()) continue;
      const bool is_of_other_tie =
          m != at && std::any_of(ops.begin(), ops.end(), [&](const Operand& op) { return op.is_tied() && op.tied == m; });
      if (is_of_other_tie) continue;
      out[m] = f_.moved_to(out[m], def);
    }
  }

  // The copies behind n, if no other instruction behind it reads `use` and they can all stand before n. Otherwise nullopt.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> movable(BlockId b, std::uint32_t n, VRegId def, VRegId use,
                                                                  std::uint32_t end) const {
    if (live_.is_live_out(b, use) && !is_killed_behind(n, use, end)) return std::nullopt;
    std::vector<std::uint32_t> copies;
    std::vector<VRegId> between = {def};  // written so far by what is moved
    for (std::uint32_t m = n + 1; m < std::min(end, n + 1 + kFar); ++m) {
      const Inst& i = f_.insts[m];
      if (!mentions(i, use)) continue;
      const auto ops = f_.operands_of(i);
      const bool reads = std::any_of(ops.begin(), ops.end(), [&](const Operand& op) {
        return op.is_vreg() && f_.root(op.vreg()) == use && needs_old_value(f_, op, ir::is_guarded(ops));
      });
      if (!reads) return copies.empty() ? std::nullopt : std::optional(copies);  // killed
      if (!i.is_copy() || is_moved_[m] != 0 || !before_[m].empty() || ops.size() != 2) return std::nullopt;
      if (!is_whole_root(ops[0]) || !is_whole_root(ops[1]) || f_.fixed_of(ops[0]).is_valid() || f_.fixed_of(ops[1]).is_valid())
        return std::nullopt;
      const VRegId to = f_.root(ops[0].vreg());
      if (to == use || f_.vreg(to).is_architectural()) return std::nullopt;
      if (std::find(between.begin(), between.end(), to) != between.end()) return std::nullopt;
      for (std::uint32_t k = n; k < m; ++k)
        if (mentions(f_.insts[k], to)) return std::nullopt;
      copies.push_back(m);
      between.push_back(to);
    }
    return copies.empty() || last_mention_[use.index()] >= n + 1 + kFar ? std::nullopt : std::optional(copies);
  }
  // Whether the value that `use` has behind n ends in the block.
  [[nodiscard]] bool is_killed_behind(std::uint32_t n, VRegId use, std::uint32_t end) const {
    for (std::uint32_t m = n + 1; m < std::min(end, n + 1 + kFar); ++m) {
      const auto ops = f_.operands_of(f_.insts[m]);
      for (const Operand& op : ir::defs_of(ops))
        if (f_.root(op.vreg()) == use && kills(f_, op, ir::is_guarded(ops))) return true;
    }
    return false;
  }
  const Function& f_;
  bool reschedule_;
  ir::Fuel* fuel_;
  ir::Trace* trace_;
  const Liveness live_;
  Function renamed_;  // f_ with other uses
  std::uint32_t next_;
  std::vector<char> is_moved_;               // by instruction
  std::vector<std::vector<Copy>> before_;    // what is put before it
  std::vector<char> is_live_;                // by root: behind the instruction at hand
  std::vector<std::uint32_t> last_mention_;  // by root: in the block at hand, or before it
};

}  // namespace

Function make_two_address(const Function& f, bool reschedule, ir::Fuel* fuel, ir::Trace* trace) {
  return TwoAddress(f, reschedule, fuel, trace).run();
}

}  // namespace regduel::passes::llvm
