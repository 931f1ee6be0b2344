// Values that a guard or a branch chooses, in registers that a warp shares. See pairs.h.
//
// Which value a shared register holds may differ by thread although each value is the same in all threads. Few programs choose between
// such values, so both programs of the subject get a few instructions in front of their first one, where no register holds anything.
#include <algorithm>
#include <array>

#include "ir/cfg.h"
#include "ir/check.h"
#include "oracles/judges.h"
#include "trial/faults/instructions.h"
#include "trial/faults/pairs.h"

namespace regduel::trial {
namespace {

using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::Role;

constexpr PReg kValue{RegFile::R, 1, 0}, kChoice{RegFile::P, 1, 0}, kShared{RegFile::UR, 1, 0};

// The subject's programs, which get the same instructions: over vregs and over registers.
class Both {
 public:
  explicit Both(const DrawnSubject& s)
      : s_(s), before_(s.c.program), after_(s.after), choice_(before_.header.vregs.size()), value_(choice_.index() + 1),
        next_(std::max(before_.next_id().value, after_.next_id().value)) {
    ir::VReg predicate;
    predicate.cls = ir::RegClass::P, predicate.type = ir::TypeKind::Pred, predicate.width = 1;
    for (EditProgram* p : {&before_, &after_}) {
      p->header.vregs.push_back(predicate);
      p->header.vregs.emplace_back();
    }
  }

  // A kernel whose entry nothing leads to.
  [[nodiscard]] static bool suits(const DrawnSubject& s) {
    return s.c.program.kind == ir::FunctionKind::Kernel && ir::Cfg(s.c.program).predecessors(ir::BlockId(0)).empty() &&
           ir::Cfg(s.after).predecessors(ir::BlockId(0)).empty() && !s.c.program.predicate_halves &&
           std::ranges::none_of(s.c.program.vregs, [](const ir::VReg& v) { return v.is_architectural(); }) &&
           std::ranges::all_of(std::array{kValue, kChoice, kShared}, [&](PReg r) {
             return s.limits.of(r.file) > 0 && !s.target.is_reserved(s.c.program.abi, r.file, r.first);
           });
  }

  enum class Of { Value, Choice };
  // Appends an original instruction to these of the block: its def, or its use, and an immediate.
  void add(std::vector<EditInst>& before, std::vector<EditInst>& after, Op op, std::string_view mnemonic, Role role, Of of,
           std::optional<std::int64_t> imm, bool is_guarded = false, std::vector<ir::BlockId> targets = {}) {
    for (auto* list : {&before, &after}) {
      const auto reg = [&](Role r, Of what) {
        return list == &before ? Operand::of_vreg(r, what == Of::Value ? value_ : choice_)
                               : Operand::of_preg(r, what == Of::Value ? kValue : kChoice);
      };
      EditInst i;
      i.inst.op = op;
      i.inst.id = ir::InstId(next_);
      if (role == Role::Use && op == Op::Named) i.inst.flags |= ir::kMemWrite;
      if (!mnemonic.empty()) i.inst.mnemonic = (list == &before ? before_ : after_).header.symbols.intern(mnemonic);
      if (op != Op::Bra) i.ops.push_back(reg(role, of));
      if (imm) i.ops.push_back(Operand::of_imm(*imm));
      if (is_guarded) i.ops.push_back(reg(Role::Guard, Of::Choice));
      i.targets = targets;
      list->push_back(std::move(i));
    }
    ++next_;
  }
  // The value goes to the shared register and back.
  void send(std::vector<EditInst>& after) {
    for (const auto& [to, from] : {std::pair(kShared, kValue), std::pair(kValue, kShared)}) {
      after.push_back(make_copy(to, from));
      after.back().inst.id = ir::InstId(next_++);
    }
  }

  [[nodiscard]] std::optional<PairVerdicts> judged(const EditProgram& right, const EditProgram& damaged) const {
    PairVerdicts v;
    v.before = before_.build(), v.after = damaged.build();
    const ir::Function fine = right.build();
    for (const ir::Function* f : std::array<const ir::Function*, 3>{&v.before, &v.after, &fine})
      if (!ir::check(*f, s_.target, 1).empty()) return std::nullopt;
    const oracles::Judge& judge = *oracles::find_judge("uniform");
    v.right = judge.judge({v.before, fine, s_.target, s_.limits});
    v.damaged = judge.judge({v.before, v.after, s_.target, s_.limits});
    return v;
  }

