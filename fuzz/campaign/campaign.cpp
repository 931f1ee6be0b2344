// See campaign.h. One thread, no locks: a loop that hands out work to each worker that has none, and takes what has been answered.
// Inputs and sightings go into the database as soon as a worker reports them. Cases are counted in the order of their numbers
// (schedule.h), so that a run over the standard mix gives the same for any number of workers.
#include "fuzz/campaign/campaign.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/edges.h"
#include "base/isolate.h"
#include "base/random.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/event_log.h"
#include "fuzz/campaign/findings.h"
#include "fuzz/campaign/messages.h"
#include "fuzz/campaign/schedule.h"
#include "fuzz/campaign/worker.h"
#include "fuzz/triage/usual_cost.h"

namespace regduel::fuzz {
namespace {

constexpr std::uint64_t kBatch = 64;         // programs handed out at a time
constexpr double kCommitSeconds = 0.25;      // the database is never further behind than this
constexpr double kWatchSeconds = 0.2;        // between two calls of `watch`
constexpr double kReduceTimeouts = 20;       // a reduction may take as long as so many programs
constexpr int kMostLostInARow = 100;         // workers that end while they try nothing
constexpr int kExitInternal = 3;             // of a worker
constexpr std::uint64_t kBatchesAhead = 64;  // of each worker, before the first of them is done
constexpr double kDoubtSeconds = 1;          // how long a death that may be part of our own end waits to be a finding

double seconds_now() { return static_cast<double>(steady_nanoseconds()) * 1e-9; }

// The programs that the job tries; nullopt for other jobs.
std::optional<Schedule::Range> programs_of(const Job& job) {
  return std::visit(
      [](const auto& j) -> std::optional<Schedule::Range> {
        if constexpr (requires { j.programs; }) return j.programs;
        else return std::nullopt;
      },
      job);
}

// What kills an allocator's process where somebody ends the whole campaign: timeout, systemd and batch systems signal all of its
// processes, and which of them hears it first is chance.
bool may_be_our_end(const Failed& failed) {
  return std::ranges::any_of(failed.objections, [](const Objection& o) {
    const std::string& s = o.failure.signature;
    return s.starts_with("harness/") &&
           std::ranges::any_of(std::array{"SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"}, [&](const char* how) {
             return s.contains(std::string("crash-") + how) ||
                    o.message.contains(std::string("ended with ") + how);  // before its hello
           });
  });
}

std::set<std::string> names_of(std::span<const ir::Allocator* const> duelists) {
  std::set<std::string> names;
  for (const ir::Allocator* a : duelists) names.emplace(a->name());
  return names;
}

// A worker, and what it is doing.
struct Peer {
  WorkerProcess process;
  std::optional<Job> job;
  double since = 0;         // when it was given the job
  std::size_t learned = 0;  // how many of the corpus' news it has been told
  bool has_hung = false;
  std::uint64_t tried = 0;  // programs, by all workers in this place

  [[nodiscard]] bool is_understanding() const { return job && std::holds_alternative<Understand>(*job); }
};

class Coordinator {
 public:
  explicit Coordinator(const CampaignOptions& options)
      : o_(options), log_(options.log), store_(options.db, options.run), corpus_(store_, log_),
        findings_(store_, options.run.program, options.directory, options.suppressions, options.today),
        schedule_(store_.begin_session(o_.seed, mode()), o_.runs, kBatch * kBatchesAhead * static_cast<std::uint64_t>(o_.jobs)),
        earlier_(store_.earlier(names_of(options.duelists))), total_(options.duelists),
        worker_options_{o_.seed, o_.metamorphic, o_.timeout, o_.reduce_budget, o_.duelists, o_.registers, !o_.db.empty(), o_.gaps} {
    if (!o_.is_mix) load_inputs();
    for (const StoredFinding& f : findings_.load(names_of(options.duelists)))
      again_.emplace_back(TryAgain{f.bucket, f.failure, f.input});
  }

