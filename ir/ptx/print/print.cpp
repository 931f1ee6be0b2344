#include "ir/ptx/print/print.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/ptx/opcodes.h"
#include "ir/ptx/print/lines.h"
#include "ir/ptx/print/operations.h"
#include "ir/ptx/print/signatures.h"
#include "ir/ptx/print/stand_ins.h"
#include "ir/ptx/print/variables.h"

namespace regduel::ir {
namespace {

using namespace ptx;
using Space = Variable::Space;

// A name of RIR may have bytes that one of PTX has not.
std::string identifier(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
    if (is_word || (c == '%' && text.empty())) text += c;
    else text += fmt::format("${:02x}", static_cast<unsigned char>(c));
  }
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) text.insert(0, "$");
  if (text == "_" || text == "$") text += "$";
  return text;
}

// What a variable takes: as it was declared, where that is known; else what is accessed by name, or 1024 bytes where registers have its address.
// ptxas goes by both: it joins accesses that are aligned, and counts what fits an SM.
PtxVariable size_of(const PtxFunction& p, const std::string& name, const Variable& v) {
  const PtxVariables* const declared = p.declared != nullptr ? p.declared->variables.get() : nullptr;
  if (declared != nullptr)
    if (const auto it = declared->find(name); it != declared->end())
      return {std::max<std::uint64_t>(it->second.bytes, static_cast<std::uint64_t>(v.bytes)), std::min(it->second.align, 128u)};
  return {static_cast<std::uint64_t>(v.has_address || v.bytes == 0 ? 1024 : v.bytes), static_cast<std::uint32_t>(v.align)};
}

// --- elements of tuples -----------------------------------------------------------------------------------------------------

// The bytes of an element of each root. What an instruction reads or writes as one register stays whole.
std::vector<std::uint8_t> element_bytes_of(const Function& f, OpcodeTable& opcodes, PtxStyle style) {
  std::vector<std::uint8_t> bytes(f.vregs.size(), 0);
  std::vector<char> is_whole(f.vregs.size(), 0);
  std::vector<int> least(f.vregs.size(), 0);
  const auto narrow = [&](std::size_t r, int to) { least[r] = least[r] == 0 ? to : std::min(least[r], to); };
  for (const Inst& i : f.insts) {
    if (style == PtxStyle::StandIns) break;
    const auto ops = f.operands_of(i);
    const ptx::Opcode* const o = i.op == Op::Named || i.op == Op::Bar ? &opcodes.find(f.mnemonic(i)) : nullptr;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (!ops[k].is_vreg()) continue;
      const Storage s = f.storage(ops[k]);
      const std::size_t r = s.root.index();
      const int root_bytes = f.vregs[r].bytes();
      const bool is_part = s.size < root_bytes;
      if (o == nullptr) {
        if (i.op == Op::Const && root_bytes <= 8 && !is_part) is_whole[r] = 1;
        continue;
      }
      const int element = vector_element_bytes(f, i, *o, k);
      if (element == 0 && !is_part && (root_bytes <= 8 || o->has("b128"))) is_whole[r] = 1;
      if (element > 0 && element < root_bytes) narrow(r, element);
    }
  }
  for (std::size_t r = 0; r < f.vregs.size(); ++r) {
    const VReg& v = f.vregs[r];
    if (is_predicate(v.file())) continue;
    const int whole = v.bytes();
    if (style == PtxStyle::StandIns) bytes[r] = static_cast<std::uint8_t>(std::min(4, whole));
    else if (is_whole[r] != 0 || least[r] == 0) bytes[r] = static_cast<std::uint8_t>(whole <= 8 || is_whole[r] != 0 ? whole : 4);
    else bytes[r] = static_cast<std::uint8_t>(least[r]);
  }
  return bytes;
}

// --- one function -----------------------------------------------------------------------------------------------------------

