#include "ir/ptx/lower.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {
namespace {

bool is_width(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 96 || bits == 128 || bits == 256; }

// Special registers whose value changes while a program runs.
bool is_volatile(std::string_view special) {
  for (const std::string_view name : {"%clock", "%globaltimer", "%pm", "%smid", "%warpid"})
    if (special.starts_with(name)) return true;
  return false;
}

bool same_registers(const Value& a, const Value& b) {
  return a.elements.size() == b.elements.size() &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), [](const Value& x, const Value& y) {
           return x.is(Value::Kind::Register) && y.is(Value::Kind::Register) && x.index == y.index && x.component == y.component;
         });
}

}  // namespace

Parsed<Function> lower(const FunctionSyntax& f, const Target& target, AbiName abi, ParamCopies param_copies,
                       std::string_view file_name) {
  return Lowering(f, target, abi, param_copies, file_name).run();
}

Parsed<Function> Lowering::run() {
  place_ = s_.place;
  entry();
  for (std::size_t k = 0; k < s_.statements.size() && !failed(); ++k) statement(k);
  flush_pending();
  return finish();
}

bool Lowering::statement(std::size_t index) {
  const Statement& s = s_.statements[index];
  if (consumed_[index]) return true;
  place_ = s.place;
  begin_line(s.line);
  guard_.reset();
  if (s.kind == Statement::Kind::Label) {
    flush_pending();
    begin_label(s);
    return true;
  }
  if (s.guard >= 0) guard_ = guard_of(s, Role::Guard);
  const Opcode o(s.opcode);
  const auto access = param_access(s, o);
  if (access && plan_.in_registers(access->param))
    return access->is_load ? param_load(s, *access, s.opcode) : param_store(s, *access, s.opcode);
  const std::string_view root = o.root();
  if (root == "call") return call(index, s, o);
  if (root == "ret" || root == "exit") return leave(s, o);
  // A store writes no register, so that what is pending may wait.
  if (!access || access->is_load) flush_pending();
  if (root == "bra") return branch(s, o);
  if (root == "brx") return indexed_branch(s, o);
  return instruction(s, o);
}

// --- operands -------------------------------------------------------------------------------------------------------

void Lowering::append_name(std::vector<Operand>& uses, std::string_view name, std::uint64_t offset) {
  uses.push_back(Operand::of_symbol(symbol(name)));
  if (offset != 0) uses.push_back(Operand::of_imm(static_cast<std::int64_t>(offset)));
}

Operand Lowering::in_register(const Value& v, int bits) {
  if (v.is(Value::Kind::Register)) return register_operand(Role::Use, v);
  const VRegId result = fresh(bits);
  Code code{.defs = {def(result)}, .guarded = false, .pure = true};
  if (v.is(Value::Kind::Name)) {
    append_name(code.uses, v.name, v.bits);
    if (v.special || code.uses.size() > 1) {
      code.mnemonic = "mov";
      if (v.special && is_volatile(v.name)) code.flags = kMemRead;
    } else {
      code.op = Op::Const;
    }
  } else {
    code.op = Op::Const;
    code.uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits)));
  }
  emit(std::move(code));
  return use(result);
}

Operand Lowering::packed(std::vector<Operand> pieces, int bits) {
  const VRegId tuple = fresh(bits);
  emit({.op = Op::Pack, .defs = {def(tuple)}, .uses = std::move(pieces), .guarded = false});
  return use(tuple);
}

int Lowering::tuple_bits(const Value& v, int& element_bits, int hint_bits) const {
  element_bits = 0;
  for (const Value& e : v.elements) {
    if (!e.is(Value::Kind::Register)) continue;
    if (is_predicate_value(e)) return 0;
    if (element_bits != 0 && bits_of(e) != element_bits) return 0;
    element_bits = bits_of(e);
  }
  if (element_bits == 0) element_bits = hint_bits >= 8 ? hint_bits : 32;
  const std::size_t n = v.elements.size();
  if (n < 2 || n > 32 || (n & (n - 1)) != 0) return 0;
  const int bits = static_cast<int>(n) * element_bits;
  return is_width(bits) ? bits : 0;
}

