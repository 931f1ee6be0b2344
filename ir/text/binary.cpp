// The binary form: "RIRB", a version byte, then the function as variable-length numbers (seven bits a byte, lowest first).
//
//   symbols: count, each length + bytes          header: name, target, kind | phase << 1 | abi << 2, threads, local,
//                                               shared frame
//   vregs, slots, blocks: count, then fields     insts: fields, operands, targets, each instruction after the other
//
// Version 2 has source lines as well: after the slots, count and fields; last of the fields of an instruction, the number of its
// line. The writer uses it only for programs that have source lines, so that others keep their bytes.
//
// Opcodes are stored as the codes of opcode_table.h, those above 31 behind the instruction's head. Optional ids are stored plus
// one, 0 = none. The decoder trusts no count. Each element costs at least one byte, so that memory stays within a small multiple
// of the input; what decodes is then checked for well-formedness.

#include "ir/text/binary.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ir/check.h"

namespace regduel::ir {
namespace {

constexpr unsigned kCodeFollows = 31;  // in the five bits of an opcode: its code is above, and a number of its own
constexpr std::uint8_t kMagic[4] = {'R', 'I', 'R', 'B'};

class Writer {
 public:
  std::vector<std::uint8_t> bytes;

  void number(std::uint64_t v) {
    while (v >= 0x80) {
      bytes.push_back(static_cast<std::uint8_t>(v | 0x80));
      v >>= 7;
    }
    bytes.push_back(static_cast<std::uint8_t>(v));
  }
  void signed_number(std::int64_t v) { number(static_cast<std::uint64_t>(v) << 1 ^ static_cast<std::uint64_t>(v >> 63)); }
  template <class Tag>
  void optional(Id<Tag> id) {
    number(id.is_valid() ? std::uint64_t{id.value} + 1 : 0);
  }
  void string(std::string_view s) {
    number(s.size());
    bytes.insert(bytes.end(), s.begin(), s.end());
  }
};

// Reading past the end yields zeros and sets failed.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool failed = false;
  std::string error = "binary RIR that is cut off or has a value out of range";

