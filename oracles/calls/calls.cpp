// Sets of units and of shared bytes over the call graph, and their liveness behind calls. See calls.h.

#include "oracles/calls/calls.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "ir/cfg.h"
#include "oracles/collector.h"
#include "oracles/pair/id_index.h"
#include "oracles/pair/preserved.h"
#include "oracles/pair/raise.h"

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Role;

constexpr std::size_t kUnits = std::size_t{ir::kNumFiles} * ir::kMaxUnits;
using Units = std::bitset<kUnits>;
using Bytes = std::set<std::uint64_t>;  // of shared memory, by words of four

std::size_t unit_of(ir::RegFile file, int u) {
  return ir::index(file) * static_cast<std::size_t>(ir::kMaxUnits) + static_cast<std::size_t>(u);
}
void each_unit(ir::PReg r, const auto& action) {
  for (int u = r.begin(); u < std::min<int>(r.end(), ir::kMaxUnits); ++u) action(unit_of(r.file, u));
}
std::string name_of_unit(const Function& f, std::size_t unit) {
  const auto file = ir::kAllFiles[unit / ir::kMaxUnits];
  return ir::to_string(f, {file, 1, static_cast<std::uint16_t>(unit % ir::kMaxUnits)});
}

// action(word) for each word of a slot in shared memory.
void each_word(const Function& f, const Operand& op, const auto& action) {
  if (!op.is_slot() || op.slot().index() >= f.slots.size()) return;
  const ir::Slot& slot = f.slots[op.slot().index()];
  if (slot.space != ir::MemSpace::Shared) return;
  for (std::uint64_t at = slot.offset / 4; at * 4 < std::uint64_t{slot.offset} + slot.size; ++at) action(at);
}

// What one function writes, with all that its calls come to.
struct Effects {
  Units units;
  Bytes shared;

  // True if it grew.
  bool add(const Effects& callee, const Units& preserved) {
    const Units more = callee.units & ~preserved & ~units;
    const std::size_t old = shared.size();
    units |= more;
    shared.insert(callee.shared.begin(), callee.shared.end());
    return more.any() || shared.size() != old;
  }
};

// One function with its allocation, prepared.
class Body {
 public:
  explicit Body(const FunctionOfFile& f)
      : before_(*f.before), given_(*f.after), limits_(ir::Limits::of(*f.target)),
        raised_(raise(*f.before, *f.after, *f.target, limits_)), after_(raised_ ? raised_->program : *f.after), cfg_(given_),
        ids_(before_) {
    for (const ir::PReg r : preserved_units(before_, *f.target)) each_unit(r, [&](std::size_t u) { preserved.set(u); });
    for (const ir::VReg& v : before_.vregs)
      if (v.is_architectural() && v.fixed.is_valid()) each_unit(v.fixed, [&](std::size_t u) { architectural_.set(u); });
  }

  [[nodiscard]] Effects own_effects(const ir::Target& target) const {
    Effects own;
    for (std::size_t b = 0; b < given_.blocks.size(); ++b) {
      if (!cfg_.is_reachable(ir::BlockId(b))) continue;
      for (const Inst& i : given_.insts_of(ir::BlockId(b)))
        for (const Operand& op : given_.operands_of(i))
          if (op.is_preg() && (op.writes() || op.role == Role::Clobber))
            each_unit(op.preg(), [&](std::size_t u) { own.units.set(u); });
      for (const Inst& i : after_.insts_of(ir::BlockId(b)))
        if (i.op == Op::Spill)
          for (const Operand& op : after_.operands_of(i)) each_word(after_, op, [&](std::uint64_t w) { own.shared.insert(w); });
    }
    own.units &= ~(preserved | architectural_);
    const ir::Abi& abi = target.abi(before_.abi);
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
    for (std::size_t b = 0; b < given_.blocks.size(); ++b) {
      if (!cfg_.is_reachable(ir::BlockId(b))) continue;
      for (const Inst& i : given_.insts_of(ir::BlockId(b))) {
        const std::uint32_t at = i.op == Op::Call ? ids_.find(i.id) : IdIndex::kNone;
        if (at == IdIndex::kNone || before_.insts[at].op != Op::Call) continue;
        if (const std::string_view callee = callee_name(before_, before_.insts[at]); !callee.empty()) action(i, callee);
      }
    }
  }

  // What the call lists: its defs and its clobbers.
  [[nodiscard]] Units listed(const Inst& call) const {
    Units units = architectural_;
    for (const Operand& op : given_.operands_of(call))
      if (op.is_preg() && (op.writes() || op.role == Role::Clobber)) each_unit(op.preg(), [&](std::size_t u) { units.set(u); });
    return units;
  }

