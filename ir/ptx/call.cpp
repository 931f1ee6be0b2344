// The ABI side of Lowering: arguments at the entry, call sequences, return values.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {
namespace {

bool ends_straight_line(Opcode::Kind kind) {
  using enum Opcode::Kind;
  return kind == Bra || kind == Brx || kind == Ret || kind == Exit || kind == Call;
}

void collect_registers(const Value& v, std::set<int>& registers) {
  if (v.is(Value::Kind::Register)) registers.insert(v.index);
  for (const Value& e : v.elements()) collect_registers(e, registers);
}

}  // namespace

VRegId Lowering::piece_vreg(Piece& piece, int param) {
  if (!piece.vreg.is_valid()) piece.vreg = fresh(static_cast<int>(piece.bytes) * 8, this->param(param).name);
  return piece.vreg;
}

void Lowering::move_into(Operand to, Operand from, SymbolId mnemonic, bool guarded) {
  const Op op = f_.operand_bytes(to) == f_.operand_bytes(from) ? Op::Copy : Op::Named;
  emit({.op = op, .mnemonic = mnemonic, .defs = {to}, .uses = {from}, .guarded = guarded});
}

void Lowering::flush_pending() {
  for (const auto& [piece, param] : pending_) {
    const SymbolId mnemonic = piece->pending_mnemonic;
    if (const VRegId value = take_pending(*piece); value.is_valid())
      move_into(def(piece_vreg(*piece, param)), use(value), mnemonic, false);
  }
  pending_.clear();
}

VRegId Lowering::take_pending(Piece& piece) { return std::exchange(piece.pending, VRegId{}); }

void Lowering::fix(Operand& op, PReg home) const {
  const VReg& v = f_.vreg(op.vreg());
  if (home.is_valid() && op.part.is_whole() && home.file == v.file() && home.count == v.units() && home.first % v.alignment() == 0)
    op.set_fixed(home);
}

void Lowering::define_pieces(int param, const std::map<const Piece*, Operand>& direct, Operands& defs) {
  for (auto& [offset, piece] : plan_.pieces(param)) {
    if (piece.loads == 0) continue;
    const auto it = direct.find(&piece);
    defs.push_back(it != direct.end() ? it->second : def(piece_vreg(piece, param)));
    defs.back().set_fixed(piece.reg);
  }
}

void Lowering::use_pieces(int param, Operands& uses) {
  for (auto& [offset, piece] : plan_.pieces(param)) {
    if (piece.stores == 0) continue;
    const VRegId pending = take_pending(piece);
    uses.push_back(use(pending.is_valid() ? pending : piece_vreg(piece, param)));
    uses.back().set_fixed(piece.reg);
  }
}

// --- entry and return -----------------------------------------------------------------------------------------------

// The loads of parameters at the head of a body define their registers at once; later ones copy from a vreg that was
// defined at the entry.
void Lowering::entry() {
  if (s_.is_entry) return;
  const std::set<int> own(s_.arguments.begin(), s_.arguments.end());
  std::set<int> mentioned;
  std::map<const Piece*, Operand> direct;
  for (const int p : s_.arguments)
    if (param(p).reg >= 0) mentioned.insert(param(p).reg);
  for (std::size_t k = 0; k < s_.statements.size() && !keeps_param_copies_; ++k) {
    const Statement& s = s_.statements[k];
    if (s.kind == Statement::Kind::Label || s.guard >= 0) break;
    if (ends_straight_line(s.opcode->kind)) break;
    const auto access = param_access(s);
    std::set<int> here;
    for (const Value& v : s.operands()) collect_registers(v, here);
    if (access && access->is_load && own.contains(access->param) && plan_.in_registers(access->param)) {
      bool simple = here.size() == access->values.size();
      for (std::size_t e = 0; e < access->values.size() && simple; ++e) {
        const Value& v = access->values[e];
        simple = v.is(Value::Kind::Register) && v.component < 0 && !mentioned.contains(v.index) &&
                 plan_.piece(access->param, access->offset + e * access->bytes).loads == 1;
      }
      if (simple) {
        consumed_[k] = true;
        for (std::size_t e = 0; e < access->values.size(); ++e)
          direct[&plan_.piece(access->param, access->offset + e * access->bytes)] = register_operand(Role::Def, access->values[e]);
      }
    }
    mentioned.merge(here);
  }
  Code code{.mnemonic = symbol("abi.entry")};
  RegisterDealer dealer(abi_.arguments, abi_);
  for (const int p : s_.arguments) {
    const PReg home = dealer.take(param(p).bytes, param(p).align);
    if (param(p).reg < 0) {
      define_pieces(p, direct, code.defs);
      continue;
    }
    code.defs.push_back(def(vreg_of(param(p).reg)));
    fix(code.defs.back(), home);
  }
  if (!code.defs.empty()) emit(std::move(code));
}