bool Lowering::append_vector_use(std::vector<Operand>& uses, const Value& v, int hint_bits) {
  if (v.elements.size() == 1) return append_use(uses, v.elements[0], hint_bits);
  int element_bits = 0;
  const int bits = tuple_bits(v, element_bits, hint_bits);
  const bool sinks = std::any_of(v.elements.begin(), v.elements.end(), [](const Value& e) { return e.is(Value::Kind::Sink); });
  if (bits == 0 || sinks) {
    for (const Value& e : v.elements)
      if (!append_use(uses, e, hint_bits)) return false;
    return true;
  }
  std::vector<Operand> pieces;
  for (const Value& e : v.elements) pieces.push_back(in_register(e, element_bits));
  uses.push_back(packed(std::move(pieces), bits));
  return true;
}

bool Lowering::append_use(std::vector<Operand>& uses, const Value& v, int hint_bits) {
  switch (v.kind) {
    case Value::Kind::Register: uses.push_back(register_operand(Role::Use, v)); return true;
    case Value::Kind::Immediate: uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits))); return true;
    case Value::Kind::Name: append_name(uses, v.name, v.bits); return true;
    case Value::Kind::Sink: uses.push_back(Operand::of_symbol(symbol("_"))); return true;
    case Value::Kind::Vector: return append_vector_use(uses, v, hint_bits);
    case Value::Kind::Pair:
    case Value::Kind::Address:
      for (std::size_t k = 0; k < v.elements.size(); ++k) {
        const Value& e = v.elements[k];
        // The offset of an address belongs to its base.
        if (k == 0 && v.is(Value::Kind::Address) && e.is(Value::Kind::Name)) {
          append_name(uses, e.name, v.bits);
          continue;
        }
        if (!append_use(uses, e, 32)) return false;
        if (k == 0 && v.is(Value::Kind::Address) && v.bits != 0) uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits)));
      }
      return true;
    case Value::Kind::List: break;
  }
  return fail(v.place, "a list in parentheses belongs to a call");
}

// Appends a destination. An unpack of its tuple, which has to follow the instruction, goes to `after`.
bool Lowering::append_def(Code& code, const Value& v, std::vector<Code>& after, bool guarded, int hint_bits) {
  if (v.is(Value::Kind::Register)) {
    if (v.negated) return fail(v.place, "a destination is not negated");
    code.defs.push_back(register_operand(Role::Def, v));
    return true;
  }
  if (v.is(Value::Kind::Sink)) return true;
  if (!v.is(Value::Kind::Vector)) return fail(v.place, "expected a destination register");
  for (const Value& e : v.elements)
    if ((!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) || e.negated)
      return fail(e.place, "expected a destination register");
  int element_bits = 0;
  const int bits = tuple_bits(v, element_bits, hint_bits);
  const bool sinks = std::any_of(v.elements.begin(), v.elements.end(), [](const Value& e) { return e.is(Value::Kind::Sink); });
  if (bits == 0 || (guarded && sinks)) {
    for (const Value& e : v.elements)
      code.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(std::min(std::max(element_bits, 8), 128)))
                                                  : register_operand(Role::Def, e));
    return true;
  }
  const VRegId tuple = fresh(bits);
  if (guarded) {
    // The registers keep their values where the guard does not hold.
    Code before{.op = Op::Pack, .defs = {def(tuple)}, .guarded = false};
    for (const Value& e : v.elements) before.uses.push_back(register_operand(Role::Use, e));
    emit(std::move(before));
  }
  code.defs.push_back(def(tuple));
  Code unpack{.op = Op::Unpack, .uses = {use(tuple)}, .guarded = false};
  for (const Value& e : v.elements)
    unpack.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(element_bits)) : register_operand(Role::Def, e));
  after.push_back(std::move(unpack));
  return true;
}

// --- instructions ---------------------------------------------------------------------------------------------------

