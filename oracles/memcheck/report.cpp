// The reporter of source 000 "Reporter Output Format", line by line, with its texts as they stand (DECISIONS keeps "operand K"
// beside "operand # K", and three spaces between the counters, since users grep for them). Tested by memcheck_test.cpp.

#include <fmt/format.h>

#include "oracles/memcheck/memcheck.h"

namespace regduel::oracles {
namespace {

// The detail of an uninitialised def: what no instruction has written, or what one has destroyed (a clobber, an early-clobber def,
// the bytes above a narrow def).
std::string uninitialized(const Producer& p) {
  return p.inst.is_valid() ? fmt::format("[{}] uninitialized def", p.inst.value) : "[entry] uninitialized def";
}

std::string place(const Producer& p) {
  if (!p.inst.is_valid() || p.is_destroyer) return uninitialized(p);
  return fmt::format("[{}] def opr # {}", p.inst.value, p.operand);
}

void print_differences(std::string& out, std::string_view title, const std::vector<Producer>& list, int operand) {
  if (list.empty()) return;
  out += fmt::format("\n{}\n", title);
  for (const Producer& p : list)
    out += fmt::format("  {} src opr # {}  {}\n", place(p), operand, p.explained ? "BENIGN (explainable)" : "POTENTIAL PROBLEM");
}

// Of the patterns that failed, as the source's debug strings have it: source 001 "Spill-Refill Pattern Optimization" quotes them,
// with their spelling and spaces, and says no more. They stand on a line of their own behind the text of the category.
std::string_view debug_string(MemcheckCode code) {
  switch (code) {
    case MemcheckCode::SpillRefillMismatch: return " spill-regill bug \n";
    case MemcheckCode::BitSpillRefillFailure:
    case MemcheckCode::BitSpillBaseDestroyed: return " bit-spill bug \n";
    default: return "";
  }
}

void print_mismatch(std::string& out, const OperandMismatch& m, const MemcheckOptions& options) {
  const std::string banner(110, '=');
  out += banner + '\n';
  if (m.code == MemcheckCode::RematerializationMismatch)
    out += fmt::format("REMATERIALIZATION PROBLEM. New Instruction [{}] Old Instruction [{}]\n", m.other.value, m.remat_of.value);
  out += fmt::format("INSTRUCTION: [{}]\n{}\n\n", m.inst.value, banner);
  out += !m.saved.empty() ? fmt::format("Operand # {} (callee-saved {})\n", m.operand, m.saved)
                          : fmt::format("Operand # {}\n", m.operand);
  out += fmt::format("Producers for operand {} of instruction [{}] before register allocation:\n", m.operand, m.inst.value);
  for (const Producer& p : m.before) out += fmt::format("  {} for src opr # {}\n", place(p), m.operand);
  out += fmt::format("\nProducers for operand # {} of instruction [{}] after register allocation:\n", m.operand, m.inst.value);
  for (const Producer& p : m.after) out += fmt::format("  {} for src opr # {}\n", place(p), m.operand);
  print_differences(out, "Additions", m.additions, m.operand);
  print_differences(out, "Removals", m.removals, m.operand);
  if (m.code == MemcheckCode::None) {
    out += '\n';
    return;
  }
  out += fmt::format("\n{}", text(m.code));
  if (m.code == MemcheckCode::RematerializationMismatch)
    out += fmt::format(": Old instruction: [{}] New instruction: [{}]", m.remat_of.value, m.other.value);
  out += "\n";
  out += debug_string(m.code);
  if (m.code == MemcheckCode::ExtraDefsIntroduced && m.mixed_size && !options.ignore_potential_mixed_size_problems)
    out +=
        "Does this def potentially clobber upper bits of a register that is supposed to hold unsigned short or unsigned byte?\n"
        "If so, please use -knob IgnorePotentialMixedSizeProblems\n";
  out += '\n';
}

}  // namespace

std::string print_memcheck(const MemcheckDetails& details, const MemcheckOptions& options) {
  if (!details.skipped.empty()) return details.skipped + '\n';
  std::string out;
  if (options.dump_ir) {
    for (const OperandMismatch& m : details.mismatches) print_mismatch(out, m, options);
  } else if (!details.mismatches.empty()) {
    out += "Please use -knob DUMPIR=AllocateRegisters for debugging\n";
  }
  out += fmt::format("TOTAL MISMATCH {}   MISMATCH ON OLD {}\n", details.total_mismatch, details.mismatch_on_old);
  return out;
}

std::string print_memcheck(const Case& c, const MemcheckOptions& options) {
  return print_memcheck(options.is_on ? memcheck(c) : MemcheckDetails{.skipped = std::string(kSwitchedOff)}, options);
}

}  // namespace regduel::oracles
