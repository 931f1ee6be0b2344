// A pair of dumps before all judges, and what they say in the words of MIR.
//
// llvm/ maps, oracles/ judge: this is the one place where the two meet. Tested by judge_pair_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/judge/mir_words.h"
#include "llvm/mapping/map_pair.h"
#include "oracles/judges.h"

namespace regduel::llvm {

struct Verdict {
  std::string function = {}, allocator = {}, pass = {};
  int run = 0;
  std::optional<Refusal> refusal = {};  // then nothing was judged
  oracles::Verdict verdict = oracles::Verdict::Skipped;
  std::string reason = {};  // for inconclusive
  std::vector<MirFinding> findings = {};
  Counts counts = {};
  double seconds = 0;                                             // mapping and judging
  std::string before_rir = {}, after_rir = {}, target_json = {};  // where they were asked for, or a judge objects
};

// How many were refused, by the kind of refusal, and what was said of the first of each kind.
class Refusals {
 public:
  struct Kind {
    int count = 0;
    std::string example = {};
  };
  // example: names the place, too
  void add(const std::string& kind, std::string example, int count = 1) {
    Kind& k = kinds_[kind];
    if (k.count == 0) k.example = std::move(example);
    k.count += count;
  }
  [[nodiscard]] bool empty() const { return kinds_.empty(); }
  // Pairs of a kind and its Kind, by kind.
  [[nodiscard]] auto begin() const { return kinds_.begin(); }
  [[nodiscard]] auto end() const { return kinds_.end(); }

 private:
  std::map<std::string, Kind> kinds_;
};

// Cost: that of the mapping and of all judges.
[[nodiscard]] Verdict judge_pair(const Tables& tables, const DumpPair& pair, bool keep_rir = false);

}  // namespace regduel::llvm
