// The equations of the shortcuts, on random pairs, of which some are right and most are wrong:
//
//   deep check of what the fast check suspects  =  deep check of everything
//   judged after others, prepared once          =  judged alone
//   errors where guards are doubtful            =  what is objected to with nothing known of them, and with all known

#include "oracles/memcheck/fast_check.h"

#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracles/memcheck/deep_check.h"
#include "oracles/memcheck/testing.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using namespace testing::memcheck;

// The program with every vreg in a register of its own.
std::string allocated(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kHomes = {
      {{"%0.lo", "R0"}, {"%0.hi", "R1"}, {"%0", "R0:R1"}, {"%1", "R2"}, {"%2", "R3"}, {"%3", "R4"}, {"%4", "P0"}, {"%5", "P1"}}};
  const std::size_t body = text.find("  block b0");
  for (const auto& [vreg, home] : kHomes)
    for (std::size_t at = body; (at = text.find(vreg, at)) != std::string::npos; at += home.size())
      text.replace(at, vreg.size(), home);
  text.insert(body, R"(
  slot 0 local size 4 align 4 offset 0
  slot 1 local size 4 align 4 offset 4
)");
  const std::string_view head = "threads 32";
  return text.replace(text.find(head), head.size(), "threads 32 allocated\n  frame local 16 shared 16");
}

// Adds what an allocator may insert, and now and then takes another register.
std::string changed(Random& random, const std::string& text) {
  std::string result;
  int id = 1000;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    const bool is_instruction = line.starts_with("    #") && line.find("= phi") == std::string::npos;
    if (is_instruction && random.chance(20)) {
      const std::string guard = random.chance(20) ? "@P0 " : "";
      const auto reg = [&] { return fmt::format("R{}", random.below(5)); };
      const std::string home = reg();
      switch (random.below(4)) {
        case 0:  // changes nothing but the slot
          result += fmt::format("    +{} {}spill {}, slot 0\n    +{} {}{} = refill slot 0\n", id, guard, home, id + 1, guard, home);
          break;
        case 1: result += fmt::format("    +{} {}{} = copy {}\n", id, guard, home, reg()); break;
        case 2: result += fmt::format("    +{} {}spill {}, slot {}\n", id, guard, home, random.below(2)); break;
        default: result += fmt::format("    +{} {} = refill slot {}\n", id, home, random.below(2));
      }
      id += 2;
    }
    if (const std::size_t reg = line.rfind(" R");
        is_instruction && reg != std::string::npos && line.find(':') == std::string::npos && random.chance(3))
      line[reg + 2] = static_cast<char>('0' + random.below(5));
    result += line + '\n';
  }
  return result;
}

std::vector<std::tuple<std::uint32_t, int, MemcheckCode, std::uint32_t, std::size_t, std::size_t, std::size_t, std::size_t>>
summary(const MemcheckDetails& details) {
  decltype(summary(details)) list;
  for (const OperandMismatch& m : details.mismatches)
    list.emplace_back(m.inst.value, m.operand, m.code, m.other.value, m.before.size(), m.after.size(), m.additions.size(),
                      m.removals.size());
  return list;
}

MemcheckDetails deep(const Case& c, FastAnswer known) {
  Definitions defs(c.before);
  return DeepCheck(c, defs, std::move(known)).run();
}

// What a finding says of each error.
std::vector<std::tuple<std::uint32_t, int, MemcheckCode, std::uint32_t, std::uint32_t, std::string>> errors(
    const MemcheckDetails& d) {
  decltype(errors(d)) list;
  for (const OperandMismatch& m : d.mismatches)
    if (m.code != MemcheckCode::None) list.emplace_back(m.inst.value, m.operand, m.code, m.other.value, m.remat_of.value, m.saved);
  return list;
}

Objections objections(const Case& c, FastAnswer known) {
  Definitions defs(c.before);
  DeepCheck check(c, defs, std::move(known));
  (void)check.run();
  return check.objections();
}

// The operands of the program after of which something is wrong whether or not anything is known of the doubtful guards.
std::set<std::size_t> wrong_either_way(const Case& c, const std::vector<ir::InstId>& doubtful) {
  const Objections with = objections(c, {std::nullopt, {}});
  std::set<std::size_t> reads;
  for (const Objection& o : objections(c, {std::nullopt, doubtful}))
    if (with.contains(o)) reads.insert(o.at.read);
  return reads;
}

std::set<std::size_t> wrong(const Case& c, const MemcheckDetails& answer) {
  std::set<std::size_t> reads;
  for (const OperandMismatch& m : answer.mismatches)
    if (m.code != MemcheckCode::None) reads.insert(c.after.find_inst(m.inst)->first_operand + static_cast<std::size_t>(m.operand));
  return reads;
}

TEST(FastCheck, TheDeepCheckOfWhatItSuspectsIsThatOfEverything) {
  int same = 0, different = 0, doubtful = 0, doubtful_but_same = 0, same_but_for_old_code = 0, right_where_guards_are_one_value = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const std::string text = testing::random_program(random, {.has_guards = seed % 3 == 0});
    const ir::Function before = parse_function(text);
    const Before prepared(before, *ir::find_target("sm_90"));
    const std::size_t definitions = prepared.part<MemcheckPart>().defs().size();
    for (int k = 0; k < 4; ++k) {
      const std::string after_text = changed(random, allocated(text));
      SCOPED_TRACE(fmt::format("seed {}\n{}\n{}", seed, text, after_text));
      const ir::Function after = parse_function(after_text);
      ASSERT_FALSE(after.blocks.empty());
      const Case c(prepared, after, testing::limits_of(before, 255));
      const Case alone(before, after, prepared.target(), c.limits);
      const FastAnswer answer = fast_check(c);
      EXPECT_EQ(answer, fast_check(alone)) << "prepared for others before";
      EXPECT_EQ(prepared.part<MemcheckPart>().defs().size(), definitions);
      const MemcheckDetails of_suspects = deep(c, answer), of_all = deep(c, {std::nullopt, answer.doubtful});
      EXPECT_EQ(summary(of_suspects), summary(of_all));
      EXPECT_EQ(of_suspects.total_mismatch, of_all.total_mismatch);
      EXPECT_EQ(of_suspects.mismatch_on_old, of_all.mismatch_on_old);
      const MemcheckDetails whole = memcheck(c), of_errors = memcheck(c, MemcheckScope::Errors);
      if (answer.doubtful.empty()) EXPECT_EQ(summary(whole), summary(of_all));
      else if (summary(whole) != summary(of_all)) ++right_where_guards_are_one_value;
      EXPECT_EQ(wrong(c, whole), wrong_either_way(c, answer.doubtful));
      EXPECT_TRUE(errors(of_errors) == errors(whole));
      EXPECT_EQ(of_errors.inconclusive, of_all.inconclusive);
      if (answer.suspects && !answer.is_same() && fast_check(c, MemcheckScope::Errors).is_same()) ++same_but_for_old_code;
      ++(!answer.doubtful.empty() ? doubtful : answer.is_same() ? same : different);
      if (!answer.doubtful.empty() && answer.is_same()) ++doubtful_but_same;
    }
  }
  EXPECT_GT(same, 100);
  EXPECT_GT(different, 100);
  EXPECT_GT(doubtful, 100);
  EXPECT_GT(doubtful_but_same, 20);
  EXPECT_GT(same_but_for_old_code, 20);
  EXPECT_GT(right_where_guards_are_one_value, 0);
}

}  // namespace
}  // namespace regduel::oracles
