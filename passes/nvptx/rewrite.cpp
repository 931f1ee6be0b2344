#include "passes/nvptx/rewrite.h"

#include <vector>

#include "passes/pass.h"

namespace regduel::passes::nvptx {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;
using ir::VRegId;

class Rewriter {
 public:
  Rewriter(const Function& f, const Coalescer& coalescer, ir::Fuel* fuel) : f_(f), coalescer_(coalescer), fuel_(fuel) {
    for (std::size_t v = 0; v < f.vregs.size(); ++v) name_of_.push_back(coalescer.name_of(f.root(VRegId(v))));
  }

  Function run() {
    Function out = f_.clone_header();
    out.reserve(f_.insts.size(), f_.operands.size());
    for (const ir::Block& b : f_.blocks) {
      out.begin_block(b);
      for (const Inst& i : f_.insts_of(b)) {
        if (has_nothing_to_do(i)) continue;
        operands_.clear();
        for (const Operand& op : f_.operands_of(i)) operands_.push_back(renamed(op));
        out.append(i, operands_, f_.targets_of(i));
      }
    }
    return out;
  }

 private:
  [[nodiscard]] VRegId name_of(VRegId v) const { return name_of_[v.index()]; }
  [[nodiscard]] Operand renamed(Operand op) const {
    if (!op.is_vreg()) return op;
    const VRegId own = f_.root(op.vreg()), name = name_of(own);
    return name == own ? op : f_.moved_to(op, name);
  }
  [[nodiscard]] bool has_nothing_to_do(const Inst& i) {
    if ((!i.is_copy() && !i.is_phi()) || gives_up_registers(f_, i)) return false;
    const auto inst = static_cast<std::uint32_t>(&i - f_.insts.data());
    const auto ops = f_.operands_of(i);
    const std::size_t moves = i.is_copy() ? ir::copy_pairs(ops).size() : ops.size() - 1;
    bool had_nothing_to_do = true;
    for (std::size_t k = 0; k < moves; ++k) {
      const Storage def = f_.storage(ops[i.is_copy() ? k : 0]);
      const Storage from = i.is_copy() ? coalescer_.origins().of(inst, k) : f_.storage(ops[k + 1]);
      if (!from.root.is_valid() || name_of(from.root) != name_of(def.root) || from.offset != def.offset || from.size != def.size)
        return false;
      if (!coalescer_.takes_part(def.root)) return false;
      had_nothing_to_do = had_nothing_to_do && from.root == def.root;
    }
    return !had_nothing_to_do || ir::may(fuel_, "leave-out-identity");
  }

  const Function& f_;
  const Coalescer& coalescer_;
  ir::Fuel* fuel_;
  std::vector<VRegId> name_of_;  // by vreg
  std::vector<Operand> operands_;
};

}  // namespace

Function rewrite(const Function& f, const Coalescer& coalescer, ir::Fuel* fuel) { return Rewriter(f, coalescer, fuel).run(); }

}  // namespace regduel::passes::nvptx
