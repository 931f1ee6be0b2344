#include "ir/ptx/syntax.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/ptx/name_scopes.h"
#include "ir/ptx/names.h"
#include "ir/ptx/token_reader.h"

namespace regduel::ir::ptx {
namespace {

constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxElements = 256;  // of a vector, a list, an instruction
constexpr std::uint64_t kMaxParamBytes = 1u << 20;
constexpr std::uint64_t kMaxLine = 0x7FFFFFFF;

class Parser : TokenReader {
 public:
  Parser(std::string_view text, std::string_view file_name) : TokenReader(text, file_name) {}

  Parsed<ModuleSyntax> run() {
    while (!failed() && tok().kind != TokenKind::End) module_item();
    for (const Value& name : unresolved_) {
      if (failed()) break;
      if (!module_names_.contains(name.name)) fail(name.place, fmt::format("'{}' is not declared", name.name));
    }
    for (FunctionSyntax& f : module_.functions)
      for (SourcePlace& l : f.lines)
        if (const auto it = files_.find(l.file); it != files_.end()) l.name = it->second;
    if (failed()) return std::unexpected(error());
    return std::move(module_);
  }

 private:
  // --- module -------------------------------------------------------------------------------------------------------
  bool module_item() {
    const Token t = tok();
    if (t.is(';')) return next(), true;
    if (t.is('@') && tok(1).is('@')) return skip_line(), true;  // DWARF of old compilers
    if (t.kind != TokenKind::Directive) return expected("a directive");
    next();
    const std::string_view d = t.text;
    if (d == ".visible" || d == ".weak" || d == ".extern" || d == ".common") return true;  // linkage, before what it belongs to
    if (d == ".version") return number("a version").has_value();
    if (d == ".address_size") return number("32 or 64").has_value();
    if (d == ".target") return target();
    if (d == ".entry" || d == ".func") return function(d == ".entry");
    if (d == ".global" || d == ".const" || d == ".shared" || d == ".local" || d == ".tex" || d == ".param")
      return variables(module_names_);
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
      module_names_.emplace(tok().text);
      return skip_to_semicolon();
    }
    return fail(t.place, fmt::format("unknown directive '{}'", d));
  }

  // .file NUMBER "name" [, timestamp, size]
  bool file() {
    const int on = tok().place.line;
    const auto n = number("the number of a file");
    if (!n) return false;
    if (tok().kind != TokenKind::String) return expected("the name of a file");
    files_[*n] = tok().text;
    return skip_line(on), true;
  }

  bool target() {
    const Token first = tok();
    if (first.kind != TokenKind::Word) return expected("a target");
    next();
    while (accept(',')) {
      if (tok().kind != TokenKind::Word) return expected("a target option");
      next();
    }
    if (module_.target.empty()) {
      module_.target = std::string(first.text);
      module_.target_place = first.place;
    }
    return true;
  }

  // After the state space: types, alignment, names with dimensions and initialisers, up to and with the semicolon.
  bool variables(std::set<std::string, std::less<>>& names) {
    for (;;) {
      while (tok().kind == TokenKind::Directive) {
        const bool align = tok().is_directive(".align"), attribute = tok().is_directive(".attribute");
        next();
        if (align && !number("an alignment")) return false;
        if (attribute && (!tok().is('(') ? !expected("'('") : !skip_group('(', ')'))) return false;
      }
      if (tok().kind != TokenKind::Word) return expected("a name");
      names.emplace(tok().text);
      next();
      if (tok().is('<')) {
        next();
        if (!number("a count") || !expect('>')) return false;
      }
      while (tok().is('['))
        if (!skip_group('[', ']')) return false;
      if (accept('=')) {
        while (!tok().is(',') && !tok().is(';')) {
          if (tok().kind == TokenKind::End || tok().kind == TokenKind::Bad) return expected("a value");
          if (tok().is('{') ? !skip_group('{', '}') : tok().is('(') ? !skip_group('(', ')') : (next(), false)) return false;
        }
      }
      if (accept(';')) return true;
      if (!expect(',')) return false;
    }
  }

