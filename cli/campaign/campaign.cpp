// See campaign.h. One thread, no locks: a loop that hands out work to whoever has none, and takes what has been answered.
//
// What is tried has numbers, and results are taken in their order (worker.h: `first`, `tried`): so a run over the standard mix
// gives the same for any number of workers. What must not be lost, though, is written as soon as it comes.
#include "cli/campaign/campaign.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/edges.h"
#include "base/random.h"
#include "cli/campaign/channel.h"
#include "cli/campaign/worker.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "fuzz/campaign/behaviour.h"
#include "fuzz/campaign/corpus_minimiser.h"
#include "fuzz/triage/isolate.h"

namespace regduel::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBatch = 64;        // programs handed out at a time
constexpr double kCommitSeconds = 0.25;     // the database is never further behind than this
constexpr double kGraceSeconds = 10;        // for reductions, when the time is up
constexpr double kReduceTimeouts = 20;      // a reduction may take as long as so many programs
constexpr std::uint64_t kMostReduced = 24;  // cases of one signature

double seconds_now() { return static_cast<double>(steady_nanoseconds()) * 1e-9; }

// A worker as the coordinator sees it.
struct Peer {
  pid_t pid = -1;
  Channel channel;
  Slot* slot = nullptr;     // shared with it
  json job;                 // what it is doing; null = nothing
  double since = 0;         // when it was asked
  std::size_t learned = 0;  // how many of the news it has been told
  bool has_hung = false;
};

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options)
      : o_(options), store_(options.db), explorer_(fuzz::ExplorerOptions{}), total_(options.duelists) {
    first_ = next_ = taken_ = store_.begin_session(o_.seed, o_.is_mix ? "mix" : "explore");
    end_ = o_.runs > 0 ? first_ + o_.runs : UINT64_MAX;
    if (!o_.log.empty()) {
      log_ = ::open(o_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      if (log_ < 0) throw BadInput(fmt::format("error: {}: {}", o_.log, std::strerror(errno)));
    }
    worker_options_ = {o_.seed, o_.metamorphic, o_.reduce_budget, o_.duelists, log_};
    if (!o_.is_mix) load_inputs();
    load_findings();
  }
  ~Campaign() {
    for (Peer& p : peers_) {
      end(p);
      ::munmap(p.slot, sizeof(Slot));
    }
    if (log_ >= 0) ::close(log_);
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  CampaignResult run(const std::function<bool(const CampaignStatus&)>& watch) {
    start_ = last_commit_ = last_watch_ = seconds_now();
    peers_.resize(static_cast<std::size_t>(o_.jobs));
    for (Peer& p : peers_) {
      void* const memory = ::mmap(nullptr, sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      REGDUEL_CHECK(memory != MAP_FAILED, "no memory to share with a worker");
      p.slot = new (memory) Slot;
      start_worker(p);
    }
    bool is_interrupted = false;
    for (;;) {
      is_time_up_ = is_time_up_ || (o_.seconds > 0 && seconds_now() - start_ >= o_.seconds);
      bool is_busy = false;
      for (Peer& p : peers_) {
        if (p.job.is_null()) hand_out(p);
        is_busy = is_busy || !p.job.is_null();
      }
      if (!is_busy) break;
      listen();
      if (seconds_now() - last_commit_ >= kCommitSeconds) commit();
      if (seconds_now() - last_watch_ >= 0.2) {
        last_watch_ = seconds_now();
        if (!watch(status())) {
          is_interrupted = true;
          break;
        }
      }
    }
    for (Peer& p : peers_) {
      if (is_interrupted && p.channel.fill()) take_messages(p);
      end(p);
    }
    take_all_failures();
    if (!o_.is_mix) minimise();
    commit();
    return result(is_interrupted);
  }

 private:
  // -- what there is to do ------------------------------------------------------------------------------------------

  void load_inputs() {
    std::vector<StoredInput> stored = store_.inputs();
    std::set<std::string> known;
    for (StoredInput& input : stored) {
      known.insert(input.hash);
      if (!input.is_current) {  // what it shows now is to be seen
        seeds_.push_back({{"do", "try"}, {"input", to_message(input.input)}, {"pinned", input.is_pinned}});
        continue;
      }
      explorer_.learn(fuzz::decode_input(input.input), input.features);
      features_.add(input.features);
      inputs_.emplace(input.hash, std::move(input));
    }
    for (const Blob& seed : o_.seeds)
      if (!known.contains(input_hash(seed))) seeds_.push_back({{"do", "try"}, {"input", to_message(seed)}, {"pinned", true}});
    minimise();
  }

  void load_findings() {
    for (const StoredFinding& f : store_.findings()) {
      found_[f.bucket] = {f.bucket, f.failure, "", f.decision, f.state, "", f.count, f.instructions};
      again_.push_back({{"do", "again"},
                        {"bucket", f.bucket},
                        {"input", to_message(f.input)},
                        {"allocator", f.failure.allocator},
                        {"signature", f.failure.signature}});
    }
    for (const Sighting& s : store_.sightings())
      if (s.reduced == 0) want_understood(s.failure, s.first, s.message);
  }

  void hand_out(Peer& p) {
    std::optional<json> job = next_job(p);
    if (!job) return;
    if (!p.channel.send(*job)) {  // it has died: that is seen when it is listened to
      lost_.push_back(std::move(*job));
      return;
    }
    p.job = std::move(*job);
    p.since = seconds_now();
  }

  std::optional<json> next_job(Peer& p) {
    const auto pop = [](std::deque<json>& queue) {
      json job = std::move(queue.front());
      queue.pop_front();
      return job;
    };
    if (!lost_.empty()) return pop(lost_);
    if (!locate_.empty()) return pop(locate_);
    if (!again_.empty()) return pop(again_);
    const bool is_late = o_.seconds > 0 && seconds_now() - start_ > o_.seconds + kGraceSeconds;
    const auto understanding =
        std::count_if(peers_.begin(), peers_.end(), [](const Peer& q) { return !q.job.is_null() && q.job["do"] == "understand"; });
    if (!understand_.empty() && !is_late &&
        (is_time_up_ || next_ >= end_ || understanding < std::max<std::ptrdiff_t>(1, std::ssize(peers_) / 2)))
      return pop(understand_);
    if (is_time_up_) return std::nullopt;
    json job = {{"do", o_.is_mix ? "mix" : "explore"}};
    if (!ranges_.empty()) {  // what a batch has left
      const auto [first, count] = *ranges_.begin();
      ranges_.erase(ranges_.begin());
      job["first"] = first;
      job["count"] = count;
    } else if (next_ < end_ && !seeds_.empty()) {
      job = pop(seeds_);
      job["first"] = next_++;
      job["count"] = 1;
      return job;
    } else if (next_ < end_ && is_near()) {
      job["first"] = next_;
      job["count"] = std::min(kBatch, end_ - next_);
      next_ += job["count"].get<std::uint64_t>();
    } else {
      return std::nullopt;
    }
    if (o_.is_mix) return job;
    json learn = json::array();
    for (; p.learned < news_.size() && learn.size() < 200; ++p.learned)
      if (news_[p.learned].from != &p)
        learn.push_back({{"input", to_message(news_[p.learned].input)}, {"features", news_[p.learned].features}});
    job["learn"] = std::move(learn);
    return job;
  }

  // Nobody runs far ahead of a batch that takes long, so that memory stays bounded.
  [[nodiscard]] bool is_near() const { return next_ - taken_ < kBatch * 64 * peers_.size(); }

  // -- workers ------------------------------------------------------------------------------------------------------

  void start_worker(Peer& p) {
    auto [mine, its] = make_channel();
    p.slot->since = 0;
    p.slot->size = 0;
    p.job = nullptr;
    p.has_hung = false;
    p.learned = news_.size();
    const std::uint64_t stream =
        hash_combine(hash_combine(o_.seed, first_), static_cast<std::uint64_t>(&p - peers_.data()) + (started_++ << 16));
    const pid_t coordinator = ::getpid(), pid = ::fork();
    REGDUEL_CHECK(pid >= 0, fmt::format("no process for a worker: {}", std::strerror(errno)));
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives a coordinator that is killed
      if (::getppid() != coordinator) ::_exit(0);
      static_cast<void>(!::nice(3));  // the coordinator goes first: what it is late to write could be lost
      for (Peer& other : peers_) other.channel = Channel();
      mine = Channel();
      std::signal(SIGINT, SIG_IGN);  // the coordinator ends it
      std::signal(SIGTERM, SIG_DFL);
      fuzz::Explorer explorer = explorer_;
      explorer.reseed(stream);
      int status = 0;
      try {
        work(its, *p.slot, worker_options_, std::move(explorer));
      } catch (const std::exception& e) {
        fmt::print(stderr, "regduel: a worker ends: {}\n", e.what());
        status = kExitInternal;
      }
      ::_exit(status);
    }
    p.pid = pid;
    p.channel = std::move(mine);
  }

  static void end(Peer& p) {
    if (p.pid < 0) return;
    ::kill(p.pid, SIGKILL);
    wait_for(p);
    p.channel = Channel();
  }

  static int wait_for(Peer& p) {
    int status = 0;
    while (::waitpid(p.pid, &status, 0) < 0 && errno == EINTR) {
    }
    p.pid = -1;
    return status;
  }

  void listen() {
    std::vector<pollfd> fds;
    for (const Peer& p : peers_) fds.push_back({p.channel.fd(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), 50);
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      Peer& p = peers_[k];
      if (fds[k].revents != 0) {
        const bool is_there = p.channel.fill();
        take_messages(p);
        if (!is_there) replace(p);
      }
      const std::int64_t since = p.slot->since;
      const bool is_stuck =
          since != 0 ? static_cast<double>(steady_nanoseconds() - since) > o_.timeout * 1e9
                     : !p.job.is_null() && !p.job.contains("count") && seconds_now() - p.since > kReduceTimeouts * o_.timeout;
      if (is_stuck && !p.has_hung) {
        p.has_hung = true;
        ::kill(p.pid, SIGKILL);
      }
    }
  }

  // The worker has died. What it was trying is a finding; the rest of its work goes to others.
  void replace(Peer& p) {
    const std::string how = fuzz::how_it_ended(wait_for(p));
    ++crashes_;
    json job = std::move(p.job);
    const bool was_trying = p.slot->since != 0;
    if (was_trying && p.slot->size > 0) {
      const Blob input(p.slot->input, p.slot->input + p.slot->size);
      const fuzz::Failure failure{"unknown", p.has_hung ? "harness/hang" : "harness/crash-" + how};
      const std::string message =
          p.has_hung ? fmt::format("longer than {:.0f} seconds", o_.timeout) : fmt::format("a worker ended with {}", how);
      store_.saw(failure, message, input);
      locate_.push_back({{"do", "locate"},
                         {"input", to_message(input)},
                         {"index", p.slot->index.load()},
                         {"signature", failure.signature},
                         {"message", message}});
    } else {
      if (!p.has_hung) ++lost_workers_[how];
      REGDUEL_CHECK(++lost_in_a_row_ < 100, fmt::format("workers end by themselves ({})", how));
    }
    if (!job.is_null() && job.contains("count")) {
      const std::uint64_t first = job["first"], count = job["count"], at = was_trying ? p.slot->index.load() : first;
      if (at > first) ranges_.emplace(first, at - first);
      if (first + count > at + 1) ranges_.emplace(at + 1, first + count - at - 1);
      take_batch(at, {{"tried", 1}});
    }
    start_worker(p);
  }

  // -- what comes back ----------------------------------------------------------------------------------------------

  void take_messages(Peer& p) {
    while (auto message = p.channel.next()) {
      const json& m = *message;
      if (m.contains("entry")) take_entry(p, m["entry"]);
      else if (m.contains("failed")) see_failure(m["failed"]);
      else take_answer(p, m);
    }
  }

  void take_entry(Peer& p, const json& e) {
    StoredInput input{"", bytes_of(e["input"]), e["features"], e["pinned"], e["instructions"]};
    input.hash = input_hash(input.input);
    const bool is_new = features_.add(input.features) > 0;
    if (!is_new && !input.is_pinned) {  // another worker was faster
      log_event(log_, {{"dropped", input.hash}});
      return;
    }
    store_.add(input);
    explorer_.learn(fuzz::decode_input(input.input), input.features);
    news_.push_back({&p, input.input, input.features});
    inputs_.insert_or_assign(input.hash, std::move(input));
    if (inputs_.size() > 2 * minimised_ + 500) minimise();
  }

  // At once into the database; the rest in the order of the numbers (take_failures).
  void see_failure(const json& failed) {
    const Blob input = bytes_of(failed["input"]);
    if (!failures_.emplace(std::pair(failed["index"].get<std::uint64_t>(), input_hash(input)), failed).second)
      return;  // seen before a worker died
    for (const json& bout : failed["bouts"])
      for (const json& f : bout["findings"]) {
        const fuzz::Failure failure{bout["allocator"], f[0]};
        if (!is_suppressed(failure)) store_.saw(failure, f[1], input);
      }
  }

  void take_answer(Peer& p, const json& m) {
    const std::string what = m["done"];
    lost_in_a_row_ = 0;
    if (what == "understand") take_understood(p, m);
    else if (what == "again") take_again(m);
    else if (what == "locate") take_located(m);
    else {
      const std::uint64_t first = m["first"], tried = m["tried"], count = p.job["count"];
      if (tried < count) ranges_.emplace(first + tried, count - tried);
      take_batch(first, m);
    }
    p.job = nullptr;
  }

  void take_batch(std::uint64_t first, const json& batch) {
    batches_.emplace(first, batch);
    for (auto at = batches_.begin(); at != batches_.end() && at->first == taken_; at = batches_.erase(at)) {
      if (at->second.contains("tally")) total_.add(at->second["tally"]);
      taken_ += at->second["tried"].get<std::uint64_t>();
    }
    take_failures();
  }

  void take_failures() {
    while (!failures_.empty() && failures_.begin()->first.first < taken_)
      take_failure(failures_.extract(failures_.begin()).mapped());
  }

  void take_all_failures() {
    while (!failures_.empty()) take_failure(failures_.extract(failures_.begin()).mapped());
  }

  void take_failure(const json& failed) {
    const Blob input = bytes_of(failed["input"]);
    for (const json& bout : failed["bouts"]) {
      bool is_first = true;  // of its bout: the others most often say the same in other words
      for (const json& f : bout["findings"]) {
        const fuzz::Failure failure{bout["allocator"], f[0]};
        if (is_suppressed(failure)) {
          ++suppressed_;
          continue;
        }
        const std::string message = f[1];
        const std::uint64_t count = ++seen_[name_of(failure)];
        if (is_first && std::has_single_bit(count)) want_understood(failure, input, message);
        is_first = false;
      }
    }
  }

  // To be reduced. Until then the case as it is stands for it.
  void want_understood(const fuzz::Failure& failure, const Blob& input, const std::string& message) {
    const std::string name = name_of(failure);
    if (asked_[name]++ >= kMostReduced) return;
    if (!understood_.contains(name)) {
      Found& raw = raw_[name];
      if (raw.count++ == 0) {
        const fuzz::FuzzInput c = fuzz::decode_input(input);
        raw.failure = failure;
        raw.message = message;
        raw.instructions = static_cast<std::uint32_t>(c.program.insts.size());
        if (!o_.directory.empty()) raw.path = write_reproducer(o_.directory, failure, message, name, c);
      }
    }
    understand_.push_back({{"do", "understand"},
                           {"input", to_message(input)},
                           {"allocator", failure.allocator},
                           {"signature", failure.signature},
                           {"message", message}});
  }

  void take_understood(const Peer& p, const json& m) {
    const fuzz::Failure asked{m["allocator"], m["signature"]};
    const std::string name = name_of(asked), message = p.job["message"];
    if (!m["fails"].get<bool>()) {
      if (const auto raw = raw_.find(name); raw != raw_.end())
        raw->second.message = message + " (not again when it was tried again)";
      return;
    }
    const json& u = m["understood"];
    const Blob input = bytes_of(u["input"]);
    fuzz::Understood understood;
    understood.reduced = fuzz::decode_input(input);
    understood.failure = {u["allocator"], u["signature"]};
    understood.decision = u["decision"];
    understood.bucket = u["bucket"];
    store_.add(understood);
    store_.reduced(asked);
    understood_.insert(name);
    if (const auto raw = raw_.find(name); raw != raw_.end()) {
      std::error_code ignored;
      if (!raw->second.path.empty()) std::filesystem::remove(raw->second.path, ignored);
      raw_.erase(raw);
    }
    Found& f = found_[understood.bucket];
    const auto instructions = static_cast<std::uint32_t>(understood.reduced.program.insts.size());
    f.count += 1;
    f.state = "crashing";
    if (!f.path.empty() && f.instructions <= instructions) return;
    const std::string old = f.path;
    f = {understood.bucket, understood.failure, message, understood.decision, "crashing", "", f.count, instructions};
    if (!o_.directory.empty()) f.path = write_reproducer(o_.directory, f.failure, message, f.bucket, fuzz::decode_input(input));
    std::error_code ignored;
    if (!old.empty() && old != f.path) std::filesystem::remove(old, ignored);
  }

  void take_again(const json& m) {
    Found& f = found_[m["bucket"]];
    f.state = store_.tried_again(f.bucket, m["fails"]);
  }

  void take_located(const json& m) {
    store_.forget({"unknown", m["signature"]});
    if (!m["bouts"].empty()) {
      see_failure(m);
    } else {
      json failed = m;
      failed["bouts"] =
          json::array({bout_message("unknown", m["signature"], "a worker died of it once, but not again when it was tried again")});
      see_failure(failed);
    }
    take_failures();
  }

  // -- what is kept -------------------------------------------------------------------------------------------------

  [[nodiscard]] bool is_suppressed(const fuzz::Failure& f) const { return fuzz::is_suppressed(o_.suppressions, f, o_.today); }
  static std::string name_of(const fuzz::Failure& f) { return f.allocator + ": " + f.signature; }

  void minimise() {
    std::vector<const StoredInput*> all;
    std::vector<fuzz::CoverItem> items;
    for (const auto& [hash, input] : inputs_) {
      all.push_back(&input);
      items.push_back({input.features, input.instructions, input.is_pinned});
    }
    const std::vector<bool> kept = fuzz::cover(items);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (kept[k]) continue;
      const std::string hash = all[k]->hash;
      store_.remove_input(hash);
      inputs_.erase(hash);
      log_event(log_, {{"dropped", hash}});
    }
    minimised_ = inputs_.size();
  }

  void commit() {
    last_commit_ = seconds_now();
    store_.commit({taken_, inputs_.size(), features_.size(), features_.num_edges(), failing().size()}, total_);
  }

  // What fails now: what has been understood, and what has not been reduced yet.
  [[nodiscard]] std::vector<const Found*> failing() const {
    std::vector<const Found*> result;
    for (const auto& [bucket, f] : found_)
      if (f.state == "crashing") result.push_back(&f);
    for (const auto& [name, f] : raw_) result.push_back(&f);
    return result;
  }

  [[nodiscard]] CampaignStatus status() const {
    CampaignStatus s;
    s.seconds = seconds_now() - start_;
    s.tried = taken_ - first_;
    s.end = o_.runs;
    s.allocations = total_.allocations();
    s.inputs = inputs_.size();
    s.features = features_.size();
    s.edges = features_.num_edges();
    s.all_edges = num_edges();
    s.suppressed = suppressed_;
    s.seeds_left = seeds_.size();
    s.to_understand = understand_.size();
    s.jobs = o_.jobs;
    s.crashes = crashes_;
    for (const Peer& p : peers_) s.understanding += !p.job.is_null() && p.job["do"] == "understand" ? 1 : 0;
    s.found = failing();
    return s;
  }

  CampaignResult result(bool is_interrupted) {
    CampaignResult r{first_,
                     taken_ - first_,
                     suppressed_,
                     inputs_.size(),
                     features_.size(),
                     features_.num_edges(),
                     num_edges(),
                     is_interrupted,
                     seconds_now() - start_,
                     std::move(total_),
                     {},
                     store_.totals(),
                     lost_workers_};
    for (const Found* f : failing()) {
      r.found.push_back(*f);
      if (f->bucket.empty()) r.found.back().count = seen_[name_of(f->failure)];
    }
    return r;
  }

  struct News {
    const Peer* from;
    Blob input;
    std::vector<std::uint32_t> features;
  };

  const CampaignOptions& o_;
  Store store_;
  WorkerOptions worker_options_;
  fuzz::Explorer explorer_;  // what workers begin with
  fuzz::FeatureSet features_;
  Tally total_;
  int log_ = -1;
  std::vector<Peer> peers_;
  std::uint64_t started_ = 0;
  int crashes_ = 0, lost_in_a_row_ = 0;
  std::map<std::string, int> lost_workers_;

  // Numbers: [first_, taken_) are done, [taken_, next_) handed out or waiting in ranges_.
  std::uint64_t first_ = 0, taken_ = 0, next_ = 0, end_ = 0;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first, count
  std::map<std::uint64_t, json> batches_;          // done, but not all before them
  std::map<std::pair<std::uint64_t, std::string>, json>
      failures_;  // by number, and by the hash of the input: a worker that takes over explores something else
  std::deque<json> lost_, locate_, again_, seeds_, understand_;
  std::vector<News> news_;

  std::map<std::string, StoredInput> inputs_;  // by hash
  std::size_t minimised_ = 0;
  std::map<std::string, Found> found_;  // by bucket
  std::map<std::string, Found> raw_;    // by name: not reduced yet
  std::set<std::string> understood_;    // by name: of which one case was reduced
  std::map<std::string, std::uint64_t> seen_, asked_;
  std::uint64_t suppressed_ = 0;

  double start_ = 0, last_commit_ = 0, last_watch_ = 0;
  bool is_time_up_ = false;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options, const std::function<bool(const CampaignStatus&)>& watch) {
  return Campaign(options).run(watch);
}

}  // namespace regduel::cli
