// See faults.h.
#include "trial/faults/faults.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/io.h"
#include "duel/allocators.h"
#include "duel/duel.h"
#include "ir/check.h"
#include "ir/text/binary.h"
#include "oracles/judges.h"
#include "oracles/memcheck/memcheck.h"
#include "trial/faults/drawn_subject.h"
#include "trial/faults/patterns.h"

namespace regduel::trial {
namespace {

using oracles::Verdict;

constexpr std::uint64_t kFaultStream = 0x6661756C7473;
constexpr std::size_t kInjectionsPerRun = 8, kInjectionsIntoLarge = 3;
constexpr std::size_t kOperatorsTried = 28;
constexpr std::size_t kLarge = 1000;  // instructions after allocation
constexpr std::size_t kMostMissesKept = 200;

// Two units that nothing uses become reserved, in half of the subjects: no shipped target has reserved registers below its size.
void reserve_unused(ir::Target& target, const ir::Limits& limits, const ir::Function& before, const ir::Function& after,
                    Random& random) {
  if (!random.chance(50)) return;
  ir::PerFile<std::vector<bool>> used;
  for (auto& file : used) file.resize(ir::kMaxUnits);
  const auto use = [&](ir::PReg r) {
    for (int u = r.begin(); u < r.end() && u < ir::kMaxUnits; ++u) used[ir::index(r.file)][static_cast<std::size_t>(u)] = true;
  };
  for (const ir::Operand& op : after.operands)
    if (op.is_preg()) use(op.preg());
  for (const ir::VReg& v : before.vregs) use(v.fixed);
  for (const ir::PReg r : target.abi(before.abi).callee_saved) use(r);
  for (const ir::RegFile file : ir::kAllFiles)
    for (int u = std::min(limits.of(file), target.units[ir::index(file)]); u-- > 0;)
      if (!used[ir::index(file)][static_cast<std::size_t>(u)]) {
        target.reserved.push_back({file, 1, static_cast<std::uint16_t>(u)});
        break;
      }
}

oracles::Report judge_all(const oracles::Case& c) {
  oracles::Report report;
  for (const oracles::Judge* judge : fault_judges()) report.results.push_back(judge->judge(c));
  return report;
}
std::vector<Verdict> verdicts(const oracles::Report& report) {
  std::vector<Verdict> list;
  for (const oracles::JudgeResult& r : report.results) list.push_back(r.verdict);
  return list;
}

bool has_category(const oracles::Report& report, std::string_view judge, std::string_view category) {
  const oracles::JudgeResult* result = report.result_of(judge);
  return result != nullptr && std::any_of(result->findings.begin(), result->findings.end(),
                                          [&](const oracles::Finding& f) { return f.category == category; });
}

std::uint64_t fingerprint_of(const ir::Function& f) {
  std::uint64_t h = 0;
  for (const std::uint8_t byte : ir::encode(f)) h = hash_combine(h, byte);
  return h;
}

// Asks the judges about the damage that an operator did.
Injection judge_injection(std::size_t index, const FaultOperator& op, int code, const oracles::Case& c, std::uint64_t seed,
                          std::uint64_t run, std::vector<FaultMiss>& misses) {
  const oracles::Report report = judge_all(c);
  Injection result;
  result.op = index;
  result.code = code;
  result.fingerprint = fingerprint_of(c.after);
  result.verdicts = verdicts(report);
  result.memcheck_right = code != 0 && has_category(report, "memcheck", oracles::slug(static_cast<oracles::MemcheckCode>(code)));
  result.structure_right = std::any_of(op.structure.begin(), op.structure.end(), [&](std::string_view category) {
    return has_category(report, "structure", category) || has_category(report, "uniform", category);
  });
  const auto miss = [&](std::string kind) {
    misses.push_back(make_miss(std::move(kind), c, seed, run));
    misses.back().operator_name = op.name;
    misses.back().detail = (code == 0 ? "" : fmt::format("expected code {}\n", code)) + summary(report);
  };
  if (result.is_changing() && !result.is_caught()) miss("escaped");
  else if (result.is_changing() && code != 0 && !result.memcheck_right) miss("memcheck-category");
  if (!op.structure.empty() && !result.structure_right) miss("structure-category");
  return result;
}

// The choices of one operator in one run.
Random stream_of(const FaultOperator& op, std::uint64_t seed, std::uint64_t run) {
  std::uint64_t stream = hash_combine(hash_combine(seed, kFaultStream), run);
  for (const char c : op.name) stream = hash_combine(stream, static_cast<unsigned char>(c));
  return Random(stream);
}

// The operators, least injected first, equally often injected ones in random order; all in their order where `injected` is empty.
std::vector<std::size_t> order_of(const std::vector<std::int64_t>& injected, Random& random) {
  std::vector<std::size_t> order(fault_operators().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (injected.empty()) return order;
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::size_t>> keys;
  for (std::size_t k = 0; k < injected.size(); ++k) keys.emplace_back(injected[k], random.next(), k);
  std::sort(keys.begin(), keys.end());
  std::ranges::transform(keys, order.begin(), [](const auto& key) { return std::get<2>(key); });
  return order;
}

}  // namespace

const std::vector<const oracles::Judge*>& fault_judges() {
  static const std::vector<const oracles::Judge*> list = [] {
    std::vector<const oracles::Judge*> judges;
    for (const oracles::Judge* j : oracles::judges())
      if (j->name() != "quality") judges.push_back(j);
    return judges;
  }();
  return list;
}

bool Injection::is_changing() const { return objects(false); }
bool Injection::is_caught() const { return objects(true); }
bool Injection::objects(bool statically) const {
  for (std::size_t k = 0; k < verdicts.size(); ++k)
    if (is_static(*fault_judges()[k]) == statically && verdicts[k] == Verdict::Fail) return true;
  return false;
}

bool is_static(const oracles::Judge& judge) { return judge.name() != "execution" && judge.name() != "quality"; }

std::string summary(const oracles::Report& report) {
  std::string text;
  for (const oracles::JudgeResult& r : report.results) {
    text += fmt::format("{}: {}{}\n", r.judge, name(r.verdict), r.reason.empty() ? "" : " (" + r.reason + ")");
    for (std::size_t k = 0; k < std::min<std::size_t>(r.findings.size(), 4); ++k) {
      const oracles::Finding& f = r.findings[k];
      text += fmt::format("  {} at {} operand {}: {}\n", f.category,
                          f.inst.is_valid() ? fmt::format("{}", f.inst.value) : "function", f.operand, f.message);
    }
  }
  return text;
}

FaultRun run_faults_on(std::uint64_t seed, std::uint64_t index, const std::vector<std::int64_t>& injected, std::size_t largest) {
  FaultRun run;
  Random random(hash_combine(hash_combine(seed, kFaultStream), index));
  auto subject = draw_subject(hash_combine(seed, kFaultStream), index, largest, run.misses);
  for (FaultMiss& m : run.misses) m.seed = seed;
  if (!subject) return run;
  run.is_subject = true;
  run.allocator = subject->allocator;
  const ir::Function& before = subject->c.program;
  ir::Target& target = subject->target;
  ir::Function& after = subject->after;
  ir::Limits& limits = subject->limits;
  if (random.chance(70)) run.patterns = rewrite(before, target, after, limits, random);
  reserve_unused(target, limits, before, after, random);

  const oracles::Before prepared(before, target);
  const oracles::Case valid(prepared, after, limits);
  const oracles::Report plain = judge_all(valid);
  run.plain = verdicts(plain);
  if (plain.verdict() == Verdict::Fail || !ir::check(after, 1).empty()) {
    run.misses.push_back(make_miss("false-alarm", valid, seed, index));
    run.misses.back().detail = fmt::format("{}, patterns: {}\n{}", run.allocator, fmt::join(run.patterns, " "), summary(plain));
    return run;
  }

  const Site site({before, after, target, limits});
  const auto operators = fault_operators();
  // Few of them, unless all were asked for.
  const bool all = injected.empty();
  const std::size_t most = all ? operators.size() : after.insts.size() < kLarge ? kInjectionsPerRun : kInjectionsIntoLarge;
  std::size_t tried = 0;
  for (const std::size_t k : order_of(injected, random)) {
    if (run.injections.size() >= most || tried++ >= (all ? operators.size() : kOperatorsTried)) break;
    Random own = stream_of(operators[k], seed, index);
    if (const auto damaged = inject(operators[k], site, own))
      run.injections.push_back(
          judge_injection(k, operators[k], damaged->code, {prepared, damaged->program, limits}, seed, index, run.misses));
  }
  return run;
}

FaultMatrix::FaultMatrix() : rows_(fault_operators().size()) {
  for (OperatorRow& row : rows_) {
    row.caught.resize(fault_judges().size());
    row.caught_changing.resize(fault_judges().size());
  }
  for (const Pattern& p : patterns()) patterns_used_.emplace_back(p.name, 0);
}

void FaultMatrix::add(FaultRun run) {
  ++runs_;
  subjects_ += run.is_subject ? 1 : 0;
  patterned_ += run.patterns.empty() ? 0 : 1;
  for (const std::string_view name : run.patterns)
    for (auto& [known, count] : patterns_used_) count += known == name ? 1 : 0;
  const auto any = [&](Verdict v) { return std::find(run.plain.begin(), run.plain.end(), v) != run.plain.end(); };
  if (any(Verdict::Fail)) ++false_alarms_;
  else if (any(Verdict::Inconclusive)) ++plain_inconclusive_;
  const auto judges = fault_judges();
  for (const Injection& i : run.injections) {
    OperatorRow& row = rows_[i.op];
    ++row.injected;
    row.changing += i.is_changing() ? 1 : 0;
    row.caught_static += i.is_changing() && i.is_caught() ? 1 : 0;
    for (std::size_t k = 0; k < judges.size(); ++k) {
      const bool fails = i.verdicts[k] == Verdict::Fail;
      row.caught[k] += fails ? 1 : 0;
      row.caught_changing[k] += fails && i.is_changing() ? 1 : 0;
      row.undecided +=
          !is_static(*judges[k]) && (i.verdicts[k] == Verdict::Inconclusive || i.verdicts[k] == Verdict::Skipped) ? 1 : 0;
    }
    if (i.is_changing() && i.code != 0) {
      ++row.memcheck_asked;
      row.memcheck_right += i.memcheck_right ? 1 : 0;
      ++asked_by_code_[static_cast<std::size_t>(i.code)];
    }
    if (!fault_operators()[i.op].structure.empty()) {
      ++row.structure_asked;
      row.structure_right += i.structure_right ? 1 : 0;
    }
  }
  num_misses_ += static_cast<std::int64_t>(run.misses.size());
  for (FaultMiss& m : run.misses)
    if (misses_.size() < kMostMissesKept) misses_.push_back(std::move(m));
}

std::vector<std::int64_t> FaultMatrix::injected() const {
  std::vector<std::int64_t> list;
  for (const OperatorRow& row : rows_) list.push_back(row.injected);
  return list;
}

OperatorRow FaultMatrix::total() const {
  constexpr std::int64_t OperatorRow::* kCounts[] = {
      &OperatorRow::injected,       &OperatorRow::changing,       &OperatorRow::undecided,       &OperatorRow::caught_static,
      &OperatorRow::memcheck_asked, &OperatorRow::memcheck_right, &OperatorRow::structure_asked, &OperatorRow::structure_right};
  OperatorRow sum;
  sum.caught.resize(fault_judges().size());
  sum.caught_changing.resize(fault_judges().size());
  for (const OperatorRow& row : rows_) {
    for (std::int64_t OperatorRow::* const count : kCounts) sum.*count += row.*count;
    std::ranges::transform(sum.caught, row.caught, sum.caught.begin(), std::plus());
    std::ranges::transform(sum.caught_changing, row.caught_changing, sum.caught_changing.begin(), std::plus());
  }
  return sum;
}

FaultMatrix run_faults(const FaultOptions& options) {
  FaultMatrix matrix;
  for (std::int64_t k = 0; k < options.runs;) {
    const std::vector<std::int64_t> injected = matrix.injected();
    for (const std::int64_t end = std::min(k + fault_batch(k), options.runs); k < end; ++k)
      matrix.add(run_faults_on(options.seed, static_cast<std::uint64_t>(k), injected, options.largest));
  }
  return matrix;
}

}  // namespace regduel::trial
