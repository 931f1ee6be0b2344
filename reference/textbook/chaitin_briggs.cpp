#include "reference/textbook/chaitin_briggs.h"

#include "reference/colour/coalesce.h"
#include "reference/colour/simplify.h"

namespace regduel::reference {

Colouring colour_after_chaitin_and_briggs(FileGraph& graph, const Registers& registers) {
  if (registers.coalesce) coalesce(graph, {.available = registers.available, .factor = {}, .fuel = registers.fuel});
  return select(graph, simplify(graph, registers.available, Optimism::CheapestFirst),
                {.available = registers.available, .last_resort = registers.last_resort, .biased = false, .fuel = registers.fuel});
}

}  // namespace regduel::reference