  const DrawnSubject& s_;
  EditProgram before_, after_;

 private:
  ir::VRegId choice_, value_;
  std::uint32_t next_;
};

void prepend(EditProgram& p, const std::vector<EditInst>& insts) {
  p.blocks[0].insts.insert(p.blocks[0].insts.begin(), insts.begin(), insts.end());
}

std::optional<PairVerdicts> chosen_by_guard(const DrawnSubject& s, Random&) {
  if (!Both::suits(s)) return std::nullopt;
  Both both(s);
  std::vector<EditInst> before, after;
  both.add(before, after, Op::Named, "choose", Role::Def, Both::Of::Choice, 0);
  both.add(before, after, Op::Const, "", Role::Def, Both::Of::Value, 1);
  both.add(before, after, Op::Const, "", Role::Def, Both::Of::Value, 2, true);
  std::vector<EditInst> sent = after;
  both.add(before, after, Op::Named, "chosen", Role::Use, Both::Of::Value, {});
  both.send(sent);
  sent.push_back(after.back());
  EditProgram right = both.after_, damaged = both.after_;
  prepend(both.before_, before), prepend(right, after), prepend(damaged, sent);
  return both.judged(right, damaged);
}

// Four blocks in front of the others: a branch, its two ways, and where they meet.
std::optional<PairVerdicts> chosen_by_branch(const DrawnSubject& s, Random&) {
  if (!Both::suits(s)) return std::nullopt;
  Both both(s);
  std::array<std::vector<EditInst>, 4> before, after;
  using ir::BlockId;
  both.add(before[0], after[0], Op::Named, "choose", Role::Def, Both::Of::Choice, 0);
  both.add(before[0], after[0], Op::CBra, "", Role::Use, Both::Of::Choice, {}, false, {BlockId(1), BlockId(2)});
  for (const std::size_t way : {1u, 2u}) {
    both.add(before[way], after[way], Op::Const, "", Role::Def, Both::Of::Value, static_cast<std::int64_t>(way));
    both.add(before[way], after[way], Op::Bra, "", Role::Use, Both::Of::Value, {}, false, {BlockId(3)});
  }
  both.add(before[3], after[3], Op::Named, "chosen", Role::Use, Both::Of::Value, {});
  both.add(before[3], after[3], Op::Bra, "", Role::Use, Both::Of::Value, {}, false, {BlockId(4)});
  std::array<std::vector<EditInst>, 4> sent = after;
  sent[3].clear();
  both.send(sent[3]);
  sent[3].insert(sent[3].end(), after[3].begin(), after[3].end());
  const auto in_front = [](EditProgram p, const std::array<std::vector<EditInst>, 4>& front) {
    const auto shift = [](BlockId& b) { b = b.is_valid() ? BlockId(b.value + 4) : b; };
    for (EditBlock& b : p.blocks) {
      shift(b.attributes.edge_from), shift(b.attributes.edge_to);
      for (EditInst& i : b.insts) std::ranges::for_each(i.targets, shift);
    }
    std::vector<EditBlock> blocks(4);
    for (std::size_t k = 0; k < 4; ++k) blocks[k].insts = front[k];
    p.blocks.insert(p.blocks.begin(), blocks.begin(), blocks.end());
    return p;
  };
  const EditProgram right = in_front(both.after_, after), damaged = in_front(both.after_, sent);
  both.before_ = in_front(both.before_, before);
  return both.judged(right, damaged);
}

}  // namespace

std::span<const PairFault> uniform_faults() {
  static constexpr PairFault kFaults[] = {
      {"uniform-chosen-by-guard", "a guard of each thread chooses which constant a shared register holds", "uniform-register",
       chosen_by_guard},
      {"uniform-chosen-by-branch", "a branch of each thread chooses it", "uniform-register", chosen_by_branch},
  };
  return kFaults;
}

}  // namespace regduel::trial
