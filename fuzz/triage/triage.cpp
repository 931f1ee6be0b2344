// See triage.h.
#include "fuzz/triage/triage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "fuzz/duel/allocators.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/isolate.h"
#include "fuzz/triage/reduce.h"
#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

// Constraints of single instructions come before traits that nearly every program has.
enum Trait : unsigned { kPhi, kRemat, kEarly, kTied, kTwoDefs, kPart, kGuard, kClobber, kWide, kBranch, kFixed, kLoop, kNumTraits };
constexpr std::array<std::string_view, kNumTraits> kTraitNames = {
    "phi", "remat", "early-clobber", "tied", "two-defs", "part", "guard", "clobber", "tuple", "branch", "fixed", "loop"};

// Traits that spill code treats apart. Every program that needs memory has a round of spilling, so that the round alone says
// little.
constexpr Traits kOfSpillCode = 1u << kRemat | 1u << kPart | 1u << kWide;
// Beside these decisions it does not matter whether the value was wrong from the start or only when it had to be kept.
constexpr Traits kAtAnyTime = 1u << kGuard | 1u << kWide | 1u << kBranch;
// A part, or a phi, is wrong in other ways around a loop.
constexpr Traits kOtherInLoops = 1u << kPhi | 1u << kPart;

constexpr std::uint64_t kHangTries = 30;  // cases of the size of a hang that its reduction tries: each takes seconds

// Decisions that occur in every program: that one of them is the first bad one says little.
constexpr std::array<std::string_view, 4> kOrdinary = {"", "keep-in-register", "fewest-units", "another-attempt"};

bool is_ordinary(std::string_view decision) { return std::find(kOrdinary.begin(), kOrdinary.end(), decision) != kOrdinary.end(); }
// Natures that all say that a register holds another value than it should: what one judge sees as a broken rule another sees as
// a wrong value.
bool is_of_sharing(std::string_view nature) {
  return nature == "wrong-value" || nature == "structure/fixed-register" || nature == "structure/early-clobber" ||
         nature == "structure/def-overlap";
}
bool ends_the_process(const Failure& f) {
  return f.signature.starts_with("harness/crash-") || f.signature.starts_with("harness/hang@");
}

}  // namespace

std::string nature_of(std::string_view signature) {
  const std::string_view judge = signature.substr(0, signature.find('/'));
  if (judge == "memcheck" || judge == "symbolic" || judge == "execution") return "wrong-value";
  if (signature.starts_with("structure/slot-")) return "structure/slot";
  if (signature.starts_with("harness/crash-") || signature.starts_with("harness/hang@")) return std::string(signature);
  return std::string(signature.substr(0, signature.find('@')));
}

bool shows_alike(const FuzzInput& input, const Failure& failure, ir::Fuel* fuel) {
  const std::string nature = nature_of(failure.signature);
  if (ends_the_process(failure) || nature == "disagreement/completeness-vs-success") return reproduces(input, failure, fuel);
  const ir::Allocator* const allocator = find_allocator(failure.allocator);
  if (allocator == nullptr) return false;
  std::vector<std::string> judges;
  if (nature == "wrong-value") judges = {"memcheck", "symbolic", "execution"};
  else if (nature.starts_with("structure/") || nature.starts_with("harness/") || nature.starts_with("completeness/"))
    judges = {"structure"};
  const std::array one = {allocator};
  const Duel d = run_duel(input, one, nature.starts_with("metamorphic/"), judges, fuel);
  const std::vector<std::string> all = d.bouts[0].signatures();
  return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return nature_of(s) == nature; });
}

Traits traits_of(const ir::Function& program) {
  Traits traits = 0;
  const auto add = [&](Trait t, bool is_there = true) { traits |= (is_there ? 1u : 0u) << t; };
  add(kBranch, program.blocks.size() > 1);
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (const ir::Inst& i : program.insts_of(ir::BlockId(b)))
      for (const ir::BlockId target : program.targets_of(i)) add(kLoop, i.is_terminator() && target.index() <= b);
  for (const ir::Inst& i : program.insts) {
    add(kPhi, i.op == Op::Phi);
    add(kRemat, i.has(ir::kRematerialisable));
    add(kBranch, i.num_targets > 0);
    int defs = 0;
    for (const Operand& o : program.operands_of(i)) {
      add(kGuard, o.role == Role::Guard);
      add(kClobber, o.role == Role::Clobber);
      if (!o.is_vreg()) continue;
      const ir::VReg& v = program.vreg(o.vreg());
      defs += o.writes() ? 1 : 0;
      add(kEarly, o.is_early_clobber());
      add(kTied, o.is_tied());
      add(kPart, !o.part.is_whole() || v.alias.is_valid());
      add(kWide, v.units() > 1);
      add(kFixed, program.fixed_of(o).is_valid());
    }
    add(kTwoDefs, defs > 1);
  }
  return traits;
}