  // --- signatures ---------------------------------------------------------------------------------------------------
  bool function(bool is_entry) {
    f_ = FunctionSyntax{};
    line_ = -1;
    locals_.clear();
    f_.is_entry = is_entry;
    open_scope(-1);
    while (tok().kind == TokenKind::Directive) {
      const bool attribute = tok().is_directive(".attribute");
      next();
      if (attribute && (!tok().is('(') ? !expected("'('") : !skip_group('(', ')'))) return false;
    }
    if (!is_entry && tok().is('(') && !signature(f_.returns)) return false;
    if (tok().kind != TokenKind::Word) return expected("the name of a function");
    f_.name = std::string(tok().text);
    f_.place = tok().place;
    module_names_.emplace(tok().text);
    next();
    if (tok().is('(') && !signature(f_.arguments)) return false;
    std::uint64_t required = 0, most = 0;
    while (!tok().is('{') && !tok().is(';')) {
      if (tok().kind == TokenKind::End || tok().kind == TokenKind::Bad) return expected("'{' or ';'");
      if (tok().is_directive(".reqntid")) {
        if (!thread_count(required)) return false;
      } else if (tok().is_directive(".maxntid")) {
        if (!thread_count(most)) return false;
      } else {
        next();  // directives for the assembler's tuning
      }
    }
    f_.threads = static_cast<std::uint32_t>(required != 0 ? required : most);
    if (accept(';')) return true;
    next();
    return body();
  }

  bool thread_count(std::uint64_t& product) {
    const Place place = tok().place;
    next();
    product = 1;
    do {
      const auto n = number("a number of threads");
      if (!n) return false;
      if (*n == 0 || *n > 1u << 20 || product * *n > 1u << 20) return fail(place, "threads a block: expected 1 to 1048576");
      product *= *n;
    } while (accept(','));
    return true;
  }

  bool signature(std::vector<int>& list) {
    next();
    if (accept(')')) return true;
    for (;;) {
      if (!tok().is_directive(".param") && !tok().is_directive(".reg")) return expected("'.param' or '.reg'");
      const bool is_register = tok().is_directive(".reg");
      next();
      Param p;
      TypeInfo type;
      int elements = 1;
      if (!declaration_head(type, elements, p.align)) return false;
      if (tok().kind != TokenKind::Word) return expected("the name of a parameter");
      const Token name = tok();
      next();
      if (!param_size(type, p)) return false;
      p.name = std::string(name.text);
      if (is_register) {
        p.reg = declare_register(name, type, elements);
        if (p.reg < 0) return false;
      } else if (name.text != "_") {
        scopes_.innermost().params[p.name] = static_cast<int>(f_.params.size());
      }
      list.push_back(static_cast<int>(f_.params.size()));
      f_.params.push_back(std::move(p));
      if (accept(')')) return true;
      if (!expect(',')) return false;
    }
  }

  // .align N, .ptr, state spaces, .v4, and the type.
  bool declaration_head(TypeInfo& type, int& elements, std::uint32_t& align) {
    const Place place = tok().place;
    while (tok().kind == TokenKind::Directive) {
      const std::string_view d = tok().text.substr(1);
      next();
      if (d == "align") {
        const auto n = number("an alignment");
        if (!n) return false;
        if (*n == 0 || *n > 1u << 16 || (*n & (*n - 1)) != 0) return fail(place, "an alignment is a power of two");
        // The alignment after .ptr is that of what the parameter points to.
        if (!after_ptr_) align = static_cast<std::uint32_t>(*n);
      } else if (d == "v2" || d == "v4") {
        elements = d[1] - '0';
      } else if (d == "ptr") {
        after_ptr_ = true;
      } else if (d == "texref" || d == "samplerref" || d == "surfref") {
        type = TypeInfo{TypeKind::B, 64};
      } else if (const TypeInfo t = type_from_name(d); t.bits != 0) {
        type = t;
      } else if (d != "global" && d != "shared" && d != "const" && d != "local" && d != "param") {
        after_ptr_ = false;
        return fail(place, fmt::format("unknown type '.{}'", d));
      }
    }
    after_ptr_ = false;
    return type.bits != 0 || fail(tok().place, fmt::format("expected a type, found {}", shown(tok())));
  }

  bool param_size(TypeInfo type, Param& p) {
    std::uint64_t bytes = static_cast<std::uint64_t>(std::max(type.bits, 8) / 8);
    p.align = std::max(p.align, static_cast<std::uint32_t>(bytes));
    const Place place = tok().place;
    while (accept('[')) {
      if (accept(']')) {
        bytes = 0;
        continue;
      }
      const auto n = number("the size of an array");
      if (!n || !expect(']')) return false;
      if (*n > kMaxParamBytes || bytes * *n > kMaxParamBytes) return fail(place, "a parameter has at most 2^20 bytes");
      bytes *= *n;
    }
    p.bytes = static_cast<std::uint32_t>(bytes);
    return true;
  }

