#include "trial/planted/catalogue.h"

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/planted.h"
#include "duel/allocators.h"
#include "fuzz/triage/failure.h"

namespace regduel::trial {
namespace {

// The names in the sources of a folder, and how often each stands there.
std::map<std::string, int> planted_in(const std::filesystem::path& folder) {
  std::map<std::string, int> names;
  const std::regex planted("REGDUEL_PLANTED\\(\"([^\"]*)\"\\)");
  for (const std::filesystem::directory_entry& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    const std::string text = read_file(entry.path().string()).value();
    for (std::sregex_iterator it(text.begin(), text.end(), planted), end; it != end; ++it) ++names[(*it)[1].str()];
  }
  return names;
}
std::map<std::string, int> planted_in_sources() {
  std::map<std::string, int> names;
  for (const char* folder : {"allocator", "reference", "passes"})
    names.merge(planted_in(std::filesystem::path(REGDUEL_SOURCE_DIR) / folder));
  return names;
}

std::vector<PlantedBug> all_planted() {
  std::vector<PlantedBug> all(planted_bugs().begin(), planted_bugs().end());
  all.insert(all.end(), planted_losses().begin(), planted_losses().end());
  return all;
}

TEST(Catalogue, NamesWhatIsPlantedAndNothingElse) {
  std::map<std::string, int> in_sources = planted_in_sources();
  for (const PlantedBug& bug : all_planted()) {
    EXPECT_GE(in_sources.erase(std::string(bug.name)), 1u) << bug.name << " is nowhere in the sources";
    EXPECT_FALSE(bug.what.empty()) << bug.name;
    ASSERT_NE(find_planted_bug(bug.name), nullptr);
    EXPECT_EQ(find_planted_bug(bug.name)->what, bug.what);
  }
  for (const auto& [name, count] : in_sources) ADD_FAILURE() << name << " is not in the catalogue";
}

// A hunt lets a duelist on request take part where the bug has its name.
TEST(Catalogue, NamesABugForTheDuelistWhoseCodeItIsIn) {
  namespace fs = std::filesystem;
  int folders = 0;
  for (const std::string& duelist : duel::names_on_request())
    for (const char* parent : {"allocator", "reference"}) {
      const fs::path folder = fs::path(REGDUEL_SOURCE_DIR) / parent / duelist;
      if (!fs::is_directory(folder)) continue;
      ++folders;
      for (const auto& [name, count] : planted_in(folder)) EXPECT_TRUE(name.starts_with(duelist + "-")) << name << " in " << folder;
    }
  EXPECT_GE(folders, 2);
}

TEST(Catalogue, GivesEachBugASwitchOfItsOwn) {
  std::set<std::size_t> switches;
  for (const PlantedBug& bug : all_planted())
    EXPECT_TRUE(switches.insert(planted_switch(bug.name)).second) << bug.name << " shares a switch: take another name";
}

TEST(Catalogue, ABugOfAPassIsHuntedWithThePassInFront) {
  const auto names = [](const std::vector<std::string>& bugs) {
    std::vector<std::string> all;
    for (const ir::Allocator* a : duelists_against(bugs)) all.emplace_back(a->name());
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"fatpoint-tie-dropped"}), duel::allocator_names());
  EXPECT_EQ(names({"classic-first-unit-of-a-tuple-tested"}), (Names{"fatpoint", "briggs", "classic"}));
  EXPECT_EQ(names({"copyprop-whatever"}), (Names{"copyprop+fatpoint", "copyprop+briggs"}));
  EXPECT_EQ(names({"copyprop-whatever", "briggs-two-defs-share"}),
            (Names{"fatpoint", "briggs", "copyprop+fatpoint", "copyprop+briggs"}));
  EXPECT_EQ(pass_with("fatpoint-tie-dropped"), nullptr);
}

TEST(Catalogue, PlantsSeveralBugsAtATime) {
  if (!has_planted_bugs()) GTEST_SKIP() << "needs the zoo build";
  plant("fatpoint-tie-dropped,briggs-two-defs-share");
  EXPECT_TRUE(is_planted("fatpoint-tie-dropped"));
  EXPECT_TRUE(is_planted("briggs-two-defs-share"));
  EXPECT_FALSE(is_planted("fatpoint-clobber-missed"));
  plant("fatpoint-clobber-missed");
  EXPECT_FALSE(is_planted("fatpoint-tie-dropped"));
  EXPECT_TRUE(is_planted("fatpoint-clobber-missed"));
  plant("");
  for (const PlantedBug& bug : planted_bugs()) EXPECT_FALSE(is_planted(bug.name)) << bug.name;
}

TEST(Catalogue, EachLossHasItsGap) {
  EXPECT_GE(planted_losses().size(), 5u);
  for (const PlantedBug& loss : planted_losses()) EXPECT_TRUE(fuzz::parse_gap(loss.gap)) << loss.name;
  for (const PlantedBug& bug : planted_bugs()) EXPECT_EQ(bug.gap, "") << bug.name;
}

TEST(Catalogue, IsSortedAndLargeEnough) {
  int fatpoint = 0, classic = 0, briggs = 0;
  for (std::size_t k = 0; k < planted_bugs().size(); ++k) {
    const std::string_view name = planted_bugs()[k].name;
    if (k > 0) {
      EXPECT_LT(planted_bugs()[k - 1].name, name);
    }
    fatpoint += name.starts_with("fatpoint-") ? 1 : 0;
    classic += name.starts_with("classic-") ? 1 : 0;
    briggs += name.starts_with("briggs-") ? 1 : 0;
  }
  EXPECT_GE(fatpoint, 15);
  EXPECT_GE(classic, 5);
  EXPECT_GE(briggs, 10);
  EXPECT_EQ(find_planted_bug("fatpoint-is-perfect"), nullptr);
}

}  // namespace
}  // namespace regduel::trial
