// Registers, parts, storage of aliases, the graph of blocks, targets, files.

#include "ir/program.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/random.h"
#include "ir/cfg.h"
#include "ir/target.h"
#include "ir/text/dot.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

Function one(std::string_view text) {
  const auto m = parse(text);
  EXPECT_TRUE(m.has_value()) << (m ? "" : to_string(m.error()));
  return m && !m->functions.empty() ? m->functions[0] : Function();
}

TEST(Registers, PartsAreAlignedPowersOfTwo) {
  EXPECT_EQ(Part::from_bytes(4, 4), Part::of(2, 1));
  EXPECT_EQ(Part::from_bytes(2, 4), std::nullopt);
  EXPECT_EQ(Part::from_bytes(0, 12), std::nullopt);
  EXPECT_EQ(Part::of(3, 1).offset_bytes(), 8);
  EXPECT_EQ(Part::of(3, 1).size_bytes(), 8);
}

TEST(Program, StorageFollowsAliasChains) {
  const Function f = one(
      "rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 R b128\n  vreg %1 R b64 alias %0.hi\n  vreg %2 R b32 alias %1.hi\n"
      "  vreg %3 R b16 alias %2.h0\n  block b0\n    #0 %0 = op\n    #1 op %3, %1.lo, %2.b3\n    #2 exit\n");
  const auto ops = f.operands_of(f.insts[1]);
  const auto expect = [&](int k, int offset, int size) {
    const Storage s = f.storage(ops[static_cast<std::size_t>(k)]);
    EXPECT_EQ(s.root, VRegId(0));
    EXPECT_EQ(s.offset, offset);
    EXPECT_EQ(s.size, size);
  };
  expect(0, 12, 2);
  expect(1, 8, 4);
  expect(2, 15, 1);
  const Operand placed = f.placed_at(ops[2], PReg{RegFile::R, 4, 8});
  EXPECT_EQ(print(f, placed), "R8:R11.b15");
  EXPECT_EQ(Function::file_bytes(placed).begin, 8u * 4 + 15);
}

TEST(Program, CopiesOfAHeaderShareSymbolsUntilOneAddsToThem) {
  Function a = one("rir 1\nfunc @f kernel target sm_90 threads 1\n  block b0\n    #0 op \"x\"\n    #1 exit\n");
  Function b = a.clone_header();
  const SymbolId y = b.symbols.intern("y");
  EXPECT_EQ(b.symbols[y], "y");
  EXPECT_EQ(a.symbols[y], "");
  EXPECT_EQ(a.symbols.size() + 1, b.symbols.size());
}

TEST(Program, TakesTheSourceLinesOfAnotherByNumber) {
  const auto parsed = [](const std::string& body) {
    return parse("rir 1\nfunc @f kernel target sm_90 threads 1" + body)->functions[0];
  };
  const Function from = parsed("\n  block b0\n    #4 a !line \"x.cu\" 1:2\n    #5 b !line \"x.cu\" 2\n    #6 exit\n");
  Function to = parsed(" allocated\n  block b0\n    #5 b\n    #4 a !line \"y.cu\" 9\n    #6 exit !line \"y.cu\" 9\n");
  to.take_source_lines(from);
  EXPECT_EQ(to.source_place(to.insts[0]), "x.cu:2");
  EXPECT_EQ(to.source_place(to.insts[1]), "x.cu:1:2");
  EXPECT_EQ(to.source_place(to.insts[2]), "");
  EXPECT_EQ(to.source_lines.size(), 2u);
}

TEST(Cfg, OrdersAndCriticalEdges) {
  const Function f =
      one("rir 1\nfunc @f kernel target sm_90 threads 1\n  vreg %0 P pred\n  block b0\n    #0 %0 = op\n    #1 cbra %0 -> b1, b2\n"
          "  block b1\n    #2 cbra %0 -> b1, b2\n  block b2\n    #3 cbra %0 -> b2, b2\n  block b3\n    #4 bra -> b2\n");
  const Cfg cfg(f);
  EXPECT_THAT(cfg.reverse_postorder(), testing::ElementsAre(BlockId(0), BlockId(1), BlockId(2)));
  EXPECT_FALSE(cfg.is_reachable(BlockId(3)));
  EXPECT_THAT(cfg.predecessors(BlockId(2)), testing::ElementsAre(BlockId(0), BlockId(1), BlockId(2), BlockId(3)));
  EXPECT_THAT(cfg.successors(BlockId(2)), testing::ElementsAre(BlockId(2)));
  EXPECT_TRUE(cfg.is_critical(BlockId(0), BlockId(2)));
  EXPECT_FALSE(cfg.is_critical(BlockId(2), BlockId(2)));
  EXPECT_NE(to_dot(f).find("b1 -> b2 [label=\"not taken\"]"), std::string::npos);
}

