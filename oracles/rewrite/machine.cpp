#include "oracles/rewrite/machine.h"

#include <algorithm>
#include <string_view>

#include "base/random.h"
#include "oracles/pair/id_index.h"

namespace regduel::oracles::rewrite {
namespace {

using ir::BlockId;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::OperandKind;

std::uint64_t hash_of(std::string_view s) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix64(h);
}
std::uint64_t hash_of(const Datum& d) {
  if (d.is_number) return hash_combine(0x17, d.low(8));
  std::uint64_t h = 0x17;
  for (int k = 0; k < d.size; k += 8) {
    std::uint64_t word = 0;
    for (int b = k; b < std::min(k + 8, static_cast<int>(d.size)); ++b)
      word |= std::uint64_t{d.bytes[static_cast<std::size_t>(b)]} << 8 * (b - k);
    h = hash_combine(h, word);
  }
  return h;
}
Datum number(std::uint64_t value, int size) {
  Datum d;
  for (std::size_t k = 0; k < 8; ++k) d.bytes[k] = static_cast<std::uint8_t>(value >> 8 * k);
  d.size = static_cast<std::uint8_t>(size);
  for (std::size_t k = static_cast<std::size_t>(std::min(size, 8)); k < 8 && size > 0; ++k) d.bytes[k] = 0;
  return d;
}
std::uint32_t all_bytes(int size) { return size >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << size) - 1; }

}  // namespace

std::uint64_t Datum::low(int width) const {
  std::uint64_t v = 0;
  for (int k = 0; k < std::min(width, 8); ++k) v |= std::uint64_t{bytes[static_cast<std::size_t>(k)]} << 8 * k;
  return v;
}

bool is_same(const Datum& a, const Datum& b) {
  if (a.is_number || b.is_number) {
    const int width = a.is_number && b.is_number ? 8 : a.is_number ? b.size : a.size;
    return width <= 8 && a.low(width) == b.low(width);
  }
  return a.size == b.size && std::equal(a.bytes.begin(), a.bytes.begin() + a.size, b.bytes.begin());
}

Machine::Machine(const Function& f, const Function* widths_of) : f_(f), plans_(f.insts.size()), first_byte_(f.vregs.size()) {
  std::uint32_t end = 0;
  for (std::size_t v = 0; v < f.vregs.size(); ++v) {
    if (f.vregs[v].alias.is_valid()) continue;
    first_byte_[v] = end;
    end += static_cast<std::uint32_t>(f.vregs[v].bytes());
  }
  bytes_.resize(end);
  undefined_.resize(end);
  const IdIndex before = widths_of != nullptr ? IdIndex(*widths_of) : IdIndex();
  for (std::size_t n = 0; n < f.insts.size(); ++n) {
    const Inst& i = f.insts[n];
    Plan& p = plans_[n];
    p.meaning = meaning_of(f, i);
    p.is_effect = is_effect(f, i);
    p.address = static_cast<std::uint8_t>(operands_of_address(f, i));
    p.opcode = hash_combine(static_cast<std::uint64_t>(i.op), hash_of(f.mnemonic(i)));
    const auto uses = ir::uses_of(f.operands_of(i));
    p.width.assign(uses.size(), 0);
    if (widths_of == nullptr) continue;
    const std::uint32_t at = before.find(i.id);
    if (at == IdIndex::kNone || widths_of->insts[at].op != i.op || widths_of->mnemonic(widths_of->insts[at]) != f.mnemonic(i))
      continue;
    // A number says nothing of the widths on which the meaning hangs.
    p.meaning = meaning_of(*widths_of, widths_of->insts[at]);
    const auto old = ir::uses_of(widths_of->operands_of(widths_of->insts[at]));
    if (old.size() != uses.size()) continue;
    for (std::size_t k = 0; k < uses.size(); ++k)
      if (!uses[k].is_register() && old[k].is_vreg()) p.width[k] = static_cast<std::uint8_t>(widths_of->operand_bytes(old[k]));
  }
}

void Machine::start(std::uint64_t seed) {
  seed_ = seed;
  state_ = mix64(seed);
  num_events_ = 0;
  std::ranges::fill(bytes_, std::uint8_t{0});
  std::ranges::fill(undefined_, std::uint8_t{1});
  for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
    if (!f_.vregs[v].is_architectural()) continue;
    const auto size = static_cast<std::size_t>(f_.vregs[v].bytes());
    for (std::size_t k = 0; k < size; ++k) {
      bytes_[first_byte_[v] + k] = static_cast<std::uint8_t>(hash_combine(seed, Operand::pack(f_.vregs[v].fixed) + k));
      undefined_[first_byte_[v] + k] = 0;
    }
  }
}

