// See bench.h.
//
// Programs: every profile of the generator but `undefined`, in which symbolic is not near-linear, each with as many instructions at
// each size, at a limit of three quarters of MaxLive (at least the demand), so that most of them spill. A judge's case is a program with the allocation of
// one allocator; it judges those of both. Small programs and large ones add up to about the same number of instructions, so that
// one pass over a corpus is one iteration of the timing loop at every size.

#include "cli/bench/bench.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <regex>
#include <sstream>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check_macro.h"
#include "base/io.h"
#include "base/random.h"
#include "duel/allocators.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "generate/generator.h"
#include "oracles/judges.h"
#include "oracles/quality/max_live.h"
#include "oracles/symbolic/symbolic.h"
#include "oracles/uniform/uniform.h"

namespace regduel::cli {
namespace {

constexpr std::string_view kFatPoint = "fatpoint", kClassic = "classic";
constexpr std::string_view kDuels = "duels", kBred = "duels/bred", kLayers = "layers";

constexpr int kBredPerDuel = 10;  // bred inputs for each case of the standard mix: they are smaller

struct Subject {
  ir::Function program;
  const ir::Target* target = nullptr;
  ir::Limits limits;
  std::vector<ir::Allocation> allocations;
};

struct Corpus {
  BenchCorpus facts;
  std::vector<Subject> subjects;
  std::size_t largest = 0;  // the subject with most instructions
};

bool moves_bytes(const ir::Function& f) {
  return std::any_of(f.insts.begin(), f.insts.end(),
                     [](const ir::Inst& i) { return i.op == ir::Op::Spill || i.op == ir::Op::Refill; });
}

Corpus make_corpus(int size, const BenchOptions& o) {
  Corpus corpus;
  corpus.facts.size = size;
  const ir::Target* target = ir::find_target("sm_90");
  REGDUEL_CHECK(target != nullptr, "sm_90 is shipped");
  const std::size_t r = ir::index(ir::RegFile::R);
  for (const generate::Profile profile : generate::profiles()) {
    if (profile == generate::Profile::Undefined) continue;
    const int programs = std::max(1, o.per_profile / size);
    for (int k = 0; k < programs; ++k) {
      Subject s;
      s.target = target;
      generate::GeneratorOptions g;
      g.profile = profile;
      g.seed = hash_combine(o.seed, static_cast<std::uint64_t>(k));
      g.size = size;
      s.program = generate::generate(g);
      const int max_live = oracles::max_live(s.program, ir::Cfg(s.program))[r];
      s.limits = ir::Limits::of(*target);
      s.limits.units[r] =
          std::min(std::max({max_live * 3 / 4, generate::demand_bound(s.program, *target)[r], 1}), s.limits.units[r]);
      bool complete = true;
      for (const ir::Allocator* a : duel::all_duelists()) {
        ir::AllocOptions options;
        options.limits = s.limits;
        auto allocation = a->allocate(s.program, *target, options);
        complete = complete && allocation.has_value();
        if (!complete) break;
        s.allocations.push_back(std::move(*allocation));
      }
      if (!complete) continue;  // impossible: nothing to time
      for (const ir::Allocation& a : s.allocations) {
        ++corpus.facts.allocations;
        corpus.facts.spilling += moves_bytes(a.program) ? 1 : 0;
        corpus.facts.allocated_instructions += static_cast<std::int64_t>(a.program.insts.size());
      }
      ++corpus.facts.programs;
      corpus.facts.instructions += static_cast<std::int64_t>(s.program.insts.size());
      corpus.facts.max_live += max_live;
      corpus.facts.limit += s.limits.units[r];
      if (!corpus.subjects.empty() && s.program.insts.size() > corpus.subjects[corpus.largest].program.insts.size())
        corpus.largest = corpus.subjects.size();
      corpus.subjects.push_back(std::move(s));
    }
  }
  REGDUEL_CHECK(!corpus.subjects.empty(), "limits are at least the demand, so programs can be allocated");
  corpus.facts.max_live /= corpus.facts.programs;
  corpus.facts.limit /= corpus.facts.programs;
  return corpus;
}

// What is timed: one subject, and how many instructions that counts for.
class Measured {
 public:
  virtual ~Measured() = default;
  // Stops the clock where it does what is not to be measured; without one, nothing is.
  virtual std::int64_t run(const Subject& s, benchmark::State* clock) const = 0;
};

class MeasuredAllocator final : public Measured {
 public:
  explicit MeasuredAllocator(const ir::Allocator& a) : allocator_(a) {}
  std::int64_t run(const Subject& s, benchmark::State*) const override {
    ir::AllocOptions options;
    options.limits = s.limits;
    benchmark::DoNotOptimize(allocator_.allocate(s.program, *s.target, options));
    return static_cast<std::int64_t>(s.program.insts.size());
  }

