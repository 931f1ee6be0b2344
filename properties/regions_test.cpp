// Random programs with `setmaxnreg` at random places: each allocator that knows limits by point keeps to them, and the others say that they
// do not.
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::properties {
namespace {

constexpr std::uint64_t kPrograms = 120;

ir::Function with_regions(const ir::Function& f, int units, std::uint64_t seed) {
  constexpr std::array kNumbers = {24, 32, 40, 64, 104, 232};
  Random random(seed);
  const auto percent = 2 + 4 * random.below(3);
  ir::Function out = f.clone_header();
  std::uint32_t next = f.next_inst_id().value;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    out.begin_block(f.blocks[b]);
    for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) {
      if (!i.is_phi() && random.below(100) < percent) {
        ir::Inst change;
        change.id = ir::InstId(next++);
        change.flags = ir::kConvergent;
        change.mnemonic = out.symbols.intern("setmaxnreg.dec.sync.aligned.u32");
        const int limit = kNumbers[random.below(kNumbers.size())];
        const ir::PReg given_up{ir::RegFile::R, static_cast<std::uint8_t>(units - limit), static_cast<std::uint16_t>(limit)};
        const ir::Operand ops[] = {ir::Operand::of_imm(limit), ir::Operand::of_preg(ir::Role::Clobber, given_up)};
        // Without clobbers, a function still owes its caller the registers that are out of reach.
        out.append(change, std::span(ops).first(random.below(4) == 0 ? 1 : 2));
      }
      out.append(i, f.operands_of(i), f.targets_of(i));
    }
  }
  return out;
}

TEST(Regions, AllocatorsKeepToTheLimitOfEachPoint) {
  const std::vector<std::string> names = {"fatpoint", "classic", "briggs", "cicc"};
  std::vector<const ir::Allocator*> duelists;
  for (const std::string& name : names) duelists.push_back(duel::find_allocator(name));
  int above = 0, allocated = 0;
  for (std::uint64_t n = 0; n < kPrograms; ++n) {
    const generate::StandardCase c = generate::standard_mix(64, n);
    const ir::Target& target = *ir::find_target(c.target);
    // A register that a program always has is not given up.
    if (std::ranges::any_of(c.program.vregs, [](const ir::VReg& v) { return v.is_architectural(); })) continue;
    const ir::Function program = with_regions(c.program, target.units[ir::index(ir::RegFile::R)], n);
    ASSERT_TRUE(ir::check(program, target, 1).empty());
    const duel::Duel d = duel::duel({program, target}, {.duelists = duelists, .limits = c.limits});
    for (const duel::Bout& bout : d.bouts) {
      EXPECT_NE(bout.verdict(), oracles::Verdict::Fail)
          << bout.allocator << ", program " << n << ": " << (bout.signatures().empty() ? "" : bout.signatures().front());
      if (!bout.program) continue;
      ++allocated;
      for (const ir::Operand& op : bout.program->operands)
        if (op.is_preg() && op.role != ir::Role::Clobber && op.preg().file == ir::RegFile::R &&
            op.preg().end() > c.limits.of(ir::RegFile::R)) {
          ++above;
          break;
        }
    }
  }
  EXPECT_GT(allocated, 300);
  EXPECT_GT(above, 20) << "registers above the limit at the entry are used where it has risen";
}

TEST(Regions, OthersSayThatTheyKnowOneLimit) {
  const ir::Function f = with_regions(generate::standard_mix(64, 1).program, 255, 1);
  ir::AllocOptions options;
  options.limits = ir::Limits::of(ir::default_target());
  for (const char* name : {"exact", "exact-spill", "exact-split", "chaitin-briggs", "irc", "pbqp", "linear-scan", "chordal"}) {
    const auto result = duel::find_allocator(name)->allocate(f, ir::default_target(), options);
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_EQ(result.error().kind, ir::AllocFailure::Kind::Unsupported) << name;
    EXPECT_NE(result.error().message.find("setmaxnreg"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace regduel::properties
