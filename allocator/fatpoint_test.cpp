// The allocator as a whole, on the smallest program for each possible fault.

#include "allocator/fatpoint.h"

#include <gmock/gmock.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::allocate;
using testing::count;
using ::testing::HasSubstr;
using testing::inst;
using testing::limits;
using testing::program;

TEST(FatPoint, ReusesRegistersOfDeadValues) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = const 1
      #1 %1 = neg %0
      #2 %2 = neg %1
      #3 st %2 !write
      #4 exit
)");
  const auto a = allocate(f, limits(255));
  EXPECT_EQ(a.claims.registers[ir::index(ir::RegFile::R)], 1);
  EXPECT_EQ(count(a.program, ir::Op::Spill), 0);
}

TEST(FatPoint, PairsAndQuadsAreAligned) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b128
    vreg %3 R b64 align 1
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 st %0, %1, %2, %3 !write
      #5 exit
)");
  const auto a = allocate(f, limits(9));
  EXPECT_EQ(a.claims.registers[ir::index(ir::RegFile::R)], 9);
  EXPECT_EQ(count(a.program, ir::Op::Spill), 0);
}

TEST(FatPoint, PredicatesSpillToMemory) {
  const auto f = program(R"(
    vreg %0..%2 P pred
    vreg %3 UP pred
    block b0
      #0 %0 = isetp 0
      #1 %1 = isetp 1
      #2 %2 = isetp 2
      #3 %3 = vote %0, !%1
      #4 st %2, !%0 !write
      #5 st %1, %3 !write
      #6 exit
)");
  const std::vector<std::pair<std::string, std::string>> in_memory = {{"FatPointPredicatePacks", "0"}};
  EXPECT_EQ(count(allocate(f, limits(255, 3), in_memory).program, ir::Op::Spill), 0);
  const auto a = allocate(f, limits(255, 2), in_memory);
  EXPECT_GT(count(a.program, ir::Op::Spill), 0);
  EXPECT_EQ(a.claims.spill_store_bytes, count(a.program, ir::Op::Spill));
}

TEST(FatPoint, SharesAFileBetweenClasses) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 Ralt b32
    vreg %2 UR b32
    vreg %3 URext b32
    block b0
      #0 %0, %1, %2, %3 = ld 0
      #1 st %0, %1, %2, %3 !write
      #2 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_THAT(inst(a.program, 0), HasSubstr("R0, R1, UR0, UR1"));
}

TEST(FatPoint, CallsFixArgumentsAndResultsAndSaveWhatLivesAcross) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2{=R4} = call "f", %1{=R4}, %0{=R5} clobbers R0:R23
      #3 st %0, %2 !write
      #4 exit
)");
  const auto wide = allocate(f, limits(32));
  EXPECT_THAT(inst(wide.program, 2), HasSubstr("R4 = call \"f\", R4, R5"));
  EXPECT_EQ(count(wide.program, ir::Op::Spill), 0);
  const auto narrow = allocate(f, limits(24));
  EXPECT_EQ(count(narrow.program, ir::Op::Spill), 1);
  EXPECT_EQ(count(narrow.program, ir::Op::Refill), 1);
}

TEST(FatPoint, TiedDefTakesTheRegisterOfItsUse) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2{tied 1} = mad %0, %1
      #3 %1{tied 1} = mad %0, %1, %2
      #4 st %0, %1, %2 !write
      #5 exit
)");
  const auto a = allocate(f, limits(255));
  const auto ops = [&](std::uint32_t id) {
    for (const ir::Inst& i : a.program.insts)
      if (i.id.value == id) return a.program.operands_of(i);
    return std::span<const ir::Operand>();
  };
  EXPECT_EQ(ops(2)[0].preg(), ops(2)[1].preg());
  EXPECT_NE(ops(2)[1].preg(), ops(4)[0].preg());  // %0 lives on elsewhere
  EXPECT_EQ(ops(3)[0].preg(), ops(3)[1].preg());
}

TEST(FatPoint, EarlyClobberSharesWithNoUse) {
  const auto f = program(R"(
    vreg %0..%1 R b32
    block b0
      #0 %0 = ld 0
      #1 %1{early} = loop %0
      #2 st %1 !write
      #3 exit
)");
  EXPECT_EQ(allocate(f, limits(255)).claims.registers[0], 2);
}

TEST(FatPoint, GuardedEarlyClobberKeepsItsOldValueInMemory) {
  const auto f = program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = isetp 2
      #3 @%2 %1{early} = loop %0
      #4 st %0 !write
      #5 st %1 !write
      #6 exit
)");
  allocate(f, limits(2), {{"FatPointSpillRounds", "0"}});
  allocate(f, limits(2));
}

