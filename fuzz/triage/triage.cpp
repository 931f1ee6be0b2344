// See triage.h.
#include "fuzz/triage/triage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "fuzz/duel/allocators.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/isolate.h"
#include "fuzz/triage/plainer.h"
#include "fuzz/triage/reduce.h"
#include "ir/cfg.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

// The most telling first. The last two are not constraints: a core is named by a branch only where it has nothing else.
enum Trait : unsigned {
  kRemat,
  kEarly,
  kTied,
  kTwoPhis,
  kPhi,
  kGuard,
  kPart,
  kTwoDefs,
  kReturn,
  kClobber,
  kLoop,
  kFixed,
  kAffinity,
  kTuple,
  kBranch,
  kPressure,
  kNumTraits
};
constexpr std::array<std::string_view, kNumTraits> kTraitNames = {
    "remat",  "early-clobber", "tied", "two-phis", "phi",      "guard", "part",   "two-defs",
    "return", "clobber",       "loop", "fixed",    "affinity", "tuple", "branch", "pressure"};
constexpr Traits bit(Trait t) { return Traits{1} << t; }
constexpr Traits kConstraints = bit(kBranch) - 1;
// A decision that only some programs ask for says the rest by itself, but for this one: a vreg joins another, or a fixed register.
constexpr std::string_view kCoalesce = "coalesce-copy";
constexpr Traits kJoined = bit(kFixed) | bit(kAffinity);
// Copies and wide vregs are in most programs: that one is left says little beside anything else.
constexpr Traits kTellingRest = (kConstraints & ~(bit(kAffinity) | bit(kTuple))) | bit(kBranch);

constexpr std::uint64_t kHangTries = 30;  // cases of the size of a hang that its reduction tries: each takes seconds

// Decisions that occur in every program, or in every one that needs memory: that one of them is the first bad one says little.
constexpr std::string_view kAnotherAttempt = "another-attempt";
constexpr std::array<std::string_view, 6> kOrdinary = {"",       "keep-in-register", "fewest-units", kAnotherAttempt, "spill-round",
                                                       "unspill"};

bool is_ordinary(std::string_view decision) { return std::find(kOrdinary.begin(), kOrdinary.end(), decision) != kOrdinary.end(); }
constexpr std::string_view kInternalError = "harness/internal-error";
// Rules of the structure judge that say who may share a register: another judge sees that a value is wrong.
bool is_of_sharing(std::string_view rule) {
  return rule == "structure/fixed-register" || rule == "structure/early-clobber" || rule == "structure/def-overlap";
}

}  // namespace

std::string nature_of(std::string_view signature) {
  const std::string_view judge = signature.substr(0, signature.find('/'));
  if (judge == "memcheck" || judge == "symbolic" || judge == "execution") {
    // What is said of a ret, and of none of its operands, is said of the callee-saved registers.
    return signature.ends_with("@ret") ? "callee-saved" : "wrong-value";
  }
  if (signature.starts_with("structure/slot-")) return "structure/slot";
  // An invariant is broken wherever the program comes upon it first: "harness/internal-error@emit.cpp: first >= 0".
  if (const std::size_t text = signature.find(": "); signature.starts_with(kInternalError) && text != std::string_view::npos)
    return std::string(kInternalError) + std::string(signature.substr(text));
  if (signature.starts_with("harness/")) return std::string(signature);
  const std::string_view rule = signature.substr(0, signature.find('@'));
  return is_of_sharing(rule) ? "wrong-value" : std::string(rule);
}

bool shows_alike(const FuzzInput& input, const Failure& failure, ir::Fuel* fuel) {
  const std::string nature = nature_of(failure.signature);
  if (ends_the_process(failure) || nature == "disagreement/completeness-vs-success") return reproduces(input, failure, fuel);
  const ir::Allocator* const allocator = find_allocator(failure.allocator);
  if (allocator == nullptr) return false;
  std::vector<std::string> judges;
  if (nature == "wrong-value" || nature == "callee-saved") judges = {"structure", "memcheck", "symbolic", "execution"};
  else if (nature.starts_with("structure/") || nature.starts_with("harness/") || nature.starts_with("completeness/"))
    judges = {"structure"};
  const std::array one = {allocator};
  const Duel d = run_duel(input, one, nature.starts_with("metamorphic/"), judges, fuel);
  const std::vector<std::string> all = d.bouts[0].signatures();
  return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return nature_of(s) == nature; });
}

