// Which registers are owed, register by register.

#include "oracles/pair/preserved.h"

#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

// What a function with these vregs and this instruction owes its caller, of R24 to R31.
std::vector<std::string> owed(const std::string& kind, const std::string& vregs, const std::string& inst) {
  const ir::Function f = testing::parse_function("func @t " + kind + " target sm_90 threads 32\n" + vregs + "  block b0\n    #0 " +
                                                 inst + "\n    #1 " + (kind == "kernel" ? "exit\n" : "ret\n"));
  std::vector<std::string> list;
  for (const ir::PReg r : preserved_units(f, *ir::find_target("sm_90"))) list.push_back(ir::to_string(r));
  return list;
}

TEST(PreservedUnits, AreTheCalleeSavedOnesThatTheProgramLeavesAlone) {
  using ::testing::ElementsAre;
  EXPECT_THAT(owed("kernel", "", "bar 0"), ElementsAre());
  EXPECT_THAT(owed("device", "", "bar 0"), ElementsAre("R24", "R25", "R26", "R27", "R28", "R29", "R30", "R31"));
  EXPECT_THAT(owed("device", "", "op clobbers R22:R27"), ElementsAre("R28", "R29", "R30", "R31"));
  EXPECT_THAT(owed("device", "  vreg %0 R b64 fixed R28:R29 architectural\n", "bar 0"),
              ElementsAre("R24", "R25", "R26", "R27", "R30", "R31"));
  EXPECT_THAT(owed("device", "  vreg %0 R b64 fixed R28:R29\n", "bar 0"),
              ElementsAre("R24", "R25", "R26", "R27", "R28", "R29", "R30", "R31"));
}

}  // namespace
}  // namespace regduel::oracles
