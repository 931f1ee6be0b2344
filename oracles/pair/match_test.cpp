// What of the program after belongs to what of the program before, piece by piece.

#include "oracles/pair/match.h"

#include <set>
#include <utility>

#include "oracles/pair/cells.h"
#include "oracles/testing.h"

namespace regduel::oracles {
namespace {

using ir::BlockId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::parse_function;

const std::string kVRegs = R"(
  vreg %0 R b64
  vreg %1 R b32
  vreg %2 R b64 fixed R8:R9
  vreg %3 P pred
  vreg %4 R b32
)";

ir::Function before(const std::string& body) { return parse_function("func @t kernel target sm_90 threads 32\n" + kVRegs + body); }
ir::Function after(const std::string& body) {
  return parse_function(R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 16 shared 0
)" + kVRegs + body);
}

TEST(Unreadable, KeepsTheFirstReason) {
  Unreadable u;
  EXPECT_FALSE(u.is_set());
  ir::Inst i;
  i.id = ir::InstId(7);
  u.because(i, "first");
  u.because("second");
  u.because(i, "third");
  EXPECT_TRUE(u.is_set());
  EXPECT_EQ(u.why(), "#7: first");
}

struct Matched {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> originals;
  std::vector<std::uint32_t> inserted;
  std::string why;
};
Matched match(const ir::Function& b, const ir::Function& a, std::size_t block) {
  Matched m;
  Unreadable u;
  match_block(
      b, a, BlockId(block), u, [&](std::uint32_t k, std::uint32_t at) { m.originals.emplace_back(k, at); },
      [&](std::uint32_t at) { m.inserted.push_back(at); });
  m.why = u.why();
  return m;
}

TEST(MatchBlock, FindsOriginalInstructionsByIdAndInOrder) {
  const ir::Function b = before(R"(
  block b0
    #5 %1 = a
    #1 bra -> b1
  block b1
    #2 use %1
    #3 exit
)");
  const ir::Function a = after(R"(
  block b0
    #5 R0 = a
    +9 R1 = copy R0
    #1 bra -> b2
  block b1
    +10 R2 = copy R0
    #2 use R0
    #3 exit
  block b2 edge b0 -> b1
    +11 bra -> b1
)");
  const Matched first = match(b, a, 0), second = match(b, a, 1), edge = match(b, a, 2);
  EXPECT_THAT(first.originals, ElementsAre(std::pair(0u, 0u), std::pair(1u, 2u)));
  EXPECT_THAT(first.inserted, ElementsAre(1u));
  EXPECT_THAT(second.originals, ElementsAre(std::pair(2u, 4u), std::pair(3u, 5u)));
  EXPECT_THAT(second.inserted, ElementsAre(3u));
  EXPECT_THAT(edge.originals, IsEmpty());
  EXPECT_THAT(edge.inserted, ElementsAre(6u));
  EXPECT_EQ(first.why + second.why + edge.why, "");
}

TEST(MatchBlock, SaysWhatIsOutOfOrderOrMissing) {
  const ir::Function b = before(R"(
  block b0
    #5 %1 = a
    #1 use %1
    #3 exit
)");
  const Matched swapped = match(b, after(R"(
  block b0
    #1 use R0
    #5 R0 = a
    #3 exit
)"),
                                0);
  EXPECT_EQ(swapped.why, "block b0 does not hold its original instructions in order");
  EXPECT_THAT(swapped.originals, IsEmpty());
  const Matched missing = match(b, after(R"(
  block b0
    #5 R0 = a
    #1 use R0
    +9 exit
)"),
                                0);
  EXPECT_EQ(missing.why, "block b0 does not hold all its original instructions");
  EXPECT_EQ(missing.originals.size(), 2u);
  const Matched more = match(b, after(R"(
  block b0
    #5 R0 = a
    #1 use R0
    #3 exit
  block b1 edge b0 -> b0
    #7 exit
)"),
                             1);
  EXPECT_EQ(more.why, "block b1 does not hold its original instructions in order");
}

std::string home(const ir::Function& b, std::size_t k) {
  const HardwareHome h = hardware_home(b, b.operands_of(b.insts[0]), k);
  if (!h.is_fixed) return fmt::format("operand {}", h.operand);
  return fmt::format("{} bytes {} to {}", ir::name(h.bytes.file), h.bytes.begin, h.bytes.end);
}

TEST(HardwareHome, IsTheFixedRegisterElseThatOfTheTiedDefElseItsOwn) {
  const ir::Function own = before(R"(
  block b0
    #0 %0 = a %1, %4
    #1 exit
)");
  EXPECT_EQ(home(own, 0), "operand 0");
  EXPECT_EQ(home(own, 2), "operand 2");
  const ir::Function fixed = before(R"(
  block b0
    #0 %2.hi = a %2, %1
    #1 exit
)");
  EXPECT_EQ(home(fixed, 0), "R bytes 36 to 40");
  EXPECT_EQ(home(fixed, 1), "R bytes 32 to 40");
  EXPECT_EQ(home(fixed, 2), "operand 2");
  const ir::Function tied = before(R"(
  block b0
    #0 %4, %1{tied 3} = a %0, %4
    #1 exit
)");
  EXPECT_EQ(home(tied, 0), "operand 0");
  EXPECT_EQ(home(tied, 1), "operand 1");
  EXPECT_EQ(home(tied, 2), "operand 2");
  EXPECT_EQ(home(tied, 3), "operand 1");
  const ir::Function by_use = before(R"(
  block b0
    #0 %0{tied 1} = a %2
    #1 exit
)");
  EXPECT_EQ(home(by_use, 0), "R bytes 32 to 40");
  EXPECT_EQ(home(by_use, 1), "R bytes 32 to 40");
  const ir::Function by_def = before(R"(
  block b0
    #0 %2{tied 1} = a %0
    #1 exit
)");
  EXPECT_EQ(home(by_def, 1), "R bytes 32 to 40");
}

TEST(FindPath, FollowsEdgeBlocksToWhereTheEdgeLed) {
  const ir::Function b = before(R"(
  block b0
    #0 %3 = p
    #1 cbra %3 -> b1, b2
  block b1
    #2 exit
  block b2
    #3 exit
)");
  const std::string head = R"(
  block b0
    #0 P0 = p
    #1 cbra P0 -> )";
  const std::string ends = R"(
  block b1
    #2 exit
  block b2
    #3 exit
)";
  const ir::Function a = after(head + "b3, b2\n" + ends + R"(
  block b3 edge b0 -> b1
    +8 bra -> b4
  block b4 edge b0 -> b1
    +9 bra -> b1
)");
  EdgePath path;
  find_path(b, a, BlockId(0), 0, path);
  EXPECT_TRUE(path.arrives);
  EXPECT_THAT(path.blocks, ElementsAre(BlockId(3), BlockId(4)));
  find_path(b, a, BlockId(0), 1, path);
  EXPECT_TRUE(path.arrives);
  EXPECT_THAT(path.blocks, IsEmpty());
  find_path(b, after(head + "b2, b1\n" + ends), BlockId(0), 0, path);
  EXPECT_FALSE(path.arrives);
  const ir::Function endless = after(head + "b3, b2\n" + ends + "  block b3 edge b0 -> b1\n    +8 bra -> b3\n");
  find_path(b, endless, BlockId(0), 0, path);
  EXPECT_FALSE(path.arrives);
  EXPECT_THAT(path.blocks, ElementsAre(BlockId(3), BlockId(3)));
  const ir::Function ended = after(head + "b3, b2\n" + ends + "  block b3 edge b0 -> b1\n    +8 exit\n");
  find_path(b, ended, BlockId(0), 0, path);
  EXPECT_FALSE(path.arrives);
  EXPECT_THAT(path.blocks, ElementsAre(BlockId(3)));
}

