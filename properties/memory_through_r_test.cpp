// Predicates and uniform registers on their way to memory through R, at limits at which they have to go there.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "duel/allocators.h"
#include "generate/generator.h"
#include "ir/text/text.h"
#include "oracles/judges.h"

namespace regduel::properties {
namespace {

// The default target, under whose ABIs only registers of R are stored.
ir::Target target_through_r() {
  ir::Target t = ir::default_target();
  for (const ir::AbiName abi : ir::kAllAbis) t.abi(abi).memory_through_r = true;
  return t;
}

std::vector<const ir::Allocator*> allocators() {
  std::vector<const ir::Allocator*> list;
  for (const char* name : {"fatpoint", "classic", "briggs", "cicc", "chaitin-briggs", "irc", "pbqp", "linear-scan", "chordal"})
    list.push_back(duel::find_allocator(name));
  return list;
}

void expect_right(const ir::Function& f, const ir::Function& after, const ir::Target& target, const ir::Limits& limits,
                  const std::string& what) {
  for (const oracles::Judge* judge : oracles::judges()) {
    const oracles::JudgeResult r = judge->judge({f, after, target, limits});
    ASSERT_NE(r.verdict, oracles::Verdict::Fail) << what << ' ' << judge->name() << ' ' << r.findings[0].message << '\n'
                                                 << ir::print(f) << ir::print(after);
  }
}

std::int64_t stores_of_others(const ir::Function& f) {
  return std::ranges::count_if(f.insts, [](const ir::Inst& i) { return i.op == ir::Op::BitSpill; });
}

// Three predicates at a time in two registers, and four uniform registers in three: each allocator stores some.
TEST(MemoryThroughR, AllAllocatorsKnowTheWay) {
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32\n";
  for (int k = 0; k < 3; ++k) text += fmt::format("  vreg %{} P pred\n", k);
  for (int k = 3; k < 7; ++k) text += fmt::format("  vreg %{} UR b32\n", k);
  text += "  block b0\n";
  for (int k = 0; k < 7; ++k) text += fmt::format("    #{} %{} = ld {} !read\n", k, k, k);
  for (int k = 0; k < 7; ++k) text += fmt::format("    #{} st %{} !write\n", 7 + k, k);
  const auto module = ir::parse(text + "    #14 exit\n");
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  const ir::Target target = target_through_r();
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, 1);
  options.limits.units[ir::index(ir::RegFile::P)] = 2;
  options.limits.units[ir::index(ir::RegFile::UR)] = 3;
  for (const ir::Allocator* a : allocators()) {
    const auto allocation = a->allocate(module->functions[0], target, options);
    ASSERT_TRUE(allocation.has_value()) << a->name() << ' ' << allocation.error().message;
    expect_right(module->functions[0], allocation->program, target, options.limits, std::string(a->name()));
    EXPECT_GT(stores_of_others(allocation->program), 0) << a->name();
  }
}

// The only register of R is architectural: what cannot go through R goes to memory by itself.
TEST(MemoryThroughR, NoRegisterOfRIsThere) {
  std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32\n  vreg %0 R b32 fixed R0 architectural\n";
  for (int k = 1; k < 4; ++k) text += fmt::format("  vreg %{} P pred\n", k);
  text += "  block b0\n";
  for (int k = 1; k < 4; ++k) text += fmt::format("    #{} %{} = ld %0, {} !read\n", k, k, k);
  for (int k = 1; k < 4; ++k) text += fmt::format("    #{} st %0, %{} !write\n", 3 + k, k);
  const auto module = ir::parse(text + "    #7 exit\n");
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  const ir::Target target = target_through_r();
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, 1);
  options.limits.units[ir::index(ir::RegFile::P)] = 2;
  for (const ir::Allocator* a : allocators()) {
    const auto allocation = a->allocate(module->functions[0], target, options);
    ASSERT_TRUE(allocation.has_value()) << a->name() << ' ' << allocation.error().message;
    expect_right(module->functions[0], allocation->program, target, options.limits, std::string(a->name()));
    EXPECT_EQ(stores_of_others(allocation->program), 0) << a->name();
  }
}

TEST(MemoryThroughR, RandomProgramsInFewRegisters) {
  const ir::Target target = target_through_r();
  std::int64_t stores = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    generate::GeneratorOptions generator;
    generator.seed = seed;
    generator.size = 60;
    const ir::Function f = generate::generate(generator, target);
    ir::AllocOptions options;
    options.limits = ir::Limits::of(target, 24);
    for (const ir::RegFile file : {ir::RegFile::P, ir::RegFile::UR, ir::RegFile::UP})
      options.limits.units[ir::index(file)] = ir::is_predicate(file) ? 3 : 8;
    for (const ir::Allocator* a : allocators()) {
      const auto allocation = a->allocate(f, target, options);
      if (!allocation) continue;
      expect_right(f, allocation->program, target, options.limits, fmt::format("{} {}", seed, a->name()));
      stores += stores_of_others(allocation->program);
    }
  }
  EXPECT_GT(stores, 100);
}

}  // namespace
}  // namespace regduel::properties