TEST(Target, ShippedOnes) {
  for (const char* name :
       {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"}) {
    const Target* t = find_target(name);
    ASSERT_NE(t, nullptr) << name;
    EXPECT_EQ(t->units[index(RegFile::R)], 255);
    EXPECT_EQ(t->units[index(RegFile::P)], 7);
    EXPECT_EQ(t->register_banks > 0, true);
  }
  EXPECT_EQ(find_target("sm_90a"), find_target("90"));
  EXPECT_EQ(find_target("sm_33"), nullptr);
  EXPECT_EQ(find_target("x"), nullptr);
  EXPECT_EQ(1 << find_target("sm_75")->tensor_align_log2, 8);
  EXPECT_EQ(1 << find_target("sm_86")->tensor_align_log2, 4);
  EXPECT_EQ(1 << find_target("sm_90")->tensor_align_log2, 8);
  EXPECT_EQ(1 << find_target("sm_120")->tensor_align_log2, 8);
}

TEST(Target, FromJson) {
  const auto t = parse_target(R"({"name": "toy", "units": {"R": 8, "P": 2}, "reserved": ["R1"], "register_banks": 2,
                                  "abi": {"callee_saved": ["R4:R7"]}})");
  ASSERT_TRUE(t.has_value()) << to_string(t.error());
  EXPECT_EQ(t->units[index(RegFile::R)], 8);
  EXPECT_FALSE(t->has(RegFile::UR));
  const Limits limits = Limits::of(*t, 6);
  EXPECT_TRUE(is_allocatable(*t, AbiName::Seed, limits, RegFile::R, 5));
  EXPECT_FALSE(is_allocatable(*t, AbiName::Seed, limits, RegFile::R, 6));
  EXPECT_FALSE(is_allocatable(*t, AbiName::Seed, limits, RegFile::R, 1));
  const auto error = [](std::string_view json) { return to_string(parse_target(json, "t.json").error()); };
  EXPECT_EQ(error("{\n  \"name\": \"toy\",\n  \"bank\": 2}"), "t.json:3:3: error: unknown key \"bank\"");
  EXPECT_EQ(error("{\"name\": \"toy\", \"units\": {\"Q\": 1}}"),
            "t.json:1:27: error: \"units\": no register file \"Q\" (there are R, P, B, UR, UP, UB, ACC)");
  EXPECT_EQ(error("{\"name\": \"toy\", \"units\": {\"R\": 4},\n \"reserved\": [\"R3\", \"R3:R4\"]}"),
            "t.json:2:2: error: \"reserved\": this target has no R3:R4");
  EXPECT_EQ(error("{\"name\": \"toy\",\n x}"), "t.json:2:2: error: not valid JSON");
  EXPECT_EQ(error("{\"name\": \"toy\",\n \"sm\": 1e999}"), "t.json:2:8: error: out of range: 1e999");
  EXPECT_EQ(error("{}"), "t.json:1:1: error: expected \"name\": a string");
  EXPECT_EQ(error("{\"sm\": 90,\n \"name\": 3}"), "t.json:2:2: error: \"name\": expected a string");
}

// Units of P and UP are halves, and names are as in the text of a function.
TEST(Target, PredicateHalves) {
  const auto toy = [](std::string_view rest) {
    return parse_target(fmt::format(R"({{"name": "toy", "units": {{"R": 8, "P": 6}}, {}}})", rest), "t.json");
  };
  const auto t = toy(R"("reserved": ["P0", "P1.hi", "R1"], "abi": {"clobbered": ["P1.lo:P2"]}, "predicate_halves": true)");
  ASSERT_TRUE(t.has_value()) << to_string(t.error());
  EXPECT_TRUE(t->predicate_halves);
  std::vector<int> reserved;
  for (int unit = 0; unit < 6; ++unit)
    if (t->is_reserved(AbiName::Seed, RegFile::P, unit)) reserved.push_back(unit);
  EXPECT_EQ(reserved, (std::vector{0, 1, 3}));
  EXPECT_FALSE(t->is_reserved(AbiName::Seed, RegFile::R, 0));
  EXPECT_EQ(t->abi(AbiName::Cuda).clobbered, (std::vector{PReg{RegFile::P, 4, 2}}));
  EXPECT_EQ(to_string(toy(R"("predicate_halves": true, "reserved": ["P3.lo"])").error()),
            "t.json:1:70: error: \"reserved\": this target has no P3.lo");
  EXPECT_FALSE(toy(R"("reserved": ["P1.lo"])").has_value());
  EXPECT_FALSE(toy(R"("predicate_halves": true, "reserved": ["R1.lo"])").has_value());
  EXPECT_EQ(to_string(toy(R"("predicate_halves": 2)").error()), "t.json:1:44: error: \"predicate_halves\": expected true or false");
}

