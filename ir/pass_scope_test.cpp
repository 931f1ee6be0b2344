#include "ir/pass_scope.h"

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

Function program(std::string_view body) {
  auto module = parse("rir 1\nfunc @t kernel target sm_90 threads 32\n" + std::string(body));
  return module ? std::move(module->functions[0]) : Function();
}

const Function kSmall = program("block b0\n#0 exit\n");
const Function kLarge = program("vreg %0 R b32\nblock b0\n#0 %0 = ld 0\n#1 st %0 !write\n#2 exit\n");

TEST(PassScope, RecordsPassesInTheOrderInWhichTheyBegin) {
  PassLog log;
  {
    PassScope outer(&log, "outer", &kLarge);
    {
      PassScope inner(&log, "inner", &kLarge);
      inner.made(kSmall);
    }
  }
  PassScope(&log, "last", nullptr).made(kSmall, [](const Function& f) { return f.blocks.size() == 1; });
  ASSERT_EQ(log.passes.size(), 3u);
  EXPECT_EQ(log.passes[0].name, "outer");
  EXPECT_EQ(log.passes[0].depth, 0);
  EXPECT_EQ(log.passes[0].after.instructions, 3u);  // what it made was not said
  EXPECT_EQ(log.passes[1].depth, 1);
  EXPECT_EQ(log.passes[1].before.instructions, 3u);
  EXPECT_EQ(log.passes[1].before.vregs, 1u);
  EXPECT_EQ(log.passes[1].after.instructions, 1u);
  EXPECT_EQ(log.passes[1].after.vregs, 0u);
  EXPECT_GE(log.passes[0].seconds, log.passes[1].seconds);
  EXPECT_EQ(log.passes[2].depth, 0);
  EXPECT_EQ(log.passes[2].before.blocks, 0u);
  EXPECT_EQ(log.passes[2].after.blocks, 1u);
  EXPECT_EQ(log.passes[2].text_after, "");
}

TEST(PassScope, DumpsWhereTheLogWantsIt) {
  PassLog log;
  log.has_dumps = true;
  PassScope(&log, "pass", &kLarge).made(kSmall);
  EXPECT_EQ(log.passes[0].text_before, print(kLarge));
  EXPECT_EQ(log.passes[0].text_after, print(kSmall));
}

}  // namespace
}  // namespace regduel::ir
