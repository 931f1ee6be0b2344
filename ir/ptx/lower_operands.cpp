// Operands for Lowering: registers, names, numbers, and vectors as tuples.
#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/lowering.h"

namespace regduel::ir::ptx {

bool is_width(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 96 || bits == 128 || bits == 256; }

bool is_volatile(std::string_view special) {
  for (const std::string_view name : {"%clock", "%globaltimer", "%pm", "%smid", "%warpid"})
    if (special.starts_with(name)) return true;
  return false;
}

void Lowering::append_name(Operands& uses, std::string_view name, std::uint64_t offset) {
  uses.push_back(Operand::of_symbol(symbol(name)));
  if (offset != 0) uses.push_back(Operand::of_imm(static_cast<std::int64_t>(offset)));
}

Operand Lowering::in_register(const Value& v, int bits) {
  if (v.is(Value::Kind::Register)) return register_operand(Role::Use, v);
  const VRegId result = fresh(bits);
  Code code{.defs = {def(result)}, .guarded = false, .pure = true};
  if (v.is(Value::Kind::Name)) {
    append_name(code.uses, text_of(v), v.bits);
    if (v.special() || code.uses.size() > 1) {
      code.mnemonic = symbol("mov");
      if (v.special() && is_volatile(text_of(v))) code.flags = kMemRead;
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

Operand Lowering::packed(Operands pieces, int bits) {
  const VRegId tuple = fresh(bits);
  emit({.op = Op::Pack, .defs = {def(tuple)}, .uses = std::move(pieces), .guarded = false});
  return use(tuple);
}

int Lowering::tuple_bits(const Value& v, int& element_bits, int hint_bits) const {
  element_bits = 0;
  for (const Value& e : v.elements()) {
    if (!e.is(Value::Kind::Register)) continue;
    if (is_predicate_value(e)) return 0;
    if (element_bits != 0 && bits_of(e) != element_bits) return 0;
    element_bits = bits_of(e);
  }
  if (element_bits == 0) element_bits = hint_bits >= 8 ? hint_bits : 32;
  const std::size_t n = v.elements().size();
  if (n < 2 || n > 32 || (n & (n - 1)) != 0) return 0;
  const int bits = static_cast<int>(n) * element_bits;
  return is_width(bits) ? bits : 0;
}

bool Lowering::append_vector_use(Operands& uses, const Value& v, int hint_bits) {
  if (v.elements().size() == 1) return append_use(uses, v.elements()[0], hint_bits);
  int element_bits = 0;
  const int bits = tuple_bits(v, element_bits, hint_bits);
  const bool sinks = std::any_of(v.elements().begin(), v.elements().end(), [](const Value& e) { return e.is(Value::Kind::Sink); });
  if (bits == 0 || sinks) {
    for (const Value& e : v.elements())
      if (!append_use(uses, e, hint_bits)) return false;
    return true;
  }
  Operands pieces;
  for (const Value& e : v.elements()) pieces.push_back(in_register(e, element_bits));
  uses.push_back(packed(std::move(pieces), bits));
  return true;
}

// A register, bytes of it, with a sign, or with a number that is added to it.
void Lowering::append_register(Operands& uses, const Value& v) {
  if ((v.flags & Value::kMinus) != 0) uses.push_back(Operand::of_symbol(symbol("-")));
  Operand op = register_operand(Role::Use, v);
  std::string_view selector;
  if (v.selector != 0) {
    selector = text_of(v).substr(v.length - v.selector);
    const int bytes = selector[1] == 'b' ? 1 : 2;
    const auto part = selector.size() == 3 ? Part::from_bytes((selector[2] - '0') * bytes, bytes) : std::nullopt;
    if (part && reg(v).type.bits == 32 && part->offset_bytes() + bytes <= 4) {
      op.part = *part;
      selector = {};
    }
  }
  uses.push_back(op);
  if (!selector.empty()) uses.push_back(Operand::of_symbol(symbol(selector)));
  if (v.bits != 0) uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits)));
}

bool Lowering::append_use(Operands& uses, const Value& v, int hint_bits) {
  switch (v.kind) {
    case Value::Kind::Register: append_register(uses, v); return true;
    case Value::Kind::Immediate: uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits))); return true;
    case Value::Kind::Name: append_name(uses, text_of(v), v.bits); return true;
    case Value::Kind::Sink: uses.push_back(Operand::of_symbol(symbol("_"))); return true;
    case Value::Kind::Vector: return append_vector_use(uses, v, hint_bits);
    case Value::Kind::Pair:
    case Value::Kind::Address:
      for (std::size_t k = 0; k < v.elements().size(); ++k) {
        const Value& e = v.elements()[k];
        // The offset of an address belongs to its base.
        if (k == 0 && v.is(Value::Kind::Address) && e.is(Value::Kind::Name)) {
          append_name(uses, text_of(e), v.bits);
          continue;
        }
        if (!append_use(uses, e, 32)) return false;
        if (k == 0 && v.is(Value::Kind::Address) && v.bits != 0) uses.push_back(Operand::of_imm(static_cast<std::int64_t>(v.bits)));
      }
      return true;
    case Value::Kind::List: break;
  }
  return fail(v.at, "a list in parentheses belongs to a call");
}

