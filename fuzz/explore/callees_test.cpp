// Cases that become files of several functions, and the judge of such files in a duel.
#include "fuzz/explore/callees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "duel/case_file.h"
#include "duel/duel.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/calls/calls.h"

namespace regduel::fuzz {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

duel::Case parsed(const std::string& text) {
  auto c = duel::parse_case("rir 1\n" + text);
  EXPECT_TRUE(c) << to_string(c.error());
  return c ? std::move(*c) : duel::derive_case(1);
}

constexpr const char* kCaller = R"(func @k kernel target sm_90 threads 32 abi cuda
  vreg %0 B b32
  block b0
    #0 %0 = bssy
    #1 call "g" clobbers R20:R21
    #2 bsync %0
    #3 exit
)";

TEST(Callees, WhatIsCalledGetsABodyThatItsCallersKnow) {
  int files = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    duel::Case c = duel::derive_case(seed);
    give_callees(c, seed);
    if (c.callees.empty()) continue;
    ++files;
    std::vector<oracles::FunctionOfFile> file = {{&c.program, nullptr, c.target}};
    for (const ir::Function& f : c.callees) file.push_back({&f, nullptr, c.target});
    for (const auto& f : file) EXPECT_THAT(ir::check(*f.before, *c.target, 1), ::testing::IsEmpty()) << seed;
    EXPECT_TRUE(oracles::lists_what_callees_may_write(file)) << seed;
    EXPECT_TRUE(oracles::has_calls_inside(file)) << seed;
    // As bytes and as text.
    EXPECT_EQ(duel::print_case(duel::decode_case(duel::encode_case(c))), duel::print_case(c));
    const auto again = duel::parse_case(duel::print_case(c));
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(duel::print_case(*again), duel::print_case(c));
  }
  EXPECT_GT(files, 10);
}

TEST(Callees, AFileWhoseListsAreWholePasses) {
  duel::Case c = parsed(kCaller);
  give_callees(c, 1);
  ASSERT_EQ(c.callees.size(), 1u);
  EXPECT_EQ(duel::duel(c, {.duelists = duel::all_duelists()}).verdict(), oracles::Verdict::Pass);
}

// It writes a shared slot as the function that it calls does.
class InShared : public ir::Allocator {
 public:
  [[nodiscard]] std::string_view name() const override { return "in-shared"; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& f, const ir::Target&,
                                                                         const ir::AllocOptions&) const override {
    const std::string name = f.name;
    const std::string head = "func @" + name + (name == "k" ? " kernel" : " device") +
                             " target sm_90 threads 32 allocated\n  frame local 0 shared 4\n  vreg %0 R b32\n"
                             "  slot 0 shared size 4 align 4 offset 0\n  block b0\n    #0 R0 = a\n    +10 spill R0, slot 0\n";
    const std::string rest =
        name == "k" ? "    #1 call \"g\" clobbers R0:R254\n    +11 R0 = refill slot 0\n    #2 st R0 !write\n    #3 exit\n"
                    : "    +11 R1 = refill slot 0\n    #2 st R1 !write\n    #3 ret\n";
    ir::Allocation allocation;
    allocation.has_claims = false;
    allocation.program = ir::parse("rir 1\n" + head + rest).value().functions[0];
    return allocation;
  }
};

TEST(Callees, SharedSlotsOfCallerAndCalleeAreSeenInADuel) {
  const duel::Case c = parsed(R"(func @g device target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = a
    #2 st %0 !write
    #3 ret
func @k kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = a
    #1 call "g" clobbers R0:R254
    #2 st %0 !write
    #3 exit
)");
  EXPECT_EQ(c.program.name, "k") << "the kernel is the program";
  const InShared allocator;
  const std::array<const ir::Allocator*, 1> one = {&allocator};
  const duel::Duel d = duel::duel(c, {.duelists = one});
  EXPECT_THAT(d.bouts[0].signatures(), Contains(StartsWith("calls/shared-slot")));
  duel::Case alone = c;
  alone.callees.clear();
  EXPECT_EQ(duel::duel(alone, {.duelists = one}).verdict(), oracles::Verdict::Pass);
}

}  // namespace
}  // namespace regduel::fuzz