void Lowering::return_values(Operands& uses) {
  if (s_.is_entry) return;
  RegisterDealer dealer(abi_.results, abi_);
  for (const int p : s_.returns) {
    const PReg home = dealer.take(param(p).bytes, param(p).align);
    if (param(p).reg < 0) {
      use_pieces(p, uses);
      continue;
    }
    uses.push_back(use(vreg_of(param(p).reg)));
    fix(uses.back(), home);
  }
}

// --- accesses to variables in registers -----------------------------------------------------------------------------

bool Lowering::param_load(const Statement& s, const ParamAccess& access) {
  const SymbolId mnemonic = mnemonic_of(*s.opcode);
  flush_pending();
  for (std::size_t k = 0; k < access.values.size(); ++k) {
    const Value& v = access.values[k];
    if (v.is(Value::Kind::Sink)) continue;
    Piece& piece = plan_.piece(access.param, access.offset + k * access.bytes);
    move_into(register_operand(Role::Def, v), use(piece_vreg(piece, access.param)), mnemonic, s.guard >= 0);
  }
  return !failed();
}

bool Lowering::param_store(const Statement& s, const ParamAccess& access) {
  const SymbolId mnemonic = mnemonic_of(*s.opcode);
  if (s.guard >= 0) flush_pending();
  for (std::size_t k = 0; k < access.values.size(); ++k) {
    const Value& v = access.values[k];
    Piece& piece = plan_.piece(access.param, access.offset + k * access.bytes);
    const int bits = static_cast<int>(piece.bytes) * 8;
    Operand from = in_register(v, bits);
    if (s.guard >= 0 || keeps_param_copies_) {
      move_into(def(piece_vreg(piece, access.param)), from, mnemonic, s.guard >= 0);
      continue;
    }
    if (!from.part.is_whole()) {
      const VRegId whole = fresh(bits);
      move_into(def(whole), from, mnemonic, false);
      from = use(whole);
    }
    piece.pending = from.vreg();  // a later store replaces an earlier one
    piece.pending_mnemonic = mnemonic;
    pending_.emplace_back(&piece, access.param);
  }
  return !failed();
}

// --- calls ----------------------------------------------------------------------------------------------------------

// The loads of results right after a call name the registers that the call defines.
void Lowering::take_results(std::size_t index, int param, Code& code) {
  std::map<const Piece*, Operand> direct;
  std::set<int> registers;
  for (const Operand& op : code.defs) registers.insert(static_cast<int>(op.vreg().value));
  for (std::size_t k = index + 1; k < s_.statements.size() && !keeps_param_copies_; ++k) {
    const Statement& s = s_.statements[k];
    if (s.kind == Statement::Kind::Label || s.guard >= 0) break;
    const auto access = param_access(s);
    if (!access || !access->is_load || access->param != param) break;
    bool simple = true;
    std::set<int> here;
    for (std::size_t e = 0; e < access->values.size() && simple; ++e) {
      const Value& v = access->values[e];
      simple = v.is(Value::Kind::Register) && v.component < 0 && plan_.piece(param, access->offset + e * access->bytes).loads == 1;
      if (!simple) break;
      const int vreg = static_cast<int>(vreg_of(v.index).value);
      simple = !registers.contains(vreg) && here.insert(vreg).second;
    }
    if (!simple) break;
    for (std::size_t e = 0; e < access->values.size(); ++e)
      direct[&plan_.piece(param, access->offset + e * access->bytes)] = register_operand(Role::Def, access->values[e]);
    registers.merge(here);
    consumed_[k] = true;
  }
  define_pieces(param, direct, code.defs);
}

