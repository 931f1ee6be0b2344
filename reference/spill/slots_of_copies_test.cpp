#include "reference/spill/slots_of_copies.h"

#include "reference/testing.h"

namespace regduel::reference {
namespace {

// Whether the values are in one slot, each having had one of its own.
bool share(std::string_view body, const std::vector<TempId>& spilled) {
  testing::Phases p(body);
  for (const TempId v : spilled) p.plan.locations[v] = Location::in_slot(p.plan.add_slot(p.code.temps[v].bytes));
  share_slots_of_copies(p.graphs, p.plan);
  return std::ranges::all_of(spilled, [&](TempId v) { return p.plan.locations[v] == p.plan.locations[spilled[0]]; });
}

// Behind the vregs comes the value of the phi, number 3.
constexpr std::string_view kLoop =
    R"(vreg %0 R b32
vreg %1 R b32
vreg %2 P pred
block b0
#0 %0 = ld 0
#1 bra -> b1
block b1
#2 %1 = phi b0: %0, b1: %1
#3 %1 = add %1, 1
#4 %2 = setp %1
#5 cbra %2 -> b1, b2
block b2
#6 exit
)";

TEST(SlotsOfCopies, OperandsAndResultOfAPhi) { EXPECT_TRUE(share(kLoop, {0, 1, 3})); }

TEST(SlotsOfCopies, NotWhereTheyInterfere) {
  EXPECT_TRUE(
      share("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld 0\n#1 %1 = copy %0\n#2 st %1 !write\n#3 st %0 !write\n#4 exit\n",
            {0, 1}));
  EXPECT_FALSE(
      share("vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld 0\n#1 %1 = copy %0\n#2 %0 = ld 1\n#3 st %1, %0 !write\n#4 exit\n",
            {0, 1}));
}

TEST(SlotsOfCopies, NotWithoutACopy) {
  EXPECT_FALSE(share(
      "vreg %0 R b32\nvreg %1 R b32\nblock b0\n#0 %0 = ld 0\n#1 st %0 !write\n#2 %1 = ld 1\n#3 st %1 !write\n#4 exit\n", {0, 1}));
}

}  // namespace
}  // namespace regduel::reference
