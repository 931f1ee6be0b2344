// Helpers of memcheck's tests: random programs before and after allocation, over few registers, parts and slots, with every shape
// of control flow; and hand-made pairs.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "oracles/memcheck/fast_check.h"
#include "oracles/memcheck/memcheck.h"
#include "oracles/testing.h"

namespace regduel::oracles::testing {

struct ProgramShape {
  bool is_after = false, has_guards = false, has_packs = false;
};

inline std::string reg(Random& random, const ProgramShape& shape) {
  if (!shape.is_after) {
    static constexpr std::array<std::string_view, 8> kWhole = {"%0", "%1", "%2", "%3", "%0.lo", "%0.hi", "%1.h0", "%1.h1"};
    return std::string(kWhole[random.below(8)]);
  }
  static constexpr std::array<std::string_view, 8> kWhole = {"R0", "R1", "R2", "R3", "R0:R1", "R2:R3", "R1.h1", "R2.b3"};
  return std::string(kWhole[random.below(8)]);
}
inline std::string same_width(Random& random, const ProgramShape& shape) {
  return shape.is_after ? fmt::format("R{}", random.below(4))
                        : std::string(std::array{"%1", "%2", "%0.lo", "%0.hi"}[random.below(4)]);
}
inline std::string predicate(Random& random, const ProgramShape& shape) {
  return fmt::format("{}{}", shape.is_after ? "P" : "%", (shape.is_after ? 0 : 4) + static_cast<int>(random.below(2)));
}

inline std::string random_instruction(Random& random, const ProgramShape& shape, int& id) {
  const std::string guard =
      shape.has_guards && random.chance(40) ? fmt::format("@{}{} ", random.chance(50) ? "!" : "", predicate(random, shape)) : "";
  const auto original = [&] { return fmt::format("    #{} {}", id++, guard); };
  const auto inserted = [&] { return fmt::format("    +{} {}", id++, guard); };
  switch (random.below(shape.is_after ? shape.has_packs ? 14 : 11 : 8)) {
    case 0:
    case 1: return original() + fmt::format("{} = op {}\n", reg(random, shape), reg(random, shape));
    case 2: return original() + fmt::format("use {}, {}\n", reg(random, shape), predicate(random, shape));
    case 3: return original() + fmt::format("{} = p\n", predicate(random, shape));
    case 4: return original() + fmt::format("{} = copy {}\n", same_width(random, shape), same_width(random, shape));
    case 5: return original() + fmt::format("use {}\n", reg(random, shape));
    case 6: {
      const std::string a = same_width(random, shape);
      std::string b = a;
      while (b == a) b = same_width(random, shape);
      return random.chance(50)
                 ? original() + fmt::format("{}, {} = two\n", a, b)
                 : original() + fmt::format("{}, {} = copy {}, {}\n", a, b, same_width(random, shape), same_width(random, shape));
    }
    case 7: return fmt::format("    #{} call \"g\" clobbers {}\n", id++, shape.is_after ? "R1:R2" : "R9");
    case 8: return inserted() + fmt::format("spill R{}, slot {}\n", random.below(4), random.below(3));
    case 9: return inserted() + fmt::format("R{} = refill slot {}\n", random.below(4), random.below(3));
    case 10:
      return random.chance(50) ? inserted() + fmt::format("R2:R3 = refill slot 2\n")
                               : inserted() + fmt::format("spill R1.h1, slot 2 + {}\n", 2 * random.below(4));
    case 11:
      return inserted() +
             fmt::format("R{}{{inout}} = bit_spill {}, {}\n", random.below(4), predicate(random, shape), random.below(32));
    case 12:
      return inserted() + fmt::format("{} = bit_refill R{}, {}\n", predicate(random, shape), random.below(4), random.below(32));
    default:
      return random.chance(50) ? inserted() + fmt::format("R{}{{inout}} = p2r P0, P1\n", random.below(4))
                               : inserted() + fmt::format("P1, P0 = r2p R{}\n", random.below(4));
  }
}

inline std::string random_program(Random& random, const ProgramShape& shape) {
  std::string text =
      fmt::format("func @f kernel target sm_90 threads 32{}\n", shape.is_after ? " allocated\n  frame local 16 shared 16" : "");
  text += R"(
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 R b16
  vreg %4 P pred
  vreg %5 P pred
)";
  if (shape.is_after)
    text += R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 shared size 4 align 4 offset 4
  slot 2 local size 8 align 4 offset 4
)";
  const int blocks = random.between(1, 9);
  std::vector<std::array<int, 2>> to(static_cast<std::size_t>(blocks));
  for (auto& two : to)
    for (int& one : two) one = random.between(0, blocks);  // `blocks` = none: it ends there
  int id = 0;
  for (int b = 0; b < blocks; ++b) {
    text += fmt::format("  block b{}\n", b);
    std::string preds;
    int count = 0;
    for (int p = 0; p < blocks; ++p) {
      if (std::find(to[static_cast<std::size_t>(p)].begin(), to[static_cast<std::size_t>(p)].end(), b) ==
          to[static_cast<std::size_t>(p)].end())
        continue;
      if (std::find(to[static_cast<std::size_t>(p)].begin(), to[static_cast<std::size_t>(p)].end(), blocks) !=
              to[static_cast<std::size_t>(p)].end() &&
          to[static_cast<std::size_t>(p)][0] != b)
        continue;
      preds += fmt::format("{}b{}: {}", count++ == 0 ? "" : ", ", p,
                           shape.is_after ? fmt::format("R{}", random.below(4)) : fmt::format("%{}", 1 + random.below(2)));
    }
    if (b != 0 && count != 0 && random.chance(40))
      text += fmt::format("    #{} {} = phi {}\n", id++, shape.is_after ? fmt::format("R{}", random.below(4)) : "%1", preds);
    for (int k = random.between(0, 4); k > 0; --k) text += random_instruction(random, shape, id);
    const auto [yes, no] = to[static_cast<std::size_t>(b)];
    if (yes == blocks) text += fmt::format("    #{} exit\n", id++);
    else if (no == blocks) text += fmt::format("    #{} bra -> b{}\n", id++, yes);
    else text += fmt::format("    #{} cbra {} -> b{}, b{}\n", id++, predicate(random, shape), yes, no);
  }
  return text;
}

}  // namespace regduel::oracles::testing