TEST(PhiPredecessor, IsFoundInAnyOrder) {
  const std::vector<BlockId> one = {BlockId(4), BlockId(2), BlockId(7)}, other = {BlockId(7), BlockId(4)};
  PhiPredecessor predecessor;
  EXPECT_EQ(predecessor.find(one, BlockId(7)), 2u);
  EXPECT_EQ(predecessor.find(one, BlockId(7)), 2u);
  EXPECT_EQ(predecessor.find(other, BlockId(7)), 0u);
  EXPECT_EQ(predecessor.find(other, BlockId(2)), 2u);  // none of them
  EXPECT_EQ(predecessor.find(one, BlockId(2)), 1u);
}

TEST(PackForm, NamesThePackAndTheBitOfEachPredicate) {
  const ir::Function a = after(R"(
  block b0
    +1 R5{inout} = p2r P3, P1
    +2 P2, P6 = r2p R5
    +3 R5{inout} = bit_spill P4, 9
    +4 P4 = bit_refill R5, 17
    #9 exit
)");
  const auto form = [&](std::size_t k) {
    const PackForm f = pack_form(a, a.insts[k]);
    std::string text = f.is_into_pack ? "into " : "from ";
    text += f.pack == nullptr ? "nothing" : ir::to_string(f.pack->preg());
    for (const PackedPredicate& p : f.predicates) text += fmt::format(" {}:{}", ir::to_string(p.predicate->preg()), p.bit);
    return text;
  };
  EXPECT_EQ(form(0), "into R5 P3:3 P1:1");
  EXPECT_EQ(form(1), "from R5 P2:2 P6:6");
  EXPECT_EQ(form(2), "into R5 P4:9");
  EXPECT_EQ(form(3), "from R5 P4:17");
}