  CampaignResult run(const std::function<bool(const CampaignStatus&)>& watch) {
    learn_usual_costs();
    start_ = last_commit_ = last_watch_ = seconds_now();
    for (int k = 0; k < o_.jobs; ++k) peers_.push_back(std::make_unique<Peer>());
    for (std::size_t k = 0; k < peers_.size(); ++k) start_worker(k);
    bool is_interrupted = !watch(status());  // a session that resumes another is told so however short it is
    while (!is_interrupted && !is_over() && hand_out_work()) {
      listen();
      see_doubtful(seconds_now() - kDoubtSeconds);
      if (seconds_now() - last_commit_ >= kCommitSeconds) commit();
      if (seconds_now() - last_watch_ < kWatchSeconds) continue;
      last_watch_ = seconds_now();
      is_interrupted = !watch(status());
    }
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      if (peers_[k]->job && peers_[k]->process.channel().fill()) take_messages(k);
      peers_[k]->process.end();
    }
    if (!is_interrupted) see_doubtful(seconds_now());
    findings_.take_before(UINT64_MAX);
    findings_.take_all_understood();
    if (!o_.is_mix) corpus_.minimise();
    commit();
    store_.finish();
    return result(is_interrupted);
  }

 private:
  // Once for all workers, which are forked from this process.
  void learn_usual_costs() const {
    for (const Gap& gap : o_.gaps)
      if (const auto cost = gap.is_cliff() ? find_cost(gap.figure) : std::nullopt)
        static_cast<void>(usual_cost(*duel::find_allocator(gap.worse), *cost));
  }

  [[nodiscard]] std::string mode() const { return o_.is_mix ? "mix" : "explore"; }

  // The corpus of earlier sessions, and the seeds that are not in it.
  void load_inputs() {
    std::set<std::string> outdated;
    for (const StoredInput& input : corpus_.load()) {
      outdated.insert(input.hash);
      seeds_.push_back({{}, input.input, input.is_pinned});
    }
    for (const results::Blob& seed : o_.seeds) {
      const std::string hash = results::content_hash(seed);
      if (!outdated.contains(hash) && !corpus_.contains(hash)) seeds_.push_back({{}, seed, true});
    }
    corpus_.minimise();
  }

  // -- what there is to do ------------------------------------------------------------------------------------------

  // The time is up, and so is that for what was being done then.
  [[nodiscard]] bool is_over() const { return o_.seconds > 0 && seconds_now() - start_ > o_.seconds + o_.grace; }

  // Gives something to each worker that has nothing. False where no worker has anything to do any more.
  bool hand_out_work() {
    is_time_up_ = is_time_up_ || (o_.seconds > 0 && seconds_now() - start_ >= o_.seconds) ||
                  (o_.stop_after > 0 && std::cmp_greater_equal(num_new(), o_.stop_after));
    bool is_busy = false;
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      Peer& p = *peers_[k];
      if (!p.job) hand_out(k);
      is_busy = is_busy || p.job;
    }
    return is_busy;
  }

  void hand_out(std::size_t worker) {
    std::optional<Job> job = next_job(worker);
    if (!job) return;
    Peer& p = *peers_[worker];
    if (!p.process.channel().send(encode(*job))) {  // it has died: listen() sees that
      lost_.push_back(std::move(*job));
      return;
    }
    p.job = std::move(job);
    p.since = seconds_now();
  }

  // In this order: work that was lost, deaths to be explained, findings of earlier sessions, cases to be understood (by half of
  // the workers, or by all once there is nothing else), programs.
  std::optional<Job> next_job(std::size_t worker) {
    for (std::deque<Job>* queue : {&lost_, &locate_, &again_})
      if (!queue->empty()) return pop(*queue);
    if (may_understand())
      if (auto task = findings_.queue().pop()) return std::move(*task);
    return is_time_up_ ? std::nullopt : next_programs(worker);
  }

