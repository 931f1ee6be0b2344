#include "oracles/memcheck/undefined_guards.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace regduel::oracles {
namespace {

class DefinedPredicates {
 public:
  DefinedPredicates(const ir::Function& f, const ir::Cfg& cfg) : f_(f), cfg_(cfg), number_(f.vregs.size(), kOther) {
    for (std::size_t v = 0; v < f.vregs.size(); ++v)
      if (!f.vregs[v].alias.is_valid() && ir::is_predicate(f.vregs[v].file())) number_[v] = num_predicates_++;
    at_head_.assign(f.blocks.size(), std::vector<bool>(num_predicates_));
    for (std::size_t v = 0; v < f.vregs.size(); ++v)
      if (number_[v] != kOther && f.vregs[v].is_architectural()) at_head_[0][number_[v]] = true;
  }

  [[nodiscard]] std::vector<ir::InstId> undefined() {
    settle();
    for (const ir::BlockId b : cfg_.reverse_postorder()) walk(b, true);
    std::ranges::sort(undefined_);
    return std::move(undefined_);
  }

 private:
  static constexpr std::uint32_t kOther = 0xFFFFFFFFu;

  void settle() {
    for (bool changes = true; changes;) {
      changes = false;
      for (const ir::BlockId b : cfg_.reverse_postorder()) {
        walk(b, false);
        for (const ir::BlockId to : f_.successors(b)) changes = flow(b, to) || changes;
      }
    }
  }

  // True if D at the head of `to` grew.
  bool flow(ir::BlockId from, ir::BlockId to) {
    std::vector<bool> arrives = now_;
    const ir::Block& block = f_.block(to);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts && f_.insts[i].is_phi(); ++i) {
      const auto ops = f_.operands_of(f_.insts[i]);
      const std::uint32_t def = number_of(ops[0]);
      if (def == kOther) continue;
      arrives[def] = false;
      for (std::size_t k = 1; k < ops.size(); ++k)
        if (f_.targets_of(f_.insts[i])[k - 1] == from && may_be_defined(ops[k])) arrives[def] = true;
    }
    bool grows = false;
    std::vector<bool>& head = at_head_[to.index()];
    for (std::size_t p = 0; p < num_predicates_; ++p) {
      grows = grows || (arrives[p] && !head[p]);
      head[p] = head[p] || arrives[p];
    }
    return grows;
  }

  void walk(ir::BlockId b, bool notes) {
    now_ = at_head_[b.index()];
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = f_.insts[i];
      if (inst.is_phi()) continue;
      const auto ops = f_.operands_of(inst);
      const ir::Operand* const guard = ir::guard_of(ops);
      const bool may_happen = guard == nullptr || may_be_defined(*guard);
      if (notes && !may_happen) undefined_.push_back(inst.id);
      if (inst.is_copy()) copy(ops, guard != nullptr, may_happen);
      else
        for (const ir::Operand& op : ops)
          if (op.writes() && number_of(op) != kOther) now_[number_of(op)] = may_happen;
    }
  }

  void copy(std::span<const ir::Operand> ops, bool is_guarded, bool may_happen) {
    copied_.clear();
    for (const auto [def, use] : ir::copy_pairs(ops)) {
      const bool old = may_be_defined(def), moved = may_be_defined(use);
      copied_.push_back(!is_guarded ? moved : may_happen ? old || moved : old && moved);
    }
    std::size_t next = 0;
    for (const auto [def, use] : ir::copy_pairs(ops)) {
      const bool is_defined = copied_[next++];
      if (number_of(def) != kOther) now_[number_of(def)] = is_defined;
    }
  }

  [[nodiscard]] std::uint32_t number_of(const ir::Operand& op) const {
    return op.is_vreg() ? number_[f_.storage(op).root.index()] : kOther;
  }
  [[nodiscard]] bool may_be_defined(const ir::Operand& op) const {
    const std::uint32_t number = number_of(op);
    return number == kOther || now_[number];
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::vector<std::uint32_t> number_;  // by vreg: of a predicate
  std::uint32_t num_predicates_ = 0;
  std::vector<std::vector<bool>> at_head_;  // by block: D at its head, behind its phis
  std::vector<bool> now_;                   // D at the instruction at hand
  std::vector<bool> copied_;
  std::vector<ir::InstId> undefined_;
};

}  // namespace

std::vector<ir::InstId> always_under_undefined_guards(const ir::Function& before, const ir::Cfg& cfg) {
  return DefinedPredicates(before, cfg).undefined();
}

}  // namespace regduel::oracles
