// See name_scopes.h.

#include "ir/ptx/name_scopes.h"

#include <algorithm>
#include <charconv>

namespace regduel::ir::ptx {
namespace {

constexpr int kKindShift = 28;
constexpr std::uint64_t kNear = 1024;

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

// The register of this number of the family, which the word names; made at its first use.
int NameScopes::member_of(NameScope& s, RegisterFamily& f, std::uint64_t number, std::string_view word,
                          std::vector<Register>& registers) {
  const bool is_near = number < f.members.size() || number < kNear + kNear / 128 * f.used;
  if (is_near && number >= f.members.size())
    f.members.resize(std::max<std::size_t>(number + 1, std::min<std::uint64_t>(f.members.size() * 2, f.count)), -1);
  if (is_near && f.members[number] >= 0) return f.members[number];
  const int index = static_cast<int>(registers.size());
  registers.push_back(Register{word, f.type, f.elements});
  if (is_near) f.members[number] = index;
  else s.names.insert(word, code_of({Meaning::Kind::Register, index}));
  ++f.used;
  return index;
}

Meaning NameScopes::find(std::vector<Register>& registers, std::string_view word) {
  std::size_t first_digit = word.size();
  while (first_digit > 0 && word[first_digit - 1] >= '0' && word[first_digit - 1] <= '9') --first_digit;
  for (auto s = open_.rbegin(); s != open_.rend(); ++s) {
    if (const std::int32_t code = s->names.find(word); code >= 0) return meaning_of(code);
    // A family whose name ends with a digit has longer names than one whose name does not.
    for (std::size_t stem = first_digit; stem < word.size() && !s->stems.empty(); ++stem) {
      const std::string_view digits = word.substr(stem);
      if (digits.size() > 10 || (digits[0] == '0' && digits.size() > 1)) continue;
      const std::int32_t family = s->stems.find(word.substr(0, stem));
      if (family < 0) continue;
      std::uint64_t number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      RegisterFamily& f = s->families[static_cast<std::size_t>(family)];
      if (number < f.count) return {Meaning::Kind::Register, member_of(*s, f, number, word, registers)};
    }
  }
  return {};
}

}  // namespace regduel::ir::ptx
