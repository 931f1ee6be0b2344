// See mutator.h. A mutation edits without looking at the rules; ir::check decides afterwards. That keeps mutations
// short, and reaches programs that a cautious edit would never make.
#include "fuzz/edit/mutator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "duel/duel.h"
#include "fuzz/edit/edit.h"
#include "fuzz/edit/grow.h"
#include "generate/generator.h"
#include "generate/standard_mix.h"
#include "ir/check.h"

namespace regduel::fuzz {
namespace {

using ir::Operand;
using ir::Role;
using ir::VRegId;

std::uint32_t u32(std::size_t n) { return static_cast<std::uint32_t>(n); }

class Editor {
 public:
  Editor(EditProgram& p, const ir::Target& target, Random& random) : p_(p), target_(target), random_(random) {}

  bool delete_inst() {
    EditBlock& b = any_block();
    const std::size_t k = random_.below(u32(b.insts.size()));
    if (b.insts[k].inst.is_terminator()) return false;
    b.insts.erase(b.insts.begin() + static_cast<std::ptrdiff_t>(k));
    return true;
  }
  bool duplicate_inst() {
    EditBlock& b = any_block();
    const std::size_t k = random_.below(u32(b.insts.size()));
    if (!is_movable(b.insts[k])) return false;
    EditInst copy = b.insts[k];
    copy.inst.id = p_.next_id();
    EditBlock& to = any_block();
    const std::size_t at = any_place(to, random_);
    insert_at(to, at, std::move(copy));
    return true;
  }
  bool insert_inst() {
    if (p_.header.vregs.empty()) return false;
    EditInst i;
    i.inst.op = ir::Op::Named;
    i.inst.id = p_.next_id();
    i.inst.mnemonic = p_.header.symbols.intern("mutant");
    EditBlock& b = any_block();
    const std::size_t at = any_place(b, random_);
    const auto defs = random_.below(3), uses = random_.below(4);
    for (std::uint32_t k = 0; k < defs + uses; ++k)
      if (const VRegId v = vreg_near(p_, b, at, random_, [](const ir::VReg&) { return true; }); v.is_valid())
        i.ops.push_back(Operand::of_vreg(k < defs ? Role::Def : Role::Use, v));
    if (random_.chance(30)) i.inst.flags |= ir::kMemWrite;
    insert_at(b, at, std::move(i));
    return true;
  }
  bool move_inst() {
    EditBlock& b = any_block();
    const std::size_t k = random_.below(u32(b.insts.size()));
    if (!is_movable(b.insts[k])) return false;
    EditInst moved = std::move(b.insts[k]);
    b.insts.erase(b.insts.begin() + static_cast<std::ptrdiff_t>(k));
    EditBlock& to = random_.chance(50) ? b : any_block();
    const std::size_t at = any_place(to, random_);
    const bool stays = &to == &b && at == k;
    insert_at(to, at, std::move(moved));
    return !stays;
  }
  bool rewire_operand() {
    const auto [i, k] = any_operand([](const EditInst&, const Operand& o) { return o.is_vreg(); });
    if (!i) return false;
    const ir::VReg old = p_.header.vreg(i->ops[k].vreg());
    const VRegId v = any_vreg([&](const ir::VReg& r) { return r.file() == old.file() && r.width == old.width; });
    if (!v.is_valid() || v == i->ops[k].vreg()) return false;
    i->ops[k].set_vreg(v);
    return true;
  }
  bool swap_operands() {
    EditInst& i = any_inst();
    if (i.ops.size() < 2) return false;
    const std::size_t a = random_.below(u32(i.ops.size())), b = random_.below(u32(i.ops.size()));
    if (a == b || i.ops[a].role != i.ops[b].role || i.ops[a] == i.ops[b]) return false;
    std::swap(i.ops[a], i.ops[b]);
    return true;
  }
  bool change_class() {
    if (p_.header.vregs.empty()) return false;
    ir::VReg& v = p_.header.vregs[any_vreg().index()];
    const auto next = static_cast<ir::RegClass>(random_.below(ir::kNumClasses));
    if (next == v.cls) return false;
    v.cls = next;
    return true;
  }
  bool change_width() {
    if (p_.header.vregs.empty()) return false;
    ir::VReg& v = p_.header.vregs[any_vreg().index()];
    constexpr std::array<std::uint16_t, 7> kWidths = {8, 16, 32, 64, 96, 128, 256};
    const std::uint16_t width = kWidths[random_.below(7)];
    if (width == v.width) return false;
    v.width = width;
    v.align_log2 = static_cast<std::uint8_t>(ir::natural_align_log2(width));
    return true;
  }
  bool change_alignment() {
    if (p_.header.vregs.empty()) return false;
    ir::VReg& v = p_.header.vregs[any_vreg().index()];
    const auto next = static_cast<std::uint8_t>(random_.below(4));
    if (next == v.align_log2) return false;
    v.align_log2 = next;
    return true;
  }
  bool toggle_guard() {
    EditInst& i = any_inst();
    const auto at = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.role == Role::Guard; });
    if (at != i.ops.end()) {
      i.ops.erase(at);
      return true;
    }
    const VRegId p = any_vreg([](const ir::VReg& r) { return ir::is_predicate(r.file()); });
    if (!p.is_valid() || !is_movable(i)) return false;
    const bool negated = random_.chance(50);
    put_under(i, p, negated);
    return true;
  }
  // All that can be guarded, of a stretch of up to 64: what is tied and what writes the predicate stays as it is.
  bool if_convert() {
    EditBlock& b = any_block();
    const VRegId p = vreg_near(p_, b, 0, random_, [](const ir::VReg& r) { return ir::is_predicate(r.file()); });
    if (!p.is_valid()) return false;
    const std::size_t first = any_place(b, random_), last = std::min(b.insts.size() - 1, first + 1 + random_.below(64));
    bool any = false;
    for (std::size_t k = first; k < last; ++k) {
      EditInst& i = b.insts[k];
      const bool stays = std::any_of(i.ops.begin(), i.ops.end(), [&](const Operand& o) {
        return o.role == Role::Guard || o.is_tied() || (o.is_vreg() && o.writes() && p_.header.root(o.vreg()) == p_.header.root(p));
      });
      if (stays || !is_movable(i)) continue;
      put_under(i, p, random_.chance(15));
      any = true;
    }
    return any;
  }
  bool toggle_early() {
    const auto [i, k] = any_operand([](const EditInst&, const Operand& o) { return o.role == Role::Def; });
    if (!i) return false;
    i->ops[k].flags ^= ir::kEarlyClobber;
    return true;
  }
  bool toggle_clobber() {
    EditInst& i = any_inst();
    if (i.inst.is_phi()) return false;
    if (std::erase_if(i.ops, [](const Operand& o) { return o.role == Role::Clobber; }) > 0) return true;
    for (int ranges = random_.between(1, 2); ranges > 0; --ranges) {
      const ir::RegFile file = random_.chance(75) ? ir::RegFile::R : ir::kAllFiles[random_.below(ir::kNumFiles)];
      const int units = std::min(32, target_.units[ir::index(file)]);
      if (units == 0) return false;
      const int first = static_cast<int>(random_.below(static_cast<std::uint32_t>(units)));
      const int count = std::min(units - first, random_.between(1, 8));
      i.ops.push_back(Operand::of_preg(Role::Clobber, {file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)}));
    }
    return true;
  }
  bool toggle_architectural() {
    if (p_.header.vregs.empty()) return false;
    ir::VReg& v = p_.header.vregs[any_vreg().index()];
    if (v.is_architectural()) {
      v.flags = static_cast<std::uint8_t>(v.flags & ~ir::kVRegArchitectural);
      if (random_.chance(50)) v.fixed = {};
      return true;
    }
    const int places = target_.units[ir::index(v.file())] / v.alignment();
    if (v.alias.is_valid() || places < 1) return false;
    const int near = random_.chance(50) ? std::min(places, 16 / v.alignment() + 1) : places;
    const auto first = random_.below(static_cast<std::uint32_t>(near)) * static_cast<std::uint32_t>(v.alignment());
    if (!v.fixed.is_valid()) v.fixed = {v.file(), static_cast<std::uint8_t>(v.units()), static_cast<std::uint16_t>(first)};
    v.flags |= ir::kVRegArchitectural;
    return true;
  }
  bool toggle_in_out() {
    const auto [i, k] = any_operand([](const EditInst& e, const Operand& o) { return o.writes() && e.inst.op == ir::Op::Named; });
    if (!i) return false;
    Operand& o = i->ops[k];
    o.role = o.role == Role::Def ? Role::DefUse : Role::Def;
    o.flags = 0;
    o.tied = ir::kNotTied;
    i->inst.flags = static_cast<std::uint16_t>(i->inst.flags & ~ir::kRematerialisable);
    return true;
  }
  bool tie() {
    const auto [i, k] = any_operand([](const EditInst& e, const Operand& o) { return o.role == Role::Def && !e.inst.is_phi(); });
    if (!i) return false;
    Operand& o = i->ops[k];
    if (o.is_tied()) {
      o.tied = ir::kNotTied;
      return true;
    }
    const ir::VReg& v = p_.header.vreg(o.vreg());
    for (std::size_t m = 0; m < i->ops.size(); ++m) {
      const Operand& use = i->ops[m];
      if (use.role != Role::Use || !use.is_vreg() || p_.header.vreg(use.vreg()).width != v.width) continue;
      o.tied = static_cast<std::uint16_t>(m);
      i->inst.flags = static_cast<std::uint16_t>(i->inst.flags & ~ir::kRematerialisable);
      return true;
    }
    return false;
  }
  bool fix() {
    const auto [i, k] = any_operand([](const EditInst& e, const Operand& o) { return o.is_vreg() && !e.inst.is_phi(); });
    if (!i) return false;
    Operand& o = i->ops[k];
    if (o.fixed().is_valid()) {
      o.set_fixed({});
      return true;
    }
    const ir::VReg& root = p_.header.vreg(p_.header.root(o.vreg()));
    const int places = std::min(16, target_.units[ir::index(root.file())]) / root.alignment();
    if (places < 1) return false;
    const auto first = random_.below(static_cast<std::uint32_t>(places)) * static_cast<std::uint32_t>(root.alignment());
    o.set_fixed({root.file(), static_cast<std::uint8_t>(root.units()), static_cast<std::uint16_t>(first)});
    return true;
  }
  bool keep_alive() {
    if (p_.header.vregs.empty()) return false;
    EditInst i;
    i.inst.op = ir::Op::Named;
    i.inst.id = p_.next_id();
    i.inst.mnemonic = p_.header.symbols.intern("keep");
    i.inst.flags = ir::kMemWrite;
    const int uses = random_.between(1, 3);
    for (int k = 0; k < uses; ++k) i.ops.push_back(Operand::of_vreg(Role::Use, any_vreg()));
    EditBlock& b = any_block();
    insert_at(b, b.insts.size() - 1, std::move(i));
    return true;
  }
  bool raise_pressure() { return fuzz::raise_pressure(p_, random_); }
  bool add_edge() { return fuzz::add_edge(p_, random_); }
  bool make_irreducible() { return fuzz::make_irreducible(p_, random_); }
  bool wrap_in_loop() { return fuzz::wrap_in_loop(p_, random_); }
  bool insert_call() { return fuzz::insert_call(p_, target_, random_); }
  bool inline_call() { return fuzz::inline_call(p_, random_); }
  bool splice() { return fuzz::splice(p_, EditProgram(duel::derive_case(random_.next(), 40).program), random_); }
  bool insert_copy() { return fuzz::insert_copy(p_, random_); }
  bool insert_phi() { return fuzz::insert_phi(p_, random_); }
  bool retarget() {
    const std::size_t from = random_.below(u32(p_.blocks.size()));
    const std::size_t count = p_.blocks[from].insts.back().targets.size();
    return count > 0 && lead_to(p_, from, random_.below(u32(count)), ir::BlockId(random_.below(u32(p_.blocks.size()))));
  }
  bool split_block() {
    if (p_.blocks.size() >= 4096) return false;
    const std::size_t at = random_.below(u32(p_.blocks.size()));
    fuzz::split_block(p_, at, any_place(p_.blocks[at], random_));
    return true;
  }
  bool change_part() {
    const auto [i, k] = any_operand([&](const EditInst& e, const Operand& o) {
      return o.is_vreg() && !e.inst.is_phi() && p_.header.vreg(o.vreg()).bytes() > 1;
    });
    if (!i) return false;
    Operand& o = i->ops[k];
    const int bytes = p_.header.vreg(o.vreg()).bytes();
    const ir::Part old = o.part;
    const int size = 1 << random_.between(0, 4);
    o.part = size >= bytes || random_.chance(20)
                 ? ir::Part()
                 : ir::Part::from_bytes(size * random_.between(0, bytes / size - 1), size).value_or(ir::Part());
    return o.part != old;
  }
  bool toggle_alias() {
    for (int attempt = 0; attempt < 8 && !p_.header.vregs.empty(); ++attempt) {
      ir::VReg& v = p_.header.vregs[any_vreg().index()];
      if (v.alias.is_valid()) {
        v.alias = {};
        v.alias_part = {};
        return true;
      }
      const auto own = static_cast<std::uint32_t>(&v - p_.header.vregs.data());
      if (own == 0) continue;
      const VRegId parent(random_.below(own));
      const ir::VReg& r = p_.header.vreg(parent);
      if (r.file() != v.file() || r.bytes() < v.bytes()) continue;
      if (r.bytes() > v.bytes()) {
        const auto part = ir::Part::from_bytes(v.bytes() * random_.between(0, r.bytes() / v.bytes() - 1), v.bytes());
        if (!part) continue;
        v.alias_part = *part;
      }
      v.alias = parent;
      v.fixed = {};
      return true;
    }
    return false;
  }
  bool return_values() {
    EditBlock* at = nullptr;
    for (int attempt = 0; attempt < 8 && at == nullptr; ++attempt)
      if (EditBlock& b = any_block(); b.insts.back().targets.empty()) at = &b;
    if (at == nullptr) return false;
    if (random_.chance(20)) {
      const bool becomes_device = p_.header.kind == ir::FunctionKind::Kernel;
      p_.header.kind = becomes_device ? ir::FunctionKind::Device : ir::FunctionKind::Kernel;
      if (becomes_device) p_.header.abi = ir::kAllAbis[random_.below(ir::kAllAbis.size())];
      for (EditBlock& b : p_.blocks) {
        EditInst& last = b.insts.back();
        if (last.inst.op != ir::Op::Ret && last.inst.op != ir::Op::Exit) continue;
        last.inst.op = becomes_device ? ir::Op::Ret : ir::Op::Exit;
        if (!becomes_device) last.ops.clear();
      }
      return true;
    }
    EditInst& last = at->insts.back();
    const VRegId v = vreg_near(p_, *at, at->insts.size(), random_, [](const ir::VReg&) { return true; });
    if (!v.is_valid() || last.ops.size() >= 4) return false;
    last.inst.op = ir::Op::Ret;
    last.inst.mnemonic = {};
    last.ops.push_back(Operand::of_vreg(Role::Use, v));
    return true;
  }
  // Mostly of an instruction that has some; flags and attributes are taken away as often as added.
  bool toggle_flag() {
    constexpr std::array<std::uint16_t, 7> kFlags = {ir::kMemRead,          ir::kMemWrite,    ir::kReadOnly,  ir::kBarrier,
                                                     ir::kRematerialisable, ir::kCommutative, ir::kConvergent};
    const int attempts = random_.chance(70) ? 6 : 1;
    EditInst* i = nullptr;
    std::array<std::uint16_t, 7> set = {};
    std::uint32_t count = 0;
    for (int attempt = 0; attempt < attempts && count == 0; ++attempt) {
      i = &any_inst();
      for (const std::uint16_t flag : kFlags)
        if ((i->inst.flags & flag) != 0) set[count++] = flag;
    }
    i->inst.flags ^= count > 0 && random_.chance(50) ? set[random_.below(count)] : kFlags[random_.below(7)];
    return true;
  }
  bool drop_unused_vregs() {
    std::vector<char> used(p_.header.vregs.size(), 0);
    for (const EditBlock& b : p_.blocks)
      for (const EditInst& i : b.insts)
        for (const Operand& o : i.ops)
          if (o.is_vreg()) used[o.vreg().index()] = 1;
    for (std::size_t v = used.size(); v-- > 0;) {
      const ir::VReg& reg = p_.header.vregs[v];
      if (used[v] && reg.alias.is_valid()) used[reg.alias.index()] = 1;
    }
    std::vector<VRegId> kept;
    for (std::size_t v = 0; v < used.size(); ++v)
      if (used[v]) kept.emplace_back(v);
    if (kept.size() == used.size()) return false;
    p_.keep_vregs(kept);
    return true;
  }

 private:
  EditBlock& any_block() { return p_.blocks[random_.below(u32(p_.blocks.size()))]; }
  EditInst& any_inst() {
    EditBlock& b = any_block();
    return b.insts[random_.below(u32(b.insts.size()))];
  }
  // An operand for which `wanted` holds, of some instruction; null where a few tries find none.
  template <class Wanted>
  std::pair<EditInst*, std::size_t> any_operand(Wanted wanted) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      EditInst& i = any_inst();
      if (i.ops.empty()) continue;
      const std::size_t k = random_.below(u32(i.ops.size()));
      if (wanted(i, i.ops[k])) return {&i, k};
    }
    return {nullptr, 0};
  }
  VRegId any_vreg() { return VRegId(random_.below(u32(p_.header.vregs.size()))); }
  // A vreg for which `wanted` holds; invalid where a few tries find none.
  template <class Wanted>
  VRegId any_vreg(Wanted wanted) {
    for (int attempt = 0; attempt < 16 && !p_.header.vregs.empty(); ++attempt)
      if (const VRegId v = any_vreg(); wanted(p_.header.vreg(v))) return v;
    return {};
  }
  static bool is_movable(const EditInst& i) { return !i.inst.is_terminator() && !i.inst.is_phi(); }

  static void put_under(EditInst& i, VRegId predicate, bool negated) {
    const auto place = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.role == Role::Clobber; });
    Operand guard = Operand::of_vreg(Role::Guard, predicate);
    if (negated) guard.flags |= ir::kNegated;
    i.inst.flags = static_cast<std::uint16_t>(i.inst.flags & ~ir::kRematerialisable);
    i.ops.insert(place, guard);
  }

  EditProgram& p_;
  const ir::Target& target_;
  Random& random_;
};

