// Properties of every layer over random programs (arbitrary.h): what fails is shrunk by the reducer's steps and shown as a case.
// The environment variable RC_PARAMS sets RapidCheck's seed and the number of cases (RC_PARAMS="seed=1 max_success=1000").
//
//   ir          text and binary forms, of programs and of allocations; readers of damaged forms; check; targets; the control-flow
//   graph allocators  both: every judge passes; knobs, repetition, agreement oracles     total on any pair of well-formed programs;
//   demand fuzz        mutator, crossover, forms of an input, reducer
#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "duel/case_file.h"
#include "fuzz/edit/mutator.h"
#include "fuzz/triage/failure.h"
#include "fuzz/triage/reduce.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "oracles/completeness.h"
#include "oracles/judges.h"
#include "properties/arbitrary.h"

namespace regduel::properties {
namespace {

using oracles::Verdict;

// For what takes long on a large program.
rc::Gen<duel::Case> small_input() { return arbitrary_case({.max_size = 60}); }

std::string text_of(const ir::Function& f) { return "rir 1\n" + ir::print(f); }

// What the allocator makes of the case, where it does not give up.
std::optional<ir::Allocation> allocated(const ir::Allocator& allocator, const duel::Case& input) {
  ir::AllocOptions options;
  options.limits = input.limits;
  options.knobs = duel::known_to(allocator, input.knobs);
  auto result = allocator.allocate(input.program, *input.target, options);
  return result ? std::optional(std::move(*result)) : std::nullopt;
}

void damage(std::vector<std::uint8_t>& bytes, std::uint64_t seed) {
  Random random(seed);
  for (int left = random.between(1, 8); left > 0 && !bytes.empty(); --left) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint32_t>(bytes.size())));
    const auto byte = static_cast<std::uint8_t>(random.below(256));
    switch (random.below(3)) {
      case 0: bytes[static_cast<std::size_t>(at)] = byte; break;
      case 1: bytes.erase(bytes.begin() + at); break;
      default: bytes.insert(bytes.begin() + at, byte); break;
    }
  }
}
void damage(std::string& text, std::span<const std::string_view> pieces, std::uint64_t seed) {
  Random random(seed);
  for (int left = random.between(1, 6); left > 0 && !text.empty(); --left) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
    switch (random.below(4)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text.erase(at, 1 + random.below(12)); break;
      case 2: text.insert(at, pieces[random.below(static_cast<std::uint32_t>(pieces.size()))]); break;
      default:
        if (random.chance(20)) text.resize(at);
        break;
    }
  }
}
// Anything anywhere in the arrays of a program: numbers from outside, enumerators that there are not, ranges that overlap.
void scribble(ir::Function& f, Random& random) {
  const auto pick = [&](auto& list) -> auto& { return list[random.below(static_cast<std::uint32_t>(list.size()))]; };
  const auto number = [&] { return random.chance(70) ? random.below(12) : static_cast<std::uint32_t>(random.next()); };
  switch (random.below(9)) {
    case 0: pick(f.insts).first_operand = number(); break;
    case 1: pick(f.insts).num_operands = static_cast<decltype(ir::Inst::num_operands)>(number()); break;
    case 2: pick(f.insts).op = static_cast<ir::Op>(random.below(32)); break;
    case 3: pick(f.insts).flags = static_cast<decltype(ir::Inst::flags)>(number()); break;
    case 4: pick(f.blocks).first_inst = number(); break;
    case 5:
      if (!f.operands.empty()) {
        ir::Operand& o = pick(f.operands);
        o.set_raw({number(), o.raw().extra});
      }
      break;
    case 6:
      if (!f.operands.empty())
        pick(f.operands).role = static_cast<ir::Role>(random.below(6)),
        pick(f.operands).part = ir::Part::from_code(static_cast<std::uint8_t>(number()));
      break;
    case 7:
      if (!f.targets.empty()) pick(f.targets) = ir::BlockId(number());
      break;
    default:
      if (!f.vregs.empty()) pick(f.vregs).width = static_cast<std::uint16_t>(number()), pick(f.vregs).alias = ir::VRegId(number());
      break;
  }
}
// Another register or slot for one operand of an allocated program.
void misplace(ir::Function& f, Random& random) {
  if (f.operands.empty()) return;
  ir::Operand& o = f.operands[random.below(static_cast<std::uint32_t>(f.operands.size()))];
  if (o.is_preg()) {
    ir::PReg r = o.preg();
    r.first = static_cast<std::uint16_t>(random.below(static_cast<std::uint32_t>(r.first + 2 * r.count)));
    o.set_preg(r);
  } else if (o.is_slot()) {
    o.set_slot(ir::SlotId(random.below(static_cast<std::uint32_t>(f.slots.size()))));
  }
}

