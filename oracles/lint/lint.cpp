// Questions to memcheck's definitions and to the packing of operands. See lint.h.
#include "oracles/lint/lint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ir/text/text.h"
#include "oracles/completeness.h"
#include "oracles/limit_by_point.h"
#include "oracles/memcheck/prepared.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::RegFile;

// The register without its attributes.
std::string register_of(const Function& f, Operand op) {
  op.tied = ir::kNotTied;
  op.flags = 0;
  op.set_fixed({});
  return ir::print(f, op);
}

class Lint {
 public:
  Lint(const Before& before, const ir::Limits& limits)
      : before_(before), f_(before.program()), limits_(limits), points_(f_, limits.of(RegFile::R)),
        part_(before.part<MemcheckPart>()) {}

  [[nodiscard]] std::vector<Finding> run() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      const auto insts = f_.insts_of(ir::BlockId(b));
      if (!before_.cfg().is_reachable(ir::BlockId(b))) {
        add("unreachable-code", insts[0], -1, fmt::format("no path leads from the entry to b{}: remove it, or branch to it", b));
        continue;
      }
      for (const Inst& i : insts) {
        if (!i.is_phi()) look_at_reads(i);
        look_at_demand(i);
      }
    }
    return std::move(findings_);
  }

 private:
  void add(std::string_view category, const Inst& i, int operand, std::string message) {
    findings_.push_back({"lint", std::string(category), i.id, operand, {}, std::move(message)});
  }

  // True if no definition reaches byte k of what the operand reads, nor anything that an undefined guard, which has a finding of its
  // own, has left undefined.
  [[nodiscard]] bool is_undefined(std::size_t operand, int k) {
    const Definitions& defs = part_.defs();
    return !part_.sets().any_of(part_.reaching().set_of(part_.graph().read_byte(operand, k)), is_excused_, [&](std::uint32_t e) {
      return !defs.is_undefined(leaf_of(e)) || part_.asks_for_nothing(defs[leaf_of(e)].inst);
    });
  }

  void look_at_reads(const Inst& i) {
    const auto ops = f_.operands_of(i);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const std::size_t operand = i.first_operand + k;
      if (!ops[k].is_vreg() || !ops[k].reads() || !part_.graph().is_read(operand)) continue;
      const int bytes = part_.graph().read_bytes(operand);
      int first = 0, last = bytes - 1;
      while (first < bytes && !is_undefined(operand, first)) ++first;
      if (first == bytes) continue;
      while (!is_undefined(operand, last)) --last;
      const std::string name = register_of(f_, ops[k]);
      if (ops[k].role == ir::Role::Guard) {
        add("undefined-guard", i, static_cast<int>(k),
            fmt::format(
                "no path to here gives the guard {} a value, so whether this happens is undefined: write {}, or drop the guard",
                name, name));
        continue;
      }
      const std::string what = first == 0 && last == bytes - 1 ? name
                               : first == last                 ? fmt::format("byte {} of {}", first, name)
                                                               : fmt::format("bytes {} to {} of {}", first, last, name);
      add("undefined-read", i, static_cast<int>(k),
          fmt::format("no path to here gives {} a value, and it is read: write it first (a copy of nothing gives none)", what));
    }
  }

  // The option that sets the limit of a file.
  [[nodiscard]] static std::string flag(RegFile file, int units) {
    return file == RegFile::R ? fmt::format("--regs {}", units) : fmt::format("--limit {}={}", ir::name(file), units);
  }

  void look_at_demand(const Inst& i) {
    if (is_feasible(f_, i, before_.target(), limits_)) return;
    for (const RegFile file : ir::kAllFiles) {
      const std::optional<int> units = demand(f_, i, file, before_.target());
      const bool is_by_point = file == RegFile::R && points_.varies();
      const int limit = is_by_point ? points_.before(static_cast<std::size_t>(&i - f_.insts.data())) : limits_.of(file);
      if (units && *units > limit && is_by_point)
        add("demand-above-limit", i, -1,
            fmt::format("needs {} units of file R at once, and here, by setmaxnreg or the limit of a way to here, the limit is {}: "
                        "raise it in "
                        "front of this",
                        *units, limit));
      else if (units && *units > limit)
        add("demand-above-limit", i, -1,
            fmt::format("needs {} {} of file {} at once, and the limit is {}: {} would do", *units, *units == 1 ? "unit" : "units",
                        ir::name(file), limit, flag(file, *units)));
      if (!units) look_at_ties(i, file);
    }
  }

  // Of an instruction that cannot be packed into the whole file.
  void look_at_ties(const Inst& i, RegFile file) {
    Function free = f_;
    const auto ops = f_.operands_of(i);
    std::optional<std::size_t> tied;
    for (std::size_t k = ops.size(); k-- > 0;)
      if (ops[k].is_tied()) free.operands[i.first_operand + k].tied = ir::kNotTied, tied = k;
    if (tied && demand(free, i, file, before_.target()))
      return add("impossible-tie", i, static_cast<int>(*tied),
                 fmt::format("no register can be that of both {} and {}: drop the tie, or copy the use in front of it",
                             register_of(f_, ops[*tied]), register_of(f_, ops[ops[*tied].tied])));
    add("demand-above-file", i, -1,
        fmt::format("its operands cannot be packed into the {} units of file {} that the target has",
                    before_.target().units[ir::index(file)], ir::name(file)));
  }

  const Before& before_;
  const Function& f_;
  const ir::Limits limits_;
  const LimitByPoint points_;  // of R
  MemcheckPart& part_;
  std::vector<signed char> is_excused_;  // memo of DefSets::any_of
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> lint(const Before& before, const ir::Limits& limits) { return Lint(before, limits).run(); }

}  // namespace regduel::oracles
