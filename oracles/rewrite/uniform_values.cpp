#include "oracles/rewrite/uniform_values.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/rewrite/meaning.h"

namespace regduel::oracles::rewrite {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;

// Special registers that a warp has in common.
constexpr std::array<std::string_view, 9> kCommon = {"%ctaid",     "%nctaid",     "%ntid",          "%gridid",        "%nsmid",
                                                     "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};

class Mixed {
 public:
  Mixed(const Function& f, std::size_t known)
      : f_(f), known_(known), cfg_(f), is_mixed_(f.vregs.size(), false), in_region_(f.blocks.size(), false) {
    std::size_t before = 0, now = 1;
    while (before != now) {
      before = now;
      for (const BlockId b : cfg_.reverse_postorder()) {
        for (const Inst& i : f.insts_of(b))
          if (in_region_[b.index()] || mixes(i)) add_defs(i);
        add_region(b);
      }
      now = 1 + static_cast<std::size_t>(std::ranges::count(is_mixed_, true) + std::ranges::count(in_region_, true));
    }
  }
  [[nodiscard]] bool reads_mixed(const Inst& i) const {
    return std::ranges::any_of(
        f_.operands_of(i), [&](const Operand& op) { return op.is_vreg() && op.reads() && is_mixed_[f_.root(op.vreg()).index()]; });
  }
  // Whether threads differ in what the instruction yields.
  [[nodiscard]] bool mixes(const Inst& i) const {
    if (joins_threads(i)) {
      const ir::Operand* guard = ir::guard_of(f_.operands_of(i));
      return is_mixed(ir::uses_of(f_.operands_of(i)).back()) || (guard != nullptr && is_mixed(*guard));
    }
    if (reads_mixed(i)) return true;
    if (i.is_copy() || i.is_phi() || i.op == Op::Pack || i.op == Op::Unpack || i.op == Op::Const) return false;
    const auto uses = ir::uses_of(f_.operands_of(i));
    if (i.op != Op::Named || is_effect(f_, i) || uses.empty() || (i.has(ir::kMemRead) && !i.has(ir::kReadOnly))) return true;
    return std::ranges::any_of(uses, [&](const Operand& op) {
      if (op.kind != ir::OperandKind::Symbol) return false;
      const std::string_view name = f_.symbols[op.symbol()];
      return name.starts_with('%') && std::ranges::find(kCommon, name.substr(0, name.find('.'))) == kCommon.end();
    });
  }
  // A vote or a reduction over the threads of its last operand, which all get the same.
  [[nodiscard]] bool joins_threads(const Inst& i) const {
    const std::string_view name = i.op == Op::Named ? f_.mnemonic(i) : "";
    return (name.starts_with("vote.sync.") || name.starts_with("redux.sync.")) && ir::uses_of(f_.operands_of(i)).size() == 2;
  }
  [[nodiscard]] bool is_mixed(const Operand& op) const { return op.is_vreg() && is_mixed_[f_.root(op.vreg()).index()]; }
  [[nodiscard]] bool is_in_region(BlockId b) const { return in_region_[b.index()]; }

 private:
  void add_defs(const Inst& i) {
    for (const Operand& op : ir::defs_of(f_.operands_of(i)))
      if (!is_promised(f_.root(op.vreg()))) is_mixed_[f_.root(op.vreg()).index()] = true;
  }
  // In a uniform register, or marked so by the program before.
  [[nodiscard]] bool is_promised(ir::VRegId root) const {
    const ir::VReg& v = f_.vreg(root);
    return ir::is_uniform(v.file()) || (root.index() < known_ && (v.flags & ir::kVRegUniform) != 0);
  }
  [[nodiscard]] bool only_exits(BlockId b) const {
    return f_.kind == ir::FunctionKind::Kernel && f_.insts_of(b).size() == 1 && f_.successors(b).empty();
  }
  [[nodiscard]] std::set<BlockId> reachable(BlockId from) const {
    std::set<BlockId> seen;
    std::vector<BlockId> work = {from};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (only_exits(b) || !seen.insert(b).second) continue;
      for (const BlockId s : cfg_.successors(b)) work.push_back(s);
    }
    return seen;
  }
  // Whether every way from `from` to an exit goes through `via`.
  [[nodiscard]] bool must_pass(BlockId from, BlockId via) const {
    std::set<BlockId> seen;
    std::vector<BlockId> work = {from};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (b == via || only_exits(b) || !seen.insert(b).second) continue;
      const auto next = cfg_.successors(b);
      if (std::ranges::all_of(next, [&](BlockId s) { return only_exits(s); })) return false;
      for (const BlockId s : next) work.push_back(s);
    }
    return true;
  }
  // The ways of a branch end at the first block that all must pass.
  void add_region(BlockId branch) {
    const Inst& t = f_.terminator(branch);
    std::vector<BlockId> ways;
    for (const BlockId s : cfg_.successors(branch))
      if (!only_exits(s)) ways.push_back(s);
    if (ways.size() < 2 || !reads_mixed(t)) return;
    if (std::ranges::find(done_, branch) != done_.end()) return;
    done_.push_back(branch);
    std::set<BlockId> region;
    for (const BlockId w : ways)
      for (const BlockId b : reachable(w)) region.insert(b);
    // A block that all ways must pass is behind the region, and so is all that is reached through it alone.
    std::set<BlockId> meetings;
    for (const BlockId b : region)
      if (std::ranges::all_of(ways, [&](BlockId w) { return must_pass(w, b); })) meetings.insert(b);
    std::vector<BlockId> work = ways;
    std::set<BlockId> seen;
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (meetings.contains(b) || only_exits(b) || !seen.insert(b).second) continue;
      in_region_[b.index()] = true;
      for (const BlockId s : cfg_.successors(b)) work.push_back(s);
    }
  }

  const Function& f_;
  const std::size_t known_;
  const ir::Cfg cfg_;
  std::vector<bool> is_mixed_, in_region_;  // by root, by block
  std::vector<BlockId> done_;               // branches whose region is known
};

}  // namespace

void judge_uniform_values(const Function& f, std::size_t known, Collector& out) {
  const auto is_new = [&](const Operand& op) {
    const ir::VRegId root = f.root(op.vreg());
    return root.index() >= known && ir::is_uniform(f.vreg(root).file());
  };
  const auto writes_new = [&](const Inst& i) { return std::ranges::any_of(ir::defs_of(f.operands_of(i)), is_new); };
  if (std::ranges::none_of(f.insts, writes_new)) return;
  const Mixed mixed(f, known);
  for (std::uint32_t n = 0; n < f.blocks.size(); ++n)
    for (const Inst& i : f.insts_of(BlockId(n))) {
      if (!writes_new(i)) continue;
      if (mixed.is_in_region(BlockId(n)))
        out.add("uniform-value", i.id, 0, fmt::format("is written in b{}, where not all threads of a warp need be", n));
      else if (i.is_copy()) {
        const auto pairs = ir::copy_pairs(f.operands_of(i));
        for (std::size_t k = 0; k < pairs.size(); ++k)
          if (is_new(pairs[k].def) && mixed.is_mixed(pairs[k].use))
            out.add("uniform-value", i.id, static_cast<int>(k), "differs between threads of a warp");
      } else if (mixed.mixes(i)) {
        out.add("uniform-value", i.id, 0, "differs between threads of a warp");
      }
    }
}

}  // namespace regduel::oracles::rewrite
