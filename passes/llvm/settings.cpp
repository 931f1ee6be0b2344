// See settings.h.

#include "passes/llvm/settings.h"

namespace regduel::passes::llvm {
namespace {

using Table = ir::KnobTable<Settings>;

Table::Row flag(const char* name, bool Settings::* member, const char* help) {
  return {{.name = name,
           .default_value = Settings().*member ? "true" : "false",
           .source = "source 004",
           .help = help,
           .samples = {"false", "true"}},
          member};
}
Table::Row number(const char* name, int Settings::* member, const char* help) {
  return {{.name = name,
           .type = "int",
           .source = "source 004",
           .help = help,
           .samples = {"0", "1", "4", ir::knob_text(Settings().*member)}},
          member};
}

}  // namespace

const Table& knobs() {
  static const Table table(
      "llvm",
      {
          flag("llvm-join-liveintervals", &Settings::join_liveintervals, "join the live intervals of copies at all"),
          flag("llvm-join-splitedges", &Settings::join_splitedges,
               "join copies on split critical edges, and phis' on critical ones; such blocks go first"),
          flag("llvm-join-globalcopies", &Settings::join_globalcopies,
               "join copies whose both sides live in several blocks, and phis"),
          flag("llvm-terminal-rule", &Settings::terminal_rule,
               "copies to what has no other copy wait for those that they would block"),
          flag("llvm-verify-coalescing", &Settings::verify_coalescing, "verify program and intervals before and after"),
          number("llvm-late-remat-update-threshold", &Settings::late_remat_update_threshold,
                 "a value with so many copies keeps its interval until the end of a round when one of them is rematerialised"),
          number("llvm-large-interval-size-threshold", &Settings::large_interval_size_threshold,
                 "an interval of so many values is large"),
          number("llvm-large-interval-freq-threshold", &Settings::large_interval_freq_threshold,
                 "a large interval is looked at so often"),
          flag("llvm-twoaddr-reschedule", &Settings::twoaddr_reschedule, "move copies of a tied use before its instruction"),
      });
  return table;
}

}  // namespace regduel::passes::llvm