std::string_view most_telling(Traits traits) {
  return traits == 0 ? std::string_view() : kTraitNames[static_cast<std::size_t>(std::countr_zero(traits))];
}

std::string bucket_of(const Failure& failure, std::string_view decision, Traits traits) {
  const std::string nature = nature_of(failure.signature);
  const bool is_value = nature == "wrong-value", is_shared = !is_ordinary(decision) && is_of_sharing(nature);
  const Traits told = is_shared ? (decision == "spill-round" ? traits & kOfSpillCode : 0) : is_value ? traits : 0;
  const Traits first = told & ~(told - 1);  // the most telling one
  const bool at_any_time = !is_shared && decision == "keep-in-register" && (first & kAtAnyTime) != 0;
  std::string bucket = fmt::format("{}: {}", failure.allocator, is_shared ? "wrong" : nature);
  if (!decision.empty() && !at_any_time && (is_value || nature.starts_with("structure/")))
    bucket += fmt::format(" by {}", decision);
  if (told != 0) bucket += fmt::format(" with {}", most_telling(told));
  if ((first & kOtherInLoops) != 0 && (told & 1u << kLoop) != 0) bucket += " in a loop";
  return bucket;
}

namespace {

Understood without_core(const Reduced& reduced, const Failure& failure, std::string decision) {
  Understood u;
  u.reduced = u.core = reduced.input;
  u.failure = failure;
  u.decision = std::move(decision);
  u.bucket = bucket_of(failure, u.decision, traits_of(u.core.program));
  u.tries = reduced.tries;
  u.is_minimal = reduced.is_minimal;
  return u;
}

Understood understand_apart(const FuzzInput& input, const Failure& failure, const ReduceOptions& options) {
  const auto text_of = [](const std::function<std::string()>& work) {
    const Isolated r = isolated(work, kHangSeconds);
    return r.end == Isolated::End::Returned ? r.result : std::string();
  };
  const Reduced reduced = reduce(
      input, [&](const FuzzInput& c) { return !text_of([&] { return reproduces(c, failure) ? "yes" : ""; }).empty(); }, options);
  return without_core(reduced, failure, text_of([&] { return first_bad_decision(reduced.input, failure).kind; }));
}

Understood understand_end(const FuzzInput& input, const Failure& failure, ReduceOptions options) {
  const bool is_hang = failure.signature.starts_with("harness/hang@");
  if (is_hang) options.budget = std::min<std::uint64_t>(options.budget, kHangTries * input.program.insts.size());
  const Reduced reduced = reduce(input, [&](const FuzzInput& c) { return reproduces(c, failure); }, options);
  return without_core(reduced, failure, is_hang ? "" : first_bad_decision(reduced.input, failure).kind);
}

}  // namespace

Understood not_reduced(const FuzzInput& input, const Failure& failure) { return without_core({.input = input}, failure, ""); }

Understood understand(const FuzzInput& input, const Failure& failure, std::uint64_t budget, Trials trials) {
  ReduceOptions options;
  options.budget = budget;
  options.leaps = false;
  if (ends_the_process(failure)) return understand_end(input, failure, options);  // each case is tried apart by itself
  if (trials == Trials::Apart) return understand_apart(input, failure, options);
  Understood u;
  u.failure = failure;
  Reduced reduced = reduce(input, [&](const FuzzInput& c) { return reproduces(c, failure); }, options);
  const auto decision_of = [&](const FuzzInput& c) {
    return first_bad_decision([&](ir::Fuel& fuel) { return shows_alike(c, failure, &fuel); }).kind;
  };
  u.decision = first_bad_decision(reduced.input, failure).kind;
  const std::string alike = decision_of(reduced.input);
  const Traits traits = traits_of(reduced.input.program);
  Reduced core = reduce(
      reduced.input,
      [&](const FuzzInput& c) {
        return (traits_of(c.program) & ~traits) == 0 && shows_alike(c, failure) && decision_of(c) == alike;
      },
      options);
  u.bucket = bucket_of(failure, u.decision, traits_of(core.input.program));
  u.tries = reduced.tries + core.tries;
  u.is_minimal = reduced.is_minimal;
  u.reduced = std::move(reduced.input);
  u.core = std::move(core.input);
  return u;
}

}  // namespace regduel::fuzz
