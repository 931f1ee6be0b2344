// Appends instructions and blocks for Lowering: guards, duplicate destinations, fall-through.
#include <algorithm>

#include <fmt/format.h>

#include "ir/check.h"
#include "ir/ptx/lexer.h"
#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {
namespace {

// Far above what any instruction has; well-formedness costs the square of it.
constexpr std::size_t kMostOperands = 1000;

}  // namespace

Lowering::Lowering(const FunctionSyntax& syntax, const Target& target, AbiName abi, ParamCopies param_copies,
                   std::string_view file_name, const std::map<std::uint64_t, std::string_view>& files)
    : s_(syntax), target_(target), abi_(target.abi(abi)), keeps_param_copies_(param_copies == ParamCopies::Kept), file_(file_name),
      files_(files), plan_(syntax, abi_), vregs_(syntax.registers.size()), label_blocks_(syntax.labels.size()),
      consumed_(syntax.statements.size(), false) {
  f_.name = syntax.name;
  f_.kind = syntax.is_entry ? FunctionKind::Kernel : FunctionKind::Device;
  f_.abi = abi;
  f_.target = target.name;
  f_.predicate_halves = target.predicate_halves;
  f_.threads = syntax.threads != 0 ? syntax.threads : 256;
}

bool Lowering::fail(std::uint32_t at, std::string message) {
  if (error_) return false;
  const Place p = place_in(s_.text, at);
  error_ = SourceError{std::string(file_), p.line, p.column, std::move(message)};
  return false;
}

SymbolId Lowering::mnemonic_of(const Opcode& o) {
  const auto k = static_cast<std::size_t>(o.index);
  if (k >= mnemonics_.size()) mnemonics_.resize(k + 1);
  if (!mnemonics_[k].is_valid()) mnemonics_[k] = symbol(o.text);
  return mnemonics_[k];
}

// --- registers ------------------------------------------------------------------------------------------------------

VRegId Lowering::vreg_of(int reg) {
  VRegId& v = vregs_[static_cast<std::size_t>(reg)];
  const Register& r = s_.registers[static_cast<std::size_t>(reg)];
  if (!v.is_valid()) v = fresh(r.type.bits * r.elements, r.name, r.elements > 1 ? TypeKind::B : r.type.kind);
  return v;
}

VRegId Lowering::fresh(int bits, std::string_view name, TypeKind type) {
  VReg v;
  v.cls = bits == 1 ? RegClass::P : RegClass::R;
  v.type = bits == 1 ? TypeKind::Pred : type;
  v.width = static_cast<std::uint16_t>(bits);
  v.align_log2 = static_cast<std::uint8_t>(natural_align_log2(bits));
  if (!name.empty()) v.name = symbol(name);
  return f_.add_vreg(v);
}

VRegId Lowering::carry() {
  if (!carry_.is_valid()) carry_ = fresh(1, "CC");
  return carry_;
}

Operand Lowering::register_operand(Role role, const Value& v) {
  const Register& r = reg(v);
  Part part;
  if (v.component >= 0)
    if (const auto p = Part::from_bytes(v.component * (r.type.bits / 8), r.type.bits / 8)) part = *p;
  Operand op = Operand::of_vreg(role, vreg_of(v.index), part);
  if (v.negated()) op.flags = kNegated;
  return op;
}

Operand Lowering::guard_of(const Statement& s, Role role) {
  Operand op = Operand::of_vreg(role, vreg_of(s.guard));
  if (s.guard_negated) op.flags = kNegated;
  return op;
}

int Lowering::bits_of(const Value& v) const {
  if (!v.is(Value::Kind::Register)) return 0;
  return v.component >= 0 ? reg(v).type.bits : reg(v).type.bits * reg(v).elements;
}

bool Lowering::is_predicate_value(const Value& v) const {
  return v.is(Value::Kind::Register) && reg(v).type.kind == TypeKind::Pred;
}

void Lowering::begin_line(int line) {
  line_ = {};
  if (line < 0) return;
  line_ids_.resize(s_.lines.size());
  SourceLineId& known = line_ids_[static_cast<std::size_t>(line)];
  if (!known.is_valid()) {
    const SourcePlace& place = s_.lines[static_cast<std::size_t>(line)];
    const auto name = files_.find(place.file);
    const SourceLine l{symbol(name == files_.end() ? fmt::format("{}{}", kNamelessFile, place.file) : std::string(name->second)),
                       place.line, place.column};
    const auto [it, is_new] = lines_.try_emplace(l);
    if (is_new) it->second = f_.add_source_line(l);
    known = it->second;
  }
  line_ = known;
}

// --- instructions ---------------------------------------------------------------------------------------------------

