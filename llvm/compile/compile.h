// From a source file to dumps: clang makes IR, regduel-llc code and the JSON of what its allocator did.
//
// Needs clang and regduel-llc at run time, and nothing of LLVM at build time. Tested by compile_test.cpp, where they are there.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "llvm/mir/mir.h"

namespace regduel::llvm {

struct Tools {
  std::string regduel_llc, clang;  // "" = there is none
};
// regduel-llc beside this program, else in PATH; clang-19 of `llvm_dir`/bin, else of PATH.
[[nodiscard]] Tools find_tools(const std::string& llvm_dir);

struct CompileOptions {
  std::string triple = {}, cpu = {}, features = {};  // "" = the module's own, the target's default
  std::string level = {};                            // "0" to "3"; "" = 0 for fast, else 2
  int stress = 0;                                    // -stress-regalloc
  std::vector<std::string> clang_arguments = {}, llc_arguments = {};
  bool compare_code = false;  // also compile without dumping; other code is an error
  int seconds = 120;          // that each program may take
};

inline constexpr const char* kAllocators[] = {"greedy", "basic", "fast", "pbqp"};

// regduel-llc with its arguments, without an input.
//   triple   of the module
//   level    of optimisation: "0" to "3"
[[nodiscard]] std::vector<std::string> llc_words(const Tools& tools, const std::string& triple, const std::string& allocator,
                                                 const std::string& level, const CompileOptions& options);

struct Compiled {
  DumpFile file;
  std::string json;     // the dumps as they were written
  std::string command;  // of regduel-llc, as a shell reads it
};

enum class CompileError { NotSupported, Failed, Crashed, Hung, OtherCode, BadForm };
struct CompileFailure {
  CompileError kind;
  std::string message;
  std::string command;
};

//   file   .c, .cl, .cpp, .ll, .bc or .mir
// Cost: one or two processes, and a directory for their files that is removed again.
[[nodiscard]] std::expected<Compiled, CompileFailure> compile(const Tools& tools, const std::string& file,
                                                              const std::string& allocator, const CompileOptions& options);

// Two MIR files of the same functions, before an allocation and after it (JSON.md, "Pairs of MIR files").
[[nodiscard]] std::expected<Compiled, CompileFailure> read_pair(const Tools& tools, const std::string& before,
                                                                const std::string& after, const CompileOptions& options);

}  // namespace regduel::llvm
