// See parser.h.
#include <algorithm>

#include <fmt/format.h>

#include "ir/ptx/parser.h"

namespace regduel::ir::ptx {
namespace {

constexpr std::uint64_t kMaxLine = 0x7FFFFFFF;

}  // namespace

void Parser::open_scope(int parent) {
  if (parent < 0) scopes_.clear();
  scopes_.push(static_cast<int>(f_.scopes.size()));
  f_.scopes.push_back(Scope{parent, {}, {}});
}

bool Parser::vector_size(const Token& name, const Declaration& d) {
  return d.elements == 1 || (d.type.bits >= 8 && d.type.bits * d.elements <= 256) ||
         fail(name, fmt::format("a vector register of {} x {} bits", d.elements, d.type.bits));
}

int Parser::declare_register(const Token& name, const Declaration& d) {
  if (!vector_size(name, d)) return -1;
  const int index = static_cast<int>(f_.registers.size());
  if (!scopes_.declare(name.text, {Meaning::Kind::Register, index}))
    return fail(name, fmt::format("'{}' is declared twice", name.text)), -1;
  f_.registers.push_back(Register{name.text, d.type, d.elements});
  return index;
}

bool Parser::declare(const ModuleRegister& r) {
  if (!r.count) return declare_register(r.name, r.declaration) >= 0;
  const auto& [type, elements, align] = r.declaration;
  return vector_size(r.name, r.declaration) && (scopes_.declare_family(r.name.text, {*r.count, type, elements}) ||
                                                fail(r.name, fmt::format("'{}' is declared twice", r.name.text)));
}

// .reg .b32 %r<10>, x;
bool Parser::declare_registers(std::vector<ModuleRegister>& list) {
  ModuleRegister r;
  if (!declaration_head(r.declaration)) return false;
  for (;;) {
    if (tok().kind != TokenKind::Word) return expected("the name of a register");
    r.name = tok();
    r.count.reset();
    next();
    if (accept('<')) {
      r.count = number("a count");
      if (!r.count || !expect('>')) return false;
    }
    list.push_back(r);
    if (accept(';')) return true;
    if (!expect(',')) return false;
  }
}

bool Parser::body() {
  while (!scopes_.empty()) {
    const Token t = tok();
    switch (t.kind) {
      case TokenKind::Word:
        if (tok_after().is(':') ? !label() : !instruction()) return false;
        break;
      case TokenKind::Directive:
        if (!body_directive()) return false;
        break;
      case TokenKind::End:
      case TokenKind::Bad: return expected(fmt::format("a statement or the '}}' of '{}'", f_.name));
      default:
        if (t.is('@')) {
          if (!instruction()) return false;
        } else if (t.is('{')) {
          if (scopes_.depth() >= kMaxNesting) return fail(t, fmt::format("'{{' is nested deeper than {}", kMaxNesting));
          open_scope(scopes_.innermost());
          next();
        } else if (t.is('}')) {
          scopes_.pop();
          next();
        } else if (t.is(';')) {
          next();
        } else {
          return expected("a statement");
        }
    }
  }
  // Labels may stand after their uses, so names are resolved now.
  for (const Value& name : locals_) {
    const std::string_view word = f_.text_of(name);
    if (f_.find_label(name.index, word) >= 0 || f_.find_table(name.index, word) >= 0) continue;
    if (word.starts_with('%')) return fail(name.at, fmt::format("the register '{}' is not declared", word));
    unresolved_.push_back(name);
  }
  if (auto e = take_(f_, module_)) return fail(std::move(*e));
  return true;
}

bool Parser::body_directive() {
  const Token t = tok();
  next();
  const std::string_view d = t.text;
  if (d == ".reg") {
    std::vector<ModuleRegister> list;
    return declare_registers(list) && std::all_of(list.begin(), list.end(), [&](const ModuleRegister& r) { return declare(r); });
  }
  if (d == ".local" || d == ".shared" || d == ".global" || d == ".const") return variables(Where::Body, d == ".local");
  if (d == ".loc") return source_place();
  if (d == ".file") return file();
  if (d == ".pragma") return skip_to_semicolon();
  if (d != ".param") return fail(t, fmt::format("unknown directive '{}' in a function", d));
  Param p;
  Declaration head;
  if (!declaration_head(head)) return false;
  if (tok().kind != TokenKind::Word) return expected("the name of a parameter");
  const Token name = tok();
  p.name = name.text;
  next();
  if (!param_size(head, p)) return false;
  if (!scopes_.declare(p.name, {Meaning::Kind::Param, static_cast<int>(f_.params.size())}))
    return fail(name, fmt::format("'{}' is declared twice", p.name));
  f_.params.push_back(p);
  return expect(';');
}

// .loc FILE LINE COLUMN [, function_name ...]. Line 0: of no line.
bool Parser::source_place() {
  SourcePlace l;
  const Token first = tok();
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
  return skip_line(first), true;
}

bool Parser::label() {
  const Token name = tok();
  next();
  next();
  if (tok().is_directive(".callprototype") || tok().is_directive(".calltargets")) {
    scopes_.declare(name.text, {Meaning::Kind::Variable, 1});
    return skip_to_semicolon();
  }
  Scope& scope = f_.scopes[static_cast<std::size_t>(scopes_.innermost())];
  if (scope.labels.find(name.text) >= 0 || scope.tables.find(name.text) >= 0)
    return fail(name, fmt::format("the label '{}' stands here twice", name.text));
  if (tok().is_directive(".branchtargets")) return branch_targets(name.text);
  Statement s;
  s.kind = Statement::Kind::Label;
  s.label = static_cast<int>(f_.labels.size());
  s.scope = scopes_.innermost();
  s.at = offset(name);
  scope.labels.insert(name.text, s.label);
  f_.labels.push_back(name.text);
  f_.statements.push_back(s);
  return true;
}

bool Parser::branch_targets(std::string_view name) {
  BranchTable table;
  table.scope = scopes_.innermost();
  do {
    next();
    if (tok().kind != TokenKind::Word) return expected("a label");
    Value v;
    v.kind = Value::Kind::Name;
    v.at = offset(tok());
    v.length = static_cast<std::uint32_t>(tok().text.size());
    table.labels.push_back(v);
    next();
  } while (tok().is(','));
  f_.scopes[static_cast<std::size_t>(scopes_.innermost())].tables.insert(name, static_cast<std::int32_t>(f_.tables.size()));
  f_.tables.push_back(std::move(table));
  return expect(';');
}

bool Parser::guard(Statement& s) {
  s.guard_negated = accept('!');
  const Token word = tok();
  if (word.kind != TokenKind::Word) return expected("a predicate");
  s.guard = scopes_.find_register(f_.registers, word.text);
  if (s.guard < 0) return fail(word, fmt::format("the register '{}' is not declared", word.text));
  if (f_.registers[static_cast<std::size_t>(s.guard)].type.kind != TypeKind::Pred)
    return fail(word, fmt::format("the guard '{}' is no predicate", word.text));
  next();
  return true;
}

bool Parser::instruction() {
  Statement s;
  s.scope = scopes_.innermost();
  s.line = line_;
  if (accept('@') && !guard(s)) return false;
  const Token opcode = tok();
  if (opcode.kind != TokenKind::Word || opcode.text.starts_with('%')) return expected("an instruction");
  s.at = offset(opcode);
  next();
  if (tok().kind == TokenKind::Directive) {  // "mov .u32", in several words
    std::string whole(opcode.text);
    for (; tok().kind == TokenKind::Directive; next()) whole += tok().text;
    s.opcode = &opcodes_.find(whole);
  } else {
    s.opcode = &opcodes_.find(opcode.text);
  }
  opcode_ = s.opcode;
  operands_.clear();
  if (!tok().is(';')) {
    do {
      if (operands_.size() == kMaxElements) return fail(tok(), fmt::format("more than {} operands", kMaxElements));
      Value v;
      if (!operand(v)) return false;
      operands_.push_back(v);
    } while (accept(','));
  }
  if (!tok().is(';')) return expected("',' or ';'");
  next();
  const auto kept = f_.values.keep(operands_);
  s.first_operand = kept.data();
  s.num_operands = static_cast<std::uint16_t>(kept.size());
  f_.statements.push_back(s);
  return true;
}

}  // namespace regduel::ir::ptx
