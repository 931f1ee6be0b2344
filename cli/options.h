// Options that several commands share: which target, which limits, which allocators, which knobs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "duel/exec/exec_allocator.h"
#include "ir/allocator.h"
#include "ir/program.h"
#include "ir/target.h"
#include "trial/planted/catalogue.h"

namespace regduel::cli {

struct TargetOptions {
  int sm = 0;                       // --sm, 0 = as the program says
  std::string target_file;          // --target
  std::vector<std::string> limits;  // --limit CLASS=N

  void add_to(Arguments& a);
  // The target to use for `f`; f.target is changed to it. It lives as long as the process. Throws BadInput where there is none or f
  // does not suit it.
  [[nodiscard]] const ir::Target& resolve(ir::Function& f, const std::string& file) const;
  // The target that random programs are made for: --target, --sm, or the default. Throws BadInput where there is none, or it is too
  // small (fuzz::generate).
  [[nodiscard]] const ir::Target& of_random_programs() const;
  // The target's limits, with --limit applied and file R limited to `registers` where that is > 0. Throws BadInput.
  [[nodiscard]] ir::Limits limits_for(const ir::Target& t, int registers) const;
};

// Which calls PTX becomes: --abi.
struct AbiOption {
  std::string value = "cuda";

  void add_to(Arguments& a);
  [[nodiscard]] ir::AbiName name() const;
};

// A planted bug by name. Throws BadInput, with the option that asks for it, where this build has none of that name.
[[nodiscard]] const trial::PlantedBug& planted_bug_named(std::string_view option, const std::string& name);
// --plant: switches on these planted bugs for the whole process; nothing to do where there are none. Throws BadInput.
void plant(const std::vector<std::string>& names);

// Of the knobs that this allocator has, each is set to what it can have. Throws BadInput, which begins with `where`. Not asked:
// allocators that begin with a process.
void require_knob_values(std::string_view where, const ir::Allocator& allocator,
                         const std::vector<std::pair<std::string, std::string>>& settings);

struct KnobOptions {
  std::vector<std::string> knobs;  // --knob NAME=V or ID=V
  int register_usage_level = -1;   // --register-usage-level, -1 = not given
  std::string fast_compile;        // --fast-compile, empty = not given
  bool disable_smem_reservation = false;

  //   help   of --knob
  void add_to(Arguments& a, const std::string& help);
  // Settings by name for these allocators, in the order in which later ones win: what --knob says wins. Throws BadInput for a
  // --knob without '=', and for a flag that none of them has a knob for.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings(std::span<const ir::Allocator* const> allocators) const;
};

// --passes, --passes=dump: show the passes that ran.
struct PassesOption {
  std::string how;  // "table", "dump" or empty

  //   help   up to "; --passes=dump: ..."
  void add_to(Arguments& a, const std::string& help);
  [[nodiscard]] bool is_given() const { return !how.empty(); }
  // Where passes are to say what they did: `log`, with dumps where they are asked for; null where nothing is.
  [[nodiscard]] ir::PassLog* record_in(ir::PassLog& log) const;
};

// --seed N, from 0 to 2^64 - 1.
void add_seed(Arguments& a, std::uint64_t& seed, const std::string& help);
// --jobs N, 0 = one a core.
void add_jobs(Arguments& a, int& jobs, const std::string& help);

// --regs A,B,C: limits of the general register file. Throws BadInput unless each is a number from 1 to 255.
[[nodiscard]] std::vector<int> parse_registers(const std::vector<std::string>& items);
// Throws BadInput unless 1 <= registers <= 255 (the largest register file).
void check_registers(int registers);
// --size, instructions of a random program: throws BadInput unless 0 <= size <= 1,000,000.
void check_size(int size);
// Which allocators, what runs before them, and how external ones are run: --coalesce, --exec-timeout, --exec-memory,
// --exec-protocol.
struct AllocatorOptions {
  std::vector<std::string> coalesce;  // passes before each allocator, in this order; "none" = none
  duel::ExecOptions exec;
  std::string protocol = "pipe";

  // Adds the options of external allocators.
  void add_to(Arguments& a);
  // An allocator by what --with says of it, behind the passes of --coalesce; a program is started. Throws BadInput: with the names
  // that exist, or why the program is none.
  [[nodiscard]] const ir::Allocator& named(const std::string& item) const;
  // Those of a list, order kept, duplicates dropped; all duelists where it is empty. --coalesce holds for each.
  [[nodiscard]] std::vector<const ir::Allocator*> duelists(const std::vector<std::string>& with) const;
};
// What stands in the help of --with behind the names.
inline constexpr std::string_view kExecHelp =
    ". exec:COMMAND is a program of yours (docs/own-allocator.md); quote one that has commas: exec:'a.py 1,2'";
// "a,b" and repeated options alike; order kept, duplicates dropped.
[[nodiscard]] std::vector<std::string> split_list(const std::vector<std::string>& items);

}  // namespace regduel::cli
