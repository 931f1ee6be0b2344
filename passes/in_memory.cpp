#include "passes/in_memory.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "ir/memory_through_r.h"

namespace regduel::passes {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::PReg;
using ir::Role;
using ir::SlotId;
using ir::VRegId;

using Units = ir::PerFile<std::bitset<ir::kMaxUnits>>;

// One root in one register at one instruction.
struct Item {
  VRegId root;
  PReg home;  // from the start where it is fixed
  bool reads = false, writes = false;
  bool keeps = false;  // of what was there before, and so not in a clobbered register
  VRegId written;      // what its register holds afterwards: another root than `root` where a def is tied to a use
};

class InMemory {
 public:
  InMemory(const Function& in, const ir::Target& target)
      : in_(in), out_(in.clone_header()), through_r_(ir::reaches_memory_through_r(in, target, ir::Limits::of(target))) {
    out_.phase = ir::Phase::Allocated;
    next_ = in.next_inst_id().value;
    const ir::Limits limits = ir::Limits::of(target);
    for (const ir::RegFile file : ir::kAllFiles)
      for (int unit = 0; unit < ir::kMaxUnits; ++unit)
        closed_[ir::index(file)][static_cast<std::size_t>(unit)] = !ir::is_allocatable(target, in.abi, limits, file, unit);
    if (in.kind == ir::FunctionKind::Device) {
      for (const PReg r : target.abi(in.abi).callee_saved) mark(closed_, r);
      find_saves(target.abi(in.abi).callee_saved);
    }
    for (const ir::VReg& v : in.vregs)
      if (v.is_architectural()) mark(closed_, v.fixed);
    slot_of_.resize(in.vregs.size());
  }

  std::expected<Function, std::string> run() {
    const bool enters_again = std::any_of(in_.targets.begin(), in_.targets.end(), [](BlockId to) { return to.value == 0; });
    if (!saves_.empty() && enters_again) return std::unexpected("b0: callee-saved registers cannot be saved where a loop begins");
    for (std::size_t b = 0; b < in_.blocks.size(); ++b) {
      out_.begin_block(in_.blocks[b]);
      if (b == 0)
        for (const auto& [unit, slot] : saves_) spill(unit, slot);
      for (const Inst& i : in_.insts_of(BlockId(b))) {
        if (i.op == Op::Ret)
          for (const auto& [unit, slot] : saves_) refill(unit, slot);
        if (i.is_phi()) phi(i);
        else if (!instruction(BlockId(b), i))
          return std::unexpected(fmt::format("#{}: its operands find no registers", i.id.value));
      }
    }
    for (const auto& [from, to] : edges_)
      if (!edge(from, to)) return std::unexpected(fmt::format("b{}: no register to move the values of its phis", to.value));
    return std::move(out_);
  }

 private:
  static void mark(Units& units, PReg r) {
    for (int u = r.begin(); u < r.end(); ++u) units[ir::index(r.file)].set(static_cast<std::size_t>(u));
  }
  static bool meets(const Units& units, PReg r) {
    for (int u = r.begin(); u < r.end(); ++u)
      if (units[ir::index(r.file)][static_cast<std::size_t>(u)]) return true;
    return false;
  }
  // Callee-saved registers in which an operand is fixed: saved at the entry, restored before each ret.
  void find_saves(std::span<const PReg> callee_saved) {
    Units kept = {}, fixed = {};
    for (const PReg r : callee_saved) mark(kept, r);
    for (const Inst& i : in_.insts)
      for (const Operand& op : in_.operands_of(i))
        if (op.is_vreg() && !is_architectural(in_.root(op.vreg())) && in_.fixed_of(op).is_valid()) mark(fixed, in_.fixed_of(op));
    for (const ir::RegFile file : ir::kAllFiles)
      for (std::size_t u = 0; u < ir::kMaxUnits; ++u)
        if (kept[ir::index(file)][u] && fixed[ir::index(file)][u])
          saves_.emplace_back(PReg{file, 1, static_cast<std::uint16_t>(u)},
                              new_slot(static_cast<std::uint32_t>(ir::unit_bytes(file))));
  }
  [[nodiscard]] bool is_architectural(VRegId root) const { return in_.vreg(root).is_architectural(); }

