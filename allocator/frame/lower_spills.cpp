// See lower_spills.h.

#include "allocator/frame/lower_spills.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocator/program/names.h"
#include "allocator/program/point_limits.h"
#include "ir/cfg.h"
#include "ir/unit_set.h"

namespace regduel::allocator {
namespace {

using ir::UnitSet;

constexpr std::uint32_t kStride = ir::kSmemWordBytes;  // of both memories
constexpr int kStrideLog2 = 2;
constexpr std::uint32_t kFrameAlign = 16;  // where a callee's frame begins

bool moves_slot(const Inst& i) { return ir::is_slot_move(i.op) && !i.is_deleted(); }
bool has_spills(const Function& f) { return std::any_of(f.insts.begin(), f.insts.end(), moves_slot); }

void add_units(UnitSet& set, PReg r) {
  if (r.is_valid() && r.file == RegFile::R) set |= units_of(r);
}

// Units of file R that cannot hold addresses in any allocation: architectural registers, callee-saved registers of a device function,
// and registers that a terminator clobbers.
UnitSet spoken_for(const Function& f, const ir::Target& target) {
  UnitSet taken;
  for (const ir::VReg& v : f.vregs)
    if (v.is_architectural()) add_units(taken, v.fixed);
  if (f.kind == ir::FunctionKind::Device)
    for (const PReg r : target.abi(f.abi).callee_saved) add_units(taken, r);
  for (const Inst& i : f.insts)
    if (i.is_terminator())
      for (const Operand& op : f.operands_of(i))
        if (op.role == Role::Clobber) add_units(taken, op.preg());
  return taken;
}

// The target with the two highest registers of the limit that no operand is fixed to taken out; nullopt if there are not two.
std::optional<ir::Target> without_two_registers(const Function& program, const ir::Target& target, const ir::Limits& limits) {
  UnitSet taken = spoken_for(program, target);
  for (const ir::VReg& v : program.vregs) add_units(taken, v.fixed);
  for (const Operand& op : program.operands) add_units(taken, op.fixed());
  ir::Target result = target;
  int found = 0;
  for (int u = PointLimits(program, limits.of(RegFile::R)).least(); u-- > 0 && found < 2;)
    if (!taken.has(u) && ir::is_allocatable(target, program.abi, limits, RegFile::R, u)) {
      result.reserved.push_back({RegFile::R, 1, static_cast<std::uint16_t>(u)});
      ++found;
    }
  return found == 2 ? std::optional(std::move(result)) : std::nullopt;
}

class Lowering {
 public:
  Lowering(const Function& f, AddressRegisters r)
      : f_(f), r_(r), cfg_(f), out_(f.clone_header()), next_id_(f.next_inst_id().value) {
    for (const Inst& i : f.insts) uses_local_ = uses_local_ || (moves_slot(i) && slot_of(i).space == MemSpace::Local);
    const bool calls = std::any_of(f.insts.begin(), f.insts.end(), is_call);
    if (calls) out_.local_frame = (f.local_frame + kFrameAlign - 1) / kFrameAlign * kFrameAlign;
    uses_local_ = uses_local_ || (calls && f.local_frame > 0);
    phase_ = out_.symbols.intern(ir::kSmemPhaseSymbol);
    mask_ = out_.symbols.intern(ir::kSmemMaskSymbol);
  }

