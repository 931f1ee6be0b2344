#include "ir/ptx/syntax.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace regduel::ir::ptx {
namespace {

constexpr int kMaxNesting = 200;
constexpr std::size_t kMaxElements = 256;  // of a vector, a list, an instruction
constexpr std::uint64_t kMaxParamBytes = 1u << 20;
constexpr std::uint64_t kMaxLine = 0x7FFFFFFF;

constexpr std::array<std::string_view, 37> kSpecialRegisters = {"tid",
                                                                "ntid",
                                                                "laneid",
                                                                "warpid",
                                                                "nwarpid",
                                                                "ctaid",
                                                                "nctaid",
                                                                "smid",
                                                                "nsmid",
                                                                "gridid",
                                                                "is_explicit_cluster",
                                                                "clusterid",
                                                                "nclusterid",
                                                                "cluster_ctaid",
                                                                "cluster_nctaid",
                                                                "cluster_ctarank",
                                                                "cluster_nctarank",
                                                                "lanemask_eq",
                                                                "lanemask_le",
                                                                "lanemask_lt",
                                                                "lanemask_ge",
                                                                "lanemask_gt",
                                                                "clock",
                                                                "clock_hi",
                                                                "clock64",
                                                                "globaltimer",
                                                                "globaltimer_lo",
                                                                "globaltimer_hi",
                                                                "total_smem_size",
                                                                "aggr_smem_size",
                                                                "dynamic_smem_size",
                                                                "current_graph_exec",
                                                                "reserved_smem_offset_begin",
                                                                "reserved_smem_offset_end",
                                                                "reserved_smem_offset_cap",
                                                                "reserved_smem_offset_0",
                                                                "reserved_smem_offset_1"};

bool is_special_register(std::string_view word) {
  word.remove_prefix(1);
  const std::size_t dot = word.find('.');
  if (dot != std::string_view::npos && word.size() != dot + 2) return false;
  word = word.substr(0, dot);
  if (std::find(kSpecialRegisters.begin(), kSpecialRegisters.end(), word) != kSpecialRegisters.end()) return true;
  if (word.starts_with("pm") && word.ends_with("_64")) word.remove_suffix(3);
  for (const std::string_view family : {"envreg", "pm"})
    if (word.starts_with(family) && word.size() > family.size() && word.size() <= family.size() + 2 &&
        word.find_first_not_of("0123456789", family.size()) == std::string_view::npos)
      return true;
  return false;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name) : file_(file_name), tokens_(tokenize(text)) {}

  Parsed<ModuleSyntax> run() {
    while (!failed() && tok().kind != TokenKind::End) module_item();
    for (const Value& name : unresolved_) {
      if (failed()) break;
      if (!module_names_.contains(name.name)) fail(name.place, fmt::format("'{}' is not declared", name.name));
    }
    for (FunctionSyntax& f : module_.functions)
      for (SourcePlace& l : f.lines)
        if (const auto it = files_.find(l.file); it != files_.end()) l.name = it->second;
    if (failed()) return std::unexpected(*error_);
    return std::move(module_);
  }

