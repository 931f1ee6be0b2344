#include "reference/instruction/shape.h"

#include <algorithm>

#include "base/planted.h"

namespace regduel::reference {
namespace {

class Builder {
 public:
  Builder(const ir::Function& f, const ir::Inst& inst, Shape& shape)
      : f_(f), inst_(inst), ops_(f.operands_of(inst)), shape_(shape) {}

  void build() {
    shape_.item_of.assign(ops_.size(), -1);
    bool has_ties = false;
    for (const ir::Operand& op : ops_) {
      if (op.role == ir::Role::Guard) shape_.is_guarded = true;
      if (op.role == ir::Role::Clobber) clobber(op.preg());
      has_ties = has_ties || (op.is_vreg() && op.is_tied());
    }
    if (has_ties)
      for (std::size_t k = 0; k < ops_.size(); ++k)
        if (ops_[k].is_vreg() && ops_[k].is_tied()) tie(k);
    for (std::size_t k = 0; k < ops_.size(); ++k)
      if (open(k) && ops_[k].writes()) write(k);
    for (std::size_t k = 0; k < ops_.size(); ++k)
      if (open(k)) use(k);
    for (const std::size_t k : free_uses_) free_use(k);
    finish();
  }

 private:
  [[nodiscard]] bool open(std::size_t k) const { return ops_[k].is_vreg() && shape_.item_of[k] < 0; }

  void clobber(ir::PReg r) {
    if (!clobbers_) shape_.clobbers = clobbers_ = std::make_shared<ir::PerFile<UnitSet>>();
    (*clobbers_)[ir::index(r.file)] |= units_of(r);
  }

  void finish() {
    shape_.is_simple = !inst_.is_copy();
    find_bytes();
    for (Item& item : shape_.items) {
      if (item.fixed.is_valid() || item.moves()) shape_.is_simple = false;
      unsigned flags = 0;
      if (item.read_root.is_valid() && !item.reads_only_old_bytes) flags |= kReads;
      if (item.at_writes) flags |= kWrites;
      if (item.at_reads) flags |= kAtReads;
      if (item.partial) flags |= kPartial;
      if (item.at_writes && !shape_.is_guarded) flags |= item.partial ? kKillsBytes : kKills | kKillsBytes;
      if (REGDUEL_PLANTED("briggs-guarded-def-kills") && item.at_writes && !item.partial) flags |= kKills | kKillsBytes;
      item.ref_flags = static_cast<std::uint8_t>(flags);
    }
  }

  void find_bytes() {
    for (std::size_t k = 0; k < ops_.size(); ++k)
      if (shape_.item_of[k] >= 0 && !f_.is_whole(ops_[k]))
        shape_.items[static_cast<std::size_t>(shape_.item_of[k])].has_parts = true;
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      if (shape_.item_of[k] < 0) continue;
      Item& item = shape_.items[static_cast<std::size_t>(shape_.item_of[k])];
      if (!item.has_parts) continue;
      const ir::Storage s = f_.storage(ops_[k]);
      const ByteMask bytes = byte_mask(s.offset, s.size);
      // Where a guard does not hold, what is written elsewhere is what was there before.
      if (ops_[k].reads() || shape_.is_guarded) item.bytes.reads |= bytes;
      if (ops_[k].writes()) item.bytes.writes |= bytes;
    }
  }

  Item new_item(ir::VRegId root) const {
    const ir::VReg& v = f_.vreg(root);
    Item item;
    item.file = v.file();
    item.units = static_cast<std::uint8_t>(v.units());
    item.align_log2 = v.align_log2;
    item.architectural = v.is_architectural();
    return item;
  }
  void add(std::size_t k, const Item& item) {
    shape_.item_of[k] = static_cast<std::int32_t>(shape_.items.size());
    shape_.items.push_back(item);
  }