// A mutation of the program alone.
template <bool (Editor::*kEdit)()>
bool edited(duel::Case& input, Random& random) {
  EditProgram p(input.program);
  if (!(Editor(p, *input.target, random).*kEdit)()) return false;
  ir::Function program = p.build();
  if (!ir::check(program, *input.target, 1).empty()) return false;
  input.program = std::move(program);
  return true;
}

bool regenerate(duel::Case& input, Random& random) {
  input = duel::derive_case(random.next());
  return true;
}

bool change_limit(duel::Case& input, Random& random) {
  const std::size_t k = random.chance(60) ? ir::index(ir::RegFile::R) : random.below(ir::kNumFiles);
  const int units = input.target->units[k];
  if (units == 0) return false;
  int& limit = input.limits.units[k];
  const int old = limit;
  const auto r = random.below(100);
  if (r < 40) limit += random.chance(60) ? -1 : 1;
  else if (r < 60) limit = generate::demand_bound(input.program, *input.target)[k];
  else limit = random.between(1, units);
  limit = std::clamp(limit, 1, units);
  return limit != old;
}

bool change_target(duel::Case& input, Random& random) {
  const auto targets = ir::targets();
  const ir::Target& next = targets[random.below(u32(targets.size()))];
  if (next.name == input.target->name || !ir::check(input.program, next, 1).empty()) return false;
  input.target = &next;
  input.program.target = next.name;
  for (std::size_t k = 0; k < input.limits.units.size(); ++k)
    input.limits.units[k] =
        next.units[k] == 0 ? 0 : std::clamp(input.limits.units[k] == 0 ? next.units[k] : input.limits.units[k], 1, next.units[k]);
  return true;
}

