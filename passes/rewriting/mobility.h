// Which instructions a rewriting may move, repeat or leave out (FORMAT.md, "Rewritings"). Tested by schedule_test.cpp and clean_test.cpp.
#pragma once

#include "ir/program.h"

namespace regduel::passes {

// It stays in its block, in the order of its like: terminators, calls, barriers, writes of memory, what depends on other threads, reads
// that must happen (volatile, acquire and the like), what has no def, clobbers registers or stands in fixed ones.
[[nodiscard]] bool is_effect(const ir::Function& f, const ir::Inst& i, std::span<const ir::Operand> ops);
// It changes memory, so that no read of memory that may change passes it.
[[nodiscard]] bool changes_memory(const ir::Inst& i);
[[nodiscard]] inline bool reads_memory(const ir::Inst& i) { return i.has(ir::kMemRead) && !i.has(ir::kReadOnly); }

}  // namespace regduel::passes