  // --- slots
  SlotId new_slot(std::uint32_t bytes) {
    const std::uint32_t align = std::clamp(std::bit_ceil(bytes), 4u, 16u), offset = (out_.local_frame + align - 1) / align * align;
    out_.local_frame = offset + (bytes + 3) / 4 * 4;
    return out_.add_slot({ir::MemSpace::Local, bytes, align, offset});
  }
  SlotId slot_of(VRegId root) {
    SlotId& slot = slot_of_[root.index()];
    if (!slot.is_valid())
      slot =
          new_slot(static_cast<std::uint32_t>(in_.vreg(root).units() * (through_r_ ? 4 : ir::unit_bytes(in_.vreg(root).file()))));
    return slot;
  }
  void insert(Op op, std::span<const Operand> ops, std::span<const BlockId> targets = {}) {
    Inst i;
    i.id = ir::InstId(next_++);
    i.op = op;
    i.flags = ir::kInserted;
    out_.append(i, ops, targets);
  }
  void refill(PReg to, SlotId from) { access(Op::Refill, Operand::of_preg(Role::Def, to), Operand::of_slot(from)); }
  void spill(PReg from, SlotId to) { access(Op::Spill, Operand::of_preg(Role::Use, from), Operand::of_slot(to)); }
  // A spill or a refill; where the ABI wants it, what is not in R goes word by word through a register that is free.
  void access(Op op, Operand reg, Operand slot) {
    const PReg r = reg.preg();
    const auto memory = [&](Operand in_r, std::uint32_t at) {
      slot.set_slot(slot.slot(), at);
      const Operand ops[] = {in_r, slot};
      insert(op, ops);
    };
    if (!through_r_ || r.file == ir::RegFile::R) return memory(reg, slot.slot_offset());
    const PReg free = free_register();
    const bool is_spill = op == Op::Spill;
    const Operand pack = Operand::of_preg(Role::DefUse, free), whole = Operand::of_preg(is_spill ? Role::Use : Role::Def, free);
    if (ir::is_predicate(r.file)) {
      if (!is_spill) memory(whole, slot.slot_offset());
      const Operand to[] = {pack, reg, Operand::of_imm(0)}, from[] = {reg, Operand::of_preg(Role::Use, free), Operand::of_imm(0)};
      is_spill ? insert(Op::BitSpill, to) : insert(Op::BitRefill, from);
      if (is_spill) memory(whole, slot.slot_offset());
      return;
    }
    const std::uint32_t at = slot.slot_offset();
    for (int u = 0; u < r.count; ++u) {
      Operand word = reg, in_r = Operand::of_preg(is_spill ? Role::Def : Role::Use, free, reg.part);
      word.set_preg({r.file, 1, static_cast<std::uint16_t>(r.first + u)});
      Operand in_memory = in_r;
      in_memory.role = reg.role;
      if (!is_spill) memory(in_memory, at + static_cast<std::uint32_t>(4 * u));
      const Operand copy[] = {is_spill ? in_r : word, is_spill ? word : in_r};
      insert(Op::Copy, copy);
      if (is_spill) memory(in_memory, at + static_cast<std::uint32_t>(4 * u));
    }
  }
  // One of R in which no operand of the instruction at hand stands.
  [[nodiscard]] PReg free_register() const {
    Units taken = closed_;
    for (const Item& i : items_) mark(taken, i.home);
    PReg r{ir::RegFile::R, 1, 0};
    while (r.first + 1 < ir::kMaxUnits && meets(taken, r)) ++r.first;
    return r;
  }

