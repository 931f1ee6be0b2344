#include "ir/ptx/token_reader.h"

#include <bit>

namespace regduel::ir::ptx {
namespace {

constexpr std::uint64_t kWarpSize = 32;

// Operators of two characters, by a letter.
constexpr char kOr = 'o', kAnd = 'a', kEqual = 'e', kNotEqual = 'n', kLessEqual = 'l', kGreaterEqual = 'g', kShiftLeft = 'L',
               kShiftRight = 'R';

}  // namespace

std::string TokenReader::shown(const Token& t) {
  if (t.kind == TokenKind::End) return "the end of the file";
  if (t.kind == TokenKind::String) return "a string";
  if (t.kind == TokenKind::Bad && t.text.starts_with('"')) return "a string without its end";
  if (t.kind == TokenKind::Bad && t.text.size() > 1) return "a comment without its end";
  if (t.kind == TokenKind::Bad && (t.text[0] < ' ' || t.text[0] > '~'))
    return fmt::format("the byte 0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(t.text[0])));
  return fmt::format("'{}'", t.text);
}

std::optional<std::uint64_t> TokenReader::number(std::string_view what) {
  if (token_.kind != TokenKind::Number) return expected(what), std::nullopt;
  const auto value = parse_number(token_.text);
  if (!value) return fail(token_, fmt::format("'{}' is no number of at most 64 bits", token_.text)), std::nullopt;
  next();
  return value->bits;
}

void TokenReader::skip_line(const Token& first) {
  const std::size_t newline = text_.find('\n', offset(first));
  while (!at_end() && offset(token_) < newline) next();
}

bool TokenReader::skip_group(char open, char close) {
  const Token opening = token_;
  for (std::size_t depth = 0;; next()) {
    if (token_.kind == TokenKind::Bad) return expected("a token");
    if (token_.kind == TokenKind::End) return fail(opening, fmt::format("'{}' has no '{}'", open, close));
    if (token_.is(open)) ++depth;
    if (token_.is(close) && --depth == 0) return next(), true;
  }
}

bool TokenReader::skip_to_semicolon() {
  while (!token_.is(';')) {
    if (at_end()) return expected("';'");
    next();
  }
  return next(), true;
}

// --- constants ------------------------------------------------------------------------------------------------------

bool TokenReader::offsets(std::uint64_t& sum) {
  while (token_.is('+') || token_.is('-')) {
    const bool minus = token_.is('-');
    next();
    Number n;
    if (!begins_constant() && token_.text != "WARP_SZ") return expected("a number");
    if (!unary(n, 0) || !binary(n, 10, 0)) return false;
    sum = minus ? sum - n.bits : sum + n.bits;
  }
  return true;
}

std::pair<int, char> TokenReader::binary_operator() const {
  if (token_.kind != TokenKind::Punctuation) return {0, '\0'};
  const char c = token_.text[0];
  // The second character has to follow at once.
  const bool is_next = after_.kind == TokenKind::Punctuation && after_.text.data() == token_.text.data() + 1;
  const char second = is_next ? after_.text[0] : '\0';
  switch (c) {
    case '|': return second == '|' ? std::pair(1, kOr) : std::pair(3, '|');
    case '&': return second == '&' ? std::pair(2, kAnd) : std::pair(5, '&');
    case '^': return {4, '^'};
    case '=': return second == '=' ? std::pair(6, kEqual) : std::pair(0, '\0');
    case '!': return second == '=' ? std::pair(6, kNotEqual) : std::pair(0, '\0');
    case '<': return second == '<' ? std::pair(8, kShiftLeft) : second == '=' ? std::pair(7, kLessEqual) : std::pair(7, '<');
    case '>': return second == '>' ? std::pair(8, kShiftRight) : second == '=' ? std::pair(7, kGreaterEqual) : std::pair(7, '>');
    case '+':
    case '-': return {9, c};
    case '*':
    case '/':
    case '%': return {10, c};
    default: return {0, '\0'};
  }
}

bool TokenReader::apply(char op, Number& left, const Number& right, const Token& at) {
  const auto as_double = [](const Number& n) {
    return n.is_float ? std::bit_cast<double>(n.bits) : static_cast<double>(static_cast<std::int64_t>(n.bits));
  };
  if (left.is_float || right.is_float) {
    const double a = as_double(left), b = as_double(right);
    const double value = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
    left = {std::bit_cast<std::uint64_t>(value), false, true};
    return std::string_view("+-*/").contains(op) || fail(at, "this operator takes integers");
  }
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const std::uint64_t a = left.bits, b = right.bits;
  const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
  std::uint64_t value = 0;
  bool is_truth = false;
  const auto truth = [&](bool t) {
    value = t ? 1 : 0;
    is_truth = true;
  };
  switch (op) {
    case kOr: truth(a != 0 || b != 0); break;
    case kAnd: truth(a != 0 && b != 0); break;
    case kEqual: truth(a == b); break;
    case kNotEqual: truth(a != b); break;
    case '<': truth(is_unsigned ? a < b : sa < sb); break;
    case '>': truth(is_unsigned ? a > b : sa > sb); break;
    case kLessEqual: truth(is_unsigned ? a <= b : sa <= sb); break;
    case kGreaterEqual: truth(is_unsigned ? a >= b : sa >= sb); break;
    case '|': value = a | b; break;
    case '&': value = a & b; break;
    case '^': value = a ^ b; break;
    case kShiftLeft: value = b > 63 ? 0 : a << b; break;
    case kShiftRight: value = left.is_unsigned ? (b > 63 ? 0 : a >> b) : static_cast<std::uint64_t>(sa >> (b > 63 ? 63 : b)); break;
    case '+': value = a + b; break;
    case '-': value = a - b; break;
    case '*': value = a * b; break;
    default: {  // '/' and '%'
      if (b == 0) return fail(at, "a division by zero");
      const bool by_minus_one = !is_unsigned && sb == -1;  // the least number has no opposite
      const std::uint64_t quotient = is_unsigned ? a / b : by_minus_one ? 0 - a : static_cast<std::uint64_t>(sa / sb);
      value = op == '/' ? quotient : a - quotient * b;
    }
  }
  left = {value, is_unsigned && !is_truth, false};
  return true;
}

bool TokenReader::unary(Number& result, int depth) {
  if (depth > kMaxNesting) return fail(token_, fmt::format("an expression is nested deeper than {}", kMaxNesting));
  const Token at = token_;
  if (accept('+')) return unary(result, depth + 1);
  if (accept('-')) {
    // The sign of a float literal is that of its bits.
    const bool is_single =
        token_.kind == TokenKind::Number && token_.text.size() == 10 && (token_.text[1] == 'f' || token_.text[1] == 'F');
    if (!unary(result, depth + 1)) return false;
    result.bits = !result.is_float ? 0 - result.bits : is_single ? result.bits ^ 1ull << 31 : result.bits ^ 1ull << 63;
    return true;
  }
  if (accept('~') || accept('!')) {
    if (!unary(result, depth + 1)) return false;
    if (result.is_float) return fail(at, "this operator takes integers");
    if (at.is('~')) result.bits = ~result.bits;
    else result = {result.bits == 0 ? 1ull : 0ull, false, false};
    return true;
  }
  if (accept('(')) {
    if (token_.kind == TokenKind::Directive) {
      const bool is_unsigned = token_.text == ".u64";
      if (!is_unsigned && token_.text != ".s64") return expected("'.s64' or '.u64'");
      next();
      if (!expect(')') || !unary(result, depth + 1)) return false;
      result.is_unsigned = is_unsigned;
      return true;
    }
    return conditional(result, depth + 1) && expect(')');
  }
  if (token_.kind == TokenKind::Word && token_.text == "WARP_SZ") return next(), result = {kWarpSize, false, false}, true;
  if (token_.kind != TokenKind::Number) return expected("a number");
  const auto value = parse_number(token_.text);
  if (!value) return fail(token_, fmt::format("'{}' is no number of at most 64 bits", token_.text));
  next();
  result = *value;
  return true;
}

// By precedence climbing: operators that bind at least as tightly as `least`.
bool TokenReader::binary(Number& left, int least, int depth) {
  for (;;) {
    const auto [tightness, op] = binary_operator();
    if (tightness == 0 || tightness < least) return true;
    const Token at = token_;
    next();
    if (std::string_view("oaenlgLR").contains(op)) next();
    Number right;
    if (!unary(right, depth + 1) || !binary(right, tightness + 1, depth + 1) || !apply(op, left, right, at)) return false;
  }
}

bool TokenReader::conditional_rest(Number& result, int depth) {
  if (!accept('?')) return true;
  Number yes, no;
  if (!conditional(yes, depth + 1) || !expect(':') || !conditional(no, depth + 1)) return false;
  result = result.bits != 0 ? yes : no;
  return true;
}

bool TokenReader::conditional(Number& result, int depth) {
  return unary(result, depth) && binary(result, 0, depth) && conditional_rest(result, depth);
}

}  // namespace regduel::ir::ptx
