#include "ir/ptx/abi.h"

#include <algorithm>

namespace regduel::ir::ptx {
namespace {

std::uint32_t words(std::uint64_t bytes) { return static_cast<std::uint32_t>((bytes + 3) / 4); }

// True where the value is, or can be made, a register of `bytes` bytes (narrow ones own a whole unit).
bool fits_piece(const FunctionSyntax& f, const Value& v, std::uint32_t bytes, bool is_load) {
  if (v.is(Value::Kind::Sink)) return is_load;
  if (v.is(Value::Kind::Immediate) || v.is(Value::Kind::Name)) return !is_load;
  if (!v.is(Value::Kind::Register) || v.negated() || v.bits != 0 || v.selector != 0) return false;
  const Register& r = f.registers[static_cast<std::size_t>(v.index)];
  if (r.type.kind == TypeKind::Pred) return false;
  if (r.elements > 1) return v.component >= 0 && r.type.bits == static_cast<int>(bytes) * 8;
  return words(static_cast<std::uint64_t>(r.type.bits / 8)) == words(bytes);
}

}  // namespace

std::optional<ParamAccess> param_access(const Statement& s) {
  const Opcode& o = *s.opcode;
  if (!o.is_param_space || s.num_operands != 2) return std::nullopt;
  const bool is_load = o.kind == Opcode::Kind::Ld;
  if (!is_load && o.kind != Opcode::Kind::St) return std::nullopt;
  const Value& address = s.first_operand[is_load ? 1 : 0];
  const Value& value = s.first_operand[is_load ? 0 : 1];
  if (!address.is(Value::Kind::Address) || address.elements().size() != 1 || !address.first->is(Value::Kind::Name) ||
      address.first->index < 0)
    return std::nullopt;
  ParamAccess access;
  access.is_load = is_load;
  access.param = address.first->index;
  access.offset = address.bits;
  access.bytes = static_cast<std::uint32_t>(std::max(o.type.bits, 8) / 8);
  access.values = value.is(Value::Kind::Vector) ? value.elements() : std::span(&value, 1);
  return access;
}

std::optional<CallShape> call_shape(const Statement& s) {
  CallShape shape;
  const auto operands = s.operands();
  std::size_t k = 0;
  const auto at = [&](Value::Kind kind) { return k < operands.size() && operands[k].is(kind); };
  if (at(Value::Kind::List)) shape.returns = &operands[k++];
  if (!at(Value::Kind::Name) && !at(Value::Kind::Register)) return std::nullopt;
  shape.callee = &operands[k++];
  if (at(Value::Kind::List)) shape.arguments = &operands[k++];
  if (at(Value::Kind::Name)) shape.prototype = &operands[k++];
  if (k != operands.size()) return std::nullopt;
  return shape;
}

PReg RegisterDealer::take(std::uint32_t bytes, std::uint32_t align) {
  const int count = static_cast<int>(std::min<std::uint32_t>(words(bytes), 1000));
  const int step = align >= 16 && count >= 4 ? 4 : align >= 8 && count >= 2 ? 2 : 1;
  if (count == 0 || count > range_.count) return {};
  for (int first = ((fills_gaps_ ? range_.begin() : next_) + step - 1) / step * step; first + count <= range_.end();
       first += step) {
    const PReg r{range_.file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)};
    if (std::any_of(taken_.begin(), taken_.end(), [&](PReg t) { return t.overlaps(r); })) continue;
    taken_.push_back(r);
    next_ = std::max(next_, r.end());
    return r;
  }
  return {};
}

ParamPlan::ParamPlan(const FunctionSyntax& f, const Abi& abi)
    : homes_(f.params.size()), in_memory_(f.params.size(), false), pieces_(f.params.size()) {
  const auto deal = [&](RegisterDealer& dealer, int param) {
    const Param& p = f.params[static_cast<std::size_t>(param)];
    PReg& home = homes_[static_cast<std::size_t>(param)];
    // A variable in two places of the calls, or in two calls, has no one home.
    if (home.is_valid()) in_memory_[static_cast<std::size_t>(param)] = true;
    const PReg r = dealer.take(p.bytes, p.align);
    if (!home.is_valid()) home = r;
  };
  if (!f.is_entry) {
    RegisterDealer arguments(abi.arguments, abi), results(abi.results, abi);
    for (const int p : f.arguments) deal(arguments, p);
    for (const int p : f.returns) deal(results, p);
  }
  for (const Statement& s : f.statements) {
    if (s.kind != Statement::Kind::Instruction || s.opcode->kind != Opcode::Kind::Call) continue;
    const auto shape = call_shape(s);
    if (!shape) continue;
    RegisterDealer arguments(abi.arguments, abi), results(abi.results, abi);
    for (const auto& [list, dealer] : {std::pair{shape->arguments, &arguments}, std::pair{shape->returns, &results}})
      if (list != nullptr)
        for (const Value& v : list->elements()) {
          if (v.is(Value::Kind::Name) && v.index >= 0) deal(*dealer, v.index);
          // The operand itself is dealt its register when the call is translated, in the same order.
          else if (v.is(Value::Kind::Register))
            dealer->take(static_cast<std::uint32_t>(f.registers[static_cast<std::size_t>(v.index)].type.bits / 8), 16);
          else dealer->take(4, 4);
        }
  }
  scan(f);
  place_pieces();
}

void ParamPlan::scan(const FunctionSyntax& f) {
  // A variable named anywhere but in an access of its own has an address, so it is memory.
  const auto mentioned = [&](const auto& self, const Value& v) -> void {
    if (v.is(Value::Kind::Name) && v.index >= 0) in_memory_[static_cast<std::size_t>(v.index)] = true;
    for (const Value& element : v.elements()) self(self, element);
  };
  for (const Statement& s : f.statements) {
    if (s.kind != Statement::Kind::Instruction) continue;
    if (s.opcode->kind == Opcode::Kind::Call) continue;
    const auto access = param_access(s);
    if (!access) {
      for (const Value& v : s.operands()) mentioned(mentioned, v);
      continue;
    }
    const auto param = static_cast<std::size_t>(access->param);
    for (std::size_t k = 0; k < access->values.size(); ++k) {
      const std::uint64_t offset = access->offset + k * access->bytes;
      Piece& piece = pieces_[param][offset];
      if ((piece.bytes != 0 && piece.bytes != access->bytes) || offset > f.params[param].bytes ||
          access->bytes > f.params[param].bytes - offset || !fits_piece(f, access->values[k], access->bytes, access->is_load))
        in_memory_[param] = true;
      mentioned(mentioned, access->values[k]);
      piece.bytes = access->bytes;
      ++(access->is_load ? piece.loads : piece.stores);
    }
  }
}

void ParamPlan::place_pieces() {
  for (std::size_t p = 0; p < homes_.size(); ++p) {
    if (in_memory_[p]) homes_[p] = {};
    std::uint64_t next_word = 0;
    for (auto& [offset, piece] : pieces_[p]) {
      const std::uint32_t count = words(piece.bytes);
      const std::uint64_t first = homes_[p].first + offset / 4;
      if (offset % 4 != 0 || offset / 4 < next_word || first % count != 0) homes_[p] = {};
      if (!homes_[p].is_valid()) break;
      next_word = offset / 4 + count;
      piece.reg = PReg{homes_[p].file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)};
    }
    if (!homes_[p].is_valid()) pieces_[p].clear();
  }
}

}  // namespace regduel::ir::ptx