Traits traits_of(const FuzzInput& input) {
  const ir::Function& program = input.program;
  Traits traits = 0;
  const auto add = [&](Trait t, bool is_there = true) { traits |= is_there ? bit(t) : 0; };
  add(kBranch, program.blocks.size() > 1);
  add(kReturn, program.kind != ir::FunctionKind::Kernel);
  for (const ir::RegFile file : ir::kAllFiles) add(kPressure, input.limits.of(file) < input.target->units[ir::index(file)]);
  const ir::Cfg cfg(program);
  for (const ir::BlockId b : cfg.reverse_postorder())
    for (const ir::BlockId t : cfg.successors(b)) add(kLoop, cfg.rpo_index(t) <= cfg.rpo_index(b));
  for (std::size_t k = 0; k + 1 < program.insts.size(); ++k)
    add(kTwoPhis, program.insts[k].is_phi() && program.insts[k + 1].is_phi());
  for (const ir::VReg& v : program.vregs) add(kAffinity, v.hint.is_valid());
  for (const ir::Inst& i : program.insts) {
    const auto ops = program.operands_of(i);
    add(kPhi, i.op == Op::Phi);
    add(kRemat, i.has(ir::kRematerialisable));
    add(kAffinity, i.op == Op::Copy || i.op == Op::Phi);
    add(kBranch, i.num_targets > 0);
    int defs = 0;
    for (const Operand& o : ops) {
      add(kClobber, o.role == Role::Clobber);
      if (!o.is_vreg()) continue;
      defs += o.writes() ? 1 : 0;
      add(kEarly, o.is_early_clobber());
      add(kTied, o.is_tied());
      add(kAffinity, o.is_tied());
      add(kPart, !o.part.is_whole() || program.vreg(o.vreg()).alias.is_valid());
      add(kFixed, program.fixed_of(o).is_valid());
      add(kTuple, program.vreg(o.vreg()).units() > 1);
    }
    add(kTwoDefs, defs > 1);
    add(kGuard, defs > 0 && ir::is_guarded(ops));
  }
  return traits;
}

std::vector<std::string> bucket_names(const Failure& failure, std::string_view decision, Traits traits, const Knobs& knobs) {
  const std::string nature = nature_of(failure.signature);
  const std::string by = fmt::format(" by {}", decision);
  std::string plain = fmt::format("{}: {}", failure.allocator, nature);
  const bool is_told = !is_ordinary(decision);
  if (nature.starts_with("harness/")) return {is_told ? plain + by : plain};
  if (nature.starts_with("structure/") && decision == kAnotherAttempt) return {plain + by, plain};
  if (nature != "wrong-value") return {plain};
  if (is_told) plain += by;
  const std::string_view under = !is_told && (traits & bit(kPressure)) != 0 ? " under pressure" : "";
  std::vector<std::string> names;
  const auto add = [&](Traits first) {
    names.push_back(fmt::format("{} with {}{}", plain, kTraitNames[static_cast<std::size_t>(std::countr_zero(first))], under));
  };
  const Traits telling = !is_told ? kConstraints : decision == kCoalesce ? kJoined : 0;
  for (Traits left = traits & telling; left != 0; left &= left - 1) add(left);
  if (names.empty() && (traits & bit(kBranch)) != 0 && !is_told) add(bit(kBranch));
  if (names.empty() || is_told) names.push_back(plain + std::string(under));
  if (!is_told)
    for (std::size_t k = 0; k < knobs.size(); ++k)
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(k), fmt::format("{} with {}{}", plain, knobs[k].first, under));
  return names;
}

std::vector<std::string> names_of_the_rest(const Failure& failure, Traits traits, const Knobs& knobs,
                                           const std::vector<std::string>& names) {
  std::vector<std::string> rest;
  if (nature_of(failure.signature) != "wrong-value") return rest;
  const auto add = [&](std::string_view what) {
    std::string name = fmt::format("{}: wrong-value with {}", failure.allocator, what);
    const bool is_said = std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n.starts_with(name); });
    if (!is_said) rest.push_back(std::move(name));
  };
  for (const auto& [knob, value] : knobs) add(knob);
  for (Traits left = traits & kTellingRest; left != 0; left &= left - 1)
    add(kTraitNames[static_cast<std::size_t>(std::countr_zero(left))]);
  return rest;
}

namespace {

constexpr std::string_view kUnderPressure = " under pressure", kBy = " by ", kWith = " with ";

std::string_view without_pressure(std::string_view name) {
  if (name.ends_with(kUnderPressure)) name.remove_suffix(kUnderPressure.size());
  return name;
}
// "x: wrong-value with guard" of "x: wrong-value by evict with guard under pressure"; "" where no constraint is named.
std::string constraint_alone(std::string_view name) {
  name = without_pressure(name);
  const std::size_t with = name.rfind(kWith), by = std::min(name.find(kBy), with);
  return with == std::string_view::npos ? "" : std::string(name.substr(0, by)) + std::string(name.substr(with));
}

// The first name that is known but for what `part_of` leaves out.
template <class PartOf>
const std::string* find_alike(const std::vector<std::string>& names, const std::set<std::string>& known, const PartOf& part_of) {
  for (const std::string& name : names)
    for (const std::string& k : known)
      if (!part_of(name).empty() && part_of(name) == part_of(k)) return &k;
  return nullptr;
}

}  // namespace

