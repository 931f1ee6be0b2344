// Statements and control flow for Lowering.
#include "ir/ptx/lower.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {
namespace {

bool same_registers(const Value& a, const Value& b) {
  const auto x = a.elements(), y = b.elements();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Value& p, const Value& q) {
    return p.is(Value::Kind::Register) && q.is(Value::Kind::Register) && p.index == q.index && p.component == q.component;
  });
}

}  // namespace

Parsed<Lowered> lower(const FunctionSyntax& f, const Target& target, AbiName abi, ParamCopies param_copies,
                      std::string_view file_name, const std::map<std::uint64_t, std::string_view>& files) {
  return Lowering(f, target, abi, param_copies, file_name, files).run();
}

Parsed<Lowered> Lowering::run() {
  place_ = s_.at;
  std::size_t operands = 0;
  for (const Statement& s : s_.statements) operands += s.num_operands + (s.guard >= 0 ? 1u : 0u);
  places_.reserve(s_.statements.size() + s_.statements.size() / 8);
  f_.reserve(s_.statements.size() + s_.statements.size() / 8, operands + operands / 8);
  f_.vregs.reserve(s_.registers.size() + s_.registers.size() / 8);
  find_addresses_of_params();
  entry();
  for (std::size_t k = 0; k < s_.statements.size() && !failed(); ++k) statement(k);
  flush_pending();
  return finish();
}

bool Lowering::statement(std::size_t index) {
  if (consumed_[index]) return true;
  const Statement& given = s_.statements[index];
  place_ = given.at;
  begin_line(given.line);
  guard_.reset();
  if (given.kind == Statement::Kind::Label) {
    flush_pending();
    begin_label(given);
    return true;
  }
  if (given.guard >= 0) guard_ = guard_of(given, Role::Guard);
  const Statement& s = with_param_as_address(given);
  const Opcode& o = *s.opcode;
  const auto access = param_access(s);
  if (access && plan_.in_registers(access->param)) return access->is_load ? param_load(s, *access) : param_store(s, *access);
  using enum Opcode::Kind;
  if (o.kind == Call) return call(index, s, o);
  if (o.kind == Ret || o.kind == Exit) return leave(s, o);
  // A store writes no register, so that what is pending may wait.
  if (!access || access->is_load) flush_pending();
  if (o.kind == Bra) return branch(s, o);
  if (o.kind == Brx) return indexed_branch(s, o);
  return instruction(s, o);
}

// --- instructions ---------------------------------------------------------------------------------------------------

bool Lowering::instruction(const Statement& s, const Opcode& o) {
  const auto operands = s.operands();
  const bool has_address = std::any_of(operands.begin(), operands.end(), [](const Value& v) { return v.is(Value::Kind::Address); });
  OpcodeInfo info = has_address ? o.info_of_addresses : o.info;
  const bool is_load = o.kind == Opcode::Kind::Ld || o.kind == Opcode::Kind::Ldu;
  if (o.kind == Opcode::Kind::Mov)
    return operands.size() == 2 ? mov(s, o, info) : fail(s.at, fmt::format("'{}': expected a destination and a source", o.text));
  if (o.kind == Opcode::Kind::Ld && o.is_param_space && s_.is_entry) {
    // The parameters of a kernel are never written; those of a function may be, through their address.
    const auto access = param_access(s);
    const bool own = !access || std::find(s_.arguments.begin(), s_.arguments.end(), access->param) != s_.arguments.end();
    if (own) info.flags |= kReadOnly;
    if (own && operands.size() == 2 && operands[0].is(Value::Kind::Vector)) return scalar_loads(s, o, info);
  }
  if (is_load && operands.size() == 2 && operands[0].is(Value::Kind::Vector)) return vector_load(s, o, info);

  Code code{.op = info.is_barrier ? Op::Bar : Op::Named, .mnemonic = mnemonic_of(o), .flags = info.flags, .pure = info.is_known};
  std::vector<Code> after;
  std::size_t k = 0;
  const int hint = o.type.bits;
  if (info.destination != Destination::None) {
    const Value* first = operands.empty() ? nullptr : &operands[0];
    const bool can_be = first != nullptr && (first->is(Value::Kind::Register) || first->is(Value::Kind::Vector) ||
                                             first->is(Value::Kind::Pair) || first->is(Value::Kind::Sink));
    if (!can_be && info.destination != Destination::IfAny)
      return fail(first != nullptr ? first->at : s.at, fmt::format("'{}': expected a destination register", o.text));
    if (can_be && info.destination == Destination::Updated) {
      for (const Value& e : first->is(Value::Kind::Vector) ? first->elements() : std::span(first, 1)) {
        if (!e.is(Value::Kind::Register) || e.negated()) return fail(e.at, "expected a destination register");
        code.defs.push_back(register_operand(Role::DefUse, e));
      }
      k = 1;
    } else if (can_be) {
      const bool guarded = guard_.has_value();
      if (first->is(Value::Kind::Pair)) {
        for (const Value& e : first->elements())
          if (!append_def(code, e, after, guarded, hint)) return false;
      } else if (!append_def(code, *first, after, guarded, hint)) {
        return false;
      }
      k = 1;
    }
  }
  if (info.carry_out) code.defs.push_back(def(carry()));

  for (; k < operands.size(); ++k) {
    const Value& v = operands[k];
    if (o.kind == Opcode::Kind::St && append_narrowed(code.uses, v, hint)) continue;
    const std::size_t at = code.uses.size();
    if (!append_use(code.uses, v, hint)) return false;
    // A matrix accumulator that is updated in place: D and C are one tuple of registers.
    if (o.kind == Opcode::Kind::Mma && k == 3 && !guard_ && !after.empty() && code.uses.size() == at + 1 &&
        code.uses[at].is_vreg() && same_registers(operands[0], v))
      code.tied_use = static_cast<int>(at);
  }
  if (info.carry_in) code.uses.push_back(use(carry()));
  // The registers above the new limit are given up, or come with nothing in them.
  std::vector<PReg> given_up;
  const int units = target_.units[index(RegFile::R)];
  if (o.root() == "setmaxnreg" && code.uses.size() == 1 && code.uses[0].imm() >= 1 && code.uses[0].imm() < units) {
    const auto limit = static_cast<int>(code.uses[0].imm());
    given_up.push_back({RegFile::R, static_cast<std::uint8_t>(units - limit), static_cast<std::uint16_t>(limit)});
    code.clobbers = &given_up;
  }
  emit(std::move(code));
  for (Code& c : after) emit(std::move(c));
  return !failed();
}

