// See bucket.h.
#include "fuzz/triage/bucket.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include <fmt/format.h>

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
static_assert(bit(kPressure) == kUnderPressure);
constexpr Traits kConstraints = bit(kBranch) - 1;
// A decision that only some programs ask for says the rest by itself, but for this one: a vreg joins another, or a fixed register.
constexpr std::string_view kCoalesce = "coalesce-copy";
constexpr Traits kJoined = bit(kFixed) | bit(kAffinity);
// Copies and wide vregs are in most programs: that one is left says little beside anything else.
constexpr Traits kTellingRest = (kConstraints & ~(bit(kAffinity) | bit(kTuple))) | bit(kBranch);

constexpr std::size_t kMostSaid = 2;  // constraints in a title

// Decisions that occur in every program, or in every one that needs memory: that one of them is the first bad one says little.
constexpr std::string_view kAnotherAttempt = "another-attempt", kKeepInRegister = "keep-in-register";
constexpr std::array<std::string_view, 6> kOrdinary = {"",          kKeepInRegister, "fewest-units", kAnotherAttempt, "spill-round",
                                                       "move-homes"};

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

Traits traits_of(const duel::Case& input) {
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

std::vector<std::string> bucket_names(const Failure& failure, std::string_view decision, Traits traits, const duel::Knobs& knobs) {
  const std::string nature = nature_of(failure.signature);
  const std::string by = fmt::format(" by {}", decision);
  std::string plain = fmt::format("{}: {}", failure.allocator, nature);
  const bool is_told = !is_ordinary(decision);
  if (nature.starts_with("harness/") || is_gap(failure)) return {is_told ? plain + by : plain};
  if (nature.starts_with("structure/") && decision == kAnotherAttempt) return {plain + by, plain};
  if (nature != "wrong-value") return {plain};
  if (is_told) plain += by;
  const std::string_view under = !is_told && (traits & kUnderPressure) != 0 ? " under pressure" : "";
  std::vector<std::string> names;
  const auto add = [&](Traits first) {
    names.push_back(fmt::format("{} with {}{}", plain, kTraitNames[static_cast<std::size_t>(std::countr_zero(first))], under));
  };
  const Traits telling = !is_told ? kConstraints : decision == kCoalesce ? kJoined : 0;
  for (Traits left = traits & telling; left != 0; left &= left - 1) add(left);
  const bool is_bare = names.empty();
  if (is_bare && (traits & bit(kBranch)) != 0 && !is_told) add(bit(kBranch));
  if (is_bare || is_told) names.push_back(plain + std::string(under));
  if (!is_told)
    for (std::size_t k = 0; k < knobs.size(); ++k)
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(k), fmt::format("{} with {}{}", plain, knobs[k].first, under));
  return names;
}

