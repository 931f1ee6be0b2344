#include "ir/ptx/ptx.h"

#include <charconv>

#include <fmt/format.h>

#include "ir/ptx/lexer.h"
#include "ir/ptx/lower.h"
#include "ir/ptx/syntax.h"
#include "ir/target.h"

namespace regduel::ir {
namespace {

// The target of that name, or the newest one that is not above it, or the oldest. Null where the name is none.
const Target* target_for(std::string_view name) {
  if (name.empty()) return &default_target();
  if (const Target* exact = find_target(name)) return exact;
  if (!name.starts_with("sm_") && !name.starts_with("compute_")) return nullptr;
  name.remove_prefix(name.find('_') + 1);
  if (!name.empty() && name.back() >= 'a' && name.back() <= 'z') name.remove_suffix(1);
  int sm = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sm);
  if (error != std::errc() || end != name.data() + name.size() || sm < 0) return nullptr;
  const Target* best = &targets().front();
  for (const Target& t : targets())
    if (t.sm <= sm) best = &t;
  return best;
}

}  // namespace

Parsed<Module> parse_ptx(std::string_view text, std::string_view file_name, AbiName abi, ParamCopies param_copies) {
  auto syntax = ptx::parse_syntax(text, file_name);
  if (!syntax) return std::unexpected(std::move(syntax.error()));
  const Target* target = target_for(syntax->target);
  if (target == nullptr)
    return std::unexpected(SourceError{std::string(file_name), syntax->target_place.line, syntax->target_place.column,
                                       fmt::format("unknown target '{}'", syntax->target)});
  Module module;
  for (const ptx::FunctionSyntax& f : syntax->functions) {
    auto function = ptx::lower(f, *target, abi, param_copies, file_name);
    if (!function) return std::unexpected(std::move(function.error()));
    module.functions.push_back(std::move(*function));
  }
  return module;
}

// Linkage stands before the directive of what it belongs to; results in brackets may stand before the name.
std::set<std::string, std::less<>> weak_functions_of_ptx(std::string_view text) {
  std::set<std::string, std::less<>> names;
  const std::vector<ptx::Token> tokens = ptx::tokenize(text);
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    if (!tokens[k].is_directive(".weak")) continue;
    std::size_t at = k + 1;
    if (!tokens[at].is_directive(".func")) continue;
    int depth = 0;
    for (++at; at < tokens.size(); ++at) {
      const ptx::Token& t = tokens[at];
      if (t.is('(')) ++depth;
      else if (t.is(')')) --depth;
      else if (depth == 0 && t.kind != ptx::TokenKind::Directive) break;
    }
    if (at < tokens.size() && tokens[at].kind == ptx::TokenKind::Word) names.emplace(tokens[at].text);
  }
  return names;
}

}  // namespace regduel::ir