TEST(FatPoint, SwappedPhisBecomeAParallelCopy) {
  const auto f = program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 bra -> b1
    block b1
      #3 %0 = phi b0: %0, b1: %1
      #4 %1 = phi b0: %1, b1: %0
      #5 st %0, %1 !write
      #6 %2 = isetp 1
      #7 cbra %2 -> b1, b2
    block b2
      #8 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_THAT(ir::print(a.program), HasSubstr("R0, R1 = copy R1, R0"));
  EXPECT_EQ(count(a.program, ir::Op::Spill), 0);
  allocate(f, limits(2), {{"FatPointSpillRounds", "0"}});
}

TEST(FatPoint, LostCopy) {
  const auto f = program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %0 = ld 0
      #1 bra -> b1
    block b1
      #2 %1 = phi b0: %0, b1: %0
      #3 %0 = add %1, 1
      #4 %2 = isetp 1
      #5 cbra %2 -> b1, b2
    block b2
      #6 st %1 !write
      #7 exit
)");
  allocate(f, limits(255));
  allocate(f, limits(2), {{"FatPointSpillRounds", "0"}});
}

TEST(FatPoint, FirstGuardedDefDoesNotReachBack) {
  const auto f = program(R"(
    vreg %0..%1 R b32
    vreg %2 P pred
    block b0
      #0 %2 = isetp 1
      #1 %0 = ld 0
      #2 st %0 !write
      #3 @%2 %1 = ld 1
      #4 @!%2 %1 = ld 2
      #5 st %1 !write
      #6 exit
)");
  EXPECT_EQ(allocate(f, limits(1)).claims.registers[0], 1);
}

TEST(FatPoint, SpillsWhatIsCheapest) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %2 = ld 2
      #1 %0 = ld 0
      #2 %1 = ld 1
      #3 bra -> b1
    block b1
      #4 st %0, %1 !write
      #5 %3 = isetp 1
      #6 cbra %3 -> b1, b2
    block b2
      #7 st %2, %0 !write
      #8 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_EQ(count(a.program, ir::Op::Spill), 1);
  EXPECT_EQ(count(a.program, ir::Op::Refill), 1);
  for (const ir::Inst& i : a.program.insts_of(ir::BlockId(1))) EXPECT_NE(i.op, ir::Op::Refill);  // not in the loop
}

TEST(FatPoint, ConstantsAreComputedAgain) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    block b0
      #0 %0 = const 7 !remat
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %1, %2 !write
      #4 st %0 !write
      #5 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_EQ(count(a.program, ir::Op::Remat), 1);
  EXPECT_EQ(count(a.program, ir::Op::Spill), 0);
  EXPECT_THAT(inst(a.program, 0), HasSubstr("!deleted"));
  EXPECT_EQ(count(allocate(f, limits(2), {{"FatPointRematerialise", "0"}}).program, ir::Op::Remat), 0);
}

TEST(FatPoint, PartsOfASpilledPairAreStoredAlone) {
  const auto f = program(R"(
    vreg %0..%2 R b64
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %1 !write
      #3 %0.hi = ld 2
      #4 %2 = ld 3
      #5 st %2 !write
      #6 st %0 !write
      #7 exit
)");
  const auto a = allocate(f, limits(2));
  EXPECT_THAT(ir::print(a.program), HasSubstr("spill R0:R1.hi, slot 0+4"));
}

TEST(FatPoint, AliasesStandInTheirRoot) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b16 alias %0.h1
    vreg %2 R b32 alias %0
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 st %2 !write
      #3 exit
)");
  const auto a = allocate(f, limits(1));
  EXPECT_THAT(inst(a.program, 1), HasSubstr("R0.hi = ld"));
}

TEST(FatPoint, PrecolouredVregStaysWhereItIs) {
  const auto f = program(R"(
    vreg %0 R b32 fixed R4
    vreg %1 R b32
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 %1 = ld 1
      #3 st %0, %1 !write
      #4 exit
)");
  const auto a = allocate(f, limits(8));
  EXPECT_EQ(count(a.program, ir::Op::Copy), 0);
}

TEST(FatPoint, DeviceFunctionSavesWhatItUsesOfTheCallersRegisters) {
  std::string body;
  for (int k = 0; k < 26; ++k) body += "vreg %" + std::to_string(k) + " R b32\n";
  body += "block b0\n";
  for (int k = 0; k < 26; ++k) body += "#" + std::to_string(k) + " %" + std::to_string(k) + " = ld 0\n";
  body += "#26 st ";
  for (int k = 0; k < 26; ++k) body += (k != 0 ? ", %" : "%") + std::to_string(k);
  body += " !write\n#27 ret\n";
  const auto f = program(body, "device");
  const auto narrow = allocate(f, limits(28));
  EXPECT_EQ(count(narrow.program, ir::Op::Spill), 1);   // R24:R25, at the entry
  EXPECT_EQ(count(narrow.program, ir::Op::Refill), 1);  // before the ret
  const auto one_by_one = allocate(f, limits(28), {{"FatPointWideAccesses", "0"}});
  EXPECT_EQ(count(one_by_one.program, ir::Op::Spill), 2);
  const auto wide = allocate(f, limits(255));
  EXPECT_EQ(count(wide.program, ir::Op::Spill), 0);  // R32 and R33 instead
  body.replace(body.rfind("ret"), 3, "exit");
  EXPECT_EQ(count(allocate(program(body, "device"), limits(28)).program, ir::Op::Spill), 0) << "no caller gets anything back";
}

