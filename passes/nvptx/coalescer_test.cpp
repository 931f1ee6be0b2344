#include "passes/nvptx/coalescer.h"

#include <gtest/gtest.h>

#include "passes/nvptx/testing.h"

namespace regduel::passes::nvptx {
namespace {

struct Lines final : ir::Trace {
  void line(std::string text) override { all += text + "\n"; }
  std::string all;
};
std::int64_t merges(const std::string& body, Options options = {}) {
  const ir::Function f = testing::program(body);
  Coalescer coalescer(f, options);
  coalescer.run();
  return coalescer.num_merges();
}
const std::string kChain = testing::words(4) +
                           R"(  block b0
    #0 %0 = ld
    #1 %1 = copy %0
    #2 %2 = copy %1
    #3 bra -> b1
  block b1
    #4 %3 = copy %2
    #5 st %3 !write
    #6 exit
)";

TEST(Coalescer, Limits) {
  EXPECT_EQ(merges(kChain), 3);
  for (const std::int64_t limit : {0, 1, 2}) {
    EXPECT_EQ(merges(kChain, {.coalesce_limit = limit}), limit);
    EXPECT_EQ(merges(kChain, {.candidates = {.copy_limit = limit}}), limit);
  }
}

TEST(Coalescer, LevelsAlone) {
  EXPECT_EQ(merges(kChain, {.block_level = false}), 3);
  // %1 = %0 and %2 = %1 have an end in b0 alone, %3 = %2 has %3 in b1 alone.
  EXPECT_EQ(merges(kChain, {.cross_block = false}), 3);
  const std::string across = testing::words(2) +
                             R"(  vreg %2 P pred
  block b0
    #0 %0 = ld
    #1 bra -> b1
  block b1
    #2 %1 = copy %0
    #3 bra -> b2
  block b2
    #4 st %1 !write
    #5 exit
)";
  EXPECT_EQ(merges(across), 1);
  EXPECT_EQ(merges(across, {.cross_block = false}), 0) << "both ends live in two blocks";
}

TEST(Coalescer, VerifiesEachMerge) {
  Lines trace;
  EXPECT_EQ(merges(kChain, {.verify = true, .trace = &trace}), 3);
  EXPECT_NE(trace.all.find("verified %0, piece 0: 1 segments, 2 definitions"), std::string::npos) << trace.all;
}

TEST(Coalescer, HotBlocksComeFirstWhereAsked) {
  // %1 becomes one with %0 or with %2, and so cannot with the other: whichever copy comes first.
  const std::string body = testing::words(2) +
                           R"(  vreg %2 R b32
  vreg %3 P pred
  block b0
    #0 %0 = ld
    #1 %3 = setp %0
    #2 %1 = copy %0
    #3 st %1, %0 !write
    #4 bra -> b1
  block b1 freq 100
    #5 %2 = copy %0
    #6 %2 = add %2
    #7 st %2, %0 !write
    #8 cbra %3 -> b1, b2
  block b2
    #9 exit
)";
  for (const bool by_frequency : {false, true}) {
    Lines trace;
    merges(body, {.block_frequency = by_frequency, .trace = &trace});
    const std::size_t hot = trace.all.find("#5"), cold = trace.all.find("#2");
    EXPECT_EQ(hot < cold, by_frequency) << trace.all;
  }
}

}  // namespace
}  // namespace regduel::passes::nvptx
