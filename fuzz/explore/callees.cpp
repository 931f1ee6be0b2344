// See callees.h.
#include "fuzz/explore/callees.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz/edit/edit.h"
#include "generate/generator.h"
#include "ir/check.h"
#include "oracles/calls/calls.h"

namespace regduel::fuzz {
namespace {

constexpr int kLargestCallee = 40;  // instructions, about

// Names of functions that the program calls and that may have a body.
std::set<std::string> called_names(const ir::Function& f, const ir::Target& target) {
  std::set<std::string> names;
  for (const ir::Inst& i : f.insts) {
    if (i.op != ir::Op::Call) continue;
    const std::string name(oracles::callee_name(f, i));
    if (!name.empty() && name != f.name && !target.abi(f.abi).is_runtime(name)) names.insert(name);
  }
  return names;
}

ir::Function body_of(const std::string& name, const duel::Case& c, Random& random) {
  const generate::Profile profile = generate::profiles()[random.below(generate::kNumProfiles)];
  ir::Function f =
      generate::generate({.profile = profile, .seed = random.next(), .size = random.between(1, kLargestCallee)}, *c.target);
  f.name = name;
  f.kind = ir::FunctionKind::Device;
  f.abi = c.program.abi;
  f.threads = c.program.threads;
  return f;
}

// The function with clobbers of its calls added, so that they list these units by name of the callee.
ir::Function with_clobbers(const ir::Function& f, const std::map<std::string, std::vector<ir::PReg>, std::less<>>& written) {
  EditProgram p(f);
  std::vector<ir::PReg> architectural;
  for (const ir::VReg& v : f.vregs)
    if (v.is_architectural()) architectural.push_back(v.fixed);
  for (EditBlock& b : p.blocks)
    for (EditInst& i : b.insts) {
      if (i.inst.op != ir::Op::Call) continue;
      const ir::Inst* const call = f.find_inst(i.inst.id);
      const auto found = written.find(oracles::callee_name(f, *call));
      if (found == written.end()) continue;
      for (const ir::PReg unit : found->second) {
        const auto overlaps = [&](ir::PReg r) { return r.is_valid() && r.overlaps(unit); };
        const bool is_listed = std::ranges::any_of(i.ops, [&](const ir::Operand& op) {
          return op.role == ir::Role::Clobber ? overlaps(op.preg()) : op.is_vreg() && op.writes() && overlaps(f.fixed_of(op));
        });
        if (is_listed || std::ranges::any_of(architectural, overlaps)) continue;
        ir::Operand& last = i.ops.back();
        if (ir::PReg r = last.role == ir::Role::Clobber ? last.preg() : ir::PReg();
            r.is_valid() && r.file == unit.file && r.end() == unit.begin() && r.count < 200) {
          ++r.count;
          last.set_preg(r);
        } else {
          i.ops.push_back(ir::Operand::of_preg(ir::Role::Clobber, unit));
        }
      }
    }
  return p.build();
}

}  // namespace

void give_callees(duel::Case& c, std::uint64_t seed) {
  Random random(seed);
  duel::Case given = c;
  for (const std::string& name : called_names(c.program, *c.target)) {
    ir::Function body = body_of(name, c, random);
    if (duel::may_be_callee(body, given) && ir::check(body, *c.target, 1).empty()) given.callees.push_back(std::move(body));
  }
  if (given.callees.size() == c.callees.size()) return;
  // What a body may write depends on the clobbers of its own calls: until nothing is added.
  for (std::size_t round = 0; round <= given.callees.size(); ++round) {
    std::map<std::string, std::vector<ir::PReg>, std::less<>> written;
    for (const ir::Function& f : given.callees) written[f.name] = oracles::may_write(f, *c.target);
    written[given.program.name] = oracles::may_write(given.program, *c.target);
    given.program = with_clobbers(given.program, written);
    for (ir::Function& f : given.callees) f = with_clobbers(f, written);
  }
  const auto is_fine = [&](const ir::Function& f) { return ir::check(f, *c.target, 1).empty(); };
  if (!is_fine(given.program) || !std::ranges::all_of(given.callees, is_fine)) return;
  // No clobber stands in an architectural register of the caller.
  std::vector<oracles::FunctionOfFile> file = {{&given.program, nullptr, c.target}};
  for (const ir::Function& f : given.callees) file.push_back({&f, nullptr, c.target});
  if (!oracles::lists_what_callees_may_write(file)) return;
  const auto fit = [&](const ir::Function& f) {
    const ir::PerFile<int> bound = generate::demand_bound(f, *c.target);
    for (std::size_t k = 0; k < bound.size(); ++k)
      given.limits.units[k] = std::min(std::max(given.limits.units[k], bound[k]), c.target->units[k]);
  };
  fit(given.program);
  std::ranges::for_each(given.callees, fit);
  c = std::move(given);
}

}  // namespace regduel::fuzz
