#include "passes/ssa/ssa.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/grouped.h"
#include "ir/cfg.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

class Construction {
 public:
  Construction(const Function& f, ir::Fuel* fuel) : f_(f), fuel_(fuel), cfg_(f), out_(f.clone_header()), operands_(f.operands) {}

  Function run() {
    find_candidates();
    mentions_.build(f_.vregs.size(), [&](auto add) { each_mention(add); });
    in_.assign(f_.blocks.size(), 0);
    live_mark_.assign(f_.blocks.size(), 0);
    last_mark_ = live_mark_;
    last_.assign(f_.blocks.size(), 0);
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const auto mentions = mentions_[v];
      if (std::count_if(mentions.begin(), mentions.end(), [](const Mention& m) { return m.kills; }) > 1) split(VRegId(v), mentions);
    }
    new_phis_.build_from(
        f_.blocks.size(), phis_, [](const NewPhi& p) { return p.block.index(); }, [](const NewPhi& p) { return p; });
    rewrite();
    return std::move(out_);
  }

 private:
  using Version = std::uint32_t;  // 0: undefined; k: of the kth killing def; number of these + 1 + b: a phi of block b
  static constexpr Version kUnknown = 0xFFFFFFFFu;

  // One operand of a candidate. An operand of a phi is read at the end of the predecessor. Of one instruction those that read stand
  // first.
  struct Mention {
    BlockId block;
    std::uint32_t operand = 0;  // of the function
    bool kills = false;         // else it reads, or writes into what is there
  };
  struct NewPhi {
    BlockId block;
    std::uint32_t first_use = 0;  // of phi_uses_: as many as predecessors
    VRegId def;
  };

  void find_candidates() {
    is_candidate_.resize(f_.vregs.size());
    for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
      const ir::VReg& d = f_.vregs[v];
      is_candidate_[v] = !d.alias.is_valid() && !d.fixed.is_valid() && !d.is_architectural();
    }
    for (const ir::VReg& v : f_.vregs)
      if (v.alias.is_valid()) is_candidate_[f_.root(v.alias).index()] = false;
  }
  [[nodiscard]] bool is_candidate(const Operand& op) const { return op.is_vreg() && is_candidate_[op.vreg().index()]; }

  template <class Add>
  void each_mention(Add& add) const {
    for (std::size_t n = 0; n < f_.blocks.size(); ++n) {
      const BlockId b(n);
      const auto mention = [&](std::size_t operand, bool kills) {
        add(f_.operands[operand].vreg().index(), Mention{b, static_cast<std::uint32_t>(operand), kills});
      };
      for (const Inst& i : f_.insts_of(b)) {
        const auto ops = f_.operands_of(i);
        const bool guarded = ir::is_guarded(ops);
        const auto kills = [&](const Operand& op) { return op.role == ir::Role::Def && !guarded && op.part.is_whole(); };
        for (const bool killing : {false, true})
          for (std::size_t k = 0; k < ops.size(); ++k)
            if (is_candidate(ops[k]) && (!i.is_phi() || ops[k].writes()) && kills(ops[k]) == killing)
              mention(i.first_operand + k, killing);
      }
      for (const BlockId s : cfg_.successors(b))
        for (const Inst& i : f_.phis_of(s)) {
          const std::size_t k = f_.phi_use_from(i, b);
          if (is_candidate(f_.operands_of(i)[k])) mention(i.first_operand + k, false);
        }
    }
  }

  // --- one vreg. Marks of blocks are the number of the vreg + 1, so that none need be cleared.
  void split(VRegId v, std::span<const Mention> mentions) {
    mark_ = v.value + 1;
    num_defs_ = 0;
    find_live(mentions);
    if (!find_versions()) return;
    take_out_trivial_phis();
    if (!ir::may(fuel_, "split-into-versions")) return;
    name_versions(v, mentions);
  }
  // live_: blocks at whose heads it is live, in order. last_: the version at the end of a block with a killing def.
  void find_live(std::span<const Mention> mentions) {
    live_.clear();
    const auto is_live_in = [&](BlockId b) {
      if (live_mark_[b.index()] == mark_) return;
      live_mark_[b.index()] = mark_;
      live_.push_back(b);
    };
    for (const Mention& m : mentions) {
      if (!m.kills && last_mark_[m.block.index()] != mark_) is_live_in(m.block);
      if (!m.kills) continue;
      last_mark_[m.block.index()] = mark_;
      last_[m.block.index()] = ++num_defs_;
    }
    for (std::size_t k = 0; k < live_.size(); ++k)
      for (const BlockId p : cfg_.predecessors(live_[k]))
        if (last_mark_[p.index()] != mark_) is_live_in(p);
    // In reverse postorder, so that mostly one round will do; unreachable blocks behind.
    const auto place = [&](BlockId b) {
      return std::pair(cfg_.is_reachable(b) ? cfg_.rpo_index(b) : static_cast<int>(f_.blocks.size()), b.index());
    };
    std::sort(live_.begin(), live_.end(), [&](BlockId x, BlockId y) { return place(x) < place(y); });
    for (const BlockId b : live_) in_[b.index()] = kUnknown;
  }
  [[nodiscard]] Version phi_of(BlockId b) const { return num_defs_ + 1 + b.value; }
  [[nodiscard]] Version out(BlockId p) const { return last_mark_[p.index()] == mark_ ? last_[p.index()] : in_[p.index()]; }

  // False where the entry would need a phi.
  bool find_versions() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : live_) {
        Version& in = in_[b.index()];
        if (in == phi_of(b)) continue;
        const auto preds = cfg_.predecessors(b);
        Version now = preds.empty() || b.value == 0 ? 0 : kUnknown;
        for (const BlockId p : preds) {
          const Version o = out(p);
          if (o == kUnknown || o == now) continue;
          now = now == kUnknown ? o : phi_of(b);
        }
        if (now == in || now == kUnknown) continue;
        if (now == phi_of(b) && b.value == 0) return false;
        in = now;
        changed = true;
      }
      // No version comes into the loop from outside, so it is undefined there.
      if (!changed)
        for (const BlockId b : live_)
          if (in_[b.index()] == kUnknown) {
            in_[b.index()] = 0;
            changed = true;
            break;
          }
    }
    return true;
  }
  void take_out_trivial_phis() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const BlockId b : live_) {
        if (in_[b.index()] != phi_of(b)) continue;
        Version one = kUnknown;
        bool is_trivial = true;
        for (const BlockId p : cfg_.predecessors(b)) {
          const Version o = out(p);
          if (o == phi_of(b) || o == one) continue;
          is_trivial = is_trivial && one == kUnknown;
          one = o;
        }
        if (!is_trivial || one == kUnknown) continue;
        for (const BlockId x : live_)
          if (in_[x.index()] == phi_of(b)) in_[x.index()] = one;
        changed = true;
      }
    }
  }
  void name_versions(VRegId v, std::span<const Mention> mentions) {
    names_.clear();
    const auto name = [&](Version version) {
      const auto at = std::lower_bound(names_.begin(), names_.end(), version, [](const auto& n, Version x) { return n.first < x; });
      if (at != names_.end() && at->first == version) return at->second;
      // The first def keeps the vreg.
      const VRegId fresh = version == 1 ? v : out_.add_vreg(f_.vreg(v));
      names_.insert(at, {version, fresh});
      return fresh;
    };
    Version defs = 0, now = 0;
    BlockId block;
    for (const Mention& m : mentions) {
      if (m.block != block) now = live_mark_[m.block.index()] == mark_ ? in_[m.block.index()] : 0;
      block = m.block;
      if (m.kills) now = ++defs;
      operands_[m.operand].set_vreg(name(now));
    }
    for (const BlockId b : live_) {
      if (in_[b.index()] != phi_of(b)) continue;
      phis_.push_back({b, static_cast<std::uint32_t>(phi_uses_.size()), name(phi_of(b))});
      for (const BlockId p : cfg_.predecessors(b)) phi_uses_.push_back(name(out(p)));
    }
  }

  void rewrite() {
    std::uint32_t next_id = f_.next_inst_id().value;
    std::vector<Operand> ops;
    for (std::size_t n = 0; n < f_.blocks.size(); ++n) {
      const BlockId b(n);
      out_.begin_block(f_.block(b));
      const auto add = [&](const Inst& i) {
        out_.append(i, std::span(operands_).subspan(i.first_operand, i.num_operands), f_.targets_of(i));
      };
      const auto insts = f_.insts_of(b);
      std::size_t k = 0;
      for (; insts[k].is_phi(); ++k) add(insts[k]);
      const auto preds = cfg_.predecessors(b);
      for (const NewPhi& p : new_phis_[n]) {
        Inst i;
        i.id = ir::InstId(next_id++);
        i.op = ir::Op::Phi;
        ops.assign(1, Operand::of_vreg(ir::Role::Def, p.def));
        for (std::size_t use = 0; use < preds.size(); ++use)
          ops.push_back(Operand::of_vreg(ir::Role::Use, phi_uses_[p.first_use + use]));
        out_.append(i, ops, preds);
      }
      for (; k < insts.size(); ++k) add(insts[k]);
    }
  }

  const Function& f_;
  ir::Fuel* fuel_;
  const ir::Cfg cfg_;
  Function out_;
  std::vector<Operand> operands_;  // of f_, over versions
  std::vector<bool> is_candidate_;
  Grouped<Mention> mentions_;
  std::vector<NewPhi> phis_;
  std::vector<VRegId> phi_uses_;
  Grouped<NewPhi> new_phis_;  // by block
  // Of the vreg at hand.
  std::uint32_t mark_ = 0;
  Version num_defs_ = 0;
  std::vector<std::uint32_t> live_mark_, last_mark_;  // by block
  std::vector<Version> in_, last_;
  std::vector<BlockId> live_;
  std::vector<std::pair<Version, VRegId>> names_;  // sorted
};

class Ssa final : public Pass {
 public:
  std::string_view name() const override { return "ssa"; }
  std::string_view what_it_does() const override { return "a vreg of several defs becomes one a def, with phis where they meet"; }
  std::expected<Function, std::string> run(const Function& program, const ir::Target&, const PassOptions& options) const override {
    if (!options.knobs.empty()) return std::unexpected(ir::unknown_knob(name(), options.knobs.front().first));
    return Construction(program, options.fuel).run();
  }
};

}  // namespace

const Pass& ssa() {
  static const Ssa pass;
  return pass;
}

}  // namespace regduel::passes