bool Lowering::call(std::size_t index, const Statement& s, const Opcode& o) {
  const auto shape = call_shape(s);
  if (!shape) return fail(s.at, fmt::format("'{}': expected (results), function, (arguments), prototype", o.text));
  if (shape->callee->is(Value::Kind::Register) && (is_predicate_value(*shape->callee) || shape->callee->negated()))
    return fail(shape->callee->at, "a predicate is no function");
  const bool is_named = !shape->callee->is(Value::Kind::Register);
  Code code{.op = Op::Call,
            .mnemonic = mnemonic_of(o),
            .flags = kConvergent,
            .clobbers = is_named ? &abi_.clobbers_of(text_of(*shape->callee)) : &abi_.clobbered};
  if (!is_named) {
    if (shape->prototype != nullptr) code.uses.push_back(Operand::of_symbol(symbol(text_of(*shape->prototype))));
    code.uses.push_back(register_operand(Role::Use, *shape->callee));
  } else {
    code.uses.push_back(Operand::of_symbol(symbol(text_of(*shape->callee))));
  }

  // A register operand in the place of a variable takes the next register of the ABI where it fits.
  const auto take_for = [&](RegisterDealer& dealer, const Value& v) {
    return dealer.take(static_cast<std::uint32_t>(reg(v).type.bits / 8), 16);
  };
  RegisterDealer arguments(abi_.arguments, abi_), results(abi_.results, abi_);
  if (shape->arguments != nullptr)
    for (const Value& v : shape->arguments->elements()) {
      if (v.is(Value::Kind::Name) && v.index >= 0) {
        arguments.take(param(v.index).bytes, param(v.index).align);
        if (plan_.in_registers(v.index)) use_pieces(v.index, code.uses);
        else code.uses.push_back(Operand::of_symbol(symbol(text_of(v))));
      } else if (v.is(Value::Kind::Register)) {
        code.uses.push_back(register_operand(Role::Use, v));
        fix(code.uses.back(), take_for(arguments, v));
      } else {
        arguments.take(4, 4);
        if (!append_use(code.uses, v, 0)) return false;
      }
    }
  flush_pending();
  // Arguments and results share registers, which under one guard would be in use at the same moment.
  const bool guarded = s.guard >= 0;
  if (guarded) branch_around(s);
  if (shape->returns != nullptr)
    for (const Value& v : shape->returns->elements()) {
      if (v.is(Value::Kind::Name) && v.index >= 0) {
        results.take(param(v.index).bytes, param(v.index).align);
        if (plan_.in_registers(v.index)) take_results(index, v.index, code);
      } else if (v.is(Value::Kind::Register)) {
        if (v.negated()) return fail(v.at, "a destination is not negated");
        code.defs.push_back(register_operand(Role::Def, v));
        fix(code.defs.back(), take_for(results, v));
      } else if (!v.is(Value::Kind::Sink)) {
        return fail(v.at, "expected a variable or a register for the result");
      } else {
        results.take(4, 4);
      }
    }
  emit(std::move(code));
  if (guarded && !failed()) terminate(Op::Bra, {}, {}, {{kNext}});
  return !failed();
}

}  // namespace regduel::ir::ptx
