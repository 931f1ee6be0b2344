// See name_scopes.h.

#include "ir/ptx/name_scopes.h"

#include <algorithm>

namespace regduel::ir::ptx {

int NameScopes::find_register(std::vector<Register>& registers, std::string_view word) {
  const std::size_t stem_end = word.find_last_not_of("0123456789") + 1;
  const std::string_view stem = word.substr(0, stem_end), digits = word.substr(stem_end);
  const bool member = !digits.empty() && digits.size() < 11 && (digits == "0" || digits[0] != '0');
  std::uint64_t number = 0;
  if (member)
    for (const char c : digits) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  for (auto s = open_.rbegin(); s != open_.rend(); ++s) {
    if (const auto it = s->registers.find(word); it != s->registers.end()) return it->second;
    if (!member) continue;
    const auto family = s->families.find(stem);
    if (family == s->families.end() || number >= family->second.count) continue;
    const auto [it, fresh] = family->second.used.emplace(number, static_cast<int>(registers.size()));
    if (fresh) registers.push_back(Register{std::string(word), family->second.type, family->second.elements});
    return it->second;
  }
  return -1;
}

int NameScopes::find_param(std::string_view word) const {
  for (auto s = open_.rbegin(); s != open_.rend(); ++s)
    if (const auto it = s->params.find(word); it != s->params.end()) return it->second;
  return -1;
}

bool NameScopes::is_local_name(std::string_view word) const {
  return std::ranges::any_of(open_, [&](const NameScope& s) { return s.others.contains(word); });
}

}  // namespace regduel::ir::ptx