 private:
  const ir::Allocator& allocator_;
};

// One judge, or all of them as a duel asks them (null). What `symbolic` leaves with a case is there when `uniform` is asked, as in a
// duel.
class MeasuredJudge final : public Measured {
 public:
  explicit MeasuredJudge(const oracles::Judge* j) : judge_(j), comes_after_symbolic_(j == &oracles::uniform_judge()) {}
  std::int64_t run(const Subject& s, benchmark::State* clock) const override {
    for (const ir::Allocation& a : s.allocations) {
      const oracles::Case c(s.program, a.program, *s.target, s.limits, &a.claims);
      if (comes_after_symbolic_) {
        if (clock != nullptr) clock->PauseTiming();
        benchmark::DoNotOptimize(oracles::symbolic_judge().judge(c));
        if (clock != nullptr) clock->ResumeTiming();
      }
      if (judge_ != nullptr) benchmark::DoNotOptimize(judge_->judge(c));
      else benchmark::DoNotOptimize(oracles::judge(c));
    }
    return static_cast<std::int64_t>(s.program.insts.size() * s.allocations.size());
  }

 private:
  const oracles::Judge* judge_;
  bool comes_after_symbolic_;
};

// Keeps the CPU seconds of one iteration, repetition by repetition; prints nothing.
class Collecting final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& r : runs)
      if (r.run_type == Run::RT_Iteration && r.iterations > 0)
        seconds_[r.run_name.function_name].push_back(r.cpu_accumulated_time / static_cast<double>(r.iterations));
  }
  // Least and median; none where the filter left it out.
  [[nodiscard]] std::optional<std::pair<double, double>> seconds(const std::string& name) const {
    const auto it = seconds_.find(name);
    if (it == seconds_.end()) return std::nullopt;
    std::vector<double> all = it->second;
    std::sort(all.begin(), all.end());
    return std::pair(all.front(), all[all.size() / 2]);
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

// A figure of /proc/self/status in bytes.
std::optional<std::int64_t> status_bytes(std::string_view key) {
  const auto text = read_file("/proc/self/status");
  if (!text) return std::nullopt;
  const std::size_t at = text->find(key);
  if (at == std::string::npos) return std::nullopt;
  std::istringstream line(text->substr(at + key.size()));
  std::int64_t kib = 0;
  if (!(line >> kib)) return std::nullopt;
  return kib * 1024;
}

// Resident memory at its highest while the subject is run, above what there was before. The kernel's high-water mark is set back
// by writing 5 to clear_refs; where that is not allowed there is no figure.
std::optional<double> peak_bytes(const Measured& m, const Subject& s) {
  ::malloc_trim(0);
  std::FILE* reset = std::fopen("/proc/self/clear_refs", "w");
  if (reset == nullptr) return std::nullopt;
  const bool written = std::fputs("5", reset) >= 0;
  if (std::fclose(reset) != 0 || !written) return std::nullopt;
  const auto before = status_bytes("VmRSS:");
  // The judges' cases one after another free what they took: the peak is that of one, the count that of the program.
  m.run(s, nullptr);
  const auto peak = status_bytes("VmHWM:");
  if (!before || !peak) return std::nullopt;
  return static_cast<double>(std::max<std::int64_t>(0, *peak - *before)) / static_cast<double>(s.program.insts.size());
}

// What follows from the cells of all rows.
void compare_cells(BenchResult& result) {
  const auto fatpoint = std::ranges::find(result.rows, kFatPoint, &BenchRow::name);
  for (BenchRow& row : result.rows) {
    if (row.cells.size() > 1 && row.cells.front() && row.cells.back() && row.cells.front()->ns > 0)
      row.growth = row.cells.back()->ns / row.cells.front()->ns;
    if (row.growth && row.is_judge)
      row.growth_read = *row.growth * result.corpora.front().read_per_instruction() / result.corpora.back().read_per_instruction();
    row.times_fatpoint.clear();
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const bool both = fatpoint != result.rows.end() && fatpoint->cells[c] && row.cells[c] && fatpoint->cells[c]->ns > 0;
      row.times_fatpoint.push_back(both ? std::optional(row.cells[c]->ns / fatpoint->cells[c]->ns) : std::nullopt);
    }
  }
}