// --- ir ----------------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(Property, TextRoundTrip, (const duel::Case& input)) {
  const std::string text = text_of(input.program);
  const auto module = ir::parse(text);
  RC_ASSERT(module.has_value());
  RC_ASSERT(module->functions.size() == 1u);
  RC_ASSERT(text_of(module->functions[0]) == text);
}

RC_GTEST_PROP(Property, BinaryRoundTrip, (const duel::Case& input)) {
  const auto bytes = ir::encode(input.program);
  RC_ASSERT(ir::looks_binary(bytes));
  const auto again = ir::decode(bytes);
  RC_ASSERT(again.has_value());
  RC_ASSERT(ir::print(*again) == ir::print(input.program));
  RC_ASSERT(ir::encode(*again) == bytes);
}

// Slots, inserted instructions, edge blocks: all that only an allocation has.
RC_GTEST_PROP(Property, AllocationsRoundTrip, (const duel::Case& input)) {
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    const auto allocation = allocated(*allocator, input);
    if (!allocation) continue;
    const std::string text = text_of(allocation->program);
    const auto module = ir::parse(text);
    RC_ASSERT(module.has_value());
    RC_ASSERT(text_of(module->functions[0]) == text);
    const auto again = ir::decode(ir::encode(allocation->program));
    RC_ASSERT(again.has_value());
    RC_ASSERT(text_of(*again) == text);
  }
}

RC_GTEST_PROP(Property, DecodeOfAnyBytes, (const std::vector<std::uint8_t>& bytes)) {
  const auto f = ir::decode(bytes);
  if (f) RC_ASSERT(ir::check(*f).empty());
}

RC_GTEST_PROP(Property, DecodeOfDamagedBytes, (const duel::Case& input, std::uint64_t seed)) {
  auto bytes = ir::encode(input.program);
  damage(bytes, seed);
  const auto f = ir::decode(bytes);
  if (f) RC_ASSERT(ir::check(*f).empty());
}

RC_GTEST_PROP(Property, ParseOfDamagedText, (const duel::Case& input, std::uint64_t seed)) {
  constexpr std::string_view kPieces[] = {"%",  "#",  "{",  "}",           ",",     " = ",   "-> ",  "b0",        "!read",
                                          "\"", "//", "\n", "99999999999", "R4:R2", "vreg ", "\x01", "block b1\n"};
  std::string text = text_of(input.program);
  damage(text, kPieces, seed);
  const auto module = ir::parse(text, "damaged.rir");
  if (module) {
    for (const ir::Function& f : module->functions) {
      RC_ASSERT(ir::check(f).empty());
      RC_ASSERT(ir::parse(text_of(f)).has_value());
    }
  } else {
    RC_ASSERT(!module.error().message.empty());
    RC_ASSERT(module.error().line >= 1);
  }
}

// check() follows no index before it has looked at it, and what it lets pass can be written and read.
RC_GTEST_PROP(Property, CheckIsSafeOnAnyContents, (duel::Case input, std::uint64_t seed)) {
  Random random(seed);
  for (int left = random.between(1, 4); left > 0; --left) scribble(input.program, random);
  const bool is_well_formed = ir::check(input.program, *input.target).empty();
  RC_CLASSIFY(is_well_formed);
  if (!is_well_formed) return;
  const auto module = ir::parse(text_of(input.program));
  RC_ASSERT(module.has_value());
  RC_ASSERT(text_of(module->functions[0]) == text_of(input.program));
}

