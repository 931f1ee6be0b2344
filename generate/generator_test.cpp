// The generator's contract: total, well-formed, defined, deterministic, sized, and each profile has what it is named after.
#include "generate/generator.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "generate/program_facts.h"
#include "generate/shape.h"
#include "ir/cfg.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::generate {
namespace {

using ir::BlockId;
using ir::Operand;
using ir::Role;

// The forms that occur in a program, each under a name.
using Census = std::map<std::string, int>;

void count_shape(const ir::Function& f, Census& census) {
  const ir::Cfg cfg(f);
  if (f.blocks.size() == 1) ++census["one block"];
  for (std::size_t i = 0; i < f.blocks.size(); ++i) {
    const BlockId b(i);
    if (!cfg.is_reachable(b)) ++census["unreachable block"];
    if (f.successors(b).size() != cfg.successors(b).size()) ++census["multi-edge"];
    for (const BlockId s : cfg.successors(b)) {
      if (s == b) ++census["self loop"];
      if (s.value == 0) ++census["entry with predecessors"];
      if (cfg.is_critical(b, s)) ++census["critical edge"];
      if (cfg.is_reachable(b) && cfg.rpo_index(s) <= cfg.rpo_index(b)) ++census["back edge"];
      if (cfg.successors(b).size() == 1 && s == b) ++census["endless loop"];
    }
    ++census["terminator " + std::string(ir::name(f.terminator(b).op))];
  }
  // A retreating edge whose target does not dominate its source: irreducible. Dominance by removal of the target.
  for (const BlockId b : cfg.reverse_postorder())
    for (const BlockId s : cfg.successors(b)) {
      if (f.blocks.size() > 40 || cfg.rpo_index(s) > cfg.rpo_index(b)) continue;
      std::set<BlockId> seen = {s};
      std::vector<BlockId> work;
      if (s.value != 0) work.push_back(BlockId(0));
      bool reaches = false;
      while (!work.empty()) {
        const BlockId at = work.back();
        work.pop_back();
        if (!seen.insert(at).second) continue;
        reaches = reaches || at == b;
        for (const BlockId next : cfg.successors(at)) work.push_back(next);
      }
      if (reaches) ++census["irreducible"];
    }
}

void count_operands(const ir::Function& f, const ir::Inst& i, Census& census) {
  const auto ops = f.operands_of(i);
  int defs = 0, uses = 0;
  std::map<std::uint32_t, int> fixed_uses;
  for (const Operand& o : ops) {
    defs += o.writes() ? 1 : 0;
    uses += o.role == Role::Use ? 1 : 0;
    if (o.role == Role::Guard) ++census[i.op == ir::Op::Call ? "guarded call" : "guard"];
    if (o.role == Role::Guard && o.is_negated()) ++census["negated guard"];
    if (o.role == Role::Use && o.is_negated()) ++census["negated use"];
    if (o.role == Role::Clobber) ++census[i.op == ir::Op::Call ? "call clobber" : "other clobber"];
    if (o.role == Role::Clobber && i.is_copy()) ++census["clobber of a copy"];
    if (o.role == Role::Clobber && i.is_terminator()) ++census["clobber of a terminator"];
    if (o.role == Role::DefUse) ++census["def-use"];
    if (o.kind == ir::OperandKind::Imm) ++census["immediate"];
    if (o.kind == ir::OperandKind::Symbol) ++census["symbol"];
    if (o.is_early_clobber()) ++census["early-clobber"];
    if (o.is_tied()) ++census["tied"];
    if (!o.is_vreg()) continue;
    const ir::VReg& v = f.vreg(o.vreg());
    ++census["width " + std::to_string(v.width)];
    ++census["class " + std::string(ir::name(v.cls)) + (o.writes() ? " written" : " read")];
    if (!o.part.is_whole()) ++census[o.writes() ? "def of a part" : "use of a part"];
    if (!o.part.is_whole()) ++census["part of " + std::to_string(o.part.size_bytes()) + " bytes"];
    if (v.alias.is_valid()) ++census[o.writes() ? "def of an alias" : "use of an alias"];
    if (o.fixed().is_valid()) ++census[o.writes() ? "fixed def" : "fixed use"];
    if (v.fixed.is_valid()) ++census[v.is_architectural() ? "architectural" : "precoloured"];
    if (o.fixed().is_valid() && o.role == Role::Use && ++fixed_uses[o.vreg().value] == 2) ++census["one vreg fixed twice"];
    if (v.align_log2 != ir::natural_align_log2(v.width)) ++census["odd alignment"];
    if (v.units() > 1 && v.align_log2 == 0) ++census["unaligned tuple"];
    if (v.hint.is_valid()) ++census["hint"];
  }
  ++census["defs " + std::to_string(std::min(defs, 4))];
  ++census["uses " + std::to_string(std::min(uses, 6))];
  ++census["op " + std::string(i.op == ir::Op::Named ? "named" : ir::name(i.op))];
  if (i.op == ir::Op::Named && ops.empty()) ++census["no operands"];
  if (i.op == ir::Op::Copy && ops[0].is_tied()) ++census["tied copy"];
  if (i.op == ir::Op::Copy && ops[0].fixed().is_valid()) ++census["fixed copy"];
  if (i.op == ir::Op::Copy && ops[0].is_early_clobber()) ++census["early-clobber copy"];
  if (i.op == ir::Op::Copy && defs > 1) ++census["parallel copy"];
  if (i.op == ir::Op::Copy && f.vreg(ops[0].vreg()).file() != f.vreg(ops[static_cast<std::size_t>(defs)].vreg()).file())
    ++census["copy between files"];
  for (const auto& [flag, text] : {std::pair{ir::kMemRead, "!read"},
                                   {ir::kMemWrite, "!write"},
                                   {ir::kReadOnly, "!readonly"},
                                   {ir::kBarrier, "!barrier"},
                                   {ir::kRematerialisable, "!remat"},
                                   {ir::kCommutative, "!commutative"},
                                   {ir::kConvergent, "!convergent"}})
    if (i.has(flag)) ++census[text];
}

// Guards in one block, predicates that guard in several blocks of which one has several predecessors, pieces that are packed again.
void count_runs(const ir::Function& f, Census& census) {
  const ir::Cfg cfg(f);
  std::map<std::uint32_t, std::set<std::size_t>> blocks_of_guard;
  std::set<std::uint32_t> unpacked;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    int guards = 0;
    for (const ir::Inst& i : f.insts_of(ir::BlockId(b))) {
      const auto ops = f.operands_of(i);
      if (const Operand* guard = ir::guard_of(ops)) {
        ++guards;
        blocks_of_guard[guard->vreg().value].insert(b);
      }
      for (const Operand& o : ops) {
        if (i.op == ir::Op::Unpack && o.writes()) unpacked.insert(o.vreg().value);
        if (i.op == ir::Op::Pack && o.is_vreg() && o.reads() && unpacked.contains(o.vreg().value))
          ++census["pack of what was unpacked"];
      }
    }
    if (guards >= 40) ++census["40 guards in one block"];
  }
  for (const auto& [guard, blocks] : blocks_of_guard)
    if (blocks.size() > 1 && std::any_of(std::next(blocks.begin()), blocks.end(),
                                         [&](std::size_t b) { return cfg.predecessors(ir::BlockId(b)).size() > 1; }))
      ++census["guard behind a join"];
}

