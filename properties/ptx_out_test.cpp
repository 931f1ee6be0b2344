// Random programs of all profiles as PTX: our own reader takes what is printed, with every opcode known, and each effect is there.

#include <gtest/gtest.h>

#include "generate/generator.h"
#include "ir/ptx/opcodes.h"
#include "ir/ptx/print/print.h"
#include "ir/ptx/ptx.h"

namespace regduel::properties {
namespace {

TEST(PtxOut, RandomProgramsAreRead) {
  ir::ptx::OpcodeTable opcodes;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const auto profile = generate::profiles()[seed % generate::kNumProfiles];
    const ir::Function f = generate::generate({.profile = profile, .seed = seed, .size = 120});
    const ir::PtxFunction one{&f, nullptr, ir::PtxStyle::StandIns};
    const std::string text = ir::print_ptx({&one, 1});
    const auto again = ir::parse_ptx(text, "printed.ptx");
    ASSERT_TRUE(again.has_value()) << "seed " << seed << ": " << to_string(again.error());
    ASSERT_EQ(again->functions.size(), 1u) << "seed " << seed;
    const ir::Function& g = again->functions[0];
    int stores = 0, kept = 0;
    for (const ir::Inst& i : g.insts) {
      if (i.op == ir::Op::Named && g.mnemonic(i) != "abi.entry") {
        EXPECT_TRUE(opcodes.find(g.mnemonic(i)).info.is_known) << g.mnemonic(i);
      }
      kept += i.op == ir::Op::Named && i.has(ir::kMemWrite) ? 1 : 0;
    }
    for (const ir::Inst& i : f.insts)
      if (i.op == ir::Op::Named && i.has(ir::kMemWrite))
        for (const ir::Operand& op : ir::uses_of(f.operands_of(i))) stores += op.is_vreg() ? 1 : 0;
    EXPECT_GE(kept, stores) << "seed " << seed;
  }
}

}  // namespace
}  // namespace regduel::properties
