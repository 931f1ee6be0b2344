// How much larger frames are than what is in them at a time, on the shipped kernels.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/io.h"
#include "duel/allocators.h"
#include "ir/ptx/ptx.h"
#include "oracles/quality/frame_use.h"

namespace regduel::properties {
namespace {

TEST(Frames, AreHardlyLargerThanWhatIsInThem) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/corpus/ptx"))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
  std::int64_t frames = 0, in_use = 0;
  int spilling = 0;
  for (const std::string& file : files) {
    const auto module = ir::parse_ptx(read_file(file).value(), file);
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    for (const ir::Function& f : module->functions)
      for (const int registers : {24, 32, 40, 64}) {
        const ir::Target& target = *ir::find_target(f.target);
        ir::AllocOptions options;
        options.limits = ir::Limits::of(target, registers);
        const auto allocation = duel::find_allocator("fatpoint")->allocate(f, target, options);
        if (registers == 24 && !allocation) continue;  // operands of tensor cores that 23 do not hold
        ASSERT_TRUE(allocation.has_value()) << file;
        const std::int64_t most =
            oracles::most_bytes_in_use(allocation->program, ir::Cfg(allocation->program), ir::MemSpace::Local);
        EXPECT_GE(allocation->program.local_frame, most);
        frames += allocation->program.local_frame - f.local_frame;
        in_use += most;
        spilling += most > 0 ? 1 : 0;
      }
  }
  EXPECT_GT(spilling, 40);
  EXPECT_LE(static_cast<double>(frames), 1.15 * static_cast<double>(in_use)) << frames << " bytes for " << in_use;
  RecordProperty("ratio_in_thousandths", static_cast<int>(1000 * frames / in_use));
}

// The kernel keeps a stack of its own in local memory, and spills at 24 registers.
TEST(Frames, SlotsBeginBehindTheProgramsOwnVariables) {
  const std::string file = REGDUEL_SOURCE_DIR "/corpus/ptx/bvh_traverse.ptx";
  const auto module = ir::parse_ptx(read_file(file).value(), file);
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  const ir::Function& f = module->functions.at(0);
  ASSERT_GT(f.local_frame, 0u);
  const ir::Target& target = *ir::find_target(f.target);
  ir::AllocOptions options;
  options.limits = ir::Limits::of(target, 24);
  for (const ir::Allocator* a : duel::all_duelists()) {
    const auto allocation = a->allocate(f, target, options);
    ASSERT_TRUE(allocation.has_value()) << a->name();
    EXPECT_FALSE(allocation->program.slots.empty()) << a->name();
    for (const ir::Slot& s : allocation->program.slots) EXPECT_GE(s.offset, f.local_frame) << a->name();
  }
}

}  // namespace
}  // namespace regduel::properties