TEST(FatPoint, UnreachableBlocksArePlacedToo) {
  const auto f = program(R"(
    vreg %0 R b64
    vreg %1 R b32
    block b0
      #0 exit
    block b1
      #1 %1{=R3} = op %0{=R0:R1}, %1
      #2 bra -> b1
)");
  EXPECT_THAT(inst(allocate(f, limits(4)).program, 1), HasSubstr("R3 = op R0:R1, R2"));
}

TEST(FatPoint, ImpossibleInstructionIsTheOnlyFailure) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 st %0, %1, %2 !write
      #4 exit
)");
  allocate(f, limits(4));
  const ir::AllocFailure failed = testing::failure(f, limits(3));
  EXPECT_EQ(failed.kind, ir::AllocFailure::Kind::Impossible);
  EXPECT_EQ(failed.message, ir::failure_message(3));
  EXPECT_EQ(failed.inst, ir::InstId(3));
  EXPECT_EQ(testing::failure(f, limits(0)).kind, ir::AllocFailure::Kind::Impossible);
}

TEST(FatPoint, AnImpossibleInstructionOfUnreachableCodeIsAFailureToo) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b64
    block b0
      #0 %0 = ld 0
      #1 st %0 !write
      #2 exit
    block b1
      #3 %1 = ld 1 !line "a.cu" 12:3
      #4 exit
)");
  allocate(f, limits(2));
  EXPECT_EQ(ir::failure_report(f, testing::failure(f, limits(1))),
            "@t: #3 at a.cu:12:3: Register allocation failed with register count of '1'. Compile the program with a higher "
            "register target");
}

TEST(FatPoint, RefusesKnobsThatItDoesNotKnow) {
  const auto f = program("block b0\n#0 exit\n");
  EXPECT_EQ(testing::failure(f, limits(8), {{"NoSuchKnob", "1"}}).kind, ir::AllocFailure::Kind::BadKnob);
}

TEST(FatPoint, LastFallbackIsCorrectByItself) {
  const auto f = program(R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b16
    vreg %3 P pred
    vreg %4 R b32
    vreg %5 R b128
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = isetp %0
      #4 bra -> b1
    block b1
      #5 %0 = phi b0: %0, b2: %4
      #6 %4 = phi b0: %0, b2: %0
      #7 @%3 %1.lo = add %1.hi, %2
      #8 %4{tied 1} = mad %0, %4
      #9 %5 = pack %1, %0, %4
      #10 %0{inout} = acc %5.w1, %2
      #11 cbra !%3 -> b2, b3
    block b2
      #12 %4{=R3} = call "f", %0{=R0}, %1{=R2:R3} clobbers R0:R2, P0:P6
      #13 mbra %4 -> b1, b1, b3
    block b3
      #14 st %0, %1 !write
      #15 exit
)");
  for (int limit = 8; limit >= 5; --limit) {
    SCOPED_TRACE(limit);
    ir::AllocOptions options{.limits = limits(limit), .knobs = {}};
    for (const auto& [rounds, large] : {std::pair{"0", "4096"}, {"16", "4096"}, {"1", "0"}, {"16", "0"}}) {
      options.knobs = {{"FatPointSpillRounds", rounds}, {"FatPointLargeProgram", large}};
      const auto result = make_fatpoint()->allocate(f, ir::default_target(), options);
      if (result) testing::expect_same_behaviour(f, result->program);
      else EXPECT_LT(limit, 8);
    }
  }
}

TEST(FatPoint, InfiniteAndIrreducibleLoops) {
  const auto f = program(R"(
    vreg %0..%2 R b32
    vreg %3 P pred
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = isetp 1
      #4 cbra %3 -> b1, b2
    block b1
      #5 st %0, %1 !write
      #6 bra -> b2
    block b2
      #7 st %1, %2 !write
      #8 bra -> b1
)");
  const auto a = allocate(f, limits(2));
  EXPECT_GT(count(a.program, ir::Op::Refill), 0);
}

TEST(FatPoint, SameInputSameOutput) {
  std::string body;
  for (int k = 0; k < 12; ++k) body += "vreg %" + std::to_string(k) + (k % 3 == 0 ? " R b64\n" : " R b32\n");
  body += "block b0\n";
  for (int k = 0; k < 12; ++k) body += "#" + std::to_string(k) + " %" + std::to_string(k) + " = ld 0\n";
  for (int k = 0; k < 12; ++k) body += "#" + std::to_string(k + 12) + " st %" + std::to_string(k) + " !write\n";
  body += "#24 exit\n";
  const auto f = program(body);
  EXPECT_EQ(ir::print(allocate(f, limits(6)).program), ir::print(allocate(f, limits(6)).program));
}

}  // namespace
}  // namespace regduel::allocator