// Bench measures once, and keeps the results. Google Benchmark has one registry for the whole process, so there may be one Bench at
// a time.
class Bench {
 public:
  explicit Bench(const BenchOptions& o) : o_(o), filter_(o.filter) {
    for (const ir::Allocator* a : duel::all_duelists()) add_row(a->name(), false, std::make_unique<MeasuredAllocator>(*a));
    add_row(kClassic, false, std::make_unique<MeasuredAllocator>(*duel::find_allocator(kClassic)));
    for (const oracles::Judge* j : oracles::judges()) add_row(j->name(), true, std::make_unique<MeasuredJudge>(j));
    add_row(kAllJudges, true, std::make_unique<MeasuredJudge>(nullptr));
    for (std::size_t k = 0; k < o.sizes.size() && !measured_.empty(); ++k) {
      corpora_.push_back(make_corpus(o.sizes[k], o));
      result_.corpora.push_back(corpora_.back().facts);
    }
    counted_.resize(measured_.size() * corpora_.size(), 0);
    reporter_.SetOutputStream(&silent_);
    reporter_.SetErrorStream(&silent_);
  }

  BenchResult run() {
    register_all();
    measure(".");
    measure_refused_again();
    for (std::size_t m = 0; m < measured_.size(); ++m) {
      const Corpus& last = corpora_.back();
      if (result_.rows[m].cells.back()) result_.rows[m].peak_bytes = peak_bytes(*measured_[m], last.subjects[last.largest]);
    }
    if (const auto seconds = reporter_.seconds(std::string(kDuels)); seconds && seconds->first > 0)
      result_.duels_per_second = o_.duels / seconds->first;
    if (const auto seconds = reporter_.seconds(std::string(kBred)); seconds && seconds->first > 0) {
      result_.bred = bred_;
      result_.bred->duels_per_second = static_cast<double>(bred_.inputs) / seconds->first;
    }
    if (std::regex_search(std::string(kLayers), filter_)) result_.layers = measure_layers(o_.seed, kBredPerDuel * o_.duels);
    return std::move(result_);
  }

 private:
  // Nothing where the filter leaves the row out at every size.
  void add_row(std::string_view name, bool is_judge, std::unique_ptr<Measured> m) {
    if (std::none_of(o_.sizes.begin(), o_.sizes.end(),
                     [&](int size) { return std::regex_search(fmt::format("{}/{}", name, size), filter_); }))
      return;
    BenchRow row;
    row.name = name;
    row.is_judge = is_judge;
    result_.rows.push_back(std::move(row));
    measured_.push_back(std::move(m));
  }

  [[nodiscard]] std::string name_of(std::size_t m, std::size_t c) const {
    return fmt::format("{}/{}", result_.rows[m].name, corpora_[c].facts.size);
  }
  [[nodiscard]] std::int64_t& counted(std::size_t m, std::size_t c) { return counted_[m * corpora_.size() + c]; }

  template <class Body>
  void add_benchmark(const std::string& name, Body body) {
    if (!std::regex_search(name, filter_)) return;
    benchmark::internal::Benchmark* b = benchmark::RegisterBenchmark(name.c_str(), body);
    if (o_.min_time > 0) b->MinTime(o_.min_time);
    else b->Iterations(1);
    if (o_.repetitions > 1) b->Repetitions(o_.repetitions);
  }

  void register_all() {
    // The repetitions of all are mixed, so that what disturbs the machine for a while disturbs one repetition of each.
    std::array arguments = {std::string("regduel"), std::string("--benchmark_enable_random_interleaving=true")};
    std::array<char*, 2> argv = {arguments[0].data(), arguments[1].data()};
    int argc = static_cast<int>(argv.size());
    benchmark::Initialize(&argc, argv.data());
    benchmark::ClearRegisteredBenchmarks();
    for (std::size_t m = 0; m < measured_.size(); ++m)
      for (std::size_t c = 0; c < corpora_.size(); ++c)
        add_benchmark(name_of(m, c), [this, m, c](benchmark::State& state) {
          for ([[maybe_unused]] auto _ : state) {
            std::int64_t instructions = 0;
            for (const Subject& s : corpora_[c].subjects) instructions += measured_[m]->run(s, &state);
            counted(m, c) = instructions;
          }
        });
    add_benchmark(std::string(kDuels), [this](benchmark::State& state) {
      for ([[maybe_unused]] auto _ : state)
        for (int k = 0; k < o_.duels; ++k) {
          const duel::Case c = duel::standard_case(o_.seed, static_cast<std::uint64_t>(k), duel::all_duelists());
          benchmark::DoNotOptimize(duel::duel(c, {.duelists = duel::all_duelists()}));
        }
    });
    add_benchmark(std::string(kBred), [this](benchmark::State& state) {
      const std::vector<duel::Case> inputs = breed_inputs(o_.seed, kBredPerDuel * o_.duels);
      bred_.inputs = std::ssize(inputs);
      bred_.instructions = 0;
      for (const duel::Case& i : inputs) bred_.instructions += static_cast<std::int64_t>(i.program.insts.size());
      for ([[maybe_unused]] auto _ : state)
        for (const duel::Case& i : inputs) benchmark::DoNotOptimize(duel::duel(i, {.duelists = duel::all_duelists()}));
    });
  }

