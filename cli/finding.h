// Findings on their way out: one an allocator and signature, each with a reproducer: an RIR file whose header is the command that replays
// it. A wrong allocation to which several judges object is one finding, under the signature of the first of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/json.h"
#include "duel/case.h"
#include "duel/duel.h"
#include "fuzz/triage/failure.h"

namespace regduel::cli {

class Findings {
 public:
  static constexpr std::string_view kUsualDirectory = "findings";

  // directory: where reproducers go, made when the first one comes; "" = nowhere.
  // Throws BadInput where it could not be made, unless it is the usual one, which nobody asked for: then no file is written.
  explicit Findings(std::string directory);

  // Throws BadInput where a reproducer can't be written.
  void add(const duel::Case& input, const duel::Bout& bout);

  struct Entry {
    std::string signature, allocator, message, path;
    std::vector<std::string> also;  // what other judges said of the first case, with their names
    std::uint64_t count = 0;
  };
  [[nodiscard]] const std::map<std::string, Entry>& by_signature() const { return by_signature_; }
  [[nodiscard]] std::uint64_t distinct() const { return by_signature_.size(); }
  [[nodiscard]] std::string text() const;  // one paragraph a finding; "" where there is none
  [[nodiscard]] Json json() const;

 private:
  std::string directory_, complaint_;
  std::map<std::string, Entry> by_signature_;  // key: allocator and signature
};

// Which failure of a case a command is asked about.
struct FailureQuery {
  std::string file;       // for complaints
  std::string signature;  // "" = the first that the case shows
  std::string with;       // of which allocator; "" = whichever fails
  bool metamorphic = false;
  std::string_view otherwise;  // what it means that no judge objects
  AllocatorOptions allocators;
};
// Throws BadInput where the case does not show it.
[[nodiscard]] fuzz::Failure failure_shown(const FailureQuery& query, const duel::Case& input);

}  // namespace regduel::cli