  // --- scopes -------------------------------------------------------------------------------------------------------
  void open_scope(int parent) {
    if (parent < 0) scopes_.clear();
    scopes_.push(static_cast<int>(f_.scopes.size()));
    f_.scopes.push_back(Scope{parent, {}, {}});
  }

  int declare_register(const Token& name, TypeInfo type, int elements) {
    if (elements > 1 && (type.bits < 8 || type.bits * elements > 256))
      return fail(name.place, fmt::format("a vector register of {} x {} bits", elements, type.bits)), -1;
    const auto [it, fresh] = scopes_.innermost().registers.emplace(std::string(name.text), static_cast<int>(f_.registers.size()));
    if (!fresh || scopes_.innermost().families.contains(name.text))
      return fail(name.place, fmt::format("'{}' is declared twice", name.text)), -1;
    f_.registers.push_back(Register{it->first, type, elements});
    return it->second;
  }

  bool registers() {
    TypeInfo type;
    int elements = 1;
    std::uint32_t align = 1;
    if (!declaration_head(type, elements, align)) return false;
    for (;;) {
      if (tok().kind != TokenKind::Word) return expected("the name of a register");
      const Token name = tok();
      next();
      if (accept('<')) {
        const auto n = number("a count");
        if (!n || !expect('>')) return false;
        if (elements > 1 && (type.bits < 8 || type.bits * elements > 256))
          return fail(name.place, fmt::format("a vector register of {} x {} bits", elements, type.bits));
        if (!scopes_.innermost().families.emplace(std::string(name.text), RegisterFamily{*n, type, elements, {}}).second ||
            scopes_.innermost().registers.contains(name.text))
          return fail(name.place, fmt::format("'{}' is declared twice", name.text));
      } else if (declare_register(name, type, elements) < 0) {
        return false;
      }
      if (accept(';')) return true;
      if (!expect(',')) return false;
    }
  }

  // --- bodies -------------------------------------------------------------------------------------------------------
  bool body() {
    while (!scopes_.empty()) {
      const Token t = tok();
      switch (t.kind) {
        case TokenKind::End:
        case TokenKind::Bad: return expected(fmt::format("a statement or the '}}' of '{}'", f_.name));
        case TokenKind::Directive:
          if (!body_directive()) return false;
          break;
        case TokenKind::Word:
          if (tok(1).is(':') ? !label() : !instruction()) return false;
          break;
        default:
          if (t.is('{')) {
            if (scopes_.depth() >= kMaxNesting) return fail(t.place, fmt::format("'{{' is nested deeper than {}", kMaxNesting));
            open_scope(scopes_.innermost().scope);
            next();
          } else if (t.is('}')) {
            scopes_.pop();
            next();
          } else if (t.is(';')) {
            next();
          } else if (t.is('@') ? !instruction() : !expected("a statement")) {
            return false;
          }
      }
    }
    // Labels may stand after their uses, so names are resolved now.
    for (Value& name : locals_)
      if (f_.find_label(name.index, name.name) < 0 && f_.find_table(name.index, name.name) < 0)
        unresolved_.push_back(std::move(name));
    module_.functions.push_back(std::move(f_));
    return true;
  }

  bool body_directive() {
    const Token t = tok();
    next();
    const std::string_view d = t.text;
    if (d == ".reg") return registers();
    if (d == ".local" || d == ".shared" || d == ".global" || d == ".const") return variables(scopes_.innermost().others);
    if (d == ".loc") return source_place();
    if (d == ".file") return file();
    if (d == ".pragma") return skip_to_semicolon();
    if (d != ".param") return fail(t.place, fmt::format("unknown directive '{}' in a function", d));
    Param p;
    TypeInfo type;
    int elements = 1;
    if (!declaration_head(type, elements, p.align)) return false;
    if (tok().kind != TokenKind::Word) return expected("the name of a parameter");
    p.name = std::string(tok().text);
    next();
    if (!param_size(type, p)) return false;
    scopes_.innermost().params[p.name] = static_cast<int>(f_.params.size());
    f_.params.push_back(std::move(p));
    return expect(';');
  }

  // .loc FILE LINE COLUMN [, function_name ...]. Line 0: of no line.
  bool source_place() {
    SourcePlace l;
    const int on = tok().place.line;
    const auto file = number("the number of a file"), line = file ? number("a line") : file,
               column = line ? number("a column") : line;
    if (!column) return false;
    l.file = *file;
    l.line = static_cast<std::uint32_t>(std::min(*line, kMaxLine));
    l.column = static_cast<std::uint32_t>(std::min(*column, kMaxLine));
    line_ = -1;
    if (l.line != 0) {
      line_ = static_cast<int>(f_.lines.size());
      f_.lines.push_back(l);
    }
    return skip_line(on), true;
  }

