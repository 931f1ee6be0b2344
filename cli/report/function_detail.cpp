// See function_detail.h.
#include "cli/report/function_detail.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "allocator/explain/explain.h"
#include "cli/show/live_map.h"
#include "cli/show/spilled_values.h"
#include "duel/case_file.h"
#include "duel/duel.h"
#include "ir/text/text.h"
#include "oracles/before.h"
#include "oracles/judge.h"
#include "results/measure.h"

namespace regduel::cli {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using Json = nlohmann::ordered_json;

std::string_view mark_of(const Inst& i, bool is_edge_block) {
  if (i.is_deleted()) return "deleted";
  switch (i.op) {
    case Op::Spill: return "spill";
    case Op::Refill: return "refill";
    case Op::Remat: return "remat";
    case Op::P2R:
    case Op::R2P:
    case Op::BitSpill:
    case Op::BitRefill: return "pack";
    default: return i.is_inserted() ? i.is_copy() ? "copy" : "edge" : is_edge_block ? "edge" : "";
  }
}

std::string block_text(const Function& f, std::size_t b) {
  const ir::Block& block = f.blocks[b];
  std::string text = fmt::format("block b{}", b);
  if (block.depth > 0) text += fmt::format(" depth {}", block.depth);
  if (block.is_edge_block()) text += fmt::format(" edge b{} b{}", block.edge_from.value, block.edge_to.value);
  return text;
}

Json listing(const Function& f) {
  Json text = Json::array(), position = Json::array(), id = Json::array(), mark = Json::array(), source = Json::array();
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    text.push_back(block_text(f, b));
    position.push_back(-1);
    id.push_back(-1);
    mark.push_back("");
    source.push_back("");
    for (const Inst& i : f.insts_of(ir::BlockId(b))) {
      Inst without_line = i;
      without_line.line = {};
      text.push_back(ir::print(f, without_line));
      source.push_back(f.source_place(i));
      position.push_back(&i - f.insts.data());
      id.push_back(i.id.value);
      mark.push_back(mark_of(i, f.blocks[b].is_edge_block()));
    }
  }
  Json list = {{"text", text}, {"position", position}, {"id", id}, {"mark", mark}};
  if (!f.source_lines.empty()) list["source"] = source;
  return list;
}

// Where the values of the program before lie in the program after: original instructions keep their operands' positions.
class Placement {
 public:
  Placement(const Function& before, const Function& after) : spills_(before.vregs.size()) {
    std::map<std::uint32_t, const Inst*> by_id;
    for (const Inst& i : before.insts) by_id[i.id.value] = &i;
    for (std::size_t k = 0; k < after.insts.size(); ++k) {
      const Inst& i = after.insts[k];
      const auto original = by_id.find(i.id.value);
      if (i.is_inserted() || i.is_deleted() || original == by_id.end()) continue;
      const auto ops = before.operands_of(*original->second), placed = after.operands_of(i);
      for (std::size_t o = 0; o < std::min(ops.size(), placed.size()); ++o)
        if (ops[o].is_vreg() && placed[o].is_preg())
          place(after, before.root(ops[o].vreg()).value, placed[o], 2 * k + (placed[o].writes() ? 1 : 0));
    }
  }
  // The vreg that a range of a unit holds, by its first operand; -1 = none of the original program's.
  [[nodiscard]] std::int64_t vreg_of(const Holder& unit, LiveRange range) const {
    const auto seen = seen_.find({unit.file, unit.number});
    if (seen == seen_.end()) return -1;
    const auto first = seen->second.lower_bound(range.begin);
    return first == seen->second.end() || first->first >= range.end ? -1 : static_cast<std::int64_t>(first->second);
  }
  // "" = its operands stand nowhere
  [[nodiscard]] std::string home(std::uint32_t root) const {
    const auto at = homes_.find(root);
    return at == homes_.end() ? "" : at->second;
  }
  void count_spill(std::int64_t root) {
    if (root >= 0) ++spills_[static_cast<std::size_t>(root)];
  }
  [[nodiscard]] int spills(std::uint32_t root) const { return spills_[root]; }

 private:
  void place(const Function& after, std::uint32_t root, const ir::Operand& op, std::size_t moment) {
    homes_.try_emplace(root, ir::to_string(after, op.preg()));
    for (int u = op.preg().begin(); u < op.preg().end(); ++u)
      seen_[{op.preg().file, static_cast<std::uint32_t>(u)}].try_emplace(moment, root);
  }

  std::map<std::pair<ir::RegFile, std::uint32_t>, std::map<std::size_t, std::uint32_t>> seen_;  // by unit: moment, root
  std::map<std::uint32_t, std::string> homes_;
  std::vector<int> spills_;  // by root: spills and refills of it
};

