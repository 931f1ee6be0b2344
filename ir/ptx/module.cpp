// See parser.h.
#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/parser.h"

namespace regduel::ir::ptx {
namespace {

constexpr std::uint64_t kMaxParamBytes = 1u << 20;
constexpr std::uint64_t kMaxLocalBytes = 1u << 30;
constexpr std::uint64_t kMostThreads = 1u << 20;

bool is_linkage(const Token& t) {
  return t.is_directive(".visible") || t.is_directive(".weak") || t.is_directive(".extern") || t.is_directive(".common");
}

}  // namespace

Parsed<ModuleSyntax> parse_syntax(std::string_view text, std::string_view file_name, OpcodeTable& opcodes,
                                  const TakeFunction& take) {
  if (text.size() >= UINT32_MAX) return std::unexpected(SourceError{std::string(file_name), 0, 0, "the file has 4 GiB or more"});
  return Parser(text, file_name, opcodes, take).run();
}

Parsed<ModuleSyntax> Parser::run() {
  while (!failed() && tok().kind != TokenKind::End) module_item();
  for (const Value& name : unresolved_) {
    if (failed()) break;
    const std::string_view word = text().substr(name.at, name.length);
    if (module_names_.find(word) < 0) fail(name.at, fmt::format("'{}' is not declared", word));
  }
  if (failed()) return std::unexpected(error());
  return std::move(module_);
}

bool Parser::module_item() {
  if (tok().is(';')) return next(), true;
  const Token first = tok();
  if (first.is('@') && tok_after().is('@')) return skip_line(first), true;  // DWARF of old compilers
  bool is_weak = false, is_visible = false;
  for (; is_linkage(tok()); next()) {
    is_weak = is_weak || tok().is_directive(".weak");
    is_visible = true;
  }
  const Token t = tok();
  if (t.kind != TokenKind::Directive) return expected("a directive");
  next();
  const std::string_view d = t.text;
  if (d == ".version") return number("a version").has_value();
  if (d == ".address_size") return number("32 or 64").has_value();
  if (d == ".target") return target();
  if (d == ".entry" || d == ".func") return function(d == ".entry", is_weak, is_visible);
  if (d == ".global" || d == ".const" || d == ".shared" || d == ".local" || d == ".tex" || d == ".param")
    return variables(Where::Module, false);
  if (d == ".reg") return declare_registers(module_registers_);
  if (d == ".file") return file();
  if (d == ".pragma") return skip_to_semicolon();
  if (d == ".section") {
    if (tok().kind != TokenKind::Directive && tok().kind != TokenKind::Word) return expected("the name of a section");
    next();
    if (!tok().is('{')) return expected("'{'");
    return skip_group('{', '}');
  }
  if (d == ".alias") {
    if (tok().kind != TokenKind::Word) return expected("a function");
    module_names_.insert(tok().text, 1);
    return skip_to_semicolon();
  }
  return fail(t, fmt::format("unknown directive '{}'", d));
}

// .file NUMBER "name" [, timestamp, size]
bool Parser::file() {
  const Token first = tok();
  const auto n = number("the number of a file");
  if (!n) return false;
  if (tok().kind != TokenKind::String) return expected("the name of a file");
  module_.files[*n] = tok().text;
  return skip_line(first), true;
}

bool Parser::target() {
  const Token first = tok();
  if (first.kind != TokenKind::Word) return expected("a target");
  next();
  while (accept(',')) {
    if (tok().kind != TokenKind::Word) return expected("a target option");
    next();
  }
  if (module_.target.empty()) {
    module_.target = first.text;
    module_.target_at = offset(first);
  }
  return true;
}

bool Parser::attribute() { return tok().is('(') ? skip_group('(', ')') : expected("'('"); }

bool Parser::variables(Where where, bool is_local) {
  for (std::uint64_t align = 1, bytes = 4, elements = 1;;) {
    while (tok().kind == TokenKind::Directive) {
      const std::string_view d = tok().text.substr(1);
      next();
      Number n;
      if (d == "align") {
        if (!constant(n)) return false;
        align = std::clamp<std::uint64_t>(n.bits, 1, 1u << 16);
      } else if (d == "attribute") {
        if (!attribute()) return false;
      } else if (d == "v2" || d == "v4") {
        elements = static_cast<std::uint64_t>(d[1] - '0');
      } else if (const TypeInfo t = type_from_name(d); t.bits != 0) {
        bytes = static_cast<std::uint64_t>(std::max(t.bits, 8) / 8);
      }
    }
    if (tok().kind != TokenKind::Word) return expected("a name");
    const Token name = tok();
    next();
    const std::uint64_t element = bytes * elements;
    if (where == Where::Module) module_names_.insert(name.text, static_cast<std::int32_t>(element));
    else scopes_.declare(name.text, {Meaning::Kind::Variable, static_cast<int>(element)});
    std::uint64_t size = element;
    if (accept('<')) {
      const auto n = number("a count");
      if (!n || !expect('>')) return false;
      size = *n > kMaxLocalBytes / size ? kMaxLocalBytes + 1 : size * *n;
    }
    while (accept('[')) {
      if (accept(']')) continue;  // as many as there are values
      Number n;
      if (!constant(n) || !expect(']')) return false;
      size = n.bits != 0 && size > kMaxLocalBytes / n.bits ? kMaxLocalBytes + 1 : size * n.bits;
    }
    PtxVariable& known = module_.variables[std::string(name.text)];
    known.bytes = std::max(known.bytes, size);
    known.align = std::max(known.align, static_cast<std::uint32_t>(std::max(align, element)));
    if (is_local) {
      align = std::max(align, element);
      f_.local_bytes = (f_.local_bytes + align - 1) / align * align + size;
      if (f_.local_bytes > kMaxLocalBytes) return fail(name, "the local variables of a function have more than 2^30 bytes");
    }
    if (accept('=')) {
      const auto begin = offset(tok());
      while (!tok().is(',') && !tok().is(';')) {
        if (at_end()) return expected("a value");
        if (tok().is('{') ? !skip_group('{', '}') : tok().is('(') ? !skip_group('(', ')') : (next(), false)) return false;
      }
      module_.initialisers.push_back(text().substr(begin, offset(tok()) - begin));
    }
    if (accept(';')) return true;
    if (!expect(',')) return false;
  }
}

// --- signatures -----------------------------------------------------------------------------------------------------

bool Parser::function(bool is_entry, bool is_weak, bool is_visible) {
  f_ = FunctionSyntax{};
  f_.text = text();
  line_ = -1;
  locals_.clear();
  f_.is_entry = is_entry;
  open_scope(-1);
  while (tok().kind == TokenKind::Directive) {
    const bool is_attribute = tok().is_directive(".attribute");
    next();
    if (is_attribute && !attribute()) return false;
  }
  if (!is_entry && tok().is('(') && !signature(f_.returns)) return false;
  if (tok().kind != TokenKind::Word) return expected("the name of a function");
  const Token name = tok();
  f_.name = name.text;
  f_.at = offset(name);
  if (is_weak) module_.weak.emplace(name.text);
  if (is_visible) module_.visible.emplace(name.text);
  module_names_.insert(name.text, 1);
  next();
  if (tok().is('(') && !signature(f_.arguments)) return false;
  std::uint64_t required = 0;
  const Token behind = tok();
  if (!tuning(required)) return false;
  f_.threads = static_cast<std::uint32_t>(required != 0 ? required : f_.bounds.threads);
  if (required != 0) f_.bounds.threads = f_.threads;
  if (accept(';')) return true;
  if (!tok().is('{')) {
    // A prototype needs no semicolon where another item of the module follows.
    if (!is_entry && (tok().kind == TokenKind::Directive || tok().kind == TokenKind::End)) return true;
    return expected(behind.text.data() == tok().text.data() ? "'{' or ';' after the signature" : "'{' or ';'");
  }
  if (!bodies_.insert(name.text, 1)) return fail(name, fmt::format("the function '{}' has a body already", name.text));
  next();
  for (const ModuleRegister& r : module_registers_)
    if (!declare(r)) return false;
  return body();
}

// The directives behind a signature, up to the body or what follows a prototype.
bool Parser::tuning(std::uint64_t& required) {
  const auto one = [&](std::uint32_t& bound) {
    next();
    const Token at = tok();
    const auto n = number("a number");
    if (!n) return false;
    if (*n > kMostThreads) return fail(at, "expected a number of at most 1048576");
    bound = static_cast<std::uint32_t>(*n);
    return true;
  };
  while (tok().kind == TokenKind::Directive) {
    const std::string_view d = tok().text;
    std::uint64_t most = 0;
    std::uint32_t ignored = 0;
    if (d == ".reqntid") {
      if (!thread_count(required)) return false;
    } else if (d == ".maxntid") {
      if (!thread_count(most)) return false;
      f_.bounds.threads = static_cast<std::uint32_t>(most);
    } else if (d == ".minnctapersm" || d == ".maxnctapersm" || d == ".maxnreg" || d == ".maxclusterrank" || d == ".abi_preserve" ||
               d == ".abi_preserve_control") {
      if (!one(d == ".minnctapersm" ? f_.bounds.blocks : d == ".maxnreg" ? f_.bounds.registers : ignored)) return false;
    } else if (d == ".reqnctapercluster") {
      if (!cluster_size()) return false;
    } else if (d == ".noreturn" || d == ".explicitcluster" || d == ".blocksareclusters" || d == ".unique") {
      next();
    } else if (d == ".attribute") {
      next();
      if (!attribute()) return false;
    } else if (d == ".pragma") {
      if (!skip_to_semicolon()) return false;
    } else {
      return true;
    }
  }
  return true;
}

bool Parser::cluster_size() {
  do {
    next();
    if (!number("a number of blocks")) return false;
  } while (tok().is(','));
  return true;
}

bool Parser::thread_count(std::uint64_t& product) {
  const Token at = tok();
  product = 1;
  do {
    next();
    const auto n = number("a number of threads");
    if (!n) return false;
    if (*n == 0 || *n > kMostThreads || product * *n > kMostThreads) return fail(at, "threads a block: expected 1 to 1048576");
    product *= *n;
  } while (tok().is(','));
  return true;
}

bool Parser::signature(std::vector<int>& list) {
  next();
  if (accept(')')) return true;
  for (;;) {
    if (tok().is_directive(".hidden")) next();
    if (!tok().is_directive(".param") && !tok().is_directive(".reg")) return expected("'.param' or '.reg'");
    const bool is_register = tok().is_directive(".reg");
    if (is_register && f_.is_entry) return fail(tok(), "a parameter of a kernel is in .param space");
    next();
    Param p;
    Declaration d;
    if (!declaration_head(d)) return false;
    if (tok().kind != TokenKind::Word) return expected("the name of a parameter");
    const Token name = tok();
    next();
    if (!param_size(d, p)) return false;
    p.name = name.text;
    if (is_register) {
      p.reg = declare_register(name, d);
      if (p.reg < 0) return false;
    } else if (name.text != "_" && !scopes_.declare(name.text, {Meaning::Kind::Param, static_cast<int>(f_.params.size())})) {
      return fail(name, fmt::format("'{}' is declared twice", name.text));
    }
    list.push_back(static_cast<int>(f_.params.size()));
    f_.params.push_back(p);
    if (accept(')')) return true;
    if (!expect(',')) return false;
  }
}

bool Parser::declaration_head(Declaration& d) {
  const Token first = tok();
  bool is_after_ptr = false;
  while (tok().kind == TokenKind::Directive) {
    const std::string_view word = tok().text.substr(1);
    next();
    if (word == "align") {
      const auto n = number("an alignment");
      if (!n) return false;
      if (*n == 0 || *n > 1u << 16 || (*n & (*n - 1)) != 0) return fail(first, "an alignment is a power of two");
      // The alignment after .ptr is that of what the parameter points to.
      if (!is_after_ptr) d.align = static_cast<std::uint32_t>(*n);
    } else if (word == "v2" || word == "v4") {
      d.elements = word[1] - '0';
    } else if (word == "ptr") {
      is_after_ptr = true;
    } else if (word == "texref" || word == "samplerref" || word == "surfref") {
      d.type = TypeInfo{TypeKind::B, 64};
    } else if (const TypeInfo t = type_from_name(word); t.bits != 0) {
      d.type = t;
    } else if (word != "global" && word != "shared" && word != "const" && word != "local" && word != "param" && word != "generic") {
      return fail(first, fmt::format("unknown type '.{}'", word));
    }
  }
  return d.type.bits != 0 || expected("a type");
}

bool Parser::param_size(const Declaration& d, Param& p) {
  std::uint64_t bytes = static_cast<std::uint64_t>(std::max(d.type.bits, 8) / 8 * d.elements);
  p.align = std::max(d.align, static_cast<std::uint32_t>(bytes));
  const Token at = tok();
  while (accept('[')) {
    if (accept(']')) {
      bytes = 0;
      continue;
    }
    Number n;
    if (!constant(n) || !expect(']')) return false;
    if (n.bits > kMaxParamBytes || bytes * n.bits > kMaxParamBytes) return fail(at, "a parameter has at most 2^20 bytes");
    bytes *= n.bits;
  }
  p.bytes = static_cast<std::uint32_t>(bytes);
  return true;
}

}  // namespace regduel::ir::ptx
