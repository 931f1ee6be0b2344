// See preallocation.h.

#include "allocator/classic/preallocation.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "allocator/program/names.h"

namespace regduel::allocator {
namespace {

enum class Rule : std::uint8_t { None, All, Named, Pack, Unpack, Condition, Tied };

constexpr Rule rule_of(Op op) {
  switch (op) {
    case Op::Named:
    case Op::Remat: return Rule::Named;
    case Op::Copy:
    case Op::Call:
    case Op::Ret: return Rule::All;
    case Op::Pack: return Rule::Pack;
    case Op::Unpack: return Rule::Unpack;
    case Op::CBra:
    case Op::MBra: return Rule::Condition;
    case Op::P2R:
    case Op::R2P:
    case Op::BitSpill:
    case Op::BitRefill: return Rule::Tied;
    case Op::Phi:
    case Op::Const:
    case Op::Exit:
    case Op::Bra:
    case Op::Bar:
    case Op::Spill:
    case Op::Refill:
    case Op::GetLocalBase:
    case Op::SetLocalBase:
    case Op::AddressMov:
    case Op::AddressAdd:
    case Op::AddressMad:
    case Op::AddressShl:
    case Op::AddressAnd:
    case Op::SkipBra:
    case Op::StoreLocal:
    case Op::LoadLocal:
    case Op::StoreShared:
    case Op::LoadShared: return Rule::None;
  }
  return Rule::None;
}

// Whether an instruction both reads and writes a vreg: lowering has made the two sides of a tie one vreg.
bool is_tied(std::span<const Operand> ops, VRegId v) {
  bool is_read = false, is_written = false;
  for (const Operand& op : ops) {
    if (!op.is_vreg() || op.role == Role::Guard || op.vreg() != v) continue;
    is_read = is_read || op.reads();
    is_written = is_written || op.writes();
  }
  return is_read && is_written;
}

class Preallocation {
 public:
  Preallocation(const FileAllocator& allocator, const PreallocationOptions& options)
      : a_(allocator), round_(allocator.round()), f_(round_.lowered.f), options_(options), occupancy_(allocator.base()) {}

  Candidates run() {
    find_defs();
    for (const VRegId v : a_.vregs()) hold_precoloured(v);
    for (at_ = 0; at_ < round_.live.num_numbered(); ++at_) propose_operands(f_.insts[round_.live.inst_at(at_)]);
    return std::move(result_);
  }

 private:
  static constexpr std::uint16_t kNoDef = 0xFFFF;  // an instruction has at most that many operands
  struct Def {
    std::uint32_t inst = 0;  // its number
    std::uint16_t operand = kNoDef;
  };

  void find_defs() {
    defs_.assign(f_.vregs.size(), {});
    for (std::uint32_t n = 0; n < round_.live.num_numbered(); ++n) {
      const auto ops = f_.operands_of(f_.insts[round_.live.inst_at(n)]);
      for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k) {
        if (!ops[k].is_vreg()) continue;
        Def& def = defs_[ops[k].vreg().index()];
        if (def.operand == kNoDef) def = {n, static_cast<std::uint16_t>(k)};
      }
    }
  }
  void hold_precoloured(VRegId v) {
    const ir::PReg r = f_.vreg(v).fixed;
    if (!r.is_valid() || occupancy_.conflicts(range(v)).has_any(r.begin(), r.end())) return;
    occupancy_.mark(range(v), r.begin(), r.end());
    used_.set_range(r.begin(), r.end());
  }

  void propose_operands(const Inst& inst) {
    find_qualifying(f_, inst, options_.priority, qualifying_);
    const auto ops = f_.operands_of(inst);
    for (const std::uint16_t k : qualifying_) {
      const int why = (ops[k].reads() ? 1 : 0) | (ops[k].writes() ? 2 : 0);
      propose(ops[k].vreg(), {static_cast<std::uint8_t>(why), 0}, std::nullopt);
    }
  }

  [[nodiscard]] std::span<const Interval> range(VRegId v) const { return round_.live.range(v.index()); }
  [[nodiscard]] bool is_eligible(VRegId v) const {
    const ir::VReg& vreg = f_.vreg(v);
    return vreg.file() == a_.file() && !vreg.is_architectural() && !vreg.fixed.is_valid() && !range(v).empty();
  }

