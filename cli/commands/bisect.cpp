// regduel bisect: which of an allocator's decisions is the first that makes a failure (fuzz/triage/bisect.h).

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/finding.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/reproducer.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/failure.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string input, signature, with;
  std::vector<std::string> planted;
  AllocatorOptions allocators;
  bool json = false;
};

int bisect_command(const Options& o) {
  const duel::Case input = load_case(o.input);
  plant(o.planted);
  const fuzz::Failure failure =
      failure_shown({o.input, o.signature, o.with, false, "there is nothing to look for", o.allocators}, input);
  if (const duel::ExecAllocator* const program = duel::find_external(failure.allocator);
      program != nullptr && !program->hello().has_fuel)
    throw BadInput(
        fmt::format("{}: error: {} takes no decisions that can be counted: its hello has no \"fuel: yes\" "
                    "(docs/own-allocator.md)",
                    o.input, failure.allocator));
  const fuzz::BadDecision found = fuzz::first_bad_decision(input, failure);
  if (o.json) {
    print_json({{"command", "bisect"},
                {"file", o.input},
                {"allocator", failure.allocator},
                {"signature", failure.signature},
                {"number", found.number},
                {"decision", found.kind}});
  } else if (found.number == 0) {
    fmt::print("{}: {}\nshows before any decision: with none taken, too\n", failure.allocator, failure.signature);
  } else {
    fmt::print("{}: {}\nfirst bad decision: number {}, {}\n", failure.allocator, failure.signature, found.number, found.kind);
    const std::string replay =
        fmt::format("regduel alloc {} {}", duel::shell_word(o.input), fuzz::replay_arguments(input, {failure.allocator}));
    fmt::print("before: {} --fuel {}\nafter:  {} --fuel {}\n", replay, found.number - 1, replay, found.number);
  }
  return 0;
}

}  // namespace

Action declare_bisect(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("input", &o->input, "A case: RIR text whose head says limits and knobs (a reproducer), or bytes of the fuzz corpus")
      .required();
  a.option("--signature", &o->signature, "Of which finding, as duel and fuzz name it (default: the first that the case shows)");
  a.option("--with", &o->with, "Of which allocator (default: fatpoint or briggs, whichever fails); exec:COMMAND must be said");
  o->allocators.add_to(a);
  a.option("--plant", &o->planted, "Planted bugs to switch on, comma-separated (build preset zoo)");
  a.flag("--json", o->json, "One JSON document on standard output");
  a.footer(
      "An allocator that may take only N optional decisions (alloc --fuel N) does what is plain from there on, and is right all "
      "the same: a copy stays, a\n"
      "value lives in memory, a refill is not saved. Bisection over N finds the decision with which the finding comes.\n"
      "Example:  regduel bisect findings/a.rir");
  return [o] { return bisect_command(*o); };
}

}  // namespace regduel::cli
