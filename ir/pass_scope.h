// A record of one pass over a program: its name, the time it took, the size of the program before and after, both programs as text,
// and in debug builds a check of the result.
//
//   PassScope scope(log, "out_of_ssa", &program);
//   Function f = ...;
//   scope.made(f);
//
// Scopes nest, and a record stands before those of the passes within it. Without a log a scope costs a comparison with null. Tested
// by pass_scope_test.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/check_macro.h"
#include "ir/program.h"

namespace regduel::ir {

struct ProgramSize {
  std::size_t blocks = 0, instructions = 0, vregs = 0;
  [[nodiscard]] static ProgramSize of(const Function& f) { return {f.blocks.size(), f.insts.size(), f.vregs.size()}; }
};

struct PassRecord {
  std::string name;
  int depth = 0;       // of how many passes it is a part
  double seconds = 0;  // with the passes within it
  ProgramSize before, after;
  std::string text_before, text_after;  // where the log wants dumps
};

struct PassLog {
  bool has_dumps = false;
  std::vector<PassRecord> passes;
  int depth = 0;  // scopes that are open
};

class PassScope {
 public:
  //   log      null = off
  //   before   what the pass is given; null = nothing
  PassScope(PassLog* log, std::string_view name, const Function* before) : log_(log) {
    if (log_ != nullptr) begin(name, before);
  }
  ~PassScope() {
    if (log_ != nullptr) end();
  }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

  // Records the result of the pass. In a debug build, checks that `is_right` holds for it.
  void made(const Function& after) {
    if (log_ != nullptr) record(after);
  }
  template <class IsRight>
  void made(const Function& after, [[maybe_unused]] IsRight is_right) {
#ifndef NDEBUG
    REGDUEL_CHECK(is_right(after), "a pass made a program that is not right");
#endif
    made(after);
  }

 private:
  void begin(std::string_view name, const Function* before);
  void record(const Function& after);
  void end();

  PassLog* log_;
  std::size_t at_ = 0;  // its record
  std::chrono::steady_clock::time_point start_;
};

}  // namespace regduel::ir
