#include "llvm/judge/judge_pair.h"

#include <chrono>
#include <regex>

#include <fmt/format.h>

#include "ir/check.h"
#include "ir/target.h"
#include "ir/text/text.h"

namespace regduel::llvm {
namespace {

class Words {
 public:
  Words(const RirPair& pair, const Tables& tables) : pair_(pair), tables_(tables) {}

  MirFinding translate(const oracles::Finding& f) const {
    MirFinding m{.judge = f.judge, .category = f.category, .message = in_mir(f.message)};
    if (const Site* s = site(f.inst)) {
      m.block = s->block >= 0 ? machine_block(s->block) : -1;
      m.before = before(*s), m.after = after(*s);
      if (m.before.empty() && m.after.empty()) m.after = s->what;
    }
    if (const Site* s = site(f.other)) m.other = place(*s);
    return m;
  }

 private:
  const Site* site(ir::InstId id) const {
    const auto it = id.is_valid() ? pair_.sites.find(static_cast<int>(id.value)) : pair_.sites.end();
    return it == pair_.sites.end() ? nullptr : &it->second;
  }
  // Blocks were cut: a piece belongs to the last whole block before it.
  int machine_block(int b) const {
    while (b > 0 && pair_.cut_before.blocks[b].number >= (1 << 24)) --b;
    return pair_.cut_before.blocks[b].number;
  }
  std::string before(const Site& s) const {
    return s.block < 0 || s.inst_before < 0
               ? ""
               : print(pair_.cut_before.blocks[s.block].insts[s.inst_before], pair_.cut_before, tables_);
  }
  std::string after(const Site& s) const {
    return s.block < 0 || s.inst_after < 0 ? ""
                                           : print(pair_.cut_after.blocks[s.block].insts[s.inst_after], pair_.cut_after, tables_);
  }
  std::string place(const Site& s) const {
    const std::string text = !after(s).empty() ? after(s) : !before(s).empty() ? before(s) : s.what;
    return s.block < 0 ? text : fmt::format("bb.{}: {}", machine_block(s.block), text);
  }
  // Units and vregs by LLVM's names, instructions as LLVM prints them.
  std::string in_mir(const std::string& message) const {
    static const std::regex token(R"(ACC(\d+)|%(\d+)|([#+])(\d+))");
    std::string text;
    std::size_t at = 0;
    for (std::sregex_iterator it(message.begin(), message.end(), token), end; it != end; ++it) {
      text += message.substr(at, static_cast<std::size_t>(it->position()) - at);
      at = static_cast<std::size_t>(it->position() + it->length());
      text += word(*it);
    }
    return text + message.substr(at);
  }
  std::string word(const std::smatch& m) const {
    if (m[1].matched) {
      const auto u = static_cast<std::size_t>(std::stoul(m[1]));
      return u < pair_.unit_names.size() ? "$" + pair_.unit_names[u] : "memory operand";
    }
    if (m[2].matched) {
      const auto it = pair_.vreg_names.find(std::stoi(m[2]));
      return it == pair_.vreg_names.end() ? m[0].str() : it->second;
    }
    const Site* s = m[4].length() < 10 ? site(ir::InstId(static_cast<std::uint32_t>(std::stoul(m[4])))) : nullptr;
    return s == nullptr ? m[0].str() : fmt::format("`{}`", place(*s));
  }

  const RirPair& pair_;
  const Tables& tables_;
};

void judge_rir(const RirPair& pair, const Tables& tables, Verdict& v) {
  const auto target = ir::parse_target(pair.target, "target");
  const auto before = ir::parse(pair.before, "before.rir"), after = ir::parse(pair.after, "after.rir");
  const std::string fault = !target   ? to_string(target.error())
                            : !before ? to_string(before.error())
                            : !after  ? to_string(after.error())
                                      : "";
  if (!fault.empty()) {
    v.refusal = Refusal{"ill-formed", fault};
    return;
  }
  const ir::Function &b = before->functions[0], &a = after->functions[0];
  for (const ir::Function* f : {&b, &a})
    if (const auto faults = ir::check(*f, *target, 1); !faults.empty()) {
      v.refusal = Refusal{"ill-formed", ir::to_string(*f, faults[0])};
      return;
    }
  const oracles::Case c(b, a, *target, ir::Limits::of(*target));
  const oracles::Report report = oracles::judge(c);
  v.verdict = report.verdict();
  const Words words(pair, tables);
  for (const oracles::JudgeResult& r : report.results) {
    if (r.verdict == oracles::Verdict::Inconclusive) v.reason += (v.reason.empty() ? "" : "; ") + r.judge + ": " + r.reason;
    for (const oracles::Finding& f : r.findings) v.findings.push_back(words.translate(f));
  }
}

}  // namespace

Verdict judge_pair(const Tables& tables, const DumpPair& pair, bool keep_rir) {
  const auto begin = std::chrono::steady_clock::now();
  Verdict v{
      .function = pair.before->function, .allocator = pair.before->allocator, .pass = pair.after->pass, .run = pair.before->run};
  auto mapped = map_pair(tables, *pair.before, *pair.after);
  if (!mapped) v.refusal = mapped.error();
  else {
    v.counts = mapped->counts;
    judge_rir(*mapped, tables, v);
    if (keep_rir || !v.findings.empty() || v.refusal)
      v.before_rir = std::move(mapped->before), v.after_rir = std::move(mapped->after), v.target_json = std::move(mapped->target);
  }
  v.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return v;
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
