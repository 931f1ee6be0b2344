// See triage.h.
#include "fuzz/triage/triage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "base/isolate.h"
#include "duel/allocators.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/plainer.h"
#include "fuzz/triage/reduce.h"
#include "passes/in_memory.h"
#include "passes/pass_allocator.h"
#include "passes/passes.h"

namespace regduel::fuzz {
namespace {

constexpr std::uint64_t kHangTries = 30;  // cases of the size of a hang that its reduction tries: each takes seconds

bool shows(const duel::Case& input, const ir::Allocator& allocator, std::string_view nature, ir::Fuel* fuel = nullptr) {
  std::vector<std::string> judges;
  if (nature == "wrong-value" || nature == "callee-saved") judges = {"structure", "memcheck", "symbolic", "execution"};
  else if (nature.starts_with("structure/") || nature.starts_with("harness/") || nature.starts_with("completeness/"))
    judges = {"structure"};
  const std::array one = {&allocator};
  const duel::Duel d =
      duel::duel(input, {.duelists = one, .judges = judges, .metamorphic = nature.starts_with("metamorphic/"), .fuel = fuel});
  const std::vector<std::string> all = d.bouts[0].signatures();
  return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return nature_of(s) == nature; });
}

}  // namespace

bool shows_alike(const duel::Case& input, const Failure& failure, ir::Fuel* fuel) {
  const std::string nature = nature_of(failure.signature);
  if (is_gap(failure) || ends_the_process(failure) || nature == "disagreement/completeness-vs-success" ||
      nature.starts_with("proof/"))
    return reproduces(input, failure, fuel);
  const ir::Allocator* const allocator = duel::find_allocator(failure.allocator);
  return allocator != nullptr && shows(input, *allocator, nature, fuel);
}

namespace {

// Allocates in the plainest way there is, so that what is wrong is wrong without an allocator.
class InMemory final : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "memory"; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& /*options*/) const override {
    auto allocated = passes::allocate_in_memory(program, target);
    if (!allocated) return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, allocated.error()});
    return ir::Allocation{.program = std::move(*allocated), .claims = {}, .has_claims = false};
  }
};

}  // namespace

std::string culprit_of(const duel::Case& input, const Failure& failure) {
  const std::string_view both = failure.allocator;
  const passes::Pass* const pass = passes::find_pass(both.substr(0, both.find('+')));
  if (pass == nullptr || ends_the_process(failure)) return failure.allocator;
  const InMemory memory;
  duel::Case unlimited = input;
  unlimited.limits = ir::Limits::of(*input.target);
  const passes::PassAllocator alone(*pass, memory);
  return shows(unlimited, alone, nature_of(failure.signature)) ? std::string(pass->name()) : failure.allocator;
}