// --- control flow ---------------------------------------------------------------------------------------------------

bool Lowering::branch(const Statement& s, const Opcode& o) {
  if (s.operands().size() != 1 || !s.operands()[0].is(Value::Kind::Name))
    return fail(s.at, fmt::format("'{}': expected a label", o.text));
  const Value& name = s.operands()[0];
  const int label = s_.find_label(s.scope, text_of(name));
  if (label < 0) return fail(name.at, fmt::format("there is no label '{}' here", text_of(name)));
  if (s.guard < 0) {
    terminate(Op::Bra, mnemonic_of(o), {}, {{label}});
    return !failed();
  }
  const Operand condition = guard_of(s, Role::Use);
  const int targets[] = {label, kNext};
  terminate(Op::CBra, mnemonic_of(o), {&condition, 1}, targets);
  return !failed();
}

bool Lowering::indexed_branch(const Statement& s, const Opcode& o) {
  if (s.operands().size() != 2 || !s.operands()[1].is(Value::Kind::Name) || is_predicate_value(s.operands()[0]) ||
      (!s.operands()[0].is(Value::Kind::Register) && !s.operands()[0].is(Value::Kind::Immediate)))
    return fail(s.at, fmt::format("'{}': expected an index and the name of a .branchtargets list", o.text));
  const Value& name = s.operands()[1];
  const int table = s_.find_table(s.scope, text_of(name));
  if (table < 0) return fail(name.at, fmt::format("there is no .branchtargets list '{}' here", text_of(name)));
  const BranchTable& list = s_.tables[static_cast<std::size_t>(table)];
  std::vector<int> targets;
  for (const Value& v : list.labels) {
    const int label = s_.find_label(list.scope, text_of(v));
    if (label < 0) return fail(v.at, fmt::format("there is no label '{}' here", text_of(v)));
    targets.push_back(label);
  }
  const bool guarded = s.guard >= 0;
  if (guarded) branch_around(s);
  const Operand index = in_register(s.operands()[0], 32);
  terminate(Op::MBra, mnemonic_of(o), {&index, 1}, targets);
  owes_block_ = owes_block_ || guarded;
  return !failed();
}

bool Lowering::leave(const Statement& s, const Opcode& o) {
  if (!s.operands().empty()) return fail(s.operands()[0].at, fmt::format("'{}' has no operands", o.text));
  const bool guarded = s.guard >= 0;
  const bool is_return = o.kind == Opcode::Kind::Ret;
  if (guarded || !is_return) flush_pending();
  if (guarded) branch_around(s);
  Operands uses;
  if (is_return) return_values(uses);
  flush_pending();
  terminate(is_return ? Op::Ret : Op::Exit, mnemonic_of(o), span_of(uses), {});
  owes_block_ = owes_block_ || guarded;
  return !failed();
}

}  // namespace regduel::ir::ptx