RC_GTEST_PROP(Property, TargetOfDamagedJson, (std::uint64_t seed)) {
  constexpr std::string_view kPieces[] = {
      "\"", "{", "}", "[", ",", "-1", "1e99", "null", "R63:R62", "\"R600\"", "99999999999999999999"};
  std::string text = R"({"name": "toy", "units": {"R": 64, "P": 4, "UR": 16}, "reserved": ["R0", "R62:R63"],
    "abi": {"arguments": ["R4:R7"], "results": ["R4:R5"], "callee_saved": ["R16:R23"], "clobbered": ["R0:R15", "P0:P3"]},
    "register_banks": 2, "registers_per_sm": 65536, "register_granularity": 256, "max_warps_per_sm": 64})";
  RC_ASSERT(ir::parse_target(text).has_value());
  damage(text, kPieces, seed);
  const auto target = ir::parse_target(text, "toy.json");
  if (!target) {
    RC_ASSERT(!target.error().message.empty());
    return;
  }
  for (const int units : target->units) RC_ASSERT(units >= 0 && units <= ir::kMaxUnits);
  for (const ir::PReg r : target->reserved) RC_ASSERT(r.is_valid() && r.end() <= ir::kMaxUnits);
  RC_ASSERT(target->register_banks >= 1 && target->register_granularity >= 1);
}

RC_GTEST_PROP(Property, ControlFlowGraphIsThatOfTheTerminators, (const duel::Case& input)) {
  const ir::Function& f = input.program;
  const ir::Cfg cfg(f);
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges, forward, backward;
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    for (const ir::BlockId t : f.successors(ir::BlockId(b))) edges.emplace(b, t.value);
    for (const ir::BlockId t : cfg.successors(ir::BlockId(b))) RC_ASSERT(forward.emplace(b, t.value).second);
    for (const ir::BlockId t : cfg.predecessors(ir::BlockId(b))) RC_ASSERT(backward.emplace(t.value, b).second);
  }
  RC_ASSERT(forward == edges);
  RC_ASSERT(backward == edges);
  // Each reachable block once; a block other than the entry comes after one of its predecessors.
  const auto order = cfg.reverse_postorder();
  RC_ASSERT(order[0] == ir::BlockId(0));
  for (std::size_t k = 0; k < order.size(); ++k) {
    RC_ASSERT(cfg.rpo_index(order[k]) == static_cast<int>(k));
    const auto preds = cfg.predecessors(order[k]);
    RC_ASSERT(k == 0 || std::ranges::any_of(
                            preds, [&](ir::BlockId p) { return cfg.is_reachable(p) && cfg.rpo_index(p) < static_cast<int>(k); }));
    for (const ir::BlockId t : cfg.successors(order[k])) RC_ASSERT(cfg.is_reachable(t));
  }
}

// --- allocators --------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(Property, EveryJudgePassesEveryAllocator, (const duel::Case& input)) {
  const duel::Duel d = duel::duel(input, {.duelists = duel::all_duelists()});
  if (d.verdict() == Verdict::Fail) RC_FAIL(fuzz::describe(input, d));
}

// Many knobs at once, or all of them, each at one of its samples: preferences may change, hard conflicts not.
RC_GTEST_PROP(Property, NoKnobLetsAHardConflictThrough, (std::uint64_t seed)) {
  duel::Case input = *small_input();
  Random random(seed);
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    input.knobs.clear();
    const int percent_set =
        random.chance(50) ? 100 : 50;  // the rest stays at the default, which switches off much of what others need
    for (const ir::KnobInfo& knob : allocator->knobs()) {
      if (!knob.samples.empty() && random.chance(percent_set))
        input.knobs.emplace_back(knob.name, knob.samples[random.below(static_cast<std::uint32_t>(knob.samples.size()))]);
    }
    const duel::Duel d = duel::duel(input, {.duelists = std::array{allocator}});
    if (d.verdict() == Verdict::Fail) RC_FAIL(fuzz::describe(input, d));
  }
}

