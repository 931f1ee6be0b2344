#include "llvm/judge/mir_words.h"

#include <regex>

#include <fmt/format.h>

#include "llvm/mapping/cut.h"

namespace regduel::llvm {

const Site* MirWords::site(ir::InstId id) const {
  const auto it = id.is_valid() ? pair_->sites.find(static_cast<int>(id.value)) : pair_->sites.end();
  return it == pair_->sites.end() ? nullptr : &it->second;
}

std::string MirWords::before(const Site& s) const {
  return s.block < 0 || s.inst_before < 0
             ? ""
             : print(pair_->cut_before.blocks[s.block].insts[s.inst_before], pair_->cut_before, *tables_);
}

std::string MirWords::after(const Site& s) const {
  return s.block < 0 || s.inst_after < 0 ? ""
                                         : print(pair_->cut_after.blocks[s.block].insts[s.inst_after], pair_->cut_after, *tables_);
}

std::string MirWords::place(const Site& s) const {
  const std::string text = !after(s).empty() ? after(s) : !before(s).empty() ? before(s) : s.what;
  return s.block < 0 ? text : fmt::format("bb.{}: {}", machine_block(pair_->cut_before, s.block), text);
}

std::string MirWords::in_mir(const std::string& message) const {
  static const std::regex token(R"(ACC(\d+)|%(\d+)|([#+])(\d+))");
  const auto word = [&](const std::smatch& m) -> std::string {
    if (m[1].matched) {
      const auto u = static_cast<std::size_t>(std::stoul(m[1]));
      return u < pair_->unit_names.size() ? "$" + pair_->unit_names[u] : "memory operand";
    }
    if (m[2].matched) {
      const auto it = pair_->vreg_names.find(std::stoi(m[2]));
      return it == pair_->vreg_names.end() ? m[0].str() : it->second;
    }
    const Site* s = m[4].length() < 10 ? site(ir::InstId(static_cast<std::uint32_t>(std::stoul(m[4])))) : nullptr;
    return s == nullptr ? m[0].str() : fmt::format("`{}`", place(*s));
  };
  std::string text;
  std::size_t at = 0;
  for (std::sregex_iterator it(message.begin(), message.end(), token), end; it != end; ++it) {
    text += message.substr(at, static_cast<std::size_t>(it->position()) - at);
    at = static_cast<std::size_t>(it->position() + it->length());
    text += word(*it);
  }
  return text + message.substr(at);
}

MirFinding MirWords::translate(const oracles::Finding& f) const {
  MirFinding m{.judge = f.judge, .category = f.category, .message = in_mir(f.message)};
  if (const Site* s = site(f.inst)) {
    m.block = s->block >= 0 ? machine_block(pair_->cut_before, s->block) : -1;
    m.before = before(*s), m.after = after(*s);
    if (m.before.empty() && m.after.empty()) m.after = s->what;
  }
  if (const Site* s = site(f.other)) m.other = place(*s);
  return m;
}

std::string MirWords::of(const std::string& message, ir::InstId inst, ir::InstId other) const {
  std::string text = in_mir(message);
  if (const Site* s = site(inst)) text += fmt::format(" (at {})", place(*s));
  if (const Site* s = site(other)) text += fmt::format(" (and {})", place(*s));
  return text;
}

std::string print(const MirFinding& f) {
  std::string text = fmt::format("  {}/{}: {}\n", f.judge, f.category, f.message);
  if (f.block >= 0) text += fmt::format("    in bb.{}\n", f.block);
  if (!f.before.empty()) text += fmt::format("    before:  {}\n", f.before);
  if (!f.after.empty()) text += fmt::format("    after:   {}\n", f.after);
  if (!f.other.empty()) text += fmt::format("    and:     {}\n", f.other);
  return text;
}

}  // namespace regduel::llvm
