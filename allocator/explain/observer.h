// The observer of one vreg: it listens to a run and its attempts, and keeps what they do about the vreg as an Explanation.
//
// Tested by explain_test.cpp.
#pragma once

#include <span>

#include "allocator/assign/file_allocator.h"
#include "allocator/explain/explanation.h"
#include "allocator/phases/run_listener.h"

namespace regduel::allocator {

class Observer : public RunListener {
 public:
  Observer(const ir::Function& program, ir::VRegId vreg);

  [[nodiscard]] ir::VRegId vreg() const override { return vreg_; }
  [[nodiscard]] ir::RegFile file() const override { return e_.file; }
  void follow(std::span<const ir::VRegId> stands_for) override;
  void begin_run(const ir::Function& without_phis, std::span<const ir::VRegId> first_of, bool lives) override;
  void spilled(const VictimRank& rank, std::int64_t round, std::int64_t cost) override;
  void walked(const FileAllocator& allocator, const Walk& walk) override;
  void emitted(std::int64_t round, std::int64_t number) override;
  void finish(const SpillCode& lowered, const std::vector<int>& homes, const Plan& plan, bool is_fallback) override;

  void begin_attempt(const FileAllocator& allocator, const AttemptOptions& options, std::int64_t round,
                     std::int64_t number) override;
  void end_attempt(const Attempt& result) override;
  [[nodiscard]] bool is_about(std::span<const ir::VRegId> members) const override;
  void step(StepKind kind, const ScanState& state, int unit, const StepDetails& details) override;

  [[nodiscard]] Explanation take() { return std::move(e_); }

 private:
  [[nodiscard]] std::string vreg_name(ir::VRegId v) const;
  [[nodiscard]] std::string at(std::uint32_t number) const;
  void see_range(Step& s, const ScanState& state) const;
  void see_constraints(Step& s, const ScanState& state) const;
  void see_units(Step& s, const ScanState& state) const;
  void say_what_forbids(Step& s, const ScanState& state, const UnitSet& taken) const;
  void rank(Step& s, const ScanState& state, const UnitSet& taken) const;

  const ir::Function& program_;
  ir::VRegId vreg_;
  const ir::Function* without_phis_ = nullptr;
  std::span<const ir::VRegId> first_of_;
  const Round* round_ = nullptr;
  int run_ = -1;
  bool walk_spills_ = false;  // the last walk did not fit, and named the vreg
  Explanation e_;
};

}  // namespace regduel::allocator
