#include "reference/lower.h"

#include <algorithm>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {
namespace {

Temp temp_of(const ir::VReg& v) {
  Temp t;
  t.file = v.file();
  t.units = static_cast<std::uint8_t>(v.units());
  t.align_log2 = v.align_log2;
  t.bytes = static_cast<std::uint16_t>(v.bytes());
  return t;
}

bool is_whole(const ir::Function& f, const ir::Storage& s) { return s.offset == 0 && s.size == f.vreg(s.root).bytes(); }

// One def, one use, whole roots, nothing special: what may become a spill, a refill or nothing.
bool is_plain_copy(const ir::Function& f, const ir::Inst& i, const Shape& shape) {
  if (!i.is_copy() || i.num_operands != 2 || shape.is_guarded || shape.has_clobbers) return false;
  const auto ops = f.operands_of(i);
  if (ops[0].is_tied() || ops[0].is_early_clobber()) return false;
  for (const ir::Operand& op : ops)
    if (f.fixed_of(op).is_valid() || !is_whole(f, f.storage(op))) return false;
  return true;
}

}  // namespace

Lowering::Lowering(const ir::Function& f, const ir::Cfg& cfg, const ir::Target& target, const ir::Limits& limits,
                   std::vector<std::uint64_t> freq, ir::Fuel* fuel)
    : f_(f), cfg_(cfg), freq_(std::move(freq)) {
  for (const ir::RegFile file : ir::kAllFiles)
    for (int u = 0; u < std::min(limits.of(file), target.units[ir::index(file)]); ++u)
      if (ir::is_allocatable(target, limits, file, u)) allocatable_[ir::index(file)].insert(u);
  if (f.kind == ir::FunctionKind::Device) {
    const bool entry_is_head = !cfg.predecessors(ir::BlockId(0)).empty();
    ir::PerFile<UnitSet> given_up;  // what the program clobbers itself need not be saved
    for (const ir::Operand& op : f.operands)
      if (op.role == ir::Role::Clobber) given_up[ir::index(op.preg().file)] |= UnitSet::of(op.preg());
    for (const ir::PReg r : target.abi.callee_saved) {
      UnitSet units = UnitSet::of(r) & allocatable_[ir::index(r.file)];
      units -= given_up[ir::index(r.file)];
      // A save at the head of a block that is entered again would save the wrong thing.
      if (entry_is_head) allocatable_[ir::index(r.file)] -= units;
      else callee_saved_[ir::index(r.file)] |= units;
    }
  }
  shapes_.resize(f.insts.size());
  for (std::size_t i = 0; i < f.insts.size(); ++i)
    if (!f.insts[i].is_phi()) shapes_[i] = shape_of(f, f.insts[i]);
  find_values();
  prove_possible();
  if (impossible_) return;
  find_remats();
  find_useful();
  find_edges(fuel);
}

void Lowering::find_values() {
  for (const ir::VReg& v : f_.vregs) values_.push_back(temp_of(v));
  phi_value_.assign(f_.insts.size(), kNoTemp);
  for (std::size_t i = 0; i < f_.insts.size(); ++i) {
    if (!f_.insts[i].is_phi()) continue;
    const ir::Operand& def = f_.operands_of(f_.insts[i])[0];
    const ir::Storage s = f_.storage(def);
    phi_value_[i] = static_cast<TempId>(values_.size());
    // A phi of a whole root is shaped like the root, so that the two can share a register; one of a part like the part.
    Temp phi = temp_of(is_whole(f_, s) ? f_.vreg(s.root) : f_.vreg(def.vreg()));
    if (!is_whole(f_, s)) phi.align_log2 = 0;
    values_.push_back(phi);
  }
}

