#include "ir/ptx/print/signatures.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regduel::ir::ptx {
namespace {

// What one place says of one side of a signature.
struct Side {
  std::set<std::pair<int, int>> registers;  // first, units
  std::vector<int> memory;                  // bytes of those in memory, in their order
};

void add_registers(const Function& f, std::span<const Operand> ops, Side& side) {
  for (const Operand* op : fixed_operands(f, ops)) {
    const PReg r = f.fixed_of(*op);
    side.registers.emplace(r.first, r.count);
  }
}

void merge(Side& into, const Side& from) {
  into.registers.insert(from.registers.begin(), from.registers.end());
  into.memory.resize(std::max(into.memory.size(), from.memory.size()), 0);
  for (std::size_t k = 0; k < from.memory.size(); ++k) into.memory[k] = std::max(into.memory[k], from.memory[k]);
}

// Registers from that of the first argument on, without gaps; where places do not agree, word by word.
std::vector<Parameter> parameters_of(const Side& side, int first_register) {
  std::map<int, int> words;  // register -> units of the parameter that begins there
  std::set<int> single;      // registers that are words of their own
  const auto overlap = [](const auto& a, const auto& b) { return a.first < b.first + b.second && b.first < a.first + a.second; };
  for (const auto& a : side.registers) {
    bool alone = a.second > 2 || (a.second == 2 && a.first % 2 != 0);
    for (const auto& b : side.registers) alone = alone || (a != b && overlap(a, b));
    if (!alone) words[a.first] = a.second;
    for (int k = 0; alone && k < a.second; ++k) single.insert(a.first + k);
  }
  for (const int r : single) words[r] = 1;
  std::vector<Parameter> list;
  int next = first_register;
  for (const auto& [r, units] : words) {
    for (; next < r; ++next) list.push_back({next, 1, 4});
    list.push_back({r, units, units * 4});
    next = r + units;
  }
  for (const int bytes : side.memory) list.push_back({-1, 0, std::max(4, (bytes + 3) / 4 * 4)});
  return list;
}

int first_of(const Function& f) { return f.abi == AbiName::Cuda ? 4 : 0; }

struct Sides {
  Side arguments, results;
  int first_register = 4;
};

// PTX has one result: several are a structure.
Signature signature_from(const Sides& s) {
  Signature all{parameters_of(s.arguments, s.first_register), parameters_of(s.results, s.first_register)};
  int offset = 0;
  if (all.results.size() > 1)
    for (Parameter& p : all.results) {
      const int align = p.units == 1 ? 4 : 8;
      p.offset = (offset + align - 1) / align * align;
      offset = p.offset + p.bytes;
    }
  return all;
}

Sides sides_of_call(const Analysed& a, const Inst& call, int number) {
  const Function& f = *a.function;
  Sides s;
  s.first_register = first_of(f);
  add_registers(f, uses_of(f.operands_of(call)), s.arguments);
  add_registers(f, defs_of(f.operands_of(call)), s.results);
  const auto bytes = [&](const std::string& name) {
    const auto it = a.variables.bytes_of_calls.find({number, name});
    return it == a.variables.bytes_of_calls.end() ? 4 : it->second;
  };
  for (const std::string& n : a.variables.arguments[static_cast<std::size_t>(number)]) s.arguments.memory.push_back(bytes(n));
  for (const std::string& n : a.variables.results[static_cast<std::size_t>(number)]) s.results.memory.push_back(bytes(n));
  return s;
}

}  // namespace

std::vector<const Operand*> fixed_operands(const Function& f, std::span<const Operand> ops) {
  std::vector<const Operand*> list;
  for (const Operand& op : ops)
    if (op.is_vreg() && op.role != Role::Guard && f.fixed_of(op).is_valid() && f.fixed_of(op).file == RegFile::R)
      list.push_back(&op);
  return list;
}