// Everything that a call may meet: what it destroys, and what a function gives back.
TEST(Target, Abis) {
  const auto holds = [](const std::vector<PReg>& list, RegFile file, int unit) {
    return std::any_of(list.begin(), list.end(), [&](PReg r) { return r.overlaps({file, 1, static_cast<std::uint16_t>(unit)}); });
  };
  for (const Target& t : targets())
    for (const AbiName name : kAllAbis) {
      const Abi& abi = t.abi(name);
      for (const RegFile file : {RegFile::R, RegFile::P, RegFile::UR, RegFile::UP})
        for (int u = 0; u < t.units[index(file)]; ++u) {
          const bool is_return_address = name == AbiName::Cuda && file == RegFile::R && (u == 20 || u == 21);
          EXPECT_EQ(holds(abi.clobbered, file, u) && holds(abi.callee_saved, file, u), is_return_address) << t.name << ' ' << u;
          EXPECT_TRUE(holds(abi.clobbered, file, u) || holds(abi.callee_saved, file, u)) << t.name << ' ' << u;
          if (abi.runtime_functions.empty()) continue;
          EXPECT_TRUE(holds(abi.clobbered, file, u) || !holds(abi.runtime_clobbered, file, u)) << t.name << ' ' << u;
        }
      for (const auto& list : {abi.clobbered, abi.callee_saved, abi.runtime_clobbered})
        for (const PReg r : list) EXPECT_LE(r.end(), t.units[index(r.file)]) << t.name;
    }
  const Abi& cuda = find_target("sm_90")->abi(AbiName::Cuda);
  for (const int kept : {2, 16, 31, 36, 39, 44, 247, 252}) EXPECT_FALSE(holds(cuda.clobbered, RegFile::R, kept)) << kept;
  for (const int lost : {0, 3, 15, 20, 21, 32, 35, 40, 43, 251}) EXPECT_TRUE(holds(cuda.clobbered, RegFile::R, lost)) << lost;
  EXPECT_FALSE(holds(cuda.clobbers_of("vprintf"), RegFile::R, 32));
  EXPECT_TRUE(holds(cuda.clobbers_of("f"), RegFile::R, 32));
  EXPECT_TRUE(find_target("sm_75")->is_reserved(AbiName::Cuda, RegFile::R, 1)) << "the stack pointer";
  EXPECT_FALSE(find_target("sm_75")->is_reserved(AbiName::Seed, RegFile::R, 1));
  EXPECT_FALSE(find_target("sm_75")->is_reserved(AbiName::Cuda, RegFile::P, 1));
  EXPECT_TRUE(holds(find_target("sm_75")->abi(AbiName::Cuda).clobbers_of("vprintf"), RegFile::R, 32));
}