  // Runs those whose names the regular expression finds, and fills the cells with the figures of all runs so far.
  void measure(const std::string& which) {
    benchmark::RunSpecifiedBenchmarks(&reporter_, which);
    for (std::size_t m = 0; m < measured_.size(); ++m) {
      std::vector<std::optional<BenchCell>>& cells = result_.rows[m].cells;
      cells.assign(corpora_.size(), std::nullopt);
      for (std::size_t c = 0; c < corpora_.size(); ++c) {
        const auto seconds = reporter_.seconds(name_of(m, c));
        if (!seconds) continue;
        const auto per = 1e9 / static_cast<double>(std::max<std::int64_t>(1, counted(m, c)));
        cells[c] = BenchCell{seconds->first * per, seconds->second * per};
      }
    }
    compare_cells(result_);
  }

  void measure_refused_again() {
    for (int again = 0; again < o_.tries_again; ++again) {
      const std::vector<GateFailure> failures = gate_failures(result_, o_);
      if (failures.empty()) return;
      std::vector<std::string> refused;  // the cells of these rows that the filter leaves
      for (std::size_t m = 0; m < measured_.size(); ++m)
        for (std::size_t c = 0; c < corpora_.size(); ++c)
          if (result_.rows[m].cells[c] && std::ranges::find(failures, result_.rows[m].name, &GateFailure::name) != failures.end())
            refused.push_back(name_of(m, c));
      measure(fmt::format("^({})(/|$)", fmt::join(refused, "|")));
    }
  }

  const BenchOptions& o_;
  const std::regex filter_;
  BenchResult result_;
  std::vector<std::unique_ptr<Measured>> measured_;  // one a row of the result
  std::vector<Corpus> corpora_;                      // one a size
  std::vector<std::int64_t> counted_;                // instructions of one iteration, by row and size
  BenchResult::Bred bred_;
  Collecting reporter_;
  std::ostringstream silent_;  // what Benchmark itself would say, e.g. that nothing is registered
};

}  // namespace

BenchResult run_bench(const BenchOptions& o) { return Bench(o).run(); }

std::vector<GateFailure> gate_failures(const BenchResult& result, const BenchOptions& o) {
  constexpr double kMaxGrowth = 2, kMaxShare = 0.2;
  std::vector<GateFailure> failures;
  const auto all = std::ranges::find(result.rows, kAllJudges, &BenchRow::name);
  for (const BenchRow& row : result.rows) {
    // Nearly all small programs leave `uniform` by a way out, and few large ones do: its growth is that of their share.
    const bool has_ways_out = row.name == oracles::uniform_judge().name();
    for (std::size_t c = 0; has_ways_out && all != result.rows.end() && c < row.cells.size(); ++c)
      if (row.cells[c] && all->cells[c] && row.cells[c]->ns > kMaxShare * all->cells[c]->ns)
        failures.push_back({row.name, fmt::format("{} takes {:.2f} of the time of all judges at {} instructions (at most {:.1f})",
                                                  row.name, row.cells[c]->ns / all->cells[c]->ns, o.sizes[c], kMaxShare)});
    if (row.growth_read && *row.growth_read > kMaxGrowth && !has_ways_out)
      failures.push_back(
          {row.name,
           fmt::format("{} takes {:.2f} times as long an instruction that it reads at {} instructions as at {} (at most {:.0f})",
                       row.name, *row.growth_read, o.sizes.back(), o.sizes.front(), kMaxGrowth)});
    if (row.name != "memcheck") continue;
    for (std::size_t c = 0; c < row.times_fatpoint.size(); ++c)
      if (row.times_fatpoint[c] && *row.times_fatpoint[c] > 1)
        failures.push_back(
            {row.name, fmt::format("memcheck takes {:.2f} times as long as the fat-point allocator at {} instructions",
                                   *row.times_fatpoint[c], o.sizes[c])});
  }
  return failures;
}

}  // namespace regduel::cli