Callee callee_of(const Function& f, const Inst& call) {
  const auto uses = uses_of(f.operands_of(call));
  Callee c;
  if (!uses.empty() && uses[0].kind == OperandKind::Symbol) c.name = f.symbols[uses[0].symbol()];
  // A register, alone or behind the name of a prototype, which no argument is in the place of: it is fixed to none.
  const std::size_t k = c.name.empty() ? 0 : 1;
  if (k < uses.size() && uses[k].is_vreg() && !f.fixed_of(uses[k]).is_valid() && f.operand_bytes(uses[k]) == 8) {
    c.address = &uses[k];
    c.name = {};
  }
  if (c.address == nullptr && c.name.empty()) c.name = "$nameless";
  return c;
}

std::map<std::string, Signature, std::less<>> signatures_of(std::span<const Analysed> functions) {
  std::map<std::string, Sides, std::less<>> sides;
  for (const Analysed& a : functions) {
    const Function& f = *a.function;
    if (f.kind == FunctionKind::Device) {
      Sides s;
      s.first_register = first_of(f);
      for (const Inst& i : f.insts) {
        if (f.mnemonic(i) == "abi.entry") add_registers(f, defs_of(f.operands_of(i)), s.arguments);
        if (i.op == Op::Ret) add_registers(f, uses_of(f.operands_of(i)), s.results);
      }
      for (const auto& [name, v] : a.variables.by_name) {
        if (v.space == Variable::Space::Param) s.arguments.memory.push_back(v.bytes);
        if (v.space == Variable::Space::Return) s.results.memory.push_back(v.bytes);
      }
      Sides& known = sides[f.name];
      merge(known.arguments, s.arguments);
      merge(known.results, s.results);
      known.first_register = s.first_register;
    }
    int number = 0;
    for (const Inst& i : f.insts) {
      if (i.op != Op::Call) continue;
      if (const Callee c = callee_of(f, i); !c.name.empty()) {
        const Sides s = sides_of_call(a, i, number);
        Sides& known = sides[std::string(c.name)];
        merge(known.arguments, s.arguments);
        merge(known.results, s.results);
        known.first_register = s.first_register;
      }
      ++number;
    }
  }
  std::map<std::string, Signature, std::less<>> signatures;
  for (const auto& [name, s] : sides) signatures[name] = signature_from(s);
  return signatures;
}

Signature signature_of(const Analysed& f, const Inst& call, int number) { return signature_from(sides_of_call(f, call, number)); }

std::string place_of(const std::vector<Parameter>& list, std::size_t k, std::string_view prefix) {
  return list[k].offset < 0 ? fmt::format("{}{}", prefix, k) : fmt::format("{}0+{}", prefix, list[k].offset);
}

std::vector<std::pair<std::string, std::string>> declarations_of(const std::vector<Parameter>& list, std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](bool is_word, int bytes) {
    std::string name = prefix == "_" ? "_" : fmt::format("{}{}", prefix, all.size());
    std::string text =
        is_word ? fmt::format(".param .b{} {}", bytes * 8, name) : fmt::format(".param .align 8 .b8 {}[{}]", name, bytes);
    all.emplace_back(std::move(name), std::move(text));
  };
  if (!list.empty() && list[0].offset >= 0) {
    add(false, (list.back().offset + list.back().bytes + 7) / 8 * 8);
    return all;
  }
  for (const Parameter& p : list) add(p.units > 0, p.bytes);
  return all;
}

std::string text_of(const Signature& s, std::string_view name, bool has_names) {
  const auto list = [&](const std::vector<Parameter>& parameters, std::string_view prefix) {
    std::vector<std::string> texts;
    for (const auto& declared : declarations_of(parameters, has_names ? prefix : "_")) texts.push_back(declared.second);
    return fmt::format("({})", fmt::join(texts, ", "));
  };
  return fmt::format("{}{} {}", s.results.empty() ? "" : list(s.results, "r") + " ", name, list(s.arguments, "a"));
}

}  // namespace regduel::ir::ptx
