// See corpus.h. Tested by campaign_test.cpp.
#include "fuzz/campaign/corpus.h"

#include <utility>

#include "fuzz/explore/corpus_minimiser.h"

namespace regduel::fuzz {

std::vector<StoredInput> Corpus::load() {
  std::vector<StoredInput> outdated;
  for (StoredInput& input : store_.inputs()) {
    if (!input.is_current) {
      outdated.push_back(std::move(input));
      continue;
    }
    explorer_.learn(duel::decode_case(input.input), input.features);
    features_.add(input.features);
    inputs_.emplace(input.hash, std::move(input));
  }
  return outdated;
}

void Corpus::add(std::size_t worker, StoredInput input) {
  const bool is_new = features_.add(input.features) > 0;
  if (!is_new && !input.is_pinned) {  // another worker was faster
    log_.add("dropped", input.hash);
    return;
  }
  store_.add(input);
  explorer_.learn(duel::decode_case(input.input), input.features);
  news_.push_back({worker, {input.input, input.features}});
  inputs_.insert_or_assign(input.hash, std::move(input));
  if (inputs_.size() > 2 * minimised_ + 500) minimise();
}

void Corpus::minimise() {
  std::vector<const StoredInput*> all;
  std::vector<CorpusItem> items;
  for (const auto& [hash, input] : inputs_) {
    all.push_back(&input);
    items.push_back({input.features, input.instructions, input.is_pinned});
  }
  const std::vector<bool> kept = minimise_corpus(items);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (kept[k]) continue;
    const std::string hash = all[k]->hash;
    store_.remove_input(hash);
    inputs_.erase(hash);
    log_.add("dropped", hash);
  }
  minimised_ = inputs_.size();
}

std::vector<News> Corpus::news_for(std::size_t worker, std::size_t& learned) const {
  constexpr std::size_t kMostAtOnce = 200;
  std::vector<News> news;
  for (; learned < news_.size() && news.size() < kMostAtOnce; ++learned)
    if (news_[learned].first != worker) news.push_back(news_[learned].second);
  return news;
}

}  // namespace regduel::fuzz
