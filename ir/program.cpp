#include "ir/program.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/name_table.h"

namespace regduel::ir {

int natural_align_log2(int width_bits) {
  if (width_bits <= 32) return 0;
  if (width_bits <= 64) return 1;
  if (width_bits <= 128) return 2;
  return 3;
}

Operand Operand::of_vreg(Role role, VRegId v, Part part) {
  Operand o;
  o.kind = OperandKind::VReg;
  o.role = role;
  o.part = part;
  o.value_ = v.value;
  return o;
}

Operand Operand::of_preg(Role role, PReg r, Part part) {
  Operand o;
  o.kind = OperandKind::PReg;
  o.role = role;
  o.part = part;
  o.value_ = pack(r);
  return o;
}

Operand Operand::of_imm(std::int64_t v) {
  Operand o;
  o.kind = OperandKind::Imm;
  o.value_ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v));
  o.extra_ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(v) >> 32);
  return o;
}

Operand Operand::of_symbol(SymbolId s) {
  Operand o;
  o.kind = OperandKind::Symbol;
  o.value_ = s.value;
  return o;
}

Operand Operand::of_slot(SlotId s, std::uint32_t byte_offset) {
  Operand o;
  o.kind = OperandKind::Slot;
  o.value_ = s.value;
  o.extra_ = byte_offset;
  return o;
}

// The bytes of the strings stand one after the other in chunks, which never move.
struct Symbols::Table {
  static constexpr std::size_t kFirstChunk = 256, kLargestChunk = 1u << 16;

  Table() = default;
  Table(const Table& other) {
    for (const std::string_view s : other.strings) add(s);
  }
  Table& operator=(const Table&) = delete;

  void add(std::string_view s) {
    if (s.size() > left) {
      const std::size_t size = std::max(s.size(), std::min(kLargestChunk, kFirstChunk << std::min<std::size_t>(chunks.size(), 8)));
      chunks.push_back(std::make_unique_for_overwrite<char[]>(size));
      free = chunks.back().get();
      left = size;
    }
    const std::string_view kept(free, s.size());
    std::copy(s.begin(), s.end(), free);
    free += s.size();
    left -= s.size();
    index.insert(kept, static_cast<std::int32_t>(strings.size()));
    strings.push_back(kept);
  }

  std::vector<std::unique_ptr<char[]>> chunks;
  char empty = 0;
  char* free = &empty;  // room for `left` bytes
  std::size_t left = 0;
  std::vector<std::string_view> strings;
  NameTable index;
};

SymbolId Symbols::intern(std::string_view s) {
  if (!table_) table_ = std::make_shared<Table>();
  if (const std::int32_t known = table_->index.find(s); known >= 0) return SymbolId(known);
  if (table_.use_count() > 1) table_ = std::make_shared<Table>(*table_);
  table_->add(s);
  return SymbolId(table_->strings.size() - 1);
}

std::size_t Symbols::size() const { return table_ ? table_->strings.size() : 0; }

std::string_view Symbols::operator[](SymbolId id) const {
  return id.index() < size() ? table_->strings[id.index()] : std::string_view();
}

const Inst* Function::find_inst(InstId id) const {
  const auto it = std::find_if(insts.begin(), insts.end(), [&](const Inst& i) { return i.id == id; });
  return it == insts.end() ? nullptr : &*it;
}
std::string Function::source_place(const Inst& i) const {
  if (!i.line.is_valid()) return {};
  const SourceLine& l = source_lines[i.line.index()];
  return l.column == 0 ? fmt::format("{}:{}", symbols[l.file], l.line) : fmt::format("{}:{}:{}", symbols[l.file], l.line, l.column);
}
std::string_view Function::mnemonic(const Inst& i) const { return i.mnemonic.is_valid() ? symbols[i.mnemonic] : ir::name(i.op); }

std::span<const Inst> Function::phis_of(BlockId b) const {
  const auto all = insts_of(b);
  std::size_t n = 0;
  while (n < all.size() && all[n].is_phi()) ++n;
  return all.first(n);
}
std::size_t Function::phi_use_from(const Inst& phi, BlockId from) const {
  const auto preds = targets_of(phi);
  return static_cast<std::size_t>(std::find(preds.begin(), preds.end(), from) - preds.begin()) + 1;
}

Storage Function::storage_of_part(const Operand& op) const {
  VRegId v = op.vreg();
  int offset = 0;
  int size = vreg(v).bytes();
  if (!op.part.is_whole()) {
    offset = op.part.offset_bytes();
    size = op.part.size_bytes();
  }
  while (vreg(v).alias.is_valid()) {
    if (!vreg(v).alias_part.is_whole()) offset += vreg(v).alias_part.offset_bytes();
    v = vreg(v).alias;
  }
  return {v, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size)};
}

