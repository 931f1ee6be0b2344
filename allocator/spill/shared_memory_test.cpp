#include "allocator/spill/shared_memory.h"

#include <gtest/gtest.h>

#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

using ir::RegFile;

constexpr std::string_view kUniform = R"(
    vreg %0 UR b32
    vreg %1 UR b32
    vreg %2 UR b64
    vreg %3 R b32
    vreg %4 R b32
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
  const auto kind = [&](RegFile file) { return slot_locations(f, other, Knobs())[ir::index(file)].kind(); };
  EXPECT_EQ(kind(RegFile::UR), Location::Kind::SharedSlot);
  EXPECT_EQ(kind(RegFile::Acc), Location::Kind::SharedSlot);
  EXPECT_EQ(kind(RegFile::R), Location::Kind::LocalSlot);
  other.device_type = 4;
  EXPECT_EQ(kind(RegFile::UR), Location::Kind::LocalSlot);
}

TEST(Smem, NeverWhereTheAbiHolds) {
  const auto spills = [](std::string_view body, std::string_view kind) {
    return slot_locations(testing::program(body, kind), ir::default_target(), Knobs())[ir::index(RegFile::UR)] ==
           Location::slot(ir::MemSpace::Shared);
  };
  EXPECT_TRUE(spills("    block b0\n      #0 exit\n", "kernel"));
  EXPECT_FALSE(spills("    block b0\n      #0 exit\n", "device"));
  EXPECT_FALSE(spills("    block b0\n      #0 call \"f\" clobbers R0\n      #1 exit\n", "kernel"));
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