namespace {

// Signatures of what else is wrong with the core, one of each nature.
std::vector<std::string> other_natures(const duel::Case& core, const Failure& failure) {
  std::map<std::string, std::string> found;
  const std::array one = {duel::find_allocator(failure.allocator)};
  for (const std::string& s : duel::duel(core, {.duelists = one}).bouts[0].signatures())
    if (nature_of(s) != nature_of(failure.signature)) found.try_emplace(nature_of(s), s);
  std::vector<std::string> signatures;
  for (const auto& [nature, signature] : found) signatures.push_back(signature);
  return signatures;
}

void name(Understood& u, std::string_view decision, Traits traits, const std::vector<std::string>& others = {}) {
  const Failure by{u.culprit, u.failure.signature};
  Naming& n = u.naming;
  n.nature = nature_of(by.signature);
  n.names = bucket_names(by, decision, traits, u.core.knobs);
  n.rest = names_of_the_rest(by, traits, u.core.knobs, n.names);
  for (const std::string& signature : others)
    std::ranges::copy(bucket_names({u.culprit, signature}, decision, traits, u.core.knobs), std::back_inserter(n.rest));
  n.title = title_of(n.names.front(), traits, u.core.knobs);
  u.bucket = n.title;
}

// Whether there are spills or refills in what the allocator makes of the case.
bool goes_through_memory(const duel::Case& input, const std::string& allocator) {
  const std::array one = {duel::find_allocator(allocator)};
  const std::array<std::string, 1> judges = {"structure"};
  const duel::Duel d = duel::duel(input, {.duelists = one, .judges = judges});
  const auto is_of_memory = [](const ir::Inst& i) { return i.op == ir::Op::Spill || i.op == ir::Op::Refill; };
  return d.bouts[0].program && std::ranges::any_of(d.bouts[0].program->insts, is_of_memory);
}

// The reduced case, reduced again to any case that fails alike and has no more traits; then in any plainer form that does
// (plainer.h).
Reduced core_of(const duel::Case& reduced, const Failure& failure, const ReduceOptions& options) {
  const auto reduced_within = [&](const duel::Case& c, Traits traits) {
    return reduce(c, [&](const duel::Case& d) { return (traits_of(d) & ~traits) == 0 && shows_alike(d, failure); }, options);
  };
  constexpr std::size_t kSmall = 40;  // instructions: plainer forms of more are many
  Reduced core = reduced_within(reduced, traits_of(reduced));
  for (bool progress = core.input.program.insts.size() <= kSmall; progress;) {
    progress = false;
    const Traits traits = traits_of(core.input);
    for (const duel::Case& c : plainer_forms(core.input)) {
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
  u.culprit = failure.allocator;
  u.decision = std::move(decision);
  name(u, u.decision, traits_of(u.core));
  u.tries = reduced.tries;
  u.is_minimal = reduced.is_minimal;
  return u;
}

Understood understand_apart(const duel::Case& input, const Failure& failure, const ReduceOptions& options) {
  const auto text_of = [](const std::function<std::string()>& work) {
    const Isolated r = isolated(work, kHangSeconds);
    return r.end == Isolated::End::Returned ? r.result : std::string();
  };
  const Reduced reduced = reduce(
      input, [&](const duel::Case& c) { return !text_of([&] { return reproduces(c, failure) ? "yes" : ""; }).empty(); }, options);
  return without_core(reduced, failure, text_of([&] { return first_bad_decision(reduced.input, failure).kind; }));
}

Understood understand_end(const duel::Case& input, const Failure& failure, ReduceOptions options) {
  const bool hangs = is_hang(failure);
  if (hangs) options.budget = std::min<std::uint64_t>(options.budget, kHangTries * input.program.insts.size());
  const Reduced reduced = reduce(input, [&](const duel::Case& c) { return reproduces(c, failure); }, options);
  return without_core(reduced, failure, hangs ? "" : first_bad_decision(reduced.input, failure).kind);
}

}  // namespace

Understood not_reduced(const duel::Case& input, const Failure& failure) { return without_core({.input = input}, failure, ""); }

Understood understand(const duel::Case& input, const Failure& failure, std::uint64_t budget, Trials trials) {
  ReduceOptions options;
  options.budget = budget;
  options.leaps = false;
  if (ends_the_process(failure) || is_hang(failure)) return understand_end(input, failure, options);  // tried apart by itself
  if (trials == Trials::Apart) return understand_apart(input, failure, options);
  Understood u;
  u.failure = failure;
  Reduced reduced = reduce(input, [&](const duel::Case& c) { return reproduces(c, failure); }, options);
  u.decision = first_bad_decision(reduced.input, failure).kind;
  Reduced core = core_of(reduced.input, failure, options);
  u.tries = reduced.tries + core.tries;
  u.is_minimal = reduced.is_minimal;
  u.reduced = std::move(reduced.input);
  u.core = std::move(core.input);
  const Traits traits = traits_of(u.core) | (goes_through_memory(u.core, failure.allocator) ? kUnderPressure : 0);
  u.culprit = culprit_of(u.core, failure);
  const ShowsUnder core_shows_under = [&](ir::Fuel& fuel) { return shows_alike(u.core, failure, &fuel); };
  name(u, first_bad_decision(core_shows_under).kind, traits, other_natures(u.core, failure));
  u.naming.needed = needed_decisions(core_shows_under);
  return u;
}

}  // namespace regduel::fuzz