Datum Machine::read(const Operand& op, int width_of_number) const {
  if (op.kind == OperandKind::Imm) {
    Datum d = number(static_cast<std::uint64_t>(op.imm()), width_of_number);
    d.is_number = width_of_number == 0;
    return d;
  }
  if (op.kind == OperandKind::Symbol) {
    ParameterOperand p;
    if (is_parameter_operand(f_.symbols[op.symbol()], p))
      return parameter(p.name, p.offset, width_of_number == 0 ? 8 : width_of_number);
    return number(hash_of(f_.symbols[op.symbol()]), 8);
  }
  Datum d;
  if (!op.is_vreg()) return number(Operand::pack(op.preg()), 8);
  const ir::Storage s = f_.storage(op);
  d.size = static_cast<std::uint8_t>(s.size);
  for (std::size_t k = 0; k < s.size; ++k) {
    const std::size_t at = first_byte_[s.root.index()] + s.offset + k;
    d.bytes[k] = bytes_[at];
    d.undefined |= std::uint32_t{undefined_[at]} << k;
  }
  if (op.is_negated()) d.bytes[0] ^= 1;
  return d;
}

void Machine::write(const Operand& op, const Datum& d) {
  const ir::Storage s = f_.storage(op);
  for (std::size_t k = 0; k < s.size; ++k) {
    const std::size_t at = first_byte_[s.root.index()] + s.offset + k;
    bytes_[at] = d.bytes[k];
    undefined_[at] = static_cast<std::uint8_t>(d.undefined >> k & 1);
  }
}

Datum Machine::parameter(std::string_view name, std::int64_t offset, int size) const {
  Datum d;
  const std::uint64_t base = hash_combine(seed_, hash_of(name));
  for (int k = 0; k < std::min(size, 32); ++k)
    d.bytes[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(hash_combine(base, static_cast<std::uint64_t>(offset + k)));
  d.size = static_cast<std::uint8_t>(size);
  return d;
}

Datum Machine::drawn(std::uint64_t hash, int size, bool is_predicate, bool is_undefined) const {
  Datum d;
  d.size = static_cast<std::uint8_t>(size);
  for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) {
    if (k % 8 == 0) hash = mix64(hash + seed_);
    d.bytes[k] = static_cast<std::uint8_t>(hash >> 8 * (k % 8));
  }
  if (is_predicate) d.bytes[0] &= 1;
  if (is_undefined) d.undefined = all_bytes(size);
  return d;
}

template <class Visit>
void Machine::each_use(const Inst& i, const Plan& plan, Visit&& visit) const {
  const auto ops = f_.operands_of(i);
  const std::size_t defs = ir::defs_of(ops).size();
  const auto uses = ir::uses_of(ops);
  for (std::size_t k = 0; k < defs; ++k)
    if (ops[k].role == ir::Role::DefUse) visit(k, read(ops[k], 0));
  std::size_t k = 0;
  if (plan.address > 0) {
    Datum address = read(uses[0], plan.width[0] != 0 ? plan.width[0] : 8);
    if (plan.address == 2) {
      const std::uint32_t undefined = address.undefined;
      address = number(address.low(8) + static_cast<std::uint64_t>(uses[1].imm()), address.size);
      address.undefined = undefined;
    }
    visit(defs, address);
    k = plan.address;
  }
  for (; k < uses.size(); ++k) visit(defs + k, read(uses[k], plan.width[k]));
}

void Machine::make_undefined(const Inst& i) {
  for (const Operand& op : ir::defs_of(f_.operands_of(i))) {
    Datum d;
    d.size = static_cast<std::uint8_t>(f_.operand_bytes(op));
    d.undefined = all_bytes(d.size);
    write(op, d);
  }
}

void Machine::move(const Inst& i) {
  const auto ops = f_.operands_of(i), defs = ir::defs_of(ops), uses = ir::uses_of(ops);
  if (i.op == Op::Const) {
    const int size = f_.operand_bytes(defs[0]);
    Datum d = read(uses[0], size);
    d.size = static_cast<std::uint8_t>(size);
    if (uses[0].kind == OperandKind::Imm && size > 8)
      for (std::size_t k = 8; k < static_cast<std::size_t>(size); ++k) d.bytes[k] = uses[0].imm() < 0 ? 0xFF : 0;
    if (f_.vreg(f_.root(defs[0].vreg())).units() == 1 && ir::is_predicate(f_.vreg(defs[0].vreg()).file())) d.bytes[0] &= 1;
    return write(defs[0], d);
  }
  // All uses are read before any def is written.
  Datum whole;
  std::vector<Datum> read_of;
  for (const Operand& op : uses) read_of.push_back(read(op, 0));
  if (i.is_copy()) {
    for (std::size_t k = 0; k < defs.size(); ++k) write(defs[k], read_of[k]);
    return;
  }
  for (const Datum& d : read_of)
    for (std::size_t k = 0; k < d.size && whole.size < 32; ++k, ++whole.size) {
      whole.bytes[whole.size] = d.bytes[k];
      whole.undefined |= (d.undefined >> k & 1) << whole.size;
    }
  std::size_t at = 0;
  for (const Operand& op : defs) {
    Datum d;
    d.size = static_cast<std::uint8_t>(f_.operand_bytes(op));
    for (std::size_t k = 0; k < d.size && at < 32; ++k, ++at) {
      d.bytes[k] = whole.bytes[at];
      d.undefined |= (whole.undefined >> at & 1) << k;
    }
    write(op, d);
  }
}