  void fail(std::string message) {
    failed = true;
    error = std::move(message);
  }
  // Calls `read` for each element of a list that begins with its length, as long as nothing fails.
  template <class Read>
  void list(Read read) {
    for (std::size_t n = count(); n > 0 && !failed; --n) read();
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t number() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) break;
      const std::uint8_t b = bytes_[at_++];
      v |= static_cast<std::uint64_t>(b & 0x7F) << shift;
      if ((b & 0x80) == 0) return v;
    }
    failed = true;
    return 0;
  }
  // A number up to `most`.
  std::uint64_t number(std::uint64_t most) {
    const std::uint64_t v = number();
    if (v > most) failed = true;
    return v > most ? 0 : v;
  }
  template <class T>
  T field(std::uint64_t most) {
    return static_cast<T>(number(most));
  }
  std::int64_t signed_number() {
    const std::uint64_t v = number();
    return static_cast<std::int64_t>(v >> 1 ^ (0 - (v & 1)));
  }
  template <class IdType>
  IdType optional() {
    const std::uint64_t v = number(0xFFFFFFFFull);
    return v == 0 ? IdType() : IdType(static_cast<std::uint32_t>(v - 1));
  }
  // A count of elements that take at least one byte each.
  std::size_t count() {
    const std::uint64_t v = number();
    if (v > left()) failed = true;
    return failed ? 0 : static_cast<std::size_t>(v);
  }
  std::string_view string() {
    const std::size_t n = count();
    const std::string_view s(reinterpret_cast<const char*>(bytes_.data()) + at_, n);
    at_ += n;
    return s;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

void write_operand(Writer& w, const Operand& op) {
  // kind, role, and which of the rarer fields follow.
  const Operand::Raw raw = op.raw();
  const bool part = !op.part.is_whole(), flags = op.flags != 0, extra = raw.extra != 0, tied = op.is_tied();
  w.number(static_cast<unsigned>(op.kind) | static_cast<unsigned>(op.role) << 3 | (part ? 1u << 6 : 0) | (flags ? 1u << 7 : 0) |
           (extra ? 1u << 8 : 0) | (tied ? 1u << 9 : 0));
  if (op.kind == OperandKind::Imm) {
    w.signed_number(op.imm());
  } else {
    w.number(raw.value);
    if (extra) w.number(raw.extra);
  }
  if (part) w.number(op.part.code());
  if (flags) w.number(op.flags);
  if (tied) w.number(op.tied);
}

Operand read_operand(Reader& r) {
  const auto head = r.field<std::uint32_t>(0x3FF);
  Operand op;
  op.kind = static_cast<OperandKind>(std::min(head & 7, 4u));
  op.role = static_cast<Role>(std::min(head >> 3 & 7, 4u));
  if (op.kind == OperandKind::Imm) {
    op.set_raw(Operand::of_imm(r.signed_number()).raw());
  } else {
    Operand::Raw raw;
    raw.value = r.field<std::uint32_t>(0xFFFFFFFF);
    if ((head & 1u << 8) != 0) raw.extra = r.field<std::uint32_t>(0xFFFFFFFF);
    op.set_raw(raw);
  }
  if ((head & 1u << 6) != 0) op.part = Part::from_code(r.field<std::uint8_t>(0xFF));
  if ((head & 1u << 7) != 0) op.flags = r.field<std::uint8_t>(0xFF);
  if ((head & 1u << 9) != 0) op.tied = r.field<std::uint16_t>(kNotTied);
  return op;
}

void read_header(Reader& r, Function& f) {
  r.list([&, next = std::size_t{0}]() mutable {
    if (f.symbols.intern(r.string()).index() != next++) r.fail("a symbol is there twice");
  });
  f.name = r.string();
  f.target = r.string();
  const auto kind = r.field<unsigned>(15);
  f.kind = static_cast<FunctionKind>(kind & 1);
  f.phase = static_cast<Phase>(kind >> 1 & 1);
  f.abi = static_cast<AbiName>(kind >> 2 & 1);
  f.predicate_halves = (kind >> 3 & 1) != 0;
  f.threads = r.field<std::uint32_t>(0xFFFFFFFF);
  f.local_frame = r.field<std::uint32_t>(1u << 30);
  f.shared_frame = r.field<std::uint32_t>(1u << 30);
}

VReg read_vreg(Reader& r) {
  VReg v;
  const auto head = r.field<unsigned>(0xFF);
  v.cls = static_cast<RegClass>(head & 15);
  v.type = static_cast<TypeKind>(head >> 4);
  v.width = r.field<std::uint16_t>(256);
  v.align_log2 = r.field<std::uint8_t>(8);
  v.flags = r.field<std::uint8_t>(kVRegUniform | kVRegArchitectural);
  v.alias_part = Part::from_code(r.field<std::uint8_t>(0xFF));
  const auto fixed = r.field<std::uint32_t>(0xFFFFFFFF);
  v.fixed = Operand::unpack(fixed);
  if (!v.fixed.is_valid() && fixed != 0) r.fail("a fixed register of no units");
  v.alias = r.optional<VRegId>();
  v.hint = r.optional<VRegId>();
  v.name = r.optional<SymbolId>();
  return v;
}

Slot read_slot(Reader& r) {
  Slot s;
  s.space = r.field<MemSpace>(1);
  s.size = r.field<std::uint32_t>(1u << 30);
  s.align = r.field<std::uint32_t>(1u << 30);
  s.offset = r.field<std::uint32_t>(1u << 30);
  return s;
}

SourceLine read_source_line(Reader& r) {
  SourceLine l;
  l.file = SymbolId(r.field<std::uint32_t>(0xFFFFFFFE));
  l.line = r.field<std::uint32_t>(0xFFFFFFFF);
  l.column = r.field<std::uint32_t>(0xFFFFFFFF);
  return l;
}

// `ops` and `targets` are room for those of the instruction.
void read_inst(Reader& r, Function& f, bool has_lines, std::vector<Operand>& ops, std::vector<BlockId>& targets) {
  Inst i;
  i.id = InstId(r.field<std::uint32_t>(0xFFFFFFFE));
  const auto head = r.field<std::uint32_t>((1u << 14) - 1);
  const std::uint64_t code = (head & 31) == kCodeFollows ? r.number(63) : head & 31;
  const auto op = ((head & 31) == kCodeFollows) == (code > kCodeFollows) ? op_of_code(code) : std::nullopt;
  if (!op) return r.fail(fmt::format("instruction {}: no such operation", i.id.value));
  i.op = *op;
  i.flags = static_cast<std::uint16_t>(head >> 5);
  i.mnemonic = r.optional<SymbolId>();
  if (i.op == Op::Remat) i.ref = r.optional<InstId>();
  ops.clear();
  targets.clear();
  const std::size_t num_operands = r.count();
  if (num_operands > kMaxOperands) return r.fail("too many operands");
  for (std::size_t o = 0; o < num_operands && !r.failed; ++o) ops.push_back(read_operand(r));
  const std::size_t num_targets = r.count();
  if (num_targets > kMaxOperands) return r.fail("too many targets");
  for (std::size_t t = 0; t < num_targets && !r.failed; ++t) targets.push_back(BlockId(r.field<std::uint32_t>(0xFFFFFFFE)));
  if (has_lines) i.line = r.optional<SourceLineId>();
  f.append(i, ops, targets);
}

}  // namespace

