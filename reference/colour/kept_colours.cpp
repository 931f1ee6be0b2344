#include "reference/colour/kept_colours.h"

#include <utility>

namespace regduel::reference {

FileUses file_uses(const Problem& problem, const Code& code) {
  FileUses out;
  const auto file_of = [&](TempId t) { return ir::index(code.temps[t].file); };
  const auto each_reachable = [&](auto&& see) {
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      if (code.blocks[b].is_reachable)
        for (const CodeInst& inst : code.insts_of(code.blocks[b])) see(b, inst, code.refs_of(inst));
  };
  constexpr std::uint32_t kUnused = 0xFFFFFFFFu;
  std::vector<std::uint32_t> rank(code.temps.size(), kUnused);  // of a temp among those of its file
  each_reachable([&](std::uint32_t, const CodeInst&, std::span<const Ref> refs) {
    for (const Ref& r : refs) rank[r.temp] = 0;
  });
  for (TempId t = 0; t < code.temps.size(); ++t) {
    if (rank[t] == kUnused) continue;
    const Temp& temp = code.temps[t];
    const std::size_t file = file_of(t);
    rank[t] = static_cast<std::uint32_t>(out.temps[file].size());
    out.temps[file].push_back(t);
    const std::uint32_t is_value = t < code.num_values ? 1 : 0, is_fixed = temp.fixed.is_valid() ? 1 : 0;
    out.words[file].push_back(is_value << 17 | is_fixed << 16 | std::uint32_t{temp.units} << 8 | temp.align_log2);
    if (temp.fixed.is_valid()) out.words[file].push_back(std::uint32_t{temp.fixed.first} << 8 | temp.fixed.count);
  }
  for (auto& words : out.words) words.push_back(kUnused);
  each_reachable([&](std::uint32_t b, const CodeInst& inst, std::span<const Ref> refs) {
    const bool is_original = inst.kind == CodeKind::Original;
    FileSet has_begun = {};
    const auto begin = [&](std::size_t file) {
      if (std::exchange(has_begun[file], true)) return;
      out.words[file].push_back(b);
      out.words[file].push_back(is_original ? inst.source : kUnused - static_cast<std::uint32_t>(inst.kind));
    };
    if (is_original && problem.shape(inst.source).has_clobbers())
      for (std::size_t file = 0; file < has_begun.size(); ++file) begin(file);
    for (std::size_t k = 0; k < refs.size(); ++k) {
      const std::size_t file = file_of(refs[k].temp);
      begin(file);
      const std::uint32_t is_paired = k < 2u * inst.copy_pairs ? 1 : 0;
      out.words[file].push_back(rank[refs[k].temp]);
      out.words[file].push_back(is_paired << 8 | refs[k].flags);
      const RefBytes bytes = code.bytes_of(refs[k]);
      if (refs[k].part != 0) out.words[file].insert(out.words[file].end(), {bytes.reads, bytes.writes});
    }
    if (inst.kind == CodeKind::Move) {
      const std::size_t to = file_of(refs[0].temp), from = file_of(refs[1].temp);
      out.moves_with[to][from] = out.moves_with[from][to] = true;
    }
  });
  return out;
}

FileSet same_uses(const FileUses& a, const FileUses& b) {
  FileSet same = {};
  for (std::size_t file = 0; file < same.size(); ++file) same[file] = a.words[file] == b.words[file];
  // Where the words of a file are the same, so are its moves from and to others.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t file = 0; file < same.size(); ++file)
      for (std::size_t other = 0; other < same.size(); ++other)
        if (same[file] && !same[other] && a.moves_with[file][other]) {
          same[file] = false;
          changed = true;
        }
  }
  return same;
}

void KeptColours::keep(FileUses uses, const FileSet& coloured, const std::vector<ir::PReg>& homes) {
  uses_ = std::move(uses);
  is_kept_ = coloured;
  has_any_ = false;
  for (std::size_t file = 0; file < is_kept_.size(); ++file) {
    colours_[file].clear();
    if (!is_kept_[file]) continue;
    has_any_ = true;
    for (const TempId t : uses_.temps[file]) colours_[file].push_back(homes[t]);
  }
}

FileSet KeptColours::valid_for(const FileUses& uses) const {
  FileSet valid = same_uses(uses_, uses);
  for (std::size_t file = 0; file < valid.size(); ++file) valid[file] = valid[file] && is_kept_[file];
  return valid;
}

void KeptColours::give(std::size_t file, const FileUses& uses, std::vector<ir::PReg>& homes) const {
  for (std::size_t k = 0; k < uses.temps[file].size(); ++k) homes[uses.temps[file][k]] = colours_[file][k];
}

}  // namespace regduel::reference