  // At most half of the workers, and half of the time of all, while there are programs to try.
  [[nodiscard]] bool may_understand() const {
    if (is_time_up_ || !schedule_.has_fresh()) return true;
    double understanding_seconds = understanding_seconds_, other_seconds = other_seconds_;
    for (const auto& q : peers_)
      if (q->job) (q->is_understanding() ? understanding_seconds : other_seconds) += seconds_now() - q->since;
    if (understanding_seconds > other_seconds) return false;
    const auto understanding = std::count_if(peers_.begin(), peers_.end(), [](const auto& q) { return q->is_understanding(); });
    return understanding < std::max<std::ptrdiff_t>(1, std::ssize(peers_) / 2);
  }

  std::optional<Job> next_programs(std::size_t worker) {
    std::optional<Schedule::Range> range = schedule_.next_returned();
    if (!range && schedule_.has_fresh() && !seeds_.empty()) {
      TrySeed job = pop(seeds_);
      job.programs = {schedule_.next_one(), 1};
      return job;
    }
    if (!range) range = schedule_.next_fresh(kBatch);
    if (!range) return std::nullopt;
    if (o_.is_mix) return TryMix{*range};
    return Explore{*range, corpus_.news_for(worker, peers_[worker]->learned)};
  }

  template <class Any>
  static Any pop(std::deque<Any>& queue) {
    Any job = std::move(queue.front());
    queue.pop_front();
    return job;
  }

  // -- workers ------------------------------------------------------------------------------------------------------

  void start_worker(std::size_t worker) {
    Peer& p = *peers_[worker];
    p.job.reset();
    p.has_hung = false;
    p.learned = corpus_.num_news();
    const std::uint64_t stream =
        hash_combine(hash_combine(o_.seed, schedule_.first()), static_cast<std::uint64_t>(worker) + (started_++ << 16));
    p.process.start([&](Channel& channel, CurrentInput& current) {
      for (const auto& other : peers_) other->process.channel() = Channel();
      Explorer explorer = corpus_.explorer();
      explorer.reseed(stream);
      try {
        work(channel, current, worker_options_, log_, std::move(explorer));
      } catch (const std::exception& e) {
        fmt::print(stderr, "regduel: a worker ends: {}\n", e.what());
        return kExitInternal;
      }
      return 0;
    });
  }

  void listen() {
    std::vector<pollfd> fds;
    for (const auto& p : peers_) fds.push_back({p->process.channel().fd(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), 50);
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      if (fds[k].revents != 0) {
        const bool is_there = peers_[k]->process.channel().fill();
        take_messages(k);
        if (!is_there) replace(k);
      }
      if (Peer& p = *peers_[k]; is_stuck(p) && !p.has_hung) {
        p.has_hung = true;
        p.process.kill();
      }
    }
  }

  // Whether it takes too long for one input, or for something else than programs.
  [[nodiscard]] bool is_stuck(const Peer& p) const {
    const std::int64_t since = p.process.current().since;
    if (since != 0)
      return p.process.processor_seconds() > o_.timeout ||
             static_cast<double>(steady_nanoseconds() - since) > kSleep * o_.timeout * 1e9;
    return p.job && !programs_of(*p.job) && seconds_now() - p.since > kReduceTimeouts * o_.timeout;
  }