Census census_of(const ir::Function& f) {
  Census census;
  count_shape(f, census);
  count_runs(f, census);
  for (const ir::Inst& i : f.insts) count_operands(f, i, census);
  ++census[f.kind == ir::FunctionKind::Device ? "device function" : "kernel"];
  if (f.kind == ir::FunctionKind::Device && f.mnemonic(f.insts[0]) == "abi.entry") ++census["abi entry"];
  return census;
}

std::string text_of(const ir::Function& f, ir::InstId id) {
  for (const ir::Inst& i : f.insts)
    if (i.id == id) return ir::print(f, i);
  return {};
}

class GeneratorProfile : public testing::TestWithParam<Profile> {};

TEST_P(GeneratorProfile, IsWellFormedAndDefined) {
  const Profile p = GetParam();
  int undefined = 0;
  constexpr int kSeeds = 150;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto all = ir::targets();
    const ir::Target& target = all[static_cast<std::size_t>(seed) % all.size()];
    const ir::Function f = generate({.profile = p, .seed = static_cast<std::uint64_t>(seed), .size = 0, .target = target.name});
    const auto faults = ir::check(f, target);
    ASSERT_TRUE(faults.empty()) << name(p) << " seed " << seed << ": " << ir::to_string(f, faults[0]) << "\n"
                                << text_of(f, faults[0].inst);
    if (f.insts.size() > 1500) continue;
    const auto reads = undefined_reads(f);
    undefined += reads.empty() ? 0 : 1;
    ASSERT_TRUE(reads.empty() || p == Profile::Undefined) << name(p) << " seed " << seed << ": " << reads[0];
  }
  if (p == Profile::Undefined) {
    EXPECT_GE(undefined, kSeeds / 2);
  }
}

