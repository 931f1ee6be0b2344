// Properties over generated programs. RapidCheck draws (profile, seed, size, limits) and shrinks towards small ones; the
// environment variable RC_PARAMS sets its seed and the number of cases (RC_PARAMS="seed=1 max_success=1000").
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fuzz/failure.h"
#include "fuzz/generator.h"
#include "fuzz/mutator.h"
#include "fuzz/standard_mix.h"
#include "ir/binary.h"
#include "ir/check.h"
#include "ir/random.h"
#include "ir/text.h"

namespace regduel::fuzz {

// What a generated input is made from: small numbers are small programs.
struct Recipe {
  Profile profile = Profile::Straight;
  int target = 0;
  int size = 1;
  std::uint64_t seed = 0;
  int mutations = 0;

  [[nodiscard]] FuzzInput make() const {
    FuzzInput input;
    input.target = &ir::targets()[static_cast<std::size_t>(target)];
    input.program = generate({.profile = profile, .seed = seed, .size = size, .target = input.target->name});
    input.limits = draw_limits(input.program, *input.target, seed);
    for (int i = 0; i < mutations; ++i) mutate(input, hash_combine(seed, static_cast<std::uint64_t>(i)));
    return input;
  }
};
std::ostream& operator<<(std::ostream& out, const Recipe& r) {
  return out << "profile " << name(r.profile) << ", target " << ir::targets()[static_cast<std::size_t>(r.target)].name << ", size "
             << r.size << ", seed " << r.seed << ", mutations " << r.mutations;
}

}  // namespace regduel::fuzz

namespace rc {

template <>
struct Arbitrary<regduel::fuzz::Recipe> {
  static Gen<regduel::fuzz::Recipe> arbitrary() {
    using regduel::fuzz::Profile;
    using regduel::fuzz::Recipe;
    // The whole range of everything but the length at any size: RapidCheck would begin with the first profiles only.
    const auto any = [](auto low, auto high) { return gen::resize(kNominalSize, gen::inRange(low, high)); };
    return gen::build<Recipe>(
        gen::set(&Recipe::profile, gen::map(any(0, regduel::fuzz::kNumProfiles), [](int p) { return static_cast<Profile>(p); })),
        gen::set(&Recipe::target, any(0, static_cast<int>(regduel::ir::targets().size()))),
        gen::set(&Recipe::size, gen::inRange(1, 250)), gen::set(&Recipe::seed, any(std::uint64_t{0}, std::uint64_t{1'000'000})),
        gen::set(&Recipe::mutations, any(0, 6)));
  }
};

}  // namespace rc

namespace regduel::fuzz {
namespace {

RC_GTEST_PROP(Property, GeneratorAndMutatorAreWellFormed, (const Recipe& recipe)) {
  const FuzzInput input = recipe.make();
  RC_ASSERT(ir::check(input.program, *input.target).empty());
}

RC_GTEST_PROP(Property, TextRoundTrip, (const Recipe& recipe)) {
  const FuzzInput input = recipe.make();
  const std::string text = "rir 1\n" + ir::print(input.program);
  const auto module = ir::parse(text);
  RC_ASSERT(module.has_value());
  RC_ASSERT(module->functions.size() == 1u);
  RC_ASSERT("rir 1\n" + ir::print(module->functions[0]) == text);
}

RC_GTEST_PROP(Property, BinaryRoundTrip, (const Recipe& recipe)) {
  const FuzzInput input = recipe.make();
  const auto bytes = ir::encode(input.program);
  RC_ASSERT(ir::looks_binary(bytes));
  const auto again = ir::decode(bytes);
  RC_ASSERT(again.has_value());
  RC_ASSERT(ir::print(*again) == ir::print(input.program));
  RC_ASSERT(ir::encode(*again) == bytes);
}

RC_GTEST_PROP(Property, DecodeOfAnyBytes, (const std::vector<std::uint8_t>& bytes)) {
  const auto f = ir::decode(bytes);
  if (f) RC_ASSERT(ir::check(*f).empty());
}

RC_GTEST_PROP(Property, DecodeOfDamagedBytes, (const Recipe& recipe, std::uint64_t seed)) {
  Random random(seed);
  auto bytes = ir::encode(recipe.make().program);
  const int damages = random.between(1, 8);
  for (int i = 0; i < damages; ++i) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
    const auto kind = random.below(3);
    if (kind == 0) bytes[at] = static_cast<std::uint8_t>(random.below(256));
    else if (kind == 1 && bytes.size() > 1) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
    else bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random.below(256)));
  }
  const auto f = ir::decode(bytes);
  if (f) RC_ASSERT(ir::check(*f).empty());
}

RC_GTEST_PROP(Property, ParseOfDamagedText, (const Recipe& recipe, std::uint64_t seed)) {
  constexpr std::string_view kPieces[] = {"%",  "#",  "{",  "}",           ",",     " = ",   "-> ",  "b0",        "!read",
                                          "\"", "//", "\n", "99999999999", "R4:R2", "vreg ", "\x01", "block b1\n"};
  Random random(seed);
  std::string text = "rir 1\n" + ir::print(recipe.make().program);
  const int damages = random.between(1, 6);
  for (int i = 0; i < damages; ++i) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
    const auto kind = random.below(4);
    if (kind == 0) text[at] = static_cast<char>(random.below(256));
    else if (kind == 1) text.erase(at, 1 + random.below(12));
    else if (kind == 2) text.insert(at, kPieces[random.below(std::size(kPieces))]);
    else text.resize(at);
    if (text.empty()) break;
  }
  const auto module = ir::parse(text, "damaged.rir");
  if (module)
    for (const ir::Function& f : module->functions) RC_ASSERT(ir::check(f).empty());
  else RC_ASSERT(!module.error().message.empty());
}

RC_GTEST_PROP(Property, EveryJudgePassesEveryAllocator, (const Recipe& recipe)) {
  const FuzzInput input = recipe.make();
  const Duel d = duel(input.program, *input.target, input.limits, all_duelists(), input.knobs);
  if (d.verdict() == oracles::Verdict::Fail) RC_FAIL(describe(input, d));
}

// The same input twice, the same bytes out; and what one allocator calls impossible no other may solve.
RC_GTEST_PROP(Property, DuelsRepeatAndAgreeOnTheImpossible, (const Recipe& recipe)) {
  const FuzzInput input = recipe.make();
  const Duel a = duel(input.program, *input.target, input.limits, all_duelists());
  const Duel b = duel(input.program, *input.target, input.limits, all_duelists());
  RC_ASSERT(a.bouts.size() == b.bouts.size());
  for (std::size_t k = 0; k < a.bouts.size(); ++k) {
    RC_ASSERT(a.bouts[k].verdict == b.bouts[k].verdict);
    RC_ASSERT(a.bouts[k].program.has_value() == b.bouts[k].program.has_value());
    if (a.bouts[k].program) RC_ASSERT(ir::encode(*a.bouts[k].program) == ir::encode(*b.bouts[k].program));
    RC_ASSERT(a.bouts[k].program.has_value() == a.bouts[0].program.has_value());
  }
}

}  // namespace
}  // namespace regduel::fuzz
