#include "passes/take_back.h"

#include <algorithm>
#include <unordered_set>

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
  [[nodiscard]] bool is_known(const Inst& i) const { return known_.contains(i.id.value); }
  // What `before` has at the head of missing_ and the allocation does not: as deleted.
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
    if (!is_original && i.is_deleted()) return;
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
  std::unordered_set<std::uint32_t> known_, kept_;  // ids of `before`; of the originals of `allocated`
  std::span<const Inst> missing_;                   // of the block at hand in `before`: what has not been met yet
};

}  // namespace

Function take_back(const Function& before, const Function& allocated) { return Return(before, allocated).run(); }

}  // namespace regduel::passes
