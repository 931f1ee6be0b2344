// Lowered spills: the instructions of each form, as a golden file; and the choice of the address registers.

#include "allocator/frame/lower_spills.h"

#include <algorithm>
#include <expected>
#include <string>

#include <gtest/gtest.h>

#include "allocator/testing.h"
#include "base/testing.h"
#include "ir/text/binary.h"

namespace regduel::allocator {
namespace {

constexpr std::string_view kVRegs = R"(
  vreg %0 R b32
  vreg %1 R b128
  vreg %2 P pred
  vreg %3 UR b32
)";

// Allocated programs, each with what it is to show.
struct Example {
  std::string_view title, kind, frame, body;
};
constexpr Example kExamples[] = {
    {"local memory", "kernel", "  frame local 8 shared 0\n",
     "  slot 0 local size 4 align 4 offset 4\n  block b0\n    #0 R0 = ld 0\n    +9 spill R0, slot 0\n    #1 R0 = ld 1\n"
     "    +10 R1 = refill slot 0\n    #2 st R1 !write\n    #3 exit\n"},
    {"shared memory", "kernel", "  frame local 0 shared 8\n",
     "  slot 0 shared size 4 align 4 offset 4\n  block b0\n    #0 UR0 = uld 0\n    +9 spill UR0, slot 0\n    #1 bar 0\n"
     "    +10 UR1 = refill slot 0\n    #2 st UR1 !write\n    #3 exit\n"},
    {"guarded: jumped over where the guard does not hold", "kernel", "  frame local 4 shared 8\n",
     "  slot 0 local size 4 align 4 offset 0\n  slot 1 shared size 8 align 8 offset 0\n  block b0\n    #0 R0 = ld 0\n"
     "    #1 P0 = setp\n    +9 spill R0, slot 0\n    #2 @P0 R0 = ld 1\n    +10 @P0 spill R0, slot 0\n"
     "    +11 @!P0 UR0:UR1 = refill slot 1\n    #3 exit\n"},
    {"wide, narrow, and a part of a slot", "kernel", "  frame local 48 shared 0\n",
     "  slot 0 local size 32 align 16 offset 16\n  slot 1 local size 1 align 1 offset 7\n  slot 2 local size 2 align 2 offset 2\n"
     "  block b0\n    #0 R0:R7 = ld 0\n    +9 spill R0:R7, slot 0\n    +10 spill P3, slot 1\n    +11 spill R9.h1, slot 2\n"
     "    +12 R4:R7 = refill slot 0+16\n    #1 exit\n"},
    {"copies that have become a spill and a refill", "kernel", "  frame local 4 shared 0\n",
     "  slot 0 local size 4 align 4 offset 0\n  block b0\n    #0 R0 = ld 0\n    #1 @P0 spill R0, slot 0 clobbers R1:R2\n"
     "    #2 R0 = refill slot 0 clobbers R3:R250\n    #3 exit\n"},
    {"the base around a call, and behind what clobbers it", "device", "  frame local 20 shared 0\n",
     "  slot 0 local size 4 align 4 offset 16\n  block b0\n    #0 R5 = ld 0\n    +9 spill R5, slot 0\n"
     "    #1 call \"f\" clobbers R0:R23, R32:R254\n    +10 R4 = refill slot 0\n    #2 call \"g\", R4\n    #3 ret\n"},
    {"where no path leads", "kernel", "  frame local 4 shared 0\n",
     "  slot 0 local size 4 align 4 offset 0\n  block b0\n    #0 exit\n  block b1\n    #1 R0 = ld 0\n    +9 spill R0, slot 0\n"
     "    #2 exit\n"},
};

ir::Function allocated(const Example& e) {
  const std::string text = "rir 1\nfunc @f " + std::string(e.kind) + " target sm_90 threads 32 allocated\n" + std::string(e.frame) +
                           std::string(kVRegs.substr(1)) + std::string(e.body);
  auto module = ir::parse(text);
  if (!module) ADD_FAILURE() << to_string(module.error()) << '\n' << text;
  return module ? std::move(module->functions[0]) : ir::Function();
}

TEST(LowerSpills, GoldenForms) {
  std::string text;
  for (const Example& e : kExamples) {
    const ir::Function f = allocated(e);
    ASSERT_FALSE(f.blocks.empty());
    const auto registers = find_address_registers(f, ir::default_target(), ir::Limits::of(ir::default_target()));
    ASSERT_TRUE(registers.has_value()) << e.title;
    const ir::Function lowered = lower_spills(f, *registers);
    const auto faults = ir::check(lowered, ir::default_target(), 1);
    EXPECT_TRUE(faults.empty()) << ir::to_string(lowered, faults[0]);
    const std::string printed = ir::print(lowered);
    text += "// " + std::string(e.title) + "\n" + ir::print(f) + "// lowered\n" + printed + "\n";
    const auto read = ir::parse("rir 1\n" + printed);
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(ir::print(read->functions[0]), printed);
    const auto decoded = ir::decode(ir::encode(lowered));
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(ir::print(*decoded), printed);
  }
  expect_golden("allocator/frame/testdata/lowered.txt", text);
}

TEST(LowerSpills, AddressesStandInRegistersThatNothingElseNeeds) {
  const auto found = [](std::string_view kind, std::string_view vregs, std::string_view body, int limit) {
    const std::string text = "rir 1\nfunc @f " + std::string(kind) + " target sm_90 threads 32 allocated\n" + std::string(vregs) +
                             "  block b0\n" + std::string(body);
    const auto module = ir::parse(text);
    if (!module) ADD_FAILURE() << to_string(module.error());
    const auto r = find_address_registers(module->functions.at(0), ir::default_target(), testing::limits(limit));
    return r ? std::to_string(r->base) + " " + std::to_string(r->address) : "none";
  };
  EXPECT_EQ(found("kernel", "", "    #0 exit\n", 255), "0 1");
  EXPECT_EQ(found("kernel", "", "    #0 R1:R3 = ld R5\n    #1 exit\n", 255), "0 4");
  EXPECT_EQ(found("kernel", "", "    #0 R1:R3 = ld R5\n    #1 exit\n", 4), "none");
  EXPECT_EQ(found("kernel", "", "    #0 call \"f\" clobbers R0:R3\n    #1 exit\n", 4), "0 1") << "computed again behind it";
  EXPECT_EQ(found("kernel", "", "    #0 call \"f\" clobbers R0\n    #1 exit\n", 4), "1 0") << "the base is kept longest";
  EXPECT_EQ(found("kernel", "", "    #0 bra clobbers R0 -> b0\n", 4), "1 2") << "nothing could be computed behind it";
  EXPECT_EQ(found("kernel", "  vreg %0 R b64 fixed R0:R1 architectural\n", "    #0 exit\n", 255), "2 3");
  EXPECT_EQ(found("device", "", "    #0 R0:R22 = ld\n    #1 ret\n", 32), "none") << "the rest is the caller's";
}

constexpr std::string_view kTight = R"(
    vreg %0..%5 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %2 = ld 2
      #3 %3 = ld 3
      #4 %4 = ld 4
      #5 %5 = ld 5
      #6 st %0, %1 !write
      #7 st %2, %3 !write
      #8 st %4, %5 !write
      #9 exit
)";

