// The commands of the program. Each adds its options to the application and, when chosen, returns its exit status.
#pragma once

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/bad_input.h"

namespace regduel::cli {

inline constexpr int kExitFinding = 1;       // a judge objected, an allocation is impossible
inline constexpr int kExitBadInput = 2;      // bad usage or bad input (BadInput)
inline constexpr int kExitInternal = 3;      // a bug of ours
inline constexpr int kExitInconclusive = 4;  // verify: nothing failed, and a judge gave up

// What a command does when it was chosen.
using Action = std::function<int()>;

void add_gen_command(CLI::App& app, Action& chosen);
void add_import_command(CLI::App& app, Action& chosen);
void add_alloc_command(CLI::App& app, Action& chosen);
void add_pass_command(CLI::App& app, Action& chosen);
void add_verify_command(CLI::App& app, Action& chosen);
void add_duel_command(CLI::App& app, Action& chosen);
void add_fuzz_command(CLI::App& app, Action& chosen);
void add_reduce_command(CLI::App& app, Action& chosen);
void add_bisect_command(CLI::App& app, Action& chosen);
void add_merge_command(CLI::App& app, Action& chosen);
void add_export_command(CLI::App& app, Action& chosen);
void add_compare_command(CLI::App& app, Action& chosen);
void add_diff_command(CLI::App& app, Action& chosen);
void add_report_command(CLI::App& app, Action& chosen);
void add_zoo_command(CLI::App& app, Action& chosen);
void add_bench_command(CLI::App& app, Action& chosen);
void add_faults_command(CLI::App& app, Action& chosen);
void add_color_command(CLI::App& app, Action& chosen);
void add_knobs_command(CLI::App& app, Action& chosen);
void add_explain_command(CLI::App& app, Action& chosen);
void add_llvm_command(CLI::App& app, Action& chosen);

// Version and commit: "0.1.0 (0123456789ab)", with a "+" where the sources had changes, "unknown" where they came without git.
[[nodiscard]] std::string_view program_version();

// How run() was called, as a shell reads it: "regduel duel --random 500".
[[nodiscard]] std::string_view command_line();

// Whether the arguments name a command that could be run; what is wrong with them has been said on stderr. Runs nothing.
[[nodiscard]] bool is_command_line(int argc, const char* const* argv);
// The whole program: parses, runs, and turns what went wrong into one line on stderr and an exit status.
int run(int argc, const char* const* argv);

}  // namespace regduel::cli
