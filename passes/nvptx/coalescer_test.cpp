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
                           "  block b0\n    #0 %0 = ld\n    #1 %1 = copy %0\n    #2 %2 = copy %1\n    #3 bra -> b1\n  block b1\n"
                           "    #4 %3 = copy %2\n    #5 st %3 !write\n    #6 exit\n";

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
  const std::string across =
      testing::words(2) +
      "  vreg %2 P pred\n  block b0\n    #0 %0 = ld\n    #1 bra -> b1\n  block b1\n    #2 %1 = copy %0\n    #3 bra -> b2\n"
      "  block b2\n    #4 st %1 !write\n    #5 exit\n";
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
                           "  vreg %2 R b32\n  vreg %3 P pred\n  block b0\n    #0 %0 = ld\n    #1 %3 = setp %0\n    #2 %1 = copy "
                           "%0\n    #3 st %1, %0 !write\n"
                           "    #4 bra -> b1\n  block b1 freq 100\n    #5 %2 = copy %0\n    #6 %2 = add %2\n    #7 st %2, %0 "
                           "!write\n    #8 cbra %3 -> b1, b2\n  block b2\n    #9 exit\n";
  for (const bool by_frequency : {false, true}) {
    Lines trace;
    merges(body, {.block_frequency = by_frequency, .trace = &trace});
    const std::size_t hot = trace.all.find("#5"), cold = trace.all.find("#2");
    EXPECT_EQ(hot < cold, by_frequency) << trace.all;
  }
}

}  // namespace
}  // namespace regduel::passes::nvptx