// Appends a destination. An unpack of its tuple, which has to follow the instruction, goes to `after`.
bool Lowering::append_def(Code& code, const Value& v, std::vector<Code>& after, bool guarded, int hint_bits) {
  if (v.is(Value::Kind::Register)) {
    if (v.negated()) return fail(v.at, "a destination is not negated");
    code.defs.push_back(register_operand(Role::Def, v));
    // The result of a video instruction goes to these bytes, those of another operand to the others.
    if (v.selector != 0) code.uses.push_back(Operand::of_symbol(symbol(text_of(v).substr(v.length - v.selector))));
    return true;
  }
  if (v.is(Value::Kind::Sink)) return true;
  if (!v.is(Value::Kind::Vector)) return fail(v.at, "expected a destination register");
  for (const Value& e : v.elements())
    if ((!e.is(Value::Kind::Register) && !e.is(Value::Kind::Sink)) || e.negated())
      return fail(e.at, "expected a destination register");
  int element_bits = 0;
  const int bits = tuple_bits(v, element_bits, hint_bits);
  const bool sinks = std::any_of(v.elements().begin(), v.elements().end(), [](const Value& e) { return e.is(Value::Kind::Sink); });
  if (bits == 0 || (guarded && sinks)) {
    for (const Value& e : v.elements())
      code.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(std::min(std::max(element_bits, 8), 128)))
                                                  : register_operand(Role::Def, e));
    return true;
  }
  const VRegId tuple = fresh(bits);
  if (guarded) {
    // The registers keep their values where the guard does not hold.
    Code before{.op = Op::Pack, .defs = {def(tuple)}, .guarded = false};
    for (const Value& e : v.elements()) before.uses.push_back(register_operand(Role::Use, e));
    emit(std::move(before));
  }
  code.defs.push_back(def(tuple));
  Code unpack{.op = Op::Unpack, .uses = {use(tuple)}, .guarded = false};
  for (const Value& e : v.elements())
    unpack.defs.push_back(e.is(Value::Kind::Sink) ? def(fresh(element_bits)) : register_operand(Role::Def, e));
  after.push_back(std::move(unpack));
  return true;
}

// Appends the tuple of a store of narrow elements from wider registers, which has the size of the memory. False if the operand is
// no such vector.
bool Lowering::append_narrowed(Operands& uses, const Value& v, int hint_bits) {
  int element_bits = 0;
  const int bits = static_cast<int>(v.elements().size()) * hint_bits;
  if (!v.is(Value::Kind::Vector) || v.elements().size() < 2 || tuple_bits(v, element_bits, hint_bits) == 0 || hint_bits < 8 ||
      element_bits <= hint_bits || !is_width(bits))
    return false;
  const SymbolId narrow = symbol(fmt::format("cvt.u{}.u{}", hint_bits, element_bits));
  Operands pieces;
  for (const Value& e : v.elements()) {
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

}  // namespace regduel::ir::ptx
