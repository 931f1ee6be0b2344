#include "passes/nvptx/nvptx.h"

#include <charconv>

#include <fmt/format.h>

#include "passes/nvptx/coalescer.h"
#include "passes/nvptx/rewrite.h"

namespace regduel::passes {
namespace {

bool read(std::string_view s, std::int64_t& limit) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value < -1 || value > 1'000'000'000) return false;
  limit = value;
  return true;
}
bool read(std::string_view s, bool& flag) {
  const bool is_on = s == "1" || s == "true" || s == "on";
  if (!is_on && s != "0" && s != "false" && s != "off") return false;
  flag = is_on;
  return true;
}

struct Row {
  ir::KnobInfo info;
  bool (*set)(nvptx::Options& options, std::string_view value);  // false: the knob cannot have that value
};
constexpr const char *kLimit = "int, -1 = none", *kBool = "bool";

const std::vector<Row>& rows() {
  using nvptx::Options;
  static const std::vector<Row> table = {
      {{"nvptx-copy-limit",
        -1,
        kLimit,
        "-1",
        "source 004, copy_limit",
        "so many copies and phis are considered, in program order",
        {"0", "1", "10", "100"}},
       [](Options& o, std::string_view v) { return read(v, o.candidates.copy_limit); }},
      {{"nvptx-coalesce-limit",
        -1,
        kLimit,
        "-1",
        "source 004, coalesce_limit",
        "so many merges, then all is left as it is",
        {"0", "1", "10", "100"}},
       [](Options& o, std::string_view v) { return read(v, o.coalesce_limit); }},
      {{"nvptx-block-frequency",
        -1,
        kBool,
        "1",
        "source 004, block frequency flag",
        "blocks and copies that run often come first",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.block_frequency); }},
      {{"nvptx-block-level",
        -1,
        kBool,
        "1",
        "source 004, block-level coalescing",
        "what lives in one block is coalesced first",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.block_level); }},
      {{"nvptx-cross-block",
        -1,
        kBool,
        "1",
        "source 004, phase 4",
        "copies between vregs that live across blocks are coalesced",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.cross_block); }},
      {{"nvptx-wide",
        -1,
        kBool,
        "1",
        "source 004, sub-register handling",
        "what is wider than 64 bits is coalesced by its pieces",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.candidates.wide); }},
      {{"nvptx-parameters",
        -1,
        kBool,
        "1",
        "source 004, families of .param copies",
        "copies of parameters are coalesced",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.candidates.parameters); }},
      {{"nvptx-phis",
        -1,
        kBool,
        "1",
        "source 004, copies of phi elimination",
        "uses of phis are coalesced with their defs",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.candidates.phis); }},
      {{"nvptx-guarded", -1, kBool, "0", "ours", "copies under a guard are coalesced too", {}},
       [](Options& o, std::string_view v) { return read(v, o.candidates.guarded); }},
      {{"nvptx-verify",
        -1,
        kBool,
        "0",
        "source 004, equivalence verification",
        "after each merge, the interval is compared with what its parts were, and the trace says so",
        {"0", "1"}},
       [](Options& o, std::string_view v) { return read(v, o.verify); }},
  };
  return table;
}

class Nvptx final : public Pass {
 public:
  std::string_view name() const override { return "nvptx"; }
  std::string_view what_it_does() const override {
    return "copies within a type class go where live intervals do not overlap, as in the coalescer for NVPTX";
  }
  std::vector<ir::KnobInfo> knobs() const override {
    std::vector<ir::KnobInfo> infos;
    for (const Row& row : rows()) infos.push_back(row.info);
    return infos;
  }
  std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target&,
                                               const PassOptions& options) const override {
    nvptx::Options o;
    for (const auto& [name, value] : options.knobs) {
      const Row* found = nullptr;
      for (const Row& row : rows())
        if (row.info.name == name) found = &row;
      if (found == nullptr) return std::unexpected(fmt::format("nvptx has no knob \"{}\"", name));
      if (!found->set(o, value)) return std::unexpected(fmt::format("{} cannot be \"{}\": {}", name, value, found->info.type));
    }
    o.fuel = options.fuel;
    o.trace = options.trace;
    nvptx::Coalescer coalescer(program, o);
    coalescer.run();
    return nvptx::rewrite(program, coalescer, o.fuel);
  }
};

}  // namespace

const Pass& nvptx_coalescer() {
  static const Nvptx pass;
  return pass;
}

}  // namespace regduel::passes