class FunctionPrinter {
 public:
  FunctionPrinter(const PtxFunction& p, const Analysed& a, const std::map<std::string, Signature, std::less<>>& signatures,
                  const std::set<std::string, std::less<>>& functions, OpcodeTable& opcodes)
      : f_(*p.function), p_(p), a_(a), signatures_(signatures), functions_(functions), opcodes_(opcodes),
        lines_(f_, element_bytes_of(f_, opcodes, p.style)) {
    for (const auto& [name, v] : a.variables.by_name) {
      if (v.space == Space::Param) own_params_.push_back(name);
      if (v.space == Space::Return) own_returns_.push_back(name);
    }
  }

  std::string run(bool is_called) {
    for (std::size_t b = 0; b < f_.blocks.size(); ++b) block(BlockId(b));
    return head(is_called) + "{\n" + lines_.declarations() + variables_ + prototypes_ + lines_.take_text() + "}\n\n";
  }

 private:
  [[nodiscard]] static std::string label(BlockId b) { return fmt::format("$L{}", b.value); }
  [[nodiscard]] std::string text(const Operand& op) const { return std::string(f_.symbols[op.symbol()]); }

  std::string head(bool is_called) {
    for (const auto& [name, v] : a_.variables.by_name) {
      const char* const space = v.space == Space::Shared ? "shared" : v.space == Space::Local ? "local" : nullptr;
      const auto [bytes, align] = size_of(p_, name, v);
      if (space != nullptr && !functions_.contains(name))
        variables_ += fmt::format("\t.{} .align {} .b8 {}[{}];\n", space, align, identifier(name), bytes);
    }
    if (f_.kind == FunctionKind::Device) {
      const auto it = signatures_.find(f_.name);
      return fmt::format("{}.func {}\n", is_called ? "" : ".visible ", text_of(it->second, identifier(f_.name), true));
    }
    std::vector<std::string> params;
    if (p_.style == PtxStyle::StandIns) params.push_back(fmt::format(".param .align 8 .b8 $params[{}]", 4000));
    else
      for (const std::string& name : own_params_) {
        const Variable& v = a_.variables.by_name.find(name)->second;
        const int bytes = std::max((v.bytes + v.align - 1) / v.align * v.align, 1);
        params.push_back(fmt::format(".param .align {} .b8 {}[{}]", v.align, identifier(name), bytes));
      }
    std::string bounds;
    if (p_.declared != nullptr) {
      const LaunchBounds& l = p_.declared->bounds;
      if (l.threads != 0) bounds += fmt::format(" .maxntid {}", l.threads);
      if (l.blocks != 0) bounds += fmt::format(" .minnctapersm {}", l.blocks);
      if (l.registers != 0) bounds += fmt::format(" .maxnreg {}", l.registers);
    }
    return fmt::format(".visible .entry {} ({}){}\n", identifier(f_.name), fmt::join(params, ", "), bounds);
  }

  // The name of a variable, which is another one for the parameters of device functions and for those of calls in memory.
  std::string name_of(const Inst& i, std::string_view symbol) const {
    if (symbol.empty() || symbol[0] == '%' || symbol == "_" || symbol == "-" || symbol[0] == '.') return std::string(symbol);
    const auto call = a_.variables.of_calls.find(i.id.value);
    if (call != a_.variables.of_calls.end() && call->second.name == symbol) return call_variable(call->second);
    if (f_.kind == FunctionKind::Device) {
      const auto it = signatures_.find(f_.name);
      if (const auto own = std::ranges::find(own_params_, symbol); own != own_params_.end())
        return memory_parameter(it->second.arguments, 'a', own - own_params_.begin());
      if (const auto own = std::ranges::find(own_returns_, symbol); own != own_returns_.end())
        return memory_parameter(it->second.results, 'r', own - own_returns_.begin());
    }
    return identifier(symbol);
  }
  static std::string memory_parameter(const std::vector<Parameter>& list, char letter, std::ptrdiff_t nth) {
    for (std::size_t k = 0; k < list.size(); ++k)
      if (list[k].units == 0 && nth-- == 0) return place_of(list, k, std::string_view(&letter, 1));
    return "_";
  }
  static std::string call_variable(const CallVariable& v) { return fmt::format("$c{}_{}", v.call, identifier(v.name)); }

