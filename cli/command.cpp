#include "cli/command.h"

#include <cstdio>
#include <expected>
#include <iostream>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "duel/exec/words.h"
#include "version.h"

namespace regduel::cli {
namespace {

// A message may have the name of a file in it, and that any byte.
std::string printable(std::string_view s) {
  std::string text;
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F) text += fmt::format("\\x{:02x}", byte);
    else text += c;
  }
  return text;
}

int complain(const std::string& message, int status) {
  std::fputs(fmt::format("regduel: {}\n", printable(message)).c_str(), stderr);  // where that fails, the status still says it
  return status;
}

// CLI11 words its errors over several lines now and then.
std::string one_line(std::string s) {
  for (char& c : s)
    if (c == '\n' || c == '\r') c = ' ';
  while (!s.empty() && s.back() == ' ') s.pop_back();
  return s;
}

// CLI11 takes 010 for eight.
void require_decimal_numbers(CLI::App& command) {
  for (CLI::Option* option : command.get_options(
           [](const CLI::Option* o) { return o->get_type_name().starts_with("INT") || o->get_type_name().starts_with("UINT"); }))
    option->check(
        [](const std::string& s) {
          const std::size_t digits = s.starts_with('-') ? 1 : 0;
          return s.size() > digits + 1 && s[digits] == '0' ? fmt::format("{} is no decimal number", s) : "";
        },
        "");
}

}  // namespace

std::string_view program_version() { return REGDUEL_VERSION; }

namespace {

std::string called_as;

std::string joined(int argc, const char* const* argv) {
  std::string line = "regduel";
  for (int k = 1; k < argc; ++k) line += " " + duel::shell_word(argv[k]);
  return line;
}

// Reads the command line: what to do, or the status to end with, having said why.
std::expected<Action, int> read_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "regduel: differential testing of GPU register allocators.\n"
      "Programs in, two allocators (fatpoint, briggs), independent judges, a table out.",
      "regduel");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("regduel {}", program_version()));
  app.footer(
      "Exit status: 0 all well; 1 a finding; 2 bad usage or bad input; 3 an internal error; 4 (verify) no judge objects, one could "
      "not tell.\n"
      "Start with:  regduel duel --regs 24,32,64,255 corpus/ptx\n"
      "Each command explains itself:  regduel duel --help");
  Action chosen;
  add_gen_command(app, chosen);
  add_import_command(app, chosen);
  add_alloc_command(app, chosen);
  add_pass_command(app, chosen);
  add_verify_command(app, chosen);
  add_duel_command(app, chosen);
  add_fuzz_command(app, chosen);
  add_reduce_command(app, chosen);
  add_bisect_command(app, chosen);
  add_merge_command(app, chosen);
  add_export_command(app, chosen);
  add_compare_command(app, chosen);
  add_diff_command(app, chosen);
  add_report_command(app, chosen);
  add_zoo_command(app, chosen);
  add_bench_command(app, chosen);
  add_faults_command(app, chosen);
  add_color_command(app, chosen);
  add_knobs_command(app, chosen);
  add_explain_command(app, chosen);
  add_llvm_command(app, chosen);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) require_decimal_numbers(*command);
  if (argc > 1 && argv[1][0] != '-') {
    std::string names;
    bool known = false;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      names += (names.empty() ? "" : ", ") + command->get_name();
      known = known || command->get_name() == argv[1];
    }
    if (!known) return std::unexpected(complain(fmt::format("no command \"{}\" (there are {})", argv[1], names), kExitBadInput));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    const int status = app.exit(e);
    std::cout.flush();
    if (!std::cout) return std::unexpected(complain("error: writing to standard output failed", kExitBadInput));
    return std::unexpected(status);
  } catch (const CLI::ParseError& e) {
    return std::unexpected(complain(one_line(e.what()) + " (see regduel --help)", kExitBadInput));
  }
  return chosen;
}

}  // namespace

std::string_view command_line() { return called_as; }

bool is_command_line(int argc, const char* const* argv) { return read_command_line(argc, argv).has_value(); }

int run(int argc, const char* const* argv) {
  called_as = joined(argc, argv);
  const auto chosen = read_command_line(argc, argv);
  if (!chosen) return chosen.error();
  try {
    const int status = (*chosen)();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return complain("error: writing to standard output failed", kExitBadInput);
    return status;
  } catch (const BadInput& e) {
    return complain(e.what(), kExitBadInput);
  } catch (const InternalError& e) {
    return complain(fmt::format("internal error: {}", e.what()), kExitInternal);
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return complain("error: writing to standard output failed", kExitBadInput);
    return complain(fmt::format("internal error: {}", e.what()), kExitInternal);
  }
}

}  // namespace regduel::cli
