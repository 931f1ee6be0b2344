// See results_message.h. Tested by campaign_test.cpp.
#include "fuzz/campaign/results_message.h"

#include "fuzz/campaign/channel.h"

namespace regduel::fuzz {

nlohmann::json to_message(const results::CaseResults& r) {
  nlohmann::json bouts = nlohmann::json::array();
  for (const results::CaseResults::Bout& b : r.bouts) {
    nlohmann::json figures = nlohmann::json::array();
    for (const auto& figure : b.figures) figures.push_back(figure ? nlohmann::json(*figure) : nlohmann::json(nullptr));
    const results::Configuration& c = b.configuration;
    bouts.push_back({{"configuration", {c.allocator, c.knobs, c.target, c.limits}},
                     {"verdict", b.verdict},
                     {"reason", b.reason},
                     {"figures", std::move(figures)},
                     {"objections", b.objections}});
  }
  return {{"hash", r.hash},
          {"name", r.name},
          {"source", r.source},
          {"instructions", r.instructions},
          {"content", to_message(r.content)},
          {"bouts", std::move(bouts)}};
}

results::CaseResults results_in(const nlohmann::json& m) {
  results::CaseResults r{m["hash"], m["name"], m["source"], m["instructions"], bytes_of(m["content"]), {}};
  for (const nlohmann::json& b : m["bouts"]) {
    const nlohmann::json& c = b["configuration"];
    results::CaseResults::Bout bout{{c[0], c[1], c[2], c[3]}, b["verdict"], b["reason"], {}, b["objections"]};
    for (const nlohmann::json& figure : b["figures"])
      bout.figures.push_back(figure.is_null() ? std::nullopt : std::optional(figure.get<std::int64_t>()));
    r.bouts.push_back(std::move(bout));
  }
  return r;
}

}  // namespace regduel::fuzz
