#include "llvm/mir/mir.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace regduel::llvm {
namespace {

using nlohmann::json;

// An error of form, caught in read_dump_file.
struct BadForm {
  std::string message;
};

int find(const std::map<std::string, int, std::less<>>& names, const std::string& name) {
  const auto it = names.find(name);
  if (it == names.end()) throw BadForm{fmt::format("\"{}\" is not in the tables", name)};
  return it->second;
}

void read_registers(const json& j, Tables& tables) {
  for (const auto& [name, r] : j.items()) {
    tables.register_index.emplace(name, static_cast<int>(tables.registers.size()));
    tables.registers.push_back({name, {}, r.value("file", "")});
  }
  for (const auto& [name, r] : j.items())
    for (const json& p : r.at("pieces"))
      tables.registers[find(tables.register_index, name)].pieces.push_back(
          {find(tables.register_index, p.at(0)), p.at(1).get<int>(), p.at(2).get<int>()});
}

Tables read_tables(const json& j) {
  Tables tables;
  if (!j.contains("registers")) return tables;
  read_registers(j.at("registers"), tables);
  for (const auto& [name, c] : j.at("classes").items()) {
    RegisterClass rc{name, c.at("bits"), c.at("spill_bytes"), -1, {}};
    if (c.contains("member")) rc.member = find(tables.register_index, c.at("member"));
    const json subs = c.value("subs", json::object());
    for (const auto& [sub, pieces] : subs.items())
      for (const json& p : pieces) rc.subs[sub].push_back({p.at(0).get<int>(), p.at(1).get<int>(), p.at(2).get<int>()});
    tables.class_index.emplace(name, static_cast<int>(tables.classes.size()));
    tables.classes.push_back(std::move(rc));
  }
  for (const json& mask : j.at("masks")) {
    tables.masks.emplace_back();
    for (const json& r : mask) tables.masks.back().insert(find(tables.register_index, r));
  }
  return tables;
}

Operand read_operand(const json& j, const Tables& tables) {
  Operand o;
  const auto flag = [&](const char* name) { return j.contains(name); };
  if (flag("v") || flag("p")) {
    o.kind = OperandKind::Register;
    o.vreg = j.value("v", -1);
    if (const std::string name = j.value("p", ""); !name.empty()) o.preg = find(tables.register_index, name);
    o.sub = j.value("sub", "");
    o.is_def = flag("d"), o.is_implicit = flag("imp"), o.is_undef = flag("undef"), o.is_dead = flag("dead"),
    o.is_early_clobber = flag("ec");
    o.tied = j.value("tied", -1);
    o.def = j.value("def", 0);
    o.undefined_pieces = j.value("undef_pieces", std::vector<int>());
    return o;
  }
  for (const auto& [name, kind] : {std::pair("i", OperandKind::Immediate), std::pair("f", OperandKind::Frame),
                                   std::pair("b", OperandKind::Block), std::pair("m", OperandKind::Mask)})
    if (flag(name)) {
      o.kind = kind;
      o.value = j.at(name).get<std::int64_t>();
      if (kind == OperandKind::Mask && (o.value < 0 || o.value >= std::ssize(tables.masks))) throw BadForm{"no such mask"};
      return o;
    }
  o.text = j.at("s");
  return o;
}

Inst read_inst(const json& j, const Tables& tables) {
  Inst i;
  i.op = j.at("op");
  i.num = j.value("num", 0);
  i.is_new = j.contains("new");
  i.of = j.value("of", -1), i.def = j.value("def", 0), i.slot_of = j.value("slot_of", -1);
  i.flags = j.at("fl");
  if (j.contains("st")) i.stores_to = j.at("st").get<int>();
  if (j.contains("ld")) i.loads_from = j.at("ld").get<int>();
  for (const json& m : j.value("mem", json::array())) i.memory_bytes.push_back(m.at("size").get<std::int64_t>());
  for (const json& o : j.at("ops")) i.ops.push_back(read_operand(o, tables));
  for (const Operand& o : i.ops)
    if (o.tied >= std::ssize(i.ops)) throw BadForm{"an operand is tied to none"};
  return i;
}

Dump read_dump(const json& j, const Tables& tables) {
  Dump d;
  d.is_before = j.at("stage") == "before";
  d.pass = j.at("pass"), d.allocator = j.at("allocator"), d.function = j.at("function");
  d.run = j.at("run");
  d.subreg_liveness = j.value("subreg_liveness", false);
  for (const json& r : j.at("reserved")) d.reserved.insert(find(tables.register_index, r));
  for (const json& c : j.at("vregs")) d.vregs.push_back(c == "" ? -1 : find(tables.class_index, c));
  for (const json& s : j.at("stack")) d.slots.insert(s.at("fi").get<int>());
  for (const json& b : j.at("blocks")) {
    Block block{b.at("n"), b.contains("pad"), b.at("succ").get<std::vector<int>>(), {}, {}};
    for (const json& r : b.at("livein")) block.live_in.push_back(find(tables.register_index, r));
    for (const json& i : b.at("insts")) block.insts.push_back(read_inst(i, tables));
    for (const Inst& i : block.insts)
      for (const Operand& o : i.ops)
        if (o.vreg >= std::ssize(d.vregs)) throw BadForm{fmt::format("no vreg {}", o.vreg)};
    d.blocks.push_back(std::move(block));
  }
  for (const json& s : j.value("substitutions", json::array())) d.substitutions.emplace(s.at(1).get<int>(), s.at(0).get<int>());
  return d;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string print_register(const Operand& o, const Dump& dump, const Tables& tables) {
  std::string s;
  if (o.is_implicit) s += o.is_def ? "implicit-def " : "implicit ";
  if (o.is_early_clobber) s += "early-clobber ";
  if (o.is_dead) s += "dead ";
  if (o.is_undef) s += "undef ";
  if (o.vreg >= 0) s += fmt::format("%{}", o.vreg);
  else s += o.preg >= 0 ? "$" + tables.registers[o.preg].name : "$noreg";
  if (!o.sub.empty()) s += "." + o.sub;
  if (o.is_def && o.vreg >= 0 && dump.vregs[o.vreg] >= 0) s += ":" + tables.classes[dump.vregs[o.vreg]].name;
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

}  // namespace

Parsed<DumpFile> read_dump_file(std::string_view text, std::string_view file_name) {
  const std::vector<std::string_view> lines = lines_of(text);
  DumpFile file;
  std::size_t at = 0;
  const auto parse = [&](std::size_t k) { return at = k, json::parse(lines[k]); };
  try {
    if (lines.size() < 2) throw BadForm{"expected a head, dumps and tables, a line each"};
    const json head = parse(0);
    if (head.value("regduel_llvm", 0) != 1) throw BadForm{"expected \"regduel_llvm\": 1"};
    file.llvm = head.value("llvm", ""), file.triple = head.value("triple", ""), file.cpu = head.value("cpu", "");
    file.tables = read_tables(parse(lines.size() - 1));
    for (std::size_t k = 1; k + 1 < lines.size(); ++k) file.dumps.push_back(read_dump(parse(k), file.tables));
  } catch (const BadForm& e) {
    return std::unexpected(SourceError{std::string(file_name), static_cast<int>(at) + 1, 0, e.message});
  } catch (const json::exception& e) {
    return std::unexpected(SourceError{std::string(file_name), static_cast<int>(at) + 1, 0, e.what()});
  }
  return file;
}

std::string print(const Inst& i, const Dump& dump, const Tables& tables) {
  std::string defs, rest;
  for (const Operand& o : i.ops) {
    const bool is_left = o.is_register() && o.is_def && !o.is_implicit && rest.empty();
    std::string& to = is_left ? defs : rest;
    if (!to.empty()) to += ", ";
    switch (o.kind) {
      case OperandKind::Register: to += print_register(o, dump, tables); break;
      case OperandKind::Immediate: to += fmt::format("{}", o.value); break;
      case OperandKind::Frame: to += fmt::format("%stack.{}", o.value); break;
      case OperandKind::Block: to += fmt::format("%bb.{}", o.value); break;
      case OperandKind::Mask: to += "<regmask>"; break;
      case OperandKind::Text: to += o.text; break;
    }
  }
  return defs + (defs.empty() ? "" : " = ") + i.op + (rest.empty() ? "" : " ") + rest;
}

}  // namespace regduel::llvm
