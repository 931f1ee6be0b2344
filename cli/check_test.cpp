// The gate for one run, and cases that say what is to come of them: check, test.
#include "base/testing.h"
#include "cli/baseline.h"
#include "cli/show/check_reports.h"
#include "cli/show/xml.h"
#include "cli/testing.h"

namespace regduel::cli {
namespace {

TEST_F(Cli, ABaselineAcceptsWhatItHas) {
  fs::create_directory(path("kernels"));
  fs::copy_file(source("corpus/ptx/softmax.ptx"), path("kernels/softmax.ptx"));
  fs::copy_file(source("corpus/ptx/sha256.ptx"), path("kernels/sha256.ptx"));
  const std::string check = "check kernels --regs 16,24 --baseline spills.json ";
  expect_complaint(check, "spills.json: No such file or directory (--update makes a baseline)");
  EXPECT_EQ(run(check + "--update").status, 0);
  const std::string text = read_file(path("spills.json")).value();
  EXPECT_THAT(text,
              HasSubstr("{\"file\": \"kernels/softmax.ptx\", \"function\": \"softmax\", \"target\": \"sm_90\", \"allocator\": "
                        "\"fatpoint\", \"limit\": 24, \"registers\": 24, \"spill_store_bytes\": "));
  EXPECT_EQ(text_of(read_baseline(path("spills.json"))), text);
  const Outcome same = run(check);
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_EQ(same.out, "4 allocations, 4 same\n");
  // From another folder it is the same baseline.
  EXPECT_EQ(run("check kernels --regs 16,24 --baseline ./kernels/../spills.json").status, 0);

  const Outcome worse = run(check + "--knob FatPointRematerialise=0 --sarif s.sarif --junit j.xml --markdown m.md");
  EXPECT_EQ(worse.status, 1);
  EXPECT_THAT(worse.out, AllOf(HasSubstr("kernels/softmax.ptx: worse: @softmax at 24 registers by fatpoint: "),
                               HasSubstr("weighted_spill_bytes "), HasSubstr("with --update, and commit spills.json")));
  const auto sarif = nlohmann::json::parse(read_file(path("s.sarif")).value());
  EXPECT_EQ(sarif["version"], "2.1.0");
  ASSERT_FALSE(sarif["runs"][0]["results"].empty());
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "worse");
  EXPECT_GE(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_THAT(read_file(path("j.xml")).value(),
              AllOf(HasSubstr("<testsuites tests=\"4\" failures=\""), HasSubstr("<failure type=\"worse\"")));
  EXPECT_THAT(read_file(path("m.md")).value(),
              AllOf(StartsWith("**Registers and spills: worse than accepted.**"), HasSubstr("| worse | ")));
  EXPECT_EQ(read_file(path("spills.json")).value(), text);

  EXPECT_EQ(run(check + "--knob FatPointRematerialise=0 --update").status, 0);
  const Outcome better = run(check);
  EXPECT_EQ(better.status, 0);
  EXPECT_THAT(better.out, HasSubstr("better: "));
}

TEST_F(Cli, ABaselineKnowsNewAndGoneKernels) {
  ASSERT_EQ(run("gen --seed 3 --size 60 -o a.rir").status, 0);
  ASSERT_EQ(run("check a.rir --baseline b.json --update").status, 0);
  const Outcome wider = run("check a.rir --regs 255,32 --baseline b.json");
  EXPECT_EQ(wider.status, 1);
  EXPECT_THAT(wider.out, HasSubstr("new: @generated at 32 registers by fatpoint: is not in the baseline"));
  const Outcome other = run("check a.rir --regs 32 --baseline b.json --update");
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.out, HasSubstr("gone: a.rir @generated fatpoint at 255"));
  EXPECT_EQ(run("check a.rir --regs 32 --baseline b.json").status, 0);
  write("none.json", "{}");
  expect_complaint("check a.rir --baseline none.json", "it is no baseline: it has no \"regduel_baseline\"");
  write("broken.json", "{\n  \"regduel_baseline\": 1,\n  oops");
  expect_complaint("check a.rir --baseline broken.json", "broken.json:3:3: error: it is no JSON");
}

// The line that .loc names stands in the report.
TEST(CheckReports, NameTheLine) {
  CheckRow row{
      {"k.ptx", "k|<T>", "sm_90", "fatpoint", 24}, "k.ptx", CheckOutcome::Same, "", {24, 0, 0, 0}, {24, 8, 8, 80}, "k.cu:12:3"};
  hold(row);
  EXPECT_EQ(row.outcome, CheckOutcome::Worse);
  EXPECT_EQ(row.message, "spill_store_bytes 0 -> 8, spill_load_bytes 0 -> 8, weighted_spill_bytes 0 -> 80");
  const auto sarif = nlohmann::json::parse(sarif_text({row}, "1"));
  const auto& place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "k.cu");
  EXPECT_EQ(place["region"]["startLine"], 12);
  EXPECT_EQ(place["region"]["startColumn"], 3);
  EXPECT_THAT(markdown_text({row}), HasSubstr("k\\|\\<T>"));
  EXPECT_EQ(xml_escaped("<a href=\"x\">&\x01"), "&lt;a href=&quot;x&quot;&gt;&amp;?");
  std::swap(row.before, row.now);
  hold(row);
  EXPECT_EQ(row.outcome, CheckOutcome::Better);
}

constexpr std::string_view kCase = R"(// limit: R=2
// becomes: R0 = op
// becomes: sink R0
rir 1
func @f kernel target sm_90 threads 32
  vreg %0 R b32
  block b0
    #0 %0 = op
    #1 sink %0
    #2 exit
)";

TEST_F(Cli, CasesArePlayedAgainstAnAllocator) {
  fs::create_directory(path("cases"));
  write("cases/right.rir", kCase);
  const Outcome right = run("test cases --with fatpoint");
  EXPECT_EQ(right.status, 0) << right.out;
  EXPECT_EQ(right.out, "1 case against fatpoint: 1 passed, 0 failed, 0 unsupported\n");
  write("cases/order.rir", "// becomes: exit\n" + std::string(kCase));
  write("cases/verdict.rir", "// verdict: impossible\n" + std::string(kCase));
  const Outcome wrong = run("test cases --with briggs --junit j.xml -v");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("FAIL: cases/order.rir: \"R0 = op\" stands nowhere"),
                               HasSubstr("FAIL: cases/verdict.rir: the verdict is pass, expected impossible"),
                               HasSubstr("PASS: cases/right.rir"), HasSubstr("3 cases against briggs: 1 passed, 2 failed")));
  EXPECT_THAT(read_file(path("j.xml")).value(), HasSubstr("<testsuite name=\"regduel test\" tests=\"3\" failures=\"2\">"));
  const Outcome mine = run(fmt::format("test cases/right.rir --with \"exec:'{} unsupported'\"", REGDUEL_TESTING_CHILD));
  EXPECT_EQ(mine.status, 0);
  EXPECT_THAT(mine.out, HasSubstr("1 case against testing-child: 0 passed, 0 failed, 1 unsupported"));
  write("odd.rir", "// verdict: maybe\n" + std::string(kCase));
  expect_complaint("test odd.rir --with briggs", "odd.rir:1:1: error: expected pass, fail or impossible, found \"maybe\"");
}

}  // namespace
}  // namespace regduel::cli
