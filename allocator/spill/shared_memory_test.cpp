#include "allocator/spill/shared_memory.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using testing::Lines;

constexpr std::string_view kUniform = R"(
    vreg %0..%1 UR b32
    vreg %2 UR b64
    vreg %3..%4 R b32
    block b0
      #0 %0 = ld 0
      #1 %1 = ld 1
      #2 %3 = ld 2
      #3 %4 = ld 3
      #4 %2 = uadd
      #5 st %2 !write
      #6 st %0 !write
      #7 st %1 !write
      #8 st %3 !write
      #9 st %4 !write
      #10 exit
)";

ir::Limits tight() {
  ir::Limits l = testing::limits(1);
  l.units[ir::index(RegFile::UR)] = 2;
  return l;
}

std::uint32_t local_bytes(const ir::Function& f) {
  std::uint32_t bytes = 0;
  for (const ir::Slot& s : f.slots) bytes += s.space == ir::MemSpace::Local ? s.size : 0;
  return bytes;
}

TEST(Smem, UniformRegistersSpillToSharedMemory) {
  const ir::Function a = testing::allocate(testing::program(kUniform), tight()).program;
  EXPECT_EQ(a.shared_frame, 8u);
  EXPECT_EQ(local_bytes(a), 8u);  // file R
}

TEST(Smem, UnlessTheKnobOrTheTargetSaysNo) {
  const ir::Function f = testing::program(kUniform);
  const ir::Function a = testing::allocate(f, tight(), {{"DisableSmemReservation", "1"}}).program;
  EXPECT_EQ(a.shared_frame, 0u);
  EXPECT_EQ(local_bytes(a), 16u);
  ir::Target other = ir::default_target();
  const auto kind = [&](RegFile file) { return set_up_spilling(f, other, Knobs()).slots[ir::index(file)].kind(); };
  EXPECT_EQ(kind(RegFile::UR), Location::Kind::SharedSlot);
  EXPECT_EQ(kind(RegFile::Acc), Location::Kind::SharedSlot);
  EXPECT_EQ(kind(RegFile::R), Location::Kind::LocalSlot);
  other.device_type = 4;
  EXPECT_EQ(kind(RegFile::UR), Location::Kind::LocalSlot);
}

TEST(Smem, NeverWhereTheAbiHolds) {
  const auto spills = [](std::string_view body, std::string_view kind) {
    return set_up_spilling(testing::program(body, kind), ir::default_target(), Knobs()).slots[ir::index(RegFile::UR)] ==
           Location::slot(ir::MemSpace::Shared);
  };
  EXPECT_TRUE(spills("    block b0\n      #0 exit\n", "kernel"));
  EXPECT_FALSE(spills("    block b0\n      #0 exit\n", "device"));
  EXPECT_FALSE(spills("    block b0\n      #0 call \"f\" clobbers R0\n      #1 exit\n", "kernel"));
}

ir::Allocation allocation_of(const ir::Function& f, Lines& trace, std::string_view disable = "0") {
  const ir::AllocOptions options{.limits = tight(), .knobs = {{"DisableSmemReservation", std::string(disable)}}, .trace = &trace};
  auto result = make_fatpoint()->allocate(f, ir::default_target(), options);
  EXPECT_TRUE(result.has_value());
  return result ? std::move(*result) : ir::Allocation();
}

TEST(Smem, ItIsSetUpBeforeTheFirstAttempt) {
  Lines trace;
  EXPECT_TRUE(allocation_of(testing::program(kUniform), trace).notes.empty());
  EXPECT_EQ(trace.first("Smem spilling: UR, 7296 bytes a thread"), 0);
  EXPECT_GT(trace.lines.size(), 1u);
  EXPECT_EQ(trace.first("abi."), -1);
}

// The seed's words, where a vreg of such a file had to go to local memory for it; in the trace also where none had to.
TEST(Smem, TheUserIsToldThatTheAbiForbidsIt) {
  std::string text(kUniform);
  text.replace(text.find("#5 st %2"), 3, "#11 call \"f\" clobbers R4\n      #5 ");
  const ir::Function f = testing::program(text);
  Lines trace, without, easy;
  const ir::Allocation a = allocation_of(f, trace);
  EXPECT_EQ(a.program.shared_frame, 0u);
  EXPECT_EQ(a.notes, std::vector<std::string>{"Smem spilling should not be enabled when functions use abi."});
  EXPECT_GE(trace.first("Smem spilling should not be enabled when functions use abi."), 0);
  EXPECT_TRUE(allocation_of(f, without, "1").notes.empty()) << "nobody asked for it";
  EXPECT_EQ(without.first("abi."), -1);
  const ir::AllocOptions roomy{.limits = ir::Limits::of(ir::default_target()), .knobs = {}, .trace = &easy};
  EXPECT_TRUE(make_fatpoint()->allocate(f, ir::default_target(), roomy).value().notes.empty()) << "nothing was spilled";
  EXPECT_GE(easy.first("abi."), 0);
}

TEST(Smem, WhatIsBeyondAThreadsShareIsInLocalMemory) {
  ir::Function f = testing::program(kUniform);
  f.threads = static_cast<std::uint32_t>(ir::default_target().shared_bytes_per_sm / 4);  // four bytes each
  const ir::Function a = testing::allocate(f, tight()).program;
  EXPECT_EQ(a.shared_frame, 4u);
  EXPECT_EQ(local_bytes(a), 12u);
}

}  // namespace
}  // namespace regduel::allocator
