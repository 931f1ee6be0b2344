// See linear_scan.h.
#include "linear_scan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace example {
namespace {

namespace ir = regduel::ir;

// Instructions by position, both ends included.
struct Interval {
  ir::VRegId vreg;
  std::size_t begin = 0, end = 0;

  [[nodiscard]] bool overlaps(const Interval& o) const { return begin <= o.end && o.begin <= end; }
};

bool is_known(const ir::Function& f) {
  if (f.kind != ir::FunctionKind::Kernel) return false;
  const bool has_phis_or_calls =
      std::any_of(f.insts.begin(), f.insts.end(), [](const ir::Inst& i) { return i.is_phi() || i.op == ir::Op::Call; });
  const bool is_constrained = std::any_of(f.operands.begin(), f.operands.end(), [&](const ir::Operand& o) {
    return o.is_preg() || o.is_tied() || (o.is_vreg() && f.fixed_of(o).is_valid());
  });
  const bool has_own_registers = std::any_of(f.vregs.begin(), f.vregs.end(), [](const ir::VReg& v) { return v.fixed.is_valid(); });
  return !has_phis_or_calls && !is_constrained && !has_own_registers;
}

// Of the roots that are mentioned, by first mention.
std::vector<Interval> live_intervals(const ir::Function& f) {
  std::vector<Interval> intervals;
  std::vector<std::optional<std::size_t>> known(f.vregs.size());
  for (std::size_t at = 0; at < f.insts.size(); ++at)
    for (const ir::Operand& o : f.operands_of(f.insts[at])) {
      if (!o.is_vreg()) continue;
      const ir::VRegId root = f.root(o.vreg());
      std::optional<std::size_t>& index = known[root.index()];
      if (!index) {
        index = intervals.size();
        intervals.push_back({root, at, at});
      }
      intervals[*index].end = at;
    }
  return intervals;
}

void stretch_over_loops(const ir::Function& f, std::vector<Interval>& intervals) {
  std::vector<Interval> loops;
  for (const ir::Block& b : f.blocks) {
    const std::size_t last = b.first_inst + b.num_insts - 1;
    for (const ir::BlockId t : f.targets_of(f.insts[last]))
      if (f.block(t).first_inst <= last) loops.push_back({{}, f.block(t).first_inst, last});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Interval& i : intervals)
      for (const Interval& loop : loops) {
        if (!i.overlaps(loop) || (i.begin <= loop.begin && i.end >= loop.end)) continue;
        i.begin = std::min(i.begin, loop.begin);
        i.end = std::max(i.end, loop.end);
        changed = true;
      }
  }
}

}  // namespace

std::expected<ir::Allocation, ir::AllocFailure> LinearScan::allocate(const ir::Function& program, const ir::Target& target,
                                                                     const ir::AllocOptions& options) const {
  const auto give_up = [](const char* why) { return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, why}); };
  if (!is_known(program)) return give_up("a device function, a phi, a call, or an operand that is tied or fixed");
  std::vector<Interval> intervals = live_intervals(program);
  if (loops_ == Loops::Stretch) stretch_over_loops(program, intervals);
  std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });

  ir::Allocation result;
  std::vector<ir::PReg> homes(program.vregs.size());
  for (std::size_t n = 0; n < intervals.size(); ++n) {
    const ir::VReg& v = program.vreg(intervals[n].vreg);
    const auto is_free = [&](ir::PReg home) {
      for (int unit = home.begin(); unit < home.end(); ++unit)
        if (!ir::is_allocatable(target, program.abi, options.limits, home.file, unit)) return false;
      return std::none_of(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(n), [&](const Interval& other) {
        return other.overlaps(intervals[n]) && homes[other.vreg.index()].overlaps(home);
      });
    };
    ir::PReg home = {v.file(), static_cast<std::uint8_t>(v.units()), 0};
    while (home.end() <= options.limits.of(home.file) && !is_free(home))
      home.first = static_cast<std::uint16_t>(home.first + v.alignment());
    if (home.end() > options.limits.of(home.file)) return give_up("more values than registers: it does not spill");
    homes[intervals[n].vreg.index()] = home;
    int& registers = result.claims.registers[ir::index(home.file)];
    registers = std::max(registers, home.end());
  }

  result.program = program.clone_header();
  result.program.phase = ir::Phase::Allocated;
  for (const ir::Block& b : program.blocks) {
    result.program.begin_block(b);
    for (const ir::Inst& i : program.insts_of(b)) {
      std::vector<ir::Operand> operands;
      for (const ir::Operand& o : program.operands_of(i))
        operands.push_back(o.is_vreg() ? program.placed_at(o, homes[program.root(o.vreg()).index()]) : o);
      result.program.append(i, operands, program.targets_of(i));
    }
  }
  return result;
}

}  // namespace example
