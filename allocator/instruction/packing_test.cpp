// Items and their packing: by hand, and against brute force.

#include "allocator/instruction/packing.h"

#include <functional>

#include "allocator/program/out_of_ssa.h"
#include "allocator/testing.h"

namespace regduel::allocator {
namespace {

struct Packed {
  ir::Function f;
  Items items;
  std::expected<std::vector<PReg>, PackFailure> homes = std::unexpected(PackFailure{});
};
// Packs the first instruction of the function.
Packed pack_first(std::string_view body, int limit, std::string_view kind = "kernel") {
  Packed p;
  const ir::Function program = testing::program(body, kind);
  p.f = out_of_ssa(program);
  build_items(p.f, p.f.insts[0], p.items);
  p.homes = pack(p.f, p.f.insts[0], p.items, Budget::of(program, ir::default_target(), testing::limits(limit)));
  return p;
}

constexpr std::string_view kVregs = R"(
    vreg %0 R b32
    vreg %1 R b64
    vreg %2 R b128
    vreg %3 R b32
    vreg %4 P pred
    vreg %5 R b64
)";
std::string one(std::string_view inst) { return std::string(kVregs) + "block b0\n#0 " + std::string(inst) + "\n#1 exit\n"; }

TEST(Items, ReadsOfOneRootShare) {
  const auto p = pack_first(one("%3 = op %0, %0, %0"), 1);
  EXPECT_EQ(p.items.items.size(), 2u);
  EXPECT_TRUE(p.homes.has_value());
}

TEST(Items, FixedReadsOfOneRootDoNot) {
  const auto p = pack_first(one("%3 = op %0{=R0}, %0{=R1}, %0"), 2);
  EXPECT_EQ(p.items.items.size(), 3u);
  EXPECT_TRUE(p.homes.has_value());
  EXPECT_FALSE(pack_first(one("%3 = op %0{=R0}, %0{=R1}, %0"), 1).homes.has_value());
}

TEST(Items, TieJoinsTwoRoots) {
  const auto p = pack_first(one("%3{tied 1} = op %0, %0"), 1);
  EXPECT_EQ(p.items.items.size(), 1u);  // operand 2 reads %0 in the same home
  EXPECT_TRUE(p.homes.has_value());
}

TEST(Items, PartsOfOneRootStandTogether) {
  const auto p = pack_first(one("%1.lo, %1.hi = op %0"), 4);
  EXPECT_EQ(p.items.items.size(), 2u);
  EXPECT_TRUE(p.homes.has_value());
  EXPECT_FALSE(pack_first(one("%1.lo, %1.hi = op %0"), 2).homes.has_value());
}

TEST(Packing, EarlyClobberNeedsRoomBesideTheUses) {
  EXPECT_TRUE(pack_first(one("%3 = op %0"), 1).homes.has_value());
  EXPECT_FALSE(pack_first(one("%3{early} = op %0"), 1).homes.has_value());
  EXPECT_FALSE(pack_first(one("@%4 %3 = op %0"), 1).homes.has_value());
}

TEST(Packing, PartsAvoidClobbers) {
  EXPECT_TRUE(pack_first(one("%1 = op clobbers R0:R1"), 2).homes.has_value());
  EXPECT_FALSE(pack_first(one("%1.lo = op clobbers R0"), 2).homes.has_value());
  const auto p = pack_first(one("%1.lo = op clobbers R0"), 4);
  ASSERT_TRUE(p.homes.has_value());
  EXPECT_EQ((*p.homes)[0].first, 2);
}

TEST(Packing, FailureNamesTheFile) {
  const auto p = pack_first(one("%2 = op %0"), 3);
  ASSERT_FALSE(p.homes.has_value());
  EXPECT_EQ(p.homes.error().file, RegFile::R);
}

TEST(Packing, ReturnedOperandsAvoidWhatIsRestoredBefore) {
  std::string body(kVregs);
  body += "block b0\n#0 ret %0{=R24}\n";
  EXPECT_FALSE(pack_first(body, 32, "device").homes.has_value());
  EXPECT_TRUE(pack_first(body, 32).homes.has_value());
}

// Brute force: every item at every place.
bool brute_force(const Items& items, int limit, const UnitSet& clobbered) {
  std::vector<PReg> homes(items.items.size());
  const auto conflict = [&](std::size_t a, std::size_t b) {
    const Item &x = items.items[a], &y = items.items[b];
    if (x.file != y.file || !homes[a].overlaps(homes[b])) return false;
    const bool one_home = !x.early && !y.early && x.reads == y.reads && homes[a] == homes[b];
    return (x.at_writes && y.at_writes) || (x.at_reads && y.at_reads && !one_home);
  };
  const std::function<bool(std::size_t)> place = [&](std::size_t k) {
    if (k == items.items.size()) return true;
    const Item& item = items.items[k];
    const int end = item.file == RegFile::R ? limit : 7;
    for (int first = 0; first + item.units <= end; first += item.align) {
      homes[k] = PReg{item.file, static_cast<std::uint8_t>(item.units), static_cast<std::uint16_t>(first)};
      if (item.fixed.is_valid() && item.fixed != homes[k]) continue;
      if (item.file == RegFile::R && item.keeps && (units_of(homes[k]) & clobbered).any()) continue;
      bool free = true;
      for (std::size_t j = 0; j < k && free; ++j) free = !conflict(j, k);
      if (free && place(k + 1)) return true;
    }
    return false;
  };
  return place(0);
}

TEST(Packing, AgreesWithBruteForce) {
  Random random(7);
  int possible = 0, impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string defs, uses, tail;
    const int num_defs = random.between(0, 2), num_uses = random.between(0, 3);
    const bool guarded = random.chance(20);
    const int order[] = {0, 1, 2, 3, 5};
    const int shift = random.between(0, 4);
    bool tied = false;
    for (int d = 0; d < num_defs; ++d) {
      const int v = order[(shift + d) % 5];
      defs += (d != 0 ? ", %" : "%") + std::to_string(v);
      if ((v == 1 || v == 5) && random.chance(30)) defs += ".lo";
      else if (random.chance(20)) defs += "{early}";
      else if (random.chance(20)) defs += "{inout}";
      else if (!guarded && !tied && (v == 0 || v == 3) && num_uses > 0 && random.chance(30)) {
        defs += "{tied " + std::to_string(num_defs) + "}";
        tied = true;
      }
    }
    for (int u = 0; u < num_uses; ++u) {
      const int v = u == 0 && tied ? (random.chance(50) ? 0 : 3) : order[random.between(0, 4)];
      uses += (u != 0 ? ", %" : " %") + std::to_string(v);
      if (v == 0 && random.chance(25)) uses += "{=R" + std::to_string(random.between(0, 3)) + "}";
    }
    if (random.chance(30)) tail = " clobbers R" + std::to_string(random.between(0, 4));
    const std::string line = (guarded ? "@%4 " : "") + defs + (num_defs != 0 ? " = op" : "op") + uses + tail;
    const auto module = ir::parse("rir 1\nfunc @t kernel target sm_90 threads 32\n" + one(line));
    if (!module) continue;  // contradicts itself
    const int limit = random.between(1, 10);
    const auto p = pack_first(one(line), limit);
    UnitSet clobbered;
    for (const ir::Operand& op : p.f.operands_of(p.f.insts[0]))
      if (op.role == ir::Role::Clobber) clobbered |= units_of(op.preg());
    const bool expected = brute_force(p.items, limit, clobbered);
    ASSERT_EQ(p.homes.has_value(), expected) << line << " at " << limit;
    (expected ? possible : impossible) += 1;
  }
  EXPECT_GT(possible, 300);
  EXPECT_GT(impossible, 300);
}

TEST(Packing, ManyOperandsThatJustFit) {
  std::string body, uses;
  for (int k = 0; k < 60; ++k) {
    body += "vreg %" + std::to_string(k) + (k % 3 == 0 ? " R b64 align 1\n" : k % 3 == 1 ? " R b96 align 1\n" : " R b32\n");
    uses += (k != 0 ? ", %" : " %") + std::to_string(k);
  }
  body += "block b0\n#0 op" + uses + "\n#1 exit\n";
  EXPECT_TRUE(pack_first(body, 120).homes.has_value());
  EXPECT_FALSE(pack_first(body, 119).homes.has_value());
}

}  // namespace
}  // namespace regduel::allocator