// Appends the tuple of a store of narrow elements from wider registers, which has the size of the memory. False if the operand is
// no such vector.
bool Lowering::append_narrowed(std::vector<Operand>& uses, const Value& v, int hint_bits) {
  int element_bits = 0;
  const int bits = static_cast<int>(v.elements.size()) * hint_bits;
  if (!v.is(Value::Kind::Vector) || v.elements.size() < 2 || tuple_bits(v, element_bits, hint_bits) == 0 || hint_bits < 8 ||
      element_bits <= hint_bits || !is_width(bits))
    return false;
  const std::string narrow = fmt::format("cvt.u{}.u{}", hint_bits, element_bits);
  std::vector<Operand> pieces;
  for (const Value& e : v.elements) {
    if (!e.is(Value::Kind::Register)) {
      pieces.push_back(in_register(e, hint_bits));
      continue;
    }
    const VRegId piece = fresh(hint_bits);
    move_into(def(piece), register_operand(Role::Use, e), narrow, false);
    pieces.push_back(use(piece));
  }
  uses.push_back(packed(std::move(pieces), bits));
  return true;
}

bool Lowering::instruction(const Statement& s, const Opcode& o) {
  const bool has_address =
      std::any_of(s.operands.begin(), s.operands.end(), [](const Value& v) { return v.is(Value::Kind::Address); });
  OpcodeInfo info = classify(o, has_address);
  if (o.root() == "mov" && s.operands.size() == 2) return mov(s, o, info);
  if (o.root() == "ld") {
    const auto is_param = [](std::string_view p) { return p == "param" || p.starts_with("param::"); };
    const bool param = std::any_of(o.parts.begin(), o.parts.end(), is_param);
    // The parameters of a kernel are never written; those of a function may be, through their address.
    const auto access = param_access(s, o);
    const bool own = !access || std::find(s_.arguments.begin(), s_.arguments.end(), access->param) != s_.arguments.end();
    if (param && s_.is_entry && own) info.flags |= kReadOnly;
  }
  if ((o.root() == "ld" || o.root() == "ldu") && s.operands.size() == 2 && s.operands[0].is(Value::Kind::Vector))
    return vector_load(s, o, info);

  Code code{.op = info.is_barrier ? Op::Bar : Op::Named, .mnemonic = o.text, .flags = info.flags, .pure = info.is_known};
  std::vector<Code> after;
  std::size_t k = 0;
  const int hint = o.type().bits;
  if (info.destination != Destination::None) {
    const Value* first = s.operands.empty() ? nullptr : &s.operands[0];
    const bool can_be = first != nullptr && (first->is(Value::Kind::Register) || first->is(Value::Kind::Vector) ||
                                             first->is(Value::Kind::Pair) || first->is(Value::Kind::Sink));
    if (!can_be && info.destination != Destination::IfAny)
      return fail(first != nullptr ? first->place : s.place, fmt::format("'{}': expected a destination register", o.text));
    if (can_be && info.destination == Destination::Updated) {
      const std::vector<Value> single = {*first};
      for (const Value& e : first->is(Value::Kind::Vector) ? first->elements : single) {
        if (!e.is(Value::Kind::Register) || e.negated) return fail(e.place, "expected a destination register");
        code.defs.push_back(register_operand(Role::DefUse, e));
      }
      k = 1;
    } else if (can_be) {
      const bool guarded = guard_.has_value();
      if (first->is(Value::Kind::Pair)) {
        for (const Value& e : first->elements)
          if (!append_def(code, e, after, guarded, hint)) return false;
      } else if (!append_def(code, *first, after, guarded, hint)) {
        return false;
      }
      k = 1;
    }
  }
  if (info.carry_out) code.defs.push_back(def(carry()));

  for (; k < s.operands.size(); ++k) {
    const Value& v = s.operands[k];
    if (o.root() == "st" && append_narrowed(code.uses, v, hint)) continue;
    const std::size_t at = code.uses.size();
    if (!append_use(code.uses, v, hint)) return false;
    // A matrix accumulator that is updated in place: D and C are one tuple of registers.
    if ((o.root() == "mma" || (o.root() == "wmma" && o.has("mma"))) && k == 3 && !guard_ && !after.empty() &&
        code.uses.size() == at + 1 && code.uses[at].is_vreg() && same_registers(s.operands[0], v))
      code.tied_use = static_cast<int>(at);
  }
  if (info.carry_in) code.uses.push_back(use(carry()));
  emit(std::move(code));
  for (Code& c : after) emit(std::move(c));
  return !failed();
}

