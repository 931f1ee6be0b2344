// Effects at a call, one at a time, on a caller that needs some of what they take.
#include "oracles/calls/survival.h"

#include <fmt/format.h>

#include "oracles/symbolic/values.h"
#include "oracles/testing.h"

namespace regduel::oracles::calls {
namespace {

constexpr ir::InstId kCall(1);

Effect unit(ir::RegFile file, int first) {
  return {.call = kCall, .kind = Effect::Kind::Unit, .unit = {file, 1, static_cast<std::uint16_t>(first)}, .byte = 0};
}
Effect shared_byte(std::uint64_t byte) { return {.call = kCall, .kind = Effect::Kind::SharedByte, .unit = {}, .byte = byte}; }

// The number of the instruction that finds something else; -1 = none.
int reader(const testing::Programs& p, const std::vector<Effect>& effects) {
  const ir::Function before = testing::parse_function(p.before), after = testing::parse_function(p.after);
  const ir::Target& target = *ir::find_target("sm_90");
  const Case c(before, after, target, ir::Limits::of(target));
  Survival survival(c);
  const Survival::Answer answer = survival.under(effects);
  EXPECT_EQ(answer.doubt, "");
  return answer.reader.is_valid() ? static_cast<int>(answer.reader.value) : -1;
}

TEST(Survival, OfAValueThatIsReadBehindTheCall) {
  const testing::Programs p = testing::side_by_side(R"(
func @k kernel target sm_90 threads 32
  vreg %0 B b32
  vreg %1 R b64
  block b0
    #0 %0, %1 = a  | B0, R24:R25 = a
    #1 call "g"    | call "g"
    #2 use %1      | use R24:R25
    #3 use %0      | use B0
    #4 exit
)");
  EXPECT_EQ(reader(p, {}), -1);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::B, 0)}), 3);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 25)}), 2);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::B, 0), unit(ir::RegFile::R, 24)}), 2);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::B, 1), unit(ir::RegFile::R, 26)}), -1);
}

// The allocation is wrong anyway at #2: that is not the callee's fault, and what is wrong with it besides still shows.
TEST(Survival, IsComparedWithTheCallerWithoutEffects) {
  const testing::Programs p = testing::side_by_side(R"(
func @k kernel target sm_90 threads 32
  vreg %0..%1 B b32
  block b0
    #0 %0, %1 = a  | B0, B1 = a
    #1 call "g"    | call "g"
    #2 use %0      | use B2
    #3 use %1      | use B1
    #4 exit
)");
  EXPECT_EQ(reader(p, {unit(ir::RegFile::B, 0), unit(ir::RegFile::B, 2)}), -1);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::B, 1), unit(ir::RegFile::B, 2)}), 3);
}

// A register that the caller owes and does not touch.
TEST(Survival, OfACalleeSavedRegister) {
  const testing::Programs p = testing::side_by_side(R"(
func @k device target sm_90 threads 32
  block b0
    #1 call "g" | call "g"
    #2 ret
)");
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 24)}), 2);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 23)}), -1);
}

// What it owes counts where a `ret` is reached.
TEST(Survival, OfACalleeSavedRegisterOnAWayWithoutRet) {
  const testing::Programs p = testing::side_by_side(R"(
func @k device target sm_90 threads 32
  vreg %0 P pred
  block b0
    #0 %0 = p             | P0 = p
    #3 cbra %0 -> b1, b2  | cbra P0 -> b1, b2
  block b1
    #1 call "g"           | call "g"
    #4 exit
  block b2
    #5 cbra %0 -> b3, b4  | cbra P0 -> b3, b4
  block b3
    #6 bra -> b4
  block b4
    #2 ret
)");
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 24)}), -1);
}

// What the call took lies below more guards than the analysis looks into.
TEST(Survival, IsInDoubtBelowTooManyGuards) {
  std::string text =
      "func @k kernel target sm_90 threads 32\n  vreg %0 R b32\n  vreg %1 P pred\n  block b0\n"
      "    #0 %0 = a | R24 = a\n    #1 call \"g\" | call \"g\"\n";
  int id = 2;
  for (; id < 2 * (Values::kMaxDepth + 20); id += 2)
    text += fmt::format("    #{} %1 = p | P0 = p\n    #{} @%1 %0 = b | @P0 R0 = b\n    +{} | @P0 R24 = copy R0\n", id, id + 1,
                        10'000 + id);
  text += fmt::format("    #{} use %0 | use R24\n    #{} exit\n", id, id + 1);
  const testing::Programs p = testing::side_by_side(text);
  const ir::Function before = testing::parse_function(p.before), after = testing::parse_function(p.after);
  const ir::Target& target = *ir::find_target("sm_90");
  const Case c(before, after, target, ir::Limits::of(target));
  const std::vector<Effect> effects = {unit(ir::RegFile::R, 24)};
  const Survival::Answer answer = Survival(c).under(effects);
  EXPECT_EQ(answer.doubt, fmt::format("at #{} too many guards lie on top of one another", id));
}

TEST(Survival, OfBytesOfASharedSlot) {
  const testing::Programs p = testing::side_by_side(R"(
func @k kernel target sm_90 threads 32
  frame local 8 shared 8
  vreg %0 R b32
  vreg %1 P pred
  slot 0 shared size 4 align 4 offset 4
  slot 1 local size 4 align 4 offset 0
  slot 2 shared size 1 align 1 offset 1
  block b0
    #0 %0, %1 = a  | R24, P0 = a
    +7             | spill R24, slot 0
    +8             | spill R24, slot 1
    +9             | spill P0, slot 2
    #1 call "g"    | call "g"
    +10            | R24 = refill slot 0
    +11            | P0 = refill slot 2
    +12            | R25 = refill slot 1
    #2 use %0      | use R24
    #3 use %0      | use R25
    #4 use %1      | use P0
    #5 exit
)");
  for (std::uint64_t byte = 0; byte < 9; ++byte)
    EXPECT_EQ(reader(p, {shared_byte(byte)}), byte == 1 ? 4 : byte >= 4 && byte < 8 ? 2 : -1) << byte;
}

// Lowered spill code reads its address from a register, which the spills and refills that it stands for do not name.
TEST(Survival, OfAnAddress) {
  const testing::Programs p = testing::side_by_side(R"(
func @k kernel target sm_90 threads 32
  frame local 16 shared 0
  vreg %0 R b32
  slot 0 local size 4 align 4 offset 0
  block b0
    #0 %0 = a      | R0 = a
    +7             | R24 = getlmembase 1
    +8             | spill_stl R0, R24, 0
    #1 call "g"    | call "g"
    +9             | R25 = spill_ldl R24, 0
    #2 use %0      | use R25
    #3 exit
)");
  EXPECT_EQ(reader(p, {}), -1);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 24)}), 9);
  EXPECT_EQ(reader(p, {unit(ir::RegFile::R, 25)}), -1);
}

}  // namespace
}  // namespace regduel::oracles::calls
