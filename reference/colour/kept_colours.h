// The colours of register files whose graph does not change from one round to the next.
//
// A round that spills predicates lowers the program anew, but the code uses general registers as the round before did. Their graph
// is then the same node by node and edge by edge, and so are its colours. So the colours of a file are kept when a round fails for
// another file, and are valid in the next round if the code uses the temps of the file as before:
//
//   - temp for temp, in the order of their numbers: units, alignment, precoloured unit, and whether it is a value;
//   - instruction for instruction, of those that refer to the file or clobber: block, kind, and the refs to the file with their
//     flags and places in copy pairs.
//
// A dead move reads nothing, and whether it is dead depends on the file of its target. So where a move connects two files, a change
// of one counts as a change of both. Tested by kept_colours_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

using FileSet = ir::PerFile<bool>;

// How the reachable instructions of a code use the temps of each file.
struct FileUses {
  ir::PerFile<std::vector<TempId>> temps;         // ascending; those that some of them refer to
  ir::PerFile<std::vector<std::uint32_t>> words;  // all that is compared
  ir::PerFile<FileSet> moves_with = {};           // symmetric: a move has one end in either file
};

// Cost O(refs + temps).
[[nodiscard]] FileUses file_uses(const Problem& problem, const Code& code);

// The files of which both codes, of one problem, make the same graph.
[[nodiscard]] FileSet same_uses(const FileUses& a, const FileUses& b);

class KeptColours {
 public:
  // Takes the colours of those files out of `homes`, by temp, and forgets all others.
  void keep(FileUses uses, const FileSet& coloured, const std::vector<ir::PReg>& homes);
  [[nodiscard]] bool is_empty() const { return !has_any_; }
  // The kept files that `uses` leaves as they were.
  [[nodiscard]] FileSet valid_for(const FileUses& uses) const;
  // Writes the colours of a file that is valid for `uses` into `homes`.
  void give(std::size_t file, const FileUses& uses, std::vector<ir::PReg>& homes) const;

 private:
  FileUses uses_;
  FileSet is_kept_ = {};
  bool has_any_ = false;
  ir::PerFile<std::vector<ir::PReg>> colours_;  // in the order of uses_.temps
};

}  // namespace regduel::reference
