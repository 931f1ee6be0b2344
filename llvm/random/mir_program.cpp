#include "llvm/random/mir_program.h"

#include <algorithm>
#include <optional>
#include <set>

#include "llvm/random/webs.h"

namespace regduel::llvm {
namespace {

using Kind = MirItem::Kind;

class Maker {
 public:
  Maker(const ir::Function& program, const Machine& machine) : f_(program), m_(machine) {}

  MirFunction run() {
    for (const ir::VReg& v : f_.vregs) out_.classes.emplace_back(class_of(m_, bank_of(v.file()), v.units()));
    for (const int b : reachable()) map_block(b);
    define_at_entry();
    split_into_webs(out_);
    read_in_a_second_block(out_);
    return std::move(out_);
  }

 private:
  std::vector<int> successors(int b) const {
    std::vector<int> list;
    for (const ir::BlockId s : f_.successors(ir::BlockId(static_cast<std::uint32_t>(b))))
      if (std::ranges::find(list, static_cast<int>(s.index())) == list.end()) list.push_back(static_cast<int>(s.index()));
    return list;
  }
  std::set<int> reachable() const {
    std::set<int> seen = {0};
    std::vector<int> work = {0};
    while (!work.empty()) {
      const int b = work.back();
      work.pop_back();
      for (const int s : successors(b))
        if (seen.insert(s).second) work.push_back(s);
    }
    return seen;
  }

  void map_block(int b) {
    MirBlock block{.number = b, .successors = successors(b)};
    here_ = &block.operations;
    for (const ir::Inst& i : f_.insts_of(ir::BlockId(static_cast<std::uint32_t>(b)))) {
      if (i.is_phi()) continue;
      if (i.is_terminator()) copy_to_phis(b, block.successors);
      if (const auto copy = as_copy(i)) {
        if (!copy->items[0].names_same(copy->items[1])) here_->push_back(*copy);
      } else {
        map_operation(i);
      }
    }
    out_.blocks.push_back(std::move(block));
  }

  // --- operands
  const ir::VReg& root_of(const ir::Operand& o) const { return f_.vreg(f_.root(o.vreg())); }
  Bank bank(const ir::Operand& o) const { return bank_of(root_of(o).file()); }

  struct Where {
    MirItem item;
    bool is_all;  // of the units that it touches, nothing is kept
  };
  Where place(const ir::Operand& o) const {
    const ir::Storage s = f_.storage(o);
    const ir::VReg& root = f_.vreg(s.root);
    MirItem item{.vreg = static_cast<int>(s.root.index())};
    const int first = s.offset / 4, last = (s.offset + s.size - 1) / 4;
    const bool is_whole = s.size >= root.bytes();
    if (!m_.has_lanes || last - first + 1 >= root.units()) return {item, is_whole};
    for (int k = first; k <= last; ++k) item.sub += (k == first ? ".sub" : "_sub") + std::to_string(k);
    return {item, s.offset % 4 == 0 && s.size % 4 == 0};
  }
  std::string fixed(const ir::Operand& o) const {
    const ir::PReg r = f_.fixed_of(o);
    if (!r.is_valid() || !place(o).is_all || !place(o).item.sub.empty()) return "";
    return physical(m_, bank(o), r.first, root_of(o).units());
  }

  // --- operations
  std::optional<MirOperation> as_copy(const ir::Inst& i) const {
    const auto ops = f_.operands_of(i);
    if (!i.is_copy() || ops.size() != 2 || !ops[0].is_vreg() || !ops[1].is_vreg()) return std::nullopt;
    const Where to = place(ops[0]), from = place(ops[1]);
    const auto type = [&](const Where& w) {
      return w.item.sub.empty() ? out_.classes[static_cast<std::size_t>(w.item.vreg)] : w.item.sub;
    };
    if (!to.is_all || !from.is_all || bank(ops[0]) != bank(ops[1]) || !to.item.sub.empty() || !from.item.sub.empty() ||
        type(to) != type(from))
      return std::nullopt;
    return copy(to.item, from.item);
  }
  static MirOperation copy(MirItem to, MirItem from) {
    to.kind = Kind::Def, from.kind = Kind::Use;
    return {.is_copy = true, .items = {std::move(to), std::move(from)}};
  }

  struct Budget {
    int left[2];
    bool take(Bank b, int n) {
      int& mine = left[static_cast<int>(b)];
      if (mine < n) return false;
      mine -= n;
      return true;
    }
  };
  int cost(const ir::Operand& o) const { return m_.has_lanes ? root_of(o).units() : 1; }

  void map_operation(const ir::Inst& i) {
    MirOperation now;
    std::vector<MirOperation> behind;
    std::set<std::string> taken_by_uses, taken_by_defs;
    Budget reads{{m_.budget[0], m_.budget[1]}}, writes = reads;
    const auto ops = f_.operands_of(i);
    for (const ir::Operand& o : ops)
      if (o.is_vreg() && o.writes()) add_def(i, o, now, behind, writes, taken_by_defs);
    for (const ir::Operand& o : ops) {
      if (!o.is_vreg() || !o.reads() || o.writes()) continue;
      MirItem item = place(o).item;
      if (std::ranges::any_of(now.items, [&](const MirItem& x) { return x.kind == Kind::TiedUse && x.names_same(item); })) continue;
      if (!reads.take(bank(o), cost(o))) continue;
      if (std::string r = fixed(o); !r.empty() && taken_by_uses.insert(r).second) {
        MirItem there{.preg = r};
        here_->push_back(copy(there, item));
        item = std::move(there);
      }
      if (std::ranges::none_of(now.items, [&](const MirItem& x) { return x.kind == Kind::Use && x.names_same(item); }))
        now.items.push_back(std::move(item));
    }
    soften(now);
    add_clobbers(ops, now, taken_by_defs);
    if (!now.items.empty()) here_->push_back(std::move(now));
    std::ranges::move(behind, std::back_inserter(*here_));
  }