  bool label() {
    const Token name = tok();
    next();
    next();
    if (tok().is_directive(".callprototype") || tok().is_directive(".calltargets")) {
      scopes_.innermost().others.emplace(name.text);
      return skip_to_semicolon();
    }
    Scope& scope = f_.scopes[static_cast<std::size_t>(scopes_.innermost().scope)];
    if (scope.labels.contains(name.text) || scope.tables.contains(name.text))
      return fail(name.place, fmt::format("the label '{}' stands here twice", name.text));
    if (tok().is_directive(".branchtargets")) {
      next();
      BranchTable table;
      table.scope = scopes_.innermost().scope;
      do {
        if (tok().kind != TokenKind::Word) return expected("a label");
        Value v;
        v.kind = Value::Kind::Name;
        v.name = tok().text;
        v.place = tok().place;
        table.labels.push_back(std::move(v));
        next();
      } while (accept(','));
      scope.tables.emplace(name.text, static_cast<int>(f_.tables.size()));
      f_.tables.push_back(std::move(table));
      return expect(';');
    }
    Statement s;
    s.kind = Statement::Kind::Label;
    s.label = static_cast<int>(f_.labels.size());
    s.scope = scopes_.innermost().scope;
    s.place = name.place;
    scope.labels.emplace(name.text, s.label);
    f_.labels.emplace_back(name.text);
    f_.statements.push_back(std::move(s));
    return true;
  }

  bool instruction() {
    Statement s;
    s.scope = scopes_.innermost().scope;
    s.line = line_;
    s.place = tok().place;
    if (accept('@')) {
      s.guard_negated = accept('!');
      const Token guard = tok();
      if (guard.kind != TokenKind::Word) return expected("a predicate");
      s.guard = scopes_.find_register(f_.registers, guard.text);
      if (s.guard < 0) return fail(guard.place, fmt::format("the register '{}' is not declared", guard.text));
      if (f_.registers[static_cast<std::size_t>(s.guard)].type.kind != TypeKind::Pred)
        return fail(guard.place, fmt::format("the guard '{}' is no predicate", guard.text));
      next();
    }
    if (tok().kind != TokenKind::Word || tok().text.starts_with('%')) return expected("an instruction");
    s.opcode = tok().text;
    s.place = tok().place;
    next();
    if (!tok().is(';')) {
      do {
        if (s.operands.size() == kMaxElements) return fail(tok().place, fmt::format("more than {} operands", kMaxElements));
        s.operands.emplace_back();
        if (!operand(s.operands.back())) return false;
      } while (accept(','));
    }
    if (!tok().is(';')) return expected("',' or ';'");
    next();
    f_.statements.push_back(std::move(s));
    return true;
  }

  // --- operands -----------------------------------------------------------------------------------------------------
  bool group(Value& v, Value::Kind kind, char close) {
    v.kind = kind;
    next();
    if (accept(close)) return true;
    do {
      if (v.elements.size() == kMaxElements) return fail(tok().place, fmt::format("more than {} elements", kMaxElements));
      v.elements.emplace_back();
      if (!simple(v.elements.back())) return false;
    } while (accept(','));
    return tok().is(close) ? (next(), true) : expected(fmt::format("',' or '{}'", close));
  }

  bool operand(Value& v) {
    v.place = tok().place;
    if (tok().is('[')) return address(v);
    if (tok().is('(')) return group(v, Value::Kind::List, ')');
    if (tok().is('{') ? !group(v, Value::Kind::Vector, '}') : !simple(v)) return false;
    if (!accept('|')) return true;
    Value pair;
    pair.kind = Value::Kind::Pair;
    pair.place = v.place;
    pair.elements.push_back(std::move(v));
    pair.elements.emplace_back();
    if (!simple(pair.elements.back())) return false;
    v = std::move(pair);
    return true;
  }

  bool address(Value& v) {
    v.kind = Value::Kind::Address;
    next();
    do {
      v.elements.emplace_back();
      Value& element = v.elements.back();
      element.place = tok().place;
      if (tok().is('{') ? !group(element, Value::Kind::Vector, '}') : !simple(element)) return false;
      if (v.elements.size() != 1) continue;
      if (!element.is(Value::Kind::Register) && !element.is(Value::Kind::Immediate) && !element.is(Value::Kind::Name))
        return fail(element.place, "an address begins with a register, a name or a number");
      if (element.negated || element.special) return fail(element.place, "this is no address");
      std::swap(v.bits, element.is(Value::Kind::Name) ? element.bits : v.bits);
      if (element.is(Value::Kind::Register) && !offset(v.bits)) return false;
    } while (accept(','));
    return tok().is(']') ? (next(), true) : expected("'+', ',' or ']'");
  }

