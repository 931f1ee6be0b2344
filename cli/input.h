// Programs from files: RIR text, RIR binary or PTX, told apart by their contents and name; "-" is standard input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "duel/case.h"
#include "ir/program.h"
#include "ir/ptx/ptx.h"
#include "ir/target.h"

namespace regduel::cli {

struct Program {
  std::string file;
  ir::Function function;
  std::shared_ptr<const std::string> text;  // of the file, where it is RIR text; else null
  ir::PtxDeclarations declared = {};        // of PTX
};

// All functions of one file, in order; of PTX, with the calls of this ABI. Throws BadInput.
[[nodiscard]] std::vector<Program> load(const std::string& path, ir::AbiName abi = ir::AbiName::Cuda,
                                        ir::ParamCopies param_copies = ir::ParamCopies::Folded);
// The same for many files and directories; a directory stands for the .rir and .ptx files in it and below, sorted by path. Answers of
// allocators (NAME.after.rir) are not among them.
//   unreadable   gets the complaint about each file of a directory that cannot be read, which is left out; null = it is thrown
[[nodiscard]] std::vector<Program> load_all(const std::vector<std::string>& paths, ir::AbiName abi = ir::AbiName::Cuda,
                                            std::vector<std::string>* unreadable = nullptr,
                                            ir::ParamCopies param_copies = ir::ParamCopies::Folded);
[[nodiscard]] bool is_directory(const std::string& path);
// The files that stand for a directory, as above. Throws BadInput where there is none.
[[nodiscard]] std::vector<std::string> files_below(const std::string& path);
// A case: RIR text whose head says limits and knobs (duel/case_file.h), or bytes of the fuzz corpus. Throws BadInput.
[[nodiscard]] duel::Case load_case(const std::string& path);
// The cases of a file, or of a directory: its .rir files and its inputs of the fuzz corpus, sorted by path. Throws BadInput, also
// where there is none.
[[nodiscard]] std::vector<duel::Case> load_seeds(const std::string& path);
// Throws BadInput unless every one is in this phase.
void require_phase(const std::vector<Program>& programs, ir::Phase phase);
// Throws BadInput where two functions have one name: an allocation of them could not be told apart.
void require_different_names(const std::vector<Program>& programs);
// Writes text or bytes to `path` ("-" = standard output). Throws BadInput.
void save(const std::string& path, std::string_view bytes);
// Before long work whose result goes there: throws BadInput where a file could not be written, or a directory not made. "" and "-"
// are nowhere and standard output.
void require_file_possible(const std::string& path);
void require_directory_possible(const std::string& path);
// Throws BadInput where both are the same file.
void require_other_file(const std::string& output, const std::string& input);

}  // namespace regduel::cli