  // The worker has died. The program that it was trying is a finding; the rest of its work goes to other workers.
  void replace(std::size_t worker) {
    Peer& p = *peers_[worker];
    const std::string how = how_it_ended(p.process.wait());
    ++crashes_;
    const std::optional<Job> job = std::exchange(p.job, std::nullopt);
    const CurrentInput& current = p.process.current();
    const bool was_trying = current.since != 0;
    count_time(p, job);
    if (was_trying && current.size > 0) {
      const results::Blob input(current.input, current.input + current.size);
      const Failure failure{"unknown", p.has_hung ? "harness/hang" : "harness/crash-" + how};
      const std::string message =
          p.has_hung ? fmt::format("longer than {:.0f} seconds", o_.timeout) : fmt::format("a worker ended with {}", how);
      findings_.see_death(failure, message, input);
      locate_.emplace_back(Locate{input, current.index.load(), failure.signature, message});
    } else {
      if (!p.has_hung) ++lost_workers_[how];
      REGDUEL_CHECK(++lost_in_a_row_ < kMostLostInARow, fmt::format("workers end by themselves ({})", how));
    }
    if (job) give_up(*job, was_trying ? std::optional(current.index.load()) : std::nullopt);
    start_worker(worker);
  }

  // Takes back a job that will have no answer.
  //   died_of   the program that the worker was trying
  void give_up(const Job& job, std::optional<std::uint64_t> died_of) {
    if (const std::optional<Schedule::Range> range = programs_of(job)) {
      const std::uint64_t at = died_of.value_or(range->first);
      schedule_.hand_back({range->first, at - range->first});
      schedule_.hand_back({at + 1, range->first + range->count - at - 1});
      finish({at, 1}, std::nullopt);
    }
    if (const auto* task = std::get_if<Understand>(&job)) findings_.take_understood(*task, std::nullopt);
  }

  // -- what comes back ----------------------------------------------------------------------------------------------

  void take_messages(std::size_t worker) {
    while (const std::optional<Message> message = peers_[worker]->process.channel().next()) {
      std::expected<Report, std::string> report = decode_report(*message);
      REGDUEL_CHECK(report.has_value(), report.error());
      std::visit([&](auto& r) { take(worker, std::move(r)); }, *report);
    }
  }

  void take(std::size_t worker, StoredInput input) { corpus_.add(worker, std::move(input)); }
  void take(std::size_t /*worker*/, const Failed& failed) {
    if (may_be_our_end(failed)) doubtful_.emplace_back(seconds_now(), failed);
    else findings_.see(failed);
  }
  // Those that came before: the campaign has not been ended since.
  void see_doubtful(double before) {
    if (doubtful_.empty() || doubtful_.front().first > before) return;
    while (!doubtful_.empty() && doubtful_.front().first <= before) {
      findings_.see(doubtful_.front().second);
      doubtful_.pop_front();
    }
    findings_.take_before(schedule_.done());
  }

  void take(std::size_t worker, Tried answer) {
    const Schedule::Range job = programs_of(end_job(worker)).value(), done = answer.programs;
    for (const results::CaseResults& one : answer.results) store_.add(one);
    peers_[worker]->tried += done.count;
    schedule_.hand_back({done.first + done.count, job.count - done.count});
    finish(done, std::move(answer.tally));
  }
  void take(std::size_t worker, Understanding answer) {
    findings_.take_understood(std::get<Understand>(end_job(worker)), std::move(answer));
  }
  void take(std::size_t worker, Located answer) {
    end_job(worker);
    findings_.forget_death(answer);
    take(worker, answer.failed);
    findings_.take_before(schedule_.done());
  }
  void take(std::size_t worker, const TriedAgain& answer) {
    end_job(worker);
    findings_.take_again(answer);
  }

  // The worker has answered: it has no job any more.
  Job end_job(std::size_t worker) {
    lost_in_a_row_ = 0;
    count_time(*peers_[worker], peers_[worker]->job);
    return std::exchange(peers_[worker]->job, std::nullopt).value();
  }

  void count_time(const Peer& p, const std::optional<Job>& job) {
    if (job) (std::holds_alternative<Understand>(*job) ? understanding_seconds_ : other_seconds_) += seconds_now() - p.since;
  }

  void finish(Schedule::Range range, std::optional<Tally> tally) {
    schedule_.finish(range, std::move(tally), total_);
    findings_.take_before(schedule_.done());
  }

