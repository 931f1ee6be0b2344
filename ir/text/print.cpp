// The printer of RIR text. parse.cpp is its inverse; FORMAT.md has the grammar.

#include <iterator>

#include <fmt/format.h>

#include "ir/text/text.h"

namespace regduel::ir {
namespace {

using Out = std::back_insert_iterator<std::string>;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}
bool is_mnemonic_char(char c) { return is_name_char(c) ? c != '$' : c == ':'; }

std::string version_line() { return fmt::format("rir {}\n", kTextVersion); }

std::string quote(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string name_text(std::string_view s) {
  for (const char c : s)
    if (!is_name_char(c)) return quote(s);
  return s.empty() ? quote(s) : std::string(s);
}

std::string mnemonic_text(std::string_view s, bool is_named) {
  bool plain = !s.empty() && ((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z') || s[0] == '_');
  for (const char c : s) plain = plain && is_mnemonic_char(c);
  // The parser would take a keyword for itself, and a name like a register for an operand.
  std::size_t capitals = 0;
  while (capitals < s.size() && s[capitals] >= 'A' && s[capitals] <= 'Z') ++capitals;
  const bool like_register = capitals > 0 && capitals < s.size() && s[capitals] >= '0' && s[capitals] <= '9';
  if (is_named && plain && (op_of_keyword(s) || like_register)) plain = false;
  return plain ? std::string(s) : quote(s);
}

void print_part(Out out, Part part, int width_bytes) {
  if (part.is_whole()) return;
  if (part.size_bytes() * 2 == width_bytes && part.element() < 2) fmt::format_to(out, "{}", part.element() == 0 ? ".lo" : ".hi");
  else fmt::format_to(out, ".{}{}", "bhwdq"[part.size_log2()], part.element());
}

int register_bytes(const Function& f, const Operand& op) {
  return op.is_vreg() ? f.vreg(op.vreg()).bytes() : op.preg().count * unit_bytes(op.preg().file);
}

void print_operand(Out out, const Function& f, const Operand& op) {
  switch (op.kind) {
    case OperandKind::VReg:
    case OperandKind::PReg: {
      if (op.role == Role::Use && op.is_negated()) fmt::format_to(out, "!");
      if (op.is_vreg()) fmt::format_to(out, "%{}", op.vreg().value);
      else fmt::format_to(out, "{}", to_string(f, op.preg()));
      print_part(out, op.part, register_bytes(f, op));
      const char* separator = "{";
      const auto attribute = [&](const std::string& text) {
        fmt::format_to(out, "{}{}", separator, text);
        separator = ", ";
      };
      if (op.fixed().is_valid()) attribute("=" + to_string(f, op.fixed()));
      if (op.is_early_clobber()) attribute("early");
      if (op.role == Role::DefUse) attribute("inout");
      if (op.is_tied()) attribute(fmt::format("tied {}", op.tied));
      if (separator[0] == ',') fmt::format_to(out, "}}");
      break;
    }
    case OperandKind::Imm: fmt::format_to(out, "{}", op.imm()); break;
    case OperandKind::Symbol: fmt::format_to(out, "{}", quote(f.symbols[op.symbol()])); break;
    case OperandKind::Slot:
      fmt::format_to(out, "slot {}", op.slot().value);
      if (op.slot_offset() != 0) fmt::format_to(out, "+{}", op.slot_offset());
      break;
  }
}

void print_inst(Out out, const Function& f, const Inst& i) {
  fmt::format_to(out, "{}{}", i.is_inserted() ? '+' : '#', i.id.value);
  const auto ops = f.operands_of(i);
  for (const Operand& op : ops)
    if (op.role == Role::Guard) {
      fmt::format_to(out, " @{}", op.is_negated() ? "!" : "");
      Operand plain = op;
      plain.flags = 0;
      print_operand(out, f, plain);
    }
  const char* separator = " ";
  for (const Operand& op : ops)
    if (op.writes()) {
      fmt::format_to(out, "{}", separator);
      print_operand(out, f, op);
      separator = ", ";
    }
  if (separator[0] == ',') fmt::format_to(out, " =");
  if (i.op == Op::Named) fmt::format_to(out, " {}", mnemonic_text(f.symbols[i.mnemonic], true));
  else fmt::format_to(out, " {}", name(i.op));
  if (i.op != Op::Named && i.mnemonic.is_valid()) fmt::format_to(out, "<{}>", mnemonic_text(f.symbols[i.mnemonic], false));
  if (i.op == Op::Remat) fmt::format_to(out, " #{}", i.ref.value);
  separator = " ";
  std::size_t incoming = 0;
  const auto inst_targets = f.targets_of(i);
  for (const Operand& op : ops)
    if (op.role == Role::Use) {
      fmt::format_to(out, "{}", separator);
      if (i.is_phi() && incoming < inst_targets.size()) fmt::format_to(out, "b{}: ", inst_targets[incoming++].value);
      print_operand(out, f, op);
      separator = ", ";
    }
  separator = " clobbers ";
  for (const Operand& op : ops)
    if (op.role == Role::Clobber) {
      fmt::format_to(out, "{}", separator);
      print_operand(out, f, op);
      separator = ", ";
    }
  if (!i.is_phi() && !inst_targets.empty()) {
    separator = " -> ";
    for (const BlockId b : inst_targets) {
      fmt::format_to(out, "{}b{}", separator, b.value);
      separator = ", ";
    }
  }
  for (const auto& [flag, word] : kFlagKeywords)
    if (i.has(flag)) fmt::format_to(out, " !{}", word);
  if (i.line.is_valid()) {
    const SourceLine& l = f.source_lines[i.line.index()];
    fmt::format_to(out, " !line {} {}", quote(f.symbols[l.file]), l.line);
    if (l.column != 0) fmt::format_to(out, ":{}", l.column);
  }
}

void print_vreg(Out out, const Function& f, std::size_t index) {
  const VReg& v = f.vregs[index];
  fmt::format_to(out, "  vreg %{} {} {}", index, name(v.cls), print_type(v));
  if (v.align_log2 != natural_align_log2(v.width)) fmt::format_to(out, " align {}", 1u << v.align_log2);
  if (v.alias.is_valid()) {
    fmt::format_to(out, " alias %{}", v.alias.value);
    print_part(out, v.alias_part, f.vreg(v.alias).bytes());
  }
  if (v.fixed.is_valid()) fmt::format_to(out, " fixed {}", to_string(f, v.fixed));
  if (v.hint.is_valid()) fmt::format_to(out, " hint %{}", v.hint.value);
  if ((v.flags & kVRegUniform) != 0) fmt::format_to(out, " uniform");
  if ((v.flags & kVRegArchitectural) != 0) fmt::format_to(out, " architectural");
  if (v.name.is_valid()) fmt::format_to(out, " name {}", quote(f.symbols[v.name]));
  fmt::format_to(out, "\n");
}

}  // namespace

std::string print_type(const VReg& v) {
  if (v.type == TypeKind::Pred) return "pred";
  return fmt::format("{}{}", "bsuf"[static_cast<int>(v.type)], v.width);
}

std::string print(const Function& f, const Operand& op) {
  std::string text;
  print_operand(std::back_inserter(text), f, op);
  return text;
}

std::string print(const Function& f, const Inst& i) {
  std::string text;
  print_inst(std::back_inserter(text), f, i);
  return text;
}

std::string print(const Function& f) {
  std::string text;
  text.reserve(f.insts.size() * 40 + f.vregs.size() * 20 + 200);
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "func @{} {} target {} threads {}{}{}{}\n", name_text(f.name),
                 f.kind == FunctionKind::Kernel ? "kernel" : "device", name_text(f.target), f.threads,
                 f.abi == AbiName::Seed ? "" : fmt::format(" abi {}", name(f.abi)), f.predicate_halves ? " predicate_halves" : "",
                 f.phase == Phase::Allocated ? " allocated" : "");
  if (f.local_frame != 0 || f.shared_frame != 0) fmt::format_to(out, "  frame local {} shared {}\n", f.local_frame, f.shared_frame);
  for (std::size_t v = 0; v < f.vregs.size(); ++v) print_vreg(out, f, v);
  for (std::size_t s = 0; s < f.slots.size(); ++s) {
    const Slot& slot = f.slots[s];
    fmt::format_to(out, "  slot {} {} size {} align {} offset {}\n", s, slot.space == MemSpace::Local ? "local" : "shared",
                   slot.size, slot.align, slot.offset);
  }
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    fmt::format_to(out, "  block b{}", b);
    if (block.depth >= 0) fmt::format_to(out, " depth {}", block.depth);
    if (block.freq != 0) fmt::format_to(out, " freq {}", block.freq);
    if (block.is_edge_block()) fmt::format_to(out, " edge b{} -> b{}", block.edge_from.value, block.edge_to.value);
    if (block.name.is_valid()) fmt::format_to(out, " name {}", quote(f.symbols[block.name]));
    fmt::format_to(out, "\n");
    for (const Inst& i : f.insts_of(block)) {
      fmt::format_to(out, "    ");
      print_inst(out, f, i);
      fmt::format_to(out, "\n");
    }
  }
  return text;
}

std::string print(const Module& m) {
  std::string text = version_line();
  for (const Function& f : m.functions) text += print(f);
  return text;
}

std::string print_file(const Function& f) { return version_line() + print(f); }

}  // namespace regduel::ir