std::vector<std::string> names_of_the_rest(const Failure& failure, Traits traits, const duel::Knobs& knobs,
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

constexpr std::string_view kPressed = " under pressure", kBy = " by ", kWith = " with ", kAnd = " and ";
constexpr std::string_view kWrongValue = ": wrong-value";

std::string_view without_pressure(std::string_view name) {
  if (name.ends_with(kPressed)) name.remove_suffix(kPressed.size());
  return name;
}
std::string_view culprit_in(std::string_view name) { return name.substr(0, name.find(": ")); }
// Where a name says a decision or a constraint: behind the culprit, which may be any command.
std::size_t find_said(std::string_view name, std::string_view what) { return name.find(what, culprit_in(name).size()); }

// "x: wrong-value with guard" of "x: wrong-value by evict with guard under pressure"; "" where no constraint is named.
std::string constraint_alone(std::string_view name) {
  name = without_pressure(name);
  const std::size_t with = find_said(name, kWith), by = std::min(find_said(name, kBy), with);
  return with == std::string_view::npos ? "" : std::string(name.substr(0, by)) + std::string(name.substr(with));
}
// Whether the culprit is that pair, or its pass.
bool is_part_of(std::string_view culprit, std::string_view pair) {
  return pair.starts_with(culprit) && (culprit.size() == pair.size() || pair[culprit.size()] == '+');
}
// The decision that the name says; "" where it says none.
std::string_view decision_in(std::string_view name) {
  const std::size_t by = find_said(name, kBy);
  return by == std::string_view::npos ? "" : name.substr(by + kBy.size(), name.find(kWith, by) - by - kBy.size());
}
// Whether it says a decision, and needs no constraint beside it.
bool is_of_decision(std::string_view name) { return !decision_in(name).empty() && decision_in(name) != kCoalesce; }
// The name of a case that has made a bucket of that title.
std::string name_behind(std::string_view title) {
  if (find_said(title, kWrongValue) == std::string_view::npos) return std::string(title);
  if (is_of_decision(title)) return std::string(title.substr(0, find_said(title, kWith)));
  const std::string_view said = without_pressure(title);
  return std::string(said.substr(0, find_said(said, kAnd))) + std::string(title.substr(said.size()));
}

// By name: the bucket that a case of that name has made.
using Known = std::map<std::string, std::string>;

// The first bucket whose name is one of these but for what `part_of` leaves out.
template <class PartOf>
const std::string* find_alike(const std::vector<std::string>& names, const Known& known, const PartOf& part_of) {
  for (const std::string& name : names)
    for (const auto& [k, bucket] : known)
      if (!part_of(name).empty() && part_of(name) == part_of(k)) return &bucket;
  return nullptr;
}

// Whether a value, or a place, is wrong: then the first bad decision is what made it so.
bool is_of_place(std::string_view nature) {
  return nature == "wrong-value" || nature == "callee-saved" || nature.starts_with("structure/");
}
// The first bucket of the culprit, or of its pass, with a case of that first bad decision, unless it is that of most programs.
const std::string* find_by_decision(std::string_view culprit, std::string_view decision, const KnownBuckets& known) {
  if (decision.empty() || decision == kKeepInRegister) return nullptr;
  for (const auto& [bucket, its] : known)
    if (is_part_of(culprit_in(bucket), culprit) && (decision == decision_in(bucket) || decision == its)) return &bucket;
  return nullptr;
}

}  // namespace

std::string title_of(const std::string& name, Traits traits, const duel::Knobs& knobs) {
  if (find_said(name, kWrongValue) == std::string::npos) return name;
  const std::string_view said = without_pressure(name);
  const std::size_t with = find_said(said, kWith);
  const bool has_none = with == std::string_view::npos;
  if (has_none && decision_in(name) == kCoalesce) return name;  // it says what was joined, or nothing
  std::vector<std::string_view> more;                           // constraints that the name does not say, the most telling first
  const auto add = [&](std::string_view what) {
    if (has_none || said.substr(with + kWith.size()) != what) more.push_back(what);
  };
  if (!is_of_decision(name))
    for (const auto& [knob, value] : knobs) add(knob);
  for (Traits left = traits & kConstraints; left != 0; left &= left - 1)
    add(kTraitNames[static_cast<std::size_t>(std::countr_zero(left))]);
  more.resize(std::min(more.size(), has_none ? kMostSaid : kMostSaid - 1));
  if (more.empty()) return name;
  return fmt::format("{}{}{}{}", said, has_none ? kWith : kAnd, fmt::join(more, kAnd), std::string_view(name).substr(said.size()));
}

std::string choose_bucket(const Naming& n, std::string_view decision, const KnownBuckets& known) {
  Known by_name;
  for (const auto& [bucket, its] : known) by_name.emplace(name_behind(bucket), bucket);
  for (const std::string& name : n.names)
    if (const auto k = by_name.find(name); k != by_name.end()) return k->second;
  if (const std::string* k = find_alike(n.names, by_name, without_pressure)) return *k;
  if (const std::string* k = find_alike(n.names, by_name, constraint_alone)) return *k;
  if (is_of_place(n.nature)) {
    std::vector<std::string_view> bad = {decision, decision_in(n.names.front())};
    std::ranges::copy_if(n.needed, std::back_inserter(bad), [](const std::string& kind) { return !is_ordinary(kind); });
    for (const std::string_view kind : bad)
      if (const std::string* k = find_by_decision(culprit_in(n.names.front()), kind, known)) return *k;
  }
  if (const std::string* k = find_alike(n.rest, by_name, without_pressure)) return *k;
  return n.title;
}

}  // namespace regduel::fuzz
