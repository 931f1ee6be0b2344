// See plainer.h.
#include "fuzz/triage/plainer.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "fuzz/edit/cut.h"
#include "fuzz/edit/edit.h"
#include "generate/program_facts.h"
#include "ir/cfg.h"
#include "ir/check.h"

namespace regduel::fuzz {
namespace {

using ir::BlockId;
using ir::Op;
using ir::Operand;
using ir::Role;
using ir::VRegId;

EditInst plain_def(EditProgram& p, const Operand& def) {
  EditInst i;
  i.inst.op = Op::Named;
  i.inst.mnemonic = p.header.symbols.intern("op");
  i.ops = {def};
  return i;
}

// An instruction that defines nothing gets a def in their place.
void defs_for_clobbers(EditProgram& p) {
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      const bool writes = std::any_of(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.writes(); });
      if (std::erase_if(i.ops, [](const Operand& o) { return o.role == Role::Clobber; }) == 0 || writes) continue;
      p.header.vregs.emplace_back();
      const auto uses = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.role != Role::Guard; });
      i.ops.insert(uses, Operand::of_vreg(Role::Def, VRegId(p.header.vregs.size() - 1)));
    }
}

// One of the first two defs, for as long as there are two, gets an instruction of its own after the others'.
template <std::size_t kWhich>
void defs_apart(EditProgram& p) {
  for (EditBlock& b : p.blocks)
    for (std::size_t n = 0; n < b.insts.size(); ++n)
      while (b.insts[n].inst.op == Op::Named && ir::defs_of(b.insts[n].ops).size() > 1 &&
             b.insts[n].ops[kWhich].role == Role::Def) {
        Operand def = b.insts[n].ops[kWhich];
        def.tied = ir::kNotTied;
        drop_operand(b.insts[n], kWhich);
        b.insts.insert(b.insts.begin() + static_cast<std::ptrdiff_t>(n) + 1, plain_def(p, def));
      }
}

void wholes_for_parts(EditProgram& p) {
  const auto root = [&](VRegId v) {
    while (p.header.vreg(v).alias.is_valid()) v = p.header.vreg(v).alias;
    return v;
  };
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts)
      for (Operand& o : i.ops)
        if (o.is_vreg()) o.set_vreg(root(o.vreg())), o.part = {};
}

void copies_for_ties(EditProgram& p) {
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      if (i.inst.op != Op::Named || i.ops.empty() || !i.ops[0].is_tied()) continue;
      Operand def = i.ops[0], use = i.ops[i.ops[0].tied];
      def.tied = ir::kNotTied;
      def.flags = 0;
      i.inst.op = Op::Copy;
      i.inst.mnemonic = {};
      i.inst.flags = 0;
      i.ops = {def, use};
    }
}

void uses_for_returns(EditProgram& p) {
  p.header.kind = ir::FunctionKind::Kernel;
  for (EditBlock& b : p.blocks) {
    if (b.insts.back().inst.op != Op::Ret) continue;
    EditInst end;
    end.inst.op = Op::Exit;
    EditInst& use = b.insts.back();
    use.inst.op = Op::Named;
    use.inst.mnemonic = p.header.symbols.intern("op");
    b.insts.push_back(std::move(end));
  }
}

// The blocks twice: what leads back leads from the first to the second, and from the second to the end.
void turns_for_loops(EditProgram& p, const ir::Cfg& cfg) {
  const std::size_t n = p.blocks.size();
  const auto leads_back = [&](std::size_t b, BlockId t) {
    return cfg.is_reachable(BlockId(b)) && cfg.rpo_index(t) <= cfg.rpo_index(BlockId(b));
  };
  const auto turned = [&](BlockId b, std::size_t by) { return BlockId(b.index() + by); };
  std::vector<EditBlock> second = p.blocks;
  const BlockId end(2 * n);
  for (std::size_t b = 0; b < n; ++b)
    for (const bool is_second : {false, true})
      for (EditInst& i : (is_second ? second : p.blocks)[b].insts) {
        if (!i.inst.is_phi()) {
          for (BlockId& t : i.targets) t = leads_back(b, t) ? (is_second ? end : turned(t, n)) : turned(t, is_second ? n : 0);
          continue;
        }
        for (std::size_t k = i.targets.size(); k-- > 0;) {
          const bool is_back = leads_back(i.targets[k].index(), BlockId(b));
          if (is_back && !is_second) drop_operand(i, k + 1);
          else if (!is_back && is_second) i.targets[k] = turned(i.targets[k], n);
        }
      }
  p.blocks.insert(p.blocks.end(), second.begin(), second.end());
  EditInst exit;
  exit.inst.op = Op::Exit;
  p.blocks.emplace_back().insts.push_back(std::move(exit));
  drop_unreachable(p);
  join_blocks(p);
  drop_unreachable(p);
}

class Forms {
 public:
  explicit Forms(const duel::Case& input) : input_(input), is_defined_(generate::undefined_reads(input.program, 1).empty()) {}

  template <class Edit>
  void add(const Edit& edit) {
    add(input_, edit);
  }
  template <class Edit>
  void add(duel::Case c, const Edit& edit) {
    EditProgram p(c.program);
    edit(p);
    renumber(p);
    c.program = p.build();
    if (!ir::check(c.program, *c.target, 1).empty() || (is_defined_ && !generate::undefined_reads(c.program, 1).empty())) return;
    forms_.push_back(std::move(c));
  }
  // One more def of each kind of vreg that a lower limit holds for, at one place after the other.
  void add_under_full_limits() {
    duel::Case whole = input_;
    for (const ir::RegFile file : ir::kAllFiles) whole.limits.units[ir::index(file)] = input_.target->units[ir::index(file)];
    std::map<std::pair<ir::RegClass, std::uint16_t>, ir::VReg> kinds;
    for (const ir::VReg& v : input_.program.vregs) {
      if (v.alias.is_valid() || input_.limits.of(v.file()) == whole.limits.of(v.file())) continue;
      ir::VReg& kind = kinds[{v.cls, v.width}];
      kind.cls = v.cls, kind.type = v.type, kind.width = v.width;
      kind.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(v.width));
    }
    const std::vector<InstPlace> places = body_places(EditProgram(input_.program));
    for (const auto& kind : kinds)
      for (const InstPlace& at : places)
        add(whole, [&](EditProgram& p) {
          auto& insts = p.blocks[at.block].insts;
          if (insts[at.inst].inst.is_phi()) return;
          p.header.vregs.push_back(kind.second);
          EditInst def = plain_def(p, Operand::of_vreg(Role::Def, VRegId(p.header.vregs.size() - 1)));
          insts.insert(insts.begin() + static_cast<std::ptrdiff_t>(at.inst) + 1, std::move(def));
        });
  }
  std::vector<duel::Case> take() { return std::move(forms_); }

 private:
  const duel::Case& input_;
  bool is_defined_;
  std::vector<duel::Case> forms_;
};

}  // namespace

std::vector<duel::Case> plainer_forms(const duel::Case& input) {
  Forms forms(input);
  forms.add_under_full_limits();
  for (const auto edit : {defs_for_clobbers, defs_apart<0>, defs_apart<1>, wholes_for_parts, copies_for_ties, uses_for_returns})
    forms.add(edit);
  const ir::Cfg cfg(input.program);
  forms.add([&](EditProgram& p) { turns_for_loops(p, cfg); });
  return forms.take();
}

}  // namespace regduel::fuzz