TEST(Target, AbisFromJson) {
  const auto t = parse_target(R"({"name": "toy", "units": {"R": 32}, "abi": {"arguments": ["R4:R7"], "callee_saved": ["R8"]},
      "abis": {"cuda": {"callee_saved": ["R9:R12"], "reserved": ["R3"], "runtime_functions": ["print"], "runtime_clobbered": ["R0"]}}})");
  ASSERT_TRUE(t.has_value()) << to_string(t.error());
  EXPECT_THAT(t->abi(AbiName::Seed).callee_saved, testing::ElementsAre(PReg{RegFile::R, 1, 8}));
  EXPECT_THAT(t->abi(AbiName::Cuda).callee_saved, testing::ElementsAre(PReg{RegFile::R, 4, 9}));
  EXPECT_EQ(t->abi(AbiName::Cuda).arguments, (PReg{RegFile::R, 4, 4}));
  EXPECT_THAT(t->abi(AbiName::Cuda).clobbers_of("print"), testing::ElementsAre(PReg{RegFile::R, 1, 0}));
  EXPECT_THAT(t->abi(AbiName::Cuda).clobbers_of("other"), testing::IsEmpty());
  EXPECT_TRUE(t->is_reserved(AbiName::Cuda, RegFile::R, 3));
  EXPECT_FALSE(t->is_reserved(AbiName::Seed, RegFile::R, 3));
  const auto error = [](std::string_view rest) {
    return to_string(parse_target(fmt::format(R"({{"name": "toy", "units": {{"R": 8}}, {}}})", rest), "t.json").error());
  };
  EXPECT_THAT(error(R"("abis": {"arm": {}})"), testing::HasSubstr("\"abis\": unknown key \"arm\" (there are seed and cuda)"));
  EXPECT_THAT(error(R"("abis": {"cuda": {"callee_saved": ["R8"]}})"), testing::HasSubstr("this target has no R8"));
  EXPECT_THAT(error(R"("abis": {"cuda": {"runtime_functions": [3]}})"), testing::HasSubstr("expected names"));
  EXPECT_THAT(error(R"("abis": {"cuda": 3})"), testing::HasSubstr("\"cuda\": expected an object"));
  EXPECT_THAT(error(R"("abis": 3)"), testing::HasSubstr("\"abis\": expected an object"));
  EXPECT_THAT(error(R"("abi": {"results": ["R0", "R1"]})"), testing::HasSubstr("expected one range"));
  EXPECT_THAT(error(R"("abi": {"saved": ["R0"]})"), testing::HasSubstr("unknown key \"saved\""));
}

TEST(Target, CustomConstraintsFromJson) {
  const auto t = parse_target(R"({"name": "toy", "units": {"R": 8}, "custom_constraints": [
      {"type": 10, "operation": "tex", "registers": "R2:R7", "step": 2, "weight": 3}, {"operation": "st", "registers": "R0"}]})");
  ASSERT_TRUE(t.has_value()) << to_string(t.error());
  ASSERT_EQ(t->custom_constraints.size(), 2u);
  EXPECT_EQ(t->custom_constraints[0].type, 10);
  EXPECT_EQ(t->custom_constraints[0].operation, "tex");
  EXPECT_EQ(t->custom_constraints[0].registers, (PReg{RegFile::R, 6, 2}));
  EXPECT_EQ(t->custom_constraints[0].step, 2);
  EXPECT_EQ(t->custom_constraints[0].weight, 3);
  EXPECT_EQ(t->custom_constraints[1].type, 4);
  EXPECT_EQ(t->custom_constraints[1].step, 1);
  const auto error = [](std::string_view rule) {
    return to_string(
        parse_target(fmt::format(R"({{"name": "toy", "units": {{"R": 8}}, "custom_constraints": [{}]}})", rule), "t.json").error());
  };
  for (const char* rule :
       {R"({"type": 5, "operation": "tex", "registers": "R0"})", R"({"operation": 3, "registers": "R0"})",
        R"({"operation": "tex"})", R"({"operation": "tex", "registers": "R0", "step": 0})",
        R"({"operation": "tex", "registers": "R0", "weight": 16})", R"({"operation": "tex", "registers": "R0", "bank": 1})", "7"})
    EXPECT_THAT(error(rule), testing::HasSubstr("\"custom_constraints\": expected a list of")) << rule;
  EXPECT_THAT(error(R"({"operation": "tex", "registers": "R8"})"), testing::HasSubstr("this target has no R8"));
}

TEST(Random, TheSameEverywhere) {
  Random r(42);
  EXPECT_EQ(r.next(), Random(42).next());
  Random a(1);
  std::uint64_t sum = 0;
  for (int k = 0; k < 1000; ++k) sum += a.below(100);
  EXPECT_EQ(sum, [] {
    Random b(1);
    std::uint64_t s = 0;
    for (int k = 0; k < 1000; ++k) s += b.below(100);
    return s;
  }());
  EXPECT_GT(sum, 45000u);
  EXPECT_LT(sum, 54000u);
}

TEST(Io, WritesWholeFilesOrNothing) {
  const auto dir = std::filesystem::temp_directory_path() / ("regduel_io_" + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  const std::string path = (dir / "f").string();
  ASSERT_TRUE(write_file(path, "one").has_value());
  ASSERT_TRUE(write_file(path, "two").has_value());
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_FALSE(write_file((dir / "none" / "f").string(), "x").has_value());
  EXPECT_FALSE(read_file((dir / "missing").string()).has_value());
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_FALSE(write_file("/dev/full", "x").has_value());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), std::filesystem::directory_iterator()), 1);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace regduel::ir