  // Any number of "+ N" and "- N", "+-N" too.
  bool offset(std::uint64_t& sum) {
    while (tok().is('+') || tok().is('-')) {
      bool minus = tok().is('-');
      next();
      if (accept('-')) minus = !minus;
      const auto n = number("a number");
      if (!n) return false;
      sum = minus ? sum - *n : sum + *n;
    }
    return true;
  }

  bool simple(Value& v) {
    v.place = tok().place;
    if (accept('!')) {
      if (!word(v)) return false;
      v.negated = true;
      return (v.is(Value::Kind::Register) && f_.registers[static_cast<std::size_t>(v.index)].type.kind == TypeKind::Pred) ||
             fail(v.place, "only a predicate is negated");
    }
    if (tok().kind == TokenKind::Word) return word(v);
    bool minus = false, inverted = false;
    if (accept('-')) minus = true;
    else if (accept('~')) inverted = true;
    else accept('+');
    if (!minus && !inverted && tok().kind != TokenKind::Number) return expected("an operand");
    const auto n = number("a number");
    if (!n) return false;
    v.kind = Value::Kind::Immediate;
    v.bits = minus ? 0 - *n : inverted ? ~*n : *n;
    return offset(v.bits);
  }

  bool word(Value& v) {
    if (tok().kind != TokenKind::Word) return expected("an operand");
    const Token t = tok();
    next();
    if (t.text == "_") return v.kind = Value::Kind::Sink, true;
    v.index = scopes_.find_register(f_.registers, t.text);
    if (v.index >= 0) return v.kind = Value::Kind::Register, true;
    if (const std::size_t dot = t.text.rfind('.'); dot != std::string_view::npos && dot + 2 == t.text.size()) {
      const std::size_t by_place = std::string_view("xyzw").find(t.text.back()),
                        by_colour = std::string_view("rgba").find(t.text.back());
      const std::size_t component = std::min(by_place, by_colour);
      const int vector = scopes_.find_register(f_.registers, t.text.substr(0, dot));
      if (vector >= 0 && component != std::string_view::npos) {
        if (static_cast<int>(component) >= f_.registers[static_cast<std::size_t>(vector)].elements)
          return fail(t.place, fmt::format("'{}' has no such component", t.text));
        v.kind = Value::Kind::Register;
        v.index = vector;
        v.component = static_cast<std::int8_t>(component);
        return true;
      }
    }
    v.kind = Value::Kind::Name;
    v.name = t.text;
    if (t.text[0] == '%') {
      v.special = is_special_register(t.text);
      return v.special || fail(t.place, fmt::format("the register '{}' is not declared", t.text));
    }
    v.special = t.text == "WARP_SZ";
    v.index = scopes_.find_param(t.text);
    if (v.index < 0 && !v.special && !scopes_.is_local_name(t.text) && !module_names_.contains(t.text)) {
      locals_.push_back(v);
      locals_.back().index = scopes_.innermost().scope;
    }
    return offset(v.bits);
  }

  ModuleSyntax module_;
  std::set<std::string, std::less<>> module_names_;
  std::map<std::uint64_t, std::string_view> files_;  // by the number that .loc names
  FunctionSyntax f_;
  int line_ = -1;  // of the statements to come, among those of f_
  NameScopes scopes_;
  std::vector<Value> locals_;      // names in a body that no declaration before them explains; index = scope
  std::vector<Value> unresolved_;  // the same where no label explains them either
  bool after_ptr_ = false;
};

int find_in_scopes(const std::vector<Scope>& scopes, int scope, std::string_view name,
                   std::map<std::string, int, std::less<>> Scope::* names) {
  for (; scope >= 0; scope = scopes[static_cast<std::size_t>(scope)].parent) {
    const auto& map = scopes[static_cast<std::size_t>(scope)].*names;
    if (const auto it = map.find(name); it != map.end()) return it->second;
  }
  return -1;
}

}  // namespace

int FunctionSyntax::find_label(int scope, std::string_view label) const {
  return find_in_scopes(scopes, scope, label, &Scope::labels);
}
int FunctionSyntax::find_table(int scope, std::string_view table) const {
  return find_in_scopes(scopes, scope, table, &Scope::tables);
}

Parsed<ModuleSyntax> parse_syntax(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace regduel::ir::ptx
