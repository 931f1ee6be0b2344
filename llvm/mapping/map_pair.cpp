#include "llvm/mapping/map_pair.h"

#include <algorithm>

#include <fmt/format.h>

#include "llvm/mapping/after.h"
#include "llvm/mapping/before.h"
#include "llvm/mapping/cut.h"
#include "llvm/mapping/dead.h"

namespace regduel::llvm {
namespace {

// The vregs of the program before, numbered as they come.
class VRegs {
 public:
  std::string name(const RirOperand& o) {
    const auto [it, is_new] = numbers_.emplace(o.lane, static_cast<int>(lanes_.size()));
    if (is_new) lanes_.push_back(o.lane);
    return fmt::format("%{}{}", it->second, o.part.text());
  }
  std::string declarations() const {
    std::string text;
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      const Lane l = lanes_[n];
      text += fmt::format("  vreg %{} {}", n, l == Lane{-1, -1} ? "UR b32 fixed UR0 uniform architectural" : "ACC b32");
      if (l.vreg == -1 && l.lane >= 0) text += fmt::format(" fixed ACC{}", l.lane);
      text += "\n";
    }
    return text;
  }
  std::map<int, std::string> names(const Cells& cells) const {
    std::map<int, std::string> names;
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      const Lane l = lanes_[n];
      names[static_cast<int>(n)] = l.vreg >= 0 ? fmt::format("%{}{}", l.vreg, l.lane > 0 ? fmt::format("[{}]", l.lane) : "")
                                   : l.vreg == -1 && l.lane >= 0 ? "$" + cells.name(l.lane)
                                   : l.vreg == kTemporary        ? "operand"
                                                                 : "undef";
    }
    return names;
  }

 private:
  std::map<Lane, int> numbers_;
  std::vector<Lane> lanes_;
};

std::string quoted_name(const std::string& s) {
  std::string text;
  for (const char c : s) text += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ? c : '_';
  return "\"" + text + "\"";
}

std::string join_blocks(const std::vector<std::vector<std::string>>& blocks) {
  std::string text;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    text += fmt::format("  block b{}\n", b);
    for (const std::string& line : blocks[b]) text += "    " + line + "\n";
  }
  return text;
}

// Lines of the program after name stack objects; RIR numbers slots from 0.
struct Frame {
  std::string declarations;
  std::map<int, int> number;
  int bytes = 0;
};

Frame lay_out(const std::map<int, int>& slot_bytes) {
  Frame f;
  for (const auto& [fi, bytes] : slot_bytes) {
    const int size = (bytes + 15) / 16 * 16;
    const int number = static_cast<int>(f.number.size());
    f.declarations += fmt::format("  slot {} local size {} align 16 offset {}\n", number, size, f.bytes);
    f.number[fi] = number;
    f.bytes += size;
  }
  return f;
}

std::string number_slots(const std::string& line, const Frame& frame) {
  const std::size_t at = line.find("slot @");
  if (at == std::string::npos || line.find('"') < at) return line;
  const std::size_t begin = at + 6, end = line.find('+', begin);
  return fmt::format("{}slot {}{}", line.substr(0, at), frame.number.at(std::stoi(line.substr(begin, end - begin))),
                     line.substr(end));
}

std::map<std::string, int> count_registers(const Dump& after, const Cells& cells) {
  std::set<int> units;
  for (const Block& b : after.blocks)
    for (const Inst& i : b.insts)
      if (!is_no_code(i))
        for (const Operand& o : i.ops)
          if (o.vreg < 0 && cells.sees(o, after))
            for (const int u : cells.units(o.preg)) units.insert(u);
  std::map<std::string, int> counts;
  std::set<std::string> seen;
  for (const int u : units)
    if (!cells.file(u).empty() && seen.insert(cells.name(u).substr(0, cells.name(u).find('['))).second) ++counts[cells.file(u)];
  return counts;
}