void Lowering::prove_possible() {
  homes_.resize(f_.insts.size());
  ir::PerFile<UnitSet> at_ret = allocatable_;
  for (std::size_t k = 0; k < at_ret.size(); ++k) at_ret[k] -= callee_saved_[k];
  for (std::size_t i = 0; i < f_.insts.size() && !impossible_; ++i) {
    if (f_.insts[i].is_phi()) {
      // Each operand must fit alone: between two slots it passes through a register.
      for (const ir::Operand& op : f_.operands_of(f_.insts[i])) {
        const ir::VReg& root = f_.vreg(f_.root(op.vreg()));
        if (allocatable_[ir::index(root.file())].positions(root.units(), root.align_log2).is_empty()) impossible_ = root.file();
      }
      continue;
    }
    Homes homes = pack(shapes_[i], f_.insts[i].op == ir::Op::Ret ? at_ret : allocatable_, callee_saved_);
    impossible_ = homes.failed;
    homes_[i] = std::move(homes.of_item);
  }
}

void Lowering::find_remats() {
  remat_def_.assign(values_.size(), kNoSource);
  std::vector<std::uint32_t> writers(f_.vregs.size(), 0);
  for (const ir::BlockId b : cfg_.reverse_postorder()) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = f_.insts[i];
      const auto ops = f_.operands_of(inst);
      for (const ir::Operand& op : ops)
        if (op.is_vreg() && op.writes()) ++writers[f_.root(op.vreg()).index()];
      if (!inst.has(ir::kRematerialisable) ||
          (inst.has(ir::kMemRead) && !inst.has(ir::kReadOnly) && !REGDUEL_PLANTED("briggs-remat-of-a-memory-read")))
        continue;
      if (std::any_of(ops.begin() + 1, ops.end(), [](const ir::Operand& op) { return op.is_register(); })) continue;
      // What must stand in one register at its def must do so wherever it is computed.
      if (f_.fixed_of(ops[0]).is_valid()) continue;
      remat_def_[f_.root(ops[0].vreg()).index()] = i;
    }
  }
  for (std::size_t v = 0; v < f_.vregs.size(); ++v)
    if (writers[v] != 1 && !REGDUEL_PLANTED("briggs-remat-despite-other-defs")) remat_def_[v] = kNoSource;
  // A def in an unreachable block is there for its structure only, and stays: its value must not be thought deleted.
  for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
    if (cfg_.is_reachable(ir::BlockId(b))) continue;
    for (const ir::Inst& inst : f_.insts_of(ir::BlockId(b)))
      for (const ir::Operand& op : f_.operands_of(inst))
        if (op.is_vreg()) remat_def_[f_.root(op.vreg()).index()] = kNoSource;
  }
}

void Lowering::find_useful() {
  useful_.assign(values_.size(), 0);
  std::vector<std::vector<TempId>> sources(values_.size());  // d -> what is copied into d
  std::vector<TempId> work;
  const auto mark = [&](TempId v) {
    if (useful_[v]) return;
    useful_[v] = 1;
    work.push_back(v);
  };
  for (const ir::BlockId b : cfg_.reverse_postorder()) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      const ir::Inst& inst = f_.insts[i];
      const auto ops = f_.operands_of(inst);
      if (inst.is_phi()) {
        sources[f_.root(ops[0].vreg()).index()].push_back(phi_value_[i]);
        for (const ir::Operand& op : ops.subspan(1)) sources[phi_value_[i]].push_back(f_.root(op.vreg()).value);
      } else if (is_plain_copy(f_, inst, shapes_[i])) {
        sources[f_.root(ops[0].vreg()).index()].push_back(f_.root(ops[1].vreg()).value);
      } else {
        for (const ir::Operand& op : ops)
          if (op.is_vreg() && op.reads()) mark(f_.root(op.vreg()).value);
      }
    }
  }
  while (!work.empty()) {
    const TempId v = work.back();
    work.pop_back();
    for (const TempId s : sources[v]) mark(s);
  }
}

void Lowering::find_edges(ir::Fuel* fuel) {
  for (const ir::BlockId to : cfg_.reverse_postorder()) {
    if (!f_.insts_of(to).front().is_phi()) continue;
    int reachable = 0;
    for (const ir::BlockId p : cfg_.predecessors(to)) reachable += cfg_.is_reachable(p) ? 1 : 0;
    for (const ir::BlockId from : cfg_.predecessors(to)) {
      if (!cfg_.is_reachable(from)) continue;
      if (cfg_.successors(from).size() == 1 && ir::may(fuel, "copies-at-tail")) tail_edges_.push_back({from, to});
      else if (reachable == 1 && ir::may(fuel, "copies-at-head")) head_edges_.push_back({from, to});
      else split_edges_.push_back({from, to});
    }
  }
  const auto by_from = [](const Edge& a, const Edge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); };
  std::sort(tail_edges_.begin(), tail_edges_.end(), by_from);
  std::sort(split_edges_.begin(), split_edges_.end(), by_from);
  std::sort(head_edges_.begin(), head_edges_.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
}

