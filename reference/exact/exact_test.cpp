#include "reference/exact/exact.h"

#include <filesystem>

#include "ir/prover.h"
#include "reference/colourer.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::parse_body;

std::expected<ir::Allocation, ir::AllocFailure> exactly(const std::string& body, int registers,
                                                        std::vector<std::pair<std::string, std::string>> knobs = {}) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  options.knobs = std::move(knobs);
  return make_exact()->allocate(parse_body(body), ir::default_target(), options);
}

constexpr const char* kThreeLive =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 P pred
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 %3 = setp %0
#4 @%3 st %2, %1 !write
#5 st %0 !write
#6 exit
)";

TEST(Exact, SaysThatItsRegistersAreTheFewest) {
  const auto a = exactly(kThreeLive, 255);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.registers[ir::index(ir::RegFile::R)], 3);
  EXPECT_THAT(a->notes, ElementsAre("file R: 3 registers, the fewest without splitting",
                                    "file P: 1 registers, the fewest without splitting"));
}

TEST(Exact, SpillsNothing) {
  const auto a = exactly(kThreeLive, 2);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Unsupported);
  EXPECT_EQ(a.error().message, "file R does not fit into 2 registers without spilling, which is proved");
}

// A copy that vanishes as a whole may have its defs in one home. exact once called two registers the fewest here.
TEST(Exact, DefsOfOneCopyMayBeOneValue) {
  const std::string twice = R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld !read
#1 %1, %2 = copy %0, %0
#2 st %0 !write
#3 st %1 !write
#4 st %2 !write
#5 exit
)";
  const std::string equal = R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
vreg %3 R b32
block b0
#0 %0 = ld !read
#1 %1 = copy %0
#2 %2, %3 = copy %0, %1
#3 st %0 !write
#4 st %1 !write
#5 st %2 !write
#6 st %3 !write
#7 exit
)";
  // A tie makes no new contents.
  EXPECT_THAT(exactly(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld !read
#1 %1{tied 1} = copy %0
#2 st %0, %1 !write
#3 exit
)",
                      255)
                  ->notes,
              ElementsAre("file R: 1 registers, the fewest without splitting"));
  // A copy of a value to itself beside them changes nothing.
  EXPECT_THAT(exactly(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld !read
#1 %1 = ld !read
#2 %0, %2 = copy %0, %1
#3 st %0, %2 !write
#4 exit
)",
                      255)
                  ->notes,
              ElementsAre("file R: 2 registers, the fewest without splitting"));
  for (const std::string& body : {twice, equal}) {
    const auto a = exactly(body, 255);
    ASSERT_TRUE(a.has_value()) << a.error().message;
    EXPECT_THAT(a->notes, ElementsAre("file R: 2 registers; the fewest are between 1 and 2"));
  }
}

TEST(Exact, ImpossibleAsBriggsHasIt) {
  const auto a = exactly(R"(vreg %0 R b128
block b0
#0 %0 = ld
#1 st %0 !write
#2 exit
)",
                         3);
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Impossible);
  EXPECT_EQ(a.error().message, ir::failure_message(3));
}

// A pair fits between two scalars only where the first of them does not stand in its way.
TEST(Exact, TuplesAndFixedRegisters) {
  const auto a = exactly(
      R"(vreg %0 R b32
vreg %1 R b64
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2{=R2} = ld 2
#3 st %0, %1 !write
#4 st %2 !write
#5 exit
)",
      255);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.registers[ir::index(ir::RegFile::R)], 4);
}

// What is proved is what a duel counts: the highest register, plus 1, behind those that are reserved and those that the program names.
TEST(Exact, CountsUpToTheHighestRegister) {
  struct Proof {
    std::vector<std::string> notes;
    std::int64_t bound_of_r = 0;
  };
  const auto proof = [](const std::string& body, ir::AbiName abi) {
    ir::Function f = parse_body(body);
    f.abi = abi;
    ir::AllocOptions options;
    options.limits = ir::Limits::of(ir::default_target(), 255);
    const auto exact = make_exact();
    std::vector<ir::Bound> bounds;
    const auto a = dynamic_cast<const ir::Prover&>(*exact).prove(f, ir::default_target(), options, bounds);
    return Proof{a.has_value() ? a->notes : std::vector<std::string>{a.error().message}, bounds.at(0).at_least};
  };
  // R1 is reserved.
  const Proof cuda = proof(kThreeLive, ir::AbiName::Cuda);
  EXPECT_THAT(cuda.notes, ElementsAre("file R: 4 registers, the fewest without splitting", HasSubstr("file P")));
  EXPECT_EQ(cuda.bound_of_r, 4);
  EXPECT_EQ(proof(kThreeLive, ir::AbiName::Seed).bound_of_r, 3);
  const Proof named = proof(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0 = ld 0
#1 %1{=R9} = ld 1
#2 st %0, %1 !write
#3 exit
)",
                            ir::AbiName::Seed);
  EXPECT_THAT(named.notes, ElementsAre("file R: 10 registers, the fewest without splitting"));
  EXPECT_EQ(named.bound_of_r, 10);
}

