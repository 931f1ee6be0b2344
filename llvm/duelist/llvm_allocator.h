// An allocator of LLVM as a duelist, "llvm:greedy@amdgcn-gfx1100".
//
// A program of a duel becomes a machine function of inline assembly (random/mir_program.h). A regduel-llc that runs on, one a thread,
// allocates it and says what each run did; the judges see these runs, after the last pass that is watched, in LLVM's own registers (ir::OwnRun). The
// limits and the target of the duel do not matter: the machine's registers do.
//
// Broken, with a category beyond those of exec/external_program.h:
//   out-of-registers    "ran out of registers", of which the program needs few enough (Machine::budget)
//   verifier-WORDS      the machine verifier objects before or after allocation; its words
//   error-WORDS         another error that LLVM reports; its words
//   fatal-WORDS         a fatal error; its words
//   crash-HOW-in-PASS   a crash in this pass
// What the mapping refuses is Unsupported. Tested by llvm_allocator_test.cpp, where regduel-llc is there.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "duel/exec/external_program.h"
#include "ir/allocator.h"
#include "llvm/compile/compile.h"
#include "llvm/random/machine.h"

namespace regduel::llvm {

inline constexpr std::string_view kLlvm = "llvm:";

class LlvmAllocator final : public ir::Allocator {
 public:
  LlvmAllocator(std::string name, std::string allocator, const Machine& machine, std::vector<std::string> words,
                const duel::ExecOptions& options);

  // Starts regduel-llc, which says its knobs: options of LLVM. The error is one line.
  [[nodiscard]] std::expected<void, std::string> start();

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return hello_.knobs; }
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override;
  // PATH.mir, whose head is the command of regduel-llc, and PATH.reduce.sh for llvm-reduce.
  [[nodiscard]] std::vector<ir::OwnFile> own_files(const ir::Function& program, const ir::Target& target,
                                                   const ir::AllocOptions& options, const std::string& path,
                                                   const std::string& words) const override;

 private:
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> read_answer(const std::string& json) const;
  [[nodiscard]] ir::AllocFailure in_llvms_words(ir::AllocFailure failure, bool is_stressed) const;

  std::string name_, allocator_;
  const Machine& machine_;
  std::vector<std::string> words_;  // of regduel-llc, without -serve
  duel::Hello hello_;
  std::unique_ptr<duel::ExternalProgram> program_;
};

// By a name like the one above, started. The error is one line: no such allocator or machine, or no regduel-llc.
[[nodiscard]] std::expected<std::unique_ptr<LlvmAllocator>, std::string> make_llvm_allocator(std::string_view name,
                                                                                             const duel::ExecOptions& options);

}  // namespace regduel::llvm
