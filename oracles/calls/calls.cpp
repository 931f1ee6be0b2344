// Sets of units and of shared bytes over the call graph, and what of them each caller needs. See calls.h.

#include "oracles/calls/calls.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/before.h"
#include "oracles/calls/survival.h"
#include "oracles/collector.h"
#include "oracles/pair/preserved.h"

namespace regduel::oracles {
namespace {

using calls::Effect;
using calls::Survival;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

constexpr std::size_t kUnits = std::size_t{ir::kNumFiles} * ir::kMaxUnits;
using Units = std::bitset<kUnits>;
using Bytes = std::set<std::uint64_t>;  // of shared memory

std::size_t unit_of(ir::RegFile file, int u) {
  return ir::index(file) * static_cast<std::size_t>(ir::kMaxUnits) + static_cast<std::size_t>(u);
}
void each_unit(ir::PReg r, const auto& action) {
  for (int u = r.begin(); u < std::min<int>(r.end(), ir::kMaxUnits); ++u) action(unit_of(r.file, u));
}
ir::PReg unit_at(std::size_t unit) {
  return {ir::kAllFiles[unit / ir::kMaxUnits], 1, static_cast<std::uint16_t>(unit % ir::kMaxUnits)};
}

// action(byte) for each byte of shared memory that a spill or a refill moves.
void each_shared_byte(const Function& f, const Inst& i, const auto& action) {
  const auto ops = f.operands_of(i);
  if (ops.size() < 2 || !ops[0].is_preg() || !ops[1].is_slot() || ops[1].slot().index() >= f.slots.size()) return;
  const ir::Slot& slot = f.slots[ops[1].slot().index()];
  if (slot.space != ir::MemSpace::Shared) return;
  const ir::FileBytes moved = Function::file_bytes(ops[0]);
  const std::uint64_t begin = std::uint64_t{slot.offset} + ops[1].slot_offset();
  for (std::uint32_t k = 0; k < moved.end - moved.begin; ++k) action(begin + k);
}

Units architectural_units(const Function& f) {
  Units units;
  for (const ir::VReg& v : f.vregs)
    if (v.is_architectural() && v.fixed.is_valid()) each_unit(v.fixed, [&](std::size_t u) { units.set(u); });
  return units;
}

// What one function writes, with all that its calls come to.
struct Effects {
  Units units, meant;
  Bytes shared;

  // True if it grew.
  bool add(const Effects& callee, const Units& preserved) {
    const Units more = callee.units & ~preserved & ~units, more_meant = callee.meant & ~preserved & ~meant;
    const std::size_t old = shared.size();
    units |= more;
    meant |= more_meant;
    shared.insert(callee.shared.begin(), callee.shared.end());
    return more.any() || more_meant.any() || shared.size() != old;
  }
};

constexpr int kMostFindings = 8;  // in one function: each takes several analyses

// One function with its allocation, prepared.
class Body {
 public:
  explicit Body(const FunctionOfFile& f)
      : of(*f.before, *f.after, *f.target, ir::Limits::of(*f.target)), architectural(architectural_units(of.before)),
        cfg_(of.given) {
    for (const ir::PReg r : of.prepared.preserved()) each_unit(r, [&](std::size_t u) { preserved.set(u); });
    needed = preserved;
    for (std::size_t b = 0; b < of.given.blocks.size(); ++b) {
      for (const Inst& i : of.given.insts_of(ir::BlockId(b)))
        for (const Operand& op : of.given.operands_of(i))
          if (op.is_preg() && op.reads()) each_unit(op.preg(), [&](std::size_t u) { needed.set(u); });
      for (const Inst& i : of.after.insts_of(ir::BlockId(b)))
        if (i.op == Op::Refill) each_shared_byte(of.after, i, [&](std::uint64_t byte) { needed_shared.insert(byte); });
    }
  }

  [[nodiscard]] Effects own_effects() const {
    Effects own;
    for (std::size_t b = 0; b < of.given.blocks.size(); ++b) {
      if (!cfg_.is_reachable(ir::BlockId(b))) continue;
      for (const Inst& i : of.given.insts_of(ir::BlockId(b))) own.units |= written(of.given, i);
      for (const Inst& i : of.after.insts_of(ir::BlockId(b)))
        if (i.op == Op::Spill) each_shared_byte(of.after, i, [&](std::uint64_t byte) { own.shared.insert(byte); });
    }
    own.meant = own.units & architectural;
    own.units &= ~(preserved | architectural);
    const ir::Abi& abi = of.target.abi(of.before.abi);
    Units kept;
    for (const ir::PReg r : abi.callee_saved) each_unit(r, [&](std::size_t u) { kept.set(u); });
    for (const ir::PReg r : abi.clobbered)
      each_unit(r, [&](std::size_t u) {
        if (kept[u]) own.units.set(u);
      });
    return own;
  }

