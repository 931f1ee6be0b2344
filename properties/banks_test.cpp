// Knob 641 gives its purpose: fewer bank conflicts at hardly more registers, on the standard mix and on the shipped kernels.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/allocators.h"
#include "generate/standard_mix.h"
#include "ir/ptx/ptx.h"
#include "oracles/before.h"
#include "oracles/quality/quality.h"

namespace regduel::properties {
namespace {

struct Sums {
  std::int64_t conflicts = 0, registers = 0;
};

// With the knob off and on.
class BankFigures {
 public:
  void add(const ir::Function& program, const ir::Target& target, const ir::Limits& limits) {
    const oracles::Before before(program, target);
    std::int64_t conflicts[2] = {}, registers[2] = {};
    for (const int is_on : {0, 1}) {
      ir::AllocOptions options;
      options.limits = limits;
      options.knobs = {{"641", std::to_string(is_on)}};
      const auto allocation = duel::find_allocator("fatpoint")->allocate(program, target, options);
      if (!allocation) return;
      const oracles::Measures m = oracles::measure(before, allocation->program);
      conflicts[is_on] = m.bank_conflicts;
      registers[is_on] = m.registers[ir::index(ir::RegFile::R)];
    }
    off.conflicts += conflicts[0], on.conflicts += conflicts[1];
    off.registers += registers[0], on.registers += registers[1];
    ++programs;
    less += conflicts[1] < conflicts[0] ? 1 : 0;
    more += conflicts[1] > conflicts[0] ? 1 : 0;
  }
  // A third fewer conflicts, at most 2% more registers; and so in nearly every program.
  void expect_benefit() const {
    EXPECT_GT(off.conflicts, 1000);
    EXPECT_LE(3 * on.conflicts, 2 * off.conflicts) << on.conflicts << " of " << off.conflicts << " conflicts";
    EXPECT_LE(100 * on.registers, 102 * off.registers) << on.registers << " for " << off.registers << " registers";
    EXPECT_GE(10 * less, 7 * programs) << less << " of " << programs;
    EXPECT_LE(20 * more, programs) << more << " of " << programs;
    ::testing::Test::RecordProperty("conflicts_in_thousandths", static_cast<int>(1000 * on.conflicts / off.conflicts));
    ::testing::Test::RecordProperty("registers_in_thousandths", static_cast<int>(1000 * on.registers / off.registers));
  }

  Sums off, on;
  int programs = 0, less = 0, more = 0;
};

TEST(Banks, ConflictsFallByAThirdOnTheStandardMix) {
  BankFigures figures;
  for (std::uint64_t n = 0; n < 150; ++n) {
    const generate::StandardCase c = generate::standard_mix(5, n);
    figures.add(c.program, *ir::find_target(c.target), c.limits);
  }
  figures.expect_benefit();
}

TEST(Banks, ConflictsFallByAThirdOnKernels) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/ptx"))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
  BankFigures figures;
  for (const std::string& file : files) {
    const auto module = ir::parse_ptx(read_file(file).value(), file);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    for (const ir::Function& f : module->functions)
      for (const int registers : {32, 64, 255}) {
        const ir::Target& target = *ir::find_target(f.target);
        figures.add(f, target, ir::Limits::of(target, registers));
      }
  }
  figures.expect_benefit();
}

}  // namespace
}  // namespace regduel::properties