  //   wanted   a first unit to try before any other; it may be no unit at all
  void propose(VRegId v, Candidate c, std::optional<int> wanted) {
    if (!is_eligible(v) || !result_.propose(v, c)) return;
    if (!place_class(v, c, wanted)) place(v, wanted);
    const auto home = result_.home_of(v);
    if (!home || c.depth == kMaxDepth) return;
    propose_dependents(v, *home, {c.priority, static_cast<std::uint8_t>(c.depth + 1)});
  }

  void place(VRegId v, std::optional<int> wanted) {
    const VRegId members[] = {v};
    const auto home = find_home(members, range(v), geometry_of(f_.vreg(v)), wanted);
    if (!home) return result_.overflow(v, at_);
    if (ir::may(round_.fuel, "preallocate")) take(members, range(v), *home);
  }
  // A home for all members of a class none of which was proposed before. False if there is none.
  bool place_class(VRegId v, Candidate c, std::optional<int> wanted) {
    if (!options_.follows_classes || a_.classes().of(v) == CoalescedClasses::kNone) return false;
    const CoalescedClass& together = a_.classes().all()[a_.classes().of(v)];
    const auto is_taken = [&](VRegId m) { return m != v && result_.candidates().find(m.value) != nullptr; };
    if (together.fixed.is_valid() || std::any_of(together.members.begin(), together.members.end(), is_taken)) return false;
    Geometry geometry = geometry_of(f_.vreg(v));
    geometry.align = 1 << together.align_log2;
    const auto home = find_home(together.members, together.range, geometry, wanted);
    if (!home || !ir::may(round_.fuel, "preallocate")) return false;
    for (const VRegId m : together.members) result_.propose(m, c);
    take(together.members, together.range, *home);
    return true;
  }
  void take(std::span<const VRegId> members, std::span<const Interval> live, int home) {
    const int end = home + f_.vreg(members[0]).units();
    occupancy_.mark(live, home, end);
    used_.set_range(home, end);
    for (const VRegId m : members) result_.decide(m, home);
  }

  std::optional<int> find_home(std::span<const VRegId> members, std::span<const Interval> live, const Geometry& geometry,
                               std::optional<int> wanted) {
    const UnitSet taken = occupancy_.conflicts(live);
    const auto is_free = [&](int home, const UnitSet& conflicts) {
      return home >= 0 && home % geometry.step() == 0 && home + geometry.units <= a_.limit() &&
             !a_.not_allocatable().has_any(home, home + geometry.units) && !conflicts.has_any(home, home + geometry.units);
    };
    if (wanted && is_free(*wanted, taken)) return wanted;
    find_partners(members);
    for (const auto& [weight, home] : partners_)
      if (is_free(home, taken)) return home;
    const UnitSet unsaved = taken | (a_.callee_saved() - used_);
    for (const UnitSet* conflicts : {&unsaved, &taken})
      for (int home = 0; home + geometry.units <= a_.limit(); home += geometry.step())
        if (is_free(home, *conflicts)) return home;
    return std::nullopt;
  }
  // Places of the partners of copies, ties and hints: heaviest first, then the lowest.
  void find_partners(std::span<const VRegId> members) {
    homes_.clear();
    for (const VRegId m : members)
      for (const Constraint& c : round_.constraints.of(m)) {
        if (c.type != ConstraintType::Range || !c.partner.is_valid()) continue;
        const ir::PReg fixed = f_.vreg(c.partner).fixed;
        const auto home = fixed.is_valid() ? std::optional<int>(fixed.begin()) : result_.home_of(c.partner);
        if (home) homes_.push_back({*home + c.unit, c.weight});
      }
    std::sort(homes_.begin(), homes_.end());
    partners_.clear();
    for (const auto& [home, weight] : homes_) {
      if (partners_.empty() || std::get<1>(partners_.back()) != home) partners_.push_back({0, home});
      std::get<0>(partners_.back()) -= weight;  // negative: the heaviest come first
    }
    std::sort(partners_.begin(), partners_.end());
  }