  // action(instruction after, name of the callee) for each call in a reachable block.
  void each_call(const auto& action) const {
    for (std::size_t b = 0; b < of.given.blocks.size(); ++b) {
      if (!cfg_.is_reachable(ir::BlockId(b))) continue;
      for (const Inst& i : of.given.insts_of(ir::BlockId(b))) {
        const std::uint32_t at = i.op == Op::Call ? of.prepared.ids().find(i.id) : IdIndex::kNone;
        if (at == IdIndex::kNone || of.before.insts[at].op != Op::Call) continue;
        if (const std::string_view callee = callee_name(of.before, of.before.insts[at]); !callee.empty()) action(i, callee);
      }
    }
  }

  // Appends what a call of a function with these effects does beyond its list, where the caller may need it.
  void append(const Inst& call, const Effects& callee, std::vector<Effect>& effects) const {
    const Units unlisted = needed & ~written(of.given, call);
    const Units lost = (callee.units | (callee.meant & ~architectural)) & unlisted;
    const Units changed = callee.meant & architectural & unlisted & ~lost;
    for (std::size_t u = 0; u < kUnits && (lost | changed).any(); ++u)
      if (lost[u] || changed[u])
        effects.push_back(
            {.call = call.id, .kind = lost[u] ? Effect::Kind::Unit : Effect::Kind::Architectural, .unit = unit_at(u)});
    for (const std::uint64_t byte : needed_shared)
      if (callee.shared.contains(byte)) effects.push_back({.call = call.id, .kind = Effect::Kind::SharedByte, .byte = byte});
  }

  Case of;
  Units preserved, architectural;
  Units needed;         // read somewhere, or preserved
  Bytes needed_shared;  // refilled somewhere

 private:
  static Units written(const Function& f, const Inst& i) {
    Units units;
    for (const Operand& op : f.operands_of(i))
      if (op.is_preg() && (op.writes() || op.role == Role::Clobber)) each_unit(op.preg(), [&](std::size_t u) { units.set(u); });
    return units;
  }

  ir::Cfg cfg_;
};

class File {
 public:
  explicit File(std::span<const FunctionOfFile> file) : file_(file), effects_(file.size()) {
    std::set<std::string_view> twice;
    for (std::size_t k = 0; k < file.size(); ++k) {
      const FunctionOfFile& f = file[k];
      bodies_.push_back(f.after == nullptr ? nullptr : std::make_unique<Body>(f));
      if (f.before->kind != ir::FunctionKind::Device) continue;
      if (!index_.emplace(f.before->name, k).second) twice.insert(f.before->name);
      if (f.is_replaceable || f.after == nullptr) twice.insert(f.before->name);
    }
    for (const std::string_view name : twice) index_.erase(name);
    for (std::size_t k = 0; k < file.size(); ++k)
      if (bodies_[k]) effects_[k] = bodies_[k]->own_effects();
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t k = 0; k < file.size(); ++k)
        each_call(
            k, [&](const Inst&, std::size_t callee) { grew = effects_[k].add(effects_[callee], bodies_[k]->preserved) || grew; });
    }
  }

  [[nodiscard]] JudgeResult judge(std::size_t k) const {
    if (!bodies_[k]) return without_verdict(kCalls, Verdict::Skipped, "there is no allocation");
    std::vector<Effect> effects;
    std::map<std::uint32_t, std::size_t> callee_of;  // by id of the call
    each_call(k, [&](const Inst& call, std::size_t callee) {
      bodies_[k]->append(call, effects_[callee], effects);
      callee_of.emplace(call.id.value, callee);
    });
    Collector out(kCalls);
    Survival survival(bodies_[k]->of);
    for (int found = 0; found < kMostFindings && !effects.empty(); ++found) {
      const Survival::Answer all = survival.under(effects);
      if (!all.unreadable.empty()) return without_verdict(kCalls, Verdict::Skipped, all.unreadable);
      if (!all.doubt.empty() && out.empty()) return without_verdict(kCalls, Verdict::Inconclusive, all.doubt);
      if (!all.reader.is_valid()) break;
      const Effect first = guilty(survival, effects);
      report(first, file_[callee_of.at(first.call.value)].before->name, all.reader, bodies_[k]->of, out);
      std::erase_if(effects, [&](const Effect& e) { return e.call == first.call && category_of(e) == category_of(first); });
    }
    return out.finish();
  }

 private:
  void each_call(std::size_t k, const auto& action) const {
    if (!bodies_[k]) return;
    bodies_[k]->each_call([&](const Inst& i, std::string_view callee) {
      if (const auto found = index_.find(callee); found != index_.end()) action(i, found->second);
    });
  }

