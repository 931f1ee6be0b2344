// The document and the page of small databases.
#include "cli/report/document.h"

#include <gmock/gmock.h>

#include "base/bad_input.h"
#include "base/io.h"
#include "cli/report/page.h"
#include "fuzz/campaign/store.h"
#include "results/testing.h"

namespace regduel::cli {
namespace {

using duel::Case;
using nlohmann::ordered_json;

class Report : public results::DatabaseTest {
 protected:
  // Case `index` of the standard mix, with another name where one is given: then only the database has the program.
  static Case mix(std::uint64_t index, const std::string& name = "") {
    Case input = duel::standard_case(5, index, duel::all_duelists());
    if (!name.empty()) input.program.name = name;
    return input;
  }
  void write(const std::vector<Case>& inputs, results::Content content) const {
    results::ResultFile file(path_, {.program = "test", .command = "write", .machine = "none"});
    for (std::size_t k = 0; k < inputs.size(); ++k)
      file.add(results::dueled(inputs[k], content == results::Content::Kept ? "file.rir" : results::mix_source(5, k), content));
    file.finish();
  }
  [[nodiscard]] ordered_json document(std::size_t details = 40) const {
    return report_document(path_, {.version = "test", .details = details});
  }
};

TEST_F(Report, ACaseHasTheFiguresOfItsDuel) {
  const Case input = mix(0);
  write({input}, results::Content::MadeAgain);
  const duel::Duel duel = duel::duel(input, {.duelists = duel::all_duelists()});
  const ordered_json d = document();
  EXPECT_EQ(d["allocators"], ordered_json({"fatpoint", "briggs"}));
  ASSERT_EQ(d["cases"]["run"].size(), 1U);
  EXPECT_EQ(d["programs"]["instructions"][0], input.program.insts.size());
  EXPECT_EQ(d["cases"]["limit"][0], input.limits.of(ir::RegFile::R));
  for (const duel::Bout& bout : duel.bouts) {
    const ordered_json& of = d["cases"]["of"][bout.allocator];
    EXPECT_EQ(of["verdict"][0], oracles::name(bout.verdict()));
    ASSERT_TRUE(bout.program);
    EXPECT_EQ(of["registers"][0], bout.measures.registers[0]);
    EXPECT_EQ(of["spill_store_bytes"][0], bout.measures.spill_store_bytes);
    EXPECT_EQ(d["cases"]["max_live"][0], bout.measures.max_live[0]);
  }
  EXPECT_EQ(d["runs"][0]["verdicts"]["briggs"]["pass"], 1);
}

TEST_F(Report, LimitsOfOneProgramAreRowsInTheirOrder) {
  std::vector<Case> inputs;
  for (const int limit : {64, 16, 255}) {
    Case input = mix(3, "k");
    input.knobs.clear();
    input.limits = ir::Limits::of(*input.target, limit);
    inputs.push_back(std::move(input));
  }
  write(inputs, results::Content::Kept);
  const ordered_json d = document(0);
  EXPECT_EQ(d["cases"]["limit"], ordered_json({16, 64, 255}));
  EXPECT_EQ(d["cases"]["program"], ordered_json({0, 0, 0}));
  EXPECT_TRUE(d["details"].empty());
}

// The same where the database has the program, and where it is made again.
TEST_F(Report, ADetailIsThatOfItsCase) {
  for (const results::Content content : {results::Content::Kept, results::Content::MadeAgain}) {
    remove();
    const Case input = mix(0);
    write({input}, content);
    const ordered_json d = document();
    ASSERT_EQ(d["details"].size(), 1U);
    EXPECT_EQ(d["cases"]["detail"][0], 0);
    const ordered_json& detail = d["details"][0];
    EXPECT_EQ(detail["before"]["text"].size(), input.program.insts.size() + input.program.blocks.size());
    EXPECT_EQ(detail["limits"]["R"], input.limits.of(ir::RegFile::R));
    ASSERT_EQ(detail["allocations"].size(), 2U);
    for (const ordered_json& a : detail["allocations"]) {
      const std::string name = a["allocator"];
      EXPECT_EQ(a["verdict"], d["cases"]["of"][name]["verdict"][0]);
      const auto& marks = a["program"]["mark"];
      const auto spills = std::count(marks.begin(), marks.end(), "spill") + std::count(marks.begin(), marks.end(), "refill");
      const ordered_json& of = d["cases"]["of"][name];
      EXPECT_EQ(spills > 0, of["spill_store_bytes"][0].get<int>() + of["spill_load_bytes"][0].get<int>() > 0);
    }
  }
}

TEST_F(Report, AProgramThatNobodyHasIsCountedAsMissing) {
  write({mix(0, "renamed")}, results::Content::MadeAgain);
  const ordered_json d = document();
  EXPECT_TRUE(d["details"].empty());
  EXPECT_EQ(d["details_missing"]["no_program"], 1);
  EXPECT_EQ(d["cases"]["detail"][0], -1);
}

// Two runs in one file: the second with fewer ways to avoid spills.
class ReportOfTwo : public Report {
 protected:
  static constexpr const char* kKnob = "FatPointRematerialise";

