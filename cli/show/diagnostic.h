// Findings as a good compiler shows errors: file:line:column, what is wrong, the lines of the program after with a mark under the
// operand, the same instruction before allocation, and the second site.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/input.h"
#include "oracles/judge.h"

namespace regduel::cli {

// A function as lines of text: those of its file, or, where that was no RIR text (binary, PTX), the function as it prints.
class Listing {
 public:
  // Keeps a reference to the program.
  explicit Listing(const Program& program);

  struct Mark {
    int line = 0;    // 1-based
    int column = 0;  // 1-based, of the operand; where that cannot be told, of the instruction
    int length = 1;
  };
  // operand -1 = the instruction as a whole. An invalid instruction, or one that is not there: the function's first line.
  [[nodiscard]] Mark mark(ir::InstId inst, int operand) const;
  [[nodiscard]] bool has(ir::InstId inst) const { return line_of_.contains(inst.value); }
  // Of the source that the program was made from: "a.cu:12:3"; "" where it is not known.
  [[nodiscard]] std::string source_place(ir::InstId inst) const;
  // "file:line:column", without numbers where the lines are not those of the file.
  [[nodiscard]] std::string place(const Mark& m) const;
  // The marked line after at most `context` lines of the function before it, each with its number, and the mark below.
  [[nodiscard]] std::string excerpt(const Mark& m, int context, bool colours) const;

 private:
  const Program& program_;
  bool is_file_ = true;
  std::vector<std::string> lines_;  // lines_[n - 1] is line n
  int first_ = 1;                   // the line of `func`
  std::map<std::uint32_t, int> line_of_;
};

[[nodiscard]] std::string diagnose(const oracles::Finding& f, const Listing& before, const Listing& after,
                                   const std::string& function, bool colours);

// A finding about a program alone, as a warning.
[[nodiscard]] std::string warn_of(const oracles::Finding& f, const Listing& program, const std::string& function, bool colours);

// Standard output has colours (terminal.h).
[[nodiscard]] bool wants_colours();

}  // namespace regduel::cli
