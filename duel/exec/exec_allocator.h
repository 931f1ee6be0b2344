// An external allocator: a program in any language that reads programs and writes them again over physical
// registers (protocol.h; docs/own-allocator.md explains it to those who write one).
//
// What it does wrong beyond that is a failure of kind Broken, whose category says what, and so a finding "harness/broken-CATEGORY":
//
//   crash-SIGSEGV, crash-exit-1   it ended, so, instead of answering (or without the answer in its output file)
//   hang                          it did not answer in time
//   closed                        it closed its standard output and ran on
//   flood                         it said more than kLargestFrame
//   garbage                       what it said is no frame
//   frame                         a frame, but not one that answers this request
//   unasked                       it said something behind its answer, or before it was asked
//   text                          its program does not parse, or is not well-formed
//   program                       its text is not one allocated program
//   fuel                          it says to have spent fuel that it had not
//   hello                         it began otherwise than with a hello in order: only where it was started again
//
// Tested by exec_allocator_test.cpp and cli/exec_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "duel/exec/protocol.h"
#include "ir/allocator.h"

namespace regduel::duel {

struct ExecOptions {
  double timeout = 10;              // seconds for one answer; its hello has at least kHelloSeconds
  std::uint64_t memory_mib = 4096;  // of address space; 0 = no limit
  bool is_files = false;            // the files protocol: run once a program, with the paths of input and output

  friend bool operator==(const ExecOptions&, const ExecOptions&) = default;
};

class ExecAllocator final : public ir::Allocator {
 public:
  static constexpr double kHelloSeconds = 10;

  // "exec:COMMAND". Requires that start() is called, and succeeds, before anything else is asked.
  ExecAllocator(std::string name, const ExecOptions& options);
  ~ExecAllocator() override;
  ExecAllocator(const ExecAllocator&) = delete;
  ExecAllocator& operator=(const ExecAllocator&) = delete;

  // Starts it and hears its hello. The error is one line. With the files protocol: looks whether the command is a command.
  [[nodiscard]] std::expected<void, std::string> start();

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const ExecOptions& options() const { return options_; }
  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] std::span<const ir::KnobInfo> knobs() const override { return hello_.knobs; }
  // Each thread has a child of its own, which it keeps from one program to the next; a fork begins without. One that has failed is
  // ended, and another started for the next program. Fuel that it does not know is as much as it takes.
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> allocate(const ir::Function& program, const ir::Target& target,
                                                                         const ir::AllocOptions& options) const override;

 private:
  class Child;
  struct Children;

  [[nodiscard]] std::expected<std::string, ir::AllocFailure> ask(const std::string& request, std::string& word) const;
  [[nodiscard]] std::expected<std::string, ir::AllocFailure> run_on_files(const std::string& request, std::string& word) const;
  [[nodiscard]] std::expected<ir::Allocation, ir::AllocFailure> read_answer(std::string_view text, ir::Fuel* fuel) const;

  std::string name_;
  std::vector<std::string> words_;
  ExecOptions options_;
  Hello hello_;
  std::uint64_t id_;
};

// For its lifetime no external allocator has longer than this for an answer, in this thread: a hang that was seen once is asked for
// again and again while its case is reduced.
class ShortTimeout {
 public:
  explicit ShortTimeout(double seconds);
  ~ShortTimeout();
  ShortTimeout(const ShortTimeout&) = delete;
  ShortTimeout& operator=(const ShortTimeout&) = delete;

 private:
  double before_;
};

}  // namespace regduel::duel