TEST_P(GeneratorProfile, IsTotalForEverySize) {
  for (const int size : {1, 2, 3, 5, 8, 13, 30, 5000}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const ir::Function f = generate({.profile = GetParam(), .seed = seed, .size = size});
      ASSERT_TRUE(ir::check(f, ir::default_target()).empty()) << size << " " << seed;
      if (size >= 1000) {
        EXPECT_GE(f.insts.size(), static_cast<std::size_t>(size) / 2) << seed;
        EXPECT_LE(f.insts.size(), static_cast<std::size_t>(size) * 2) << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GeneratorProfile, testing::ValuesIn(profiles().begin(), profiles().end()),
                         [](const auto& param) { return std::string(name(param.param)); });

// Each promise of a profile occurs in at least so many of 100 programs.
struct Promise {
  Profile profile;
  const char* what;
  int at_least;
};
class GeneratorPromise : public testing::TestWithParam<Promise> {};

TEST_P(GeneratorPromise, Holds) {
  const Promise& promise = GetParam();
  int programs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string target = seed % 2 == 0 ? "sm_90" : "sm_100";
    const Census census = census_of(generate({.profile = promise.profile, .seed = seed, .size = 0, .target = target}));
    programs += census.contains(promise.what) ? 1 : 0;
  }
  EXPECT_GE(programs, promise.at_least) << name(promise.profile) << ": " << promise.what;
}

constexpr Promise kPromises[] = {
    {Profile::Straight, "one block", 100},
    {Profile::Loops, "back edge", 80},
    {Profile::Loops, "critical edge", 50},
    {Profile::Irreducible, "irreducible", 25},
    {Profile::Irreducible, "multi-edge", 50},
    {Profile::Irreducible, "unreachable block", 30},
    {Profile::Irreducible, "endless loop", 5},
    {Profile::Irreducible, "self loop", 20},
    {Profile::Irreducible, "entry with predecessors", 15},
    {Profile::Irreducible, "terminator mbra", 50},
    {Profile::Tuples, "op pack", 80},
    {Profile::Tuples, "op unpack", 80},
    {Profile::Tuples, "width 96", 80},
    {Profile::Tuples, "width 256", 60},
    {Profile::Tuples, "unaligned tuple", 60},
    {Profile::Predicates, "negated use", 90},
    {Profile::Predicates, "class UP written", 80},
    {Profile::Uniform, "class UR written", 95},
    {Profile::Uniform, "class URext written", 70},
    {Profile::Uniform, "class UP written", 80},
    {Profile::Uniform, "class UB written", 50},
    {Profile::Uniform, "copy between files", 80},
    {Profile::Tensor, "def-use", 90},
    {Profile::Tensor, "class ACC written", 40},
    {Profile::Calls, "op call", 90},
    {Profile::Calls, "call clobber", 90},
    {Profile::Calls, "fixed def", 80},
    {Profile::Calls, "device function", 40},
    {Profile::Calls, "abi entry", 40},
    {Profile::Calls, "terminator ret", 40},
    {Profile::Copies, "op copy", 98},
    {Profile::Copies, "parallel copy", 90},
    {Profile::Copies, "hint", 90},
    {Profile::Phis, "op phi", 90},
    {Profile::Guarded, "guard", 98},
    {Profile::Guarded, "negated guard", 90},
    {Profile::Converted, "40 guards in one block", 60},
    {Profile::Converted, "guard behind a join", 40},
    {Profile::Tuples, "pack of what was unpacked", 60},
    {Profile::Constraints, "architectural", 15},
    {Profile::Constraints, "clobber of a copy", 50},
    {Profile::Constraints, "clobber of a terminator", 30},
    {Profile::MixedSize, "width 8", 95},
    {Profile::MixedSize, "width 16", 95},
    {Profile::MixedSize, "use of an alias", 90},
    {Profile::MixedSize, "def of an alias", 60},
    {Profile::Subregs, "def of a part", 95},
    {Profile::Subregs, "use of a part", 95},
    {Profile::Constraints, "tied", 90},
    {Profile::Constraints, "early-clobber", 90},
    {Profile::Constraints, "def-use", 90},
    {Profile::Constraints, "fixed use", 90},
    {Profile::Constraints, "fixed def", 80},
    {Profile::Constraints, "one vreg fixed twice", 50},
    {Profile::Constraints, "precoloured", 80},
    {Profile::Constraints, "other clobber", 70},
    {Profile::Constraints, "tied copy", 30},
    {Profile::Constraints, "fixed copy", 30},
    {Profile::Constraints, "early-clobber copy", 30},
};
INSTANTIATE_TEST_SUITE_P(All, GeneratorPromise, testing::ValuesIn(kPromises), [](const auto& param) {
  std::string text = std::string(name(param.param.profile)) + "_" + param.param.what;
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return text;
});

TEST(Generator, EverythingOccursInTheMix) {
  Census all;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const std::string target = seed % 3 == 0 ? "sm_100" : "sm_86";
    const Profile p = profiles()[seed % kNumProfiles];
    for (const auto& [what, count] : census_of(generate({.profile = p, .seed = seed, .size = 200, .target = target})))
      all[what] += count;
  }
  for (const char* what : {"width 1",
                           "width 8",
                           "width 16",
                           "width 32",
                           "width 64",
                           "width 96",
                           "width 128",
                           "width 256",
                           "part of 1 bytes",
                           "part of 2 bytes",
                           "part of 4 bytes",
                           "part of 8 bytes",
                           "part of 16 bytes",
                           "defs 0",
                           "defs 1",
                           "defs 2",
                           "defs 3",
                           "defs 4",
                           "uses 0",
                           "uses 1",
                           "uses 2",
                           "uses 3",
                           "uses 4",
                           "uses 5",
                           "uses 6",
                           "op named",
                           "op copy",
                           "op phi",
                           "op pack",
                           "op unpack",
                           "op const",
                           "op call",
                           "op ret",
                           "op exit",
                           "op bra",
                           "op cbra",
                           "op mbra",
                           "op bar",
                           "no operands",
                           "parallel copy",
                           "copy between files",
                           "!read",
                           "!write",
                           "!readonly",
                           "!barrier",
                           "!remat",
                           "!commutative",
                           "!convergent",
                           "guarded call",
                           "immediate",
                           "symbol",
                           "odd alignment",
                           "irreducible",
                           "multi-edge",
                           "self loop",
                           "unreachable block",
                           "endless loop",
                           "entry with predecessors",
                           "critical edge",
                           "one block"})
    EXPECT_GT(all[what], 0) << what;
  for (const char* cls : {"R", "Ralt", "UR", "URext", "P", "UP", "ACC", "B", "UB"}) {
    EXPECT_GT(all["class " + std::string(cls) + " written"], 0) << cls;
    EXPECT_GT(all["class " + std::string(cls) + " read"], 0) << cls;
  }
}