  void tie(std::size_t k) {
    const ir::Operand &def = ops_[k], &use = ops_[def.tied];
    Item item = new_item(f_.root(def.vreg()));
    item.write_root = f_.root(def.vreg());
    item.read_root = f_.root(use.vreg());
    item.align_log2 = std::max(item.align_log2, f_.vreg(item.read_root).align_log2);
    item.fixed = f_.fixed_of(def).is_valid() ? f_.fixed_of(def) : f_.fixed_of(use);
    item.at_reads = item.at_writes = true;
    add(k, item);
    shape_.item_of[def.tied] = shape_.item_of[k];
  }

  // All untied writes of one root are one item, because writes of its parts fill one home.
  void write(std::size_t k) {
    const ir::Operand& op = ops_[k];
    const ir::Storage s = f_.storage(op);
    const bool whole = f_.is_whole(s);
    std::size_t at = 0;
    while (at < shape_.items.size() && shape_.items[at].write_root != s.root) ++at;
    if (at == shape_.items.size()) {
      Item item = new_item(s.root);
      item.write_root = s.root;
      item.at_writes = true;
      item.reads_only_old_bytes = true;
      add(k, item);
    } else {
      shape_.item_of[k] = static_cast<std::int32_t>(at);
    }
    Item& item = shape_.items[at];
    if (const ir::PReg fixed = f_.fixed_of(op); fixed.is_valid()) item.fixed = fixed;
    item.early = item.early || op.is_early_clobber();
    item.partial = item.partial || !whole;
    bool may_keep = shape_.is_guarded;
    if (REGDUEL_PLANTED("briggs-guarded-def-kills")) may_keep = false;
    if (op.role == ir::Role::DefUse || may_keep || !whole) item.read_root = s.root;
    if (op.role == ir::Role::DefUse || may_keep) item.reads_only_old_bytes = false;
    item.at_reads = item.early || item.read_root.is_valid();
  }

  void join(std::size_t k, std::size_t item) {
    shape_.item_of[k] = static_cast<std::int32_t>(item);
    shape_.items[item].reads_only_old_bytes = false;
  }
  [[nodiscard]] bool can_join(const Item& item, ir::VRegId root) const { return item.read_root == root && !item.early; }

  // Fixed uses come before free ones, which may join them.
  void use(std::size_t k) {
    const ir::PReg fixed = f_.fixed_of(ops_[k]);
    if (fixed.is_valid()) fixed_use(k, fixed);
    else free_uses_.push_back(k);
  }
  void fixed_use(std::size_t k, ir::PReg fixed) {
    const ir::VRegId root = f_.root(ops_[k].vreg());
    for (std::size_t at = 0; at < shape_.items.size(); ++at)
      if (can_join(shape_.items[at], root) && shape_.items[at].fixed == fixed) return join(k, at);
    Item item = new_item(root);
    item.read_root = root;
    item.fixed = fixed;
    item.at_reads = true;
    add(k, item);
  }

  // A read without constraint costs nothing where the value is in some home already.
  void free_use(std::size_t k) {
    const ir::VRegId root = f_.root(ops_[k].vreg());
    for (std::size_t at = 0; at < shape_.items.size(); ++at)
      if (can_join(shape_.items[at], root) && shape_.items[at].write_root == root) return join(k, at);
    for (std::size_t at = 0; at < shape_.items.size(); ++at)
      if (can_join(shape_.items[at], root)) return join(k, at);
    Item item = new_item(root);
    item.read_root = root;
    item.at_reads = true;
    add(k, item);
  }

  const ir::Function& f_;
  const ir::Inst& inst_;
  std::span<const ir::Operand> ops_;
  Shape& shape_;
  boost::container::small_vector<std::size_t, 8> free_uses_;
  std::shared_ptr<ir::PerFile<UnitSet>> clobbers_;  // those of shape_
};

}  // namespace

void find_shape(const ir::Function& f, const ir::Inst& inst, Shape& shape) { Builder(f, inst, shape).build(); }

}  // namespace regduel::reference