void Lowering::emit(Code code) {
  if (failed()) return;
  ensure_block();
  // Of two writes to one register by one instruction the last one holds.
  for (std::size_t k = 0; k < code.defs.size() && code.defs.size() > 1; ++k) {
    const Operand& op = code.defs[k];
    const bool again =
        std::any_of(code.defs.begin() + static_cast<std::ptrdiff_t>(k) + 1, code.defs.end(), [&](const Operand& later) {
          return later.vreg() == op.vreg() && (later.part.is_whole() || op.part.is_whole() || later.part == op.part);
        });
    if (!again) continue;
    if (op.role == Role::DefUse) {
      fail(place_, "a register stands twice among the operands that are read and written");
      return;
    }
    const VReg& v = f_.vreg(op.vreg());
    code.defs[k] = def(fresh(v.type == TypeKind::Pred ? 1 : f_.operand_bytes(op) * 8));
  }
  if (code.tied_use >= 0)
    code.defs[0].tied = static_cast<std::uint16_t>(code.defs.size() + static_cast<std::size_t>(code.tied_use));
  Operands& ops = code.defs;
  const std::size_t num_defs = ops.size();
  ops.insert(ops.end(), code.uses.begin(), code.uses.end());
  const bool guarded = guard_.has_value() && code.guarded;
  const auto registers_read = std::count_if(code.uses.begin(), code.uses.end(), [](const Operand& op) { return op.is_register(); });
  const bool reads_memory = (code.flags & kMemRead) != 0;
  const bool pure =
      code.pure && (code.flags & ~(kCommutative | kMemRead | kReadOnly)) == 0 && (!reads_memory || (code.flags & kReadOnly) != 0);
  const bool remat = (code.op == Op::Named || code.op == Op::Const) && num_defs == 1 && ops[0].role == Role::Def &&
                     ops[0].part.is_whole() && !ops[0].is_tied() && !guarded && pure && registers_read <= (reads_memory ? 0 : 1);
  if (guarded) ops.push_back(*guard_);
  if (code.clobbers != nullptr)
    for (const PReg r : *code.clobbers) ops.push_back(Operand::of_preg(Role::Clobber, r));
  if (ops.size() > kMostOperands) {
    fail(place_, fmt::format("an instruction has at most {} operands", kMostOperands));
    return;
  }
  Inst inst;
  inst.id = InstId(places_.size());
  places_.push_back(place_);
  inst.op = code.op;
  inst.flags = static_cast<std::uint16_t>(code.flags | (remat ? kRematerialisable : 0));
  inst.line = line_;
  inst.mnemonic = code.mnemonic;
  f_.append(inst, span_of(ops));
  at_label_ = false;
}

// --- blocks ---------------------------------------------------------------------------------------------------------

void Lowering::ensure_block() {
  if (open_) return;
  f_.begin_block();
  open_ = true;
  owes_block_ = false;
  at_label_ = false;
}

void Lowering::terminate(Op op, SymbolId mnemonic, std::span<const Operand> uses, std::span<const int> targets) {
  if (failed()) return;
  ensure_block();
  if (targets.size() > kMaxOperands) {
    fail(place_, fmt::format("a branch has at most {} targets", kMaxOperands));
    return;
  }
  std::vector<BlockId> blocks;
  for (const int target : targets) {
    if (target >= 0) patches_.emplace_back(f_.targets.size() + blocks.size(), target);
    owes_block_ = owes_block_ || target == kNext;
    blocks.push_back(BlockId(target >= 0 ? 0 : static_cast<int>(f_.blocks.size()) + (target == kNext ? 0 : 1)));
  }
  Inst inst;
  inst.id = InstId(places_.size());
  places_.push_back(place_);
  inst.op = op;
  inst.line = line_;
  inst.mnemonic = mnemonic;
  f_.append(inst, uses, blocks);
  open_ = false;
  at_label_ = false;
}

void Lowering::begin_label(const Statement& s) {
  const auto label = static_cast<std::size_t>(s.label);
  // Blocks keep the name of their first label; the entry is never a target, so that it has no predecessor.
  if (open_ && at_label_) {
    label_blocks_[label] = BlockId(f_.blocks.size() - 1);
    return;
  }
  if (f_.blocks.empty()) ensure_block();
  if (open_) terminate(Op::Bra, {}, {}, {{kNext}});
  Block attributes;
  attributes.name = symbol(s_.labels[label]);
  label_blocks_[label] = f_.begin_block(attributes);
  open_ = true;
  owes_block_ = false;
  at_label_ = true;
}

void Lowering::branch_around(const Statement& s) {
  const Operand condition = guard_of(s, Role::Use);
  static constexpr int kTargets[] = {kNext, kAfterNext};
  terminate(Op::CBra, {}, {&condition, 1}, kTargets);
  guard_.reset();
}

// An instruction with a register source may be repeated where that has one def, which comes before and may be repeated itself.
void Lowering::keep_chains_of_remats() {
  std::vector<std::uint32_t> defs(f_.vregs.size(), 0);
  for (const Operand& op : f_.operands)
    if (op.is_vreg() && op.writes()) ++defs[op.vreg().index()];
  std::vector<char> may_be_repeated(f_.vregs.size(), 0);
  for (Inst& inst : f_.insts) {
    if (!inst.has(kRematerialisable)) continue;
    const auto ops = f_.operands_of(inst);
    const bool is_one = std::all_of(ops.begin() + 1, ops.end(), [&](const Operand& op) {
      return !op.is_register() || (op.is_vreg() && may_be_repeated[op.vreg().index()] != 0);
    });
    if (!is_one) inst.flags = static_cast<std::uint16_t>(inst.flags & ~kRematerialisable);
    else if (defs[ops[0].vreg().index()] == 1) may_be_repeated[ops[0].vreg().index()] = 1;
  }
}

Parsed<Lowered> Lowering::finish() {
  if (!failed()) {
    // Running off the end of a body returns.
    if (open_ || owes_block_ || f_.blocks.empty()) {
      Operands uses;
      return_values(uses);
      begin_line(-1);
      terminate(Op::Ret, {}, span_of(uses), {});
    }
    keep_chains_of_remats();
    for (const auto& [target, label] : patches_) f_.targets[target] = label_blocks_[static_cast<std::size_t>(label)];
  }
  if (failed()) return std::unexpected(*error_);
  // The translation ensures this; a text that gets here is a defect of the reader, which must not stop a campaign.
  if (const auto faults = check(f_, target_, 1); !faults.empty()) {
    fail(s_.at, fmt::format("'{}' has no equivalent in RIR: {}", s_.name, to_string(f_, faults[0])));
    return std::unexpected(*error_);
  }
  return Lowered{std::move(f_), std::move(places_)};
}

}  // namespace regduel::ir::ptx
