// A program in any language that answers requests (protocol.h), as a child of each thread that asks.
//
// What it does wrong is a failure of kind Broken, whose category says what, and so a finding "harness/broken-CATEGORY":
//
//   crash-SIGSEGV, crash-exit-1   it ended, so, instead of answering (or without the answer in its output file)
//   hang                          it did not answer in time
//   closed                        it closed its standard output and ran on
//   flood                         it said more than kLargestFrame
//   garbage                       what it said is no frame
//   frame                         a frame, but not one that answers this request
//   unasked                       it said something behind its answer, or before it was asked
//   hello                         it began otherwise than with a hello in order: only where it was started again
//
// Tested by exec_allocator_test.cpp.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
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

// A failure of kind Broken.
[[nodiscard]] std::unexpected<ir::AllocFailure> broken(std::string category, std::string message);

class ExternalProgram {
 public:
  static constexpr double kHelloSeconds = 10;
  static constexpr std::size_t kMostMessage = 400;  // bytes, of what it says of its failure

  //   words   the command, looked for in PATH; not empty
  ExternalProgram(std::vector<std::string> words, const ExecOptions& options);
  ~ExternalProgram();
  ExternalProgram(const ExternalProgram&) = delete;
  ExternalProgram& operator=(const ExternalProgram&) = delete;

  // Starts it and hears its hello. The error is one line. With the files protocol: looks whether the command is a command.
  [[nodiscard]] std::expected<Hello, std::string> start();
  // The payload of its answer where that is "allocated"; else the failure that it says, or is.
  //   word   receives the first word of its answer
  // Each thread has a child of its own, which it keeps from one request to the next; a fork begins without. One that has failed is
  // ended, and another started for the next request.
  [[nodiscard]] std::expected<std::string, ir::AllocFailure> ask(const std::string& request, std::string& word) const;

 private:
  class Child;
  struct Children;

  [[nodiscard]] std::expected<std::string, ir::AllocFailure> ask_child(const std::string& request, std::string& word) const;
  [[nodiscard]] std::expected<std::string, ir::AllocFailure> run_on_files(const std::string& request, std::string& word) const;

  std::vector<std::string> words_;
  ExecOptions options_;
  std::uint64_t id_ = 0;
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