RirPair map(const Tables& tables, const Dump& before, const Dump& after) {
  RirPair pair;
  int dead = 0;
  pair.cut_after = cut_blocks(after);
  pair.cut_before = without_dead(cut_blocks(before), pair.cut_after, dead);
  const Cells cells(tables, pair.cut_before, pair.cut_after);
  Groups groups = map_before(tables, pair.cut_before, cells);
  AfterText text = map_after(tables, pair.cut_before, pair.cut_after, cells, groups);
  VRegs vregs;
  std::vector<std::vector<std::string>> blocks;
  for (const auto& block : groups) {
    blocks.emplace_back();
    for (const Group& g : block)
      for (const RirInst& i : g.insts) {
        blocks.back().push_back(print(i, [&](const RirOperand& o) { return vregs.name(o); }, true));
        Site& site = text.sites[i.id];
        site.block = g.block, site.inst_before = g.source != nullptr ? g.index : -1, site.what = g.what;
      }
  }
  const Frame frame = lay_out(text.slot_bytes);
  for (auto& block : text.blocks)
    for (std::string& line : block) line = number_slots(line, frame);
  const std::string head = fmt::format("rir 1\nfunc @{} kernel target llvm threads 32", quoted_name(before.function));
  const std::string declarations = vregs.declarations();
  pair.before = head + "\n" + declarations + join_blocks(blocks);
  pair.after = head + " allocated\n" + (frame.bytes > 0 ? fmt::format("  frame local {} shared 0\n", frame.bytes) : "") +
               declarations + frame.declarations + join_blocks(text.blocks);
  pair.target = fmt::format(
      R"({{"name": "llvm", "sm": 90, "units": {{"R": 1, "ACC": {}, "UR": 1}}, "max_registers_per_thread": 512}})", text.units);
  pair.sites = std::move(text.sites);
  pair.vreg_names = vregs.names(cells);
  for (int u = 0; u < cells.size(); ++u) pair.unit_names.push_back(cells.name(u));
  pair.counts = text.counts;
  pair.counts.dead = dead;
  pair.counts.registers = count_registers(pair.cut_after, cells);
  return pair;
}

// There are vregs in it, and some of them were allocated.
bool has_work(const Dump& before, const Dump& after) {
  const auto count = [](const Dump& d) {
    std::size_t n = 0;
    for (const Block& b : d.blocks)
      for (const Inst& i : b.insts)
        for (const Operand& o : i.ops) n += o.vreg >= 0 ? 1 : 0;
    return n;
  };
  const std::size_t n = count(before);
  return n > 0 && count(after) < n;
}

}  // namespace

std::expected<RirPair, Refusal> map_pair(const Tables& tables, const Dump& before, const Dump& after) {
  try {
    return map(tables, before, after);
  } catch (const Refusal& r) {
    return std::unexpected(r);
  }
}

std::vector<DumpPair> pair_dumps(const DumpFile& file, const std::vector<std::string>& passes) {
  std::vector<DumpPair> pairs;
  for (std::size_t k = 0; k < file.dumps.size(); ++k) {
    const Dump& before = file.dumps[k];
    if (!before.is_before) continue;
    std::vector<const Dump*> wanted;
    const Dump* own = nullptr;
    for (std::size_t n = k + 1; n < file.dumps.size() && !file.dumps[n].is_before; ++n) {
      const Dump& d = file.dumps[n];
      if (d.function != before.function || d.run != before.run) continue;
      if (d.pass == d.allocator) own = &d;
      else if (before.allocator != "fast" && std::ranges::find(passes, d.pass) != passes.end()) wanted.push_back(&d);
    }
    if (own != nullptr && before.allocator == "fast") wanted.push_back(own);
    for (const Dump* d : wanted)
      if (has_work(before, *d)) pairs.push_back({&before, d});
  }
  return pairs;
}

}  // namespace regduel::llvm