  void propose_dependents(VRegId v, int home, Candidate c) {
    const Def def = defs_[v.index()];
    if (def.operand != kNoDef) propose_of_def(f_.insts[round_.live.inst_at(def.inst)], def.operand, home, c);
    if (!options_.follows_classes) return;
    for (const Constraint& other : round_.constraints.of(v))
      if (other.type == ConstraintType::Range && other.partner.is_valid()) propose(other.partner, c, home - other.unit);
  }
  // Other operands of the instruction whose operand k has its vreg at `home`.
  void propose_of_def(const Inst& inst, std::size_t k, int home, Candidate c) {
    const auto ops = f_.operands_of(inst);
    const int unit = ir::unit_bytes(a_.file());
    // Where the first byte of an operand stands in the file.
    const auto first_byte = [&](const Operand& op, int its_home) { return its_home * unit + f_.storage(op).offset; };
    const auto propose_at = [&](const Operand& op, int byte) {
      if (!op.is_vreg()) return;
      const int root_byte = byte - f_.storage(op).offset;
      propose(op.vreg(), c, root_byte >= 0 && root_byte % unit == 0 ? std::optional<int>(root_byte / unit) : std::nullopt);
    };
    if (inst.op == Op::Copy) {
      propose_at(ir::copy_pairs(ops)[k].use, first_byte(ops[k], home));
    } else if (ir::moves_pieces(inst.op)) {
      const bool is_pack = inst.op == Op::Pack;
      const std::size_t tuple = is_pack ? 0 : ir::defs_of(ops).size();
      const std::size_t first = is_pack ? 1 : 0, end = is_pack ? ir::uses_of(ops).size() + 1 : tuple;
      int byte = first_byte(ops[k], home);
      for (std::size_t p = first; p < k && !is_pack; ++p) byte -= f_.operand_bytes(ops[p]);
      if (!is_pack) propose_at(ops[tuple], byte);
      for (std::size_t p = first; p < end; ++p) {
        if (p != k) propose_at(ops[p], byte);
        byte += f_.operand_bytes(ops[p]);
      }
    }
  }
  const FileAllocator& a_;
  const Round& round_;
  const Function& f_;
  const PreallocationOptions& options_;
  Occupancy occupancy_;
  UnitSet used_;
  std::vector<Def> defs_;  // by vreg: where it is first written, in reverse postorder
  std::uint32_t at_ = 0;   // the instruction that is scanned
  std::vector<std::uint16_t> qualifying_;
  std::vector<std::tuple<int, int>> homes_;     // first unit, weight
  std::vector<std::tuple<int, int>> partners_;  // weight, negative; first unit
  Candidates result_;
};

}  // namespace

bool is_preallocated(ir::RegFile file, AllocationMode mode, const PreallocationOptions& options) {
  if (!options.is_enabled || mode == AllocationMode::Plain || ir::is_barrier(file)) return false;
  return options.does_uniform_files || (file != ir::RegFile::UR && file != ir::RegFile::UP);
}

void find_qualifying(const Function& f, const Inst& inst, int priority, std::vector<std::uint16_t>& out) {
  out.clear();
  const Rule rule = rule_of(inst.op);
  if (rule == Rule::None || inst.is_deleted()) return;
  const auto ops = f.operands_of(inst);
  const bool is_memory = inst.has(ir::kMemRead) || inst.has(ir::kMemWrite);
  const bool is_plain = rule == Rule::Named && !is_memory;
  const auto consider = [&](std::size_t k) {
    const Operand& op = ops[k];
    if (!op.is_vreg() || op.role == Role::Guard) return;
    if (!((priority & 1) != 0 && op.reads()) && !((priority & 2) != 0 && op.writes())) return;
    if (is_plain && f.vreg(op.vreg()).units() == 1 && !is_tied(ops, op.vreg())) return;
    if (rule == Rule::Tied && op.role != Role::DefUse) return;
    out.push_back(static_cast<std::uint16_t>(k));
  };
  if (rule == Rule::Pack) {
    for (std::size_t k = 0; k < ops.size(); ++k) consider(k);
  } else if (rule == Rule::Unpack) {
    for (std::size_t k = ops.size(); k-- > 0;)
      if (ops[k].role == Role::Use) consider(k);
    for (std::size_t k = 0; k < ops.size() && ops[k].writes(); ++k) consider(k);
  } else {
    for (std::size_t k = ops.size(); k-- > 0;) consider(k);
  }
}

Candidates preallocate(const FileAllocator& allocator, AllocationMode mode, const PreallocationOptions& options) {
  if (!is_preallocated(allocator.file(), mode, options)) return {};
  return Preallocation(allocator, options).run();
}

}  // namespace regduel::allocator
