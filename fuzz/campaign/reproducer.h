// A finding as a file that a person can play again: an RIR program whose head is the command line that shows the finding.
#pragma once

#include <string>
#include <vector>

#include "duel/case.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

// The allocators without which the failure does not show: both of a gap, and whose proofs are beaten.
[[nodiscard]] std::vector<std::string> players_of(const Failure& failure);

// The arguments that make `regduel duel FILE` repeat this case with these allocators, as a shell wants them.
[[nodiscard]] std::string replay_arguments(const duel::Case& input, const std::vector<std::string>& allocators);

// Writes DIRECTORY/ALLOCATOR-SIGNATURE-HASH.rir, and makes the directory where there is none. Returns the path. Throws BadInput.
// Of an external allocator the name is its command's, as far as it goes in a file name.
//   answer   what an external allocator made of it, as text: goes into answer_path() of the file; "" = none
//   key   what the file stands for, a signature or a bucket: the HASH is of it, so that another case of the same replaces the file
std::string write_reproducer(const std::string& directory, const Failure& failure, const std::string& message,
                             const std::string& key, const duel::Case& input, const std::string& answer = "");
// NAME.after.rir for NAME.rir.
[[nodiscard]] std::string answer_path(const std::string& path);

}  // namespace regduel::fuzz