  void add_def(const ir::Inst& i, const ir::Operand& o, MirOperation& now, std::vector<MirOperation>& behind, Budget& writes,
               std::set<std::string>& taken) {
    auto [item, is_all] = place(o);
    // Two parts of one lane are one operand.
    if (std::ranges::any_of(now.items, [&](const MirItem& x) {
          return x.vreg == item.vreg && (x.sub == item.sub || x.sub.empty() || item.sub.empty());
        }))
      return;
    if (!writes.take(bank(o), cost(o))) return;
    const bool keeps = !is_all || o.role == ir::Role::DefUse || ir::is_guarded(f_.operands_of(i)) || o.is_tied();
    item.kind = o.is_early_clobber() && !keeps ? Kind::EarlyDef : Kind::Def;
    if (!keeps)
      if (std::string r = fixed(o); !r.empty() && taken.insert(r).second) {
        MirItem there{.kind = Kind::Def, .preg = r};
        behind.push_back(copy(item, there));
        item = std::move(there);
      }
    const int at = static_cast<int>(now.items.size());
    now.items.push_back(item);
    if (keeps) {
      if (o.is_tied()) tie_to_copy(i, o, item);
      item.kind = Kind::TiedUse, item.tied = at;
      now.items.push_back(std::move(item));
    }
  }
  // The value that the def is tied to goes where it will be written.
  void tie_to_copy(const ir::Inst& i, const ir::Operand& o, const MirItem& item) {
    const ir::Operand& from = f_.operands_of(i)[o.tied];
    if (!from.is_vreg()) return;
    const MirItem use = place(from).item;
    const auto cls = [&](const MirItem& x) { return out_.classes[static_cast<std::size_t>(x.vreg)]; };
    if (use.sub.empty() && item.sub.empty() && cls(use) == cls(item) && use.vreg != item.vreg) here_->push_back(copy(item, use));
  }
  // A register cannot be written before it is read in the same instruction.
  static void soften(MirOperation& now) {
    for (MirItem& d : now.items)
      if (d.kind == Kind::EarlyDef)
        for (const MirItem& u : now.items)
          if (!u.is_def() && (d.vreg >= 0 ? u.vreg == d.vreg : !u.preg.empty())) d.kind = Kind::Def;
  }
  void add_clobbers(std::span<const ir::Operand> ops, MirOperation& now, std::set<std::string>& taken) const {
    int left = m_.clobbers;
    std::string wide;  // names of tuples contain those of their lanes; what an instruction reads it cannot clobber
    for (const MirItem& d : now.items) wide += d.preg + "_";
    for (const ir::Operand& o : ops) {
      if (o.role != ir::Role::Clobber) continue;
      const ir::PReg r = o.preg();
      for (int k = r.first; k < r.first + r.count && left > 0; ++k) {
        const int units = m_.has_lanes ? 1 : 2;
        const std::string name = physical(m_, bank_of(r.file), k, units);
        if (name.empty() || is_in(name.substr(1), wide) || !taken.insert(name).second) continue;
        now.items.push_back({.kind = Kind::Clobber, .preg = name});
        --left;
      }
    }
  }
  static bool is_in(const std::string& name, const std::string& names) {
    // RAX and EAX are one register.
    const std::string tail = name[0] == 'r' || name[0] == 'e' ? name.substr(1) : name;
    return names.find(tail + "_") != std::string::npos;
  }

  // All reads before all writes.
  void copy_to_phis(int b, const std::vector<int>& successors) {
    std::vector<MirOperation> writes;
    for (const int s : successors)
      for (const ir::Inst& i : f_.insts_of(ir::BlockId(static_cast<std::uint32_t>(s)))) {
        if (!i.is_phi()) continue;
        const auto ops = f_.operands_of(i);
        const auto from = f_.targets_of(i);
        for (std::size_t k = 0; k < from.size(); ++k) {
          if (static_cast<int>(from[k].index()) != b || !ops[k + 1].is_vreg()) continue;
          const Where to = place(ops[0]), value = place(ops[k + 1]);
          const std::string& cls = out_.classes[static_cast<std::size_t>(to.item.vreg)];
          if (!to.item.sub.empty() || !value.item.sub.empty() || cls != out_.classes[static_cast<std::size_t>(value.item.vreg)])
            continue;
          const MirItem between{.vreg = static_cast<int>(out_.classes.size())};
          out_.classes.push_back(std::string(cls));
          here_->push_back(copy(between, value.item));
          writes.push_back(copy(to.item, between));
        }
      }
    std::ranges::move(writes, std::back_inserter(*here_));
  }

  // Each value that is live into the entry is defined there, whole.
  void define_at_entry() {
    std::vector<MirOperation> some;
    const auto live = live_in(out_);
    for (const int v : live.at(out_.blocks.front().number)) some.push_back({.items = {{.kind = Kind::Def, .vreg = v}}});
    auto& first = out_.blocks.front().operations;
    first.insert(first.begin(), some.begin(), some.end());
  }

  const ir::Function& f_;
  const Machine& m_;
  MirFunction out_;
  std::vector<MirOperation>* here_ = nullptr;
};

}  // namespace

MirFunction mir_function(const ir::Function& program, const Machine& machine) { return Maker(program, machine).run(); }

}  // namespace regduel::llvm
