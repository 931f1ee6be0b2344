#include "passes/rewriting/shared_arguments.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "ir/text/text.h"

namespace regduel::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kCallee = R"(
func @work device target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  block b0
    #0 %0{=R4}, %1{=R5} = abi.entry
    #1 st %0, %1 !write
    #2 ret
)";
constexpr std::string_view kCaller = R"(
func @k kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = ld.param.u32 "n" !read !readonly
    #1 %1 = mov.u32 "%tid.x"
    #2 call "work", %0{=R4}, %1{=R5} clobbers R0:R23
    #3 exit
)";

// The names of the arguments of @work that are marked, by number, in a file of these functions.
std::vector<std::size_t> marked(const std::vector<std::string>& functions, char is_private = 1) {
  std::string text = "rir 1\n";
  for (const std::string& f : functions) text += f;
  auto module = ir::parse(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : to_string(module.error()));
  mark_shared_arguments(module->functions, std::vector<char>(module->functions.size(), is_private));
  std::vector<std::size_t> list;
  for (const ir::Function& f : module->functions)
    for (std::size_t v = 0; f.name == "work" && v < f.vregs.size(); ++v)
      if ((f.vregs[v].flags & ir::kVRegUniform) != 0) list.push_back(v);
  return list;
}
std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  return result.replace(result.find(from), from.size(), to);
}

TEST(SharedArguments, AreThoseThatEachCallShares) {
  EXPECT_THAT(marked({std::string(kCallee), std::string(kCaller)}), ElementsAre(0));
  const std::string other = with(with(kCaller, "@k", "@other"), "%0{=R4}, %1{=R5}", "%1{=R4}, %0{=R5}");
  EXPECT_THAT(marked({std::string(kCallee), std::string(kCaller), other}), IsEmpty());
  EXPECT_THAT(marked({std::string(kCallee)}), IsEmpty()) << "nothing is known of a function that nothing calls";
}

TEST(SharedArguments, AreNoneWhereOthersMayCall) {
  EXPECT_THAT(marked({std::string(kCallee), std::string(kCaller)}, 0), IsEmpty());
  const std::string by_address = with(kCaller, "    #3 exit", "    #4 %0 = mov.u32 \"work\"\n    #3 exit");
  EXPECT_THAT(marked({std::string(kCallee), by_address}), IsEmpty());
}

TEST(SharedArguments, AreNoneOfACallInOneWayOfABranch) {
  EXPECT_THAT(marked({std::string(kCallee), R"(
func @k kernel target sm_90 threads 32
  vreg %0 R b32
  vreg %1 R b32
  vreg %2 P pred
  block b0
    #0 %0 = ld.param.u32 "n" !read !readonly
    #1 %1 = mov.u32 "%tid.x"
    #2 %2 = setp.lt.s32 %1, 4
    #3 cbra %2 -> b1, b2
  block b1
    #4 call "work", %0{=R4}, %1{=R5} clobbers R0:R23
    #5 bra -> b2
  block b2
    #6 st 0 !write
    #7 exit
)"}),
              IsEmpty());
}

// What a function is given itself, it gives on.
TEST(SharedArguments, GoOnFromCallToCall) {
  const std::string between =
      with(with(kCallee, "@work", "@between"), "    #1 st %0, %1 !write", "    #1 call \"work\", %0{=R4}, %1{=R5} clobbers R0:R23");
  EXPECT_THAT(marked({std::string(kCallee), between, with(kCaller, "\"work\"", "\"between\"")}), ElementsAre(0));
}

TEST(SharedArguments, AVRegThatIsWrittenAgainIsNotMarked) {
  EXPECT_THAT(marked({with(kCallee, "    #1 st", "    #3 %0 = mov.u32 \"%tid.x\"\n    #1 st"), std::string(kCaller)}), IsEmpty());
}

}  // namespace
}  // namespace regduel::passes
