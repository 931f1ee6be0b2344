// See parser.h.
#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/parser.h"

namespace regduel::ir::ptx {
namespace {

// ".b0", ".h10", ".b7654": bytes or halves of the operand of a video instruction.
bool is_selector(std::string_view word) {
  return word.size() >= 2 && word.size() <= 5 && (word[0] == 'b' || word[0] == 'h') &&
         word.find_first_not_of("01234567", 1) == std::string_view::npos;
}

}  // namespace

// What has been collected on `scratch_` from there on becomes the elements.
void Parser::keep_elements(Value& v, std::size_t from) {
  v.set_elements(f_.values.keep(std::span<const Value>(scratch_).subspan(from)));
  scratch_.resize(from);
}

bool Parser::group(Value& v, Value::Kind kind, char close) {
  v.kind = kind;
  next();
  if (accept(close)) return true;
  const std::size_t from = scratch_.size();
  do {
    if (scratch_.size() - from == kMaxElements) return fail(tok(), fmt::format("more than {} elements", kMaxElements));
    Value element;
    if (!simple(element)) return false;
    scratch_.push_back(element);
  } while (accept(','));
  keep_elements(v, from);
  return tok().is(close) ? (next(), true) : expected(fmt::format("',' or '{}'", close));
}

bool Parser::operand(Value& v) {
  v.at = offset(tok());
  if (tok().is('[')) return address(v);
  if (tok().is('(')) return opcode_->kind == Opcode::Kind::Call ? group(v, Value::Kind::List, ')') : scalar_constant(v);
  if (tok().is('{') ? !group(v, Value::Kind::Vector, '}') : !simple(v)) return false;
  if (!tok().is('|')) return true;
  next();
  const std::size_t from = scratch_.size();
  Value second;
  if (!simple(second)) return false;
  scratch_.push_back(v);
  scratch_.push_back(second);
  Value pair;
  pair.kind = Value::Kind::Pair;
  pair.at = v.at;
  keep_elements(pair, from);
  v = pair;
  return true;
}

bool Parser::address(Value& v) {
  v.kind = Value::Kind::Address;
  next();
  const std::size_t from = scratch_.size();
  do {
    Value element;
    element.at = offset(tok());
    if (tok().is('{') ? !group(element, Value::Kind::Vector, '}') : !simple(element)) return false;
    if (scratch_.size() == from) {
      if (!element.is(Value::Kind::Register) && !element.is(Value::Kind::Immediate) && !element.is(Value::Kind::Name))
        return fail(element.at, "an address begins with a register, a name or a number");
      if ((element.flags & (Value::kNegated | Value::kMinus | Value::kSpecial)) != 0) return fail(element.at, "this is no address");
      if (!element.is(Value::Kind::Immediate)) std::swap(v.bits, element.bits);
      else if (tok().is('+') && tok_after().kind == TokenKind::Word) {  // [4+%rd]
        v.bits = element.bits;
        next();
        element = Value{};
        if (!word(element)) return false;
        if (!element.is(Value::Kind::Register) && !element.is(Value::Kind::Name)) return fail(element.at, "this is no address");
      }
    }
    scratch_.push_back(element);
  } while (accept(','));
  keep_elements(v, from);
  if (!tok().is(']')) return expected("'+', ',' or ']'");
  next();
  if (tok().is_directive(".unified")) next();  // says of the address that host and device share it
  return true;
}

bool Parser::scalar_constant(Value& v) {
  Number n;
  if (!constant(n)) return false;
  v.kind = Value::Kind::Immediate;
  v.bits = n.bits;
  return true;
}

bool Parser::simple(Value& v) {
  const Token first = tok();
  v.at = offset(first);
  if (first.kind == TokenKind::Word && first.text != "WARP_SZ") return word(v);
  if ((first.is('!') || first.is('-')) && tok_after().kind == TokenKind::Word && tok_after().text != "WARP_SZ") {
    next();
    if (!word(v)) return false;
    const bool is_register = v.is(Value::Kind::Register);
    const bool is_predicate = is_register && f_.registers[static_cast<std::size_t>(v.index)].type.kind == TypeKind::Pred;
    if (first.is('!')) {
      v.flags |= Value::kNegated;
      return is_predicate || fail(v.at, "only a predicate is negated");
    }
    v.flags |= Value::kMinus;
    return (is_register && !is_predicate) || fail(v.at, "only a number or a register has a sign");
  }
  if (!begins_constant() && first.kind != TokenKind::Word) return expected("an operand");
  return scalar_constant(v);
}

// The component of a vector register, or the bytes of a register, that the text behind its last point names. False without an error where it
// names none.
bool Parser::component(Value& v, std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  const int reg = scopes_.find_register(f_.registers, text.substr(0, dot));
  if (reg < 0) return false;
  const std::string_view suffix = text.substr(dot + 1);
  const Register& r = f_.registers[static_cast<std::size_t>(reg)];
  v.kind = Value::Kind::Register;
  v.index = reg;
  if (r.elements > 1 && suffix.size() == 1) {
    const std::size_t place = std::min(std::string_view("xyzw").find(suffix[0]), std::string_view("rgba").find(suffix[0]));
    if (place == std::string_view::npos) return false;
    if (static_cast<int>(place) >= r.elements) return fail(v.at, fmt::format("'{}' has no such component", text));
    v.component = static_cast<std::int8_t>(place);
    return true;
  }
  if (r.elements > 1 || !is_selector(suffix)) return false;
  v.selector = static_cast<std::uint8_t>(suffix.size() + 1);
  return true;
}

bool Parser::word(Value& v) {
  if (tok().kind != TokenKind::Word) return expected("an operand");
  const Token t = tok();
  v.at = offset(t);
  v.length = static_cast<std::uint32_t>(t.text.size());
  next();
  if (t.text == "_") return v.kind = Value::Kind::Sink, true;
  const Meaning m = scopes_.find(f_.registers, t.text);
  if (m.kind == Meaning::Kind::Register) {
    v.kind = Value::Kind::Register;
    v.index = m.index;
    return offsets(v.bits);
  }
  if (m.kind == Meaning::Kind::None && component(v, t.text)) return offsets(v.bits);
  if (failed()) return false;
  v.kind = Value::Kind::Name;
  v.index = m.kind == Meaning::Kind::Param ? m.index : -1;
  int element = m.kind == Meaning::Kind::Variable ? m.index : 1;
  if (m.kind == Meaning::Kind::None) {
    element = module_names_.find(t.text);
    if (t.text[0] == '%' && element < 0 && is_special_register(t.text)) {
      v.flags |= Value::kSpecial;
    } else if (element < 0) {
      // A label, or what the module declares later, which only few instructions name by a register's name.
      using enum Opcode::Kind;
      if (t.text[0] == '%' && opcode_->kind != Bra && opcode_->kind != Brx && opcode_->kind != Call)
        return fail(t, fmt::format("the register '{}' is not declared", t.text));
      locals_.push_back(v);
      locals_.back().index = scopes_.innermost();
    }
  }
  if (accept('(')) {  // generic(variable), and masks of its address
    if (!word(v)) return false;
    return expect(')') && offsets(v.bits);
  }
  if (tok().is('[')) {
    v.bits = static_cast<std::uint64_t>(std::max(element, 1));
    return element_of(v);
  }
  return offsets(v.bits);
}

// name[2], name[%r]; the bytes of an element stand in v.bits.
bool Parser::element_of(Value& v) {
  const std::uint64_t bytes = std::exchange(v.bits, 0);
  next();
  if (tok().kind == TokenKind::Word && tok().text != "WARP_SZ") {
    Value index;
    if (!word(index)) return false;
    if (!index.is(Value::Kind::Register)) return fail(index.at, "an index is a number or a register");
    const std::size_t from = scratch_.size();
    scratch_.push_back(v);
    scratch_.push_back(index);
    Value whole;
    whole.kind = Value::Kind::Address;
    whole.at = v.at;
    keep_elements(whole, from);
    v = whole;
    return expect(']');
  }
  Number n;
  if (!constant(n) || !expect(']')) return false;
  v.bits = n.bits * bytes;
  return offsets(v.bits);
}

}  // namespace regduel::ir::ptx