// Four bytes a cell; fewer in the last cell of a narrow vreg; one for a predicate, virtual or physical.
TEST(Cells, HaveTheBytesThatTheirRegistersHave) {
  const ir::Function f = parse_function(R"(
func @t kernel target sm_90 threads 32
  vreg %0 R u16
  vreg %1 P pred
  vreg %2 R u64
  block b0
    #0 exit
)");
  ASSERT_FALSE(f.insts.empty());
  const Cells cells(f);
  const auto bytes_of = [&](std::uint32_t vreg) {
    return cells.bytes(cells.of_operand(ir::Operand::of_vreg(ir::Role::Use, ir::VRegId(vreg))).cell);
  };
  EXPECT_EQ(bytes_of(0), 2u);
  EXPECT_EQ(bytes_of(1), 1u);
  EXPECT_EQ(bytes_of(2), 4u);
  EXPECT_EQ(cells.bytes(cells.of_unit(ir::RegFile::R, 7)), 4u);
  EXPECT_EQ(cells.bytes(cells.of_unit(ir::RegFile::P, 3)), 1u);
  EXPECT_EQ(cells.bytes(cells.of_unit(ir::RegFile::UP, 3)), 1u);
}

// Words of the frames in order, those that nothing touches left out: in a row, with a gap, far apart, in both spaces.
TEST(Cells, NumberTheWordsOfTheFramesThatAreTouched) {
  const std::vector<std::vector<std::uint32_t>> words_of_cases = {{0, 1, 2, 3}, {7, 2, 3, 2, 7}, {0, 1, 900}, {70, 0, 64, 63, 130}};
  for (const bool is_shared_too : {false, true})
    for (const auto& words : words_of_cases) {
      std::string text = R"(
func @t kernel target sm_90 threads 32 allocated
  frame local 4000 shared 4000
)" + kVRegs + R"(
  slot 0 local size 4000 align 4 offset 0
  slot 1 shared size 4000 align 4 offset 0
  block b0
)";
      int id = 10;
      for (const std::uint32_t w : words) {
        text += fmt::format("    +{} spill R0, slot 0+{}\n", id++, 4 * w);
        if (is_shared_too) text += fmt::format("    +{} R0 = refill slot 1+{}\n", id++, 4 * w);
      }
      const ir::Function f = parse_function(text + "    #0 exit\n");
      ASSERT_FALSE(f.insts.empty()) << text;
      const Cells cells(f);
      const std::set<std::uint32_t> touched(words.begin(), words.end());
      std::uint32_t next = cells.size() - static_cast<std::uint32_t>(touched.size() * (is_shared_too ? 2 : 1));
      for (const std::uint32_t slot : {0u, 1u})
        for (std::uint32_t w = 0; w < 1000; ++w) {
          const bool is_touched = touched.contains(w) && (slot == 0 || is_shared_too);
          const Place place = cells.of_slot(ir::Operand::of_slot(ir::SlotId(slot), 4 * w), 4);
          ASSERT_EQ(place.size, is_touched ? 4u : 0u) << slot << ' ' << w;
          if (is_touched) {
            ASSERT_EQ(place.cell, next++) << slot << ' ' << w;
          }
        }
    }
}

}  // namespace
}  // namespace regduel::oracles