  void block(BlockId b) {
    lines_.add_bare(label(b) + ":");
    for (const Inst& phi : f_.phis_of(b)) {
      const Storage s = f_.storage(f_.operands_of(phi)[0]);
      lines_.write(s, phi_names(phi), lines_.piece_bytes(s));
    }
    for (const Inst& i : f_.insts_of(b)) {
      if (i.is_phi()) continue;
      if (i.is_terminator()) {
        for (const BlockId successor : f_.successors(b))
          for (const Inst& phi : f_.phis_of(successor)) hand_over(phi, b);
        terminator(b, i);
        continue;
      }
      const Operand* const guard = guard_of(f_.operands_of(i));
      if (guard != nullptr && i.op == Op::Call) {
        // The moves of arguments have no guard in PTX.
        Operand otherwise = *guard;
        otherwise.flags ^= kNegated;
        lines_.add(fmt::format("@{} bra $S{}", lines_.predicate(otherwise), i.id.value));
        instruction(i);
        lines_.add_bare(fmt::format("$S{}:", i.id.value));
        continue;
      }
      if (guard != nullptr) lines_.set_guard(lines_.predicate(*guard));
      instruction(i);
      lines_.set_guard("");
    }
  }

  // A phi reads registers of its own, which its predecessors write.
  [[nodiscard]] std::vector<std::string> phi_names(const Inst& phi) {
    auto& names = phis_[phi.id.value];
    if (!names.empty()) return names;
    const Storage s = f_.storage(f_.operands_of(phi)[0]);
    const int bytes = lines_.piece_bytes(s);
    for (int at = 0; at < s.size; at += std::max(bytes, 1)) names.push_back(lines_.temp(bytes));
    return names;
  }
  void hand_over(const Inst& phi, BlockId from) {
    const Operand& op = f_.operands_of(phi)[f_.phi_use_from(phi, from)];
    const int bytes = lines_.piece_bytes(f_.storage(f_.operands_of(phi)[0]));
    const auto to = phi_names(phi);
    const auto values = lines_.read(f_.storage(op), bytes);
    for (std::size_t k = 0; k < to.size(); ++k)
      lines_.add(bytes == 0 ? fmt::format("mov.pred {}, {}", to[k], values[k])
                            : fmt::format("mov.b{} {}, {}", std::max(bytes, 2) * 8, to[k], values[k]));
  }

  void instruction(const Inst& i) {
    const auto ops = f_.operands_of(i);
    switch (i.op) {
      case Op::Copy:
      case Op::Pack:
      case Op::Unpack: lines_.move(defs_of(ops), uses_of(ops)); return;
      case Op::Const: constant(i); return;
      case Op::Call: call(i); return;
      default: break;
    }
    if (f_.mnemonic(i) == "abi.entry") {
      entry(i);
    } else if (p_.style == PtxStyle::StandIns) {
      print_stand_in(f_, i, is_read_, lines_);
    } else {
      print_operation(
          f_, i, opcodes_.find(f_.mnemonic(i)), [this](const Inst& at, std::string_view s) { return name_of(at, s); }, lines_);
    }
  }