Decisions Lowering::no_decisions(ir::Fuel* fuel) const {
  Decisions d;
  d.place.assign(values_.size(), kInRegister);
  d.pinned.assign(f_.insts.size(), 0);
  if (fuel == nullptr) return d;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    if (fuel->spend("keep-in-register")) continue;
    d.place[v] = static_cast<std::int32_t>(d.slots.size());
    d.slots.push_back({values_[v].bytes});
  }
  return d;
}

Decisions Lowering::everything_in_memory() const {
  Decisions d = no_decisions();
  for (std::size_t v = 0; v < values_.size(); ++v) {
    d.place[v] = static_cast<std::int32_t>(v);
    d.slots.push_back({values_[v].bytes});
  }
  std::fill(d.pinned.begin(), d.pinned.end(), 1);
  return d;
}

// ---------------------------------------------------------------------------------------------------------------

class BlockLowerer {
 public:
  BlockLowerer(const Lowering& l, const Decisions& d, ir::Fuel* fuel) : l_(l), f_(l.f_), d_(d), fuel_(fuel) {
    code_.temps = l.values_;
    code_.num_values = static_cast<std::uint32_t>(l.values_.size());
    code_.operand_temp.assign(f_.operands.size(), kNoTemp);
  }

  Code lower() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      begin(l_.freq_[b]);
      code_.blocks.back().is_reachable = l_.cfg_.is_reachable(ir::BlockId(b));
      if (code_.blocks.back().is_reachable) block(ir::BlockId(b));
      else unreachable(ir::BlockId(b));
      end();
    }
    for (const Lowering::Edge& e : l_.split_edges_) {
      begin(std::min(l_.freq_[e.from.index()], l_.freq_[e.to.index()]));
      code_.blocks.back().edge_from = e.from;
      code_.blocks.back().edge_to = e.to;
      edge_copies(e);
      end();
    }
    connect();
    return std::move(code_);
  }

 private:
  // --- blocks -----------------------------------------------------------------------------------------------------
  void begin(std::uint64_t freq) {
    CodeBlock b;
    b.first_inst = static_cast<std::uint32_t>(code_.insts.size());
    b.freq = freq;
    code_.blocks.push_back(std::move(b));
  }
  void end() { code_.blocks.back().num_insts = static_cast<std::uint32_t>(code_.insts.size()) - code_.blocks.back().first_inst; }

  void block(ir::BlockId b) {
    const ir::Block& block = f_.block(b);
    std::uint32_t i = block.first_inst;
    const std::uint32_t last = block.first_inst + block.num_insts - 1;
    for (; f_.insts[i].is_phi(); ++i) deleted(i);
    const auto& heads = l_.head_edges_;
    auto head = std::lower_bound(heads.begin(), heads.end(), b, [](const auto& e, ir::BlockId to) { return e.to < to; });
    for (; head != heads.end() && head->to == b; ++head) edge_copies(*head);
    for (std::uint32_t p = block.first_inst; p < i; ++p) {
      const ir::Storage s = f_.storage(f_.operands_of(f_.insts[p])[0]);
      if (l_.useful_[s.root.index()]) move_values({s.root.value, s.offset, s.size}, {l_.phi_value_[p], 0, s.size}, kNoSource);
    }
    for (; i < last; ++i) instruction(i);
    const auto& tails = l_.tail_edges_;
    auto tail = std::lower_bound(tails.begin(), tails.end(), b, [](const auto& e, ir::BlockId from) { return e.from < from; });
    for (; tail != tails.end() && tail->from == b; ++tail) edge_copies(*tail);
    instruction(last);
  }

  // Structure only: each instruction alone, in the homes of its packing.
  void unreachable(ir::BlockId b) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      if (f_.insts[i].is_phi()) {
        deleted(i);
        continue;
      }
      std::vector<TempId> temps;
      for (std::size_t k = 0; k < l_.shapes_[i].items.size(); ++k)
        temps.push_back(local(l_.shapes_[i].items[k], l_.homes_[i][k], i));
      original(i, temps, {});
    }
  }

  void connect() {
    const std::size_t originals = f_.blocks.size();
    for (std::size_t b = 0; b < originals; ++b)
      for (const ir::BlockId s : l_.cfg_.successors(ir::BlockId(b))) {
        auto to = static_cast<std::uint32_t>(s.index());
        const auto& edges = l_.split_edges_;
        const auto at = std::lower_bound(edges.begin(), edges.end(), std::pair(ir::BlockId(b), s),
                                         [](const auto& e, const auto& key) { return std::pair(e.from, e.to) < key; });
        if (at != edges.end() && at->from == ir::BlockId(b) && at->to == s)
          to = static_cast<std::uint32_t>(originals + static_cast<std::size_t>(at - edges.begin()));
        code_.blocks[b].successors.push_back(to);
      }
    for (std::size_t b = originals; b < code_.blocks.size(); ++b)
      code_.blocks[b].successors.push_back(static_cast<std::uint32_t>(code_.blocks[b].edge_to.index()));
    for (std::size_t b = 0; b < code_.blocks.size(); ++b)
      for (const std::uint32_t s : code_.blocks[b].successors)
        code_.blocks[s].predecessors.push_back(static_cast<std::uint32_t>(b));
  }

  void edge_copies(const Lowering::Edge& e) {
    const ir::Block& block = f_.block(e.to);
    for (std::uint32_t i = block.first_inst; f_.insts[i].is_phi(); ++i) {
      const TempId phi = l_.phi_value_[i];
      if (!l_.useful_[phi] || (REGDUEL_PLANTED("briggs-third-phi-forgotten") && i == block.first_inst + 2)) continue;
      const auto targets = f_.targets_of(f_.insts[i]);
      const auto at = static_cast<std::size_t>(std::find(targets.begin(), targets.end(), e.from) - targets.begin());
      REGDUEL_CHECK(at < targets.size(), "a phi without a use for a predecessor");
      const ir::Storage s = f_.storage(f_.operands_of(f_.insts[i])[at + 1]);
      move_values({phi, 0, s.size}, {s.root.value, s.offset, s.size}, kNoSource);
    }
  }

  // --- emitting ---------------------------------------------------------------------------------------------------
  CodeInst& emit(CodeInst inst, std::initializer_list<Ref> refs) {
    inst.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    inst.num_refs = static_cast<std::uint16_t>(refs.size());
    code_.refs.insert(code_.refs.end(), refs);
    code_.insts.push_back(inst);
    return code_.insts.back();
  }
  void deleted(std::uint32_t i) {
    CodeInst inst;
    inst.kind = CodeKind::Deleted;
    inst.source = i;
    emit(inst, {});
  }

  TempId local(Temp t) {
    code_.temps.push_back(t);
    return static_cast<TempId>(code_.temps.size() - 1);
  }
  TempId local(const Item& item, ir::PReg fixed, std::uint32_t source) {
    Temp t;
    t.file = item.file;
    t.units = static_cast<std::uint8_t>(item.units);
    t.align_log2 = static_cast<std::uint8_t>(item.align_log2);
    const ir::VRegId root = item.write_root.is_valid() ? item.write_root : item.read_root;
    t.bytes = static_cast<std::uint16_t>(f_.vreg(root).bytes());
    t.fixed = fixed;
    t.source = source;
    return local(t);
  }

  [[nodiscard]] std::uint8_t write_flags(TempId temp, std::size_t offset, std::size_t size) const {
    return offset == 0 && size == code_.temps[temp].bytes ? kWrites | kKills : kWrites | kAtReads | kPartial;
  }

  // Bytes [offset, offset + size) of a value or a local temp.
  struct Place {
    TempId temp;
    std::size_t offset, size;
  };
  void move_temps(Place dst, Place src, std::uint32_t source) {
    CodeInst inst;
    inst.kind = CodeKind::Move;
    inst.source = source;
    inst.dst_offset = static_cast<std::uint8_t>(dst.offset);
    inst.src_offset = static_cast<std::uint8_t>(src.offset);
    inst.bytes = static_cast<std::uint8_t>(dst.size);
    const Temp &d = code_.temps[dst.temp], &s = code_.temps[src.temp];
    const bool whole = dst.offset == 0 && src.offset == 0 && dst.size == d.bytes && dst.size == s.bytes;
    inst.copy_pairs = whole && d.file == s.file && ir::may(fuel_, "copy-does-not-interfere") ? 1 : 0;
    emit(inst, {{dst.temp, write_flags(dst.temp, dst.offset, dst.size)}, {src.temp, kReads | kAtReads}});
  }
  void refill(Place dst, std::int32_t slot, std::size_t slot_offset, std::uint32_t source) {
    CodeInst inst;
    inst.kind = CodeKind::Refill;
    inst.source = source;
    inst.slot = static_cast<std::uint32_t>(slot);
    inst.slot_offset = static_cast<std::uint32_t>(slot_offset);
    inst.dst_offset = static_cast<std::uint8_t>(dst.offset);
    inst.bytes = static_cast<std::uint8_t>(dst.size);
    emit(inst, {{dst.temp, write_flags(dst.temp, dst.offset, dst.size)}});
  }
  void store(std::int32_t slot, std::size_t slot_offset, Place src, std::uint32_t source) {
    CodeInst inst;
    inst.kind = CodeKind::Store;
    inst.source = source;
    inst.slot = static_cast<std::uint32_t>(slot);
    inst.slot_offset = static_cast<std::uint32_t>(REGDUEL_PLANTED("briggs-piece-stored-at-the-front") ? 0 : slot_offset);
    inst.src_offset = static_cast<std::uint8_t>(src.offset);
    inst.bytes = static_cast<std::uint8_t>(src.size);
    emit(inst, {{src.temp, kReads | kAtReads}});
  }
  void remat(TempId dst, TempId value) {
    CodeInst inst;
    inst.kind = CodeKind::Remat;
    inst.remat_of = l_.remat_def_[value];
    emit(inst, {{dst, kWrites | kKills}});
  }

  // A whole value into a local temp, and back.
  void fetch(TempId temp, TempId value) {
    const std::size_t bytes = code_.temps[value].bytes;
    const std::int32_t place = d_.place[value];
    if (place == kInRegister) move_temps({temp, 0, bytes}, {value, 0, bytes}, kNoSource);
    else if (place == kRematerialised) remat(temp, value);
    else refill({temp, 0, bytes}, place, 0, kNoSource);
  }
  void put_back(TempId value, TempId temp, std::size_t offset, std::size_t size) {
    const std::int32_t place = d_.place[value];
    if (REGDUEL_PLANTED("briggs-remat-despite-other-defs") && place == kRematerialised) return;
    if (place == kInRegister) move_temps({value, offset, size}, {temp, offset, size}, kNoSource);
    else store(place, offset, {temp, offset, size}, kNoSource);
  }

  // dst = src between values, wherever they live. `source` = the original copy that this is, or kNoSource.
  void move_values(Place dst, Place src, std::uint32_t source) {
    const std::int32_t to = d_.place[dst.temp], from = d_.place[src.temp];
    const bool same = dst.temp == src.temp && dst.offset == src.offset;
    if (same || (to >= 0 && to == from && dst.offset == src.offset && ir::may(fuel_, "stay-in-slot"))) {
      if (source != kNoSource) deleted(source);
      return;
    }
    if (from == kInRegister && to == kInRegister) return move_temps(dst, src, source);
    if (from >= 0 && to == kInRegister) return refill(dst, from, src.offset, source);
    if (from == kInRegister) return store(to, dst.offset, src, source);
    if (source != kNoSource) deleted(source);
    const Temp &d = l_.values_[dst.temp], &s = l_.values_[src.temp];
    // A remat stands in a home of the root that it computes: the same file, as well aligned.
    if (from == kRematerialised && to == kInRegister && src.size == s.bytes && dst.size == d.bytes && s.file == d.file &&
        d.align_log2 >= s.align_log2)
      return remat(dst.temp, src.temp);
    Temp t = s;
    t.fixed = {};
    const TempId temp = local(t);
    if (from == kRematerialised) remat(temp, src.temp);
    else refill({temp, src.offset, src.size}, from, src.offset, kNoSource);
    const Place through = {temp, src.offset, src.size};
    if (to == kInRegister) move_temps(dst, through, kNoSource);
    else store(to, dst.offset, through, kNoSource);
  }

  // --- instructions -----------------------------------------------------------------------------------------------
  void instruction(std::uint32_t i) {
    const ir::Inst& inst = f_.insts[i];
    const Shape& shape = l_.shapes_[i];
    if (is_plain_copy(f_, inst, shape) && !d_.pinned[i]) {
      const auto ops = f_.operands_of(inst);
      const ir::Storage d = f_.storage(ops[0]), s = f_.storage(ops[1]);
      if (!l_.useful_[d.root.index()]) return deleted(i);
      code_.operand_temp[inst.first_operand] = d.root.value;
      code_.operand_temp[inst.first_operand + 1] = s.root.value;
      return move_values({d.root.value, 0, d.size}, {s.root.value, 0, s.size}, i);
    }
    if (REGDUEL_PLANTED("briggs-identity-ignores-parts") && inst.is_copy() && shape.items.size() == 1 && !d_.pinned[i])
      return deleted(i);
    if (inst.has(ir::kRematerialisable)) {
      const TempId v = f_.root(f_.operands_of(inst)[0].vreg()).value;
      if (d_.place[v] == kRematerialised) return deleted(i);
    }
    std::vector<Item> items = shape.items;
    std::vector<std::size_t> merged_into(items.size());
    for (std::size_t k = 0; k < items.size(); ++k) merged_into[k] = k;
    if (d_.pinned[i]) pin(i, items, merged_into);
    std::vector<TempId> temps(items.size(), kNoTemp);
    std::vector<std::uint8_t> is_local(items.size(), 0);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (merged_into[k] != k) continue;
      const Item& item = items[k];
      const ir::VRegId root = item.write_root.is_valid() ? item.write_root : item.read_root;
      const bool spilled = d_.place[root.index()] != kInRegister;
      is_local[k] = item.fixed.is_valid() || moves(item) || spilled;
      temps[k] = is_local[k] ? local(item, item.fixed, i) : root.value;
    }
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (merged_into[k] != k) temps[k] = temps[merged_into[k]];
      else if (is_local[k] && items[k].read_root.is_valid() && !stores_parts(items[k], shape))
        fetch(temps[k], items[k].read_root.value);
    }
    original(i, temps, merged_into);
    // What the instruction would define itself, were it not in a slot or pinned, comes before what is moved in any case: values
    // that share a slot do so because of that order.
    for (const bool is_moved : {false, true})
      for (std::size_t k = 0; k < items.size(); ++k)
        if (is_local[k] && merged_into[k] == k && items[k].write_root.is_valid() &&
            (shape.items[k].fixed.is_valid() || moves(items[k])) == is_moved)
          put_back(inst, shape, items[k], k, temps[k]);
  }

  // Whether it reads one value and writes another: a tie.
  [[nodiscard]] static bool moves(const Item& item) {
    return item.read_root.is_valid() && item.write_root.is_valid() && item.read_root != item.write_root;
  }

  void put_back(const ir::Inst& inst, const Shape& shape, const Item& item, std::size_t k, TempId temp) {
    const TempId value = item.write_root.value;
    if (!stores_parts(item, shape)) return put_back(value, temp, 0, code_.temps[value].bytes);
    const auto ops = f_.operands_of(inst);
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (ops[o].is_vreg() && ops[o].writes() && shape.item_of[o] == static_cast<std::int32_t>(k)) {
        const ir::Storage s = f_.storage(ops[o]);
        put_back(value, temp, s.offset, s.size);
      }
  }

  // A spilled value of which the instruction only writes parts: those bytes go to the slot, the others need not be fetched.
  [[nodiscard]] bool stores_parts(const Item& item, const Shape& shape) const {
    return item.partial && item.reads_only_old_bytes && !shape.is_guarded && d_.place[item.write_root.index()] >= 0;
  }

  // Fixes each item to its packed home. Items that got one home and are read together become one.
  void pin(std::uint32_t i, std::vector<Item>& items, std::vector<std::size_t>& merged_into) {
    for (std::size_t k = 0; k < items.size(); ++k) items[k].fixed = l_.homes_[i][k];
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (items[k].at_writes) continue;
      for (std::size_t m = 0; m < items.size(); ++m)
        if (m != k && merged_into[m] == m && items[m].at_reads && items[m].fixed == items[k].fixed &&
            items[m].file == items[k].file) {
          merged_into[k] = m;
          items[m].reads_only_old_bytes = false;
        }
    }
  }

  void original(std::uint32_t i, const std::vector<TempId>& temps, const std::vector<std::size_t>& merged_into) {
    const ir::Inst& inst = f_.insts[i];
    const Shape& shape = l_.shapes_[i];
    const auto ops = f_.operands_of(inst);
    CodeInst out;
    out.source = i;
    out.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    std::vector<std::int32_t> ref_of(shape.items.size(), -1);
    const auto add_ref = [&](std::size_t k) {
      if (!merged_into.empty()) k = merged_into[k];
      if (ref_of[k] >= 0) return;
      ref_of[k] = static_cast<std::int32_t>(code_.refs.size());
      const Item& item = shape.items[k];
      std::uint8_t flags = 0;
      if (item.read_root.is_valid() && !item.reads_only_old_bytes) flags |= kReads;
      if (item.at_writes) flags |= kWrites;
      if (item.at_reads) flags |= kAtReads;
      if (item.partial) flags |= kPartial;
      if (item.at_writes && (!item.partial || REGDUEL_PLANTED("briggs-part-def-kills-all")) &&
          (!shape.is_guarded || REGDUEL_PLANTED("briggs-guarded-def-kills")))
        flags |= kKills;
      code_.refs.push_back({temps[k], flags});
    };
    if (inst.is_copy() && !shape.is_guarded && d_.pinned[i] == 0 && ir::may(fuel_, "copy-does-not-interfere"))
      copy_pairs(inst, shape, temps, out, add_ref);
    for (std::size_t k = 0; k < shape.items.size(); ++k) add_ref(k);
    out.num_refs = static_cast<std::uint16_t>(code_.refs.size() - out.first_ref);
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (shape.item_of[o] >= 0) code_.operand_temp[inst.first_operand + o] = temps[static_cast<std::size_t>(shape.item_of[o])];
    code_.insts.push_back(out);
  }

  // A parallel copy: its pairs of whole registers first, as far as no item stands in two of them.
  template <class AddRef>
  void copy_pairs(const ir::Inst& inst, const Shape& shape, const std::vector<TempId>& temps, CodeInst& out, AddRef&& add_ref) {
    const auto ops = f_.operands_of(inst);
    const std::size_t n = static_cast<std::size_t>(
        std::count_if(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.role == ir::Role::Def; }));
    std::vector<std::uint8_t> used(shape.items.size(), 0);
    for (std::size_t p = 0; p < n; ++p) {
      const auto d = static_cast<std::size_t>(shape.item_of[p]), s = static_cast<std::size_t>(shape.item_of[n + p]);
      if (d == s || used[d] || used[s] || shape.items[d].partial || shape.items[d].early || shape.items[s].at_writes) continue;
      if (code_.temps[temps[d]].file != code_.temps[temps[s]].file || !is_whole(f_, f_.storage(ops[n + p]))) continue;
      if (temps[d] == temps[s]) continue;
      used[d] = used[s] = 1;
      add_ref(d);
      add_ref(s);
      ++out.copy_pairs;
    }
  }

  const Lowering& l_;
  const ir::Function& f_;
  const Decisions& d_;
  ir::Fuel* fuel_;
  Code code_;
};

Code Lowering::lower(const Decisions& decisions, ir::Fuel* fuel) const { return BlockLowerer(*this, decisions, fuel).lower(); }

}  // namespace regduel::reference
