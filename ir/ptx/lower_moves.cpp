// Moves, vector loads and the parameters of a kernel for Lowering.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {
namespace {

// The dimensions of %tid and its kind, in the order of a vector.
constexpr std::string_view kDimensions[] = {".x", ".y", ".z", ".w"};

}  // namespace

// --- moves ----------------------------------------------------------------------------------------------------------

// The bits of the registers among the pieces, and how many other pieces there are. False where one is no piece.
bool Lowering::is_width_of_pieces(const Value& v, int& sum, int& others) const {
  for (const Value& e : v.elements()) {
    if (is_predicate_value(e) || e.negated() || sum > 256) return false;
    if (!e.is(Value::Kind::Register)) ++others;
    sum += bits_of(e);
  }
  return true;
}

bool Lowering::mov(const Statement& s, const Opcode& o, const OpcodeInfo& info) {
  const Value &to = s.first_operand[0], &from = s.first_operand[1];
  if (to.is(Value::Kind::Sink)) return fail(to.at, fmt::format("'{}': expected a destination register", o.text));
  if (to.is(Value::Kind::Vector) && (from.is(Value::Kind::Vector) || (from.is(Value::Kind::Name) && from.special())))
    return mov_of_vectors(s, o);
  if (to.is(Value::Kind::Vector)) return mov_to_vector(s, o);
  if (from.is(Value::Kind::Vector)) return mov_from_vector(s, o);
  Code code{.mnemonic = mnemonic_of(o), .pure = true};
  std::vector<Code> after;
  if (!to.is(Value::Kind::Register)) return fail(to.at, fmt::format("'{}': expected a destination register", o.text));
  if (!append_def(code, to, after, false, 0) || !append_use(code.uses, from, 0)) return false;
  code.flags = info.flags;
  if (from.is(Value::Kind::Register)) {
    if (code.uses.size() == 1 && !from.negated() && bits_of(to) == bits_of(from)) code.op = Op::Copy;
  } else if (from.is(Value::Kind::Immediate) || (from.is(Value::Kind::Name) && !from.special() && code.uses.size() == 1)) {
    code.op = Op::Const;
  } else if (from.is(Value::Kind::Name) && from.special()) {
    if (is_volatile(text_of(from))) code.flags |= kMemRead;
  } else if (!from.is(Value::Kind::Name) && !from.is(Value::Kind::Address)) {
    return fail(from.at, fmt::format("'{}': expected a register, a name or a number", o.text));
  }
  emit(std::move(code));
  return !failed();
}

// mov.v2.b32 {%a, %b}, {%c, %d}: all at once. mov.v4.u32 {...}, %tid: one dimension after the other.
bool Lowering::mov_of_vectors(const Statement& s, const Opcode& o) {
  const Value &to = s.first_operand[0], &from = s.first_operand[1];
  const auto tos = to.elements(), froms = from.elements();
  if (from.is(Value::Kind::Vector) ? tos.size() != froms.size() : tos.size() > std::size(kDimensions))
    return fail(to.at, fmt::format("'{}': both vectors have as many elements", o.text));
  Code code{.op = Op::Copy, .mnemonic = mnemonic_of(o)};
  for (std::size_t k = 0; k < tos.size(); ++k) {
    if (tos[k].is(Value::Kind::Sink)) continue;
    if (!tos[k].is(Value::Kind::Register) || tos[k].negated()) return fail(tos[k].at, "expected a destination register");
    const Operand target = register_operand(Role::Def, tos[k]);
    if (!from.is(Value::Kind::Vector)) {
      const Operand dimension = Operand::of_symbol(symbol(std::string(text_of(from)) + std::string(kDimensions[k])));
      emit({.mnemonic = symbol("mov.u32"), .defs = {target}, .uses = {dimension}, .pure = true});
      continue;
    }
    const Operand source = in_register(froms[k], bits_of(tos[k]));
    if (f_.operand_bytes(source) != f_.operand_bytes(target))
      return fail(froms[k].at, fmt::format("'{}': an element is as wide as the one that it becomes", o.text));
    code.defs.push_back(target);
    code.uses.push_back(source);
  }
  if (!code.defs.empty()) emit(std::move(code));
  return !failed();
}

