// See findings.h. Tested by campaign_test.cpp.
#include "fuzz/campaign/findings.h"

#include <filesystem>

#include "fuzz/campaign/channel.h"
#include "fuzz/campaign/reproducer.h"

namespace regduel::fuzz {
namespace {

using nlohmann::json;

struct Said {
  Failure failure;
  std::string message;
  const json* bout;  // that it belongs to
};

std::vector<Said> said_in(const json& failed) {
  std::vector<Said> all;
  for (const json& bout : failed["bouts"])
    for (const json& finding : bout["findings"]) all.push_back({{bout["allocator"], finding[0]}, finding[1], &bout});
  return all;
}

void remove_reproducer(const std::string& path) {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove(path, ignored);
}

}  // namespace

json bout_message(const std::string& allocator, const std::string& signature, const std::string& message) {
  return {{"allocator", allocator}, {"findings", json::array({json::array({signature, message})})}};
}

std::vector<StoredFinding> CampaignFindings::load() {
  std::vector<StoredFinding> stored = store_.findings();
  for (const StoredFinding& f : stored)
    by_bucket_[f.bucket] = {f.bucket, f.failure, "", f.decision, f.state, "", f.count, f.instructions};
  for (const Sighting& s : store_.sightings())
    if (s.reduced == 0) want_understood(s.failure, s.first, s.message);
  return stored;
}

void CampaignFindings::see(const json& failed) {
  const results::Blob input = bytes_of(failed["input"]);
  if (!seen_.emplace(std::pair(failed["index"].get<std::uint64_t>(), results::content_hash(input)), failed).second)
    return;  // seen before its worker died
  for (const Said& s : said_in(failed))
    if (!is_suppressed(s.failure)) store_.saw(s.failure, s.message, input);
}

void CampaignFindings::see_death(const Failure& failure, const std::string& message, const results::Blob& input) {
  store_.saw(failure, message, input);
}

void CampaignFindings::see_located(const json& located) {
  store_.forget({"unknown", located["signature"]});
  json failed = located;
  if (failed["bouts"].empty() && located["signature"] == "harness/hang") return;  // alone it is fast enough
  if (failed["bouts"].empty())
    failed["bouts"] = json::array(
        {bout_message("unknown", located["signature"], "a worker died of it once, but not again when it was tried again")});
  see(failed);
}

void CampaignFindings::take_before(std::uint64_t done) {
  while (!seen_.empty() && seen_.begin()->first.first < done) take(seen_.extract(seen_.begin()).mapped());
}

// Of one bout only the first finding is to be understood: the others most often say the same in other words.
void CampaignFindings::take(const json& failed) {
  const results::Blob input = bytes_of(failed["input"]);
  const json* counted = nullptr;  // the bout of the finding before
  for (const Said& s : said_in(failed)) {
    if (is_suppressed(s.failure)) {
      ++suppressed_;
      continue;
    }
    const bool is_first = s.bout != counted;
    counted = s.bout;
    if (queue_.count(s.failure) && is_first) want_understood(s.failure, input, s.message);
  }
}

void CampaignFindings::want_understood(const Failure& failure, const results::Blob& input, const std::string& message) {
  if (!queue_.push({failure, input, message})) return;
  const std::string name = name_of(failure);
  if (understood_.contains(name)) return;
  Found& raw = not_reduced_[name];
  if (raw.count++ > 0) return;
  const duel::Case c = duel::decode_case(input);
  raw.failure = failure;
  raw.message = message;
  raw.instructions = static_cast<std::uint32_t>(c.program.insts.size());
  if (!directory_.empty()) raw.path = write_reproducer(directory_, failure, message, name, c);
}

void CampaignFindings::take_understood(std::uint64_t number, const json& answer, const std::string& message) {
  answers_[number] = {answer, message};
  while (!answers_.empty() && answers_.begin()->first == next_answer_) take_next_answer();
}

void CampaignFindings::take_all_understood() {
  while (!answers_.empty()) take_next_answer();
}

void CampaignFindings::take_next_answer() {
  const auto [number, answer] = *answers_.begin();
  answers_.erase(answers_.begin());
  next_answer_ = number + 1;
  if (!answer.first.is_null()) take_answer(answer.first, answer.second);
}

void CampaignFindings::take_answer(const json& answer, const std::string& message) {
  const Failure asked{answer["allocator"], answer["signature"]};
  const std::string name = name_of(asked);
  const auto raw = not_reduced_.find(name);
  if (!answer["fails"].get<bool>()) {
    if (raw != not_reduced_.end()) raw->second.message = message + " (not again when it was tried again)";
    return;
  }
  const json& u = answer["understood"];
  Understood understood;
  understood.reduced = duel::decode_case(bytes_of(u["input"]));
  understood.failure = {u["allocator"], u["signature"]};
  understood.decision = u["decision"];
  understood.naming = {u["nature"], u["names"], u["rest"], u["title"], u["needed"]};
  KnownBuckets known;
  for (const auto& [bucket, found] : by_bucket_) known.emplace(bucket, found.decision);
  understood.bucket = choose_bucket(understood.naming, understood.decision, known);
  store_.add(understood);
  store_.reduced(asked);
  understood_.insert(name);
  if (raw != not_reduced_.end()) {
    remove_reproducer(raw->second.path);
    not_reduced_.erase(raw);
  }
  Found& f = by_bucket_[understood.bucket];
  const auto instructions = static_cast<std::uint32_t>(understood.reduced.program.insts.size());
  f.count += 1;
  f.state = "crashing";
  if (!f.path.empty() && f.instructions <= instructions) return;
  const std::string old = f.path;
  f = {understood.bucket, understood.failure, message, understood.decision, "crashing", "", f.count, instructions};
  if (!directory_.empty()) f.path = write_reproducer(directory_, f.failure, message, f.bucket, understood.reduced);
  if (old != f.path) remove_reproducer(old);
}

void CampaignFindings::take_again(const json& answer) {
  Found& f = by_bucket_[answer["bucket"]];
  f.state = store_.tried_again(f.bucket, answer["fails"], version_);
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