 private:
  // --- errors and tokens --------------------------------------------------------------------------------------------
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  bool fail(Place p, std::string message) {
    if (!error_) error_ = SourceError{std::string(file_), p.line, p.column, std::move(message)};
    return false;
  }
  [[nodiscard]] const Token& tok(std::size_t k = 0) const { return tokens_[std::min(at_ + k, tokens_.size() - 1)]; }
  void next() { at_ = std::min(at_ + 1, tokens_.size() - 1); }
  static std::string shown(const Token& t) {
    if (t.kind == TokenKind::End) return "the end of the file";
    if (t.kind == TokenKind::String) return "a string";
    if (t.kind == TokenKind::Bad && t.text.starts_with('"')) return "a string without its end";
    if (t.kind == TokenKind::Bad && t.text.size() > 1) return "a comment without its end";
    if (t.kind == TokenKind::Bad && (t.text[0] < ' ' || t.text[0] > '~'))
      return fmt::format("the byte 0x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(t.text[0])));
    return fmt::format("'{}'", t.text);
  }
  bool expected(std::string_view what) { return fail(tok().place, fmt::format("expected {}, found {}", what, shown(tok()))); }
  bool accept(char c) {
    if (!tok().is(c)) return false;
    next();
    return true;
  }
  bool expect(char c) { return accept(c) || expected(fmt::format("'{}'", c)); }
  std::optional<std::uint64_t> number(std::string_view what) {
    if (tok().kind != TokenKind::Number) return expected(what), std::nullopt;
    const auto value = parse_number(tok().text);
    if (!value) return fail(tok().place, fmt::format("'{}' is no number of at most 64 bits", tok().text)), std::nullopt;
    next();
    return value;
  }
  void skip_line() { skip_line(tok().place.line); }
  void skip_line(int line) {
    while (tok().kind != TokenKind::End && tok().kind != TokenKind::Bad && tok().place.line == line) next();
  }
  // Past the closing bracket that belongs to the opening one here; what is between is not looked at.
  bool skip_group(char open, char close) {
    const Token opening = tok();
    for (std::size_t depth = 0;; next()) {
      if (tok().kind == TokenKind::Bad) return expected("a token");
      if (tok().kind == TokenKind::End) return fail(opening.place, fmt::format("'{}' has no '{}'", open, close));
      if (tok().is(open)) ++depth;
      if (tok().is(close) && --depth == 0) return next(), true;
    }
  }
  bool skip_to_semicolon() {
    while (!tok().is(';')) {
      if (tok().kind == TokenKind::End || tok().kind == TokenKind::Bad) return expected("';'");
      next();
    }
    return next(), true;
  }

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
        scopes_.back().params[p.name] = static_cast<int>(f_.params.size());
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
  struct Family {
    std::uint64_t count = 0;
    TypeInfo type;
    int elements = 1;
    std::map<std::uint64_t, int> used;  // a register exists from its first use on
  };
  struct Names {
    int scope = 0;
    std::map<std::string, int, std::less<>> registers, params;
    std::map<std::string, Family, std::less<>> families;
    std::set<std::string, std::less<>> others;
  };

  void open_scope(int parent) {
    if (parent < 0) scopes_.clear();
    Names names;
    names.scope = static_cast<int>(f_.scopes.size());
    scopes_.push_back(std::move(names));
    f_.scopes.push_back(Scope{parent, {}, {}});
  }

  int declare_register(const Token& name, TypeInfo type, int elements) {
    if (elements > 1 && (type.bits < 8 || type.bits * elements > 256))
      return fail(name.place, fmt::format("a vector register of {} x {} bits", elements, type.bits)), -1;
    const auto [it, fresh] = scopes_.back().registers.emplace(std::string(name.text), static_cast<int>(f_.registers.size()));
    if (!fresh || scopes_.back().families.contains(name.text))
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
        if (!scopes_.back().families.emplace(std::string(name.text), Family{*n, type, elements, {}}).second ||
            scopes_.back().registers.contains(name.text))
          return fail(name.place, fmt::format("'{}' is declared twice", name.text));
      } else if (declare_register(name, type, elements) < 0) {
        return false;
      }
      if (accept(';')) return true;
      if (!expect(',')) return false;
    }
  }

  // The register that the word names here, -1 = none. A family %r<10> has the members %r0 to %r9.
  int find_register(std::string_view word) {
    const std::size_t stem_end = word.find_last_not_of("0123456789") + 1;
    const std::string_view stem = word.substr(0, stem_end), digits = word.substr(stem_end);
    const bool member = !digits.empty() && digits.size() < 11 && (digits == "0" || digits[0] != '0');
    std::uint64_t number = 0;
    if (member)
      for (const char c : digits) number = number * 10 + static_cast<std::uint64_t>(c - '0');
    for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s) {
      if (const auto it = s->registers.find(word); it != s->registers.end()) return it->second;
      if (!member) continue;
      const auto family = s->families.find(stem);
      if (family == s->families.end() || number >= family->second.count) continue;
      const auto [it, fresh] = family->second.used.emplace(number, static_cast<int>(f_.registers.size()));
      if (fresh) f_.registers.push_back(Register{std::string(word), family->second.type, family->second.elements});
      return it->second;
    }
    return -1;
  }
  int find_param(std::string_view word) const {
    for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
      if (const auto it = s->params.find(word); it != s->params.end()) return it->second;
    return -1;
  }
  [[nodiscard]] bool is_local_name(std::string_view word) const {
    return std::any_of(scopes_.begin(), scopes_.end(), [&](const Names& s) { return s.others.contains(word); });
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
            if (static_cast<int>(scopes_.size()) >= kMaxNesting)
              return fail(t.place, fmt::format("'{{' is nested deeper than {}", kMaxNesting));
            open_scope(scopes_.back().scope);
            next();
          } else if (t.is('}')) {
            scopes_.pop_back();
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
    if (d == ".local" || d == ".shared" || d == ".global" || d == ".const") return variables(scopes_.back().others);
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
    scopes_.back().params[p.name] = static_cast<int>(f_.params.size());
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
      scopes_.back().others.emplace(name.text);
      return skip_to_semicolon();
    }
    Scope& scope = f_.scopes[static_cast<std::size_t>(scopes_.back().scope)];
    if (scope.labels.contains(name.text) || scope.tables.contains(name.text))
      return fail(name.place, fmt::format("the label '{}' stands here twice", name.text));
    if (tok().is_directive(".branchtargets")) {
      next();
      BranchTable table;
      table.scope = scopes_.back().scope;
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
    s.scope = scopes_.back().scope;
    s.place = name.place;
    scope.labels.emplace(name.text, s.label);
    f_.labels.emplace_back(name.text);
    f_.statements.push_back(std::move(s));
    return true;
  }

  bool instruction() {
    Statement s;
    s.scope = scopes_.back().scope;
    s.line = line_;
    s.place = tok().place;
    if (accept('@')) {
      s.guard_negated = accept('!');
      const Token guard = tok();
      if (guard.kind != TokenKind::Word) return expected("a predicate");
      s.guard = find_register(guard.text);
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
    v.index = find_register(t.text);
    if (v.index >= 0) return v.kind = Value::Kind::Register, true;
    if (const std::size_t dot = t.text.rfind('.'); dot != std::string_view::npos && dot + 2 == t.text.size()) {
      const std::size_t by_place = std::string_view("xyzw").find(t.text.back()),
                        by_colour = std::string_view("rgba").find(t.text.back());
      const std::size_t component = std::min(by_place, by_colour);
      const int vector = find_register(t.text.substr(0, dot));
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
    v.index = find_param(t.text);
    if (v.index < 0 && !v.special && !is_local_name(t.text) && !module_names_.contains(t.text)) {
      locals_.push_back(v);
      locals_.back().index = scopes_.back().scope;
    }
    return offset(v.bits);
  }

  std::string_view file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::optional<SourceError> error_;
  ModuleSyntax module_;
  std::set<std::string, std::less<>> module_names_;
  std::map<std::uint64_t, std::string_view> files_;  // by the number that .loc names
  FunctionSyntax f_;
  int line_ = -1;  // of the statements to come, among those of f_
  std::vector<Names> scopes_;
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

TypeInfo type_from_name(std::string_view name) {
  if (name == "pred") return {TypeKind::Pred, 1};
  if (name == "f16x2" || name == "bf16x2" || name == "tf32") return {TypeKind::F, 32};
  if (name == "bf16") return {TypeKind::F, 16};
  if (name == "e4m3" || name == "e5m2" || name == "ue8m0") return {TypeKind::F, 8};
  if (name == "e4m3x2" || name == "e5m2x2" || name == "ue8m0x2") return {TypeKind::F, 16};
  if (name == "u16x2" || name == "s16x2") return {name[0] == 'u' ? TypeKind::U : TypeKind::S, 32};
  if (name.size() < 2) return {};
  const TypeKind kind = name[0] == 's' ? TypeKind::S : name[0] == 'u' ? TypeKind::U : name[0] == 'f' ? TypeKind::F : TypeKind::B;
  if (kind == TypeKind::B && name[0] != 'b') return {};
  const std::string_view bits = name.substr(1);
  for (const auto& [text, value] :
       std::initializer_list<std::pair<std::string_view, int>>{{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}})
    if (bits == text) return {kind, value};
  return {};
}

int FunctionSyntax::find_label(int scope, std::string_view label) const {
  return find_in_scopes(scopes, scope, label, &Scope::labels);
}
int FunctionSyntax::find_table(int scope, std::string_view table) const {
  return find_in_scopes(scopes, scope, table, &Scope::tables);
}

Parsed<ModuleSyntax> parse_syntax(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace regduel::ir::ptx