// The same input twice, the same bytes out; and what one allocator calls impossible no other may solve, unless it does without the
// impossible instruction, a copy, which the duel knows.
RC_GTEST_PROP(Property, DuelsRepeatAndAgreeOnTheImpossible, (const duel::Case& input)) {
  std::optional<bool> is_possible;
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    const auto a = allocated(*allocator, input), b = allocated(*allocator, input);
    RC_ASSERT(a.has_value() == b.has_value());
    if (a.has_value() != is_possible.value_or(a.has_value()))
      RC_ASSERT(duel::duel(input, {.duelists = duel::all_duelists()}).verdict() != Verdict::Fail);
    is_possible = a.has_value();
    if (a) RC_ASSERT(ir::encode(a->program) == ir::encode(b->program));
  }
}

// Where an allocation fits into fewer registers, all that the target has are enough too.
RC_GTEST_PROP(Property, MoreRegistersAreNeverImpossible, ()) {
  duel::Case input = *small_input();
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    if (!allocated(*allocator, input)) continue;
    duel::Case roomy = input;
    roomy.limits = ir::Limits::of(*input.target);
    RC_ASSERT(allocated(*allocator, roomy).has_value());
  }
}

// --- oracles -----------------------------------------------------------------------------------------------------------

void assert_consistent(const oracles::Case& c) {
  const oracles::Report report = oracles::judge(c);
  RC_LOG() << "after:\n" << text_of(c.after);
  for (const oracles::JudgeResult& r : report.results) {
    RC_LOG() << r.judge << ": " << oracles::name(r.verdict) << ' ' << r.reason << '\n';
    for (const oracles::Finding& f : r.findings) RC_LOG() << "  " << oracles::signature(f, c.after) << ": " << f.message << '\n';
  }
  for (const oracles::JudgeResult& r : report.results) {
    RC_ASSERT((r.verdict == Verdict::Fail) == !r.findings.empty());
    if (r.verdict == Verdict::Inconclusive || r.verdict == Verdict::Skipped) RC_ASSERT(!r.reason.empty());
    // "execution-vs-static" and the like: two judges that contradict each other.
    RC_ASSERT(r.judge != "disagreement" || r.verdict != Verdict::Fail);
  }
}

RC_GTEST_PROP(Property, JudgesAreTotalAndAgreeOnDamagedAllocations, (std::uint64_t seed)) {
  const duel::Case input = *small_input();
  Random random(seed);
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    auto allocation = allocated(*allocator, input);
    if (!allocation) continue;
    for (int left = random.between(1, 3); left > 0; --left) {
      ir::Function damaged = allocation->program;
      misplace(damaged, random);
      if (ir::check(damaged, *input.target, 1).empty()) allocation->program = std::move(damaged);
    }
    assert_consistent({input.program, allocation->program, *input.target, input.limits, &allocation->claims});
  }
}

// The allocation of one program is none of another.
RC_GTEST_PROP(Property, JudgesAreTotalOnUnrelatedPrograms, ()) {
  const rc::Gen<duel::Case> inputs = arbitrary_case({.target = &ir::default_target(), .max_size = 60});
  const duel::Case before = *inputs, other = *inputs;
  for (const ir::Allocator* allocator : duel::all_duelists()) {
    const auto allocation = allocated(*allocator, other);
    if (!allocation) continue;
    const oracles::Case unrelated = {before.program, allocation->program, *before.target, before.limits};
    assert_consistent(unrelated);
    const auto bare = [](const ir::Function& f) { return f.insts.size() == f.blocks.size(); };
    if (before.program.insts.size() != other.program.insts.size() && !bare(before.program) && !bare(other.program))
      RC_ASSERT(oracles::judge(unrelated).verdict() == Verdict::Fail);
    // Nor is a program before allocation one after it.
    assert_consistent({before.program, other.program, *before.target, before.limits});
  }
}