FileBytes Function::file_bytes(const Operand& op) {
  const PReg r = op.preg();
  const auto unit = static_cast<std::uint32_t>(unit_bytes(r.file));
  const std::uint32_t begin = r.first * unit;
  if (op.part.is_whole() || is_predicate(r.file)) return {r.file, begin, begin + r.count * unit};
  const auto offset = static_cast<std::uint32_t>(op.part.offset_bytes());
  return {r.file, begin + offset, begin + offset + static_cast<std::uint32_t>(op.part.size_bytes())};
}

int Function::operand_bytes(const Operand& op) const {
  if (op.is_preg()) {
    const FileBytes b = file_bytes(op);
    return static_cast<int>(b.end - b.begin);
  }
  return op.part.is_whole() ? vreg(op.vreg()).bytes() : op.part.size_bytes();
}

Operand Function::placed_at(const Operand& op, PReg home) const {
  Operand placed = Operand::of_preg(op.role, home, part_of_root(op));
  placed.flags = op.flags;
  return placed;
}

Operand Function::moved_to(Operand op, VRegId root) const {
  op.part = part_of_root(op);
  op.set_vreg(root);
  return op;
}

Part Function::part_of_root(const Operand& op) const {
  const Storage s = storage(op);
  if (is_whole(s)) return {};
  const auto part = Part::from_bytes(s.offset, s.size);
  REGDUEL_CHECK(part.has_value(), "an operand's bytes are no part of its root");
  return *part;
}

InstId Function::next_inst_id() const {
  std::uint32_t next = 0;
  for (const Inst& i : insts) next = std::max(next, i.id.value + 1);
  return InstId(next);
}

void Function::reserve(std::size_t num_insts, std::size_t num_operands) {
  insts.reserve(num_insts);
  operands.reserve(num_operands);
}

Function Function::clone_header() const {
  Function f;
  f.name = name;
  f.kind = kind;
  f.abi = abi;
  f.predicate_halves = predicate_halves;
  f.phase = phase;
  f.target = target;
  f.threads = threads;
  f.local_frame = local_frame;
  f.shared_frame = shared_frame;
  f.symbols = symbols;
  f.vregs = vregs;
  f.slots = slots;
  f.source_lines = source_lines;
  return f;
}

void Function::take_source_lines(const Function& from) {
  drop_source_lines();
  if (from.source_lines.empty()) return;
  std::unordered_map<std::uint32_t, SourceLineId> line_of;
  for (const Inst& i : from.insts)
    if (i.line.is_valid()) line_of.emplace(i.id.value, i.line);
  for (const SourceLine& l : from.source_lines) add_source_line({symbols.intern(from.symbols[l.file]), l.line, l.column});
  for (Inst& i : insts)
    if (const auto it = line_of.find(i.id.value); it != line_of.end() && !i.is_inserted()) i.line = it->second;
}

void Function::drop_source_lines() {
  if (source_lines.empty()) return;
  source_lines.clear();
  for (Inst& i : insts) i.line = {};
}

VRegId Function::add_vreg(VReg v) {
  vregs.push_back(v);
  return VRegId(vregs.size() - 1);
}

SlotId Function::add_slot(Slot s) {
  slots.push_back(s);
  return SlotId(slots.size() - 1);
}

BlockId Function::begin_block(Block attributes) {
  attributes.first_inst = static_cast<std::uint32_t>(insts.size());
  attributes.num_insts = 0;
  blocks.push_back(attributes);
  return BlockId(blocks.size() - 1);
}

// `from` may point into `to`, which moves when it grows.
template <class T>
static void append_all(std::vector<T>& to, std::span<const T> from) {
  if (from.size() <= to.capacity() - to.size()) {
    for (const T& item : from) to.push_back(item);
    return;
  }
  const bool is_own = !from.empty() && from.data() >= to.data() && from.data() < to.data() + to.size();
  if (!is_own) {
    to.insert(to.end(), from.begin(), from.end());
    return;
  }
  const std::size_t at = static_cast<std::size_t>(from.data() - to.data()), end = to.size();
  to.resize(end + from.size());
  std::copy_n(to.data() + at, from.size(), to.data() + end);
}

Inst& Function::append(Inst inst, std::span<const Operand> ops, std::span<const BlockId> inst_targets) {
  REGDUEL_CHECK(!blocks.empty(), "append before begin_block");
  REGDUEL_CHECK(ops.size() <= kMaxOperands && inst_targets.size() <= kMaxOperands, "too many operands");
  inst.first_operand = static_cast<std::uint32_t>(operands.size());
  inst.first_target = static_cast<std::uint32_t>(targets.size());
  inst.num_operands = static_cast<std::uint16_t>(ops.size());
  inst.num_targets = static_cast<std::uint16_t>(inst_targets.size());
  append_all(operands, ops);
  append_all(targets, inst_targets);
  insts.push_back(inst);
  ++blocks.back().num_insts;
  return insts.back();
}

}  // namespace regduel::ir
