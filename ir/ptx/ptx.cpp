#include "ir/ptx/ptx.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

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

// Lines of places in a text, at little cost where they ascend.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::vector<std::uint32_t> of(std::vector<std::uint32_t> places) {
    for (std::uint32_t& place : places) {
      if (place < at_) at_ = 0, line_ = 1;
      line_ += static_cast<std::uint32_t>(std::count(text_.begin() + at_, text_.begin() + place, '\n'));
      at_ = place;
      place = line_;
    }
    return places;
  }

 private:
  std::string_view text_;
  std::uint32_t at_ = 0, line_ = 1;
};

// Compilers tell the names of files at the end, behind the lines that are in them.
void name_source_files(Function& f, const std::map<std::uint64_t, std::string_view>& files) {
  for (SourceLine& l : f.source_lines) {
    const std::string_view name = f.symbols[l.file];
    std::uint64_t number = 0;
    if (!name.starts_with(ptx::kNamelessFile)) continue;
    const std::string_view digits = name.substr(ptx::kNamelessFile.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) continue;
    if (const auto it = files.find(number); it != files.end()) l.file = f.symbols.intern(it->second);
  }
}

}  // namespace

Parsed<PtxModule> parse_ptx(std::string_view text, std::string_view file_name, AbiName abi, ParamCopies param_copies) {
  ptx::OpcodeTable opcodes;
  Lines lines(text);
  PtxModule module;
  const auto take = [&](const ptx::FunctionSyntax& f, const ptx::ModuleSyntax& m) -> std::optional<SourceError> {
    const Target* target = target_for(m.target);
    if (target == nullptr) {
      const ptx::Place at = ptx::place_in(text, m.target_at);
      return SourceError{std::string(file_name), at.line, at.column, fmt::format("unknown target '{}'", m.target)};
    }
    auto function = ptx::lower(f, *target, abi, param_copies, file_name, m.files);
    if (!function) return std::move(function.error());
    function->function.local_frame = static_cast<std::uint32_t>((f.local_bytes + 7) / 8 * 8);
    module.functions.push_back(std::move(function->function));
    module.declarations.push_back({f.bounds, lines.of(std::move(function->places)), std::string(m.target), nullptr, false, false});
    return std::nullopt;
  };
  auto syntax = ptx::parse_syntax(text, file_name, opcodes, take);
  if (!syntax) return std::unexpected(std::move(syntax.error()));
  const auto variables = std::make_shared<const PtxVariables>(std::move(syntax->variables));
  for (std::size_t k = 0; k < module.functions.size(); ++k) {
    module.declarations[k].variables = variables;
    name_source_files(module.functions[k], syntax->files);
    const std::string& name = module.functions[k].name;
    module.declarations[k].is_weak = syntax->weak.contains(name);
    module.declarations[k].is_visible =
        syntax->visible.contains(name) ||
        std::ranges::any_of(syntax->initialisers, [&](std::string_view t) { return t.find(name) != std::string_view::npos; });
  }
  return module;
}

}  // namespace regduel::ir