bool Lowering::mov(const Statement& s, const Opcode& o, const OpcodeInfo& info) {
  const Value &to = s.operands[0], &from = s.operands[1];
  Code code{.mnemonic = o.text, .pure = true};
  const auto sum_bits = [&](const Value& v, int& sinks) {
    int sum = 0;
    for (const Value& e : v.elements) {
      if (is_predicate_value(e) || e.negated || sum > 256) return -1;
      if (e.is(Value::Kind::Sink)) ++sinks;
      sum += bits_of(e);
    }
    return sum;
  };
  if (to.is(Value::Kind::Sink)) return fail(to.place, fmt::format("'{}': expected a destination register", o.text));
  if (to.is(Value::Kind::Vector) && !from.is(Value::Kind::Vector)) {
    for (const Value& e : to.elements)
      if (!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) return fail(e.place, "expected a destination register");
    int sinks = 0;
    const int known = sum_bits(to, sinks);
    const int whole = from.is(Value::Kind::Register) ? bits_of(from) : o.type().bits;
    const int sink_bits = sinks != 0 && known >= 0 && whole > known && (whole - known) % sinks == 0 ? (whole - known) / sinks : 0;
    if (known >= 0 && (sinks == 0 ? known == whole : is_width(sink_bits)) && is_width(whole) && !is_predicate_value(from)) {
      code.op = Op::Unpack;
      for (const Value& e : to.elements)
        code.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(sink_bits)) : register_operand(Role::Def, e));
      code.uses.push_back(in_register(from, whole));
      emit(std::move(code));
      return !failed();
    }
    return fail(to.place, fmt::format("'{}': the pieces together are as wide as the whole", o.text));
  }
  if (from.is(Value::Kind::Vector)) {
    int sinks = 0;
    const int known = sum_bits(from, sinks);
    const int whole = bits_of(to);
    int others = 0;
    for (const Value& e : from.elements) others += e.is(Value::Kind::Register) ? 0 : 1;
    const int other_bits =
        others != 0 && known >= 0 && whole > known && (whole - known) % others == 0 ? (whole - known) / others : 0;
    if (!to.is(Value::Kind::Register) || is_predicate_value(to) || to.negated || sinks != 0 || known < 0 ||
        (others == 0 ? known != whole : !is_width(other_bits)))
      return fail(from.place, fmt::format("'{}': the pieces together are as wide as the whole", o.text));
    code.op = Op::Pack;
    code.defs.push_back(register_operand(Role::Def, to));
    for (const Value& e : from.elements) code.uses.push_back(in_register(e, other_bits));
    emit(std::move(code));
    return !failed();
  }
  std::vector<Code> after;
  if (!to.is(Value::Kind::Register)) return fail(to.place, fmt::format("'{}': expected a destination register", o.text));
  if (!append_def(code, to, after, false, 0) || !append_use(code.uses, from, 0)) return false;
  code.flags = info.flags;
  if (from.is(Value::Kind::Register)) {
    if (!from.negated && bits_of(to) == bits_of(from)) code.op = Op::Copy;
  } else if (from.is(Value::Kind::Immediate) || (from.is(Value::Kind::Name) && !from.special && code.uses.size() == 1)) {
    code.op = Op::Const;
  } else if (from.is(Value::Kind::Name) && from.special) {
    if (is_volatile(from.name)) code.flags |= kMemRead;
  } else if (!from.is(Value::Kind::Name)) {
    return fail(from.place, fmt::format("'{}': expected a register, a name or a number", o.text));
  }
  emit(std::move(code));
  return !failed();
}

