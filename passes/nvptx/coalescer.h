// The merges of one function: first block by block, then across blocks.
//
// Source: source 004, phases 1 to 4, "Block-level coalescing". The limits are those that the source's driver is called with.
// Tested by coalescer_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/dynamic_bitset.hpp>

#include "ir/allocator.h"
#include "ir/cfg.h"
#include "passes/nvptx/candidates.h"
#include "passes/nvptx/interference.h"
#include "passes/nvptx/worklist.h"

namespace regduel::passes::nvptx {

struct Options {
  CandidateOptions candidates = {};
  std::int64_t coalesce_limit = -1;  // merges; -1 = any number
  bool block_frequency = true;       // copies of blocks that run often first
  bool block_level = true, cross_block = true;
  bool verify = false;
  ir::Fuel* fuel = nullptr;
  ir::Trace* trace = nullptr;
};

class Coalescer {
 public:
  Coalescer(const ir::Function& f, const Options& options);

  void run();
  // The root under whose name a root goes on.
  [[nodiscard]] ir::VRegId name_of(ir::VRegId root) const { return merged_.lowest(root); }
  [[nodiscard]] bool takes_part(ir::VRegId root) const { return participants_[root.index()] != 0; }
  [[nodiscard]] const Origins& origins() const { return origins_; }
  [[nodiscard]] std::int64_t num_merges() const { return merges_; }

 private:
  // Within each block, what lives in no other block but one of the two ends. Its heaps are those of the block.
  void block_level();
  void cross_block();
  [[nodiscard]] Priority priority(const Candidate& c);
  [[nodiscard]] Outcome attempt(std::uint32_t candidate);
  [[nodiscard]] bool interfere(const Candidate& c, ir::VRegId x, ir::VRegId y);
  [[nodiscard]] bool is_local(ir::VRegId root, ir::BlockId b) const;
  void merge(const Candidate& c, ir::VRegId x, ir::VRegId y);
  // Equivalence verification: the merged intervals are the union of the two.
  void merge_and_verify(ir::VRegId x, ir::VRegId y);
  void trace(const Candidate& c, std::string_view what) const;

  const ir::Function& f_;
  const Options options_;
  const ir::Cfg cfg_;
  const Slots slots_;
  const Origins origins_;
  const std::vector<char> participants_;
  const std::vector<Candidate> candidates_;
  const std::vector<std::int64_t> frequency_;  // by block
  Intervals intervals_;
  Merged merged_;
  Interference interference_;
  boost::dynamic_bitset<> live_through_;  // by root, of the block at hand; none at the cross-block level
  std::vector<char> is_settled_;          // by candidate: merged, or refused by the fuel
  std::int64_t merges_ = 0;
};

}  // namespace regduel::passes::nvptx
