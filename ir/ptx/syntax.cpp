#include "ir/ptx/syntax.h"

namespace regduel::ir::ptx {
namespace {

int find_in_scopes(const std::vector<Scope>& scopes, int scope, std::string_view name, NameTable Scope::* names) {
  for (; scope >= 0; scope = scopes[static_cast<std::size_t>(scope)].parent)
    if (const int index = (scopes[static_cast<std::size_t>(scope)].*names).find(name); index >= 0) return index;
  return -1;
}

}  // namespace

int FunctionSyntax::find_label(int scope, std::string_view label) const {
  return find_in_scopes(scopes, scope, label, &Scope::labels);
}
int FunctionSyntax::find_table(int scope, std::string_view table) const {
  return find_in_scopes(scopes, scope, table, &Scope::tables);
}

}  // namespace regduel::ir::ptx
