#include "oracles/memcheck/mismatch.h"

#include <array>

namespace regduel::oracles {
namespace {

struct CodeText {
  std::string_view slug, text;
};
constexpr std::array<CodeText, 11> kCodes = {{
    {"", ""},
    {"memcheck-1-spill-refill-mismatch",
     "Failed to find matching spill for refilling load that is involved in this operand computation"},
    {"memcheck-2-refill-reads-uninitialized",
     "This operand was fully defined before register allocation, however refill that is involved in this operand computation reads "
     "potentially uninitialized memory"},
    {"memcheck-3-p2r-r2p-pattern-failure", "Failed to establish match for P2R-R2P pattern involved in this operand computation"},
    {"memcheck-4-bit-spill-refill-failure",
     "Failed to establish match for bit-spill-refill pattern involved in this operand computation"},
    {"memcheck-5-uninitialized-value-introduced",
     "Before register allocation this operand was fully defined, now an uninitialized value can reach it"},
    {"memcheck-6-extra-defs-introduced",
     "After reg-alloc there are some extra def(s) that participate in this operand computation. They were not used this way before "
     "the allocation."},
    {"memcheck-7-rematerialization-mismatch", "Rematerialization problem"},
    {"memcheck-8-p2r-r2p-base-destroyed",
     "Some instruction(s) are destroying the base of P2R-R2P pattern involved in this operand computation"},
    {"memcheck-9-bit-spill-base-destroyed",
     "Some instruction(s) are destroying the base of bit-spill-refill pattern involved in this operand computation"},
    {"memcheck-10-definitions-disappeared",
     "During register allocation we did not add any new definitions for this operand and yet some original old ones disappeared"},
}};

}  // namespace

std::string_view slug(MemcheckCode code) { return kCodes[static_cast<std::size_t>(code)].slug; }
std::string_view text(MemcheckCode code) { return kCodes[static_cast<std::size_t>(code)].text; }

}  // namespace regduel::oracles
