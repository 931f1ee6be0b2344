#include "base/name_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

namespace regduel {
namespace {

TEST(NameTable, FindsWhatWasInsertedAndKeepsTheFirstValue) {
  NameTable table;
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find("a"), -1);
  EXPECT_TRUE(table.insert("a", 3));
  EXPECT_FALSE(table.insert("a", 4));
  EXPECT_EQ(table.find("a"), 3);
  EXPECT_EQ(table.find("b"), -1);
  EXPECT_EQ(table.find(""), -1);
  EXPECT_TRUE(table.insert("", 7));
  EXPECT_EQ(table.find(""), 7);
}

TEST(NameTable, AgreesWithAMapOfStrings) {
  std::map<std::string, int> model;
  std::deque<std::string> names;
  NameTable table;
  for (int k = 0; k < 5000; ++k) {
    const std::string name = std::string(static_cast<std::size_t>(k % 13), '%') + "r" + std::to_string(k * 7 % 3000);
    names.push_back(name);
    EXPECT_EQ(table.insert(names.back(), k), model.emplace(name, k).second);
  }
  EXPECT_EQ(table.size(), model.size());
  for (const auto& [name, value] : model) EXPECT_EQ(table.find(name), value);
  EXPECT_EQ(table.find("%r3000"), -1);
}

}  // namespace
}  // namespace regduel