// The least limit is one: the operands can be packed there, and not below.
RC_GTEST_PROP(Property, DemandIsTheLeastLimitThatFits, ()) {
  const duel::Case input = *arbitrary_case({.max_size = 30});
  const auto insts = std::span(input.program.insts).first(std::min<std::size_t>(20, input.program.insts.size()));
  for (const ir::Inst& inst : insts)
    for (const ir::RegFile file : ir::kAllFiles) {
      if (!input.target->has(file)) continue;
      const auto least = oracles::demand(input.program, inst, file, *input.target);
      ir::Limits limits = ir::Limits::of(*input.target);
      const auto fits_at = [&](int units) {
        limits.units[ir::index(file)] = units;
        return oracles::is_feasible(input.program, inst, *input.target, limits);
      };
      if (!least) {
        RC_ASSERT_FALSE(fits_at(input.target->units[ir::index(file)]));
        continue;
      }
      RC_ASSERT(fits_at(std::max(1, *least)));
      if (*least > 1) RC_ASSERT_FALSE(fits_at(*least - 1));
    }
}

// --- fuzz --------------------------------------------------------------------------------------------------------------

void assert_sound(const duel::Case& input) {
  RC_ASSERT(ir::check(input.program, *input.target).empty());
  RC_ASSERT(input.program.phase == ir::Phase::Virtual);
  for (const ir::RegFile file : ir::kAllFiles) {
    const int units = input.target->units[ir::index(file)];
    RC_ASSERT(input.limits.of(file) <= units && input.limits.of(file) >= std::min(1, units));
  }
}

RC_GTEST_PROP(Property, GeneratorAndMutatorAreWellFormed, (duel::Case input, std::uint64_t seed)) {
  assert_sound(input);
  fuzz::mutate(input, seed);
  assert_sound(input);
}

RC_GTEST_PROP(Property, CrossoverIsWellFormed, (const duel::Case& a, const duel::Case& b, std::uint64_t seed)) {
  const duel::Case child = fuzz::cross(a, b, seed);
  assert_sound(child);
  RC_ASSERT(duel::encode_case(child) == duel::encode_case(fuzz::cross(a, b, seed)));
}

RC_GTEST_PROP(Property, InputsRoundTrip, (const duel::Case& input)) {
  const auto bytes = duel::encode_case(input);
  const duel::Case again = duel::decode_case(bytes);
  RC_ASSERT(duel::encode_case(again) == bytes);
  RC_ASSERT(fuzz::describe(again, duel::Duel{}) == fuzz::describe(input, duel::Duel{}));
  const auto file = duel::parse_case(fuzz::describe(input, duel::Duel{}));
  RC_ASSERT(file.has_value());
  RC_ASSERT(duel::print_case(*file) == fuzz::describe(input, duel::Duel{}));
}

RC_GTEST_PROP(Property, DecodeInputOfDamagedBytes, (const duel::Case& input, std::uint64_t seed)) {
  auto bytes = duel::encode_case(input);
  damage(bytes, seed);
  assert_sound(duel::decode_case(bytes));
}

// The question: is an instruction of this opcode left that is reached?
RC_GTEST_PROP(Property, ReducerKeepsTheFailureAndShrinks, (std::uint64_t seed)) {
  const duel::Case input = *small_input();
  const auto reached = [](const ir::Function& f) {
    std::vector<ir::Op> ops;
    const ir::Cfg cfg(f);
    for (const ir::BlockId b : cfg.reverse_postorder())
      for (const ir::Inst& i : f.insts_of(b)) ops.push_back(i.op);
    return ops;
  };
  const std::vector<ir::Op> ops = reached(input.program);
  const ir::Op wanted = ops[Random(seed).below(static_cast<std::uint32_t>(ops.size()))];
  const auto still_fails = [&](const duel::Case& c) { return std::ranges::count(reached(c.program), wanted) > 0; };
  const fuzz::Reduced small = fuzz::reduce(input, still_fails);
  assert_sound(small.input);
  RC_ASSERT(small.is_minimal);
  RC_ASSERT(still_fails(small.input));
  RC_ASSERT(fuzz::size_of(small.input) <= fuzz::size_of(input));
  RC_ASSERT(small.input.program.insts.size() <= 6u);
  RC_ASSERT(duel::encode_case(fuzz::reduce(input, still_fails).input) == duel::encode_case(small.input));
  const fuzz::Reduced again = fuzz::reduce(small.input, still_fails);
  RC_ASSERT(fuzz::size_of(again.input) == fuzz::size_of(small.input));
}

}  // namespace
}  // namespace regduel::properties
