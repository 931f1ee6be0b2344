// The binary form: round trip, and any bytes are decoded to something well-formed or rejected.

#include "ir/text/binary.h"

#include <gtest/gtest.h>

#include "base/io.h"
#include "base/random.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

std::vector<Function> examples() {
  const auto text = read_file(std::string(REGDUEL_SOURCE_DIR) + "/ir/FORMAT.md");
  std::vector<Function> functions;
  std::size_t at = 0;
  while (text && (at = text->find("```\nrir 1", at)) != std::string::npos) {
    const std::size_t end = text->find("```", at + 4);
    auto m = parse(std::string_view(*text).substr(at + 4, end - at - 4));
    if (m)
      for (Function& f : m->functions) functions.push_back(std::move(f));
    at = end + 3;
  }
  return functions;
}

TEST(Binary, RoundTripsTheExamples) {
  const auto functions = examples();
  ASSERT_GE(functions.size(), 2u);
  for (const Function& f : functions) {
    const auto bytes = encode(f);
    const auto back = decode(bytes);
    ASSERT_TRUE(back.has_value()) << back.error();
    EXPECT_EQ(print(*back), print(f));
    EXPECT_EQ(encode(*back), bytes);
    EXPECT_LT(bytes.size(), print(f).size());
  }
}

TEST(Binary, OnlyProgramsWithSourceLinesAreOfVersion2) {
  const auto functions = examples();
  ASSERT_FALSE(functions.at(0).source_lines.empty());
  EXPECT_EQ(encode(functions.at(0))[4], 2);
  Function f = functions.at(0);
  f.drop_source_lines();
  auto bytes = encode(f);
  EXPECT_EQ(bytes[4], 1);
  EXPECT_EQ(print(decode(bytes).value()), print(f));
  bytes[4] = 2;
  EXPECT_FALSE(decode(bytes).has_value());
}

TEST(Binary, TheAbiIsABitOfTheHeader) {
  Function f = examples().at(0);
  const auto seed = encode(f);
  f.abi = AbiName::Cuda;
  const auto cuda = encode(f);
  EXPECT_EQ(cuda.size(), seed.size());
  EXPECT_EQ(decode(cuda).value().abi, AbiName::Cuda);
  EXPECT_EQ(decode(seed).value().abi, AbiName::Seed);
  EXPECT_EQ(encode(decode(cuda).value()), cuda);
}

TEST(Binary, PredicateHalvesAreABitOfTheHeader) {
  Function f = examples().at(0);
  const auto whole = encode(f);
  EXPECT_FALSE(decode(whole).value().predicate_halves);
  f.predicate_halves = true;
  const auto halves = encode(f);
  EXPECT_EQ(halves.size(), whole.size());
  EXPECT_TRUE(decode(halves).value().predicate_halves);
  EXPECT_EQ(decode(halves).value().abi, f.abi);
}

TEST(Binary, EveryPrefixIsRejected) {
  for (const Function& f : examples()) {
    const auto bytes = encode(f);
    for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode(std::span(bytes).first(n)).has_value()) << n;
  }
}

TEST(Binary, MutatedBytesDecodeWellFormedOrAreRejected) {
  const auto bytes = encode(examples().at(0));
  Random random(11);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    auto mutant = bytes;
    for (int k = random.between(1, 3); k > 0; --k)
      mutant[5 + random.below(static_cast<std::uint32_t>(mutant.size() - 5))] = static_cast<std::uint8_t>(random.below(256));
    const auto f = decode(mutant);
    if (!f) {
      EXPECT_FALSE(f.error().empty());
      continue;
    }
    ++accepted;
    EXPECT_TRUE(check(*f).empty());
    const std::string printed = "rir 1\n" + print(*f);
    const auto again = parse(printed);
    ASSERT_TRUE(again.has_value()) << to_string(again.error()) << '\n' << printed;
    EXPECT_EQ("rir 1\n" + print(again->functions.at(0)), printed);
  }
  EXPECT_GT(accepted, 500);
}

TEST(Binary, CountsAreNotBelieved) {
  std::vector<std::uint8_t> bytes = {'R', 'I', 'R', 'B', 1};
  for (int k = 0; k < 9; ++k) bytes.push_back(0xFF);
  bytes.push_back(0x01);
  EXPECT_FALSE(decode(bytes).has_value());
}

}  // namespace
}  // namespace regduel::ir
