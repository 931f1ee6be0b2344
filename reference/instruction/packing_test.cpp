#include "reference/instruction/packing.h"

#include <algorithm>

#include "base/random.h"
#include "reference/testing.h"

namespace regduel::reference {
namespace {

using testing::parse_body;

ir::PerFile<UnitSet> first_units(int registers) {
  ir::PerFile<UnitSet> sets;
  sets[ir::index(ir::RegFile::R)] = UnitSet::range(0, registers);
  sets[ir::index(ir::RegFile::P)] = UnitSet::range(0, 7);
  return sets;
}

// The least number of registers into which instruction `id` of the program can be packed.
int demand(std::string_view text, std::uint32_t id) {
  const ir::Function f = parse_body(text);
  for (const ir::Inst& i : f.insts)
    if (i.id.value == id)
      for (int k = 0; k <= 255; ++k)
        if (!pack(shape_of(f, i), first_units(k), {}).failed) return k;
  return -1;
}

TEST(Packing, DefsMayStandWhereUsesDie) {
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0 = add %1, %2
#1 exit
)",
                   0),
            2);
}
TEST(Packing, AnEarlyClobberDefMayNot) {
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 R b32
block b0
#0 %0{early} = add %1, %2
#1 exit
)",
                   0),
            3);
}
TEST(Packing, NorAMayDefNorADefOfAPart) {
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 @%2 %0 = add %1
#1 exit
)",
                   0),
            2);
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0.h0 = add %1
#1 exit
)",
                   0),
            2);
}
TEST(Packing, ReadsOfOneRootShareAHome) {
  EXPECT_EQ(demand(R"(vreg %0 R b64
block b0
#0 st %0.lo, %0.hi, %0
#1 exit
)",
                   0),
            2);
}
TEST(Packing, AlignmentCosts) {
  EXPECT_EQ(demand(R"(vreg %0 R b64
vreg %1 R b32
vreg %2 R b64
block b0
#0 st %1, %0, %2
#1 exit
)",
                   0),
            5);
  EXPECT_EQ(demand(R"(vreg %0 R b96
vreg %1 R b32
vreg %2 R b96
block b0
#0 st %1, %0, %2
#1 exit
)",
                   0),
            7);
}
TEST(Packing, FixedAndTied) {
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0{tied 1} = op %1{=R9}, %1
#1 exit
)",
                   0),
            10);
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 st %1{=R2}, %1{=R4}, %0
#1 exit
)",
                   0),
            5);
}
// The first of two equal items stands in the upper half, where its old value is read.
TEST(Packing, AnItemMayStandBelowOneThatSharesAFixedRegister) {
  EXPECT_EQ(demand(R"(vreg %0 R b64
vreg %1 R b64
vreg %2 P pred
block b0
#0 @%2 %0, %1 = op %0{=R2:R3}
#1 exit
)",
                   0),
            4);
}
TEST(Packing, ADefOfAPartAvoidsClobbers) {
  EXPECT_EQ(demand(R"(vreg %0 R b32
vreg %1 R b32
block b0
#0 %0.h0, %1 = op clobbers R0:R3
#1 exit
)",
                   0),
            5);
}

// Against a search without any cleverness: every item at every aligned position.
bool fits_naively(const Shape& shape, const UnitSet& allocatable, std::size_t k, std::vector<ir::PReg>& homes) {
  if (k == shape.items.size()) return true;
  const Item& item = shape.items[k];
  for (int u = 0; u + item.units <= 8; ++u) {
    if (item.fixed.is_valid() ? u != item.fixed.first : u % (1 << item.align_log2) != 0) continue;
    const ir::PReg home{item.file, item.units, static_cast<std::uint16_t>(u)};
    bool good = (units_of(home) - allocatable).none();
    good = good && !(item.partial && shape.has_clobbers() && (*shape.clobbers)[0].intersects(units_of(home)));
    for (std::size_t m = 0; good && m < k; ++m) {
      const Item& o = shape.items[m];
      if (!home.overlaps(homes[m])) continue;
      const bool shared = home == homes[m] && item.read_root == o.read_root && !item.early && !o.early;
      good = !(item.at_writes && o.at_writes) && !(item.at_reads && o.at_reads && !shared);
    }
    if (!good) continue;
    homes[k] = home;
    if (fits_naively(shape, allocatable, k + 1, homes)) return true;
  }
  return false;
}

TEST(Packing, TheLongestRunMayBeginAnywhere) {
  const UnitRun run = longest_run(UnitSet::range(0, 9) - UnitSet::range(1, 2));
  EXPECT_EQ(run.first, 2);
  EXPECT_EQ(run.end, 9);
  EXPECT_EQ(longest_run({}).end, 0);
}

TEST(Packing, AgreesWithExhaustiveSearch) {
  Random random(7);
  int fitting = 0, roomy = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text =
        R"(vreg %0 R b32
vreg %1 R b64
vreg %2 R b96
vreg %3 R b64 align 1
vreg %4 R b32
vreg %5 R b128
vreg %6 P pred
)";
    const auto reg = [&](int limit) { return "%" + std::to_string(random.between(0, limit)); };
    std::string defs, uses;
    const int num_defs = random.between(0, 2), num_uses = random.between(1, 3);
    std::vector<int> chosen;
    for (int d = 0; d < num_defs; ++d) {
      const int v = random.between(0, 5);
      if (std::find(chosen.begin(), chosen.end(), v) != chosen.end()) continue;
      chosen.push_back(v);
      static constexpr const char* kForms[] = {"", "{inout}", ".h0"};
      defs += (defs.empty() ? "" : ", ") + ("%" + std::to_string(v)) + kForms[random.below(3)];
    }
    for (int u = 0; u < num_uses; ++u) uses += (u > 0 ? ", " : " ") + reg(5);
    text += "block b0\n#0 " + std::string(random.chance(25) ? "@%6 " : "") + defs + (defs.empty() ? "" : " = ") + "op" + uses +
            (random.chance(25) ? " clobbers R1:R2" : "") + "\n#1 exit\n";
    const ir::Function f = parse_body(text);
    Shape shape = shape_of(f, f.insts[0]);
    // The naive search knows one file.
    const auto is_predicate = [](const Item& i) { return i.file == ir::RegFile::P; };
    shape.items.erase(std::remove_if(shape.items.begin(), shape.items.end(), is_predicate), shape.items.end());
    const int first = random.chance(50) ? 0 : random.between(1, 3), end = random.between(first + 1, 8);
    ir::PerFile<UnitSet> units = first_units(end);
    units[ir::index(ir::RegFile::R)] -= UnitSet::range(0, first);
    std::vector<ir::PReg> homes(shape.items.size());
    const bool naive = fits_naively(shape, UnitSet::range(first, end), 0, homes);
    fitting += naive ? 1 : 0;
    EXPECT_EQ(!pack(shape, units, {}).failed, naive) << text << first << " to " << end;
    if (!is_roomy(shape, {UnitRun{first, end}})) continue;
    ++roomy;
    EXPECT_TRUE(naive) << text << first << " to " << end;
  }
  EXPECT_GT(roomy, 300);
  EXPECT_GT(fitting, 500);
}

}  // namespace
}  // namespace regduel::reference