  // --- registers of one instruction
  Item& item(VRegId root, PReg fixed, bool may_share) {
    for (Item& i : items_)
      if (may_share && i.root == root && !i.written.is_valid() && i.reads && (!fixed.is_valid() || i.home == fixed)) return i;
    Item i;
    i.root = root;
    i.home = fixed;
    return items_.emplace_back(i);
  }
  // Fixed ones first: what is free to do so joins them.
  void list_items(std::span<const Operand> ops) {
    items_.clear();
    item_of_.assign(ops.size(), kNoItem);
    const bool guarded = ir::is_guarded(ops);
    const auto add = [&](std::size_t k, PReg fixed) {
      const Operand& op = ops[k];
      const ir::Storage s = in_.storage(op);
      const bool keeps = op.role == Role::DefUse || (op.writes() && (guarded || !in_.is_whole(s)));
      Item& i = item(s.root, fixed, op.reads() || keeps);
      i.reads = i.reads || op.reads() || keeps || op.is_early_clobber();
      i.keeps = i.keeps || (op.role != Role::DefUse && keeps);
      if (op.writes()) i.writes = true;
      item_of_[k] = static_cast<std::size_t>(&i - items_.data());
    };
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_tied()) continue;
      const std::size_t use = ops[k].tied;
      const PReg own = in_.fixed_of(ops[k]);
      Item i;
      i.root = in_.root(ops[use].vreg());
      i.written = in_.root(ops[k].vreg());
      i.home = own.is_valid() ? own : in_.fixed_of(ops[use]);
      i.reads = i.writes = true;
      item_of_[k] = item_of_[use] = items_.size();
      items_.push_back(i);
    }
    for (const bool is_fixed : {true, false})
      for (std::size_t k = 0; k < ops.size(); ++k)
        if (ops[k].is_vreg() && item_of_[k] == kNoItem && in_.fixed_of(ops[k]).is_valid() == is_fixed) add(k, in_.fixed_of(ops[k]));
  }
  bool place_items(std::span<const Operand> ops) {
    Units at_reads = closed_, at_writes = closed_, clobbered = {};
    for (const Operand& op : ops)
      if (op.role == Role::Clobber) mark(clobbered, op.preg());
    const auto take = [&](const Item& i) {
      if (i.reads) mark(at_reads, i.home);
      if (i.writes) mark(at_writes, i.home);
    };
    std::vector<Item*> open;
    for (Item& i : items_)
      if (i.home.is_valid()) take(i);
      else open.push_back(&i);
    std::stable_sort(open.begin(), open.end(), [&](const Item* a, const Item* b) {
      const ir::VReg &x = in_.vreg(a->root), &y = in_.vreg(b->root);
      return std::pair(x.alignment(), x.units()) > std::pair(y.alignment(), y.units());
    });
    for (Item* i : open) {
      const ir::VReg& v = in_.vreg(i->root);
      const int step = i->written.is_valid() ? std::max(v.alignment(), in_.vreg(i->written).alignment()) : v.alignment();
      PReg r{v.file(), static_cast<std::uint8_t>(v.units()), 0};
      for (; r.end() <= ir::kMaxUnits; r.first = static_cast<std::uint16_t>(r.first + step))
        if (!(i->reads && meets(at_reads, r)) && !(i->writes && meets(at_writes, r)) && !(i->keeps && meets(clobbered, r))) break;
      if (r.end() > ir::kMaxUnits) return false;
      i->home = r;
      take(*i);
    }
    return true;
  }

  // --- instructions
  bool instruction(BlockId b, const Inst& i) {
    const auto ops = in_.operands_of(i);
    list_items(ops);
    if (!place_items(ops)) return false;
    for (const Item& item : items_)
      if (item.reads && !is_architectural(item.root)) refill(item.home, slot_of(item.root));
    placed_.clear();
    for (std::size_t k = 0; k < ops.size(); ++k)
      placed_.push_back(ops[k].is_vreg() ? in_.placed_at(ops[k], items_[item_of_[k]].home) : ops[k]);
    targets_.assign(in_.targets_of(i).begin(), in_.targets_of(i).end());
    for (BlockId& t : targets_)
      if (in_.insts_of(t)[0].is_phi()) t = edge_block(b, t);
    out_.append(i, placed_, targets_);
    for (const Item& item : items_) {
      const VRegId written = item.written.is_valid() ? item.written : item.root;
      if (item.writes && !is_architectural(written)) spill(item.home, slot_of(written));
    }
    return true;
  }
  void phi(Inst i) {
    i.flags |= ir::kDeleted;
    out_.append(i, {});
  }
  // The block on the edge, noted where it is new: those of one `from` follow each other.
  BlockId edge_block(BlockId from, BlockId to) {
    for (std::size_t n = edges_.size(); n > 0 && edges_[n - 1].first == from; --n)
      if (edges_[n - 1].second == to) return BlockId(in_.blocks.size() + n - 1);
    edges_.emplace_back(from, to);
    return BlockId(in_.blocks.size() + edges_.size() - 1);
  }
  // All phis of a block at once: first everything into slots that wait, then from there.
  bool edge(BlockId from, BlockId to) {
    ir::Block attributes;
    attributes.edge_from = from;
    attributes.edge_to = to;
    out_.begin_block(attributes);
    for (const bool arrives : {false, true}) {
      std::size_t n = 0;
      for (const Inst& i : in_.phis_of(to)) {
        if (waiting_.size() == n) waiting_.push_back(new_slot(32));
        if (!move(in_.operands_of(i)[arrives ? 0 : in_.phi_use_from(i, from)], waiting_[n++], arrives)) return false;
      }
    }
    insert(Op::Bra, {}, {&to, 1});
    return true;
  }
  // From where an operand lives to the slot that waits; where it `arrives`, the other way.
  bool move(const Operand& op, SlotId waiting, bool arrives) {
    const ir::Storage s = in_.storage(op);
    const ir::VReg& root = in_.vreg(s.root);
    const int unit = ir::unit_bytes(root.file());
    Operand reg = Operand::of_preg(Role::Def, root.fixed);
    if (is_architectural(s.root)) {
      reg = in_.placed_at(op, root.fixed);
    } else {
      PReg r{root.file(), static_cast<std::uint8_t>((s.size + unit - 1) / unit), 0};
      while (r.end() <= ir::kMaxUnits && meets(closed_, r)) r.first = static_cast<std::uint16_t>(r.first + root.alignment());
      if (r.end() > ir::kMaxUnits) return false;
      reg = Operand::of_preg(Role::Def, r, s.size < unit ? ir::Part::from_bytes(0, s.size).value() : ir::Part());
    }
    const bool needs_refill = arrives || !is_architectural(s.root), needs_spill = !arrives || !is_architectural(s.root);
    const Operand home = is_architectural(s.root) ? Operand() : Operand::of_slot(slot_of(s.root), s.offset);
    const Operand wait = Operand::of_slot(waiting);
    reg.role = Role::Def;
    const Operand in[] = {reg, arrives ? wait : home};
    if (needs_refill) access(Op::Refill, in[0], in[1]);
    reg.role = Role::Use;
    const Operand out[] = {reg, arrives ? home : wait};
    if (needs_spill) access(Op::Spill, out[0], out[1]);
    return true;
  }

  static constexpr std::size_t kNoItem = ~std::size_t{0};

  const Function& in_;
  Function out_;
  std::uint32_t next_ = 0;  // instruction id
  Units closed_ = {};       // where nothing may stand
  bool through_r_;
  std::vector<SlotId> slot_of_;
  std::vector<std::pair<PReg, SlotId>> saves_;
  std::vector<SlotId> waiting_;                     // by phi of a block
  std::vector<std::pair<BlockId, BlockId>> edges_;  // with an edge block each, in the order of their numbers
  // Of the instruction at hand.
  std::vector<Item> items_;
  std::vector<std::size_t> item_of_;  // by operand
  std::vector<Operand> placed_;
  std::vector<BlockId> targets_;
};

}  // namespace

std::expected<Function, std::string> allocate_in_memory(const Function& program, const ir::Target& target) {
  return InMemory(program, target).run();
}

}  // namespace regduel::passes
