// Edits that one operator makes, or two like ones (edits.h has those that many share). Tested through operators_test.cpp.
#pragma once

#include "trial/faults/edits.h"

namespace regduel::trial {

bool swap_with_other_source(Trial& t, const Place& at);  // the source of a copy for that of the copy at place.other
bool other_comes_first(Trial& t, const Place& at);       // the spill at place.other moves up in front of the instruction
[[nodiscard]] Edit other_opcode(bool mnemonic_alone);
bool drop_guard(Trial& t, EditInst& i);
bool shorten_clobber(Trial& t, const Place& at);
bool lead_elsewhere(Trial& t, const Place& at);  // the branch of an edge block
bool other_alignment(Trial& t, const Place& at);
// The bit of another instruction on the same pack, or a bit that is drawn.
[[nodiscard]] Edit other_bit(bool used);
bool to_local(Trial& t, const Place& at);  // the slot at place.operand, as the next two
bool out_of_frame(Trial& t, const Place& at);
bool into_variables(Trial& t, const Place& at);
bool shrink_slot(Trial& t, const Place& at);  // the slot that the instruction accesses ends inside the access

}  // namespace regduel::trial
