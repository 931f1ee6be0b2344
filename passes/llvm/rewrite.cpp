#include "passes/llvm/rewrite.h"

#include <algorithm>
#include <vector>

namespace regduel::passes::llvm {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::VRegId;

class Rewrite {
 public:
  Rewrite(const Function& f, Joiner& joiner, std::span<const std::uint32_t> repeated)
      : f_(f), joiner_(joiner), repeated_(repeated), out_(f.clone_header()), next_(f.next_inst_id().value) {}

  Function run() {
    for (const ir::Block& b : f_.blocks) {
      out_.begin_block(b);
      for (std::uint32_t n = b.first_inst; n < b.first_inst + b.num_insts; ++n) one(n);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] Operand renamed(Operand op) const {
    if (!op.is_vreg()) return op;
    const VRegId own = f_.root(op.vreg()), root = joiner_.find(own);
    return root == own ? op : f_.moved_to(op, root);
  }
  // Whether the two operands, of two roots, are one storage now.
  [[nodiscard]] bool is_joined(const Operand& a, const Operand& b) const {
    const ir::Storage s = f_.storage(a), t = f_.storage(b);
    return s.root != t.root && joiner_.find(s.root) == joiner_.find(t.root) && s.offset == t.offset && s.size == t.size;
  }

  void one(std::uint32_t n) {
    const Inst& i = f_.insts[n];
    const auto ops = f_.operands_of(i);
    if (i.is_phi() && !joiner_.is_pinned(n) && is_gone(n, ops)) return;
    if (repeated_[n] != kNone && !joiner_.is_erased(n, 0)) return repeat(i, f_.insts[repeated_[n]]);
    if (i.is_copy() && !joiner_.is_pinned(n) && drop_pairs(n, i)) return;
    ops_.clear();
    for (const Operand& op : ops) ops_.push_back(renamed(op));
    out_.append(i, ops_, f_.targets_of(i));
  }
  [[nodiscard]] bool is_gone(std::uint32_t n, std::span<const Operand> ops) const {
    bool has_joined = false;
    const ir::Storage def = f_.storage(ops[0]);
    return joiner_.is_erased(n, 0) || (std::all_of(ops.begin() + 1, ops.end(),
                                                   [&](const Operand& op) {
                                                     has_joined = has_joined || is_joined(ops[0], op);
                                                     return is_joined(ops[0], op) || f_.storage(op).root == def.root;
                                                   }) &&
                                       has_joined);
  }
  void repeat(const Inst& copy, Inst def) {
    ops_.clear();
    const auto of_def = f_.operands_of(def);
    ops_.assign(of_def.begin(), of_def.end());
    ops_[0] = renamed(f_.operands_of(copy)[0]);
    def.id = ir::InstId(next_++);
    def.line = copy.line;
    out_.append(def, ops_);
  }
  // Emits the pairs of a copy that stay, if some are erased. Returns whether that was so.
  bool drop_pairs(std::uint32_t n, Inst i) {
    const auto ops = f_.operands_of(i);
    const ir::CopyPairs pairs = ir::copy_pairs(ops);
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < pairs.size(); ++k)
      if (!joiner_.is_erased(n, k) && !is_joined(pairs[k].def, pairs[k].use)) kept.push_back(k);
    if (kept.size() == pairs.size()) return false;
    if (kept.empty()) return true;
    ops_.clear();
    // The operands of an inserted copy are free.
    const auto free = [&](Operand op) {
      op = renamed(op);
      op.tied = ir::kNotTied;
      op.flags = 0;
      op.set_fixed({});
      return op;
    };
    for (const std::size_t k : kept) ops_.push_back(free(pairs[k].def));
    for (const std::size_t k : kept) ops_.push_back(free(pairs[k].use));
    if (const Operand* guard = ir::guard_of(ops)) ops_.push_back(renamed(*guard));
    i.id = ir::InstId(next_++);
    out_.append(i, ops_);
    return true;
  }

  const Function& f_;
  Joiner& joiner_;
  std::span<const std::uint32_t> repeated_;
  Function out_;
  std::uint32_t next_;
  std::vector<Operand> ops_;
};

}  // namespace

Function rewrite(const Function& f, Joiner& joiner, std::span<const std::uint32_t> repeated) {
  return Rewrite(f, joiner, repeated).run();
}

}  // namespace regduel::passes::llvm