bool looks_binary(std::span<const std::uint8_t> bytes) { return bytes.size() >= 4 && std::memcmp(bytes.data(), kMagic, 4) == 0; }

std::vector<std::uint8_t> encode(const Function& f) {
  Writer w;
  w.bytes.reserve(f.insts.size() * 24 + 256);
  w.bytes.assign(std::begin(kMagic), std::end(kMagic));
  const bool has_lines = !f.source_lines.empty();
  w.bytes.push_back(has_lines ? kBinaryVersion : 1);
  w.number(f.symbols.size());
  for (std::size_t s = 0; s < f.symbols.size(); ++s) w.string(f.symbols[SymbolId(s)]);
  w.string(f.name);
  w.string(f.target);
  w.number(static_cast<unsigned>(f.kind) | static_cast<unsigned>(f.phase) << 1 | static_cast<unsigned>(f.abi) << 2 |
           static_cast<unsigned>(f.predicate_halves) << 3);
  w.number(f.threads);
  w.number(f.local_frame);
  w.number(f.shared_frame);
  w.number(f.vregs.size());
  for (const VReg& v : f.vregs) {
    w.number(static_cast<unsigned>(v.cls) | static_cast<unsigned>(v.type) << 4);
    w.number(v.width);
    w.number(v.align_log2);
    w.number(v.flags);
    w.number(v.alias_part.code());
    w.number(Operand::pack(v.fixed));
    w.optional(v.alias);
    w.optional(v.hint);
    w.optional(v.name);
  }
  w.number(f.slots.size());
  for (const Slot& s : f.slots) {
    w.number(static_cast<unsigned>(s.space));
    w.number(s.size);
    w.number(s.align);
    w.number(s.offset);
  }
  if (has_lines) {
    w.number(f.source_lines.size());
    for (const SourceLine& l : f.source_lines) {
      w.number(l.file.value);
      w.number(l.line);
      w.number(l.column);
    }
  }
  w.number(f.blocks.size());
  for (const Block& b : f.blocks) {
    w.number(b.num_insts);
    w.number(static_cast<std::uint64_t>(b.depth + 1));
    w.number(b.freq);
    w.optional(b.name);
    w.optional(b.edge_from);
    w.optional(b.edge_to);
    for (const Inst& i : f.insts_of(b)) {
      w.number(i.id.value);
      const unsigned code = opcode(i.op).code;
      w.number(std::min(code, kCodeFollows) | static_cast<unsigned>(i.flags) << 5);
      if (code > kCodeFollows) w.number(code);
      w.optional(i.mnemonic);
      if (i.op == Op::Remat) w.optional(i.ref);
      w.number(i.num_operands);
      for (const Operand& op : f.operands_of(i)) write_operand(w, op);
      w.number(i.num_targets);
      for (const BlockId t : f.targets_of(i)) w.number(t.value);
      if (has_lines) w.optional(i.line);
    }
  }
  return std::move(w.bytes);
}

std::expected<Function, std::string> decode(std::span<const std::uint8_t> bytes) {
  if (!looks_binary(bytes)) return std::unexpected("not binary RIR: it does not begin with RIRB");
  if (bytes.size() < 5 || bytes[4] < 1 || bytes[4] > kBinaryVersion)
    return std::unexpected(fmt::format("binary RIR of an unknown version (this program reads up to {})", kBinaryVersion));
  const bool has_lines = bytes[4] >= 2;
  Reader r(bytes.subspan(5));
  Function f;
  read_header(r, f);
  if (!r.failed) r.list([&] { f.add_vreg(read_vreg(r)); });
  if (!r.failed) r.list([&] { f.add_slot(read_slot(r)); });
  if (!r.failed && has_lines) r.list([&] { f.add_source_line(read_source_line(r)); });
  std::vector<Operand> ops;
  std::vector<BlockId> targets;
  if (!r.failed)
    r.list([&] {
      const std::size_t num_insts = r.count();
      Block b;
      b.depth = static_cast<std::int32_t>(r.number(1001)) - 1;
      b.freq = r.number();
      b.name = r.optional<SymbolId>();
      b.edge_from = r.optional<BlockId>();
      b.edge_to = r.optional<BlockId>();
      f.begin_block(b);
      for (std::size_t n = 0; n < num_insts && !r.failed; ++n) read_inst(r, f, has_lines, ops, targets);
    });
  if (r.failed) return std::unexpected(std::move(r.error));
  if (r.left() != 0) return std::unexpected("bytes after the end of binary RIR");
  if (const auto faults = check(f, 1); !faults.empty()) return std::unexpected(to_string(f, faults[0]));
  return f;
}

}  // namespace regduel::ir
