// See name_scopes.h.

#include "ir/ptx/name_scopes.h"

#include <charconv>

namespace regduel::ir::ptx {
namespace {

constexpr int kKindShift = 28;

std::int32_t code_of(Meaning m) { return static_cast<std::int32_t>(m.kind) << kKindShift | m.index; }
Meaning meaning_of(std::int32_t code) { return {static_cast<Meaning::Kind>(code >> kKindShift), code & ((1 << kKindShift) - 1)}; }

}  // namespace

bool NameScopes::declare(std::string_view name, Meaning meaning) {
  return open_.back().stems.find(name) < 0 && open_.back().names.insert(name, code_of(meaning));
}

bool NameScopes::declare_family(std::string_view stem, RegisterFamily family) {
  NameScope& s = open_.back();
  if (s.names.find(stem) >= 0 || !s.stems.insert(stem, static_cast<std::int32_t>(s.families.size()))) return false;
  s.families.push_back(family);
  return true;
}

Meaning NameScopes::find(std::vector<Register>& registers, std::string_view word) {
  std::size_t stem_end = word.size();
  for (auto s = open_.rbegin(); s != open_.rend(); ++s) {
    if (const std::int32_t code = s->names.find(word); code >= 0) return meaning_of(code);
    if (s->stems.empty()) continue;
    if (stem_end == word.size())
      while (stem_end > 0 && word[stem_end - 1] >= '0' && word[stem_end - 1] <= '9') --stem_end;
    const std::string_view digits = word.substr(stem_end);
    if (digits.empty() || digits.size() > 10 || (digits[0] == '0' && digits.size() > 1)) continue;
    const std::int32_t family = s->stems.find(word.substr(0, stem_end));
    if (family < 0) continue;
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const RegisterFamily& f = s->families[static_cast<std::size_t>(family)];
    if (number >= f.count) continue;
    const Meaning m{Meaning::Kind::Register, static_cast<int>(registers.size())};
    registers.push_back(Register{word, f.type, f.elements});
    s->names.insert(word, code_of(m));
    return m;
  }
  return {};
}

}  // namespace regduel::ir::ptx
