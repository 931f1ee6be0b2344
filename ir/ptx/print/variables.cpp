#include "ir/ptx/print/variables.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "ir/ptx/opcodes.h"

namespace regduel::ir::ptx {
namespace {

using Space = Variable::Space;

// The memories that the modifiers of an opcode name, in their order.
std::vector<Space> spaces_of(const Opcode& o) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {{"shared", Space::Shared},
                                                                   {"local", Space::Local},
                                                                   {"global", Space::Global},
                                                                   {"const", Space::Const},
                                                                   {"param", Space::Param}};
  std::vector<Space> spaces;
  for (std::size_t k = 1; k < o.parts.size(); ++k)
    for (const auto& [name, space] : kSpaces)
      if (o.parts[k].substr(0, o.parts[k].find("::")) == name) spaces.push_back(space);
  return spaces;
}

bool is_name(std::string_view s) {
  return !s.empty() && s != "_" && s != "-" && s[0] != '%' && s[0] != '.' && !s.starts_with("c[");
}

class Finder {
 public:
  Finder(const Function& f, OpcodeTable& opcodes) : f_(f), opcodes_(opcodes), symbol_in_(f.vregs.size()) {}

  Variables run() {
    for (const Inst& i : f_.insts)
      if (i.op == Op::Call) collect_arguments(i);
    calls_ = 0;
    for (const Inst& i : f_.insts) {
      if (i.op == Op::Call) ++calls_;
      else if (i.op == Op::Named || i.op == Op::Bar) look_at(i);
      else if (i.op == Op::Const) take_address(i);
    }
    follow_addresses();
    return std::move(v_);
  }

 private:
  [[nodiscard]] std::string_view text(const Operand& op) const {
    return op.kind == OperandKind::Symbol ? f_.symbols[op.symbol()] : std::string_view();
  }

  // The first symbol is the function or its prototype; each other one is an argument in memory.
  void collect_arguments(const Inst& call) {
    auto& names = v_.arguments.emplace_back();
    v_.results.emplace_back();
    bool is_first = true;
    for (const Operand& op : uses_of(f_.operands_of(call))) {
      if (op.kind != OperandKind::Symbol) continue;
      if (!is_first) names.emplace_back(text(op));
      is_first = false;
    }
  }

  void take_address(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const std::string_view name = text(ops[1]);
    if (!is_name(name)) return;
    v_.by_name[std::string(name)].has_address = true;
    symbol_in_[f_.root(ops[0].vreg()).index()] = ops[1].symbol();
  }

  void extend(std::string_view name, Space space, std::int64_t offset, int bytes) {
    Variable& v = v_.by_name[std::string(name)];
    if (v.space == Space::Unknown) v.space = space;
    v.bytes = std::max(v.bytes, static_cast<int>(std::clamp<std::int64_t>(offset, 0, 1 << 20)) + bytes);
    v.align = std::max(v.align, std::min(bytes & -bytes, 16));
  }

  // A load or store of .param space that belongs to a call. True if it does.
  bool belongs_to_call(const Inst& i, std::string_view name, bool is_load, std::int64_t offset, int bytes) {
    int call = -1;
    if (!is_load) {
      for (std::size_t k = static_cast<std::size_t>(calls_); k < v_.arguments.size() && call < 0; ++k)
        if (std::ranges::find(v_.arguments[k], name) != v_.arguments[k].end()) call = static_cast<int>(k);
    } else if (calls_ > 0 && !own_.contains(std::string(name)) && !i.has(kReadOnly)) {
      call = calls_ - 1;
      auto& results = v_.results[static_cast<std::size_t>(call)];
      if (std::ranges::find(results, name) == results.end()) results.emplace_back(name);
    }
    if (call < 0) return false;
    v_.of_calls[i.id.value] = {call, std::string(name)};
    int& size = v_.bytes_of_calls[{call, std::string(name)}];
    size = std::max(size, static_cast<int>(std::clamp<std::int64_t>(offset, 0, 4096)) + bytes);
    return true;
  }

  // Of matrices and asynchronous copies, as much as any instruction asks for.
  [[nodiscard]] static int access_bytes(const Opcode& o) {
    const bool is_plain = o.kind == Opcode::Kind::Ld || o.kind == Opcode::Kind::Ldu || o.kind == Opcode::Kind::St ||
                          o.root() == "atom" || o.root() == "red";
    int bytes = std::max(o.type.bits / 8, 1);
    for (const std::string_view n : {"v2", "v4", "v8"})
      if (o.has(n)) bytes *= n[1] - '0';
    return is_plain ? std::min(bytes, 16) : 16;
  }