TEST(Exact, Knobs) {
  for (const char* value : {"0", "x", "1000001", ""}) {
    const auto a = exactly(kThreeLive, 255, {{"exact-effort", value}});
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::BadKnob);
    EXPECT_THAT(a.error().message, HasSubstr("expected int 1 to 1000000"));
  }
  const auto a = exactly(kThreeLive, 255, {{"briggs-coalesce", "0"}});
  ASSERT_FALSE(a.has_value());
  EXPECT_THAT(a.error().message, HasSubstr("exact has no knob \"briggs-coalesce\""));
  EXPECT_TRUE(exactly(kThreeLive, 255, {{"exact-effort", "1"}}).has_value());
}

// Two of three have room. %1 is read once, and so costs least: a store and a refill of 4 bytes each.
constexpr const char* kOneTooMany =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %2 = ld 2
#3 st %0 !write
#4 st %2 !write
#5 st %0 !write
#6 st %2 !write
#7 st %1 !write
#8 exit
)";

std::expected<ir::Allocation, ir::AllocFailure> spilled_exactly(const std::string& body, int registers,
                                                                std::vector<std::pair<std::string, std::string>> knobs = {},
                                                                std::string proof = {}) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), registers);
  options.knobs = std::move(knobs);
  options.knobs.emplace_back(kExactProof, std::move(proof));
  return make_exact_spill()->allocate(parse_body(body), ir::default_target(), options);
}

TEST(ExactSpill, SpillsWhatCostsLeast) {
  const auto a = spilled_exactly(kOneTooMany, 2);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.spill_store_bytes, 4);
  EXPECT_EQ(a->claims.spill_load_bytes, 4);
  EXPECT_THAT(a->notes, ElementsAre("weighted spill bytes: 8, the least with each value in a register or in memory throughout"));
}

TEST(ExactSpill, SpillsNothingWhereAllFits) {
  const auto a = spilled_exactly(kOneTooMany, 3);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->claims.spill_store_bytes, 0);
  EXPECT_THAT(a->notes, ElementsAre("weighted spill bytes: 0, the least with each value in a register or in memory throughout"));
}

// In a loop each refill counts ten times: the value that is idle there goes.
TEST(ExactSpill, CountsHowOftenBlocksRun) {
  const auto a = spilled_exactly(
      R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
vreg %3 R b32
block b0
#0 %0 = ld 0
#1 %1 = ld 1
#2 %3 = ld 1
#3 bra -> b1
block b1 depth 1
#4 st %0, %3 !write
#5 %2 = setp
#6 cbra %2 -> b1, b2
block b2
#7 st %1 !write
#8 st %1 !write
#9 st %1 !write
#10 exit
)",
      2);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_THAT(a->notes, ElementsAre("weighted spill bytes: 16, the least with each value in a register or in memory throughout"));
}

// Two callee-saved registers would do as well, at 4 bytes to save and 4 to restore each; the one value in memory costs more.
TEST(ExactSpill, CallingConventionsCost) {
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target(), 32);
  std::string body;
  for (int v = 0; v < 25; ++v) body += "vreg %" + std::to_string(v) + " R b32\n";
  body += "block b0\n";
  int id = 0;
  for (int v = 0; v < 25; ++v) body += "#" + std::to_string(id++) + " %" + std::to_string(v) + " = ld\n";
  for (int round = 0; round < 2; ++round)
    for (int v = 0; v < 25; ++v) body += "#" + std::to_string(id++) + " st %" + std::to_string(v) + " !write\n";
  body += "#" + std::to_string(id) + " ret\n";
  const auto a = make_exact_spill()->allocate(parse_body(body, "device"), ir::default_target(), options);
  ASSERT_TRUE(a.has_value()) << a.error().message;
  ASSERT_EQ(a->notes.size(), 1u);
  const auto briggs = make_briggs()->allocate(parse_body(body, "device"), ir::default_target(), options);
  ASSERT_TRUE(briggs.has_value());
  EXPECT_LE(a->claims.spill_store_bytes + a->claims.spill_load_bytes,
            briggs->claims.spill_store_bytes + briggs->claims.spill_load_bytes);
}

TEST(ExactSpill, ManyValuesAreUnsupported) {
  std::string body;
  for (int v = 0; v < 21; ++v) body += "vreg %" + std::to_string(v) + " R b32\n";
  body += "block b0\n";
  for (int v = 0; v < 21; ++v) body += "#" + std::to_string(v) + " %" + std::to_string(v) + " = ld\n";
  for (int v = 0; v < 21; ++v) body += "#" + std::to_string(21 + v) + " st %" + std::to_string(v) + " !write\n";
  body += "#42 exit\n";
  EXPECT_TRUE(spilled_exactly(body, 10).has_value());
  const auto a = spilled_exactly(body, 10, {{"exact-values", "20"}});
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().kind, ir::AllocFailure::Kind::Unsupported);
  EXPECT_EQ(a.error().message, "21 values could be spilled, more than exact-values = 20");
}

TEST(ExactSpill, WritesItsProof) {
  const auto folder = std::filesystem::temp_directory_path() / "regduel_exact_spill_test";
  std::filesystem::create_directories(folder);
  const auto a = spilled_exactly(kOneTooMany, 2, {}, (folder / "p").string());
  ASSERT_TRUE(a.has_value()) << a.error().message;
  EXPECT_EQ(a->notes.size(), 1u) << a->notes.back();
  EXPECT_GT(std::filesystem::file_size(folder / "p.cnf"), 0u);
  EXPECT_GT(std::filesystem::file_size(folder / "p.drat"), 0u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace regduel::reference