void Machine::compute(const Inst& i, const Plan& plan, bool is_open) {
  const auto ops = f_.operands_of(i), defs = ir::defs_of(ops), uses = ir::uses_of(ops);
  if (plan.meaning == Meaning::Parameter) {
    const std::int64_t offset = uses.size() == 2 ? uses[1].imm() : 0;
    Datum d = parameter(f_.symbols[uses[0].symbol()], offset, f_.operand_bytes(defs[0]));
    if (is_open) d.undefined = all_bytes(d.size);
    return write(defs[0], d);
  }
  std::uint64_t h = plan.opcode, sum = 0;
  bool is_undefined = is_open, is_first = true;
  each_use(i, plan, [&](std::size_t, const Datum& d) {
    const std::uint64_t v = d.low(8);
    sum = is_first || plan.meaning == Meaning::Same ? v : plan.meaning == Meaning::Subtract ? sum - v : sum + v;
    is_first = false;
    is_undefined = is_undefined || d.undefined != 0;
    h = hash_combine(h, hash_of(d));
  });
  if (plan.meaning == Meaning::Read && !i.has(ir::kReadOnly)) h = hash_combine(h, state_);
  if (plan.meaning == Meaning::Add || plan.meaning == Meaning::Subtract || plan.meaning == Meaning::Same) {
    Datum d = number(sum, f_.operand_bytes(defs[0]));
    if (is_undefined) d.undefined = all_bytes(d.size);
    return write(defs[0], d);
  }
  for (std::size_t k = 0; k < defs.size(); ++k) {
    const bool is_predicate = ir::is_predicate(f_.vreg(f_.root(defs[k].vreg())).file());
    write(defs[k], drawn(hash_combine(h, k), f_.operand_bytes(defs[k]), is_predicate, is_undefined));
  }
}

void Machine::step(std::uint32_t at, const std::vector<Event>* follow) {
  const Inst& i = f_.insts[at];
  const Plan& plan = plans_[at];
  const auto ops = f_.operands_of(i);
  ++instructions_;
  bool happens = true, is_open = false;
  if (const Operand* const guard = ir::guard_of(ops)) {
    const Datum g = read(*guard, 0);
    happens = (g.bytes[0] & 1) != 0;
    is_open = g.undefined != 0;
  }
  if (!plan.is_effect) {
    if (is_open) return make_undefined(i);
    if (!happens) return;
    if (plan.meaning == Meaning::Move) return move(i);
    return compute(i, plan, false);
  }
  Event e{at, happens, is_open, 0, static_cast<std::uint32_t>(seen_.size()), 0};
  std::uint64_t h = hash_combine(state_, i.id.value);
  if (happens && !is_open)
    each_use(i, plan, [&](std::size_t k, const Datum& d) {
      seen_.push_back({static_cast<std::uint16_t>(k), d});
      ++e.num_seen;
      h = hash_combine(h, d.undefined != 0 ? 0 : hash_of(d));
    });
  // Reads tell states of memory apart, and nothing else.
  const std::size_t number = events_.size();
  const bool changes_memory = i.op == Op::Call || i.op == Op::Bar || i.has(ir::kMemWrite) || i.has(ir::kBarrier);
  if (changes_memory) state_ = follow != nullptr && number < follow->size() ? (*follow)[number].state : mix64(h);
  e.state = state_;
  events_.push_back(e);
  ++num_events_;
  if (is_open) return make_undefined(i);
  if (!happens) return;
  if (plan.meaning == Meaning::Move) return move(i);
  // What comes from outside, so that it hangs on the number of the effect alone.
  std::uint64_t k = 0;
  for (const Operand& op : ir::defs_of(ops)) {
    const bool is_predicate = ir::is_predicate(f_.vreg(f_.root(op.vreg())).file());
    write(op, drawn(hash_combine(hash_combine(i.id.value, num_events_), ++k), f_.operand_bytes(op), is_predicate, false));
  }
}

void Machine::phis(BlockId b, BlockId from) {
  std::vector<Datum> values;
  const auto phis = f_.phis_of(b);
  if (!from.is_valid()) return;
  for (const Inst& i : phis) values.push_back(read(f_.operands_of(i)[f_.phi_use_from(i, from)], 0));
  for (std::size_t k = 0; k < phis.size(); ++k) write(f_.operands_of(phis[k])[0], values[k]);
}

void Machine::run(BlockId b, BlockId from, const std::vector<Event>* follow) {
  events_.clear();
  seen_.clear();
  phis(b, from);
  const ir::Block& block = f_.block(b);
  for (std::uint32_t n = static_cast<std::uint32_t>(f_.phis_of(b).size()); n < block.num_insts; ++n)
    step(block.first_inst + n, follow);
}

}  // namespace regduel::oracles::rewrite