  // A program that spills otherwise without rematerialisation.
  static Case kernel(const std::string& value) {
    static const std::uint64_t index = [] {
      for (std::uint64_t k = 0; k < 200; ++k)
        if (spill_bytes(with_knob(k, "0")) != spill_bytes(with_knob(k, "1"))) return k;
      return std::uint64_t{0};
    }();
    return with_knob(index, value);
  }
  static Case with_knob(std::uint64_t index, const std::string& value) {
    Case input = mix(index);
    input.limits = ir::Limits::of(*input.target, 20);
    input.knobs = {{kKnob, value}};
    return input;
  }
  static std::int64_t spill_bytes(const Case& input) {
    const std::vector<const ir::Allocator*> one = {duel::find_allocator("fatpoint")};
    const std::vector<std::string> judges = {"structure"};
    return duel::duel(input, {.duelists = one, .judges = judges}).bouts[0].measures.spill_store_bytes;
  }
  void write_run(const std::vector<Case>& inputs, const std::string& program) const {
    results::ResultFile file(path_, {.program = program, .command = "write", .machine = "none"});
    for (const Case& input : inputs) file.add(results::dueled(input, "file.rir", results::Content::Kept));
    file.finish();
  }
  [[nodiscard]] ordered_json compared(bool across_knobs, std::vector<std::string> allocators = {},
                                      std::vector<std::string> runs = {"1,2"}) const {
    ComparedOptions o;
    o.databases = {path_};
    o.runs = std::move(runs);
    o.allocators = std::move(allocators);
    o.across_knobs = across_knobs;
    return comparison_document(read_compared_runs(o), across_knobs, {.version = "test"});
  }
};

TEST_F(ReportOfTwo, EachSideIsAnAllocatorOfItsOwn) {
  write_run({kernel("1")}, "test");
  write_run({kernel("0")}, "test");
  const ordered_json d = compared(true);
  EXPECT_EQ(d["allocators"], ordered_json({"briggs (new)", "briggs (old)", "fatpoint (new)", "fatpoint (old)"}));
  EXPECT_EQ(d["columns"]["fatpoint (old)"], ordered_json({{"allocator", "fatpoint"}, {"side", 0}}));
  ASSERT_EQ(d["cases"]["run"].size(), 1U);
  for (const auto& [column, value] : {std::pair("fatpoint (old)", "1"), std::pair("fatpoint (new)", "0")}) {
    const Case input = kernel(value);
    const duel::Duel duel = duel::duel(input, {.duelists = duel::all_duelists()});
    EXPECT_EQ(d["cases"]["of"][column]["spill_store_bytes"][0], duel.bouts[0].measures.spill_store_bytes) << column;
  }
  EXPECT_EQ(d["texts"][d["cases"]["knobs"][0].get<int>()], "FatPointRematerialise=0");
  EXPECT_EQ(d["texts"][d["cases"]["older_knobs"][0].get<int>()], "FatPointRematerialise=1");
  EXPECT_TRUE(d["findings"].empty());
}

// The detail of a side has the knobs of that side: what is made again is what the run had.
TEST_F(ReportOfTwo, BothSidesAreMadeAgain) {
  write_run({kernel("1")}, "test");
  write_run({kernel("0")}, "test");
  const ordered_json d = compared(true);
  ASSERT_EQ(d["details"].size(), 1U);
  ASSERT_EQ(d["details"][0]["allocations"].size(), 4U);
  for (const ordered_json& a : d["details"][0]["allocations"])
    EXPECT_EQ(a["measures"]["weighted_spill_bytes"],
              d["cases"]["of"][a["allocator"].get<std::string>()]["weighted_spill_bytes"][0]);
  EXPECT_EQ(d["details"][0]["explained"], "fatpoint (new)");
}

TEST_F(ReportOfTwo, OfAnotherVersionOnlyTheFiguresAreKnown) {
  write_run({kernel("1")}, "an older one");
  write_run({kernel("1")}, "test");
  const ordered_json d = compared(false);
  EXPECT_EQ(d["comparison"]["old"]["made_again"], false);
  EXPECT_EQ(d["comparison"]["new"]["made_again"], true);
  ASSERT_EQ(d["details"].size(), 1U);
  for (const ordered_json& a : d["details"][0]["allocations"])
    EXPECT_THAT(a["allocator"].get<std::string>(), testing::EndsWith(" (new)"));
  EXPECT_FALSE(d["cases"]["of"]["fatpoint (old)"]["registers"][0].is_null());
}

TEST_F(ReportOfTwo, TheMeasuresAreThoseOfTheComparison) {
  Case other = kernel("1");
  other.limits = ir::Limits::of(*other.target, 24);
  write_run({kernel("1"), other}, "test");
  write_run({kernel("0"), other}, "test");
  const ordered_json d = compared(true, {"fatpoint"});
  const ordered_json& section = d["comparison"]["sections"][0];
  EXPECT_EQ(section["old"], "fatpoint (old)");
  EXPECT_EQ(section["pairs"], 2);
  const results::Comparison c =
      results::compare(results::read_results(path_, 1), results::read_results(path_, 2),
                       {.older_allocator = "fatpoint", .newer_allocator = "fatpoint", .across_knobs = true});
  ASSERT_EQ(section["measures"].size(), c.measures.size());
  std::size_t changed = 0;
  for (std::size_t k = 0; k < c.measures.size(); ++k) {
    const ordered_json& m = section["measures"][k];
    EXPECT_EQ(m["new"], c.measures[k].newer_sum);
    EXPECT_EQ(m["p_adjusted"].get<double>(), c.measures[k].adjusted_p);
    for (const char* list : {"worst", "best"})
      for (const ordered_json& change : m[list]) {
        ++changed;
        const auto at = change["case"].get<std::size_t>();
        const std::string measure = m["measure"];
        if (d["cases"]["of"]["fatpoint (new)"].contains(measure)) {
          EXPECT_EQ(change["new"], d["cases"]["of"]["fatpoint (new)"][measure][at]);
          EXPECT_EQ(change["old"], d["cases"]["of"]["fatpoint (old)"][measure][at]);
        }
      }
  }
  EXPECT_GT(changed, 0U);
}

// As compare does: without across_knobs they are no pair.
TEST_F(ReportOfTwo, OtherKnobsAreAnotherCaseUnlessTheyAreCompared) {
  write_run({kernel("1")}, "test");
  write_run({kernel("0")}, "test");
  const ordered_json d = compared(false, {"fatpoint"});
  EXPECT_EQ(d["cases"]["run"].size(), 2U);
  EXPECT_EQ(d["comparison"]["sections"][0]["pairs"], 0);
  EXPECT_EQ(d["comparison"]["sections"][0]["changed_knobs"], 1);
}

TEST_F(ReportOfTwo, TwoAllocatorsOfOneRunKeepTheirNames) {
  write_run({kernel("1")}, "test");
  const ordered_json d = compared(false, {"briggs,fatpoint"}, {});
  EXPECT_EQ(d["allocators"], ordered_json({"fatpoint", "briggs"}));
  EXPECT_EQ(d["comparison"]["sections"][0]["title"], "briggs -> fatpoint");
  EXPECT_EQ(d["details"][0]["allocations"].size(), 2U);
  EXPECT_EQ(d["runs"].size(), 1U);
}

TEST_F(ReportOfTwo, TheSameDatabasesGiveTheSameBytes) {
  write_run({kernel("1")}, "test");
  write_run({kernel("0")}, "test");
  EXPECT_EQ(report_page(compared(true)), report_page(compared(true)));
}

TEST_F(Report, FindingsAndSamplesOfACampaign) {
  const Case input = mix(1);
  {
    fuzz::Store store(path_, {.program = "test", .command = "fuzz", .machine = "none"});
    (void)store.begin_session(9, "mix");
    const fuzz::Failure failure{"fatpoint", "memcheck/some-rule@add:use"};
    store.saw(failure, "a value is lost", duel::encode_case(input));
    fuzz::Understood understood;
    understood.reduced = input;
    understood.failure = failure;
    understood.bucket = "fatpoint: wrong-value";
    store.add(understood);
    store.commit({.next_index = 12, .inputs = 3, .features = 4, .edges = 0, .findings = 1}, fuzz::Tally(duel::all_duelists()));
    store.finish();
  }
  const ordered_json d = document();
  ASSERT_EQ(d["findings"].size(), 1U);
  const ordered_json& finding = d["findings"][0];
  EXPECT_EQ(finding["bucket"], "fatpoint: wrong-value");
  EXPECT_THAT(finding["arguments"].get<std::string>(), testing::StartsWith("--with fatpoint --sm "));
  EXPECT_THAT(finding["program"].get<std::string>(), testing::HasSubstr("func @"));
  EXPECT_EQ(finding["detail"], 0);
  EXPECT_EQ(d["details"][0]["finding"], 0);
  EXPECT_EQ(d["sightings"][0]["message"], "a value is lost");
  EXPECT_EQ(d["runs"][0]["samples"]["features"], ordered_json({4}));
  EXPECT_EQ(d["runs"][0]["next"], 12);
}

TEST_F(Report, TheSameDatabaseGivesTheSameBytes) {
  write({mix(0), mix(1), mix(2)}, results::Content::MadeAgain);
  EXPECT_EQ(report_page(document()), report_page(document()));
}

TEST_F(Report, NoNameEndsTheElementItStandsIn) {
  const std::string hostile = "</script><script>alert(1)</script><!--";
  write({mix(0, hostile)}, results::Content::Kept);
  const ordered_json d = document();
  const std::string page = report_page(d), empty_page = report_page(ordered_json::object());
  const auto count = [](const std::string& text, const std::string& what) {
    int n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  for (const char* const what : {"<script", "</script", "<!--"}) EXPECT_EQ(count(page, what), count(empty_page, what)) << what;
  // The page reads the name as it was.
  const std::string begin = "id=\"document\">";
  const std::size_t at = page.find(begin) + begin.size();
  const ordered_json read = ordered_json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(read, d);
  EXPECT_EQ(read["programs"]["name"][0], hostile);
}

TEST_F(Report, BytesThatAreNoTextDoNotStopIt) {
  write({mix(0, "a\xff\xfe")}, results::Content::Kept);
  EXPECT_THAT(report_page(document()), testing::HasSubstr("a\xef\xbf\xbd"));
}

TEST_F(Report, BadDatabasesAreBadInput) {
  EXPECT_THROW((void)document(), BadInput);
  ASSERT_TRUE(write_file(path_, "this is no database, however long it may be, and however much it says"));
  EXPECT_THROW((void)document(), BadInput);
}

}  // namespace
}  // namespace regduel::cli
