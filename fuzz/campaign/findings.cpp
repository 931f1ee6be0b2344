// See findings.h. Tested by campaign_test.cpp.
#include "fuzz/campaign/findings.h"

#include <filesystem>

#include "fuzz/campaign/reproducer.h"

namespace regduel::fuzz {
namespace {

void remove_reproducer(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) return;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(answer_path(path), ignored);
}

}  // namespace

std::vector<StoredFinding> CampaignFindings::load(const std::set<std::string>& present) {
  std::vector<StoredFinding> stored = store_.findings();
  std::map<std::string, std::string> messages;  // of the judges, by name_of
  for (const Sighting& s : store_.sightings()) {
    messages[name_of(s.failure)] = s.message;
    if (s.reduced == 0 && present.contains(s.failure.allocator)) want_understood(s.failure, s.first, s.message, Seen::Earlier);
  }
  std::erase_if(stored, [&](const StoredFinding& f) { return !present.contains(f.failure.allocator); });
  for (const StoredFinding& f : stored)
    by_bucket_[f.bucket] = {f.bucket,       f.failure, messages[name_of(f.failure)], f.decision, f.state, "", f.count,
                            f.instructions, false};
  return stored;
}

void CampaignFindings::see(const Failed& failed) {
  if (failed.objections.empty()) return;
  if (!seen_.emplace(std::pair(failed.index, results::content_hash(failed.input)), failed).second)
    return;  // seen before its worker died
  for (const Objection& o : failed.objections)
    if (!is_suppressed(o.failure)) store_.saw(o.failure, o.message, failed.input);
}

void CampaignFindings::see_death(const Failure& failure, const std::string& message, const results::Blob& input) {
  store_.saw(failure, message, input);
}

void CampaignFindings::forget_death(Located& located) {
  const Failure unknown{"unknown", located.signature};
  store_.forget(unknown);
  if (!located.failed.objections.empty() || located.signature == "harness/hang") return;  // alone it is fast enough
  located.failed.objections = {{unknown, "a worker died of it once, but not again when it was tried again"}};
}

void CampaignFindings::take_before(std::uint64_t done) {
  while (!seen_.empty() && seen_.begin()->first.first < done) take(seen_.extract(seen_.begin()).mapped());
}

// Of the findings about one allocator only the first is understood. The others most often say the same in other words.
void CampaignFindings::take(const Failed& failed) {
  std::string counted;  // the allocator of the finding before
  for (const Objection& o : failed.objections) {
    if (is_suppressed(o.failure)) {
      ++suppressed_;
      continue;
    }
    const bool is_first = o.failure.allocator != counted;
    counted = o.failure.allocator;
    if (queue_.count(o.failure) && is_first) want_understood(o.failure, failed.input, o.message);
  }
}

void CampaignFindings::want_understood(const Failure& failure, const results::Blob& input, const std::string& message, Seen seen) {
  if (!queue_.push({failure, input, message})) return;
  const std::string name = name_of(failure);
  if (understood_.contains(name)) return;
  Found& raw = not_reduced_[name];
  if (raw.count++ > 0) return;
  raw.is_new = seen == Seen::Now;
  const duel::Case c = duel::decode_case(input);
  raw.failure = failure;
  raw.message = message;
  raw.instructions = static_cast<std::uint32_t>(c.program.insts.size());
  if (!directory_.empty() && raw.is_new) raw.path = write_reproducer(directory_, failure, message, name, c);
}

void CampaignFindings::take_understood(const Understand& task, std::optional<Understanding> answer) {
  answers_[task.number] = {std::move(answer), task.message};
  while (!answers_.empty() && answers_.begin()->first == next_answer_) take_next_answer();
}

void CampaignFindings::take_all_understood() {
  while (!answers_.empty()) take_next_answer();
}

void CampaignFindings::take_next_answer() {
  const auto [number, answer] = *answers_.begin();
  answers_.erase(answers_.begin());
  next_answer_ = number + 1;
  if (answer.understanding) take_answer(*answer.understanding, answer.message);
}

void CampaignFindings::take_answer(const Understanding& answer, const std::string& message) {
  const std::string name = name_of(answer.asked);
  const auto raw = not_reduced_.find(name);
  if (!answer.reduction) {
    if (raw != not_reduced_.end()) raw->second.message = message + " (not again when it was tried again)";
    return;
  }
  store_.reduced(answer.asked);
  understood_.insert(name);
  if (raw != not_reduced_.end()) {
    remove_reproducer(raw->second.path);
    not_reduced_.erase(raw);
  }
  take_reduction(*answer.reduction, message);
}

void CampaignFindings::take_reduction(const Reduction& r, const std::string& message) {
  KnownBuckets known;
  for (const auto& [bucket, found] : by_bucket_) known.emplace(bucket, found.decision);
  Understood understood;
  understood.reduced = duel::decode_case(r.input);
  understood.failure = r.failure;
  understood.decision = r.decision;
  understood.naming = r.naming;
  understood.bucket = choose_bucket(r.naming, r.decision, known);
  store_.add(understood);
  if (!r.answer.empty()) store_.keep_answer(r.input, r.failure.allocator, r.answer);
  Found& f = by_bucket_[understood.bucket];
  const auto instructions = static_cast<std::uint32_t>(understood.reduced.program.insts.size());
  f.count += 1;
  f.is_new = f.is_new || f.state != "crashing";
  f.state = "crashing";
  if (!f.path.empty() && f.instructions <= instructions) return;
  const std::string old = f.path;
  f = {understood.bucket, understood.failure, message, understood.decision, "crashing", "", f.count, instructions, f.is_new};
  if (!directory_.empty()) f.path = write_reproducer(directory_, f.failure, message, f.bucket, understood.reduced, r.answer);
  if (old != f.path) remove_reproducer(old);
}

void CampaignFindings::take_again(const TriedAgain& answer) {
  Found& f = by_bucket_[answer.bucket];
  f.is_new = f.is_new || (answer.fails && f.state != "crashing");
  f.state = store_.tried_again(f.bucket, answer.fails, version_);
}

std::vector<const Found*> CampaignFindings::failing() const {
  std::vector<const Found*> result;
  for (const auto& [bucket, f] : by_bucket_)
    if (f.state == "crashing") result.push_back(&f);
  for (const auto& [name, f] : not_reduced_) result.push_back(&f);
  return result;
}

std::vector<Found> CampaignFindings::report() const {
  std::vector<Found> result;
  for (const Found* f : failing()) {
    result.push_back(*f);
    if (f->bucket.empty()) result.back().count = queue_.cases_of(f->failure);
  }
  return result;
}

}  // namespace regduel::fuzz