Json ranges_json(const LiveMap& live, ir::RegFile file, const Function& after, Placement& placement) {
  Json ranges = Json::array();
  for (std::size_t h = 0; h < live.holders().size(); ++h) {
    const Holder& unit = live.holders()[h];
    if (unit.file != file) continue;
    for (const LiveRange r : live.ranges(h)) {
      const std::int64_t vreg = placement.vreg_of(unit, r);
      const Inst& first = after.insts[r.begin / 2];
      const Inst& last = after.insts[(r.end - 1) / 2];
      if (first.op == Op::Refill || last.op == Op::Spill) placement.count_spill(vreg);
      ranges.push_back({unit.number, r.begin, r.end, vreg});
    }
  }
  return ranges;
}

std::vector<ir::RegFile> files_of(const LiveMap& live) {
  std::vector<ir::RegFile> files;
  for (const ir::RegFile file : ir::kAllFiles)
    if (std::any_of(live.holders().begin(), live.holders().end(), [&](const Holder& h) { return h.file == file; }))
      files.push_back(file);
  return files;
}

// What an allocation made again can be held against: the measures that don't depend on the machine.
Json measures_json(const duel::Bout& bout) {
  if (!bout.program) return nullptr;
  Json figures = Json::object();
  for (const results::Measure& m : results::measures())
    if (m.is_compared) {
      const auto figure = m.of(bout);
      figures[std::string(m.name)] = figure ? Json(*figure) : Json(nullptr);
    }
  return figures;
}

Json judged(const duel::Bout& bout, const std::string& column) {
  Json judges = Json::array(), findings = Json::array();
  for (const oracles::JudgeResult& r : bout.report.results)
    judges.push_back({{"judge", r.judge}, {"verdict", oracles::name(r.verdict)}, {"reason", r.reason}});
  const auto signatures = bout.signatures();
  const auto found = bout.findings();
  for (std::size_t k = 0; k < found.size(); ++k) {
    const oracles::Finding& f = found[k];
    findings.push_back({{"signature", k < signatures.size() ? signatures[k] : ""},
                        {"judge", f.judge},
                        {"message", f.message},
                        {"inst", f.inst.is_valid() ? Json(f.inst.value) : Json(nullptr)}});
  }
  return {{"allocator", column},
          {"measures", measures_json(bout)},
          {"verdict", oracles::name(bout.verdict())},
          {"reason", bout.reason()},
          {"judges", judges},
          {"findings", findings}};
}

// The last time that the vreg was in hand and all units were looked at: in the attempt that decided or one before it. Where none
// did, as guidance sends a vreg to memory between two attempts, the last attempt of all stands for it.
struct DecidingStep {
  const allocator::SeenAttempt* attempt = nullptr;
  const allocator::Step* step = nullptr;
};
DecidingStep deciding_step(const allocator::Explanation& e) {
  for (std::size_t k = e.shown < 0 ? e.attempts.size() : static_cast<std::size_t>(e.shown) + 1; k-- > 0;) {
    const auto& steps = e.attempts[k].steps;
    const auto step = std::find_if(steps.rbegin(), steps.rend(), [](const auto& s) { return !s.units.empty(); });
    if (step != steps.rend()) return {&e.attempts[k], &*step};
  }
  return {};
}

Json step_json(const allocator::Explanation& e) {
  const auto [attempt, step] = deciding_step(e);
  if (step == nullptr) return nullptr;
  Json reasons = Json::array(), primary = Json::array(), secondary = Json::array(), by = Json::array();
  // Behind the last unit that it may begin at there is nothing to see.
  const auto is_beyond = [](const allocator::SeenUnit& u) {
    return u.reason == allocator::UnitReason::OutsideFile || u.reason == allocator::UnitReason::AboveLimit ||
           u.reason == allocator::UnitReason::Misaligned;
  };
  auto last = step->units.rbegin();
  while (last != step->units.rend() && is_beyond(*last)) ++last;
  for (const allocator::SeenUnit& u : std::span(step->units.begin(), last.base())) {
    reasons.push_back(allocator::name(u.reason));
    primary.push_back(u.primary);
    secondary.push_back(u.secondary);
    by.push_back(u.by.empty() ? u.at : u.by);
  }
  return {{"kind", allocator::name(step->kind)},
          {"round", attempt->round},
          {"limit", attempt->limit},
          {"unit", step->unit},
          {"members", step->members},
          {"reason", reasons},
          {"primary", primary},
          {"secondary", secondary},
          {"by", by}};
}

// The holder and those that share most moments with it, and the edges among them.
Json neighbourhood(const LiveMap& live, std::size_t holder, const Placement* placement) {
  std::vector<std::size_t> nodes = live.neighbours(holder);
  const std::size_t all = nodes.size();
  nodes.resize(std::min(all, kMostNeighbours));
  nodes.insert(nodes.begin(), holder);
  Json vregs = Json::array(), units = Json::array(), homes = Json::array(), edges = Json::array();
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    const Holder& h = live.holders()[nodes[a]];
    vregs.push_back(h.number);
    units.push_back(h.units);
    homes.push_back(placement == nullptr ? "" : placement->home(h.number));
    for (std::size_t b = a + 1; b < nodes.size(); ++b)
      if (live.common_moments(nodes[a], nodes[b]) > 0) edges.push_back({a, b});
  }
  return {{"all", all}, {"vreg", vregs}, {"units", units}, {"home", homes}, {"edges", edges}};
}

