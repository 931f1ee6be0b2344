// regduel reduce: a failing case, made as small as it can be while it fails in the same way, and the decision that makes it fail.

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <filesystem>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "duel/case_file.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/reproducer.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/reduce.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string input, output;
  std::string signature, with, gap, cliff, test;
  std::uint64_t budget = fuzz::ReduceOptions{}.budget;
  TargetOptions target;
  int regs = 0;
  bool metamorphic = false;
  AllocatorOptions allocators;
  bool json = false;
};

// A command that is given the case as a file and exits with 0 where it is still of interest.
class Script {
 public:
  explicit Script(std::string command)
      : command_(std::move(command)), file_((std::filesystem::temp_directory_path() / "regduel-XXXXXX.rir").string()) {
    const int fd = ::mkstemps(file_.data(), 4);
    if (fd < 0) throw BadInput(fmt::format("error: {}: can't be written", file_));
    ::close(fd);
  }
  ~Script() { std::remove(file_.c_str()); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  bool operator()(const duel::Case& input) const {
    save(file_, duel::print_case(input));
    const int status = std::system(fmt::format("{} {}", command_, duel::shell_word(file_)).c_str());
    // The shell had the interrupt, which system() keeps from us.
    const bool is_interrupted =
        (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) || (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT);
    if (is_interrupted) std::raise(SIGINT);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  std::string command_, file_;
};

// What is asked of each step, and how a reader of the result repeats it.
struct Question {
  fuzz::StillFails still_fails;
  std::string what;                           // a signature, a gap, a command
  std::string replay;                         // a command line; FILE stands for the case
  std::optional<fuzz::Failure> failure = {};  // where that is what is asked for
};

Question question(const Options& o, const duel::Case& input) {
  const int ways = (o.signature.empty() ? 0 : 1) + (o.gap.empty() ? 0 : 1) + (o.cliff.empty() ? 0 : 1) + (o.test.empty() ? 0 : 1);
  if (ways > 1) throw BadInput("--signature, --gap, --cliff and --test are different questions: give one");
  if (!o.test.empty()) {
    auto script = std::make_shared<const Script>(o.test);
    return {[script](const duel::Case& c) { return (*script)(c); }, o.test, fmt::format("{} FILE", o.test)};
  }
  if (!o.gap.empty() || !o.cliff.empty()) {
    if (!o.with.empty()) static_cast<void>(o.allocators.duelists({o.with}));  // programs are found once they run
    const auto gap = o.cliff.empty() ? fuzz::parse_gap(o.gap) : fuzz::parse_cliff(o.cliff);
    if (!gap) throw BadInput(fmt::format("{}: {}", o.cliff.empty() ? "--gap" : "--cliff", gap.error()));
    const std::vector<std::string> players = gap->is_cliff() ? std::vector{gap->worse} : std::vector{gap->worse, gap->better};
    return {[gap](const duel::Case& c) { return fuzz::reproduces(c, *gap); }, to_string(*gap),
            fmt::format("regduel duel FILE {}", fuzz::replay_arguments(input, players))};
  }
  const fuzz::Failure chosen =
      failure_shown({o.input, o.signature, o.with, o.metamorphic || o.signature.starts_with("metamorphic/"),
                     "there is nothing to reduce (--gap or --test ask other questions)", o.allocators},
                    input);
  const std::string_view asked = chosen.signature.starts_with("metamorphic/") ? "--metamorphic " : "";
  return {[chosen](const duel::Case& c) { return fuzz::reproduces(c, chosen); },
          fmt::format("{}: {}", chosen.allocator, chosen.signature),
          fmt::format("regduel duel FILE {}{}", asked, fuzz::replay_arguments(input, fuzz::players_of(chosen))), chosen};
}

int reduce_command(const Options& o) {
  require_file_possible(o.output);
  duel::Case input = load_case(o.input);
  // What the options say stands instead of the case's head.
  if (o.regs != 0 || o.target.sm != 0 || !o.target.target_file.empty() || !o.target.limits.empty()) {
    if (o.regs != 0) check_registers(o.regs);
    input.target = &o.target.resolve(input.program, o.input);
    input.limits = o.target.limits_for(*input.target, o.regs);
  }
  const Question asked = question(o, input);
  if (!asked.still_fails(input))
    throw BadInput(fmt::format("{}: error: it does not show what it is to be reduced for ({})", o.input, asked.what));
  std::optional<Interrupt> interrupt(std::in_place);
  Progress progress("reduce", 0);
  fuzz::ReduceOptions options;
  options.budget = o.budget;
  options.progress = [&](const fuzz::CaseSize& size, std::uint64_t tries) {
    progress.step(1, fmt::format("{} instructions, {} tries", size[0], tries));
    return !interrupt->is_asked_for();
  };
  const fuzz::Reduced reduced = fuzz::reduce(input, asked.still_fails, options);
  progress.done();
  const bool is_interrupted = interrupt->is_asked_for();
  interrupt.reset();

  // The replay is that of the reduced case: its limits and knobs are others.
  std::string replay = question(o, reduced.input).replay;
  if (const auto at = replay.find("FILE"); at != std::string::npos) replay.replace(at, 4, o.output == "-" ? o.input : o.output);
  fuzz::BadDecision bad;
  if (asked.failure) bad = fuzz::first_bad_decision(reduced.input, *asked.failure);
  const std::string decision = bad.number == 0 ? "" : fmt::format("first bad decision: number {}, {}\n", bad.number, bad.kind);
  save(o.output, duel::print_case(reduced.input, asked.what + "\n" + decision + replay));
  const auto& before = input.program;
  const auto& after = reduced.input.program;
  if (o.json)
    print_json({{"command", "reduce"},
                {"file", o.input},
                {"output", o.output},
                {"question", asked.what},
                {"replay", replay},
                {"instructions_before", before.insts.size()},
                {"instructions", after.insts.size()},
                {"blocks_before", before.blocks.size()},
                {"blocks", after.blocks.size()},
                {"vregs_before", before.vregs.size()},
                {"vregs", after.vregs.size()},
                {"tries", reduced.tries},
                {"decision", bad.kind},
                {"decision_number", bad.number},
                {"minimal", reduced.is_minimal}});
  else
    fmt::print(stderr, "{}\n{} -> {} instructions, {} -> {} blocks, {} -> {} vregs, in {} tries{}\n", asked.what,
               before.insts.size(), after.insts.size(), before.blocks.size(), after.blocks.size(), before.vregs.size(),
               after.vregs.size(), reduced.tries,
               reduced.is_minimal ? "; no single step makes it smaller"
               : is_interrupted   ? " (interrupted)"
                                  : " (the budget is spent)");
  return 0;
}

}  // namespace

Action declare_reduce(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "A case: RIR text whose head says limits and knobs (a reproducer), or bytes of the fuzz corpus")
      .required();
  a.option("-o,--output", &o->output, "Where to write the reduced case (- = standard output)").required();
  a.option("--signature", &o->signature,
           "Which finding to keep, as duel and fuzz name it (default: the first that the case shows)");
  a.option("--with", &o->with,
           "Of which allocator (default: fatpoint or briggs, whichever fails); exec:COMMAND must be said, for --gap too");
  o->allocators.add_to(a);
  a.option("--gap", &o->gap,
           "Keep a difference of quality instead: WORSE/BETTER:FIGURE>=RATIO, where FIGURE is registers, spill_store_bytes, "
           "spill_load_bytes or weighted_spill_bytes");
  a.option("--cliff", &o->cliff, "Keep a cliff instead: ALLOCATOR:FIGURE>=RATIO (regduel fuzz --help)");
  a.option("--test", &o->test,
           "Keep what this command says: it is run with the case's file name as its last argument, and exit status 0 means "
           "that the case is still of interest");
  a.option("--regs,--maxrregcount", &o->regs, "Limit of the general register file, instead of what the case's head says");
  o->target.add_to(a);
  a.option("--budget", &o->budget, "How many instructions to try, in all candidates together").shows_default();
  a.flag("--metamorphic", o->metamorphic, "Look for findings of the metamorphic judge too");
  a.flag("--json", o->json, "One JSON document on standard output");
  a.footer(
      "Deterministic: the same case and question give the same result. Ctrl-C keeps what has been reached.\n"
      "Examples:  regduel reduce findings/a.rir -o small.rir\n"
      "           regduel reduce a.rir --gap 'briggs/fatpoint:spill_load_bytes>=1.5' -o gap.rir");
  return [o] { return reduce_command(*o); };
}

}  // namespace regduel::cli