  // -- what is kept and told ----------------------------------------------------------------------------------------

  void commit() {
    last_commit_ = seconds_now();
    store_.commit(
        {schedule_.done(), corpus_.size(), corpus_.features().size(), corpus_.features().num_edges(), findings_.failing().size()},
        total_);
  }

  [[nodiscard]] CampaignStatus status() {
    note_news();
    CampaignStatus s;
    s.seconds = seconds_now() - start_;
    s.end_seconds = o_.seconds;
    s.tried = schedule_.done() - schedule_.first();
    s.end = o_.runs;
    s.allocations = total_.allocations();
    s.inputs = corpus_.size();
    s.features = corpus_.features().size();
    s.edges = corpus_.features().num_edges();
    s.all_edges = num_edges();
    s.suppressed = findings_.suppressed();
    s.seeds_left = seeds_.size();
    s.to_understand = findings_.queue().size();
    s.jobs = o_.jobs;
    s.crashes = crashes_;
    for (const auto& p : peers_) {
      s.understanding += p->is_understanding() ? 1 : 0;
      s.tried_by.push_back(p->tried);
    }
    for (const Found* f : findings_.failing()) {
      if (is_observation(*f)) ++s.observations;
      else if (f->is_new) s.found.push_back(f);
      else ++s.known;
    }
    s.last_feature = last_feature_;
    s.last_finding = last_finding_;
    s.earlier = &earlier_;
    return s;
  }

  [[nodiscard]] bool is_observation(const Found& f) const { return is_gap(f.failure) && !o_.is_gap_finding; }
  [[nodiscard]] std::size_t num_new() const {
    const std::vector<const Found*> all = findings_.failing();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const Found* f) { return f->is_new && !is_observation(*f); }));
  }

  // When the last feature and the last finding came.
  void note_news() {
    const double now = seconds_now() - start_;
    if (corpus_.features().size() > features_) last_feature_ = now;
    if (num_new() > found_) last_finding_ = now;
    features_ = corpus_.features().size();
    found_ = num_new();
  }

  CampaignResult result(bool is_interrupted) {
    std::vector<Found> found, known, observed;
    for (Found& f : findings_.report()) (is_observation(f) ? observed : f.is_new ? found : known).push_back(std::move(f));
    return {schedule_.first(),
            schedule_.done() - schedule_.first(),
            findings_.suppressed(),
            corpus_.size(),
            corpus_.features().size(),
            corpus_.features().num_edges(),
            num_edges(),
            is_interrupted,
            seconds_now() - start_,
            std::move(total_),
            std::move(found),
            std::move(known),
            std::move(observed),
            earlier_,
            store_.totals(),
            lost_workers_};
  }

  const CampaignOptions& o_;
  EventLog log_;
  Store store_;
  Corpus corpus_;
  CampaignFindings findings_;
  Schedule schedule_;
  Earlier earlier_;
  Tally total_;
  WorkerOptions worker_options_;
  std::deque<Job> lost_, locate_, again_;
  std::deque<std::pair<double, Failed>> doubtful_;  // and when they came
  std::deque<TrySeed> seeds_;                       // their numbers are not drawn yet

  std::vector<std::unique_ptr<Peer>> peers_;
  std::uint64_t started_ = 0;                // workers
  int crashes_ = 0, lost_in_a_row_ = 0;      // workers
  std::map<std::string, int> lost_workers_;  // as of CampaignResult

  double start_ = 0, last_commit_ = 0, last_watch_ = 0, last_feature_ = 0, last_finding_ = 0;
  double understanding_seconds_ = 0, other_seconds_ = 0;  // of all workers, with jobs that have ended
  std::uint64_t features_ = 0, found_ = 0;                // as note_news() last saw them
  bool is_time_up_ = false;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options, const std::function<bool(const CampaignStatus&)>& watch) {
  return Coordinator(options).run(watch);
}

}  // namespace regduel::fuzz
