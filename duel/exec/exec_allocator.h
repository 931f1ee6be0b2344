// An external allocator: a program in any language that reads programs and writes them again over physical
// registers (protocol.h; docs/own-allocator.md explains it to those who write one).
//
// What it does wrong is a failure of kind Broken: a category of external_program.h, or
//
//   text                          its program does not parse, or is not well-formed
//   program                       its text is not one allocated program
//   fuel                          it says to have spent fuel that it had not
//
// Tested by exec_allocator_test.cpp and cli/exec_test.cpp.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "duel/exec/external_program.h"
#include "ir/allocator.h"

namespace regduel::duel {

class ExecAllocator final : public ir::Allocator {
 public:
  // "exec:COMMAND". Requires that start() is called, and succeeds, before anything else is asked.
  ExecAllocator(std::string name, const ExecOptions& options);

  // Starts it and hears its hello. The error is one line.
  [[nodiscard]] std::expected<void, std::string> start();

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const ExecOptions& options() const { return options_; }
  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return hello_.knobs; }
  // Fuel that it does not know is as much as it takes.
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override;

 private:
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> read_answer(std::string_view text, ir::Fuel* fuel) const;

  std::string name_;
  ExecOptions options_;
  Hello hello_;
  std::unique_ptr<ExternalProgram> program_;
};

}  // namespace regduel::duel