  void look_at(const Inst& i) {
    const Opcode& o = opcodes_.find(f_.mnemonic(i));
    const auto spaces = spaces_of(o);
    const auto uses = uses_of(f_.operands_of(i));
    const auto defs = defs_of(f_.operands_of(i));
    const bool is_texture = o.root() == "tex" || o.root() == "tld4" || o.root() == "txq";
    const bool is_surface = o.root() == "suld" || o.root() == "sust" || o.root() == "sured" || o.root() == "suq";
    const bool is_memory = i.has(kMemRead) || i.has(kMemWrite) || o.root() == "cvta";
    std::size_t nth = 0;
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const std::string_view name = text(uses[k]);
      if (!is_name(name)) continue;
      const std::int64_t offset = k + 1 < uses.size() && uses[k + 1].kind == OperandKind::Imm ? uses[k + 1].imm() : 0;
      Space space = spaces.empty() ? Space::Unknown : spaces[std::min(nth, spaces.size() - 1)];
      if (is_texture) space = nth == 0 ? Space::Texture : Space::Sampler;
      if (is_surface) space = Space::Surface;
      ++nth;
      int bytes = 8;
      if (o.kind == Opcode::Kind::Ld && !defs.empty()) bytes = f_.operand_bytes(defs[0]) * static_cast<int>(defs.size());
      if (o.kind == Opcode::Kind::St && uses.back().is_register()) bytes = f_.operand_bytes(uses.back());
      if (space == Space::Param && o.root() != "cvta") {
        const bool is_load = o.kind == Opcode::Kind::Ld;
        if (belongs_to_call(i, name, is_load, offset, bytes)) continue;
        if (is_load) own_.insert(std::string(name));
        else if (f_.kind == FunctionKind::Device && o.kind == Opcode::Kind::St && !own_.contains(std::string(name)))
          space = Space::Return;
      }
      extend(name, is_memory || is_texture || is_surface || o.root() == "mapa" ? space : Space::Unknown, offset, bytes);
      if (!is_memory && !is_texture && !is_surface) {
        v_.by_name[std::string(name)].has_address = true;
        if (!defs.empty() && defs[0].is_vreg()) symbol_in_[f_.root(defs[0].vreg()).index()] = uses[k].symbol();
      }
    }
  }

  void set_space(SymbolId variable, const std::vector<Space>& spaces, std::size_t nth) {
    Variable& v = v_.by_name[std::string(f_.symbols[variable])];
    if (nth < spaces.size() && v.space == Space::Unknown) v.space = spaces[nth];
  }

  // Through registers: the first is an address; so is the second of a copy from one memory to another.
  void access(const Inst& i, const Opcode& o) {
    const auto spaces = spaces_of(o);
    std::size_t nth = 0;
    for (const Operand& op : uses_of(f_.operands_of(i))) {
      if (!op.is_vreg()) continue;
      if (const SymbolId from = symbol_in_[f_.root(op.vreg()).index()]; from.is_valid()) {
        set_space(from, spaces, nth);
        // A variable is aligned as much as the largest access, and no more: ptxas joins accesses where it is.
        Variable& v = v_.by_name[std::string(f_.symbols[from])];
        v.align = std::max(v.align, access_bytes(o));
      }
      if (++nth >= std::max<std::size_t>(spaces.size(), 1)) break;
    }
  }

  // The space of a variable whose address is in a register is that of the first access through the register, or of its conversion.
  void follow_addresses() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Inst& i : f_.insts) {
        const auto ops = f_.operands_of(i);
        if (i.op == Op::Call || i.is_terminator()) continue;
        SymbolId from;
        if (i.op == Op::Named && (i.has(kMemRead) || i.has(kMemWrite))) {
          access(i, opcodes_.find(f_.mnemonic(i)));
          continue;
        }
        for (const Operand& op : uses_of(ops))
          if (op.is_vreg() && !from.is_valid()) from = symbol_in_[f_.root(op.vreg()).index()];
        if (!from.is_valid()) continue;
        if (i.op == Op::Named)
          if (const Opcode& o = opcodes_.find(f_.mnemonic(i)); o.root() == "cvta") set_space(from, spaces_of(o), 0);
        for (const Operand& d : defs_of(ops)) {
          SymbolId& into = symbol_in_[f_.root(d.vreg()).index()];
          if (d.is_vreg() && !into.is_valid()) into = from, changed = true;
        }
      }
    }
    for (auto& [name, v] : v_.by_name) {
      if (v.space != Space::Unknown) continue;
      // An address of 32 bits is one of shared memory.
      v.space = Space::Global;
      for (std::size_t r = 0; r < symbol_in_.size(); ++r)
        if (symbol_in_[r].is_valid() && f_.symbols[symbol_in_[r]] == name && f_.vregs[r].width == 32 && v.has_address)
          v.space = Space::Shared;
    }
  }

  const Function& f_;
  OpcodeTable& opcodes_;
  Variables v_;
  int calls_ = 0;  // before the instruction that is looked at
  std::set<std::string> own_;
  std::vector<SymbolId> symbol_in_;  // by root: the variable whose address is in it, or what it is computed from
};

}  // namespace

Variables variables_of(const Function& f, OpcodeTable& opcodes) { return Finder(f, opcodes).run(); }

}  // namespace regduel::ir::ptx