bool Lowering::mov_to_vector(const Statement& s, const Opcode& o) {
  const Value &to = s.first_operand[0], &from = s.first_operand[1];
  for (const Value& e : to.elements())
    if (!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) return fail(e.at, "expected a destination register");
  int known = 0, sinks = 0;
  const bool are_pieces = is_width_of_pieces(to, known, sinks);
  const int whole = from.is(Value::Kind::Register) ? bits_of(from) : o.type.bits;
  const int sink_bits = sinks != 0 && whole > known && (whole - known) % sinks == 0 ? (whole - known) / sinks : 0;
  if (!are_pieces || !is_width(whole) || is_predicate_value(from) || (sinks == 0 ? known != whole : !is_width(sink_bits)))
    return fail(to.at, fmt::format("'{}': the pieces together are as wide as the whole", o.text));
  Code code{.op = Op::Unpack, .mnemonic = mnemonic_of(o)};
  for (const Value& e : to.elements())
    code.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(sink_bits)) : register_operand(Role::Def, e));
  code.uses.push_back(in_register(from, whole));
  emit(std::move(code));
  return !failed();
}

bool Lowering::mov_from_vector(const Statement& s, const Opcode& o) {
  const Value &to = s.first_operand[0], &from = s.first_operand[1];
  int known = 0, others = 0;
  bool are_pieces = is_width_of_pieces(from, known, others);
  for (const Value& e : from.elements()) are_pieces = are_pieces && !e.is(Value::Kind::Sink);
  const int whole = bits_of(to);
  const int other_bits = others != 0 && whole > known && (whole - known) % others == 0 ? (whole - known) / others : 0;
  if (!to.is(Value::Kind::Register) || is_predicate_value(to) || to.negated() || !are_pieces ||
      (others == 0 ? known != whole : !is_width(other_bits)))
    return fail(from.at, fmt::format("'{}': the pieces together are as wide as the whole", o.text));
  Code code{.op = Op::Pack, .mnemonic = mnemonic_of(o), .defs = {register_operand(Role::Def, to)}};
  for (const Value& e : from.elements()) code.uses.push_back(in_register(e, other_bits));
  emit(std::move(code));
  return !failed();
}

// --- vector loads ---------------------------------------------------------------------------------------------------

// ld.v4.f32 {...}, [p]: one aligned tuple is loaded and taken apart. Elements that are narrower in memory than their registers
// are taken apart first and then widened.
bool Lowering::vector_load(const Statement& s, const Opcode& o, const OpcodeInfo& info) {
  const Value& to = s.operands()[0];
  Code load{.mnemonic = mnemonic_of(o), .flags = info.flags, .pure = true};
  if (!append_use(load.uses, s.operands()[1], 0)) return false;
  const TypeInfo type = o.type;
  int element_bits = 0;
  const int bits = tuple_bits(to, element_bits, type.bits);
  const int n = static_cast<int>(to.elements().size());
  std::vector<Code> after;
  if (bits == 0 || type.bits == element_bits) {
    if (!append_def(load, to, after, guard_.has_value(), type.bits)) return false;
  } else if (guard_ || type.bits > element_bits || type.bits < 8 || !is_width(n * type.bits)) {
    for (const Value& e : to.elements()) {
      if (e.is(Value::Kind::Sink)) load.defs.push_back(def(fresh(element_bits)));
      else if (!append_def(load, e, after, false, 0)) return false;
    }
  } else {
    const VRegId tuple = fresh(n * type.bits);
    load.defs.push_back(def(tuple));
    Code unpack{.op = Op::Unpack, .uses = {use(tuple)}};
    std::vector<std::pair<VRegId, const Value*>> widened;
    for (const Value& e : to.elements()) {
      if ((!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) || e.negated())
        return fail(e.at, "expected a destination register");
      const VRegId piece = fresh(type.bits);
      unpack.defs.push_back(def(piece));
      if (e.is(Value::Kind::Register)) widened.emplace_back(piece, &e);
    }
    emit(std::move(load));
    emit(std::move(unpack));
    const char kind = type.kind == TypeKind::S ? 's' : 'u';
    const SymbolId widen = symbol(fmt::format("cvt.{}{}.{}{}", kind, element_bits, kind, type.bits));
    for (const auto& [piece, e] : widened) move_into(register_operand(Role::Def, *e), use(piece), widen, true);
    return !failed();
  }
  emit(std::move(load));
  for (Code& c : after) emit(std::move(c));
  return !failed();
}