// ld.v4.f32 {...}, [p]: one aligned tuple is loaded and taken apart. Elements that are narrower in memory than their registers
// are taken apart first and then widened.
bool Lowering::vector_load(const Statement& s, const Opcode& o, const OpcodeInfo& info) {
  const Value& to = s.operands[0];
  Code load{.mnemonic = o.text, .flags = info.flags, .pure = true};
  if (!append_use(load.uses, s.operands[1], 0)) return false;
  const TypeInfo type = o.type();
  int element_bits = 0;
  const int bits = tuple_bits(to, element_bits, type.bits);
  const int n = static_cast<int>(to.elements.size());
  std::vector<Code> after;
  if (bits == 0 || type.bits == element_bits) {
    if (!append_def(load, to, after, guard_.has_value(), type.bits)) return false;
  } else if (guard_ || type.bits > element_bits || type.bits < 8 || !is_width(n * type.bits)) {
    for (const Value& e : to.elements) {
      if (e.is(Value::Kind::Sink)) load.defs.push_back(def(fresh(element_bits)));
      else if (!append_def(load, e, after, false, 0)) return false;
    }
  } else {
    const VRegId tuple = fresh(n * type.bits);
    load.defs.push_back(def(tuple));
    Code unpack{.op = Op::Unpack, .uses = {use(tuple)}};
    std::vector<std::pair<VRegId, const Value*>> widened;
    for (const Value& e : to.elements) {
      if ((!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) || e.negated)
        return fail(e.place, "expected a destination register");
      const VRegId piece = fresh(type.bits);
      unpack.defs.push_back(def(piece));
      if (e.is(Value::Kind::Register)) widened.emplace_back(piece, &e);
    }
    emit(std::move(load));
    emit(std::move(unpack));
    const char kind = type.kind == TypeKind::S ? 's' : 'u';
    const std::string widen = fmt::format("cvt.{}{}.{}{}", kind, element_bits, kind, type.bits);
    for (const auto& [piece, e] : widened) move_into(register_operand(Role::Def, *e), use(piece), widen, true);
    return !failed();
  }
  emit(std::move(load));
  for (Code& c : after) emit(std::move(c));
  return !failed();
}

// --- control flow ---------------------------------------------------------------------------------------------------

bool Lowering::branch(const Statement& s, const Opcode& o) {
  if (s.operands.size() != 1 || !s.operands[0].is(Value::Kind::Name))
    return fail(s.place, fmt::format("'{}': expected a label", o.text));
  const Value& name = s.operands[0];
  const int label = s_.find_label(s.scope, name.name);
  if (label < 0) return fail(name.place, fmt::format("there is no label '{}' here", name.name));
  if (s.guard < 0) {
    terminate(Op::Bra, o.text, {}, {{label}});
    return !failed();
  }
  const Operand condition = guard_of(s, Role::Use);
  const int targets[] = {label, kNext};
  terminate(Op::CBra, o.text, {&condition, 1}, targets);
  return !failed();
}

bool Lowering::indexed_branch(const Statement& s, const Opcode& o) {
  if (s.operands.size() != 2 || !s.operands[1].is(Value::Kind::Name) || is_predicate_value(s.operands[0]) ||
      (!s.operands[0].is(Value::Kind::Register) && !s.operands[0].is(Value::Kind::Immediate)))
    return fail(s.place, fmt::format("'{}': expected an index and the name of a .branchtargets list", o.text));
  const Value& name = s.operands[1];
  const int table = s_.find_table(s.scope, name.name);
  if (table < 0) return fail(name.place, fmt::format("there is no .branchtargets list '{}' here", name.name));
  const BranchTable& list = s_.tables[static_cast<std::size_t>(table)];
  std::vector<int> targets;
  for (const Value& v : list.labels) {
    const int label = s_.find_label(list.scope, v.name);
    if (label < 0) return fail(v.place, fmt::format("there is no label '{}' here", v.name));
    targets.push_back(label);
  }
  const bool guarded = s.guard >= 0;
  if (guarded) branch_around(s, {});
  const Operand index = in_register(s.operands[0], 32);
  terminate(Op::MBra, o.text, {&index, 1}, targets);
  owes_block_ = owes_block_ || guarded;
  return !failed();
}

bool Lowering::leave(const Statement& s, const Opcode& o) {
  if (!s.operands.empty()) return fail(s.operands[0].place, fmt::format("'{}' has no operands", o.text));
  const bool guarded = s.guard >= 0;
  const bool is_return = o.root() == "ret";
  if (guarded || !is_return) flush_pending();
  if (guarded) branch_around(s, {});
  std::vector<Operand> uses;
  if (is_return) return_values(uses);
  flush_pending();
  terminate(is_return ? Op::Ret : Op::Exit, o.text, uses, {});
  owes_block_ = owes_block_ || guarded;
  return !failed();
}

}  // namespace regduel::ir::ptx
