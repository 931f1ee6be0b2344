// demand_bound: first fit by falling alignment and size, one instruction at a time. The result is a packing, so the bound
// holds; operands without fixed registers whose sizes are powers of two and equal to their alignments pack without loss.
#include <algorithm>
#include <bitset>
#include <vector>

#include "generate/generator.h"

namespace regduel::generate {
namespace {

using ir::Operand;
using ir::PReg;
using ir::RegFile;
using ir::VRegId;

using Units = std::bitset<ir::kMaxUnits + 32>;

// One thing that needs a home: all reads of one root share one, unless fixed registers force several.
struct Item {
  VRegId root;
  PReg fixed;
  int units = 1, alignment = 1;
  bool at_reads = false, at_writes = false;
  bool avoids_clobbers = false;  // a def of a part keeps bytes that a clobber would destroy
  std::size_t number = 0;        // in order of mention
};

class Packer {
 public:
  Packer(const ir::Function& f, const ir::Target& target) : f_(f), target_(target) {
    const bool entry_preds = std::any_of(f.targets.begin(), f.targets.end(), [](ir::BlockId b) { return b.value == 0; });
    const ir::Abi& abi = target.abi(f.abi);
    for (const PReg r : abi.callee_saved)
      if (f.kind == ir::FunctionKind::Device && (entry_preds || (abi.memory_through_r && r.file != RegFile::R))) kept_.push_back(r);
    for (const ir::VReg& v : f.vregs)
      if (v.is_architectural()) kept_.push_back(v.fixed);
  }

  ir::PerFile<int> run() {
    for (const ir::Inst& i : f_.insts) {
      if (i.is_phi()) {
        for (const Operand& o : f_.operands_of(i)) single(o);
      } else {
        instruction(i);
      }
    }
    return bound_;
  }

 private:
  void raise(RegFile file, int units) { bound_[ir::index(file)] = std::max(bound_[ir::index(file)], units); }

  // An architectural vreg has its register anyway.
  [[nodiscard]] bool needs_home(const Operand& o) const { return o.is_vreg() && !f_.vreg(f_.root(o.vreg())).is_architectural(); }

  void single(const Operand& o) {
    if (!needs_home(o)) return;
    items_.clear();
    const VRegId root = f_.root(o.vreg());
    items_.push_back({root, f_.fixed_of(o), f_.vreg(root).units(), f_.vreg(root).alignment(), true, true, false});
    pack({});
  }

  Item& item_of(VRegId root, PReg fixed) {
    for (Item& i : items_)
      if (i.root == root && i.at_reads && (i.fixed == fixed || !fixed.is_valid())) return i;
    items_.push_back({root, fixed, f_.vreg(root).units(), f_.vreg(root).alignment(), true, false, false});
    return items_.back();
  }

  void instruction(const ir::Inst& i) {
    items_.clear();
    const auto ops = f_.operands_of(i);
    const bool guarded = ir::is_guarded(ops);
    // Fixed reads first, so that the free reads of the same root join them.
    for (const bool fixed : {true, false})
      for (const Operand& o : ops)
        if (needs_home(o) && o.reads() && f_.fixed_of(o).is_valid() == fixed) item_of(f_.root(o.vreg()), f_.fixed_of(o));
    for (const Operand& o : ops) {
      if (!needs_home(o) || !o.writes()) continue;
      const ir::Storage s = f_.storage(o);
      const ir::VReg& reg = f_.vreg(s.root);
      const PReg fixed = f_.fixed_of(o);
      const bool part = s.size != reg.bytes();
      if (o.is_tied()) {
        const Operand& use = ops[o.tied];
        Item& item = item_of(f_.root(use.vreg()), f_.fixed_of(use));
        item.at_writes = true;
        item.alignment = std::max(item.alignment, reg.alignment());
        if (fixed.is_valid()) item.fixed = fixed;
      } else if (guarded || part || o.role == ir::Role::DefUse) {
        Item& item = item_of(s.root, fixed);
        item.at_writes = true;
        item.avoids_clobbers = item.avoids_clobbers || part;
        if (fixed.is_valid()) item.fixed = fixed;
      } else {
        items_.push_back({s.root, fixed, reg.units(), reg.alignment(), o.is_early_clobber(), true, false});
      }
    }
    pack(ops);
  }

  void pack(std::span<const Operand> ops) {
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i].number = i;
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      if (a.fixed.is_valid() != b.fixed.is_valid()) return a.fixed.is_valid();
      const bool both_a = a.at_reads && a.at_writes, both_b = b.at_reads && b.at_writes;
      if (both_a != both_b) return both_a;
      if (a.alignment != b.alignment) return a.alignment > b.alignment;
      if (a.units != b.units) return a.units > b.units;
      return a.number < b.number;
    });
    for (const RegFile file : ir::kAllFiles) {
      if (std::none_of(items_.begin(), items_.end(), [&](const Item& i) { return f_.vreg(i.root).file() == file; })) continue;
      Units reads, writes, closed, clobbered;
      for (const PReg r : target_.reserved) set(closed, r, file);
      for (const PReg r : target_.abi(f_.abi).reserved) set(closed, r, file);
      for (const PReg r : kept_) set(closed, r, file);
      for (const Operand& o : ops)
        if (o.role == ir::Role::Clobber) set(clobbered, o.preg(), file);
      for (const Item& i : items_) {
        if (f_.vreg(i.root).file() != file) continue;
        int first = i.fixed.is_valid() ? i.fixed.begin() : 0;
        while (!i.fixed.is_valid() && first + i.units <= ir::kMaxUnits && !is_free(i, first, reads, writes, closed, clobbered))
          first += i.alignment;
        for (int u = first; u < first + i.units && u < ir::kMaxUnits; ++u) {
          if (i.at_reads) reads.set(static_cast<std::size_t>(u));
          if (i.at_writes) writes.set(static_cast<std::size_t>(u));
        }
        raise(file, first + i.units);
      }
    }
  }

  static void set(Units& units, PReg r, RegFile file) {
    if (r.file == file)
      for (int u = r.begin(); u < r.end(); ++u) units.set(static_cast<std::size_t>(u));
  }
  static bool is_free(const Item& i, int first, const Units& reads, const Units& writes, const Units& closed,
                      const Units& clobbered) {
    for (int unit = first; unit < first + i.units; ++unit) {
      const auto u = static_cast<std::size_t>(unit);
      if (closed[u] || (i.at_reads && reads[u]) || (i.at_writes && writes[u]) || (i.avoids_clobbers && clobbered[u])) return false;
    }
    return true;
  }

  const ir::Function& f_;
  const ir::Target& target_;
  std::vector<PReg> kept_;  // offered to nobody, for one reason or another
  std::vector<Item> items_;
  ir::PerFile<int> bound_ = {};
};

}  // namespace

ir::PerFile<int> demand_bound(const ir::Function& f, const ir::Target& target) { return Packer(f, target).run(); }

}  // namespace regduel::generate