// Hand-made pairs, and what memcheck says of them.
namespace regduel::oracles::testing::memcheck {

using testing::categories;
using testing::Contains;
using testing::describe;
using testing::edit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::judge_text;
using testing::Pair;
using testing::parse_both;
using testing::parse_function;
using testing::Programs;
using testing::side_by_side;
using testing::UnorderedElementsAre;
using testing::with;

inline constexpr std::string_view kSpillRefill = "memcheck-1-spill-refill-mismatch";
inline constexpr std::string_view kRefillUninit = "memcheck-2-refill-reads-uninitialized";
inline constexpr std::string_view kP2rPattern = "memcheck-3-p2r-r2p-pattern-failure";
inline constexpr std::string_view kBitPattern = "memcheck-4-bit-spill-refill-failure";
inline constexpr std::string_view kUninit = "memcheck-5-uninitialized-value-introduced";
inline constexpr std::string_view kExtra = "memcheck-6-extra-defs-introduced";
inline constexpr std::string_view kRemat = "memcheck-7-rematerialization-mismatch";
inline constexpr std::string_view kP2rBase = "memcheck-8-p2r-r2p-base-destroyed";
inline constexpr std::string_view kBitBase = "memcheck-9-bit-spill-base-destroyed";
inline constexpr std::string_view kGone = "memcheck-10-definitions-disappeared";

inline const std::string kThreeR = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
)";
inline const std::string kVregs = R"(
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 R b32
  vreg %3 P pred
  vreg %4 P pred
  vreg %5 P pred
)";

inline JudgeResult judge(const Pair& p) { return judge_pair(memcheck_judge(), p); }
inline void expect_pass(const Pair& p) { testing::expect_pass(memcheck_judge(), p); }
inline void expect_category(const Pair& p, std::string_view category) { testing::expect_category(memcheck_judge(), p, category); }

// A pair as functions, and all that memcheck says of it.
struct Judged {
  explicit Judged(const Pair& p)
      : before(testing::parse_function(p.before_text())), after(testing::parse_function(p.after_text())),
        all{before, after, *ir::find_target("sm_90"), testing::limits_of(before, 255)}, details(oracles::memcheck(all)),
        result(memcheck_judge().judge(all)) {}

  ir::Function before, after;
  Case all;
  MemcheckDetails details;
  JudgeResult result;
};

// Stored by two guarded stores: what R5 held before is stored on no path, but only both guards together say so.
inline Pair stored_under_two_guards() {
  return {kVregs, side_by_side(R"(
  block b0
    #0 %3 = p     | P0 = p
    #1 %4 = q     | P1 = q
    #2 %0 = a     | R5 = a
    +20           | spill R5, slot 0
    +21           | R5 = copy R9
    #3 @%3 %0 = c | @P0 R5 = c
    #4 @%4 %0 = e | @P1 R5 = e
    +22           | @P0 spill R5, slot 0
    +23           | @P1 spill R5, slot 0
    +24           | R0 = refill slot 0
    #5 use %0     | use R0
    #6 exit
)")};
}

inline FastAnswer fast(const Pair& p) { return fast_check(Judged(p).all); }

inline Pair two_spilled() {
  return {kThreeR, side_by_side(R"(
  block b0
    #0 %0 = a                | R0 = a
    +10                      | spill R0, slot 0
    #1 %1 = b                | R0 = b
    +11                      | spill R0, slot 1
    #2 %2 = c                | R0 = c
    +12                      | R1 = refill slot 0
    +13                      | R2 = refill slot 1
    #3 use %0, %1, %2 !write | use R1, R2, R0 !write
    #4 exit
)")};
}

}  // namespace regduel::oracles::testing::memcheck