// A vector of parameters of a kernel: each element is a constant of its own, which may be loaded again alone.
bool Lowering::scalar_loads(const Statement& s, const Opcode& o, const OpcodeInfo& info) {
  std::string scalar(o.root());
  for (auto part = o.parts.begin() + 1; part != o.parts.end(); ++part)
    if (*part != "v2" && *part != "v4" && *part != "v8") (scalar += '.') += *part;
  const SymbolId mnemonic = symbol(scalar);
  Value address = s.first_operand[1];
  for (const Value& e : s.first_operand[0].elements()) {
    if (!e.is(Value::Kind::Sink)) {
      if (!e.is(Value::Kind::Register) || e.negated()) return fail(e.at, "expected a destination register");
      Code load{.mnemonic = mnemonic, .flags = info.flags, .defs = {register_operand(Role::Def, e)}, .pure = true};
      if (!append_use(load.uses, address, 0)) return false;
      emit(std::move(load));
    }
    address.bits += static_cast<std::uint64_t>(std::max(o.type.bits, 8) / 8);
  }
  return !failed();
}

// --- parameters of a kernel -----------------------------------------------------------------------------------------

// Registers with one def, which makes them the address of a parameter, perhaps with a number added.
void Lowering::find_addresses_of_params() {
  if (!s_.is_entry) return;
  std::vector<std::uint8_t> defs(s_.registers.size(), 0);
  const auto count = [&](const auto& self, const Value& v) -> void {
    if (v.is(Value::Kind::Register)) defs[static_cast<std::size_t>(v.index)] = defs[static_cast<std::size_t>(v.index)] == 0 ? 1 : 2;
    if (v.is(Value::Kind::Vector) || v.is(Value::Kind::Pair) || v.is(Value::Kind::List))
      for (const Value& e : v.elements()) self(self, e);
  };
  bool some = false;
  for (const Statement& s : s_.statements)
    if (s.kind == Statement::Kind::Instruction && s.num_operands > 0) {
      count(count, s.first_operand[0]);
      some = some || (s.opcode->kind == Opcode::Kind::Mov && s.num_operands == 2 && s.first_operand[1].is(Value::Kind::Name) &&
                      s.first_operand[1].index >= 0);
    }
  if (!some) return;
  addresses_.resize(s_.registers.size());
  for (const Statement& s : s_.statements) {
    if (s.kind != Statement::Kind::Instruction || s.guard >= 0 || s.num_operands < 2 || s.num_operands > 3) continue;
    const auto ops = s.operands();
    if (!ops[0].is(Value::Kind::Register) || ops[0].component >= 0 || defs[static_cast<std::size_t>(ops[0].index)] != 1) continue;
    const bool is_mov = s.opcode->kind == Opcode::Kind::Mov && ops.size() == 2;
    const bool is_add = s.opcode->root() == "add" && ops.size() == 3 && ops[2].is(Value::Kind::Immediate);
    if (!is_mov && !is_add) continue;
    const Value& from = ops[1];
    ParamAddress a;
    if (from.is(Value::Kind::Name) && from.index >= 0 &&
        std::find(s_.arguments.begin(), s_.arguments.end(), from.index) != s_.arguments.end())
      a = {from.index, 0, from.at, from.length};
    else if (from.is(Value::Kind::Register)) a = addresses_[static_cast<std::size_t>(from.index)];
    if (a.param < 0) continue;
    a.offset += from.bits + (is_add ? ops[2].bits : 0);
    addresses_[static_cast<std::size_t>(ops[0].index)] = a;
  }
}

const Statement& Lowering::with_param_as_address(const Statement& s) {
  if (addresses_.empty() || s.opcode->kind != Opcode::Kind::Ld || !s.opcode->is_param_space || s.num_operands != 2) return s;
  const Value& address = s.first_operand[1];
  if (!address.is(Value::Kind::Address) || address.elements().size() != 1 || !address.first->is(Value::Kind::Register)) return s;
  const ParamAddress& a = addresses_[static_cast<std::size_t>(address.first->index)];
  if (a.param < 0) return s;
  changed_ = s;
  changed_base_ = *address.first;
  changed_base_.kind = Value::Kind::Name;
  changed_base_.index = a.param;
  changed_base_.at = a.at;
  changed_base_.length = a.length;
  changed_operands_[0] = s.first_operand[0];
  changed_operands_[1] = address;
  changed_operands_[1].bits += a.offset;
  changed_operands_[1].set_elements({&changed_base_, 1});
  changed_.first_operand = changed_operands_;
  return changed_;
}

}  // namespace regduel::ir::ptx
