// The interface of a pass: program to program over vregs, before allocation. passes.h lists the passes; pass_allocator.h puts one
// before an allocator, take_back.h maps an allocation back to the program that came in, in_memory.h allocates the result of a pass
// alone, so that it can be judged.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/allocator.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::passes {

struct PassOptions {
  ir::Fuel* fuel = nullptr;  // each change that is a choice asks it; null = as many as it takes
  std::span<const std::pair<std::string, std::string>> knobs = {};  // of this pass, by name; later ones win
  ir::Trace* trace = nullptr;                                       // null = no trace
  ir::PassLog* passes = nullptr;                                    // null = no record of what it does
};

class Pass {
 public:
  virtual ~Pass() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;          // "copyprop": no '+' in it
  [[nodiscard]] virtual std::string_view what_it_does() const = 0;  // one line for --help
  // The names begin with that of the pass, "nvptx-copy-limit", so that passes and allocators can share one list of settings.
  // They live as long as the program.
  [[nodiscard]] virtual std::span<const ir::KnobInfo> knobs() const { return {}; }
  // Whether the result is a rewriting (FORMAT.md, "Rewritings"), in which other instructions may compute what the effects read. It keeps
  // the blocks, the effects and what they read, and none of what run() promises below. Its allocation is not taken back: judges compare
  // the two programs over vregs, and the allocation with the one that was allocated.
  [[nodiscard]] virtual bool rewrites() const { return false; }
  // Requires: `program` well-formed for `target`, over vregs. The error is one line, and only for a knob that there is not, or a
  // value that it cannot have. Ensures the same of the result, and
  //   - the same blocks, and the vregs of `program` first among its own;
  //   - each instruction of `program` is there under its id, in its block and order, with its opcode, flags, immediates and as many
  //     operands; vregs may be others. Copies and phis alone may be missing;
  //   - what is new has an id that `program` does not have, and is a copy, a phi, or repeats a rematerialisable def that reads no
  //     register and no memory that changes: with its opcode, mnemonic, flags and operands but for the def, which is of the same
  //     class and width, not fixed, and at least as aligned. No other instruction of `program` has the same opcode, mnemonic and
  //     uses, so that it is known from these which one is repeated;
  //   - no instruction demands more registers than it did (FORMAT.md, "Demand"); so an instruction that gives up registers stays.
  // take_back.h matches instructions by their ids.
  [[nodiscard]] virtual std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target& target,
                                                                     const PassOptions& options) const = 0;
};

// The same, with a record of it in options.passes.
[[nodiscard]] std::expected<ir::Function, std::string> run_recorded(const Pass& pass, const ir::Function& program,
                                                                    const ir::Target& target, const PassOptions& options);

// Whether the instruction clobbers registers in a device function. Those need not hold at a `ret` what they held at entry
// (FORMAT.md, "Allocated programs", 7), so more registers are allocatable with the instruction than without it.
[[nodiscard]] bool gives_up_registers(const ir::Function& f, const ir::Inst& i);

}  // namespace regduel::passes