  Function run() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      out_.begin_block(f_.blocks[b]);
      // In an unreachable block the base is unknown.
      bool wants_base = uses_local_ && (b == 0 || !cfg_.is_reachable(BlockId(b)));
      for (const Inst& i : f_.insts_of(BlockId(b))) {
        if (wants_base && !i.is_phi()) {
          get_base();
          wants_base = false;
        }
        instruction(i);
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_call(const Inst& i) { return i.op == Op::Call && !i.is_deleted(); }
  [[nodiscard]] const ir::Slot& slot_of(const Inst& i) const { return f_.slots[f_.operands_of(i)[1].slot().index()]; }
  [[nodiscard]] static Operand reg(Role role, int unit) {
    return Operand::of_preg(role, {RegFile::R, 1, static_cast<std::uint16_t>(unit)});
  }
  static Operand number(std::int64_t n) { return Operand::of_imm(n); }

  void insert(Op op, std::initializer_list<Operand> ops) {
    Inst inst;
    inst.op = op;
    inst.id = ir::InstId(next_id_++);
    inst.flags = ir::kInserted;
    out_.append(inst, std::span(ops.begin(), ops.size()));
  }
  void get_base() { insert(Op::GetLocalBase, {reg(Role::Def, r_.base), number(kStride)}); }

  void instruction(const Inst& i) {
    const bool is_around_frame = is_call(i) && uses_local_;
    const std::int64_t words = out_.local_frame / kStride;
    if (is_around_frame) {
      insert(Op::AddressAdd, {reg(Role::Def, r_.address), reg(Role::Use, r_.base), number(words)});
      insert(Op::SetLocalBase, {reg(Role::Use, r_.address), number(kStride)});
    }
    if (moves_slot(i)) access(i);
    else out_.append(i, f_.operands_of(i), f_.targets_of(i));
    const auto ops = f_.operands_of(i);
    const bool clobbers_base =
        uses_local_ && std::any_of(ops.begin(), ops.end(), [&](const Operand& op) {
          return op.role == Role::Clobber && op.preg().overlaps({RegFile::R, 1, static_cast<std::uint16_t>(r_.base)});
        });
    if (clobbers_base) get_base();
    if (!is_around_frame) return;
    if (clobbers_base) insert(Op::AddressAdd, {reg(Role::Def, r_.base), reg(Role::Use, r_.base), number(-words)});
    insert(Op::SetLocalBase, {reg(Role::Use, r_.base), number(kStride)});
  }

  void access(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const ir::Slot& slot = slot_of(i);
    const bool is_shared = slot.space == MemSpace::Shared, is_store = i.op == Op::Spill;
    const std::uint32_t at = slot.offset + ops[1].slot_offset();
    const Operand def = reg(Role::Def, r_.address), use = reg(Role::Use, r_.address);
    if (const Operand* const guard = ir::guard_of(ops)) {
      Operand unless = *guard;
      unless.flags ^= ir::kNegated;
      insert(Op::SkipBra, {number(is_shared ? 5 : 3), unless});
    }
    if (is_shared) {
      insert(Op::AddressMov, {def, Operand::of_symbol(phase_)});
      insert(Op::AddressAdd, {def, use, number(at / kStride)});
      insert(Op::AddressShl, {def, use, number(kStrideLog2)});
      insert(Op::AddressAnd, {def, use, Operand::of_symbol(mask_)});
    } else {
      insert(Op::AddressAdd, {def, reg(Role::Use, r_.base), number(at / kStride)});
      insert(Op::AddressMad, {def, use, number(kStride), number(0)});
    }
    Inst inst = i;
    if (inst.is_inserted()) inst.id = ir::InstId(next_id_++);
    if (is_shared) inst.op = is_store ? Op::StoreShared : Op::LoadShared;
    else inst.op = is_store ? Op::StoreLocal : Op::LoadLocal;
    ops_.assign({ops[0], use, number(at % kStride)});
    for (const Operand& op : ops)
      if (op.role == Role::Clobber) ops_.push_back(op);
    out_.append(inst, ops_);
  }

  const Function& f_;
  AddressRegisters r_;
  ir::Cfg cfg_;
  Function out_;
  std::uint32_t next_id_;
  bool uses_local_ = false;
  ir::SymbolId phase_, mask_;
  std::vector<Operand> ops_;
};

std::expected<ir::Allocation, ir::AllocFailure> lowered(ir::Allocation a, AddressRegisters r, const ir::AllocOptions& options) {
  ir::PassScope scope(options.passes, "lower_spills", &a.program);
  a.program = lower_spills(a.program, r);
  scope.made(a.program);
  int& registers = a.claims.registers[ir::index(RegFile::R)];
  for (const Operand& op : a.program.operands)
    if (op.is_preg() && op.role != Role::Clobber && op.preg().file == RegFile::R) registers = std::max(registers, op.preg().end());
  if (options.trace != nullptr) options.trace->line(fmt::format("lowered spills: base in R{}, address in R{}", r.base, r.address));
  return a;
}

}  // namespace

std::optional<AddressRegisters> find_address_registers(const Function& f, const ir::Target& target, const ir::Limits& limits) {
  UnitSet taken = spoken_for(f, target);
  std::array<std::int64_t, ir::kMaxUnits> clobbers{};
  for (const Operand& op : f.operands) {
    if (!op.is_preg()) continue;
    const PReg r = op.preg();
    if (op.role != Role::Clobber) add_units(taken, r);
    else if (r.file == RegFile::R)
      for (int u = r.begin(); u < r.end(); ++u) ++clobbers[static_cast<std::size_t>(u)];
  }
  std::vector<int> found;
  const int least = PointLimits(f, limits.of(RegFile::R)).least();
  for (int u = 0; u < least; ++u)
    if (!taken.has(u) && ir::is_allocatable(target, f.abi, limits, RegFile::R, u)) found.push_back(u);
  if (found.size() < 2) return std::nullopt;
  if (clobbers[static_cast<std::size_t>(found[0])] > clobbers[static_cast<std::size_t>(found[1])]) std::swap(found[0], found[1]);
  return AddressRegisters{found[0], found[1]};
}

Function lower_spills(const Function& allocated, AddressRegisters registers) { return Lowering(allocated, registers).run(); }

std::expected<ir::Allocation, ir::AllocFailure> allocate_lowered(const ir::Allocator& allocator, const Function& program,
                                                                 const ir::Target& target, const ir::AllocOptions& options) {
  const ir::Fuel fuel = options.fuel != nullptr ? *options.fuel : ir::Fuel();
  const std::size_t passes = options.passes != nullptr ? options.passes->passes.size() : 0;
  auto first = allocator.allocate(program, target, options);
  if (!first || !has_spills(first->program)) return first;
  if (const auto r = find_address_registers(first->program, target, options.limits)) return lowered(std::move(*first), *r, options);
  // Once more, with room for addresses. The fuel and the records of the first run do not count.
  if (options.fuel != nullptr) *options.fuel = fuel;
  if (options.passes != nullptr) options.passes->passes.resize(passes);
  const auto smaller = without_two_registers(program, target, options.limits);
  if (!smaller)
    return std::unexpected(ir::AllocFailure{
        ir::AllocFailure::Kind::Impossible,
        ir::failure_message(options.limits.of(RegFile::R)) + " (no two registers are left for the addresses of lowered spills)"});
  auto second = allocator.allocate(program, *smaller, options);
  if (!second) {
    if (second.error().kind == ir::AllocFailure::Kind::Impossible)
      second.error().message += " (two registers hold the addresses of lowered spills)";
    return second;
  }
  if (!has_spills(second->program)) return second;
  if (const auto r = find_address_registers(second->program, target, options.limits))
    return lowered(std::move(*second), *r, options);
  return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported,
                                          "the allocator does not leave out the two registers that lowered spills need"});
}

}  // namespace regduel::allocator