  // The last of the fewest first effects under which somebody finds something else. Requires: under all of them somebody does.
  static Effect guilty(Survival& survival, std::span<const Effect> effects) {
    std::size_t good = 0, bad = effects.size();
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (survival.under(effects.first(middle)).reader.is_valid() ? bad : good) = middle;
    }
    return effects[bad - 1];
  }
  static std::string_view category_of(const Effect& e) {
    return e.kind == Effect::Kind::SharedByte ? "shared-slot" : "callee-clobber";
  }
  static void report(const Effect& e, const std::string& callee, ir::InstId reader, const Case& of, Collector& out) {
    const auto message = [&] {
      switch (e.kind) {
        case Effect::Kind::SharedByte:
          return fmt::format("@{} stores to byte {} of shared memory, where a value is kept across this call", callee, e.byte);
        case Effect::Kind::Architectural:
          return fmt::format("@{} writes {}, and what the register held before this call is read behind it", callee,
                             ir::to_string(of.given, e.unit));
        case Effect::Kind::Unit: break;
      }
      return fmt::format("@{} writes {}, which is read behind this call and not among its clobbers", callee,
                         ir::to_string(of.given, e.unit));
    };
    out.add(category_of(e), e.call, -1, message(), reader);
  }

  std::span<const FunctionOfFile> file_;
  std::vector<std::unique_ptr<Body>> bodies_;  // by function; null where there is no allocation
  std::vector<Effects> effects_;
  std::map<std::string_view, std::size_t> index_;  // those whose bodies are known
};

}  // namespace

std::string_view callee_name(const Function& before, const Inst& call) {
  const auto uses = ir::uses_of(before.operands_of(call));
  if (uses.empty() || uses[0].kind != ir::OperandKind::Symbol) return {};
  const bool is_indirect = std::ranges::any_of(
      uses, [&](const Operand& op) { return op.is_register() && !(op.is_vreg() && before.fixed_of(op).is_valid()); });
  return is_indirect ? std::string_view() : before.symbols[uses[0].symbol()];
}

bool has_calls_inside(std::span<const FunctionOfFile> file) {
  std::set<std::string_view> names;
  for (const FunctionOfFile& f : file) names.insert(f.before->name);
  return std::ranges::any_of(file, [&](const FunctionOfFile& f) {
    return std::ranges::any_of(f.before->insts,
                               [&](const Inst& i) { return i.op == Op::Call && names.contains(callee_name(*f.before, i)); });
  });
}

std::vector<ir::PReg> may_write(const Function& before, const ir::Target& target) {
  ir::PerFile<bool> has = {};
  has[ir::index(ir::RegFile::R)] = true;  // what goes to memory from another file takes a register of R
  for (const ir::VReg& v : before.vregs) has[ir::index(v.file())] = true;
  for (const Operand& op : before.operands)
    if (op.role == Role::Clobber) has[ir::index(op.preg().file)] = true;
  Units kept, meant;
  for (const ir::PReg r : preserved_units(before, target)) each_unit(r, [&](std::size_t u) { kept.set(u); });
  for (const ir::PReg r : target.abi(before.abi).clobbered) each_unit(r, [&](std::size_t u) { kept.reset(u); });
  kept |= architectural_units(before);
  for (const Operand& op : before.operands)
    if (op.is_vreg() && op.writes())
      if (const ir::VReg& v = before.vreg(before.root(op.vreg())); v.is_architectural())
        each_unit(v.fixed, [&](std::size_t u) { meant.set(u); });
  std::vector<ir::PReg> units;
  for (const ir::RegFile file : ir::kAllFiles)
    for (int u = 0; has[ir::index(file)] && u < target.units[ir::index(file)]; ++u)
      if (meant[unit_of(file, u)] || (!kept[unit_of(file, u)] && !target.is_reserved(before.abi, file, u)))
        units.push_back({file, 1, static_cast<std::uint16_t>(u)});
  return units;
}

bool lists_what_callees_may_write(std::span<const FunctionOfFile> file) {
  std::map<std::string_view, Units> written;
  for (const FunctionOfFile& f : file)
    for (const ir::PReg r : may_write(*f.before, *f.target)) each_unit(r, [&](std::size_t u) { written[f.before->name].set(u); });
  return std::ranges::all_of(file, [&](const FunctionOfFile& f) {
    return std::ranges::all_of(f.before->insts, [&](const Inst& i) {
      const auto callee = i.op == Op::Call ? written.find(callee_name(*f.before, i)) : written.end();
      if (callee == written.end()) return true;
      Units lacking = callee->second;
      for (const Operand& op : f.before->operands_of(i)) {
        const ir::PReg r = op.role == Role::Clobber ? op.preg() : op.is_vreg() && op.writes() ? f.before->fixed_of(op) : ir::PReg();
        if (r.is_valid()) each_unit(r, [&](std::size_t u) { lacking.reset(u); });
      }
      return lacking.none();
    });
  });
}

std::vector<JudgeResult> judge_calls(std::span<const FunctionOfFile> file) {
  const File judged(file);
  std::vector<JudgeResult> results;
  for (std::size_t k = 0; k < file.size(); ++k) results.push_back(judged.judge(k));
  return results;
}

}  // namespace regduel::oracles