// Half of them the most spilled ones, where there are so many; the others by their neighbours.
std::vector<std::size_t> chosen_vregs(const LiveMap& live, const Placement* placement) {
  struct Candidate {
    std::size_t holder = 0, neighbours = 0;
    int spills = 0;
  };
  std::vector<Candidate> candidates;
  for (std::size_t h = 0; h < live.holders().size(); ++h)
    candidates.push_back({h, live.neighbours(h).size(), placement == nullptr ? 0 : placement->spills(live.holders()[h].number)});
  std::ranges::stable_sort(candidates, std::greater<>(), &Candidate::neighbours);
  std::ranges::stable_sort(candidates, std::greater<>(), &Candidate::spills);
  const std::size_t half = std::min(candidates.size(), kMostDetailedVRegs / 2);
  std::ranges::stable_sort(candidates.begin() + static_cast<std::ptrdiff_t>(half), candidates.end(), std::greater<>(),
                           &Candidate::neighbours);
  candidates.resize(std::min(candidates.size(), kMostDetailedVRegs));
  std::vector<std::size_t> chosen;
  for (const Candidate& c : candidates) chosen.push_back(c.holder);
  return chosen;
}

// What explains itself: the last fatpoint that played, and its knobs.
struct Explainer {
  const ir::Allocator* allocator = nullptr;
  duel::Knobs knobs;
};

Json vregs_json(const duel::Case& input, const LiveMap& live, const Explainer& explains, const Placement* placement) {
  Json vregs = Json::array();
  for (const std::size_t h : chosen_vregs(live, placement)) {
    const ir::VRegId id(live.holders()[h].number);
    Json v = {{"vreg", id.value},
              {"type", ir::print_type(input.program.vreg(id))},
              {"class", ir::name(input.program.vreg(id).cls)},
              {"name", input.program.symbols[input.program.vreg(id).name]},
              {"home", placement == nullptr ? "" : placement->home(id.value)},
              {"spills", placement == nullptr ? 0 : placement->spills(id.value)},
              {"step", nullptr},
              {"neighbours", neighbourhood(live, h, placement)}};
    if (explains.allocator != nullptr) {
      ir::AllocOptions options;
      options.limits = input.limits;
      options.knobs = duel::known_to(*explains.allocator, explains.knobs);
      if (const auto e = allocator::explain(input.program, *input.target, options, id)) {
        v["step"] = step_json(*e);
        if (e->spill.by != allocator::Spiller::None)
          v["spilled_by"] = allocator::name(e->spill.by), v["spill_round"] = e->spill.round;
      }
    }
    vregs.push_back(std::move(v));
  }
  return vregs;
}

void add_program(Json& a, const Function& before, const Function& program, Placement& placement) {
  const LiveMap after(program);
  a["program"] = listing(program);
  Json of_files = Json::object();
  for (const ir::RegFile file : files_of(after))
    of_files[std::string(ir::name(file))] = {{"pressure", after.pressure(file)},
                                             {"ranges", ranges_json(after, file, program, placement)}};
  a["files"] = std::move(of_files);
  a["spilled"] = json_of(spilled_values(before, program));
}

}  // namespace

Json function_detail(const duel::Case& input, std::span<const DetailedSide> sides) {
  const Function& before = input.program;
  const LiveMap live(before);
  Json limits = Json::object(), files = Json::object(), allocations = Json::array();
  for (const ir::RegFile file : files_of(live)) {
    limits[std::string(ir::name(file))] = input.limits.of(file);
    files[std::string(ir::name(file))] = live.pressure(file);
  }
  const oracles::Before prepared(before, *input.target);
  std::optional<Placement> production;
  Explainer explains;
  std::string explained;
  for (const DetailedSide& side : sides) {
    const duel::Duel duel = duel::duel(prepared, {.duelists = side.allocators, .limits = input.limits, .knobs = side.knobs});
    for (std::size_t k = 0; k < duel.bouts.size(); ++k) {
      const duel::Bout& bout = duel.bouts[k];
      Json a = judged(bout, side.columns[k]);
      const bool is_fatpoint = bout.allocator == "fatpoint";
      if (is_fatpoint) {
        explains = {side.allocators[k], side.knobs};
        explained = side.columns[k];
        production.reset();
      }
      if (bout.program) {
        Placement placement(before, *bout.program);
        add_program(a, before, *bout.program, placement);
        if (is_fatpoint) production = std::move(placement);
      }
      allocations.push_back(std::move(a));
    }
  }
  return {{"limits", limits},
          {"pressure", files},
          {"before", listing(before)},
          {"allocations", allocations},
          {"explained", explained},
          {"vregs", vregs_json(input, live, explains, production ? &*production : nullptr)},
          {"reproducer", duel::print_case(input)}};
}

}  // namespace regduel::cli