bool change_any_knob(duel::Case& input, Random& random) { return change_knob(input, duel::knob_owners(), random); }

struct Row {
  std::string_view name;
  bool (*apply)(duel::Case&, Random&);
};
constexpr std::array<Row, kNumMutations> kMutations = {{
    {"regenerate", regenerate},  // another program altogether
    {"delete_inst", edited<&Editor::delete_inst>},
    {"duplicate_inst", edited<&Editor::duplicate_inst>},
    {"insert_inst", edited<&Editor::insert_inst>},  // a named operation on vregs that are there
    {"move_inst", edited<&Editor::move_inst>},
    {"rewire_operand", edited<&Editor::rewire_operand>},  // another vreg of the same file and width
    {"swap_operands", edited<&Editor::swap_operands>},
    {"change_class", edited<&Editor::change_class>},  // of a vreg: the other class of its file, or another file
    {"change_width", edited<&Editor::change_width>},
    {"change_alignment", edited<&Editor::change_alignment>},
    {"toggle_guard", edited<&Editor::toggle_guard>},
    {"if_convert", edited<&Editor::if_convert>},  // a stretch of a block comes under one guard
    {"toggle_early", edited<&Editor::toggle_early>},
    {"toggle_clobber", edited<&Editor::toggle_clobber>},              // of an instruction, a terminator too
    {"toggle_architectural", edited<&Editor::toggle_architectural>},  // of a vreg: in one register from the entry to the end
    {"toggle_in_out", edited<&Editor::toggle_in_out>},
    {"tie", edited<&Editor::tie>},
    {"fix", edited<&Editor::fix>},                        // an operand to a register, or free again
    {"keep_alive", edited<&Editor::keep_alive>},          // a use at the end of some block: raises the pressure up to there
    {"raise_pressure", edited<&Editor::raise_pressure>},  // new vregs, all live at one point
    {"retarget", edited<&Editor::retarget>},              // an edge
    {"add_edge", edited<&Editor::add_edge>},
    {"make_irreducible", edited<&Editor::make_irreducible>},  // an edge from outside into the middle of a loop
    {"wrap_in_loop", edited<&Editor::wrap_in_loop>},          // a stretch of a block
    {"split_block", edited<&Editor::split_block>},
    {"insert_call", edited<&Editor::insert_call>},
    {"inline_call", edited<&Editor::inline_call>},  // an operation on the same values in its place
    {"splice", edited<&Editor::splice>},            // a stretch of another program, generated
    {"insert_copy", edited<&Editor::insert_copy>},  // of vregs that are there: one pair, several, or a swap
    {"insert_phi", edited<&Editor::insert_phi>},
    {"change_part", edited<&Editor::change_part>},    // of an operand: another piece of its vreg, or all of it
    {"toggle_alias", edited<&Editor::toggle_alias>},  // a vreg becomes (a part of) another, or a storage of its own
    {"return_values",
     edited<
         &Editor::
             return_values>},  // a ret reads one more vreg, a program becomes a device function that returns, or a kernel that exits
    {"toggle_flag", edited<&Editor::toggle_flag>},  // of an instruction
    {"change_limit", change_limit},
    {"change_knob", change_any_knob},  // of some allocator: set, another value, or default again
    {"change_target", change_target},
    {"drop_unused_vregs", edited<&Editor::drop_unused_vregs>},
}};
constexpr Mutation kRegenerate{0}, kDeleteInst{1};

}  // namespace