  void constant(const Inst& i) {
    const auto ops = f_.operands_of(i);
    const Storage s = f_.storage(ops[0]);
    const int own = lines_.element_bytes(s.root);
    const bool is_number = ops[1].kind == OperandKind::Imm;
    if (own == 0) {
      lines_.add(fmt::format("mov.pred {}, {}", lines_.name(s.root, 0), is_number ? ops[1].imm() & 1 : 1));
      return;
    }
    const bool is_address = !is_number && p_.style == PtxStyle::Operations;
    int bytes = std::min<int>(s.size, is_address ? 8 : own);
    if (is_address && bytes < 4) return;
    const auto names = lines_.destination(s, bytes);
    for (std::size_t k = 0; k < names.size(); ++k) {
      // What a name stands for in a random program is a number that the machine knows late.
      if (!is_number && !is_address) {
        const std::string wide = bytes < 4 ? lines_.temp(4) : names[k];
        lines_.add(fmt::format("ld.const.b32 {}, [$constants+{}]", wide, k * 4));
        if (bytes < 4) lines_.add(fmt::format("cvt.u16.u32 {}, {}", names[k], wide));
        continue;
      }
      const std::size_t shift = k * static_cast<std::size_t>(bytes) * 8;
      std::int64_t value = is_number ? (shift < 64 ? ops[1].imm() >> shift : ops[1].imm() >> 63) : 0;
      if (bytes < 8) value &= (std::int64_t{1} << (std::max(bytes, 2) * 8)) - 1;
      lines_.add(fmt::format("mov.b{} {}, {}", std::max(bytes, 2) * 8, names[k],
                             is_number ? fmt::format("{}", value) : name_of(i, text(ops[1]))));
    }
    lines_.settle();
  }

  void terminator(BlockId b, const Inst& i) {
    const auto ops = f_.operands_of(i);
    const auto targets = f_.targets_of(i);
    const auto jump = [&](BlockId to) {
      if (to.value != b.value + 1) lines_.add(fmt::format("bra {}", label(to)));
    };
    switch (i.op) {
      case Op::Bra: jump(targets[0]); return;
      case Op::CBra:
        lines_.add(fmt::format("@{} bra {}", lines_.predicate(ops[0]), label(targets[0])));
        jump(targets[1]);
        return;
      case Op::MBra: {
        std::vector<std::string> labels;
        for (const BlockId t : targets) labels.push_back(label(t));
        lines_.add_bare(fmt::format("$T{}: .branchtargets {};", b.value, fmt::join(labels, ", ")));
        lines_.add(fmt::format("brx.idx {}, $T{}", word_of(ops[0], 4), b.value));
        return;
      }
      case Op::Ret:
        if (f_.kind == FunctionKind::Device)
          store_all(signatures_.find(f_.name)->second.results, fixed_operands(f_, uses_of(ops)), "r");
        lines_.add("ret");
        return;
      default: lines_.add("exit");
    }
  }

  // One register with the bytes of an operand, widened.
  std::string word_of(const Operand& op, int bytes) {
    const Storage s = f_.storage(op);
    const int size = std::min<int>(s.size, bytes);
    std::string name = lines_.read({s.root, s.offset, static_cast<std::uint16_t>(size)}, size)[0];
    if (size >= bytes) return name;
    std::string wide = lines_.temp(bytes);
    lines_.add(fmt::format("cvt.u{}.u{} {}, {}", bytes * 8, size * 8, wide, name));
    return wide;
  }

  // --- parameters in registers

  // Where the registers of a parameter are in an operand that is fixed: the offset in bytes, -1 = nowhere.
  int offset_in(const Operand& op, const Parameter& p) const {
    const PReg r = f_.fixed_of(op);
    return p.units > 0 && r.first <= p.first && p.first + p.units <= r.first + r.count ? (p.first - r.first) * 4 : -1;
  }

