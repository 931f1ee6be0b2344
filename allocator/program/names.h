// Names of the program that the sources of this folder use without their namespace. For .cpp files.
#pragma once

#include "ir/program.h"

namespace regduel::allocator {

using ir::BlockId, ir::SlotId, ir::VRegId;
using ir::Function, ir::Inst, ir::Op, ir::Operand, ir::Role;
using ir::MemSpace, ir::PReg, ir::RegFile, ir::Storage;

}  // namespace regduel::allocator