bool change_knob(duel::Case& input, std::span<const ir::Allocator* const> owners, Random& random) {
  const std::span<const ir::KnobInfo> knobs = owners[random.below(u32(owners.size()))]->knobs();
  if (knobs.empty()) return false;
  const ir::KnobInfo& knob = knobs[random.below(u32(knobs.size()))];
  const auto known = std::find_if(input.knobs.begin(), input.knobs.end(), [&](const auto& k) { return k.first == knob.name; });
  if (known != input.knobs.end() && random.chance(50)) {
    input.knobs.erase(known);
    return true;
  }
  if (knob.samples.empty()) return false;
  const std::string& value = knob.samples[random.below(u32(knob.samples.size()))];
  if (known == input.knobs.end()) input.knobs.emplace_back(knob.name, value);
  else if (known->second == value) return false;
  else known->second = value;
  return true;
}

std::string_view name(Mutation m) { return kMutations[static_cast<std::size_t>(m)].name; }

bool apply(Mutation m, duel::Case& input, std::uint64_t seed) {
  Random random(hash_combine(seed, static_cast<std::uint64_t>(m)));
  return kMutations[static_cast<std::size_t>(m)].apply(input, random);
}

void mutate(duel::Case& input, std::uint64_t seed) {
  Random random(seed);
  const int wanted = random.between(1, 3);
  int done = 0;
  for (int attempt = 0; attempt < 12 && done < wanted; ++attempt) {
    auto m = static_cast<Mutation>(random.below(kNumMutations));
    if (m == kRegenerate && !random.chance(15)) m = kDeleteInst;  // most of the work is on what is there
    done += apply(m, input, random.next()) ? 1 : 0;
  }
}

duel::Case cross(const duel::Case& a, const duel::Case& b, std::uint64_t seed) {
  Random random(seed);
  duel::Case child = a;
  const EditProgram other(b.program);
  const int stretches = random.between(1, 3);
  for (int k = 0; k < stretches; ++k) {
    EditProgram p(child.program);
    if (!splice(p, other, random)) continue;
    ir::Function program = p.build();
    if (ir::check(program, *child.target, 1).empty()) child.program = std::move(program);
  }
  for (std::size_t k = 0; k < child.limits.units.size(); ++k)
    if (random.chance(25) && child.target->units[k] > 0 && b.target->units[k] > 0)
      child.limits.units[k] = std::clamp(b.limits.units[k], 1, child.target->units[k]);
  if (random.chance(25)) child.knobs = b.knobs;
  return child;
}

}  // namespace regduel::fuzz
