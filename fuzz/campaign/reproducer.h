// A finding as a file that a person can play again: an RIR program whose head is the command line that shows the finding.
#pragma once

#include <string>

#include "fuzz/duel/fuzz_input.h"
#include "fuzz/triage/failure.h"

namespace regduel::fuzz {

// The arguments that make `regduel duel FILE` repeat this case with this allocator (or several, comma-separated).
[[nodiscard]] std::string replay_arguments(const FuzzInput& input, const std::string& allocator);

// Writes DIRECTORY/ALLOCATOR-SIGNATURE-HASH.rir, and makes the directory where there is none. Returns the path. Throws BadInput.
//   key   what the file stands for, a signature or a bucket: the HASH is of it, so that another case of the same replaces the file
std::string write_reproducer(const std::string& directory, const Failure& failure, const std::string& message,
                             const std::string& key, const FuzzInput& input);

}  // namespace regduel::fuzz
