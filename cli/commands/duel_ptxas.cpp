#include "cli/commands/duel_ptxas.h"

#include <map>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/show/output.h"

namespace regduel::cli {

std::vector<PtxasRow> rows_of_ptxas(const std::vector<Program>& programs, std::vector<int> limits) {
  std::map<std::string, std::string> target_of;  // of each file
  for (const Program& p : programs)
    if (!p.declared.target.empty() && p.file != "<stdin>") target_of.emplace(p.file, p.declared.target);
  const std::string program = duel::ptxas_program();
  if (program.empty()) return {};
  if (limits.empty()) limits.push_back(0);
  std::vector<PtxasRow> rows;
  for (const auto& [file, target] : target_of)
    for (const int limit : limits)
      for (const int level : {3, 1})
        rows.push_back({file, limit, level, duel::run_ptxas(program, file, target, {.limit = limit, .level = level})});
  return rows;
}

Json json_of(const std::vector<PtxasRow>& rows) {
  Json list = Json::array();
  for (const PtxasRow& r : rows) {
    const Json limit = r.limit == 0 ? Json(nullptr) : Json(r.limit);
    if (!r.run.error.empty()) list.push_back({{"file", r.file}, {"limit", limit}, {"level", r.level}, {"error", r.run.error}});
    for (const duel::PtxasFigures& f : r.run.functions)
      list.push_back({{"file", r.file},
                      {"function", f.function},
                      {"limit", limit},
                      {"level", r.level},
                      {"registers", f.registers < 0 ? Json(nullptr) : Json(f.registers)},
                      {"stack_frame_bytes", f.stack_bytes},
                      {"spill_store_bytes", f.store_bytes},
                      {"spill_load_bytes", f.load_bytes},
                      {"seconds", f.milliseconds < 0 ? Json(nullptr) : Json(f.milliseconds / 1000)}});
  }
  return list;
}

std::string text_of(const std::vector<PtxasRow>& rows) {
  if (rows.empty()) return "";
  Table table({"ptxas", "limit", "level", "registers", "stack", "stores", "loads", "ms"});
  std::string errors;
  for (const PtxasRow& r : rows) {
    const std::string limit = r.limit == 0 ? "-" : fmt::format("{}", r.limit), level = fmt::format("-O{}", r.level);
    if (!r.run.error.empty())
      errors += fmt::format("ptxas: {}{}, {}: {}\n", r.file, r.limit == 0 ? "" : fmt::format(" at {} registers", r.limit), level,
                            r.run.error);
    for (const duel::PtxasFigures& f : r.run.functions)
      table.row({f.function, limit, level, f.registers < 0 ? "-" : fmt::format("{}", f.registers), fmt::format("{}", f.stack_bytes),
                 fmt::format("{}", f.store_bytes), fmt::format("{}", f.load_bytes),
                 f.milliseconds < 0 ? "-" : fmt::format("{:.1f}", f.milliseconds)});
  }
  return "\n" + table.text() + errors;
}

}  // namespace regduel::cli
