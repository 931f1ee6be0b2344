#include "cli/show/pass_log_text.h"

#include <fmt/format.h>

#include "cli/show/output.h"

namespace regduel::cli {

std::string text_of(const ir::Function& f, const ir::PassLog& log) {
  Table table({"pass", "microseconds", "blocks", "->", "instructions", "->", "vregs", "->"});
  std::string dumps;
  for (const ir::PassRecord& p : log.passes) {
    const std::string name = std::string(2 * static_cast<std::size_t>(p.depth), ' ') + p.name;
    table.row({name, fmt::format("{:.0f}", p.seconds * 1e6), std::to_string(p.before.blocks), std::to_string(p.after.blocks),
               std::to_string(p.before.instructions), std::to_string(p.after.instructions), std::to_string(p.before.vregs),
               std::to_string(p.after.vregs)});
    if (!p.text_before.empty()) dumps += fmt::format("// before {}\n{}", p.name, p.text_before);
    if (!p.text_after.empty()) dumps += fmt::format("// after {}\n{}", p.name, p.text_after);
  }
  return fmt::format("@{}\n{}{}", f.name, table.text(), dumps);
}

}  // namespace regduel::cli
