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
#include "fuzz/edit/edit.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/isolate.h"
#include "fuzz/triage/reduce.h"
#include "ir/check.h"

namespace regduel::fuzz {
namespace {

using ir::Op;
using ir::Operand;
using ir::Role;

// Constraints first; then what nearly every program has, by which a core is named only where it has nothing else.
enum Trait : unsigned {
  kRemat,
  kEarly,
  kTied,
  kTwoDefs,
  kPhi,
  kGuard,
  kPart,
  kClobber,
  kFixed,
  kTuple,
  kAffinity,
  kBranch,
  kNumTraits
};
constexpr std::array<std::string_view, kNumTraits> kTraitNames = {
    "remat", "early-clobber", "tied", "two-defs", "phi", "guard", "part", "clobber", "fixed", "tuple", "affinity", "branch"};
constexpr Traits kConstraints = (1u << kAffinity) - 1;

constexpr std::uint64_t kHangTries = 30;  // cases of the size of a hang that its reduction tries: each takes seconds

// Decisions that occur in every program, or in every one that needs memory: that one of them is the first bad one says little.
constexpr std::array<std::string_view, 5> kOrdinary = {"", "keep-in-register", "fewest-units", "another-attempt", "spill-round"};

bool is_ordinary(std::string_view decision) { return std::find(kOrdinary.begin(), kOrdinary.end(), decision) != kOrdinary.end(); }
// Rules of the structure judge that say who may share a register: another judge sees that a value is wrong.
bool is_of_sharing(std::string_view rule) {
  return rule == "structure/fixed-register" || rule == "structure/early-clobber" || rule == "structure/def-overlap";
}
bool ends_the_process(const Failure& f) {
  return f.signature.starts_with("harness/crash-") || f.signature.starts_with("harness/hang@");
}

}  // namespace

std::string nature_of(std::string_view signature) {
  const std::string_view judge = signature.substr(0, signature.find('/'));
  if (judge == "memcheck" || judge == "symbolic" || judge == "execution") {
    // What is said of a ret, and of none of its operands, is said of the callee-saved registers.
    return signature.ends_with("@ret") ? "callee-saved" : "wrong-value";
  }
  if (signature.starts_with("structure/slot-")) return "structure/slot";
  if (signature.starts_with("harness/crash-") || signature.starts_with("harness/hang@")) return std::string(signature);
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

Traits traits_of(const ir::Function& program) {
  Traits traits = 0;
  const auto add = [&](Trait t, bool is_there = true) { traits |= (is_there ? 1u : 0u) << t; };
  add(kBranch, program.blocks.size() > 1);
  for (const ir::VReg& v : program.vregs) add(kAffinity, v.hint.is_valid());
  for (const ir::Inst& i : program.insts) {
    const auto ops = program.operands_of(i);
    add(kPhi, i.op == Op::Phi);
    add(kRemat, i.has(ir::kRematerialisable));
    add(kAffinity, i.op == Op::Copy);
    add(kBranch, i.num_targets > 0);
    int defs = 0;
    for (const Operand& o : ops) {
      add(kClobber, o.role == Role::Clobber);
      if (!o.is_vreg()) continue;
      defs += o.writes() ? 1 : 0;
      add(kEarly, o.is_early_clobber());
      add(kTied, o.is_tied());
      add(kPart, !o.part.is_whole() || program.vreg(o.vreg()).alias.is_valid());
      add(kFixed, program.fixed_of(o).is_valid());
      add(kTuple, program.vreg(o.vreg()).units() > 1);
    }
    add(kTwoDefs, defs > 1);
    add(kGuard, defs > 0 && ir::is_guarded(ops));
  }
  return traits;
}

std::vector<std::string> bucket_names(const Failure& failure, std::string_view decision, Traits traits) {
  std::string plain = fmt::format("{}: {}", failure.allocator, nature_of(failure.signature));
  if (nature_of(failure.signature) != "wrong-value") return {plain};
  const bool is_told = !is_ordinary(decision);
  if (is_told) plain += fmt::format(" by {}", decision);
  std::vector<std::string> names;
  const auto add = [&](Traits first) {
    names.push_back(fmt::format("{} with {}", plain, kTraitNames[static_cast<std::size_t>(std::countr_zero(first))]));
  };
  for (Traits left = traits & kConstraints; left != 0; left &= left - 1) add(left);
  if (names.empty() && traits != 0 && !is_told) add(traits);
  if (names.empty() || is_told) names.push_back(plain);
  return names;
}

std::string choose_bucket(const std::vector<std::string>& names, const std::set<std::string>& known) {
  for (const std::string& name : names)
    if (known.contains(name)) return name;
  const std::string others = names.back() + " with ";
  const auto at = known.lower_bound(others);
  return at != known.end() && at->starts_with(others) ? names.back() : names.front();
}

namespace {

void name(Understood& u, std::string_view decision) {
  u.names = bucket_names(u.failure, decision, traits_of(u.core.program));
  u.bucket = u.names.front();
}

// Without clobbers: an instruction that defines nothing gets a def that nobody reads in their place.
FuzzInput with_defs_for_clobbers(const FuzzInput& input) {
  EditProgram p(input.program);
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      const bool writes = std::any_of(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.writes(); });
      if (std::erase_if(i.ops, [](const Operand& o) { return o.role == Role::Clobber; }) == 0 || writes) continue;
      p.header.vregs.emplace_back();
      const auto uses = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.role != Role::Guard; });
      i.ops.insert(uses, Operand::of_vreg(Role::Def, ir::VRegId(p.header.vregs.size() - 1)));
    }
  FuzzInput result = input;
  result.program = p.build();
  return result;
}

// The reduced case, reduced again to any case that fails alike and has no more traits; without clobbers that any def can stand for.
Reduced core_of(const FuzzInput& reduced, const Failure& failure, const ReduceOptions& options) {
  const Traits traits = traits_of(reduced.program);
  Reduced core = reduce(
      reduced, [&](const FuzzInput& c) { return (traits_of(c.program) & ~traits) == 0 && shows_alike(c, failure); }, options);
  FuzzInput plainer = with_defs_for_clobbers(core.input);
  if (ir::check(plainer.program, *plainer.target, 1).empty() && shows_alike(plainer, failure)) core.input = std::move(plainer);
  return core;
}

Understood without_core(const Reduced& reduced, const Failure& failure, std::string decision) {
  Understood u;
  u.reduced = u.core = reduced.input;
  u.failure = failure;
  u.decision = std::move(decision);
  name(u, u.decision);
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
  u.decision = first_bad_decision(reduced.input, failure).kind;
  Reduced core = core_of(reduced.input, failure, options);
  u.tries = reduced.tries + core.tries;
  u.is_minimal = reduced.is_minimal;
  u.reduced = std::move(reduced.input);
  u.core = std::move(core.input);
  name(u, first_bad_decision([&](ir::Fuel& fuel) { return shows_alike(u.core, failure, &fuel); }).kind);
  return u;
}

}  // namespace regduel::fuzz