TEST(Generator, SizesAndPressureAreAsPromised) {
  constexpr int kPrograms = 900;
  int beyond_24 = 0, fits_24 = 0, large = 0;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < kPrograms; ++i) {
    const Profile p = profiles()[static_cast<std::size_t>(i % kNumProfiles)];
    const ir::Function f = generate({.profile = p, .seed = static_cast<std::uint64_t>(i)});
    sizes.push_back(f.insts.size());
    large += f.insts.size() >= 1000 ? 1 : 0;
    beyond_24 += max_live(f, ir::RegFile::R) > 24 ? 1 : 0;
    fits_24 += demand_bound(f, ir::default_target())[ir::index(ir::RegFile::R)] <= 24 ? 1 : 0;
  }
  std::sort(sizes.begin(), sizes.end());
  RecordProperty("median_size", static_cast<int>(sizes[kPrograms / 2]));
  RecordProperty("beyond_24", beyond_24);
  EXPECT_GE(sizes[kPrograms / 2], 120u);
  EXPECT_GE(large, kPrograms / 10);
  EXPECT_GE(beyond_24, kPrograms * 55 / 100);
  EXPECT_GE(fits_24, kPrograms * 95 / 100);
}

// What a first allocator of one's own can do: whole 32-bit values and predicates, and no constraint on any of them.
TEST(Generator, PlainHasNothingElse) {
  std::size_t spilling = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ir::Function f = generate({.profile = Profile::Plain, .seed = seed});
    ASSERT_TRUE(ir::check(f, ir::default_target()).empty());
    EXPECT_EQ(f.kind, ir::FunctionKind::Kernel);
    for (const ir::VReg& v : f.vregs) {
      EXPECT_TRUE((v.cls == ir::RegClass::R && v.width == 32) || (v.cls == ir::RegClass::P && v.width == 1)) << ir::print(f);
      EXPECT_FALSE(v.fixed.is_valid() || v.alias.is_valid() || v.is_architectural());
    }
    for (const ir::Inst& i : f.insts) {
      EXPECT_FALSE(i.is_phi() || f.operands_of(i).size() > 8) << ir::print(f, i);
      EXPECT_LE(ir::defs_of(f.operands_of(i)).size(), 2u);
      for (const ir::Operand& op : f.operands_of(i))
        EXPECT_FALSE(op.is_tied() || op.is_early_clobber() || op.role == ir::Role::DefUse || op.role == ir::Role::Clobber ||
                     (op.is_vreg() && (op.fixed().is_valid() || !op.part.is_whole())))
            << ir::print(f, i);
    }
    spilling += f.vregs.size() > 30 ? 1 : 0;
  }
  EXPECT_GT(spilling, 30u);
}

