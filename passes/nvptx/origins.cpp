#include "passes/nvptx/origins.h"

#include <algorithm>

#include "passes/nvptx/type_classes.h"

namespace regduel::passes::nvptx {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;

// Two storages that hold the same bytes.
struct Fact {
  Storage a, b;
};

bool is_same(const Storage& a, const Storage& b) { return a.root == b.root && a.offset == b.offset && a.size == b.size; }

// The facts of one block, in the order of program.
class Facts {
 public:
  explicit Facts(const Function& f) : f_(f) {}

  void clear() { facts_.clear(); }
  void forget_what_is_written(const Inst& i) {
    if (facts_.empty()) return;
    for (const Operand& op : ir::defs_of(f_.operands_of(i))) {
      const Storage s = f_.storage(op);
      std::erase_if(facts_, [&](const Fact& fact) { return fact.a.overlaps(s) || fact.b.overlaps(s); });
    }
  }
  // Adds the moves of an instruction. Requires that forget_what_is_written() has been called for it.
  void learn(const Inst& i) {
    const auto ops = f_.operands_of(i);
    if (ir::is_guarded(ops)) return;
    const auto add = [&](const Storage& def, const Storage& use) {
      if (def.overlaps(use) || is_written(ops, use)) return;
      if (facts_.size() == Origins::kMostFacts) facts_.erase(facts_.begin());
      facts_.push_back({def, use});
    };
    if (i.is_copy())
      for (const auto [def, use] : ir::copy_pairs(ops))
        if (is_piece(def) || is_piece(use)) add(f_.storage(def), f_.storage(use));
    if (!ir::moves_pieces(i.op)) return;
    const bool packs = i.op == ir::Op::Pack;
    const auto defs = ir::defs_of(ops), uses = ir::uses_of(ops);
    Storage whole = f_.storage(packs ? defs[0] : uses[0]);
    for (const Operand& op : packs ? uses : defs) {
      const Storage own = f_.storage(op);
      const Storage part{whole.root, whole.offset, own.size};
      packs ? add(part, own) : add(own, part);
      whole.offset = static_cast<std::uint16_t>(whole.offset + own.size);
    }
  }
  // Another storage with the same bytes as `s`, at the offset of `def`, in a root that may become one with its root.
  [[nodiscard]] Storage find(const Storage& s, const Storage& def) const {
    for (auto fact = facts_.rbegin(); fact != facts_.rend(); ++fact) {
      const Storage& other = is_same(fact->a, s) ? fact->b : is_same(fact->b, s) ? fact->a : Storage{};
      if (other.root.is_valid() && other.offset == def.offset && may_become_one(f_.vreg(other.root), f_.vreg(def.root)))
        return other;
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_piece(const Operand& op) const { return !f_.is_whole(op); }
  [[nodiscard]] bool is_written(std::span<const Operand> ops, const Storage& s) const {
    const auto defs = ir::defs_of(ops);
    return std::any_of(defs.begin(), defs.end(), [&](const Operand& op) { return f_.storage(op).overlaps(s); });
  }

  const Function& f_;
  std::vector<Fact> facts_;
};

}  // namespace

Origins::Origins(const Function& f, bool guarded) : first_(f.insts.size(), 0) {
  Facts facts(f);
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    facts.clear();
    for (const Inst& i : f.insts_of(ir::BlockId(b))) {
      if (i.is_copy()) {
        first_[static_cast<std::size_t>(&i - f.insts.data())] = static_cast<std::uint32_t>(origins_.size());
        const bool is_considered = guarded || !ir::is_guarded(f.operands_of(i));
        for (const auto [def, use] : ir::copy_pairs(f.operands_of(i))) {
          const Storage d = f.storage(def), s = f.storage(use);
          const bool is_direct = is_considered && d.offset == s.offset && may_become_one(f.vreg(s.root), f.vreg(d.root));
          origins_.push_back(is_direct ? s : is_considered ? facts.find(s, d) : Storage{});
          through_.push_back(!is_direct && origins_.back().root.is_valid() ? 1 : 0);
        }
      }
      facts.forget_what_is_written(i);
      facts.learn(i);
    }
  }
}

}  // namespace regduel::passes::nvptx
