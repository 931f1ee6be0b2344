#include "llvm/judge/rows.h"

#include <gtest/gtest.h>

#include "results/measure.h"

namespace regduel::llvm {
namespace {

std::optional<std::int64_t> figure(const results::CaseResults::Bout& b, std::string_view name) {
  for (std::size_t k = 0; k < results::measures().size(); ++k)
    if (results::measures()[k].name == name) return b.figures.at(k);
  ADD_FAILURE() << name;
  return std::nullopt;
}

Verdict passed() {
  Verdict v{
      .function = "f", .allocator = "greedy", .pass = "machine-cp", .verdict = oracles::Verdict::Pass, .before_rir = "rir 1\n"};
  v.counts.spill_bytes = 8, v.counts.refill_bytes = 12, v.counts.copies = 3, v.counts.originals = 20;
  v.counts.registers = {{"GR64", 5}, {"VR512", 2}};
  return v;
}

TEST(Rows, AVerdictIsARowWithItsFigures) {
  const results::CaseResults r = row_of(passed(), "a.c", "x86_64", 6);
  ASSERT_EQ(r.bouts.size(), 1);
  EXPECT_EQ(r.bouts[0].configuration, (results::Configuration{"llvm:greedy", "after=machine-cp", "x86_64", "stress=6"}));
  EXPECT_EQ(r.bouts[0].verdict, "pass");
  EXPECT_EQ(r.bouts[0].figures.size(), results::measures().size());
  EXPECT_EQ(figure(r.bouts[0], "spill_store_bytes"), 8);
  EXPECT_EQ(figure(r.bouts[0], "spill_load_bytes"), 12);
  EXPECT_EQ(figure(r.bouts[0], "registers"), 7);
  EXPECT_EQ(figure(r.bouts[0], "bank_conflicts"), std::nullopt);
}

TEST(Rows, OneProgramUnderTwoAllocatorsIsOneProgram) {
  Verdict other = passed();
  other.allocator = "basic";
  EXPECT_EQ(row_of(passed(), "a.c", "x86_64", 0).hash, row_of(other, "a.c", "x86_64", 0).hash);
  other.before_rir = "rir 1\nfunc\n";
  EXPECT_NE(row_of(passed(), "a.c", "x86_64", 0).hash, row_of(other, "a.c", "x86_64", 0).hash);
}

TEST(Rows, WhatWasRefusedHasNoFigures) {
  Verdict v = passed();
  v.refusal = Refusal{"inserted", "MYSTERY"};
  const results::CaseResults r = row_of(v, "a.c", "x86_64", 0);
  EXPECT_EQ(r.bouts[0].verdict, "unsupported");
  EXPECT_EQ(r.bouts[0].reason, "inserted: MYSTERY");
  EXPECT_EQ(figure(r.bouts[0], "spill_store_bytes"), std::nullopt);
}

}  // namespace
}  // namespace regduel::llvm