  void store_all(const std::vector<Parameter>& list, const std::vector<const Operand*>& operands, std::string_view prefix) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      for (const Operand* op : operands) {
        const int offset = offset_in(*op, list[k]);
        if (offset < 0) continue;
        const int bytes = list[k].bytes;
        const Storage root{f_.root(op->vreg()), 0, static_cast<std::uint16_t>(f_.vreg(f_.root(op->vreg())).bytes())};
        const int size = std::min(bytes, root.size - offset);
        std::string value = lines_.read({root.root, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size)}, size)[0];
        if (size < bytes) {
          std::string wide = lines_.temp(bytes);
          lines_.add(fmt::format("cvt.u{}.u{} {}, {}", bytes * 8, size * 8, wide, value));
          value = std::move(wide);
        }
        lines_.add(fmt::format("st.param.b{} [{}], {}", bytes * 8, place_of(list, k, prefix), value));
        break;
      }
    }
  }

  void load_all(const std::vector<Parameter>& list, const std::vector<const Operand*>& operands, std::string_view prefix) {
    for (const Operand* op : operands) {
      for (std::size_t k = 0; k < list.size(); ++k) {
        const int offset = offset_in(*op, list[k]);
        if (offset < 0) continue;
        const VRegId root = f_.root(op->vreg());
        const int bytes = list[k].bytes, size = std::min(bytes, f_.vreg(root).bytes() - offset);
        const Storage s{root, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size)};
        if (size == bytes) {
          lines_.add(fmt::format("ld.param.b{} {}, [{}]", bytes * 8, lines_.destination(s, size)[0], place_of(list, k, prefix)));
        } else {
          const std::string wide = lines_.temp(bytes);
          lines_.add(fmt::format("ld.param.b{} {}, [{}]", bytes * 8, wide, place_of(list, k, prefix)));
          lines_.add(fmt::format("cvt.u16.u{} {}, {}", bytes * 8, lines_.destination(s, size)[0], wide));
        }
        lines_.settle();
      }
    }
  }

  void entry(const Inst& i) {
    load_all(signatures_.find(f_.name)->second.arguments, fixed_operands(f_, defs_of(f_.operands_of(i))), "a");
  }

  void call(const Inst& i) {
    const int number = calls_++;
    const auto ops = f_.operands_of(i);
    const Callee callee = callee_of(f_, i);
    const Signature s = callee.address != nullptr ? signature_of(a_, i, number) : signatures_.find(callee.name)->second;
    const std::string prefix = fmt::format("$c{}_", number);
    const auto declare = [&](const std::vector<Parameter>& list, std::string_view letter, const std::vector<std::string>& memory) {
      std::vector<std::string> names;
      std::size_t next = 0;
      const auto declared = declarations_of(list, prefix + std::string(letter));
      for (std::size_t k = 0; k < declared.size(); ++k) {
        if (list[k].units == 0 && list[k].offset < 0 && next < memory.size()) {
          names.push_back(call_variable({number, memory[next++]}));
          variables_ += fmt::format("\t.param .align 8 .b8 {}[{}];\n", names.back(), list[k].bytes);
        } else {
          names.push_back(declared[k].first);
          variables_ += fmt::format("\t{};\n", declared[k].second);
        }
      }
      return names;
    };
    const auto n = static_cast<std::size_t>(number);
    const auto results = declare(s.results, "r", a_.variables.results[n]),
               arguments = declare(s.arguments, "a", a_.variables.arguments[n]);
    const std::string address = callee.address != nullptr ? word_of(*callee.address, 8) : "";
    store_all(s.arguments, fixed_operands(f_, uses_of(ops)), prefix + "a");
    std::string text = "call ";
    if (!results.empty()) text += fmt::format("({}), ", fmt::join(results, ", "));
    text += callee.address != nullptr ? address : identifier(callee.name);
    text += fmt::format(", ({})", fmt::join(arguments, ", "));
    if (callee.address != nullptr) {
      prototypes_ += fmt::format("$P{}: .callprototype {};\n", number, text_of(s, "_", false));
      text += fmt::format(", $P{}", number);
    }
    lines_.add(text);
    load_all(s.results, fixed_operands(f_, defs_of(ops)), prefix + "r");
  }

  const Function& f_;
  const PtxFunction& p_;
  const Analysed& a_;
  const std::map<std::string, Signature, std::less<>>& signatures_;
  const std::set<std::string, std::less<>>& functions_;
  OpcodeTable& opcodes_;
  Lines lines_;
  std::vector<std::string> own_params_, own_returns_;
  std::string variables_, prototypes_;
  const std::vector<char> is_read_ = roots_that_are_read(f_);
  std::map<std::uint32_t, std::vector<std::string>> phis_;  // by number
  int calls_ = 0;
};