std::string choose_bucket(const std::vector<std::string>& names, const std::vector<std::string>& rest,
                          const std::set<std::string>& known) {
  for (const std::string& name : names)
    if (known.contains(name)) return name;
  if (const std::string* k = find_alike(names, known, without_pressure)) return *k;
  if (const std::string* k = find_alike(names, known, constraint_alone)) return *k;
  const std::string others = names.back() + std::string(kWith);
  const auto at = known.lower_bound(others);
  const auto is_other = [&](auto k) { return k != known.end() && k->starts_with(others); };
  if (is_other(at) && names.size() == 1 && !is_other(std::next(at))) return *at;
  if (const std::string* k = find_alike(rest, known, without_pressure)) return *k;
  return is_other(at) ? names.back() : names.front();
}

namespace {

void name(Understood& u, std::string_view decision, Traits traits) {
  u.names = bucket_names(u.failure, decision, traits, u.core.knobs);
  u.rest = names_of_the_rest(u.failure, traits, u.core.knobs, u.names);
  u.bucket = u.names.front();
}

// Whether there are spills or refills in what the allocator makes of the case.
bool goes_through_memory(const FuzzInput& input, const std::string& allocator) {
  const std::array one = {find_allocator(allocator)};
  const std::array<std::string, 1> judges = {"structure"};
  const Duel d = run_duel(input, one, false, judges);
  const auto is_of_memory = [](const ir::Inst& i) { return i.op == Op::Spill || i.op == Op::Refill; };
  return d.bouts[0].program && std::ranges::any_of(d.bouts[0].program->insts, is_of_memory);
}

// The reduced case, reduced again to any case that fails alike and has no more traits; then in any plainer form that does
// (plainer.h).
Reduced core_of(const FuzzInput& reduced, const Failure& failure, const ReduceOptions& options) {
  const auto reduced_within = [&](const FuzzInput& c, Traits traits) {
    return reduce(c, [&](const FuzzInput& d) { return (traits_of(d) & ~traits) == 0 && shows_alike(d, failure); }, options);
  };
  constexpr std::size_t kSmall = 40;  // instructions: plainer forms of more are many
  Reduced core = reduced_within(reduced, traits_of(reduced));
  for (bool progress = core.input.program.insts.size() <= kSmall; progress;) {
    progress = false;
    const Traits traits = traits_of(core.input);
    for (const FuzzInput& c : plainer_forms(core.input)) {
      const Traits fewer = traits_of(c);
      if ((fewer & ~traits) != 0 || fewer == traits || !shows_alike(c, failure)) continue;
      const std::uint64_t tries = core.tries;
      core = reduced_within(c, fewer);
      core.tries += tries;
      progress = true;
      break;
    }
  }
  return core;
}

Understood without_core(const Reduced& reduced, const Failure& failure, std::string decision) {
  Understood u;
  u.reduced = u.core = reduced.input;
  u.failure = failure;
  u.decision = std::move(decision);
  name(u, u.decision, traits_of(u.core));
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
  const bool hangs = is_hang(failure);
  if (hangs) options.budget = std::min<std::uint64_t>(options.budget, kHangTries * input.program.insts.size());
  const Reduced reduced = reduce(input, [&](const FuzzInput& c) { return reproduces(c, failure); }, options);
  return without_core(reduced, failure, hangs ? "" : first_bad_decision(reduced.input, failure).kind);
}

}  // namespace

Understood not_reduced(const FuzzInput& input, const Failure& failure) { return without_core({.input = input}, failure, ""); }

Understood understand(const FuzzInput& input, const Failure& failure, std::uint64_t budget, Trials trials) {
  ReduceOptions options;
  options.budget = budget;
  options.leaps = false;
  if (ends_the_process(failure) || is_hang(failure)) return understand_end(input, failure, options);  // tried apart by itself
  if (trials == Trials::Apart) return understand_apart(input, failure, options);
  Understood u;
  u.failure = failure;
  Reduced reduced = reduce(input, [&](const FuzzInput& c) { return reproduces(c, failure); }, options);
  u.decision = first_bad_decision(reduced.input, failure).kind;
  Reduced core = core_of(reduced.input, failure, options);
  u.tries = reduced.tries + core.tries;
  u.is_minimal = reduced.is_minimal;
  u.reduced = std::move(reduced.input);
  u.core = std::move(core.input);
  const Traits traits = traits_of(u.core) | (goes_through_memory(u.core, failure.allocator) ? bit(kPressure) : 0);
  name(u, first_bad_decision([&](ir::Fuel& fuel) { return shows_alike(u.core, failure, &fuel); }).kind, traits);
  return u;
}

}  // namespace regduel::fuzz
