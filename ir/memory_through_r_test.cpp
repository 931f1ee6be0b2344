#include "ir/memory_through_r.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

bool through_r(std::string_view abi, std::string_view kind, int registers, std::string_view vregs = "") {
  const auto module = parse(fmt::format("rir 1\nfunc @f {} target sm_90 threads 32 abi {}\n{}  block b0\n    #0 {}\n", kind, abi,
                                        vregs, kind == "kernel" ? "exit" : "ret"));
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  return reaches_memory_through_r(module->functions[0], default_target(), Limits::of(default_target(), registers));
}

TEST(MemoryThroughR, WhereTheAbiSaysSoAndARegisterIsThere) {
  EXPECT_FALSE(through_r("seed", "kernel", 255));
  EXPECT_TRUE(through_r("cuda", "kernel", 1));
  // R0 is architectural, R1 reserved, and R2 one that a device function keeps.
  const std::string_view architectural = "  vreg %0 R b32 fixed R0 architectural\n";
  EXPECT_FALSE(through_r("cuda", "kernel", 2, architectural));
  EXPECT_TRUE(through_r("cuda", "kernel", 3, architectural));
  EXPECT_FALSE(through_r("cuda", "device", 3, architectural));
  EXPECT_TRUE(through_r("cuda", "device", 4, architectural));
}

}  // namespace
}  // namespace regduel::ir