// --- the module -------------------------------------------------------------------------------------------------------------

// Instructions that only a target with a suffix has.
bool needs_suffix(std::string_view root) { return root == "wgmma" || root == "setmaxnreg" || root == "tcgen05"; }

std::string target_of(std::span<const PtxFunction> functions) {
  for (const PtxFunction& p : functions)
    if (p.declared != nullptr && !p.declared->target.empty()) return p.declared->target;
  std::string target = functions.empty() ? "sm_90" : functions[0].function->target;
  if (!target.starts_with("sm_")) target = "sm_90";
  for (const PtxFunction& p : functions)
    for (const Inst& i : p.function->insts)
      if (i.op == Op::Named && p.style == PtxStyle::Operations) {
        const std::string_view m = p.function->mnemonic(i);
        if (needs_suffix(m.substr(0, m.find('.'))) || m.find("block_scale") != std::string_view::npos) return target + "a";
      }
  return target;
}

}  // namespace

PtxStyle ptx_style(const Function& f) {
  OpcodeTable opcodes;
  for (const Inst& i : f.insts)
    if (i.op == Op::Named && f.mnemonic(i) != "abi.entry" && !is_instruction(f, i, opcodes.find(f.mnemonic(i))))
      return PtxStyle::StandIns;
  return PtxStyle::Operations;
}

std::string print_ptx(std::span<const PtxFunction> functions) {
  OpcodeTable opcodes;
  std::vector<Analysed> analysed;
  std::set<std::string, std::less<>> defined, called;
  bool has_stand_ins = false;
  for (const PtxFunction& p : functions) {
    analysed.push_back({p.function, variables_of(*p.function, opcodes)});
    if (p.style == PtxStyle::StandIns) analysed.back().variables.by_name.clear();
    defined.insert(p.function->name);
    has_stand_ins = has_stand_ins || p.style == PtxStyle::StandIns;
  }
  const auto signatures = signatures_of(analysed);
  std::map<std::string, std::pair<Space, std::uint64_t>, std::less<>> globals;
  for (std::size_t k = 0; k < functions.size(); ++k) {
    const Analysed& a = analysed[k];
    for (const Inst& i : a.function->insts)
      if (i.op == Op::Call)
        if (const Callee c = callee_of(*a.function, i); !c.name.empty()) called.insert(std::string(c.name));
    for (const auto& [name, v] : a.variables.by_name) {
      if (defined.contains(name) || v.space < Space::Global) continue;
      auto& [space, bytes] = globals.try_emplace(name, v.space, 0).first->second;
      bytes = std::max(bytes, size_of(functions[k], name, v).bytes);
    }
  }
  std::string text = fmt::format(".version 9.0\n.target {}\n.address_size 64\n\n", target_of(functions));
  if (has_stand_ins)
    text += fmt::format(".global .align 16 .b8 $memory[{0}];\n.const .align 16 .b8 $constants[{0}];\n", kStandInBytes + 64);
  for (const auto& [name, v] : globals) {
    const char* const reference = v.first == Space::Texture ? "texref" : v.first == Space::Sampler ? "samplerref" : "surfref";
    if (v.first >= Space::Texture) text += fmt::format(".global .{} {};\n", reference, identifier(name));
    else
      text += fmt::format(".{} .align 16 .b8 {}[{}];\n", v.first == Space::Const ? "const" : "global", identifier(name), v.second);
  }
  for (const auto& [name, s] : signatures)
    text += fmt::format("{}.func {};\n", defined.contains(name) ? (called.contains(name) ? "" : ".visible ") : ".extern ",
                        text_of(s, identifier(name), true));
  text += '\n';
  for (std::size_t k = 0; k < functions.size(); ++k)
    text +=
        FunctionPrinter(functions[k], analysed[k], signatures, defined, opcodes).run(called.contains(functions[k].function->name));
  return text;
}

}  // namespace regduel::ir