std::expected<ir::Allocation, ir::AllocFailure> lowered_within(std::string_view body, int registers) {
  const ir::AllocOptions options{.limits = testing::limits(registers), .knobs = {}};
  return allocate_lowered(*make_fatpoint(), testing::program(body), ir::default_target(), options);
}
bool has(const ir::Function& f, ir::Op op) {
  return std::any_of(f.insts.begin(), f.insts.end(), [&](const ir::Inst& i) { return i.op == op; });
}

TEST(LowerSpills, TwoRegistersAreTakenOutOnlyWhereTheProgramSpills) {
  const auto roomy = lowered_within(kTight, 6), tight = lowered_within(kTight, 5), least = lowered_within(kTight, 4);
  ASSERT_TRUE(roomy.has_value() && tight.has_value() && least.has_value());
  EXPECT_FALSE(has(roomy->program, ir::Op::GetLocalBase)) << "nothing is spilled";
  EXPECT_EQ(roomy->claims.registers[ir::index(RegFile::R)], 6);
  for (const auto* a : {&*tight, &*least}) {
    EXPECT_TRUE(has(a->program, ir::Op::GetLocalBase) && has(a->program, ir::Op::StoreLocal) && has(a->program, ir::Op::LoadLocal));
    EXPECT_FALSE(has(a->program, ir::Op::Spill) || has(a->program, ir::Op::Refill));
    EXPECT_LE(a->claims.registers[ir::index(RegFile::R)], 5);
  }
  const auto impossible = lowered_within(kTight, 3);
  ASSERT_FALSE(impossible.has_value());
  EXPECT_EQ(impossible.error().kind, ir::AllocFailure::Kind::Impossible);
  EXPECT_NE(impossible.error().message.find("Register allocation failed with register count of '3'"), std::string::npos);
  EXPECT_NE(impossible.error().message.find("two registers hold the addresses"), std::string::npos) << impossible.error().message;
}

}  // namespace
}  // namespace regduel::allocator
