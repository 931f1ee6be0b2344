#include "passes/take_back.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace regduel::passes {
namespace {

using ir::Function;
using ir::Inst;

class Return {
 public:
  Return(const Function& before, const Function& allocated)
      : before_(before), allocated_(allocated), out_(allocated.clone_header()),
        next_(std::max(before.next_inst_id(), allocated.next_inst_id()).value) {
    out_.vregs = before.vregs;
    out_.source_lines.clear();  // run() takes those of `before`
    for (const Inst& i : before.insts) known_.insert(i.id.value);
    for (const Inst& i : allocated.insts)
      if (!i.is_inserted()) kept_.insert(i.id.value);
  }

  Function run() {
    for (std::size_t b = 0; b < allocated_.blocks.size(); ++b) {
      out_.begin_block(allocated_.blocks[b]);
      missing_ = b < before_.blocks.size() ? before_.insts_of(ir::BlockId(b)) : std::span<const Inst>();
      for (const Inst& i : allocated_.insts_of(ir::BlockId(b))) one(i);
    }
    out_.take_source_lines(before_);
    return std::move(out_);
  }

 private:
  // The opcode, mnemonic and operands but the def of an instruction that reads no register.
  static std::string content_of(const Function& f, const Inst& i, std::span<const ir::Operand> ops) {
    std::string text = fmt::format("{} {}", static_cast<int>(i.op), f.symbols[i.mnemonic]);
    for (const ir::Operand& op : ops)
      if (op.kind == ir::OperandKind::Symbol) text += fmt::format(" \"{}\"", f.symbols[op.symbol()]);
      else if (!op.writes()) text += fmt::format(" {}", op.imm());
    return text;
  }
  static bool reads_register(std::span<const ir::Operand> ops) {
    return std::any_of(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.is_register() && op.reads(); });
  }
  // The instruction of `before_` that the one with the number `id`, of the pass, repeats. `like` has its operands, which are gone
  // where it is deleted.
  ir::InstId repeated_by(ir::InstId id, const Inst& like) {
    if (by_content_.empty())
      for (const Inst& i : before_.insts)
        if (i.is_repeatable() && !reads_register(before_.operands_of(i)))
          by_content_.emplace(content_of(before_, i, before_.operands_of(i)), i.id);
    if (of_pass_.empty())
      for (const Inst& i : allocated_.insts)
        if (!i.is_inserted() && !is_known(i)) of_pass_.emplace(i.id.value, &i);
    const auto inst = of_pass_.find(id.value);
    if (inst == of_pass_.end()) return id;
    const auto at = by_content_.find(content_of(allocated_, *inst->second, allocated_.operands_of(like)));
    return at == by_content_.end() ? id : at->second;
  }
  [[nodiscard]] bool is_known(const Inst& i) const { return known_.contains(i.id.value); }
  // Emits, as deleted, instructions at the head of missing_ that the allocation lacks.
  void delete_while(auto&& is_wanted) {
    for (; !missing_.empty() && !kept_.contains(missing_[0].id.value) && is_wanted(missing_[0]); missing_ = missing_.subspan(1)) {
      Inst gone = missing_[0];
      gone.line = {};
      if (gone.mnemonic.is_valid()) gone.mnemonic = out_.symbols.intern(before_.symbols[gone.mnemonic]);
      gone.flags |= ir::kDeleted;
      out_.append(gone, {});
    }
  }
  void one(Inst i) {
    const bool is_original = !i.is_inserted() && is_known(i);
    // Phis stand before whatever was inserted.
    delete_while([&](const Inst& m) { return is_original || m.is_phi(); });
    if (is_original && !missing_.empty() && missing_[0].id == i.id) missing_ = missing_.subspan(1);
    // A phi that stays moves nothing, because all its operands are in one home.
    if (!is_original && (i.is_deleted() || i.is_phi())) return;
    if (i.op == ir::Op::Remat && !known_.contains(i.ref.value)) i.ref = repeated_by(i.ref, i);
    if (!is_original && !i.is_inserted() && i.is_repeatable()) {  // of the pass
      i.ref = repeated_by(i.id, i);
      i.op = ir::Op::Remat;
      i.mnemonic = {};
      i.flags = ir::kInserted;
    }
    if (!is_original && i.is_copy()) i.flags |= ir::kInserted;  // of the pass
    if (!is_original && ir::is_slot_move(i.op)) i.flags |= ir::kInserted;
    if (i.is_inserted() && is_known(i)) i.id = ir::InstId(next_++);
    i.line = {};
    out_.append(i, allocated_.operands_of(i), allocated_.targets_of(i));
  }

  const Function& before_;
  const Function& allocated_;
  Function out_;
  std::uint32_t next_;
  std::unordered_set<std::uint32_t> known_, kept_;          // ids of `before`; of the originals of `allocated`
  std::unordered_map<std::string, ir::InstId> by_content_;  // of `before`: what a pass may repeat; made when it is asked for
  std::unordered_map<std::uint32_t, const Inst*> of_pass_;  // of the pass in `allocated`, by id
  std::span<const Inst> missing_;                           // of the block at hand in `before`: what has not been met yet
};

}  // namespace

Function take_back(const Function& before, const Function& allocated) { return Return(before, allocated).run(); }

}  // namespace regduel::passes