  // The units that are read behind the call before they are written.
  [[nodiscard]] Units live_behind(ir::InstId call) const {
    return flow<Units>(given_, call, [&](const Inst& i, Units& live) {
      const auto ops = given_.operands_of(i);
      const bool is_guarded = ir::is_guarded(ops);
      for (const Operand& op : ops)
        if (op.is_preg() && !is_guarded && op.part.is_whole() && (op.role == Role::Def || op.role == Role::Clobber))
          each_unit(op.preg(), [&](std::size_t u) { live.reset(u); });
      for (const Operand& op : ops)
        if (op.is_preg() && op.reads()) each_unit(op.preg(), [&](std::size_t u) { live.set(u); });
      if (i.op == Op::Ret) live |= preserved;
    });
  }
  [[nodiscard]] Bytes live_shared_behind(ir::InstId call) const {
    return flow<Bytes>(after_, call, [&](const Inst& i, Bytes& live) {
      if (i.op != Op::Spill && i.op != Op::Refill) return;
      const auto ops = after_.operands_of(i);
      if (i.op == Op::Refill) {
        for (const Operand& op : ops) each_word(after_, op, [&](std::uint64_t w) { live.insert(w); });
      } else if (ops.size() >= 2 && ops[1].is_slot() && ops[0].is_preg() && !ir::is_guarded(ops) &&
                 ops[1].slot().index() < after_.slots.size()) {
        const ir::FileBytes bytes = Function::file_bytes(ops[0]);
        const ir::Slot& slot = after_.slots[ops[1].slot().index()];
        const std::uint64_t begin = std::uint64_t{slot.offset} + ops[1].slot_offset(), end = begin + (bytes.end - bytes.begin);
        if (slot.space == ir::MemSpace::Shared)
          for (std::uint64_t w = (begin + 3) / 4; (w + 1) * 4 <= end; ++w) live.erase(w);
      }
    });
  }

  [[nodiscard]] const Function& given() const { return given_; }

  Units preserved;

 private:
  // Backwards to the point behind the call; step(instruction, set) from behind an instruction to before it.
  template <class Set>
  [[nodiscard]] Set flow(const Function& f, ir::InstId call, const auto& step) const {
    std::vector<Set> at_begin(f.blocks.size());
    const auto at_end = [&](std::size_t b) {
      Set live;
      for (const ir::BlockId s : f.successors(ir::BlockId(b))) unite(live, at_begin[s.index()]);
      return live;
    };
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t b = f.blocks.size(); b-- > 0;) {
        Set live = at_end(b);
        const auto insts = f.insts_of(ir::BlockId(b));
        for (std::size_t k = insts.size(); k-- > 0;) step(insts[k], live);
        if (live != at_begin[b]) at_begin[b] = std::move(live), grew = true;
      }
    }
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      Set live = at_end(b);
      const auto insts = f.insts_of(ir::BlockId(b));
      for (std::size_t k = insts.size(); k-- > 0; step(insts[k], live))
        if (insts[k].id == call) return live;
    }
    return {};
  }
  static void unite(Units& into, const Units& from) { into |= from; }
  static void unite(Bytes& into, const Bytes& from) { into.insert(from.begin(), from.end()); }

  const Function& before_;
  const Function& given_;
  ir::Limits limits_;
  std::shared_ptr<const Raised> raised_;
  const Function& after_;  // without lowered spill code
  ir::Cfg cfg_;
  IdIndex ids_;
  Units architectural_;
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
      if (bodies_[k]) effects_[k] = bodies_[k]->own_effects(*file[k].target);
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t k = 0; k < file.size(); ++k)
        each_call(
            k, [&](const Inst&, std::size_t callee) { grew = effects_[k].add(effects_[callee], bodies_[k]->preserved) || grew; });
    }
  }

  [[nodiscard]] JudgeResult judge(std::size_t k) const {
    if (!bodies_[k]) return without_verdict(kCalls, Verdict::Skipped, "there is no allocation");
    Collector out(kCalls);
    const Body& body = *bodies_[k];
    each_call(k, [&](const Inst& call, std::size_t callee) {
      const Effects& effects = effects_[callee];
      const std::string& name = file_[callee].before->name;
      if (Units lost = effects.units & ~body.listed(call); lost.any()) {
        lost &= body.live_behind(call.id);
        for (std::size_t u = 0; u < kUnits && lost.any(); ++u) {
          if (!lost[u]) continue;
          out.add("callee-clobber", call.id, -1,
                  fmt::format("@{} writes {}, which is read behind this call and not among its clobbers", name,
                              name_of_unit(body.given(), u)));
          break;
        }
      }
      if (effects.shared.empty()) return;
      for (const std::uint64_t word : body.live_shared_behind(call.id)) {
        if (!effects.shared.contains(word)) continue;
        out.add("shared-slot", call.id, -1,
                fmt::format("@{} stores to byte {} of shared memory, where a value is kept across this call", name, word * 4));
        break;
      }
    });
    return out.finish();
  }

 private:
  void each_call(std::size_t k, const auto& action) const {
    if (!bodies_[k]) return;
    bodies_[k]->each_call([&](const Inst& i, std::string_view callee) {
      if (const auto found = index_.find(callee); found != index_.end()) action(i, found->second);
    });
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
  Units kept;
  for (const ir::PReg r : preserved_units(before, target)) each_unit(r, [&](std::size_t u) { kept.set(u); });
  for (const ir::PReg r : target.abi(before.abi).clobbered) each_unit(r, [&](std::size_t u) { kept.reset(u); });
  for (const ir::VReg& v : before.vregs)
    if (v.is_architectural() && v.fixed.is_valid()) each_unit(v.fixed, [&](std::size_t u) { kept.set(u); });
  std::vector<ir::PReg> units;
  for (const ir::RegFile file : ir::kAllFiles)
    for (int u = 0; has[ir::index(file)] && u < target.units[ir::index(file)]; ++u)
      if (!kept[unit_of(file, u)] && !target.is_reserved(before.abi, file, u))
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
      for (const ir::VReg& v : f.before->vregs)
        if (v.is_architectural() && v.fixed.is_valid()) each_unit(v.fixed, [&](std::size_t u) { lacking.reset(u); });
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
