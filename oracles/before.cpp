#include "oracles/before.h"

#include "oracles/pair/preserved.h"

namespace regduel::oracles {

Before::Before(const ir::Function& program, const ir::Target& target)
    : program_(program), target_(target), cfg_(program), ids_(program), preserved_(preserved_units(program, target)) {}

}  // namespace regduel::oracles