TEST(Generator, SameSeedSameProgramOtherSeedOther) {
  for (const Profile p : profiles()) {
    const std::string a = ir::print(generate({.profile = p, .seed = 3})), b = ir::print(generate({.profile = p, .seed = 3}));
    EXPECT_EQ(a, b);
    EXPECT_NE(a, ir::print(generate({.profile = p, .seed = 4})));
  }
}

// The same programs from every compiler: a fingerprint of the texts. It changes with each change of the generator.
TEST(Generator, Fingerprint) {
  std::uint64_t hash = 0;
  for (const Profile p : profiles())
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      for (const char c : ir::print(generate({.profile = p, .seed = seed})))
        hash = hash_combine(hash, static_cast<unsigned char>(c));
  EXPECT_EQ(hash, 7077023775860005299u);
}

TEST(Generator, WorksForATargetFromAFile) {
  const auto target = ir::parse_target(R"({"name": "tiny", "units": {"R": 32, "P": 4}, "reserved": ["R31"],
      "abi": {"arguments": ["R4:R7"], "results": ["R4:R5"], "callee_saved": [], "clobbered": ["R0:R15"]}})");
  ASSERT_TRUE(target.has_value());
  for (const Profile p : profiles())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const ir::Function f = generate({.profile = p, .seed = seed, .size = 150}, *target);
      const auto faults = ir::check(f, *target);
      ASSERT_TRUE(faults.empty()) << name(p) << " " << seed << ": " << ir::to_string(f, faults[0]);
    }
}

TEST(Generator, TimeGrowsWithSizeOnly) {
  const auto start = std::chrono::steady_clock::now();
  for (const Profile p : {Profile::Straight, Profile::Loops, Profile::Irreducible, Profile::Phis})
    EXPECT_GE(generate({.profile = p, .seed = 1, .size = 100000}).insts.size(), 40000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Shape, DominatorsAreOnEveryPath) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Shape shape = make_shape(random, {.blocks = 12, .extra_edges = 20, .unreachable = 30, .entry_preds = 20});
    const auto dominators = shape.dominators();
    const auto reaches = [&](int without) {
      std::set<int> seen;
      std::vector<int> work;
      if (without != 0) work.push_back(0);
      while (!work.empty()) {
        const int b = work.back();
        work.pop_back();
        if (!seen.insert(b).second) continue;
        for (const int t : shape.blocks[static_cast<std::size_t>(b)].targets)
          if (t != without) work.push_back(t);
      }
      return seen;
    };
    for (std::size_t b = 1; b < shape.blocks.size(); ++b) EXPECT_FALSE(reaches(dominators[b]).contains(static_cast<int>(b)));
  }
}

}  // namespace
}  // namespace regduel::generate
