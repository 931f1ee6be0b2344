// The inputs that a campaign keeps: nearly the smallest that together show every feature that any input showed, and pinned ones.
// The database has them, too; the workers are told of those that other workers find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/campaign/event_log.h"
#include "fuzz/campaign/messages.h"
#include "fuzz/campaign/store.h"
#include "fuzz/explore/explorer.h"

namespace regduel::fuzz {

class Corpus {
 public:
  Corpus(Store& store, const EventLog& log) : store_(store), log_(log), explorer_(campaign_exploration()) {}

  // Takes those of the database. Returns the ones whose features another version of the program saw: they are tried again.
  [[nodiscard]] std::vector<StoredInput> load();
  // Adds an input that a worker has found. An input is dropped unless it shows something new or is pinned.
  //   worker   that found it: news_for() does not tell it again
  void add(std::size_t worker, StoredInput input);
  // Drops what others have made needless.
  void minimise();
  // Inputs that a worker has not been told of, the oldest first, at most 200; `learned` counts all that it has been told of, and moves on.
  [[nodiscard]] std::vector<News> news_for(std::size_t worker, std::size_t& learned) const;

  [[nodiscard]] const Explorer& explorer() const { return explorer_; }  // what a worker begins with
  [[nodiscard]] std::size_t num_news() const { return news_.size(); }
  [[nodiscard]] std::size_t size() const { return inputs_.size(); }
  [[nodiscard]] const FeatureSet& features() const { return features_; }
  [[nodiscard]] bool contains(const std::string& hash) const { return inputs_.contains(hash); }

 private:
  Store& store_;
  const EventLog& log_;
  Explorer explorer_;
  FeatureSet features_;
  std::map<std::string, StoredInput> inputs_;       // by hash
  std::size_t minimised_ = 0;                       // how many the last minimise() left
  std::vector<std::pair<std::size_t, News>> news_;  // behind the worker that found it
};

}  // namespace regduel::fuzz
