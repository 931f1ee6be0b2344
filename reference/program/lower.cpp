#include "reference/program/lower.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {
namespace {

class Lowerer {
 public:
  Lowerer(const Problem& problem, const Plan& plan, ir::Fuel* fuel) : p_(problem), f_(problem.program()), plan_(plan), fuel_(fuel) {
    code_.temps = p_.values();
    code_.num_values = static_cast<std::uint32_t>(code_.temps.size());
    code_.operand_temp = p_.operand_roots();
    code_.insts.reserve(f_.insts.size());
    code_.refs.reserve(f_.operands.size());
  }

  Code run() {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) {
      begin(p_.freq(ir::BlockId(b)));
      code_.blocks.back().is_reachable = p_.cfg().is_reachable(ir::BlockId(b));
      if (code_.blocks.back().is_reachable) block(ir::BlockId(b));
      else unreachable(ir::BlockId(b));
      end();
    }
    for (const Edge& e : p_.split_edges()) {
      begin(std::min(p_.freq(e.from), p_.freq(e.to)));
      code_.blocks.back().edge_from = e.from;
      code_.blocks.back().edge_to = e.to;
      phi_copies(e);
      end();
    }
    connect();
    return std::move(code_);
  }

 private:
  using Edge = Problem::Edge;

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
    for (const Edge& e : std::ranges::equal_range(p_.head_edges(), b, {}, &Edge::to)) phi_copies(e);
    for (std::uint32_t p = block.first_inst; p < i; ++p) {
      const ir::Storage s = f_.storage(f_.operands_of(f_.insts[p])[0]);
      if (p_.is_useful(s.root.value)) move_values({s.root.value, s.offset, s.size}, {p_.phi_value(p), 0, s.size}, kNoSource);
    }
    for (; i < last; ++i) instruction(i);
    for (const Edge& e : std::ranges::equal_range(p_.tail_edges(), b, {}, &Edge::from)) phi_copies(e);
    instruction(last);
  }

  // Lowers each instruction by itself, in the homes of its packing, so that the block keeps its structure.
  void unreachable(ir::BlockId b) {
    const ir::Block& block = f_.block(b);
    for (std::uint32_t i = block.first_inst; i < block.first_inst + block.num_insts; ++i) {
      if (f_.insts[i].is_phi()) {
        deleted(i);
        continue;
      }
      take_items(i);
      const Homes homes = p_.packed(i);
      for (std::size_t k = 0; k < items_.size(); ++k) items_[k].temp = local(*items_[k].item, homes.of_item[k], i);
      original(i);
    }
  }

  void connect() {
    const std::size_t originals = f_.blocks.size();
    const auto& split = p_.split_edges();
    const auto each_edge = [&](auto&& see) {
      for (std::size_t b = 0; b < originals; ++b)
        for (const ir::BlockId s : p_.cfg().successors(ir::BlockId(b))) {
          const Edge e{ir::BlockId(b), s};
          const auto at = std::ranges::lower_bound(split, e);
          const bool is_split = at != split.end() && *at == e;
          see(b, is_split ? originals + static_cast<std::size_t>(at - split.begin()) : s.index());
        }
      for (std::size_t k = 0; k < split.size(); ++k) see(originals + k, split[k].to.index());
    };
    const auto u32 = [](std::size_t b) { return static_cast<std::uint32_t>(b); };
    code_.successors.build(code_.blocks.size(),
                           [&](auto add) { each_edge([&](std::size_t from, std::size_t to) { add(from, u32(to)); }); });
    code_.predecessors.build(code_.blocks.size(),
                             [&](auto add) { each_edge([&](std::size_t from, std::size_t to) { add(to, u32(from)); }); });
  }

  void phi_copies(const Edge& e) {
    const ir::Block& block = f_.block(e.to);
    for (std::uint32_t i = block.first_inst; f_.insts[i].is_phi(); ++i) {
      const TempId phi = p_.phi_value(i);
      if (!p_.is_useful(phi)) continue;
      const auto targets = f_.targets_of(f_.insts[i]);
      const auto at = static_cast<std::size_t>(std::find(targets.begin(), targets.end(), e.from) - targets.begin());
      REGDUEL_CHECK(at < targets.size(), "a phi without a use for a predecessor");
      const ir::Storage s = f_.storage(f_.operands_of(f_.insts[i])[at + 1]);
      move_values({phi, 0, s.size}, {s.root.value, s.offset, s.size}, kNoSource);
    }
  }

  // --- emitting ---------------------------------------------------------------------------------------------------
  void emit(CodeInst inst, std::initializer_list<Ref> refs) {
    inst.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    inst.num_refs = static_cast<std::uint16_t>(refs.size());
    for (const Ref& r : refs) code_.refs.push_back(r);
    code_.insts.push_back(inst);
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
    t.units = item.units;
    t.align_log2 = item.align_log2;
    t.bytes = static_cast<std::uint16_t>(f_.vreg(item.root()).bytes());
    t.fixed = fixed;
    t.source = source;
    return local(t);
  }

  [[nodiscard]] bool is_all_of(TempId temp, std::size_t offset, std::size_t size) const {
    return offset == 0 && size == code_.temps[temp].bytes;
  }
  std::uint16_t part(const RefBytes& bytes) {
    const auto known = std::ranges::find(code_.parts.begin() + 1, code_.parts.end(), bytes);
    const auto at = static_cast<std::size_t>(known - code_.parts.begin());
    if (known == code_.parts.end()) code_.parts.push_back(bytes);
    REGDUEL_CHECK(at <= 0xFFFF, "too many different parts");
    return static_cast<std::uint16_t>(at);
  }

  // Bytes [offset, offset + size) of a value or a local temp.
  struct Bytes {
    TempId temp;
    std::size_t offset, size;
  };
  Ref written(Bytes dst) {
    if (is_all_of(dst.temp, dst.offset, dst.size)) return {dst.temp, kWrites | kKills | kKillsBytes};
    return {dst.temp, kWrites | kAtReads | kPartial | kKillsBytes, part({.writes = byte_mask(dst.offset, dst.size)})};
  }
  Ref read(Bytes src) {
    if (is_all_of(src.temp, src.offset, src.size)) return {src.temp, kReads | kAtReads};
    return {src.temp, kReads | kAtReads, part({.reads = byte_mask(src.offset, src.size)})};
  }
  void move_temps(Bytes dst, Bytes src, std::uint32_t source) {
    CodeInst inst;
    inst.kind = CodeKind::Move;
    inst.source = source;
    inst.dst_offset = static_cast<std::uint8_t>(dst.offset);
    inst.src_offset = static_cast<std::uint8_t>(src.offset);
    inst.bytes = static_cast<std::uint8_t>(dst.size);
    const Temp &d = code_.temps[dst.temp], &s = code_.temps[src.temp];
    const bool whole = dst.offset == 0 && src.offset == 0 && dst.size == d.bytes && dst.size == s.bytes;
    inst.copy_pairs = whole && d.file == s.file && ir::may(fuel_, "copy-does-not-interfere") ? 1 : 0;
    emit(inst, {written(dst), read(src)});
  }
  void refill(Bytes dst, Location from, std::size_t slot_offset, std::uint32_t source) {
    if (is_through_r(dst)) {
      if (source != kNoSource) deleted(source);
      return each_word(dst, [&](Bytes piece, std::size_t at) {
        const TempId t = word(piece);
        refill({t, 0, code_.temps[t].bytes}, from, slot_offset + at, kNoSource);
        move_temps(piece, {t, 0, piece.size}, kNoSource);
      });
    }
    CodeInst inst;
    inst.kind = CodeKind::Refill;
    inst.source = source;
    inst.slot = from.slot();
    inst.slot_offset = static_cast<std::uint32_t>(slot_offset);
    inst.dst_offset = static_cast<std::uint8_t>(dst.offset);
    inst.bytes = static_cast<std::uint8_t>(dst.size);
    emit(inst, {written(dst)});
  }
  void store(Location to, std::size_t slot_offset, Bytes src, std::uint32_t source) {
    if (is_through_r(src)) {
      if (source != kNoSource) deleted(source);
      return each_word(src, [&](Bytes piece, std::size_t at) {
        const TempId t = word(piece);
        move_temps({t, 0, piece.size}, piece, kNoSource);
        // No byte of a pack of one predicate was there before.
        code_.refs[code_.insts.back().first_ref] = {t, kWrites | kKills | kKillsBytes};
        store(to, slot_offset + at, {t, 0, code_.temps[t].bytes}, kNoSource);
      });
    }
    CodeInst inst;
    inst.kind = CodeKind::Store;
    inst.source = source;
    inst.slot = to.slot();
    inst.slot_offset = static_cast<std::uint32_t>(slot_offset);
    if (REGDUEL_PLANTED("briggs-piece-stored-at-the-front")) inst.slot_offset = 0;
    inst.src_offset = static_cast<std::uint8_t>(src.offset);
    inst.bytes = static_cast<std::uint8_t>(src.size);
    emit(inst, {read(src)});
  }
  // --- the way to memory through R ---------------------------------------------------------------------------------
  [[nodiscard]] bool is_through_r(Bytes b) const { return p_.memory_through_r() && code_.temps[b.temp].file != ir::RegFile::R; }
  // A register of R for these bytes, or for the bit of a predicate.
  TempId word(Bytes b) {
    Temp t;
    t.bytes = static_cast<std::uint16_t>(ir::is_predicate(code_.temps[b.temp].file) ? 4 : b.size);
    t.source = current_;
    return local(t);
  }
  // Calls visit(bytes, offset among all) for each word.
  template <class Visit>
  static void each_word(Bytes b, Visit visit) {
    for (std::size_t at = 0; at < b.size; at += 4) visit({b.temp, b.offset + at, std::min<std::size_t>(4, b.size - at)}, at);
  }
  // From slot to slot, where no other register is needed on the way.
  void move_words(Location to, std::size_t to_offset, Location from, std::size_t from_offset, Bytes like) {
    each_word(like, [&](Bytes piece, std::size_t at) {
      const TempId t = word(piece);
      refill({t, 0, code_.temps[t].bytes}, from, from_offset + at, kNoSource);
      store(to, to_offset + at, {t, 0, code_.temps[t].bytes}, kNoSource);
    });
  }

  void remat(TempId dst, TempId value) {
    CodeInst inst;
    inst.kind = CodeKind::Remat;
    inst.remat_of = p_.remat_def(value);
    emit(inst, {{dst, kWrites | kKills | kKillsBytes}});
  }

  // A whole value into a local temp, and back.
  void fetch(TempId temp, TempId value) {
    const std::size_t bytes = code_.temps[value].bytes;
    switch (location(value).kind()) {
      case Location::Kind::Register: return move_temps({temp, 0, bytes}, {value, 0, bytes}, kNoSource);
      case Location::Kind::Slot: return refill({temp, 0, bytes}, location(value), 0, kNoSource);
      case Location::Kind::Nowhere: return remat(temp, value);
    }
  }
  void put_back(TempId value, TempId temp, std::size_t offset, std::size_t size) {
    switch (location(value).kind()) {
      case Location::Kind::Register: return move_temps({value, offset, size}, {temp, offset, size}, kNoSource);
      case Location::Kind::Slot: return store(location(value), offset, {temp, offset, size}, kNoSource);
      case Location::Kind::Nowhere: REGDUEL_CHECK(false, "a value that is computed again has a second def in @" + f_.name);
    }
  }

  // dst = src between values, wherever they live. `source` = the original copy that this is, or kNoSource.
  void move_values(Bytes dst, Bytes src, std::uint32_t source) {
    const Location to = location(dst.temp), from = location(src.temp);
    const bool same = dst.temp == src.temp && dst.offset == src.offset;
    if (same || (to.is_slot() && to == from && dst.offset == src.offset && ir::may(fuel_, "stay-in-slot"))) {
      if (source != kNoSource) deleted(source);
      return;
    }
    if (from.is_register() && to.is_register()) return move_temps(dst, src, source);
    if (from.is_slot() && to.is_register()) return refill(dst, from, src.offset, source);
    if (from.is_register()) return store(to, dst.offset, src, source);
    if (source != kNoSource) deleted(source);
    const Temp &d = code_.temps[dst.temp], &s = code_.temps[src.temp];
    // A remat stands in a home of the root that it computes, of the same file and as well aligned.
    if (from.is_nowhere() && to.is_register() && src.size == s.bytes && dst.size == d.bytes && s.file == d.file &&
        d.align_log2 >= s.align_log2)
      return remat(dst.temp, src.temp);
    if (from.is_slot() && to.is_slot() && is_through_r(src)) return move_words(to, dst.offset, from, src.offset, src);
    Temp t = s;
    t.fixed = {};
    const Bytes through = {local(t), src.offset, src.size};
    if (from.is_nowhere()) remat(through.temp, src.temp);
    else refill(through, from, src.offset, kNoSource);
    if (to.is_register()) move_temps(dst, through, kNoSource);
    else store(to, dst.offset, through, kNoSource);
  }

  // --- instructions -----------------------------------------------------------------------------------------------
  // An item of the instruction at hand, and the temp that stands for it.
  struct PlacedItem {
    const Item* item;
    ir::PReg fixed;             // where it stands in any case: as the item says, or as the packing does
    bool reads_only_old_bytes;  // as of the item, unless one that is read is merged into it
    std::uint32_t merged_into;  // the item whose temp it shares: its own index where that is itself
    TempId temp = kNoTemp;
    bool is_local = false;
    bool is_listed = false;  // among the refs of the instruction
  };

  void instruction(std::uint32_t i) {
    current_ = i;
    const ir::Inst& inst = f_.insts[i];
    const Shape& shape = p_.shape(i);
    if (!plan_.is_left_out.empty() && plan_.is_left_out[i]) return deleted(i);
    if (is_as_it_was(i, shape)) return as_it_was(i, shape);
    if (inst.is_copy() && !plan_.is_pinned[i] && p_.is_plain_copy(i)) {
      const auto ops = f_.operands_of(inst);
      const ir::Storage d = f_.storage(ops[0]), s = f_.storage(ops[1]);
      if (!p_.is_useful(d.root.value)) return deleted(i);
      return move_values({d.root.value, 0, d.size}, {s.root.value, 0, s.size}, i);
    }
    if (inst.has(ir::kRematerialisable) && location(f_.root(f_.operands_of(inst)[0].vreg()).value).is_nowhere()) return deleted(i);
    take_items(i);
    if (plan_.is_pinned[i]) pin(i);
    for (std::size_t k = 0; k < items_.size(); ++k) {
      PlacedItem& it = items_[k];
      if (it.merged_into != k) continue;
      const TempId root = it.item->root().value;
      it.is_local = !it.item->architectural && (it.fixed.is_valid() || it.item->moves() || !location(root).is_register());
      it.temp = it.is_local ? local(*it.item, it.fixed, i) : root;
    }
    bool writes_locals = false;
    for (std::size_t k = 0; k < items_.size(); ++k) {
      PlacedItem& it = items_[k];
      if (it.merged_into != k) {
        it.temp = items_[it.merged_into].temp;
        continue;
      }
      if (it.is_local) writes_locals = writes_locals || it.item->write_root.is_valid();
    }
    // What comes through registers of R comes while R still has room, and goes when it has room again.
    for (const bool is_direct : {false, true})
      for (std::size_t k = 0; k < items_.size(); ++k) {
        const PlacedItem& it = items_[k];
        if (!it.is_local || it.merged_into != k || is_direct == goes_through_r(it)) continue;
        if (it.item->read_root.is_valid() && !stores_parts(it, shape) && !plan_.reads_nothing(i, it.item->read_root.value))
          fetch(it.temp, it.item->read_root.value);
      }
    original(i);
    if (!writes_locals) return;
    // Values that the instruction would define itself, were they not in a slot or pinned, are put back before those that are moved
    // in any case, because values that share a slot rely on that order.
    for (const bool is_direct : {true, false})
      for (const bool is_moved : {false, true})
        for (std::size_t k = 0; k < items_.size(); ++k) {
          const PlacedItem& it = items_[k];
          if (it.is_local && it.merged_into == k && it.item->write_root.is_valid() && is_direct != goes_through_r(it) &&
              (it.item->fixed.is_valid() || it.item->moves()) == is_moved)
            put_back(inst, shape, k);
        }
  }
  [[nodiscard]] bool goes_through_r(const PlacedItem& it) const { return p_.memory_through_r() && it.item->file != ir::RegFile::R; }

  // Whether all items are whole roots in registers, as they are in most instructions.
  [[nodiscard]] bool is_as_it_was(std::uint32_t i, const Shape& shape) const {
    if (!shape.is_simple || plan_.is_pinned[i]) return false;
    return std::ranges::all_of(shape.items, [&](const Item& item) { return location(item.root().value).is_register(); });
  }
  void as_it_was(std::uint32_t i, const Shape& shape) {
    CodeInst out;
    out.source = i;
    out.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    out.num_refs = static_cast<std::uint16_t>(shape.items.size());
    for (const Item& item : shape.items) code_.refs.push_back({item.root().value, item.ref_flags, part_of(item)});
    code_.insts.push_back(out);
  }

  void take_items(std::uint32_t i) {
    items_.clear();
    for (const Item& item : p_.shape(i).items)
      items_.push_back({&item, item.fixed, item.reads_only_old_bytes, static_cast<std::uint32_t>(items_.size())});
  }

  void put_back(const ir::Inst& inst, const Shape& shape, std::size_t k) {
    const TempId value = items_[k].item->write_root.value;
    if (!stores_parts(items_[k], shape)) return put_back(value, items_[k].temp, 0, code_.temps[value].bytes);
    const auto ops = f_.operands_of(inst);
    for (std::size_t o = 0; o < ops.size(); ++o)
      if (ops[o].is_vreg() && ops[o].writes() && shape.item_of[o] == static_cast<std::int32_t>(k)) {
        const ir::Storage s = f_.storage(ops[o]);
        put_back(value, items_[k].temp, s.offset, s.size);
      }
  }

  // Whether the item is a value in a slot of which the instruction only writes parts, so that only those bytes go to the slot.
  [[nodiscard]] bool stores_parts(const PlacedItem& it, const Shape& shape) const {
    return it.item->partial && it.reads_only_old_bytes && !shape.is_guarded && location(it.item->write_root.value).is_slot();
  }

  // Fixes each item to its packed home. Items that got one home and are read together become one.
  void pin(std::uint32_t i) {
    const Homes homes = p_.packed(i);
    for (std::size_t k = 0; k < items_.size(); ++k) items_[k].fixed = homes.of_item[k];
    for (std::size_t k = 0; k < items_.size(); ++k) {
      if (items_[k].item->at_writes) continue;
      for (std::size_t m = 0; m < items_.size(); ++m) {
        PlacedItem& other = items_[m];
        if (m == k || other.merged_into != m || !other.item->at_reads || other.fixed != items_[k].fixed) continue;
        items_[k].merged_into = static_cast<std::uint32_t>(m);
        other.reads_only_old_bytes = false;
      }
    }
  }

  // Lists the refs of the instruction, whose items have their temps.
  void original(std::uint32_t i) {
    const ir::Inst& inst = f_.insts[i];
    const Shape& shape = p_.shape(i);
    CodeInst out;
    out.source = i;
    out.first_ref = static_cast<std::uint32_t>(code_.refs.size());
    if (inst.is_copy() && !plan_.is_pinned[i] && ir::may(fuel_, "copy-does-not-interfere")) copy_pairs(inst, shape, out);
    for (std::size_t k = 0; k < items_.size(); ++k) add_ref(shape, k);
    out.num_refs = static_cast<std::uint16_t>(code_.refs.size() - out.first_ref);
    for (std::size_t o = 0; o < shape.item_of.size(); ++o)
      if (shape.item_of[o] >= 0)
        code_.operand_temp[inst.first_operand + o] = items_[static_cast<std::size_t>(shape.item_of[o])].temp;
    code_.insts.push_back(out);
  }

  // Architectural items are not listed, because no other value can be in their registers.
  void add_ref(const Shape& shape, std::size_t k) {
    if (shape.items[k].architectural) return;
    k = items_[k].merged_into;
    if (std::exchange(items_[k].is_listed, true)) return;
    // A local temp is read and written as a whole.
    code_.refs.push_back(
        {items_[k].temp, shape.items[k].ref_flags, items_[k].is_local ? std::uint16_t{0} : part_of(shape.items[k])});
  }
  std::uint16_t part_of(const Item& item) { return item.has_parts ? part(item.bytes) : std::uint16_t{0}; }

  // A parallel copy: its pairs of whole registers first, as far as no item stands in two of them, which the others are beside.
  void copy_pairs(const ir::Inst& inst, const Shape& shape, CodeInst& out) {
    const auto ops = f_.operands_of(inst);
    const std::size_t n = static_cast<std::size_t>(
        std::count_if(ops.begin(), ops.end(), [](const ir::Operand& op) { return op.role == ir::Role::Def; }));
    for (std::size_t p = 0; p < n; ++p) {
      const auto d = static_cast<std::size_t>(shape.item_of[p]), s = static_cast<std::size_t>(shape.item_of[n + p]);
      const Item &def = shape.items[d], &use = shape.items[s];
      // Where a guard does not hold, the def keeps what it had: only a copy of a value to itself is none of the guard's.
      if (shape.is_guarded && (d != s || def.moves())) continue;
      if (items_[d].is_listed || def.partial || def.early || (use.at_writes && d != s)) continue;
      if (def.architectural || use.architectural || def.file != use.file || !f_.is_whole(ops[n + p])) continue;
      if (items_[s].is_listed || items_[d].temp == items_[s].temp) {
        code_.further_pairs.push_back({out.source, items_[d].temp, items_[s].temp});
        continue;
      }
      add_ref(shape, d);
      add_ref(shape, s);
      ++out.copy_pairs;
    }
  }

  [[nodiscard]] Location location(TempId value) const { return plan_.locations[value]; }

  const Problem& p_;
  const ir::Function& f_;
  const Plan& plan_;
  ir::Fuel* fuel_;
  Code code_;
  std::vector<PlacedItem> items_;  // of the instruction at hand
  std::uint32_t current_ = kNoSource;
};

}  // namespace

Code lower(const Problem& problem, const Plan& plan, ir::Fuel* fuel) { return Lowerer(problem, plan, fuel).run(); }

}  // namespace regduel::reference
